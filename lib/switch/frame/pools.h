/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pools of a switch. */
#ifndef QUENCH_SWITCH_FRAME_POOLS_H
#define QUENCH_SWITCH_FRAME_POOLS_H

#include <stdint.h>

struct rte_mempool;

struct sw_pools {
	struct rte_mempool *frames; /* received frames */
	struct rte_mempool
		*pause; /* PFC frames alone, so that XOFF is never delayed; NULL: frames */
	/* LLDP and address requests, with room for LLDP_MAX_BYTES; NULL: frames */
	struct rte_mempool *own;
	struct rte_mempool *copies; /* private copies, for copy on write; NULL: own */
	struct rte_mempool *clones; /* references to flooded frames, without data room */
	/* clones for lossless groups, so that a lossy flood cannot use them up; NULL: clones */
	struct rte_mempool *lossless_clones;
	/* Received frames that may be in the switch at once; 0: the size of frames. Memory for
	 * queues is sized by it, so a driver whose frames come from other pools must set it. */
	uint32_t mbufs;
};

#endif
