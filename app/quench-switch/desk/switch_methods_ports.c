/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameter port, and the method that clears watermarks. */
#include "quench-switch/desk/switch_desk.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "runtime/report/report.h"
#include "ctl/output/json.h"
#include "quench-switch/config/switch_version.h"
#include "tm/buffer/mmu.h"
#include "switch/params/port_names.h"

static bool
has_names(const struct sw_params *params)
{
	for (uint16_t i = 0; i < params->n_ports; i++)
		if (sw_port_has_name(&params->ports[i]))
			return true;
	return false;
}

bool
switch_port_param(struct desk_call *call, uint16_t *port)
{
	const struct sw_params *params = switch_of(call)->params;
	char expected[64], digits[DESK_DIGITS];
	const char *text = desk_word(call, "port", digits);
	int found = sw_port_find(params, text);

	*port = (uint16_t)found;
	if (found >= 0)
		return true;
	snprintf(expected, sizeof(expected), "a number from 0 to %u%s", params->n_ports - 1u,
		 has_names(params) ? ", or the name of a port" : "");
	desk_refuse_param(call, expected, "PORT = %s", text);
	return false;
}

/* Read parameter kind: "pg", "queue" and so on. @return false: refused with the list. */
static bool
read_kind(struct desk_call *call, enum mmu_watermark *kind)
{
	char kinds[96] = "one of", digits[DESK_DIGITS];
	const char *word = desk_word(call, "kind", digits);

	for (unsigned int i = 0; i < MMU_WATERMARKS; i++) {
		const char *name = mmu_watermark_name((enum mmu_watermark)i);
		size_t n = strlen(kinds);

		*kind = (enum mmu_watermark)i;
		if (strcmp(word, name) == 0)
			return true;
		snprintf(kinds + n, sizeof(kinds) - n, "%s %s", i == 0 ? "" : ",", name);
	}
	desk_refuse_param(call, kinds, "KIND = %s", word);
	return false;
}

static bool
is_of_ports(enum mmu_watermark kind)
{
	return kind < MMU_WATERMARK_POOL;
}

/* @param v  NULL: not of a port. */
static void
walk_watermark(struct walk *w, const struct sw_view *v, uint16_t port, uint32_t index,
	       uint64_t bytes)
{
	walk_item(w, "rows");
	w->optional = true;
	if (v != NULL)
		sw_walk_port_key(w, v, port);
	w->optional = false;
	walk_number(w, WALK_KEY, "index", "number of the group or queue, or place of the pool",
		    index);
	walk_number(w, WALK_KEY, "watermark_bytes", "value before it was cleared", bytes);
	walk_leave(w);
}

static void
walk_kind(struct walk *w, const char *kind)
{
	walk_text(w, WALK_KEY, "kind", "as asked", kind);
	walk_list(w, "rows");
}

void
switch_clear_watermark_result(struct walk *w)
{
	walk_kind(w, NULL);
	walk_watermark(w, &(struct sw_view){0}, 0, 0, 0);
}

/* Take and clear the watermarks of ports first to end - 1. @return false: refused. */
static bool
take_ports(struct desk_call *call, enum mmu_watermark kind, uint16_t first, uint16_t end,
	   struct walk *w)
{
	const struct sw_view v = {.params = switch_of(call)->params};

	for (uint16_t port = first; port < end; port++) {
		struct sw_snapshot s = {.table = SW_SNAPSHOT_WATERMARKS, .kind = kind, .at = port};

		if (!switch_take(call, &s))
			return false;
		for (uint32_t i = 0; i < s.n; i++)
			walk_watermark(w, &v, port, i, s.watermark_bytes[i]);
	}
	return true;
}

/* A pool's watermark is the maximum over its shards. @return false: refused. */
static bool
take_pools(struct desk_call *call, enum mmu_watermark kind, struct walk *w)
{
	uint64_t highest[TM_CLASSES] = {0};
	uint32_t n = 0;

	for (uint16_t shard = 0; shard < sw_shards(switch_of(call)->node); shard++) {
		struct sw_snapshot s = {.table = SW_SNAPSHOT_WATERMARKS, .kind = kind, .at = shard};

		if (!switch_take(call, &s))
			return false;
		for (n = 0; n < s.n; n++)
			highest[n] = max_u64(highest[n], s.watermark_bytes[n]);
	}
	for (uint32_t i = 0; i < n; i++)
		walk_watermark(w, NULL, 0, i, highest[i]);
	return true;
}

json_t *
switch_clear_watermark_reply(struct desk_call *call)
{
	uint16_t first = 0, end = switch_of(call)->params->n_ports;
	bool of_port = json_object_get(call->params, "port") != NULL, taken;
	enum mmu_watermark kind;
	struct json_walk j;

	if (!read_kind(call, &kind))
		return NULL;
	if (!is_of_ports(kind) && of_port)
		return desk_refuse(call, "no PORT",
				   "%s applies to the whole switch: leave "
				   "out the port",
				   mmu_watermark_name(kind));
	if (of_port && !switch_port_param(call, &first))
		return NULL;
	if (of_port)
		end = (uint16_t)(first + 1);
	j = json_walk(json_object());
	walk_kind(&j.walk, mmu_watermark_name(kind));
	taken = is_of_ports(kind) ? take_ports(call, kind, first, end, &j.walk)
				  : take_pools(call, kind, &j.walk);
	if (taken)
		return j.at;
	json_decref(j.at);
	return NULL;
}

const struct desk_param switch_clear_params[] = {
	{"kind", DESK_WORD, true,
	 "pg, pg_shared, pg_headroom, queue, buffer_pool or headroom_pool"},
	{"port", DESK_WORD, false, "number or name of a port; all without it"},
	{0},
};
