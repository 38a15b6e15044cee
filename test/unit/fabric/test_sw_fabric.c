/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several switches joined by cables, in virtual time: bridges behind a trunk, and routers with more
 * than one way between them. A host sends frames at a pace, answers ARP, and keeps what it gets.
 */
#include "base/numbers/array.h"
#include "unit/switch/sw_test.h"

#include "fabric/links/fabric.h"
#include "wire/neighbour/arp.h"
#include "wire/bytes/be.h"

#define HOST_FRAMES 4096
#define LINK_BPS (40 * GBPS)
#define MAX_NODES 8
#define TICK_NS 10000

struct host {
	struct node node;
	struct rte_mempool *pool;
	uint8_t mac[6], ip[4];
	/* what it sends: flows round robin, a frame every gap_ns, each with its number as PSN */
	uint8_t dst_mac[6], dst_ip[4];
	uint32_t to_send, sent, flows;
	uint64_t next_ns, gap_ns;
	uint64_t tick_ns; /* when it next looks whether the test has given it work */
	struct rte_mbuf *answer;
	/* what it got */
	uint32_t got, broadcasts, misordered, arp_requests;
	uint32_t last_psn[64];
};

struct net {
	struct fabric *fabric;
	struct host *hosts[MAX_NODES];
	struct node *switches[MAX_NODES];
	uint32_t n_hosts, n_switches;
	struct rte_mempool *frames, *clones;
};

static void
answer_arp(struct host *h, struct rte_mbuf *m, const struct frame_view *v)
{
	uint8_t *buf = rte_pktmbuf_mtod(m, uint8_t *);
	struct l2 l2 = {.tagged = false};
	struct arp arp;

	if (!arp_parse(buf, m->data_len, v, &arp) || arp.op != ARP_REQUEST ||
	    memcmp(arp.target_ip, h->ip, 4) != 0)
		return;
	h->arp_requests++;
	assert_null(h->answer);
	h->answer = rte_pktmbuf_alloc(h->pool);
	assert_non_null(h->answer);
	memcpy(l2.dst_mac, arp.sender_mac, 6);
	memcpy(l2.src_mac, h->mac, 6);
	arp.op = ARP_REPLY;
	memcpy(arp.target_mac, arp.sender_mac, 6);
	memcpy(arp.target_ip, arp.sender_ip, 4);
	memcpy(arp.sender_mac, h->mac, 6);
	memcpy(arp.sender_ip, h->ip, 4);
	rte_pktmbuf_append(h->answer, ARP_FRAME_BYTES);
	arp_build(rte_pktmbuf_mtod(h->answer, uint8_t *), &l2, &arp);
	node_wake(&h->node, 0);
}

static void
keep_data(struct host *h, const struct rte_mbuf *m)
{
	struct roce_view r = roce_of(m);
	uint32_t flow = view_of(m).ip_version == 4 ? r.udp_sport % ARRAY_LEN(h->last_psn) : 0;

	h->got++;
	h->misordered += r.psn <= h->last_psn[flow];
	h->last_psn[flow] = r.psn;
}

static void
host_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct host *h = (struct host *)node;

	(void)port;
	(void)now_ns;
	for (uint16_t i = 0; i < n; i++) {
		struct frame_view v = view_of(pkts[i]);

		if (v.ethertype == ETHERTYPE_ARP)
			answer_arp(h, pkts[i], &v);
		else if (rte_pktmbuf_mtod(pkts[i], const uint8_t *)[0] & 1)
			h->broadcasts++;
		else if (memcmp(rte_pktmbuf_mtod(pkts[i], const uint8_t *), h->mac, 6) == 0)
			keep_data(h, pkts[i]);
		rte_pktmbuf_free(pkts[i]);
	}
}

static struct rte_mbuf *
make_next(struct host *h)
{
	static const uint8_t payload[256];
	uint32_t flow = h->sent % h->flows;
	struct roce_path path = {.ip_version = 4,
				 .dscp = 26,
				 .ecn = ECN_ECT0,
				 .ttl = 64,
				 .udp_sport = (uint16_t)(0xC000 + flow),
				 .dest_qp = 0x11,
				 .pkey = PKEY_DEFAULT};
	struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE, .psn = 1 + h->sent / h->flows};
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);

	assert_non_null(m);
	memcpy(path.src_mac, h->mac, 6);
	memcpy(path.dst_mac, h->dst_mac, 6);
	memcpy(path.src_ip, h->ip, 4);
	memcpy(path.dst_ip, h->dst_ip, 4);
	rte_pktmbuf_append(m, (uint16_t)roce_build(rte_pktmbuf_mtod(m, uint8_t *),
						   rte_pktmbuf_tailroom(m), &path, &fields, payload,
						   sizeof(payload)));
	h->sent++;
	return m;
}

static uint16_t
host_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	uint64_t now_ns)
{
	struct host *h = (struct host *)node;

	(void)port;
	if (max_pkts == 0)
		return 0;
	if (h->answer != NULL) {
		pkts[0] = h->answer;
		h->answer = NULL;
		return 1;
	}
	if (h->sent == h->to_send || now_ns < h->next_ns) {
		h->tick_ns = now_ns + TICK_NS;
		return 0;
	}
	pkts[0] = make_next(h);
	h->next_ns = now_ns + h->gap_ns;
	return 1;
}

static uint64_t
host_next_ns(const struct node *node, uint16_t port)
{
	const struct host *h = (const struct host *)node;

	(void)port;
	if (h->answer != NULL)
		return 0;
	return h->sent == h->to_send ? h->tick_ns : h->next_ns;
}

static uint64_t
host_control(struct node *node, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	return NEVER_NS;
}

static const struct node_ops host_ops = {
	.rx = host_rx, .tx = host_tx, .next_ns = host_next_ns, .control = host_control};

/* A host with this number, in subnet 10.0.subnet.0/24; its node's number in the fabric. */
static uint32_t
add_host(struct net *net, uint8_t number, uint8_t subnet)
{
	struct host *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	h->node.ops = &host_ops;
	h->pool = net->frames;
	host_mac(h->mac, number);
	memcpy(h->ip, ((const uint8_t[4]){10, 0, subnet, number}), 4);
	net->hosts[net->n_hosts++] = h;
	return (uint32_t)fabric_add_node(net->fabric, &h->node);
}

static uint32_t
add_switch(struct net *net, struct sw_params *params)
{
	struct sw_pools pools = {.frames = net->frames, .clones = net->clones};
	char why[256] = "";

	sw_params_resolve(params);
	if (sw_params_check(params, why, sizeof(why)) != 0)
		fail_msg("parameters refused: %s", why);
	net->switches[net->n_switches] = sw_create(params, &pools);
	assert_non_null(net->switches[net->n_switches]);
	return (uint32_t)fabric_add_node(net->fabric, net->switches[net->n_switches++]);
}

static void
join(struct net *net, uint32_t a, uint16_t a_port, uint32_t b, uint16_t b_port)
{
	struct fabric_cable link = {.rate_bps = LINK_BPS, .delay_ns = 500};

	assert_int_equal(fabric_connect(net->fabric, (struct fabric_end){a, a_port},
					(struct fabric_end){b, b_port}, &link),
			 0);
}

static void
open_net(struct net *net)
{
	struct bench *b = &bench;

	memset(net, 0, sizeof(*net));
	net->fabric = fabric_create(MAX_NODES, MAX_NODES, 1, 1);
	assert_non_null(net->fabric);
	net->frames = b->frames;
	net->clones = b->clones;
}

static void
close_net(struct net *net)
{
	fabric_destroy(net->fabric);
	for (uint32_t i = 0; i < net->n_switches; i++) {
		struct sw_ledger l = sw_ledger(net->switches[i]);

		assert_true(l.in + l.copies + l.generated ==
			    l.queued + l.sent + l.dropped + l.consumed);
		sw_destroy(net->switches[i]);
	}
	for (uint32_t i = 0; i < net->n_hosts; i++)
		free(net->hosts[i]);
	assert_int_equal(rte_mempool_avail_count(net->frames), BENCH_FRAMES);
	assert_int_equal(rte_mempool_avail_count(net->clones), BENCH_CLONES);
}

static void
send_to(struct host *h, const uint8_t mac[6], const uint8_t ip[4], uint32_t frames, uint32_t flows,
	uint64_t from_ns, uint64_t gap_ns)
{
	memcpy(h->dst_mac, mac, 6);
	memcpy(h->dst_ip, ip, 4);
	h->sent = 0;
	h->to_send = frames;
	h->flows = flows;
	h->next_ns = from_ns;
	h->gap_ns = gap_ns;
	node_wake(&h->node, 0);
}

/*
 * Two ToRs, two spines; each ToR has a subnet of its own on port 0 and a spine on ports 2 and 3.
 * ToR t and spine s share 10.1.ts.0/30: the ToR is .1, the spine .2.
 */
static uint8_t tor_mac[6] = {2, 0xFF, 0, 0, 1, 0}, spine_mac[6] = {2, 0xFF, 0, 0, 2, 0};

static uint32_t
add_tor(struct net *net, unsigned int t)
{
	struct sw_interface interfaces[3] = {
		{.name = "vlan 10"}, {.name = "port 2"}, {.name = "port 3"}};
	struct sw_static_route route = {.name = "10.0.0.0/16"};
	char hops[32];
	struct sw_params p;

	bench_defaults(&p, 4);
	p.vlan_filtering = true;
	p.ports[0].access_vlan = p.ports[1].access_vlan = 10;
	memcpy(p.router.router_mac, tor_mac, 6);
	p.router.router_mac[5] = (uint8_t)t;
	snprintf(interfaces[0].ip, sizeof(interfaces[0].ip), "10.0.%u.254/24", t);
	snprintf(interfaces[1].ip, sizeof(interfaces[1].ip), "10.1.%u0.1/30", t);
	snprintf(interfaces[2].ip, sizeof(interfaces[2].ip), "10.1.%u1.1/30", t);
	snprintf(hops, sizeof(hops), "10.1.%u0.2, 10.1.%u1.2", t, t);
	route.nexthop = hops;
	p.tables = (struct sw_tables){
		.interfaces = interfaces, .n_interfaces = 3, .routes = &route, .n_routes = 1};
	return add_switch(net, &p);
}

static uint32_t
add_spine(struct net *net, unsigned int s)
{
	struct sw_interface interfaces[2] = {{.name = "port 0"}, {.name = "port 1"}};
	struct sw_static_route routes[2];
	char hops[2][32];
	struct sw_params p;

	bench_defaults(&p, 2);
	memcpy(p.router.router_mac, spine_mac, 6);
	p.router.router_mac[5] = (uint8_t)s;
	p.router.ecmp_hash_seed = 25;
	for (unsigned int t = 1; t <= 2; t++) {
		snprintf(interfaces[t - 1].ip, sizeof(interfaces[0].ip), "10.1.%u%u.2/30", t, s);
		snprintf(routes[t - 1].name, sizeof(routes[0].name), "10.0.%u.0/24", t);
		snprintf(hops[t - 1], sizeof(hops[0]), "10.1.%u%u.1", t, s);
		routes[t - 1].nexthop = hops[t - 1];
	}
	p.tables = (struct sw_tables){
		.interfaces = interfaces, .n_interfaces = 2, .routes = routes, .n_routes = 2};
	return add_switch(net, &p);
}

TEST(flows_take_both_spines_and_each_stays_in_order)
{
	enum { FLOWS = 64, FRAMES = FLOWS * 40 };
	struct net net;
	uint32_t tor[2], spine[2], host[2];
	uint64_t before[2], through[2];
	uint8_t gateway[6];

	open_net(&net);
	for (unsigned int i = 0; i < 2; i++) {
		host[i] = add_host(&net, (uint8_t)(1 + i), (uint8_t)(1 + i));
		tor[i] = add_tor(&net, 1 + i);
		join(&net, host[i], 0, tor[i], 0);
	}
	for (unsigned int s = 0; s < 2; s++) {
		spine[s] = add_spine(&net, s);
		join(&net, tor[0], (uint16_t)(2 + s), spine[s], 0);
		join(&net, tor[1], (uint16_t)(2 + s), spine[s], 1);
	}
	memcpy(gateway, tor_mac, 6);
	gateway[5] = 1;
	/* Only the host is asked for by the first frame that wants it, which is lost: the next hops
	 * of routes are known. */
	send_to(net.hosts[0], gateway, net.hosts[1]->ip, 4 * FLOWS, FLOWS, 0, 100000);
	fabric_run(net.fabric, 30 * NS_PER_MS);
	assert_int_equal(net.hosts[1]->got, 4 * FLOWS - 1);
	assert_int_equal(net.hosts[1]->arp_requests, 1);
	assert_int_equal(net.hosts[1]->misordered, 0);
	memset(net.hosts[1]->last_psn, 0, sizeof(net.hosts[1]->last_psn));
	net.hosts[1]->got = 0;
	for (unsigned int s = 0; s < 2; s++)
		before[s] = sw_router_stats(net.switches[2 + s]).routed_packets;

	send_to(net.hosts[0], gateway, net.hosts[1]->ip, FRAMES, FLOWS, 30 * NS_PER_MS, 1000);
	fabric_run(net.fabric, 40 * NS_PER_MS);
	assert_int_equal(net.hosts[1]->got, FRAMES);
	assert_int_equal(net.hosts[1]->misordered, 0);
	for (unsigned int s = 0; s < 2; s++) {
		through[s] = sw_router_stats(net.switches[2 + s]).routed_packets - before[s];
		assert_in_range(through[s], FRAMES / 2 * 75 / 100, FRAMES / 2 * 125 / 100);
		/* A flow is whole on one spine. */
		assert_int_equal(through[s] % (FRAMES / FLOWS), 0);
	}
	assert_int_equal(through[0] + through[1], FRAMES);
	close_net(&net);
}

/* Two bridges joined by a trunk; hosts 0 and 1 in VLAN 10, 2 and 3 in VLAN 20, one of each per
 * bridge: host h is on bridge h % 2. */
static void
open_trunk(struct net *net, struct sw_params params[2], uint32_t bridge[2])
{
	open_net(net);
	for (unsigned int i = 0; i < 2; i++)
		bridge[i] = add_switch(net, &params[i]);
	for (uint8_t h = 0; h < 4; h++)
		join(net, add_host(net, 10 + h, 1), 0, bridge[h % 2], h / 2);
	join(net, bridge[0], 2, bridge[1], 2);
}

static void
trunk_params(struct sw_params params[2])
{
	for (unsigned int i = 0; i < 2; i++) {
		bench_defaults(&params[i], 3);
		params[i].vlan_filtering = true;
		params[i].ports[0].access_vlan = 10;
		params[i].ports[1].access_vlan = 20;
		strcpy(params[i].ports[2].tagged_vlans, "10,20");
	}
}

static const uint8_t broadcast[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

TEST(vlans_do_not_meet_behind_a_trunk)
{
	struct sw_params params[2];
	uint32_t bridge[2];
	struct net net;

	trunk_params(params);
	open_trunk(&net, params, bridge);
	send_to(net.hosts[0], broadcast, net.hosts[1]->ip, 10, 1, 0, 1000);
	send_to(net.hosts[3], broadcast, net.hosts[2]->ip, 7, 1, 0, 1000);
	fabric_run(net.fabric, NS_PER_MS);
	assert_int_equal(net.hosts[1]->broadcasts, 10);
	assert_int_equal(net.hosts[2]->broadcasts, 7);
	assert_int_equal(net.hosts[0]->broadcasts + net.hosts[3]->broadcasts, 0);
	/* Nor when the address of the other VLAN's host is known. */
	send_to(net.hosts[0], net.hosts[3]->mac, net.hosts[3]->ip, 5, 1, NS_PER_MS, 1000);
	fabric_run(net.fabric, 2 * NS_PER_MS);
	assert_int_equal(net.hosts[3]->got, 0);
	close_net(&net);
}

TEST(station_that_moves_behind_another_switch_is_followed)
{
	struct sw_params params[2];
	uint32_t bridge[2];
	struct net net;

	trunk_params(params);
	/* All in VLAN 10, so that host 2's place can become host 1's. */
	params[0].ports[1].access_vlan = params[1].ports[1].access_vlan = 10;
	open_trunk(&net, params, bridge);
	send_to(net.hosts[1], broadcast, net.hosts[0]->ip, 1, 1, 0, 1000);
	fabric_run(net.fabric, NS_PER_MS);
	send_to(net.hosts[0], net.hosts[1]->mac, net.hosts[1]->ip, 5, 1, NS_PER_MS, 1000);
	fabric_run(net.fabric, 2 * NS_PER_MS);
	assert_int_equal(net.hosts[1]->got, 5);
	/* Host 2, on the first bridge, takes over host 1's address and says so. */
	memcpy(net.hosts[2]->mac, net.hosts[1]->mac, 6);
	send_to(net.hosts[2], broadcast, net.hosts[0]->ip, 1, 1, 2 * NS_PER_MS, 1000);
	fabric_run(net.fabric, 3 * NS_PER_MS);
	memset(net.hosts[2]->last_psn, 0, sizeof(net.hosts[2]->last_psn));
	send_to(net.hosts[0], net.hosts[1]->mac, net.hosts[1]->ip, 6, 1, 3 * NS_PER_MS, 1000);
	fabric_run(net.fabric, 4 * NS_PER_MS);
	assert_int_equal(net.hosts[1]->got, 5);
	assert_int_equal(net.hosts[2]->got, 6);
	assert_int_equal(sw_fdb_stats(net.switches[0]).moved, 1);
	assert_int_equal(sw_fdb_stats(net.switches[1]).moved, 1);
	close_net(&net);
}

/* 100 Mb/s of a 2 Gb/s storm gets through, over 20 ms, after the bucket's 10 ms. */
TEST(storm_gets_through_at_its_rate)
{
	struct sw_params params[2];
	uint32_t bridge[2], wire, expected;
	uint64_t dropped;
	struct rte_mbuf *m;
	struct net net;

	trunk_params(params);
	params[0].ports[0].storm_bps[SW_STORM_BROADCAST] = 100 * MBPS;
	open_trunk(&net, params, bridge);
	send_to(net.hosts[0], broadcast, net.hosts[1]->ip, 1, 1, 0, 1000);
	m = make_next(net.hosts[0]);
	wire = wire_bytes(m->pkt_len);
	rte_pktmbuf_free(m);
	/* wire * 8 bits in wire * 4 ns. */
	send_to(net.hosts[0], broadcast, net.hosts[1]->ip, 20 * NS_PER_MS / (wire * 4), 1, 0,
		wire * 4);
	fabric_run(net.fabric, 30 * NS_PER_MS);
	/* Bytes of 10 ms in the bucket and of 20 ms on the way, and the frame that leaves a
	 * debt. */
	expected = 30 * 12500 / wire + 1;
	assert_in_range(net.hosts[1]->broadcasts, expected - 1, expected + 1);
	dropped = sw_port_stats(net.switches[0], 0)->drops[SW_DROP_STORM_BROADCAST];
	assert_int_equal(net.hosts[1]->broadcasts + dropped, 20 * NS_PER_MS / (wire * 4));
	close_net(&net);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
