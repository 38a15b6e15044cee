/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/pkt_pool.h"

#include <assert.h>
#include <errno.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "base/threads/pages.h"
#include "node/growing_pool.h"
#include "node/pkt_meta.h"

#define HUGE_PAGE_BYTES (2ul << 20)
/* As large as DPDK allows: the frames of a fabric then come from the cache, last in, first out. */
#define CACHE_MBUFS RTE_MEMPOOL_CACHE_MAX_SIZE

static void
free_region(struct rte_mempool_memhdr *hdr, void *mapped_bytes)
{
	pages_free(hdr->addr, (size_t)(uintptr_t)mapped_bytes);
}

/*
 * Devices under --no-huge are virtual and copy frames, so they need no IOVA. With F_NO_IOVA_CONTIG
 * an object may cross a page boundary. Without it, a 4 KB page might hold only one object.
 */
static int
populate_own_region(struct rte_mempool *pool)
{
	size_t object = (size_t)pool->header_size + pool->elt_size + pool->trailer_size;
	size_t bytes = (object * pool->size + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
	void *region = pages_alloc(bytes);
	int n;

	if (region == NULL)
		return -ENOMEM;
	n = rte_mempool_populate_iova(pool, region, RTE_BAD_IOVA, bytes, free_region,
				      (void *)(uintptr_t)bytes);
	if (n <= 0)
		pages_free(region, bytes);
	return n < 0 ? n : n < (int)pool->size ? -ENOMEM : 0;
}

static void
init_mbuf(struct rte_mempool *pool, void *init, void *mbuf, unsigned int i)
{
	rte_mempool_obj_cb_t *more = (rte_mempool_obj_cb_t *)init;

	rte_pktmbuf_init(pool, NULL, mbuf, i);
	if (more != NULL)
		more(pool, NULL, mbuf, i);
}

/* Make the mbufs: all of them or, if the pool grows, the first ones. @return 0 or -errno. */
static int
populate(struct rte_mempool *pool, const struct pkt_pool_params *params, bool grows)
{
	int n;

	if (grows)
		return growing_pool_begin(pool, init_mbuf, (void *)params->init);
	n = rte_eal_has_hugepages() ? rte_mempool_populate_default(pool)
				    : populate_own_region(pool);
	if (n >= 0)
		rte_mempool_obj_iter(pool, init_mbuf, (void *)params->init);
	return n < 0 ? n : 0;
}

static uint16_t
data_room_of(const struct pkt_pool_params *params)
{
	return params->largest_frame ? (uint16_t)(params->largest_frame + RTE_PKTMBUF_HEADROOM) : 0;
}

static uint32_t
mbuf_bytes(const struct pkt_pool_params *params)
{
	return (uint32_t)sizeof(struct rte_mbuf) + PKT_PRIV_BYTES + data_room_of(params);
}

static unsigned int
pool_flags(void)
{
	return rte_eal_has_hugepages() ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
}

uint64_t
pkt_pool_bytes(const struct pkt_pool_params *params)
{
	return (uint64_t)params->n_mbufs *
	       rte_mempool_calc_obj_size(mbuf_bytes(params), pool_flags(), NULL);
}

struct rte_mempool *
pkt_pool_create(const struct pkt_pool_params *params)
{
	uint16_t data_room = data_room_of(params);
	struct rte_pktmbuf_pool_private private = {
		.mbuf_data_room_size = data_room,
		.mbuf_priv_size = PKT_PRIV_BYTES,
	};
	/* DPDK requires a pool of at least 1.5 caches. In a shared pool the caches of several
	 * lcores must leave frames for the others. */
	uint32_t cache = params->rare ? 0 : params->n_mbufs / (params->threads ? 8 : 2);
	bool grows = params->grows && !rte_eal_has_hugepages();
	const char *ops = params->threads ? rte_mbuf_best_mempool_ops() : "ring_sp_sc";
	struct rte_mempool *pool;
	int rc;

	pool = rte_mempool_create_empty(params->name, params->n_mbufs, mbuf_bytes(params),
					cache < CACHE_MBUFS ? cache : CACHE_MBUFS, sizeof(private),
					params->socket, pool_flags());
	if (pool == NULL)
		return NULL;
	rc = grows ? growing_pool_choose(pool) : rte_mempool_set_ops_byname(pool, ops, NULL);
	if (rc == 0) {
		rte_pktmbuf_pool_init(pool, &private);
		rc = populate(pool, params, grows);
	}
	if (rc < 0) {
		rte_mempool_free(pool);
		rte_errno = -rc;
		return NULL;
	}
	return pool;
}

void
pkt_pool_destroy(struct rte_mempool *pool)
{
	growing_pool_end(pool);
	rte_mempool_free(pool);
}
