/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/growing_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/threads/pages.h"

/* Objects made at once. */
#define STEP 512u

struct stack {
	pthread_mutex_t lock; /* recursive, as making objects enqueues them */
	size_t bytes;         /* of this struct */
	char *region;         /* the objects; those made are at its start */
	size_t region_bytes;
	uint32_t made, left; /* objects; left: not made yet */
	rte_mempool_obj_cb_t *init;
	void *arg;
	uint32_t count;
	void *obj[]; /* as many as the pool's size */
};

static int
stack_alloc(struct rte_mempool *pool)
{
	size_t bytes = sizeof(struct stack) + pool->size * sizeof(void *);
	struct stack *s = pages_alloc_sparse(bytes);
	pthread_mutexattr_t recursive;

	if (s == NULL)
		return -ENOMEM;
	s->bytes = bytes;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&s->lock, &recursive);
	pool->pool_data = s;
	return 0;
}

static void
stack_free(struct rte_mempool *pool)
{
	struct stack *s = pool->pool_data;

	if (s == NULL)
		return;
	pages_free(s->region, s->region_bytes);
	pages_free_sparse(s, s->bytes);
}

static int
stack_enqueue(struct rte_mempool *pool, void *const *obj, unsigned int n)
{
	struct stack *s = pool->pool_data;

	pthread_mutex_lock(&s->lock);
	memcpy(&s->obj[s->count], obj, n * sizeof(obj[0]));
	s->count += n;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static size_t
object_bytes(const struct rte_mempool *pool)
{
	return (size_t)pool->header_size + pool->elt_size + pool->trailer_size;
}

/*
 * Make the next objects. The mempool puts them on the stack through stack_enqueue().
 * @return false: none.
 */
static bool
grow(struct rte_mempool *pool, struct stack *s)
{
	uint32_t n = RTE_MIN(s->left, STEP), before = s->count;
	size_t object = object_bytes(pool);
	int rc;

	if (n == 0)
		return false;
	rc = rte_mempool_populate_iova(pool, s->region + s->made * object, RTE_BAD_IOVA, n * object,
				       NULL, NULL);
	if (rc <= 0)
		return false;
	for (uint32_t i = before; i < s->count; i++)
		s->init(pool, s->arg, s->obj[i], s->made + i - before);
	s->made += (uint32_t)rc;
	s->left -= (uint32_t)rc;
	return true;
}

static int
stack_dequeue(struct rte_mempool *pool, void **obj, unsigned int n)
{
	struct stack *s = pool->pool_data;
	bool has;

	pthread_mutex_lock(&s->lock);
	while (unlikely(s->count < n) && grow(pool, s))
		;
	has = s->count >= n;
	if (has) {
		s->count -= n;
		memcpy(obj, &s->obj[s->count], n * sizeof(obj[0]));
	}
	pthread_mutex_unlock(&s->lock);
	return has ? 0 : -ENOBUFS;
}

static unsigned int
stack_count(const struct rte_mempool *pool)
{
	const struct stack *s = pool->pool_data;

	return s->count + s->left;
}

static const struct rte_mempool_ops ops = {
	.name = "quench_growing",
	.alloc = stack_alloc,
	.free = stack_free,
	.enqueue = stack_enqueue,
	.dequeue = stack_dequeue,
	.get_count = stack_count,
};

/*
 * The driver is registered at first use and not by a constructor: processes that share memory
 * identify a driver by its position in the list of drivers, so a program with secondary processes
 * must have DPDK's drivers alone.
 */
int
growing_pool_choose(struct rte_mempool *pool)
{
	int rc = rte_mempool_set_ops_byname(pool, ops.name, NULL);

	if (rc == 0)
		return 0;
	rc = rte_mempool_register_ops(&ops);
	return rc < 0 ? rc : rte_mempool_set_ops_byname(pool, ops.name, NULL);
}

int
growing_pool_begin(struct rte_mempool *pool, rte_mempool_obj_cb_t *init, void *arg)
{
	size_t object = object_bytes(pool), bytes = object * pool->size;
	char *region = pages_alloc(bytes);
	struct stack *s;
	int rc;

	if (region == NULL)
		return -ENOMEM;
	/* Make the first objects at once: DPDK allocates the driver's data along with them. */
	rc = rte_mempool_populate_iova(pool, region, RTE_BAD_IOVA,
				       RTE_MIN(pool->size, STEP) * object, NULL, NULL);
	if (rc <= 0) {
		pages_free(region, bytes);
		return -ENOMEM;
	}
	s = pool->pool_data;
	s->region = region;
	s->region_bytes = bytes;
	s->init = init;
	s->arg = arg;
	s->made = (uint32_t)rc;
	s->left = pool->size - s->made;
	for (uint32_t i = 0; i < s->count; i++)
		init(pool, arg, s->obj[i], i);
	return 0;
}

void
growing_pool_end(struct rte_mempool *pool)
{
	struct stack *s;

	if (pool == NULL || rte_mempool_get_ops(pool->ops_index)->dequeue != stack_dequeue)
		return;
	s = pool->pool_data;
	if (s != NULL)
		s->left = 0;
}
