/* SPDX-License-Identifier: BSD-3-Clause */
/* Named shapes. A step that fails stores its reason in the builder. */
#include <errno.h>
#include <stdio.h>

#include "fabric/topology/topology.h"

struct builder {
	const struct topology_params *params;
	struct topology *t;
	int rc;
};

/* Add switches "word1" to "wordN". @return the number of the first. */
static uint32_t
add_switches(struct builder *b, const char *word, uint32_t n, uint8_t stage)
{
	uint32_t first = b->t->n_switches;

	for (uint32_t i = 1; b->rc == 0 && i <= n; i++) {
		char name[TOPOLOGY_NAME_CHARS + 1];
		int64_t rc;

		snprintf(name, sizeof(name), "%s%u", word, i);
		rc = topology_add_switch(b->t, name, stage);
		b->rc = rc < 0 ? (int)rc : 0;
	}
	return first;
}

/* Of H hosts, host i goes to switch floor(i x n / H). */
static void
spread_hosts(struct builder *b, uint32_t first, uint32_t n)
{
	uint32_t hosts = b->params->hosts;

	for (uint32_t i = 0; b->rc == 0 && i < n; i++) {
		uint32_t begin = (i * hosts + n - 1) / n, end = ((i + 1) * hosts + n - 1) / n;

		b->rc = topology_add_hosts(b->t, first + i, end - begin, &b->params->host_cable);
	}
}

static void
join(struct builder *b, uint32_t a, uint32_t c)
{
	if (b->rc == 0)
		b->rc = topology_join(b->t, a, c, &b->params->core_cable);
}

static void
build_row(struct builder *b, uint32_t n)
{
	uint32_t first = add_switches(b, "s", n, 0);

	spread_hosts(b, first, n);
	for (uint32_t i = 1; i < n; i++)
		join(b, first + i - 1, first + i);
}

/* SIGCOMM15 figure 2. */
static void
build_testbed(struct builder *b)
{
	uint32_t tors = add_switches(b, "T", 4, 0);
	uint32_t leaves = add_switches(b, "L", 4, 1);
	uint32_t spines = add_switches(b, "S", 2, 2);

	spread_hosts(b, tors, 4);
	for (uint32_t i = 0; i < 4; i++) {
		join(b, tors + i, leaves + (i & 2));
		join(b, tors + i, leaves + (i & 2) + 1);
	}
	for (uint32_t i = 0; i < 4; i++) {
		join(b, leaves + i, spines);
		join(b, leaves + i, spines + 1);
	}
}

static void
build_leaf_spine(struct builder *b)
{
	uint32_t n = b->params->leaves;
	uint32_t leaves = add_switches(b, "leaf", n, 0);
	uint32_t spines = add_switches(b, "spine", b->params->spines, 1);

	spread_hosts(b, leaves, n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < b->params->spines; j++)
			join(b, leaves + i, spines + j);
}

static void
build_fat_tree(struct builder *b)
{
	uint32_t k = b->params->fat_tree_k, half = k / 2;
	uint32_t edges = add_switches(b, "edge", k * half, 0);
	uint32_t aggs = add_switches(b, "agg", k * half, 1);
	uint32_t cores = add_switches(b, "core", half * half, 2);

	spread_hosts(b, edges, k * half);
	for (uint32_t pod = 0; pod < k; pod++)
		for (uint32_t i = 0; i < half; i++)
			for (uint32_t j = 0; j < half; j++)
				join(b, edges + pod * half + i, aggs + pod * half + j);
	for (uint32_t pod = 0; pod < k; pod++)
		for (uint32_t i = 0; i < half; i++)
			for (uint32_t j = 0; j < half; j++)
				join(b, aggs + pod * half + i, cores + i * half + j);
}

/* Of S servers, server i goes to group floor(i x groups / S); its NIC r to leaf r of the group. */
static void
spread_servers(struct builder *b, uint32_t first, uint32_t groups)
{
	uint32_t rails = b->params->rails, servers = b->params->hosts / rails;

	for (uint32_t i = 0; i < servers; i++)
		for (uint32_t r = 0; b->rc == 0 && r < rails; r++)
			b->rc = topology_add_hosts(b->t, first + i * groups / servers * rails + r,
						   1, &b->params->host_cable);
}

static void
build_rail_optimized(struct builder *b)
{
	uint32_t n = b->params->rails * b->params->groups;
	uint32_t leaves = add_switches(b, "leaf", n, 0);
	uint32_t spines = add_switches(b, "spine", b->params->spines, 1);

	spread_servers(b, leaves, b->params->groups);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < b->params->spines; j++)
			join(b, leaves + i, spines + j);
}

static void
build_rail_only(struct builder *b)
{
	spread_servers(b, add_switches(b, "rail", b->params->rails, 0), 1);
}

static void
build(struct builder *b)
{
	switch (b->params->shape) {
	case TOPOLOGY_STAR:
		build_row(b, 1);
		break;
	case TOPOLOGY_DUMBBELL:
		build_row(b, 2);
		break;
	case TOPOLOGY_PARKING_LOT:
		build_row(b, b->params->switches);
		break;
	case TOPOLOGY_TESTBED:
		build_testbed(b);
		break;
	case TOPOLOGY_LEAF_SPINE:
		build_leaf_spine(b);
		break;
	case TOPOLOGY_FAT_TREE:
		build_fat_tree(b);
		break;
	case TOPOLOGY_RAIL_OPTIMIZED:
		build_rail_optimized(b);
		break;
	case TOPOLOGY_RAIL_ONLY:
		build_rail_only(b);
		break;
	case TOPOLOGY_GRAPH:
		b->rc = -EINVAL;
		break;
	}
}

struct topology *
topology_build(const struct topology_params *params, const char **why)
{
	struct builder b = {.params = params, .t = topology_create()};

	if (b.t == NULL)
		b.rc = -ENOMEM;
	else
		build(&b);
	if (b.rc == 0)
		return b.t;
	*why = b.rc == -ENOSPC   ? "a fabric whose switches have at most 512 ports each"
	       : b.rc == -ENOMEM ? "a smaller fabric: out of memory"
				 : "a named shape";
	topology_destroy(b.t);
	errno = -b.rc;
	return NULL;
}
