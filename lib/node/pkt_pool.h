/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet pools: one-segment mbufs with our metadata in the private area. Without hugepages a pool
 * has its own mapping, for which transparent huge pages are requested: EAL's no-huge memory stays
 * on 4 KB pages.
 */
#ifndef QUENCH_NODE_PKT_POOL_H
#define QUENCH_NODE_PKT_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_config.h>

struct rte_mempool;

/* Most mbufs in the cache of one lcore. */
#define PKT_POOL_CACHED_MBUFS (RTE_MEMPOOL_CACHE_MAX_SIZE * 3 / 2)

struct pkt_pool_params {
	const char *name; /* unique in the process */
	uint32_t n_mbufs;
	uint16_t largest_frame; /* data room is this plus headroom; 0: no data room (clones) */
	int socket;             /* NUMA node, or SOCKET_ID_ANY */
	bool threads;           /* used by more than one lcore */
	bool grows;             /* mbufs are made when first needed (no hugepages) */
	bool rare;              /* lcores have no caches, which take a megabyte: for few frames */
	/* Called for each new mbuf after rte_pktmbuf_init(), with arg NULL; NULL: nothing to do. */
	void (*init)(struct rte_mempool *pool, void *arg, void *mbuf, unsigned int i);
};

/** Bytes that the mbufs of a pool take. */
uint64_t pkt_pool_bytes(const struct pkt_pool_params *params);
/** @return the pool, or NULL with rte_errno set. */
struct rte_mempool *pkt_pool_create(const struct pkt_pool_params *params);
/** Free the pool and its memory; all mbufs must be back. */
void pkt_pool_destroy(struct rte_mempool *pool);

#endif
