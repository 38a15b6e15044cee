/* SPDX-License-Identifier: BSD-3-Clause */
/* All that a picture of a running program needs, asked for at once: for top and for web. */
#ifndef QUENCH_APP_QUENCHCTL_TOP_SNAPSHOT_H
#define QUENCH_APP_QUENCHCTL_TOP_SNAPSHOT_H

#include <jansson.h>
#include <stdint.h>

#include "quenchctl/socket/client.h"

/* Flows that are asked for: the first. */
#define READING_FLOWS 256u

struct snapshot {
	/* "info", and of a switch "ports", "ecn", "drops", "pfc", "pfcwd", "buffer", "pg"; of a NIC
	 * "nic", "port", "rp", "np", "flows": the replies to the commands of these names. */
	json_t *replies;
	uint64_t elapsed_ns; /* of the program's run */
};

/**
 * Ask a connected program.
 *
 * @param r  Set; snapshot_free() it.
 * @return   0, or an exit code: the client's error says why.
 */
int snapshot_take(struct client *c, struct snapshot *r);

/** Forget it. Zero is a reading of nothing. */
void snapshot_free(struct snapshot *r);

#endif
