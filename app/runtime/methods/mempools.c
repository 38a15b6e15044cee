/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/methods/methods.h"

#include <rte_mempool.h>

/* clang-format off */
const struct meaning mempool_meanings[] = {
	{"mbufs", "mbufs of the pool"},
	{"in_use", "mbufs of the pool that hold a frame or wait in a device"},
	{0},
};
/* clang-format on */

static void
add_pool(struct rte_mempool *pool, void *rows)
{
	json_array_append_new(rows, json_pack("{s:s, s:I, s:I}", "pool", pool->name, "mbufs",
					      (json_int_t)pool->size, "in_use",
					      (json_int_t)rte_mempool_in_use_count(pool)));
}

json_t *
mempools_reply(struct desk_call *call)
{
	json_t *rows = json_array();

	(void)call;
	rte_mempool_walk(add_pool, rows);
	return json_pack("{s:o}", "rows", rows);
}
