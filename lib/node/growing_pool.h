/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mempool driver: a stack under a lock, whose objects are made at first use, in the pool's own
 * mapping. A thread with an lcore number visits the stack once per refill of its cache.
 * A pool that is large enough for the worst case then takes time and memory in proportion to its
 * use, and the objects used last, which are cached, are used next.
 *
 * Invariant: objects in the stack + objects in use + objects not made yet = size of the pool.
 */
#ifndef QUENCH_NODE_GROWING_POOL_H
#define QUENCH_NODE_GROWING_POOL_H

#include <rte_mempool.h>

/** Let an empty pool have this driver. Not in programs that share memory. @return 0 or -errno. */
int growing_pool_choose(struct rte_mempool *pool);
/**
 * Begin a pool that has this driver, instead of populating it.
 *
 * @param init  Called for each object when it is made.
 * @param arg   For init; must outlive the pool.
 * @return      0 or -ENOMEM.
 */
int growing_pool_begin(struct rte_mempool *pool, rte_mempool_obj_cb_t *init, void *arg);
/** Make no more objects; before rte_mempool_free(). Other pools and NULL are left alone. */
void growing_pool_end(struct rte_mempool *pool);

#endif
