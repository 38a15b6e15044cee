/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "fabric/scenario/scenario.h"
#include "fabric/topology/host_list.h"

static uint32_t
switch_of(const struct topology *t, const char *name)
{
	int64_t n = topology_find(t, name);

	assert_in_range(n, 0, t->n_switches - 1);
	return (uint32_t)n;
}

TEST(host_lists_come_out_sorted_and_once)
{
	static const struct {
		const char *list;
		int32_t n; /* or why not */
		uint32_t hosts[8];
	} rows[] = {
		{"1", 1, {1}},
		{"1-4", 4, {1, 2, 3, 4}},
		{"7, 1-2,2", 3, {1, 2, 7}},
		{"h3,h1-h2", 3, {1, 2, 3}},
		{"h1-3", 3, {1, 2, 3}},
		{"1-8:3", 3, {1, 4, 7}},
		{"h2-h8:2,1", 5, {1, 2, 4, 6, 8}},
		{"1-2:99999", 1, {1}},
		{"T1/1-2:2", 1, {1}},
		{"all", 8, {1, 2, 3, 4, 5, 6, 7, 8}},
		/* testbed, two hosts on each ToR */
		{"T2/1", 1, {3}},
		{"T4/1-2,T1/2", 3, {2, 7, 8}},
		{"T3", 2, {5, 6}},
		{"T3/3", -ERANGE, {0}},
		{"T5/1", -ERANGE, {0}},
		{"L1", -ERANGE, {0}},
		{"9", -ERANGE, {0}},
		{"", -EINVAL, {0}},
		{"0", -EINVAL, {0}},
		{"4-2", -EINVAL, {0}},
		{"1,", -EINVAL, {0}},
		{"1;2", -EINVAL, {0}},
		{"1-", -EINVAL, {0}},
		{"1-4:0", -EINVAL, {0}},
		{"1-4:", -EINVAL, {0}},
		{"1:2", -EINVAL, {0}},
		{"1-4:2:2", -EINVAL, {0}},
		{"T1/", -EINVAL, {0}},
		{"99999999999", -EINVAL, {0}},
	};
	static const struct topology_params params = {
		.shape = TOPOLOGY_TESTBED,
		.hosts = 8,
		.host_cable.rate_bps = GBPS,
		.core_cable.rate_bps = GBPS,
	};
	const char *why;
	struct topology *t = topology_build(&params, &why);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t hosts[8];
		int32_t n = host_list_parse(t, rows[i].list, hosts);

		if (n != rows[i].n ||
		    (n > 0 && memcmp(hosts, rows[i].hosts, (size_t)n * sizeof(hosts[0])) != 0))
			fail_msg("\"%s\": %d hosts, the first %u", rows[i].list, n, hosts[0]);
	}
	topology_destroy(t);
}

/* Larger than a stack wants to hold several times. */
static struct scenario scenario;

/* The scenario of a case; the next call replaces it. */
static struct scenario *
four_to_one(void)
{
	struct flow_params *flow = calloc(1, sizeof(*flow));

	memset(&scenario, 0, sizeof(scenario));
	scenario.flows = flow;
	scenario.n_flows = 1;
	assert_int_equal(field_defaults(fabric_fields, fabric_fields_n, &scenario.fabric), 0);
	assert_int_equal(field_defaults(flow_fields, flow_fields_n, flow), 0);
	snprintf(flow->name, sizeof(flow->name), "f");
	snprintf(flow->src, sizeof(flow->src), "1-4");
	snprintf(flow->dst, sizeof(flow->dst), "5");
	return &scenario;
}

static void
is_refused(struct scenario *s, const char *section, const char *key)
{
	struct scenario_fault fault;

	assert_int_equal(scenario_resolve(s, &fault), -EINVAL);
	assert_string_equal(fault.section, section);
	assert_string_equal(fault.key, key);
	scenario_release(s);
}

/* A fat tree of k = 64 has one host more than 16 bits count. */
TEST(hosts_beyond_16_bits_are_found_or_refused)
{
	struct topology_params params = {
		.shape = TOPOLOGY_FAT_TREE,
		.hosts = 65536,
		.fat_tree_k = 64,
		.host_cable.rate_bps = GBPS,
		.core_cable.rate_bps = GBPS,
	};
	const char *why;
	struct topology *t = topology_build(&params, &why);
	uint32_t *hosts = malloc(TOPOLOGY_MAX_HOSTS * sizeof(*hosts));
	char name[TOPOLOGY_NODE_CHARS + 1];
	uint8_t macs[2][6];

	assert_non_null(t);
	assert_int_equal(t->n_switches, 64 * 64 * 5 / 4);
	assert_int_equal(topology_find(t, "h65535"), t->n_switches + 65534);
	assert_int_equal(topology_find(t, "h65536"), topology_host_node(t, 65536));
	assert_int_equal(topology_find(t, "h65537"), -1);
	assert_int_equal(topology_find(t, "h70000"), -1);
	assert_string_equal(topology_node_name(t, topology_host_node(t, 65536), name), "h65536");
	assert_int_equal(t->hosts[65535].sw, switch_of(t, "edge2048"));
	assert_int_equal(t->hosts[65535].place, 31);

	assert_int_equal(host_list_parse(t, "65535-65536, 1", hosts), 3);
	assert_int_equal(hosts[0], 1);
	assert_int_equal(hosts[1], 65535);
	assert_int_equal(hosts[2], 65536);
	assert_int_equal(host_list_parse(t, "edge2048/32", hosts), 1);
	assert_int_equal(hosts[0], 65536);
	assert_int_equal(host_list_parse(t, "all", hosts), 65536);
	assert_int_equal(hosts[65535], 65536);
	assert_int_equal(host_list_parse(t, "70000", hosts), -ERANGE);
	assert_int_equal(host_list_parse(t, "65536-65537", hosts), -ERANGE);

	/* Without its 17th bit, 65536 would be host 0. */
	scenario_host_mac(65535, macs[0]);
	scenario_host_mac(65536, macs[1]);
	assert_memory_equal(macs[0], "\x02\0\0\0\xff\xff", 6);
	assert_memory_equal(macs[1], "\x02\x01\0\0\0\0", 6);
	free(hosts);
	topology_destroy(t);

	params.hosts = 65537;
	assert_null(topology_build(&params, &why));
}

TEST(what_no_single_key_shows_is_refused_by_name)
{
	struct scenario *s = four_to_one();

	strcpy(s->flows->dst, "6");
	is_refused(s, "flow f", "dst");

	s = four_to_one();
	strcpy(s->flows->dst, "4-5");
	is_refused(s, "flow f", "dst");

	s = four_to_one();
	strcpy(s->flows->dst, "3");
	is_refused(s, "flow f", "src");

	s = four_to_one();
	s->flows->mtu_bytes = 1000;
	is_refused(s, "flow f", "mtu_bytes");

	s = four_to_one();
	s->fabric.link_delay_ns = NS_PER_SEC;
	s->fabric.link_rate_bps = 400 * GBPS;
	is_refused(s, "fabric", "link_delay_ns");

	s = four_to_one();
	s->fabric.measure_from_ns = s->fabric.duration_ns;
	is_refused(s, "fabric", "measure_from_ns");

	s = four_to_one();
	s->fabric.topology = TOPOLOGY_TESTBED;
	s->fabric.forwarding = FABRIC_FORWARDING_L2;
	is_refused(s, "fabric", "forwarding");

	s = four_to_one();
	s->fabric.topology = TOPOLOGY_FAT_TREE;
	s->fabric.fat_tree_k = 5;
	is_refused(s, "fabric", "fat_tree_k");

	s = four_to_one();
	s->fabric.hosts = SW_MAX_PORTS + 1;
	is_refused(s, "fabric", "hosts");

	/* One more way than a route may have. */
	s = four_to_one();
	s->fabric.topology = TOPOLOGY_LEAF_SPINE;
	s->fabric.spines = SW_MAX_NEXTHOPS + 1;
	is_refused(s, "fabric", "topology");
}

static struct scenario *
graph(unsigned int n, const char *const names[])
{
	struct scenario *s = four_to_one();

	s->fabric.topology = TOPOLOGY_GRAPH;
	assert_int_equal(scenario_reserve_switches(s, n), 0);
	s->links = calloc(8, sizeof(*s->links));
	s->n_switches = n;
	for (unsigned int i = 0; i < n; i++)
		strcpy(s->switches[i].name, names[i]);
	s->switches[0].hosts = 4;
	s->switches[n - 1].hosts = 1;
	return s;
}

static struct link_section *
add_link(struct scenario *s, const char *ends)
{
	struct link_section *l = &s->links[s->n_links++];

	assert_int_equal(field_defaults(link_section_fields, link_section_fields_n, l), 0);
	snprintf(l->name, sizeof(l->name), "l%u", s->n_links);
	strcpy(l->ends, ends);
	return l;
}

TEST(a_graph_is_what_its_sections_say)
{
	static const char *const names[] = {"west", "mid", "east"};
	struct scenario *s = graph(3, names);
	struct scenario_fault fault;
	uint32_t link;

	add_link(s, "west mid")->link_rate_bps = GBPS;
	add_link(s, "mid east");
	add_link(s, "east h5")->link_delay_ns = 77;
	assert_int_equal(scenario_resolve(s, &fault), 0);
	assert_int_equal(s->topology->n_hosts, 5);
	assert_int_equal(s->topology->hosts[4].sw, 2);
	link = topology_link_between(s->topology, 0, 1, 0);
	assert_int_equal(s->topology->links[link].cable.rate_bps, GBPS);
	link = topology_link_between(s->topology, 1, 2, 0);
	assert_int_equal(s->topology->links[link].cable.rate_bps, 40 * GBPS);
	link = s->topology->hosts[4].link;
	assert_int_equal(s->topology->links[link].cable.delay_ns, 77);
	scenario_release(s);

	s = graph(3, names);
	add_link(s, "west mid");
	is_refused(s, "flow f", "src");

	s = graph(3, names);
	add_link(s, "west mid");
	s->fabric.forwarding = FABRIC_FORWARDING_L2;
	is_refused(s, "fabric", "topology");

	s = graph(3, names);
	add_link(s, "west mid east");
	is_refused(s, "link l1", "ends");

	s = graph(3, names);
	add_link(s, "west h9");
	is_refused(s, "link l1", "ends");

	s = graph(3, names);
	s->fabric.hosts = 6;
	is_refused(s, "fabric", "hosts");

	s = four_to_one();
	s->links = calloc(1, sizeof(*s->links));
	add_link(s, "s1 s2");
	is_refused(s, "link l1", "ends");
}

TEST_MAIN()
