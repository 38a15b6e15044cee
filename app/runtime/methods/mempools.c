/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/methods/methods.h"

#include <rte_mempool.h>

#include "ctl/output/json.h"

static void
walk_pool(struct walk *w, const struct rte_mempool *pool)
{
	w->object = "mempool";
	WALK(text, w, KEY, "pool", "name of the pool", pool->name);
	WALK(number, w, GAUGE, "mbufs", "mbufs of the pool", pool->size);
	WALK(number, w, GAUGE, "in_use", "mbufs of the pool that hold a frame or wait in a device",
	     rte_mempool_in_use_count(pool));
}

void
mempools_result(struct walk *w)
{
	walk_item(w, "rows");
	walk_pool(w, NULL);
	walk_leave(w);
}

static void
add_pool(struct rte_mempool *pool, void *rows)
{
	json_t *o = json_object();
	struct json_walk j = json_walk(o);

	walk_pool(&j.walk, pool);
	json_array_append_new(rows, o);
}

json_t *
mempools_reply(struct desk_call *call)
{
	json_t *rows = json_array();

	(void)call;
	rte_mempool_walk(add_pool, rows);
	return json_pack("{s:o}", "rows", rows);
}
