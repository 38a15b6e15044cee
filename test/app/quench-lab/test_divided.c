/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Among processes, each builds its own nodes and no others, the first one also copies of the rest,
 * and all agree on who runs a node and on the numbers of its QPs. Each net here is one that a
 * process would build; nothing crosses.
 */
#include <string.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "ctl/config/config.h"
#include "fabric/net/net_state.h"
#include "quench-lab/scenario/event_set.h"

#define PROCESSES 4u
#define MOST_NODES 64u
#define MOST_FLOWS 64u

static struct {
	uint32_t rank_of[MOST_NODES], owners[MOST_NODES]; /* by node of the topology */
	struct net_flow flows[MOST_FLOWS];
	uint32_t qps[MOST_NODES]; /* by host number */
} seen;

static void
read_scenario(const char *text, struct scenario *s)
{
	const struct scenario_override none = {0};
	struct config_error err = {.text = ""};
	struct config *cfg = config_open_text("test", text, strlen(text), &err);

	if (cfg == NULL || scenario_read(cfg, &none, s, &err) != 0)
		fail_msg("%s", err.text);
	config_close(cfg);
}

/* The node of a number in the topology, as it is here; NULL: it is not. */
static const struct node *
node_at(const struct net *net, uint32_t i)
{
	uint32_t n_switches = net_scenario(net)->topology->n_switches;

	return i < n_switches ? net_switch(net, i) : net_host(net, i - n_switches + 1);
}

static void
look_at_nodes(const struct net *net, uint32_t self)
{
	const struct topology *t = net_scenario(net)->topology;
	uint32_t n = t->n_switches + t->n_hosts;

	assert_true(n <= MOST_NODES);
	for (uint32_t i = 0; i < n; i++) {
		bool owns = net_owns(net, i), has = owns || self == 0;

		if (self == 0)
			seen.rank_of[i] = net_rank_of(net, i);
		assert_int_equal(net_rank_of(net, i), seen.rank_of[i]);
		assert_int_equal(owns, seen.rank_of[i] == self);
		assert_int_equal(net_has(net, i), has);
		assert_int_equal(node_at(net, i) != NULL, has);
		seen.owners[i] += owns;
		if (self == PROCESSES - 1)
			assert_int_equal(seen.owners[i], 1);
	}
}

static void
look_at_flows(const struct net *net, uint32_t self)
{
	assert_true(net_flow_count(net) <= MOST_FLOWS);
	for (uint32_t i = 0; i < net_flow_count(net); i++) {
		struct net_flow flow = *net_flow(net, i);

		if (self == 0)
			seen.flows[i] = flow;
		assert_true(flow.src_qp == seen.flows[i].src_qp &&
			    flow.dst_qp == seen.flows[i].dst_qp && flow.qps == seen.flows[i].qps);
	}
	for (uint32_t h = 1; h <= net_scenario(net)->topology->n_hosts; h++) {
		if (self == 0)
			seen.qps[h] = net_host_qps(net, h);
		assert_int_equal(net_host_qps(net, h), seen.qps[h]);
		if (net_host(net, h) != NULL)
			assert_int_equal(nic_qp_count(net_host(net, h)), seen.qps[h]);
	}
}

/* Servers and testers are around hosts that are here. */
static void
look_at_frames_of_hosts(const struct net *net, uint32_t wanted_testers)
{
	const struct scenario *s = net_scenario(net);
	uint32_t testers = 0;

	for (uint32_t h = 1; h <= s->topology->n_hosts; h++) {
		bool has = net_host(net, h) != NULL;

		testers += net_tester(net, h) != NULL;
		if (!has)
			assert_null(net_tester(net, h));
		if (scenario_has_servers(s))
			assert_int_equal(net_server(net, scenario_server_of(s, h)) != NULL, has);
	}
	if (net_has_all(net))
		assert_int_equal(testers, wanted_testers);
}

static void
divide(const char *text, uint32_t testers)
{
	uint64_t whole = 0;

	memset(&seen, 0, sizeof(seen));
	for (uint32_t self = 0; self < PROCESSES; self++) {
		struct ranks ranks = {.self = self, .n = PROCESSES};
		struct scenario s = {0};
		char why[256] = "";
		struct net *net;
		uint64_t built = 0;

		read_scenario(text, &s);
		net = net_create(&s, 1, &ranks, why, sizeof(why));
		if (net == NULL)
			fail_msg("%s", why);
		look_at_nodes(net, self);
		look_at_flows(net, self);
		look_at_frames_of_hosts(net, testers);
		for (uint32_t i = 0; i < s.topology->n_switches + s.topology->n_hosts; i++)
			built += node_at(net, i) != NULL;
		whole = self == 0 ? built : whole;
		assert_true(self == 0 ? built == s.topology->n_switches + s.topology->n_hosts
				      : built > 0 && built * 2 < whole);
		net_destroy(net);
		ranks_free(&ranks);
		scenario_free(&s);
	}
}

#define LEAF_SPINE                                                                                 \
	"[fabric]\ntopology = leaf_spine\nleaves = 4\nspines = 2\nhosts = 16\n"                    \
	"link_rate_bps = 10G\nduration_ns = 1ms\n[wred]\nKmin = 5KB\nKmax = 200KB\n"
#define FAT_TREE                                                                                   \
	"[fabric]\ntopology = fat_tree\nfat_tree_k = 4\nhosts = 16\n"                              \
	"link_rate_bps = 10G\nduration_ns = 1ms\n[wred]\nKmin = 5KB\nKmax = 200KB\n"

TEST(each_process_builds_its_nodes)
{
	divide(LEAF_SPINE "[flow f]\nsrc = 1-15\ndst = 16\nqp_count = 3\n"
			  "[flow back]\nsrc = 16\ndst = 1\nverb = read\n",
	       0);
	divide(FAT_TREE "[flow f]\npattern = permutation\nsrc = all\ntrace_qps = 1\n", 0);
}

TEST(bridges_learn_only_where_they_are)
{
	divide("[fabric]\ntopology = parking_lot\nswitches = 8\nhosts = 16\nlink_rate_bps = 10G\n"
	       "duration_ns = 1ms\n[wred]\nKmin = 5KB\nKmax = 200KB\n[flow f]\nsrc = 1\ndst = 16\n",
	       0);
}

TEST(jobs_servers_and_waiting_flows)
{
	divide(LEAF_SPINE "[job ring]\ncollective = all_reduce\nbytes = 64KB\n", 0);
	divide("[fabric]\ntopology = rail_optimized\nnics_per_server = 4\ngroups = 2\n"
	       "spines = 2\nhosts = 16\nlink_rate_bps = 10G\n"
	       "duration_ns = 1ms\n[wred]\nKmin = 5KB\nKmax = 200KB\n"
	       "[job ring]\ncollective = all_reduce\nbytes = 64KB\n",
	       0);
	divide(LEAF_SPINE "[flow a]\nsrc = 1-4\ndst = 16\nmessages = 1\n"
			  "[flow b]\nsrc = 5-8\ndst = 15\nmessages = 4\nafter = a\n"
			  "[flow c]\nsrc = 9-12\ndst = 14\nmessages = 4\nbarrier = b\n",
	       0);
}

TEST(streams_have_testers_where_their_hosts_are)
{
	divide(LEAF_SPINE "[stream s]\nsrc = 1-3\ndst = 9\nframe_bytes = 1500\nrate_bps = 1G\n", 4);
}

TEST_MAIN(.begin = start_eal)
