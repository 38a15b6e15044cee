/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mempool driver: a stack under a lock, whose objects are made at first use, in the pool's own
 * mapping. A thread with an lcore number visits the stack once per refill of its cache.
 * So the time and memory of a pool that is large enough for the worst case are in proportion to its
 * use. The objects freed last, which are in the caches, are used next.
 *
 * Invariant: objects in the stack + objects in use + objects not made yet = size of the pool.
 */
#ifndef QUENCH_NODE_GROWING_POOL_H
#define QUENCH_NODE_GROWING_POOL_H

#include <rte_mempool.h>

/**
 * Set this driver for a pool without objects. Not in programs that share memory.
 * @return 0 or -errno.
 */
int growing_pool_choose(struct rte_mempool *pool);
/**
 * For a pool that has this driver: call this instead of populating the pool.
 *
 * @param init  Called for each object when it is made.
 * @param arg   For init; must outlive the pool.
 * @return      0 or -ENOMEM.
 */
int growing_pool_begin(struct rte_mempool *pool, rte_mempool_obj_cb_t *init, void *arg);
/** Make no more objects; before rte_mempool_free(). Other pools and NULL are left alone. */
void growing_pool_end(struct rte_mempool *pool);

#endif
