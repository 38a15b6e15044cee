/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes are wired as their sources say, and routes are all shortest paths, and only these. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "fabric/topology/topology_routes.h"

static const struct fabric_cable cable = {.rate_bps = 40 * GBPS, .delay_ns = 1000};

static struct topology *
build(struct topology_params params)
{
	const char *why = "";
	struct topology *t;

	params.host_cable = cable;
	params.core_cable = cable;
	t = topology_build(&params, &why);
	if (t == NULL)
		fail_msg("%s", why);
	return t;
}

static uint32_t
switch_number(const struct topology *t, const char *name)
{
	int64_t n = topology_find(t, name);

	assert_in_range(n, 0, t->n_switches - 1);
	return (uint32_t)n;
}

static bool
joined(const struct topology *t, const char *a, const char *b)
{
	return topology_link_between(t, switch_number(t, a), switch_number(t, b), 0) !=
	       TOPOLOGY_NO_LINK;
}

TEST(the_testbed_is_wired_as_the_paper_draws_it)
{
	struct topology *t =
		build((struct topology_params){.shape = TOPOLOGY_TESTBED, .hosts = 20});

	assert_int_equal(t->n_switches, 10);
	assert_int_equal(t->n_links, 20 + 8 + 8);
	for (unsigned int tor = 1; tor <= 4; tor++) {
		for (unsigned int leaf = 1; leaf <= 4; leaf++) {
			char a[8], b[8];

			snprintf(a, sizeof(a), "T%u", tor);
			snprintf(b, sizeof(b), "L%u", leaf);
			assert_int_equal(joined(t, a, b), (tor <= 2) == (leaf <= 2));
			assert_true(joined(t, b, "S1") && joined(t, b, "S2"));
		}
	}
	for (uint32_t h = 0; h < 20; h++)
		assert_int_equal(t->hosts[h].sw, h / 5);
	assert_true(topology_is_connected(t));
	assert_false(topology_is_tree(t));
	topology_destroy(t);
}

TEST(hosts_are_spread_evenly)
{
	struct topology *t = build((struct topology_params){
		.shape = TOPOLOGY_PARKING_LOT, .hosts = 11, .switches = 4});
	uint32_t sum = 0;

	for (uint32_t i = 0; i < t->n_switches; i++) {
		assert_in_range(t->switches[i].n_hosts, 2, 3);
		sum += t->switches[i].n_hosts;
	}
	assert_int_equal(sum, 11);
	assert_true(topology_is_tree(t));
	topology_destroy(t);
}

TEST(a_rail_has_a_leaf_in_each_group)
{
	struct topology *t = build((struct topology_params){.shape = TOPOLOGY_RAIL_OPTIMIZED,
							    .hosts = 20,
							    .rails = 4,
							    .groups = 2,
							    .spines = 3});

	assert_int_equal(t->n_switches, 8 + 3);
	assert_int_equal(t->n_links, 20 + 8 * 3);
	/* Servers 0 to 2 are in the first group, 3 and 4 in the second. */
	for (uint32_t h = 0; h < 20; h++)
		assert_int_equal(t->hosts[h].sw, (h / 4 < 3 ? 0 : 4) + h % 4);
	assert_int_equal(t->switches[1].n_hosts, 3);
	assert_int_equal(t->hosts[9].place, 2);
	assert_true(joined(t, "leaf8", "spine3") && !joined(t, "leaf1", "leaf5"));
	assert_true(topology_is_connected(t));
	topology_destroy(t);
}

TEST(rails_alone_are_not_joined)
{
	struct topology *t = build((struct topology_params){
		.shape = TOPOLOGY_RAIL_ONLY, .hosts = 12, .rails = 3, .groups = 1});

	assert_int_equal(t->n_switches, 3);
	assert_int_equal(t->n_links, 12);
	for (uint32_t h = 0; h < 12; h++)
		assert_int_equal(t->hosts[h].sw, h % 3);
	assert_int_equal(topology_find(t, "rail3"), 2);
	assert_false(topology_is_connected(t));
	topology_destroy(t);
}

TEST(hosts_have_the_first_ports)
{
	struct topology *t = build(
		(struct topology_params){.shape = TOPOLOGY_FAT_TREE, .hosts = 16, .fat_tree_k = 4});

	assert_int_equal(t->n_switches, 8 + 8 + 4);
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		struct topology_end end = topology_peer(t, t->hosts[h].sw, t->hosts[h].place);

		assert_int_equal(end.node, topology_host_node(t, h + 1));
	}
	for (uint32_t i = 0; i < t->n_switches; i++)
		assert_int_equal(t->switches[i].n_ports, 4);
	topology_destroy(t);
}

/* Cables between two switches, found by trying all ways: the judge of what routes say. */
static unsigned int
distance(const struct topology *t, uint32_t a, uint32_t b)
{
	unsigned int *d = calloc(t->n_switches, sizeof(*d)), out;

	for (uint32_t i = 0; i < t->n_switches; i++)
		d[i] = i == a ? 0 : 1000;
	for (uint32_t round = 0; round < t->n_switches; round++) {
		for (uint32_t i = t->n_hosts; i < t->n_links; i++) {
			uint32_t x = t->links[i].a.node, y = t->links[i].b.node;

			d[x] = d[y] + 1 < d[x] ? d[y] + 1 : d[x];
			d[y] = d[x] + 1 < d[y] ? d[x] + 1 : d[y];
		}
	}
	out = d[b];
	free(d);
	return out;
}

static void
check_routes(const struct topology *t)
{
	struct routes *r = routes_create(t, NULL);

	for (uint32_t to = 0; to < t->n_switches; to++) {
		uint32_t subnet = routes_subnet(r, to);

		assert_int_equal(subnet == ROUTES_NO_SUBNET, t->switches[to].n_hosts == 0);
		if (subnet == ROUTES_NO_SUBNET)
			continue;
		for (uint32_t sw = 0; sw < t->n_switches; sw++) {
			unsigned int far = distance(t, sw, to);
			struct port_set want = {0}, have;

			for (uint16_t p = 0; p < t->switches[sw].n_ports; p++) {
				uint32_t next = topology_peer(t, sw, p).node;

				if (topology_is_switch(t, next) && distance(t, next, to) + 1 == far)
					port_set_add(&want, p);
			}
			have = routes_ports(r, sw, subnet);
			if (!port_set_equal(&have, &want))
				fail_msg("%s to %s: ports %lx, not %lx", t->switches[sw].name,
					 t->switches[to].name, have.word[0], want.word[0]);
		}
	}
	routes_destroy(r);
}

TEST(routes_are_all_shortest_paths)
{
	static const struct topology_params shapes[] = {
		{.shape = TOPOLOGY_STAR, .hosts = 5},
		{.shape = TOPOLOGY_DUMBBELL, .hosts = 4},
		{.shape = TOPOLOGY_PARKING_LOT, .hosts = 5, .switches = 5},
		/* more subnets, and more ports, than a word has bits */
		{.shape = TOPOLOGY_PARKING_LOT, .hosts = 66, .switches = 66},
		{.shape = TOPOLOGY_LEAF_SPINE, .hosts = 66, .leaves = 66, .spines = 2},
		{.shape = TOPOLOGY_TESTBED, .hosts = 20},
		{.shape = TOPOLOGY_LEAF_SPINE, .hosts = 12, .leaves = 4, .spines = 3},
		{.shape = TOPOLOGY_FAT_TREE, .hosts = 16, .fat_tree_k = 4},
		{.shape = TOPOLOGY_RAIL_OPTIMIZED,
		 .hosts = 16,
		 .rails = 4,
		 .groups = 2,
		 .spines = 2},
	};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct topology *t = build(shapes[i]);

		check_routes(t);
		topology_destroy(t);
	}
}

/* A connected graph of n switches with cables anywhere, some side by side, hosts on some. */
static struct topology *
random_graph(struct prng *rnd, uint32_t n)
{
	struct topology *t = topology_create();

	for (uint32_t i = 0; i < n; i++) {
		char name[12];

		snprintf(name, sizeof(name), "x%u", i);
		assert_int_equal(topology_add_switch(t, name, 0), i);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(topology_add_hosts(t, i, (uint16_t)prng_below(rnd, 2), &cable), 0);
	assert_int_equal(topology_add_hosts(t, n - 1, 1, &cable), 0);
	for (uint32_t i = 1; i < n; i++)
		assert_int_equal(topology_join(t, i, (uint32_t)prng_below(rnd, i), &cable), 0);
	for (uint32_t i = 0; i < n; i++)
		topology_join(t, i, (uint32_t)prng_below(rnd, n), &cable);
	return t;
}

TEST(routes_of_any_graph_are_all_shortest_paths)
{
	struct prng rnd;

	prng_seed(&rnd, 5, 0);
	for (unsigned int i = 0; i < 30; i++) {
		struct topology *t = random_graph(&rnd, 2 + i % 12);

		assert_true(topology_is_connected(t));
		check_routes(t);
		topology_destroy(t);
	}
}

/* What the longest prefix of merged routes says for a subnet. */
static struct port_set
look_up(const struct routes_block *blocks, int32_t n, uint32_t subnet)
{
	struct port_set ports = {0};
	uint8_t best = 32;

	for (int32_t i = 0; i < n; i++) {
		if (subnet >> blocks[i].bits != blocks[i].first >> blocks[i].bits)
			continue;
		assert_true(blocks[i].bits < best);
		best = blocks[i].bits;
		ports = blocks[i].ports;
	}
	return ports;
}

TEST(merged_routes_lead_where_single_ones_do)
{
	struct routes_block blocks[128];
	struct prng rnd;

	prng_seed(&rnd, 6, 0);
	for (unsigned int i = 0; i < 30; i++) {
		struct topology *t = random_graph(&rnd, 2 + i);
		struct routes *r = routes_create(t, NULL);

		for (uint32_t sw = 0; sw < t->n_switches; sw++) {
			int32_t n = routes_merged(r, sw, blocks, 128);

			assert_in_range(n, 0, routes_n_subnets(r));
			for (uint32_t subnet = 0; subnet < routes_n_subnets(r); subnet++) {
				struct port_set want = routes_ports(r, sw, subnet);
				struct port_set have = look_up(blocks, n, subnet);

				assert_true(port_set_is_empty(&want) ||
					    port_set_equal(&have, &want));
			}
		}
		routes_destroy(r);
		topology_destroy(t);
	}
}

TEST(a_leaf_needs_one_route_and_a_core_switch_one_for_each_pod)
{
	struct topology *t = build((struct topology_params){
		.shape = TOPOLOGY_FAT_TREE, .hosts = 128, .fat_tree_k = 8});
	struct routes *r = routes_create(t, NULL);
	struct routes_block blocks[64];

	assert_int_equal(routes_merged(r, switch_number(t, "edge1"), blocks, 64), 1);
	assert_int_equal(port_set_count(&blocks[0].ports), 4);
	assert_int_equal(routes_merged(r, switch_number(t, "core1"), blocks, 64), 8);
	for (unsigned int pod = 0; pod < 8; pod++) {
		assert_int_equal(blocks[pod].first, 4 * pod);
		assert_int_equal(blocks[pod].bits, 2);
		assert_int_equal(port_set_count(&blocks[pod].ports), 1);
	}
	assert_int_equal(routes_merged(r, switch_number(t, "core1"), blocks, 7), -ENOSPC);
	routes_destroy(r);
	topology_destroy(t);
}

TEST(ports_and_names_run_out_with_an_error)
{
	struct topology *t = topology_create();

	assert_int_equal(topology_add_switch(t, "a", 0), 0);
	assert_int_equal(topology_add_switch(t, "b", 0), 1);
	assert_true(topology_add_switch(t, "a", 0) < 0);
	assert_true(topology_add_switch(t, "a name that is too long", 0) < 0);
	assert_true(topology_join(t, 0, 0, &cable) < 0);
	assert_int_equal(topology_add_hosts(t, 0, SW_MAX_PORTS, &cable), 0);
	assert_true(topology_join(t, 0, 1, &cable) < 0);
	assert_true(topology_add_hosts(t, 0, 1, &cable) < 0);
	assert_int_equal(t->n_hosts, SW_MAX_PORTS);
	assert_int_equal(t->n_links, SW_MAX_PORTS);
	assert_int_equal(t->switches[1].n_ports, 0);
	assert_false(topology_is_connected(t));
	topology_destroy(t);
}

TEST_MAIN()
