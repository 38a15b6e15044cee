/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits, parameters and counters of a bridge's forwarding database (fwd/fdb.h). */
#ifndef QUENCH_FWD_FDB_PARAMS_H
#define QUENCH_FWD_FDB_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/half_sip.h"

#define FDB_UNKNOWN UINT16_MAX
#define FDB_MIN_ENTRIES 8u
#define FDB_MAX_ENTRIES (1u << 20)
#define FDB_MAX_PORTS 512u
#define FDB_MAX_DOMAINS (1u << 15) /* VLAN ids, and numbers above them for the owner's use */

struct fdb_params {
	uint32_t entries;        /* addresses: FDB_MIN_ENTRIES..FDB_MAX_ENTRIES */
	uint64_t ageing_ns;      /* 0: no ageing; less than 2^53 */
	int socket;              /* NUMA node, or SOCKET_ID_ANY */
	bool shared;             /* by several lcores, after set-up */
	struct half_sip_key key; /* hash key; must be secret if frames come from strangers */
};

struct fdb_stats {
	uint64_t learned;        /* new addresses, including those relearned after ageing */
	uint64_t moved;          /* known addresses seen on another port */
	uint64_t aged;           /* entries removed: aged ones, and all of fdb_forget_learned() */
	uint64_t displaced;      /* entries evicted from a full table for another address */
	uint64_t learn_failures; /* frames whose source had no room in the table */
	uint64_t learn_limited;  /* frames whose source was beyond its port's limit */
	uint64_t static_kept;    /* frames from a static address on another port */
	uint64_t learn_busy;     /* shared: sources not learned because another lcore was writing */
};

#endif
