/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters and state of a running program at one time, for top and web. */
#ifndef QUENCH_APP_QUENCHCTL_TOP_SNAPSHOT_H
#define QUENCH_APP_QUENCHCTL_TOP_SNAPSHOT_H

#include <jansson.h>
#include <stdint.h>

#include "quenchctl/socket/client.h"

/* Number of first flows in a snapshot. */
#define READING_FLOWS 256u

struct snapshot {
	/* Replies by name of the command: "info"; for a switch "ports", "ecn", "drops", "pfc",
	 * "pfcwd", "buffer", "pg"; for a NIC "nic", "port", "rp", "np", "flows". */
	json_t *replies;
	uint64_t elapsed_ns; /* run time of the program */
};

/**
 * Take a snapshot of a connected program.
 *
 * @param r  Set; call snapshot_free().
 * @return   0, or an exit code, with the reason in the client's error.
 */
int snapshot_take(struct client *c, struct snapshot *r);

/** Free a snapshot. A zero-initialised one is empty. */
void snapshot_free(struct snapshot *r);

#endif
