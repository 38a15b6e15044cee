/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pools of a switch. */
#ifndef QUENCH_SWITCH_FRAME_POOLS_H
#define QUENCH_SWITCH_FRAME_POOLS_H

#include <stdint.h>

struct rte_mempool;

struct sw_pools {
	struct rte_mempool *frames; /* what is received; of the others, those that are NULL */
	struct rte_mempool *pause;  /* PFC frames alone, so that nothing else holds XOFF back */
	struct rte_mempool *own;    /* the switch's other frames: LLDP, questions; LLDP_MAX_BYTES */
	/* Copies that are written into, of frames that others hold; if NULL, own. */
	struct rte_mempool *copies;
	struct rte_mempool *clones; /* no data room */
	/* The same, of frames of lossless groups, so that no lossy flood takes them; if NULL,
	 * clones. */
	struct rte_mempool *lossless_clones;
	uint32_t mbufs; /* that can be in the switch at once, if not just those of frames */
};

#endif
