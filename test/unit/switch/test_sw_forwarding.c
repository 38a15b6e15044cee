/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VLANs, addresses, routes and neighbours that change while frames pass: one by one, by chance over
 * shards that go over at different times, and with a thread for each shard. Host h sits on port h.
 */
#include "unit/switch/sw_test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "switch/forward/router.h"
#include "switch/control/snapshot.h"
#include "unit/sanitized.h"

/* Put b->params, as the test has changed them, in force. */
static void
reload(struct bench *b, uint64_t now_ns)
{
	sw_reload(b->sw, &b->params, bench_prepare_reload(b), now_ns);
	b->sw->ops->rx(b->sw, 0, NULL, 0, now_ns);
	assert_true(sw_reload_settle(b->sw));
	bench_sees_balance(b);
}

static void
refuse(struct bench *b, const char *expected)
{
	char why[256] = "";

	sw_params_resolve(&b->params);
	assert_int_equal(sw_params_check(&b->params, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, expected);
}

static struct bench *
bench_of_vlans(void)
{
	struct bench *b = bench_with_vlans();

	bench_start(b);
	return b;
}

/* Untagged, from one host to another. */
static void
give_plain(struct bench *b, uint8_t src, uint8_t dst, uint64_t now_ns)
{
	struct frame_spec s = {.src = src, .dst = dst};

	give(b, src, make_frame(b, &s), now_ns);
}

static void
sees_none(struct bench *b, uint64_t now_ns)
{
	for (uint16_t port = 0; port < b->params.n_ports; port++)
		assert_null(take(b, port, now_ns));
}

TEST(a_port_that_leaves_a_vlan_takes_its_addresses_with_it_and_others_stay)
{
	struct bench *b = bench_of_vlans();

	give_plain(b, 0, 99, 0);
	give_plain(b, 1, 99, 0);
	sees_tag(b, 0, -1, 10000);
	sees_tag(b, 1, -1, 10000);
	sent(take(b, 2, 10000));
	sees_tag(b, 2, 10, 20000);
	assert_int_equal(sw_fdb_entries(b->sw), 2);
	/* One waits for port 1 while that goes to VLAN 20. */
	give_plain(b, 0, 1, 30000);
	b->params.ports[1].access_vlan = 20;
	reload(b, 30000);
	assert_int_equal(sw_fdb_entries(b->sw), 1);
	assert_int_equal(sw_fdb_port_entries(b->sw, 0), 1);
	sees_tag(b, 1, -1, 40000);
	/* Nobody knows host 1 in VLAN 10 now; its own frames are of VLAN 20. */
	give_plain(b, 0, 1, 50000);
	sees_tag(b, 2, 10, 50000);
	sees_none(b, 60000);
	give_plain(b, 1, 99, 70000);
	sees_tag(b, 2, 20, 70000);
	sees_tag(b, 3, -1, 70000);
	sees_none(b, 80000);
	assert_int_equal(all_drops(b), 0);
	assert_int_equal(sw_fdb_stats(b->sw).learned, 3);
	bench_stop(b);
}

TEST(vlans_come_and_go_and_filtering_too)
{
	struct bench *b = bench_of_vlans();

	strcpy(b->params.ports[3].tagged_vlans, "10,30-39");
	strcpy(b->params.ports[2].tagged_vlans, "20,35");
	reload(b, 0);
	give_plain(b, 0, 99, 0);
	sees_tag(b, 1, -1, 0);
	sees_tag(b, 3, 10, 0);
	sees_none(b, 1000);
	b->params.vlan_filtering = false;
	for (uint16_t i = 0; i < 4; i++) {
		b->params.ports[i].access_vlan = 1;
		strcpy(b->params.ports[i].tagged_vlans, "none");
	}
	reload(b, 10000);
	/* An address of VLAN 10 is another one than an untagged one. */
	give_plain(b, 1, 0, 10000);
	for (uint16_t port = 0; port < 4; port++)
		if (port != 1)
			sees_tag(b, port, -1, 10000);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(static_addresses_come_move_and_go_over_what_was_learned)
{
	struct sw_static_mac mac[2] = {{.name = "one", .mac = {2, 0, 0, 0, 0, 1}, .port = "3"},
				       {.name = "two", .mac = {2, 0, 0, 0, 0, 2}, .port = "0"}};
	struct bench *b = &bench;

	bench_defaults(&b->params, 4);
	bench_start_learnt(b);
	b->params.tables.static_macs = mac;
	b->params.tables.n_static_macs = 2;
	reload(b, 0);
	give_plain(b, 0, 1, 0);
	sees_tag(b, 3, -1, 0);
	give_plain(b, 1, 2, 0);
	sees_tag(b, 0, -1, 0);
	assert_int_equal(sw_fdb_stats(b->sw).static_kept, 1);
	strcpy(mac[0].port, "2");
	b->params.tables.n_static_macs = 1;
	reload(b, 10000);
	give_plain(b, 0, 1, 10000);
	sees_tag(b, 2, -1, 10000);
	/* That of host 2 is nobody's, and is learned again. */
	assert_int_equal(sw_fdb_entries(b->sw), 3);
	b->params.tables.n_static_macs = 0;
	reload(b, 20000);
	give_plain(b, 0, 1, 20000);
	for (uint16_t port = 1; port < 4; port++)
		sees_tag(b, port, -1, 20000);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(ageing_limits_and_size_hold_from_then_on)
{
	struct bench *b = &bench;
	uint64_t now_ns = 0;

	bench_defaults(&b->params, 3);
	bench_start(b);
	for (uint8_t host = 10; host < 40; host++)
		give(b, 1, make_data(b, host, host, 0), host);
	assert_int_equal(sw_fdb_port_entries(b->sw, 1), 30);
	b->params.ports[1].max_learned_addresses = 20;
	reload(b, 1000);
	/* Who is known stays; nobody new. */
	assert_int_equal(sw_fdb_port_entries(b->sw, 1), 30);
	give(b, 1, make_data(b, 99, 10, 0), 2000);
	assert_int_equal(sw_fdb_stats(b->sw).learn_limited, 1);
	b->params.fdb_entries = 8;
	reload(b, 3000);
	assert_int_equal(sw_fdb_entries(b->sw), 8);
	b->params.fdb_entries = 64;
	b->params.fdb_ageing_s = 1;
	b->params.ports[1].max_learned_addresses = 0;
	reload(b, 4000);
	assert_int_equal(sw_fdb_entries(b->sw), 8);
	for (now_ns = NS_PER_SEC; now_ns < 3 * NS_PER_SEC; now_ns += NS_PER_SEC / 100) {
		b->sw->ops->control(b->sw, now_ns);
		b->sw->ops->rx(b->sw, 0, NULL, 0, now_ns);
	}
	assert_int_equal(sw_fdb_entries(b->sw), 0);
	for (uint16_t port = 0; port < 3; port++)
		drain(b, port, &now_ns);
	bench_stop(b);
}

/* Owners do not go over at one time, nor when it is prepared: what is learned meanwhile is not
 * lost. */
TEST(what_is_learned_while_shards_go_over_stays_known)
{
	struct sw_static_mac mac = {.name = "nine", .mac = {2, 0, 0, 0, 0, 9}, .port = "3"};
	struct bench *b = &bench;
	struct sw_forwarding *next = NULL;
	struct rte_mbuf *m;

	bench_defaults(&b->params, 4);
	b->params.shards = 2;
	bench_start(b);
	b->params.tables = (struct sw_tables){.static_macs = &mac, .n_static_macs = 1};
	next = bench_prepare_reload(b);
	m = make_data(b, 1, 1, 0);
	sw_shard(b->sw, 1)->ops->rx(sw_shard(b->sw, 1), 1, &m, 1, 0);
	assert_int_equal(sw_fdb_entries(b->sw), 1);
	sw_reload(b->sw, &b->params, next, 0);
	/* Ports 0 and 2, then 1 and 3. */
	sw_shard(b->sw, 0)->ops->rx(sw_shard(b->sw, 0), 0, NULL, 0, 0);
	assert_false(sw_reload_settle(b->sw));
	assert_int_equal(sw_fdb_entries(b->sw), 1);
	m = make_data(b, 2, 2, 0);
	sw_shard(b->sw, 0)->ops->rx(sw_shard(b->sw, 0), 2, &m, 1, 1000);
	assert_int_equal(sw_fdb_entries(b->sw), 2);
	m = make_data(b, 3, 3, 0);
	sw_shard(b->sw, 1)->ops->rx(sw_shard(b->sw, 1), 3, &m, 1, 2000);
	assert_int_equal(sw_fdb_entries(b->sw), 3);
	assert_true(sw_reload_settle(b->sw));
	/* Three that were learned, and the one that was given. */
	assert_int_equal(sw_fdb_entries(b->sw), 4);
	bench_stop(b);
}

static const uint8_t router_mac[6] = {2, 0xFF, 0, 0, 0, 1};

/* Host 0 in VLAN 10; ports 1 to 3 are routed, with .2 behind them. */
static struct sw_interface interfaces[] = {
	{.name = "vlan 10", .ip = "10.0.10.1/24", .ip6 = "fd00:10::1/64"},
	{.name = "port 1", .ip = "10.0.31.1/24"},
	{.name = "port 2", .ip = "10.0.32.1/24"},
	{.name = "port 3", .ip = "10.0.33.1/24"},
};
static const struct sw_neighbor neighbors[] = {
	{.name = "10.0.31.2", .mac = {2, 0, 0, 0, 0, 31}},
	{.name = "10.0.32.2", .mac = {2, 0, 0, 0, 0, 32}},
	{.name = "10.0.33.2", .mac = {2, 0, 0, 0, 0, 33}},
};

static void
set_router(struct sw_params *p, struct sw_static_route *routes, uint32_t n_routes)
{
	p->vlan_filtering = true;
	p->ports[0].access_vlan = 10;
	memcpy(p->router.router_mac, router_mac, 6);
	p->tables = (struct sw_tables){.interfaces = interfaces,
				       .n_interfaces = 4,
				       .routes = routes,
				       .n_routes = n_routes,
				       .neighbors = (struct sw_neighbor *)(uintptr_t)neighbors,
				       .n_neighbors = 3};
}

static struct rte_mbuf *
make_packet(struct bench *b, uint8_t net, uint32_t id)
{
	struct roce_path path = {.ip_version = 4,
				 .src_ip = {10, 0, 10, 5},
				 .dst_ip = {10, net, 0, 1},
				 .ttl = 64,
				 .udp_sport = (uint16_t)id,
				 .dest_qp = 0x11,
				 .pkey = PKEY_DEFAULT};
	struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE, .psn = id};

	host_mac(path.src_mac, 0);
	memcpy(path.dst_mac, router_mac, 6);
	return make_packet_on(b, &path, &fields, 64);
}

static void
sees_routed(struct bench *b, uint16_t port, uint8_t mac, uint64_t now_ns)
{
	struct rte_mbuf *m = take(b, port, now_ns);

	assert_non_null(m);
	assert_int_equal(rte_pktmbuf_mtod(m, const uint8_t *)[5], mac);
	sent(m);
	sees_none(b, now_ns + 1000);
}

TEST(a_router_comes_into_being_and_its_routes_change)
{
	struct sw_static_route routes[] = {{.name = "10.99.0.0/16", .nexthop = "10.0.31.2"},
					   {.name = "10.98.0.0/16", .nexthop = "10.0.32.2"}};
	struct bench *b = &bench;

	bench_defaults(&b->params, 4);
	bench_start(b);
	give(b, 0, make_packet(b, 99, 0), 0);
	for (uint16_t port = 1; port < 4; port++)
		sent(take(b, port, 0));
	set_router(&b->params, routes, 2);
	for (uint16_t port = 1; port < 4; port++)
		b->params.ports[port].access_vlan = 0;
	reload(b, 10000);
	give(b, 0, make_packet(b, 99, 0), 10000);
	sees_routed(b, 1, 31, 10000);
	routes[0].nexthop = "10.0.33.2";
	b->params.tables.n_routes = 1;
	reload(b, 20000);
	give(b, 0, make_packet(b, 99, 0), 20000);
	sees_routed(b, 3, 33, 20000);
	give(b, 0, make_packet(b, 98, 0), 30000);
	assert_int_equal(drops(b, 0, SW_DROP_LPM4_MISS), 1);
	routes[0].nexthop = "blackhole";
	reload(b, 40000);
	give(b, 0, make_packet(b, 99, 0), 40000);
	assert_int_equal(drops(b, 0, SW_DROP_BLACKHOLE_ROUTE), 1);
	/* An interface's counters go on when it comes again. */
	assert_int_equal(sw_interface_stats(b->sw, SW_PORT_DOMAIN + 3).out_packets, 1);
	b->params.tables.n_interfaces = 3;
	b->params.tables.n_neighbors = 2;
	reload(b, 50000);
	b->params.tables.n_interfaces = 4;
	b->params.tables.n_neighbors = 3;
	routes[0].nexthop = "10.0.33.2";
	reload(b, 60000);
	give(b, 0, make_packet(b, 99, 0), 60000);
	sees_routed(b, 3, 33, 60000);
	assert_int_equal(sw_interface_stats(b->sw, SW_PORT_DOMAIN + 3).out_packets, 2);
	assert_int_equal(sw_router_stats(b->sw).routed_packets, 3);
	/* And no router at all. */
	b->params.tables = (struct sw_tables){0};
	reload(b, 70000);
	give(b, 0, make_packet(b, 99, 0), 70000);
	sees_none(b, 70000);
	assert_int_equal(drops(b, 0, SW_DROP_SAME_PORT), 1);
	bench_stop(b);
}

static struct neigh
neighbour(struct bench *b, const char *text, unsigned int *n)
{
	struct sw_snapshot s = {.table = SW_SNAPSHOT_NEIGH};
	struct neigh found = {0};
	struct field_ip ip;

	assert_true(sw_address_parse(text, &ip));
	sw_snapshot_ask(b->sw, &s);
	b->sw->ops->rx(b->sw, 0, NULL, 0, 0);
	assert_true(sw_snapshot_is_done(&s) && s.at == SW_SNAPSHOT_END);
	*n = s.n;
	for (uint32_t i = 0; i < s.n; i++) {
		if (memcmp(s.neigh[i].key.ip.addr, ip.addr, 4) == 0)
			found = s.neigh[i];
	}
	return found;
}

TEST(a_neighbour_that_is_given_no_more_is_asked_and_used_on)
{
	struct sw_static_route route = {.name = "10.99.0.0/16", .nexthop = "10.0.31.2"};
	struct bench *b = &bench;
	unsigned int n;

	bench_defaults(&b->params, 4);
	set_router(&b->params, &route, 1);
	bench_start(b);
	assert_true(neighbour(b, "10.0.31.2", &n).fixed);
	assert_int_equal(n, 3);
	b->params.tables.n_neighbors = 0;
	reload(b, 1000);
	assert_false(neighbour(b, "10.0.31.2", &n).fixed);
	assert_true(neighbour(b, "10.0.31.2", &n).pinned);
	assert_false(neighbour(b, "10.0.32.2", &n).pinned);
	give(b, 0, make_packet(b, 99, 0), 2000);
	/* The question, of the address itself, and the frame. */
	assert_int_equal(sw_router_stats(b->sw).neigh_requests_sent, 1);
	for (unsigned int i = 0; i < 2; i++) {
		struct rte_mbuf *m = take(b, 1, 2000 + i * 1000);

		assert_non_null(m);
		assert_int_equal(rte_pktmbuf_mtod(m, const uint8_t *)[5], 31);
		sent(m);
	}
	/* Who is in no subnet any more is forgotten. */
	b->params.tables.n_interfaces = 3;
	reload(b, 10000);
	neighbour(b, "10.0.33.2", &n);
	assert_int_equal(n, 2);
	b->params.tables.n_interfaces = 4;
	b->params.tables.n_neighbors = 3;
	reload(b, 20000);
	assert_true(neighbour(b, "10.0.33.2", &n).fixed);
	assert_int_equal(n, 3);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

/* Hosts that were wanted hold places; next hops get theirs nevertheless. */
TEST(next_hops_find_places_in_a_full_table_and_too_many_are_refused)
{
	struct sw_static_route routes[17];
	char hops[17][16];
	struct bench *b = &bench;
	uint64_t now_ns = 0;

	bench_defaults(&b->params, 4);
	set_router(&b->params, routes, 0);
	b->params.router.neighbor_entries = 16;
	bench_start(b);
	for (uint8_t i = 0; i < 16; i++) {
		struct rte_mbuf *m = make_packet(b, 0, i);
		uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, 14);

		/* To hosts of VLAN 10; the header's sum is put right. */
		ip[18] = 10;
		ip[19] = (uint8_t)(100 + i);
		ip[10] = ip[11] = 0;
		{
			uint16_t sum = rte_ipv4_cksum((const struct rte_ipv4_hdr *)ip);

			memcpy(ip + 10, &sum, sizeof(sum));
		}
		give(b, 1, m, i);
		drain(b, 0, &now_ns);
	}
	assert_int_equal(sw_router_stats(b->sw).claims.neigh_unresolved_full, 13);
	for (uint32_t i = 0; i < 17; i++) {
		snprintf(routes[i].name, sizeof(routes[i].name), "10.%u.0.0/16", 100 + i);
		snprintf(hops[i], sizeof(hops[i]), "10.0.33.%u", 2 + i);
		routes[i].nexthop = hops[i];
	}
	b->params.tables.n_routes = 14;
	reload(b, 1000);
	give(b, 0, make_packet(b, 100, 0), 1000);
	sees_routed(b, 3, 33, 1000);
	b->params.tables.n_routes = 15;
	refuse(b, "router: neighbor_entries: expected 17 at least, one for each next hop and "
		  "[neighbor]");
	b->params.tables.n_routes = 14;
	{
		static struct sw_static_mac many[17];

		b->params.fdb_entries = 16;
		b->params.tables.static_macs = many;
		b->params.tables.n_static_macs = 17;
		for (uint8_t i = 0; i < 17; i++)
			many[i] = (struct sw_static_mac){
				.mac = {2, 0, 0, 0, 0, i}, .vlan = 10, .port = "0"};
		refuse(b, "switch: fdb_entries: expected 17 at least, one for each [fdb]");
		b->params.tables.n_static_macs = 16;
		reload(b, 2000);
		assert_int_equal(sw_fdb_entries(b->sw), 16);
		b->params.tables.n_static_macs = 0;
	}
	reload(b, 3000);
	bench_stop(b);
}

/*
 * By chance. A frame's way is that of the configuration that its shard had when it came in, all of
 * it: ports, forms, addresses, next hop. Shards are driven in any order, some late.
 */

#define PORTS 6
#define VLANS 3
#define FRAMES (1u << 16)
#define STATICS 4

/* What has become of a frame, and what was to become of it. */
struct fate {
	uint8_t ports, tagged; /* masks */
	uint8_t to_ports, to_tagged;
	uint8_t may_be; /* mask: or to one of these, whose address was learned */
};

struct chance {
	struct bench *b;
	struct node *shard_of[PORTS];
	struct prng prng;
	uint64_t now_ns;
	uint32_t n;
	struct fate fate[FRAMES];
	struct sw_static_mac macs[STATICS];
	struct sw_static_route routes[2];
	struct sw_params params[2]; /* in force, and next */
	unsigned int turn, reloads;
	uint64_t to_drop, was_split;
};

static const uint16_t vids[VLANS] = {10, 20, 30};

static bool
is_in(const struct sw_port_params *p, uint16_t vid)
{
	struct vlan_set set;

	vlan_set_parse(p->tagged_vlans, &set);
	return p->access_vlan == vid || vlan_set_has(&set, vid);
}

/* Ports 0 to 3 in VLANs by chance, 4 and 5 routed; hosts 100 to 103 are static by chance. */
static void
params_by_chance(struct chance *c, struct sw_params *p)
{
	uint32_t n = 0;

	for (uint16_t port = 0; port < 4; port++) {
		struct sw_port_params *pp = &p->ports[port];
		char *at = pp->tagged_vlans;

		pp->access_vlan =
			prng_below(&c->prng, 4) == 0 ? 0 : vids[prng_below(&c->prng, VLANS)];
		*at = '\0';
		for (unsigned int i = 0; i < VLANS; i++) {
			if (vids[i] != pp->access_vlan && prng_below(&c->prng, 2) == 0)
				at += sprintf(at, at == pp->tagged_vlans ? "%u" : ",%u", vids[i]);
		}
		if (at == pp->tagged_vlans)
			strcpy(at, "none");
	}
	for (uint8_t i = 0; i < STATICS; i++) {
		struct sw_static_mac *s = &c->macs[n];
		uint16_t port;

		*s = (struct sw_static_mac){.mac = {2, 0, 0, 0, 0, (uint8_t)(100 + i)},
					    .vlan = vids[prng_below(&c->prng, VLANS)]};
		port = (uint16_t)prng_below(&c->prng, 4);
		snprintf(s->port, sizeof(s->port), "%u", port);
		n += is_in(&p->ports[port], s->vlan);
	}
	p->tables.static_macs = c->macs;
	p->tables.n_static_macs = n;
	for (unsigned int i = 0; i < 2; i++)
		c->routes[i].nexthop = prng_below(&c->prng, 2) == 0 ? "10.0.34.2" : "10.0.35.2";
	p->tables.n_routes = 1 + (uint32_t)prng_below(&c->prng, 2);
}

static struct sw_interface routed[] = {
	{.name = "port 4", .ip = "10.0.34.1/24"},
	{.name = "port 5", .ip = "10.0.35.1/24"},
	{.name = "vlan 10", .ip = "10.0.10.1/24"},
};
static const struct sw_neighbor gateways[] = {
	{.name = "10.0.34.2", .mac = {2, 0, 0, 0, 0, 34}},
	{.name = "10.0.35.2", .mac = {2, 0, 0, 0, 0, 35}},
};

static void
start_chance(struct chance *c, struct bench *b, uint16_t shards, uint64_t seed)
{
	struct sw_params *p = &b->params;

	memset(c, 0, sizeof(*c));
	c->b = b;
	prng_seed(&c->prng, seed, 0);
	bench_defaults(p, PORTS);
	p->shards = shards;
	p->vlan_filtering = true;
	p->mmu.buffer_bytes = 12000000;
	p->mmu.lossy = (struct buffer_profile){.dynamic = true, .dynamic_th = 7};
	memcpy(p->router.router_mac, router_mac, 6);
	for (unsigned int i = 0; i < 2; i++)
		snprintf(c->routes[i].name, sizeof(c->routes[i].name), "10.%u.0.0/16", 98 + i);
	p->tables = (struct sw_tables){.interfaces = routed,
				       .n_interfaces = 3,
				       .routes = c->routes,
				       .neighbors = (struct sw_neighbor *)(uintptr_t)gateways,
				       .n_neighbors = 2};
	p->ports[4].access_vlan = p->ports[5].access_vlan = 0;
	params_by_chance(c, p);
	bench_start(b);
	for (uint16_t i = 0; i < sw_shards(b->sw); i++) {
		for (uint16_t port = 0; port < PORTS; port++) {
			if (shards == 1 || sw_shard_ports(b->sw, i) >> port & 1)
				c->shard_of[port] = sw_shard(b->sw, i);
		}
	}
}

/* Where a frame of this VLAN to host dst goes under p, by all but what is learned. */
static struct fate
fate_of(const struct sw_params *p, uint16_t in, uint16_t vid, uint8_t dst)
{
	struct fate f = {0};

	for (uint8_t port = 0; port < 4; port++) {
		if (!is_in(&p->ports[port], vid))
			continue;
		if (port != in)
			f.to_ports |= (uint8_t)(1u << port);
		if (p->ports[port].access_vlan != vid)
			f.to_tagged |= (uint8_t)(1u << port);
	}
	for (uint32_t i = 0; i < p->tables.n_static_macs; i++) {
		const struct sw_static_mac *s = &p->tables.static_macs[i];

		if (s->vlan == vid && s->mac[5] == dst)
			f.to_ports = atoi(s->port) == in ? 0 : (uint8_t)(1u << atoi(s->port));
	}
	/* Hosts below 4 speak, from their ports. */
	if (dst < 4)
		f.may_be = dst == in ? UINT8_MAX : (uint8_t)(1u << dst & f.to_ports);
	return f;
}

static void
give_bridged(struct chance *c, uint16_t port)
{
	const struct sw_params *p = &c->b->params;
	bool tagged = prng_below(&c->prng, 2);
	uint16_t vid = tagged ? vids[prng_below(&c->prng, VLANS)] : p->ports[port].access_vlan;
	uint8_t dsts[] = {0, 1, 2, 3, 100, 101, 102, 103, BROADCAST_HOST};
	struct frame_spec s = {.src = (uint8_t)port,
			       .dst = dsts[prng_below(&c->prng, sizeof(dsts))],
			       .tagged = tagged,
			       .vlan_tci = vid,
			       .psn = c->n};
	struct fate *f = &c->fate[c->n++];
	struct rte_mbuf *m = make_frame(c->b, &s);

	if (vid != 0 && is_in(&p->ports[port], vid))
		*f = fate_of(p, port, vid, s.dst);
	c->shard_of[port]->ops->rx(c->shard_of[port], port, &m, 1, c->now_ns);
}

static void
give_routed(struct chance *c)
{
	const struct sw_params *p = &c->b->params;
	uint32_t i = (uint32_t)prng_below(&c->prng, 2);
	struct rte_mbuf *m = make_packet(c->b, (uint8_t)(98 + i), c->n);
	struct fate *f = &c->fate[c->n++];

	if (i < p->tables.n_routes)
		f->to_ports = (uint8_t)(1u << (c->routes[i].nexthop[6] - '0'));
	c->shard_of[4]->ops->rx(c->shard_of[4], 4, &m, 1, c->now_ns);
}

static void
take_all(struct chance *c, uint16_t port)
{
	struct rte_mbuf *m[8];
	uint16_t n = c->shard_of[port]->ops->tx(c->shard_of[port], port, m, 8, c->now_ns);

	for (uint16_t i = 0; i < n; i++) {
		struct fate *f = &c->fate[roce_of(m[i]).psn];

		assert_false(f->ports >> port & 1);
		f->ports |= (uint8_t)(1u << port);
		if (view_of(m[i]).tagged)
			f->tagged |= (uint8_t)(1u << port);
		rte_pktmbuf_free(m[i]);
	}
}

static void
reload_by_chance(struct chance *c)
{
	struct sw_params *p = &c->b->params;

	if (!sw_reload_settle(c->b->sw)) {
		c->was_split++;
		return;
	}
	params_by_chance(c, p);
	sw_reload(c->b->sw, p, bench_prepare_reload(c->b), c->now_ns);
	c->reloads++;
}

static void
check_fates(const struct chance *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct fate *f = &c->fate[i];
		bool as_told = f->ports == f->to_ports;

		/* Known: to its port alone; its own port: nowhere. */
		if (!as_told && f->may_be == UINT8_MAX)
			as_told = f->ports == 0;
		else if (!as_told && f->may_be != 0)
			as_told = f->ports == f->may_be;
		if (!as_told || f->tagged != (f->to_tagged & f->ports))
			fail_msg("frame %u: ports 0x%02x tagged 0x%02x, not 0x%02x and 0x%02x", i,
				 f->ports, f->tagged, f->to_ports, f->to_tagged);
	}
}

static void
run_chance(struct bench *b, uint16_t shards, uint64_t seed)
{
	static struct chance c;
	uint64_t wanted[] = {SW_DROP_VLAN_TAG_NOT_ALLOWED, SW_DROP_INGRESS_VLAN_FILTER,
			     SW_DROP_SAME_PORT, SW_DROP_NOT_FOR_ROUTER, SW_DROP_LPM4_MISS};
	uint64_t dropped = 0, out = 0;

	start_chance(&c, b, shards, seed);
	for (unsigned int step = 0; step < 60000 && c.n < FRAMES - 1; step++) {
		uint16_t port = (uint16_t)prng_below(&c.prng, PORTS);
		uint16_t late = (uint16_t)(step / 50 % (2u * shards));
		uint32_t what = (uint32_t)prng_below(&c.prng, 100);

		c.now_ns += prng_below(&c.prng, 300);
		if (what == 0)
			reload_by_chance(&c);
		if (what == 1)
			sw_reload_settle(b->sw);
		if (shards > 1 && late < shards && c.shard_of[port] == sw_shard(b->sw, late))
			continue;
		if (rte_mempool_avail_count(b->arrivals) < 64 || what > 60)
			take_all(&c, port);
		else if (port < 4)
			give_bridged(&c, port);
		else
			give_routed(&c);
	}
	for (unsigned int i = 0; i < 20000 && (mmu_used_bytes(sw_mmu(b->sw)) > 0 || i < 100); i++) {
		c.now_ns += 1000;
		for (uint16_t port = 0; port < PORTS; port++)
			take_all(&c, port);
	}
	assert_true(sw_reload_settle(b->sw));
	check_fates(&c);
	for (unsigned int i = 0; i < ARRAY_LEN(wanted); i++) {
		for (uint16_t port = 0; port < PORTS; port++)
			dropped += drops(b, port, (enum sw_drop)wanted[i]);
	}
	/* None but those that had nowhere to go. */
	assert_int_equal(all_drops(b), dropped);
	for (uint32_t i = 0; i < c.n; i++)
		out += c.fate[i].ports != 0;
	assert_int_equal(c.n, out + dropped);
	assert_int_equal(sw_ledger(b->sw).queued, 0);
	assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), 0);
	print_message("%u shards: %u frames, %u reloads, %u times shards were apart\n", shards, c.n,
		      c.reloads, (unsigned int)c.was_split);
	assert_true(c.n > 20000 && c.reloads > 50);
	bench_stop(b);
}

TEST(each_frame_goes_its_way_by_the_old_or_the_new_one_whole)
{
	for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 3); seed++) {
		run_chance(&bench, 1, seed);
		run_chance(&bench, 3, seed);
	}
}

/* A thread for each of two shards; a thousand changes from a third, or 240 under sanitizers. */

#define CREW_PORTS 4
#define RELOADS (SANITIZED ? 240u : 1000u)

struct crew {
	struct bench *b;
	struct rte_mempool *frames;
	atomic_bool stop;
	atomic_uint wrong, given, out;
};

struct hand {
	struct crew *crew;
	uint16_t index;
};

static void
hand_gives(struct crew *c, struct node *node, uint16_t port, struct prng *prng, uint64_t now_ns)
{
	uint16_t to = (uint16_t)((port + 1 + prng_below(prng, CREW_PORTS - 1)) % CREW_PORTS);
	struct rte_mbuf *m = rte_pktmbuf_alloc(c->frames);
	uint8_t *frame;

	if (m == NULL)
		return;
	rte_pktmbuf_append(m, 128);
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	memset(frame, 0, 128);
	host_mac(frame, (uint8_t)to);
	host_mac(frame + 6, (uint8_t)port);
	frame[12] = 0x88; /* local experimental */
	frame[13] = 0xB5;
	c->given++;
	node->ops->rx(node, port, &m, 1, now_ns);
}

/* All ports are in VLAN 10 all the time, and hosts are known or not: to whom else it may go. */
static void *
hand_works(void *arg)
{
	const struct hand *h = arg;
	struct crew *c = h->crew;
	struct node *node = sw_shard(c->b->sw, h->index);
	uint64_t ports = sw_shard_ports(c->b->sw, h->index), now_ns = 0;
	struct prng prng;

	prng_seed(&prng, 7, h->index);
	c->wrong += rte_thread_register() != 0;
	while (!c->stop) {
		now_ns += 2000;
		for (uint64_t p = ports; p != 0; p &= p - 1) {
			uint16_t port = (uint16_t)__builtin_ctzll(p);
			struct rte_mbuf *m[32];
			uint16_t n;

			hand_gives(c, node, port, &prng, now_ns);
			n = node->ops->tx(node, port, m, 32, now_ns);
			for (uint16_t i = 0; i < n; i++)
				c->wrong += rte_pktmbuf_mtod(m[i], const uint8_t *)[12] != 0x88;
			rte_pktmbuf_free_bulk(m, n);
			c->out += n;
		}
		if (now_ns % 64000 == 0)
			sched_yield();
	}
	rte_thread_unregister();
	return NULL;
}

static void
change_crew(struct bench *b, struct sw_static_mac *mac, struct sw_static_route *route,
	    unsigned int i)
{
	static const char *const hops[] = {"10.0.10.2", "10.0.10.3", "10.0.10.4", "10.0.10.5",
					   "10.0.10.6", "10.0.10.7", "10.0.10.8"};
	struct sw_params *p = &b->params;

	snprintf(p->ports[i % CREW_PORTS].tagged_vlans, VLAN_LIST_CHARS, "%u-%u", 20 + i % 50,
		 90 + i % 50);
	snprintf(mac->port, sizeof(mac->port), "%u", i % CREW_PORTS);
	p->tables.n_static_macs = i % 2;
	p->tables.n_interfaces = i % 5 != 0;
	p->tables.n_routes = i % 5 != 0 && i % 3 != 0;
	route->nexthop = hops[i % ARRAY_LEN(hops)];
}

/* While the machine does not run one of the threads, what others flood fills the queues of its
 * ports. */
static uint64_t
drops_for_room(const struct bench *b)
{
	uint64_t n = 0;

	for (uint16_t port = 0; port < CREW_PORTS; port++)
		n += drops(b, port, SW_DROP_QUEUE_LIMIT) + drops(b, port, SW_DROP_NO_MBUF) +
		     drops(b, port, SW_DROP_PG_LIMIT) + drops(b, port, SW_DROP_POOL);
	return n;
}

/* Of all elements that a reload allocates: two for each shard. */
#define SLACK_BYTES 1024u

static size_t
heap_bytes(void)
{
	struct rte_malloc_socket_stats stats;

	assert_int_equal(rte_malloc_get_socket_stats((int)rte_socket_id(), &stats), 0);
	return stats.heap_allocsz_bytes;
}

TEST(a_thousand_changes_beside_threads_that_forward_leave_nothing_behind)
{
	static struct bench b;
	struct pkt_pool_params pool = {.n_mbufs = 4095,
				       .name = "crew",
				       .largest_frame = 512,
				       .socket = SOCKET_ID_ANY,
				       .threads = true};
	struct sw_static_mac mac = {
		.name = "a", .mac = {2, 0, 0, 0, 0, 77}, .vlan = 10, .port = "0"};
	struct sw_static_route route = {.name = "10.99.0.0/16"};
	struct crew c = {.b = &b};
	struct hand hands[2];
	pthread_t threads[2];
	size_t heap = 0;

	b.frames = c.frames = pkt_pool_create(&pool);
	pool.name = "crew_clones";
	pool.largest_frame = 0;
	b.clones = pkt_pool_create(&pool);
	assert_true(b.frames != NULL && b.clones != NULL);
	bench_defaults(&b.params, CREW_PORTS);
	b.params.shards = 2;
	b.params.vlan_filtering = true;
	b.params.shaper_burst_ns = 4000;
	b.params.fdb_entries = 64;
	b.params.router.neighbor_entries = 16;
	memcpy(b.params.router.router_mac, router_mac, 6);
	for (uint16_t i = 0; i < CREW_PORTS; i++)
		b.params.ports[i].access_vlan = 10;
	b.params.tables =
		(struct sw_tables){.static_macs = &mac, .interfaces = interfaces, .routes = &route};
	bench_start(&b);
	for (uint16_t i = 0; i < 2; i++) {
		hands[i] = (struct hand){.crew = &c, .index = i};
		assert_int_equal(pthread_create(&threads[i], NULL, hand_works, &hands[i]), 0);
	}
	for (unsigned int i = 0; i < RELOADS; i++) {
		change_crew(&b, &mac, &route, i);
		sw_reload(b.sw, &b.params, bench_prepare_reload(&b), i * 1000ull);
		while (!sw_reload_settle(b.sw))
			sched_yield();
		/*
		 * All that differs comes again after 30; counts of next hops stay: 7 after 105. An
		 * element of the heap may be up to 128 bytes larger than was asked for, if what is
		 * left would be too small for another. Each of what is leaked has 192 at least.
		 */
		if (i == 119)
			heap = heap_bytes();
		if (i >= 119 && i % 30 == 29)
			assert_in_range(heap_bytes(), heap - SLACK_BYTES, heap + SLACK_BYTES);
	}
	c.stop = true;
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	print_message("given %u, out %u\n", c.given, c.out);
	assert_int_equal(c.wrong, 0);
	assert_true(c.given > 1000 && c.out > 1000);
	assert_int_equal(all_drops(&b), drops_for_room(&b));
	b.sw->ops->tx(b.sw, 0, NULL, 0, 0);
	bench_sees_balance(&b);
	sw_destroy(b.sw);
	assert_int_equal(rte_mempool_avail_count(b.frames), 4095);
	assert_int_equal(rte_mempool_avail_count(b.clones), 4095);
	pkt_pool_destroy(b.frames);
	pkt_pool_destroy(b.clones);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
