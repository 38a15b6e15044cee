/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory runs out: at each allocation of what is built at the start and at a reload, once alone and
 * once with all that follow. Whoever builds it hears of it, nothing is leaked, and what was in
 * force stays so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "unit/config_text.h"
#include "ctl/nic_config/nic_config.h"
#include "ctl/switch_config/switch_config.h"
#include "job/collective.h"
#include "job/goal.h"
#include "job/job_check.h"
#include "unit/failing.h"
#include "unit/nic/nic_test.h"
#include "unit/switch/sw_test.h"

#define ROUTES 100 /* more than a list takes: DPDK's tables */

static struct nic_pools nic_pools;

/* ---- a NIC ---- */

/* What needs most memory of each kind. */
struct nic_case {
	struct nic_params params;
	struct nic_qp_params qp;
	bool trace;
	const struct job_rank *rank; /* NULL: it is of no job */
};

/* The graph of a GOAL text, checked. */
static int
make_job(struct job_graph *out)
{
	static const char text[] =
		"num_ranks 2 rank 0 { a: calc 1 b: send 1b to 1 b requires a c: recv 2b from 1 } "
		"rank 1 { recv 1b from 0 send 2b to 0 }";
	struct job_fault fault;
	int rc = goal_read(text, strlen(text), 0, out, &fault);

	if (rc < 0)
		return rc;
	rc = job_check(out, &fault);
	if (rc < 0)
		job_graph_free(out);
	return rc;
}

static int
make_and_free_job(void *arg)
{
	struct job_graph g;
	int rc = make_job(&g);

	(void)arg;
	if (rc == 0)
		job_graph_free(&g);
	return rc;
}

static int
make_collective(void *arg)
{
	struct job_fault fault;
	struct job_graph g;
	int rc = collective_build(arg, 1, &g, &fault);

	if (rc == 0)
		job_graph_free(&g);
	return rc;
}

TEST(a_job_is_made_whole_or_not_at_all)
{
	struct collective c = {.n_ranks = 4, .bytes = 4000, .channels = 1, .compute_ns = 1};

	failing_each("a GOAL job", make_and_free_job, NULL);
	failing_each("a ring", make_collective, &c);
	c.algorithm = COLLECTIVE_DOUBLE_BINARY_TREE;
	failing_each("two trees", make_collective, &c);
}

static int
make_nic(void *arg)
{
	const struct nic_case *c = arg;
	struct node *nic = nic_create(&c->params, &nic_pools);
	int64_t rc;

	if (nic == NULL)
		return -errno;
	rc = nic_add_qp(nic, &c->qp, 0);
	if (rc >= 0 && c->rank != NULL) {
		static const struct nic_job_qps peers[] = {{0, JOB_NONE, false}};
		const struct nic_job_params job = {
			.rank = c->rank, .peers = peers, .qps = 1, .iterations = 3};

		rc = nic_job_add(nic, &job);
	}
	if (rc >= 0 && c->trace)
		rc = nic_trace_qp(nic, 0, 64);
	nic_destroy(nic);
	return rc < 0 ? (int)rc : 0;
}

static void
set_receive_wqes(struct nic_qp_params *qp)
{
	qp->verb = NIC_SEND;
	qp->requester = false;
	qp->max_recv_wr = 2;
	qp->post_recv_ns = 100;
}

TEST(a_nic_is_made_whole_or_not_at_all)
{
	struct nic_case c = {.qp = nic_test_qp(0)}, plain;
	struct workload_post message = {0}; /* the job never starts */
	struct workload_posted posted = {.ring = &message};
	struct workload_posts posts = {.qps = &posted};
	struct job_graph job;

	nic_test_params(&c.params, 0);
	c.params.max_qps = 4;
	c.qp.arrival = WORKLOAD_CLOSED;
	plain = c;
	failing_each("a NIC", make_nic, &c);
	c.params.measure_times = NIC_MEASURE_ON;
	c.params.measure_pacing = true;
	c.params.np.np_cnp_moderation = NP_PER_IP_PAIR;
	c.params.np.np_cnp_delay_ns = 1000;
	c.trace = true;
	failing_each("a NIC that measures", make_nic, &c);
	c = plain;
	assert_int_equal(make_job(&job), 0);
	c.rank = &job.ranks[0];
	/* Each length that a last packet may have is an allocation: take the fewest. */
	c.qp.mtu_bytes = 256;
	c.qp.message_size = WORKLOAD_POSTED;
	c.qp.arrival = WORKLOAD_OF_JOB;
	posts.first_qpn = c.params.first_qpn;
	c.qp.posts = &posts;
	failing_each("a NIC with a rank of a job", make_nic, &c);
	job_graph_free(&job);
	c = plain;
	c.qp.verb = NIC_READ;
	failing_each("a NIC that reads", make_nic, &c);
	c.qp.requester = false;
	failing_each("a NIC that is read from", make_nic, &c);
	c = plain;
	set_receive_wqes(&c.qp);
	failing_each("a NIC with receive WQEs", make_nic, &c);
	c = plain;
	c.qp.arrival = WORKLOAD_POISSON;
	c.qp.load_bps = GBPS;
	c.qp.message_size = WORKLOAD_UNIFORM;
	c.qp.mtu_bytes = 256;
	failing_each("a NIC of an open loop", make_nic, &c);
	c = plain;
	memset(c.qp.peer_mac, 0, 6);
	failing_each("a NIC that asks for addresses", make_nic, &c);
	c = plain;
	/* Enough for slots in the wheel and rings of pages of their own. */
	c.params.max_qps = 70000;
	failing_each("a NIC of many QPs", make_nic, &c);
}

static void
let_come(struct node *nic, const struct nic_params *params, uint32_t id)
{
	static const struct nic_flow_update live[2];
	struct nic_reload next = {
		.params = *params, .flows = live, .n_flows = 2, .added = &id, .n_added = 1};

	nic_reload(nic, &next);
	for (unsigned int i = 0; i < 10 && !nic_reload_is_done(nic); i++)
		nic->ops->rx(nic, 0, NULL, 0, 0);
	assert_true(nic_reload_is_done(nic));
}

/* A flow of case c comes beside one that sends. */
static int
add_flow(void *arg)
{
	const struct nic_case *c = arg;
	struct nic_qp_params first = nic_test_qp(0), second = c->qp;
	bool armed = failing.armed;
	struct nic_qp_info info;
	struct rte_mbuf *m;
	struct node *nic;
	int rc;

	failing.armed = false;
	nic = nic_create(&c->params, &nic_pools);
	assert_non_null(nic);
	assert_int_equal(nic_reserve_flows(nic, 2), 0);
	assert_int_equal(nic_prepare_flow(nic, &first, &(struct nic_flow_place){0, 0, 1}), 0);
	let_come(nic, &c->params, 0);
	second.flow_id = 1;
	failing.armed = armed;
	rc = nic_prepare_flow(nic, &second, &(struct nic_flow_place){1, 1, 1});
	if (rc == 0)
		let_come(nic, &c->params, 1); /* asks for nothing: it would not stand a failure */
	else
		nic_forget_flow(nic, 1);
	failing.armed = false;
	assert_true(nic_qp_info(nic, 1, &info) == (rc == 0));
	/* A question for the second's peer may go first. */
	for (unsigned int i = 0; i < 4; i++)
		if (nic->ops->tx(nic, 0, &m, 1, i * NS_PER_US) == 1)
			rte_pktmbuf_free(m);
	nic_qp_info(nic, 0, &info);
	assert_true(info.tx_packets > 0);
	nic_destroy(nic);
	return rc;
}

TEST(a_flow_that_finds_no_memory_leaves_the_others_alone)
{
	struct nic_case c = {.qp = nic_test_qp(0)}, plain;

	nic_test_params(&c.params, 0);
	c.params.max_qps = 4;
	c.params.measure_times = NIC_MEASURE_ON;
	c.params.np.np_cnp_moderation = NP_PER_IP_PAIR;
	c.qp.requester = false;
	plain = c;
	c.qp.verb = NIC_READ;
	failing_each("a flow that is read from", add_flow, &c);
	c = plain;
	set_receive_wqes(&c.qp);
	failing_each("a flow with receive WQEs", add_flow, &c);
	c = plain;
	c.qp.requester = true;
	c.qp.arrival = WORKLOAD_POISSON;
	c.qp.load_bps = GBPS;
	memset(c.qp.peer_mac, 0, 6);
	failing_each("a flow of an open loop, whose peer is asked for", add_flow, &c);
}

static int
make_pools(void *arg)
{
	struct rte_mempool *data =
		nic_data_pool_create(&(struct pkt_pool_params){.name = "try_data",
							       .n_mbufs = 256,
							       .socket = SOCKET_ID_ANY,
							       .threads = true},
				     1024);
	struct rte_mempool *plain;

	(void)arg;
	if (data == NULL)
		return -1;
	plain = pkt_pool_create(&(struct pkt_pool_params){
		.name = "try_plain", .n_mbufs = 64, .largest_frame = 128, .socket = SOCKET_ID_ANY});
	pkt_pool_destroy(data);
	if (plain == NULL)
		return -1;
	pkt_pool_destroy(plain);
	return 0;
}

TEST(a_pool_is_made_whole_or_not_at_all)
{
	failing_each("pools", make_pools, NULL);
}

/* ---- a switch ---- */

/* As many next hops as a route may have, in the first VLAN. */
static void
list_hops(char *hops, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 0; i < SW_MAX_NEXTHOPS; i++)
		used += (size_t)snprintf(hops + used, size - used, "%s10.0.10.%u",
					 i == 0 ? "" : ", ", 2 + i % 250);
}

/* Two VLANs, interfaces in them, and more routes than a list takes. */
static void
route_params(struct sw_params *p)
{
	struct sw_tables *t = &p->tables;

	p->vlan_filtering = true;
	memcpy(p->router.router_mac, (uint8_t[6]){2, 0, 0, 0, 0, 0xFE}, 6);
	for (uint16_t port = 0; port < p->n_ports; port++)
		p->ports[port].access_vlan = (uint16_t)(10 + 10 * (port % 2));
	t->interfaces = calloc(2, sizeof(*t->interfaces));
	t->routes = calloc(ROUTES, sizeof(*t->routes));
	t->neighbors = calloc(1, sizeof(*t->neighbors));
	t->static_macs = calloc(1, sizeof(*t->static_macs));
	assert_true(t->interfaces && t->routes && t->neighbors && t->static_macs);
	for (uint32_t i = 0; i < 2; i++) {
		struct sw_interface *interface = &t->interfaces[t->n_interfaces++];

		snprintf(interface->name, sizeof(interface->name), "vlan %u", 10 + 10 * i);
		snprintf(interface->ip, sizeof(interface->ip), "10.0.%u.1/24", 10 + 10 * i);
		snprintf(interface->ip6, sizeof(interface->ip6), "fd00:%u::1/64", 10 + 10 * i);
	}
	for (uint32_t i = 0; i < ROUTES; i++) {
		struct sw_static_route *route = &t->routes[t->n_routes++];
		char hops[SW_NEXTHOP_CHARS + 1];

		if (i % 2 == 0) {
			snprintf(route->name, sizeof(route->name), "10.99.%u.0/24", i);
			snprintf(hops, sizeof(hops), "10.0.10.%u, 10.0.20.%u", 2 + i, 2 + i);
			if (i == 0)
				list_hops(hops, sizeof(hops));
		} else {
			snprintf(route->name, sizeof(route->name), "fd00:%x::/64", 0x1000 + i);
			snprintf(hops, sizeof(hops), "fd00:10::%x", 2 + i);
		}
		route->nexthop = strdup(hops);
		assert_non_null(route->nexthop);
	}
	strcpy(t->neighbors[0].name, "10.0.10.2");
	memcpy(t->neighbors[0].mac, (uint8_t[6]){2, 0, 0, 0, 0, 7}, 6);
	t->n_neighbors = 1;
	strcpy(t->static_macs[0].name, "x");
	memcpy(t->static_macs[0].mac, (uint8_t[6]){2, 0, 0, 0, 0, 7}, 6);
	t->static_macs[0].vlan = 10;
	strcpy(t->static_macs[0].port, "0");
	t->n_static_macs = 1;
}

static int
make_switch(void *arg)
{
	const struct bench *b = arg;
	struct sw_pools pools = {
		.frames = b->frames, .clones = b->clones, .mbufs = 2 * BENCH_FRAMES};
	struct node *sw = sw_create(&b->params, &pools);

	if (sw == NULL)
		return -errno;
	sw_destroy(sw);
	return 0;
}

TEST(a_switch_is_made_whole_or_not_at_all)
{
	for (uint16_t shards = 1; shards <= 3; shards += 2) {
		struct bench *b = bench_with_ports(4);
		char why[256] = "";

		b->params.shards = shards;
		b->params.mark_accuracy = true;
		sw_params_resolve(&b->params);
		failing_each("a bridge", make_switch, b);
		route_params(&b->params);
		if (sw_params_check(&b->params, why, sizeof(why)) != 0)
			fail_msg("%s", why);
		failing_each("a router", make_switch, b);
		sw_tables_free(&b->params.tables);
	}
}

/* A switch that is in force, and what a reload would make of it. */
struct reloading {
	struct bench *b;
	struct sw_params next;
	bool apply;
};

/* h0 sends to h2 of the same VLAN: does the frame still come out there, and there alone? */
static void
sees_it_work(struct bench *b, uint64_t now_ns)
{
	struct rte_mbuf *m;

	give(b, 0, make_data(b, 0, 2, 1), now_ns);
	for (uint16_t port = 1; port < 4; port++) {
		m = take(b, port, now_ns);
		assert_true((m != NULL) == (port == 2));
		rte_pktmbuf_free(m);
	}
}

static int
reload(void *arg)
{
	static uint64_t now_ns;
	struct reloading *r = arg;
	struct sw_forwarding *next = NULL;
	char why[256] = "";
	bool armed = failing.armed;
	int rc;

	now_ns += NS_PER_MS;
	rc = sw_reload_prepare(r->b->sw, &r->next, &next, why, sizeof(why));
	failing.armed = false;
	if (rc < 0) {
		assert_true(strlen(why) > 0);
		sees_it_work(r->b, now_ns);
		return rc;
	}
	if (!r->apply) {
		sw_reload_forget(next);
		return 0;
	}
	failing.armed = armed;
	/* Putting it in force asks for nothing. */
	sw_reload(r->b->sw, &r->next, next, now_ns);
	for (uint16_t port = 0; port < 4; port++)
		r->b->sw->ops->rx(r->b->sw, port, NULL, 0, now_ns);
	assert_true(sw_reload_settle(r->b->sw));
	failing.armed = false;
	sees_it_work(r->b, now_ns + 1000);
	/* And back. */
	assert_int_equal(sw_reload_prepare(r->b->sw, &r->b->params, &next, why, sizeof(why)), 0);
	sw_reload(r->b->sw, &r->b->params, next, now_ns);
	for (uint16_t port = 0; port < 4; port++)
		r->b->sw->ops->rx(r->b->sw, port, NULL, 0, now_ns);
	assert_true(sw_reload_settle(r->b->sw));
	return 0;
}

TEST(a_reload_of_a_switch_that_fails_leaves_the_old_one)
{
	for (uint16_t shards = 1; shards <= 3; shards += 2) {
		struct bench *b = bench_with_ports(4);
		struct reloading r = {.b = b};

		b->params.shards = shards;
		route_params(&b->params);
		bench_start(b);
		sw_learn(b->sw, 10, (const uint8_t[6]){2, 0, 0, 0, 0, 2}, 2, 0);
		r.next = b->params;
		r.next.tables.n_routes -= 10;
		r.next.fdb_entries *= 2;
		r.next.ports[3].access_vlan = 30;
		sw_params_resolve(&r.next);
		failing_each("a reload", reload, &r);
		r.apply = true;
		failing_each("a reload that is applied", reload, &r);
		bench_stop(b);
		sw_tables_free(&b->params.tables);
	}
}

/* ---- configurations ---- */

static int
read_switch(void *arg)
{
	struct config_error err = {""};
	struct config *cfg = config_open(arg, &err);
	struct sw_params *params = malloc(sizeof(*params));
	int rc = cfg == NULL || params == NULL ? -ENOMEM : 0;
	bool own = params == NULL;

	if (rc == 0)
		rc = switch_config_read(cfg, params, &err);
	if (rc == 0)
		sw_tables_free(&params->tables);
	free(params);
	config_close(cfg);
	/* Who fails says what, in one line. */
	if (rc < 0 && !own)
		assert_true(strlen(err.text) > 0 && strchr(err.text, '\n') == NULL);
	return rc;
}

static int
read_nic(void *arg)
{
	struct config_error err = {""};
	struct config *cfg = config_open(arg, &err);
	struct nic_config config;
	int rc = cfg == NULL ? -ENOMEM : nic_config_read(cfg, NULL, &config, &err);

	if (rc == 0)
		nic_config_free(&config);
	config_close(cfg);
	if (rc < 0)
		assert_true(strlen(err.text) > 0 && strchr(err.text, '\n') == NULL);
	return rc;
}

/* A route of many next hops, and then a change of them. */
static int
set_many_hops(void *arg)
{
	static const char before[] =
		"[port 0]\nlink_speed_bps = 10G\n[port 1]\nlink_speed_bps = 10G\n"
		"[router]\nrouter_mac = 02:00:00:00:00:fe\n[interface port 0]\nip = 10.0.10.1/24\n"
		"[route 10.9.0.0/16]\nnexthop = 10.0.10.2\n";
	struct config_error err = {""};
	struct config *cfg = config_open_text("x.ini", before, strlen(before), &err), *over = NULL;
	struct sw_params *now = calloc(2, sizeof(*now)), *next = now + 1;
	int rc = cfg == NULL || now == NULL ? -ENOMEM : switch_config_read(cfg, now, &err);

	if (rc == 0) {
		over = config_open_text("running", "", 0, &err);
		rc = over == NULL ? -ENOMEM : config_set(over, arg, &err);
		if (rc == 0)
			rc = switch_config_set(over, now, next, &err);
		if (rc == 0)
			sw_tables_free(&next->tables);
		assert_string_equal(now->tables.routes[0].nexthop, "10.0.10.2");
		sw_tables_free(&now->tables);
	}
	config_close(over);
	config_close(cfg);
	free(now);
	return rc;
}

TEST(a_route_of_many_hops_is_read_and_changed_whole_or_refused)
{
	char text[SW_NEXTHOP_CHARS + 64] = "route 10.9.0.0/16.nexthop=";
	size_t used = strlen(text);

	list_hops(text + used, sizeof(text) - used);
	failing_each("a route of many hops", set_many_hops, text);
}

TEST(a_configuration_is_read_whole_or_refused)
{
	static const char *const switches[] = {"switch.ini", "loop-switch.ini"};
	static const char *const nics[] = {"nic.ini", "nic-verbs.ini", "loop-sender.ini",
					   "loop-receiver.ini"};
	const char *folder = getenv("QUENCH_CONFIG_DIR");
	char path[4096];

	if (folder == NULL)
		skip();
	for (unsigned int i = 0; i < ARRAY_LEN(switches); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, switches[i]);
		failing_each(switches[i], read_switch, path);
	}
	for (unsigned int i = 0; i < ARRAY_LEN(nics); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, nics[i]);
		failing_each(nics[i], read_nic, path);
	}
}

static int
open_pools(void **state)
{
	if (!FAILING_WORKS) {
		printf("a sanitizer has its own allocator\n");
		exit(77);
	}
	if (bench_open(state) != 0)
		return -1;
	nic_test_pools(&nic_pools, 64, 64);
	return 0;
}

TEST_MAIN(.begin = open_pools, .end = bench_close)
