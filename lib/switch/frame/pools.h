/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pools of a switch. */
#ifndef QUENCH_SWITCH_FRAME_POOLS_H
#define QUENCH_SWITCH_FRAME_POOLS_H

#include <stdint.h>

struct rte_mempool;

struct sw_pools {
	struct rte_mempool *frames; /* received frames */
	struct rte_mempool
		*pause; /* only PFC frames, so that XOFF is never delayed; NULL: frames */
	/* LLDP and address requests, with room for LLDP_MAX_BYTES; NULL: frames */
	struct rte_mempool *own;
	struct rte_mempool *copies; /* private copies, for copy on write; NULL: own */
	struct rte_mempool *clones; /* references to flooded frames, without data room */
	/* clones for lossless groups, so that a lossy flood cannot use them up; NULL: clones */
	struct rte_mempool *lossless_clones;
	/*
	 * Largest number of received frames in the switch at a time, which determines the memory
	 * for queues. 0: the size of the pool `frames`. A driver whose frames come from other pools
	 * must set it.
	 */
	uint32_t mbufs;
};

#endif
