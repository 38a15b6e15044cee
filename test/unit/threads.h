/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests in which several threads drive one node's parts, in virtual time.
 *
 * Mbufs go from one thread to another by their pool as well. DPDK's library of pools is not built
 * with ThreadSanitizer, which then does not know that who takes an mbuf comes after who gave it
 * back. Pools made after start_threads() are stacks with a lock, which it knows. (The rings of
 * DPDK's headers would not do: a producer waits for the one before it by a relaxed load, so that in
 * C11's terms a consumer is behind the last producer alone.)
 */
#ifndef QUENCH_TEST_UNIT_THREADS_H
#define QUENCH_TEST_UNIT_THREADS_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "unit/eal.h"

struct seen_stack {
	pthread_mutex_t lock;
	uint32_t n;
	void *objs[];
};

static int
seen_stack_alloc(struct rte_mempool *pool)
{
	struct seen_stack *s = calloc(1, sizeof(*s) + pool->size * sizeof(s->objs[0]));

	if (s == NULL)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	pool->pool_data = s;
	return 0;
}

static void
seen_stack_free(struct rte_mempool *pool)
{
	free(pool->pool_data);
}

static int
seen_stack_put(struct rte_mempool *pool, void *const *objs, unsigned int n)
{
	struct seen_stack *s = pool->pool_data;

	/* The last holder of an mbuf sees that by a relaxed load, rte_pktmbuf_prefree_seg(), and
	 * so, in C11's terms, does not come after the others. On x86-64 it does: their counting
	 * down is a full barrier. */
	for (unsigned int i = 0; i < n; i++)
		(void)__atomic_load_n(&((const struct rte_mbuf *)objs[i])->refcnt,
				      __ATOMIC_ACQUIRE);
	pthread_mutex_lock(&s->lock);
	memcpy(&s->objs[s->n], objs, n * sizeof(*objs));
	s->n += n;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static int
seen_stack_get(struct rte_mempool *pool, void **objs, unsigned int n)
{
	struct seen_stack *s = pool->pool_data;
	int rc = -ENOBUFS;

	pthread_mutex_lock(&s->lock);
	if (s->n >= n) {
		s->n -= n;
		memcpy(objs, &s->objs[s->n], n * sizeof(*objs));
		rc = 0;
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static unsigned int
seen_stack_count(const struct rte_mempool *pool)
{
	struct seen_stack *s = pool->pool_data;
	unsigned int n;

	pthread_mutex_lock(&s->lock);
	n = s->n;
	pthread_mutex_unlock(&s->lock);
	return n;
}

static const struct rte_mempool_ops seen_stack_ops = {
	.name = "seen_stack",
	.alloc = seen_stack_alloc,
	.free = seen_stack_free,
	.enqueue = seen_stack_put,
	.dequeue = seen_stack_get,
	.get_count = seen_stack_count,
};

RTE_MEMPOOL_REGISTER_OPS(seen_stack_ops);

/** A fixture that starts EAL, with pools whose mbufs are seen to go from thread to thread. */
static inline int
start_threads(void **state)
{
	return start_eal(state) != 0 || rte_mbuf_set_user_mempool_ops("seen_stack") != 0 ? -1 : 0;
}

/** Let each mbuf of a new pool go by its stack: those in a cache have not been seen. */
static inline void
threads_see_all(struct rte_mempool *pool)
{
	pool->cache_size = 0;
}

/* No thread that drives a node is further ahead of another, so that they run beside each other on a
 * loaded machine, too. */
#define THREADS_AHEAD 20u
#define THREADS_MAX 8u

struct threads_pace {
	unsigned int n;
	atomic_uint round[THREADS_MAX];
	atomic_bool stop;
};

/** Thread i begins its next round, once the others have come near. @return false: stop. */
static inline bool
threads_next_round(struct threads_pace *p, unsigned int i)
{
	unsigned int round = atomic_load_explicit(&p->round[i], memory_order_relaxed) + 1;

	/* Relaxed: a test's own order must not hide what the nodes' order does not hold. */
	atomic_store_explicit(&p->round[i], round, memory_order_relaxed);
	for (unsigned int k = 0; k < p->n; k++) {
		while (round >
		       atomic_load_explicit(&p->round[k], memory_order_relaxed) + THREADS_AHEAD) {
			if (atomic_load_explicit(&p->stop, memory_order_relaxed))
				return false;
			sched_yield();
		}
	}
	return !atomic_load_explicit(&p->stop, memory_order_relaxed);
}

/** The round of the first thread: the time of those that drive nothing. */
static inline unsigned int
threads_round(const struct threads_pace *p)
{
	return atomic_load_explicit(&p->round[0], memory_order_relaxed);
}

static inline bool
threads_stopped(const struct threads_pace *p)
{
	return atomic_load_explicit(&p->stop, memory_order_relaxed);
}

#endif
