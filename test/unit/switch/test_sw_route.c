/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch as a router. Ports 0 and 1 are in VLAN 10 (10.0.10.0/24, fd00:10::/64), port 2 in VLAN
 * 20, ports 3 to 5 are routed (10.0.3N.0/24) with neighbours .2 behind them. Host h sits on port h.
 */
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "unit/switch/sw_test.h"
#include "switch/control/snapshot.h"
#include "fwd/ecmp.h"
#include "switch/forward/hop_counts.h"

#include "wire/neighbour/arp.h"
#include "wire/bytes/checksum.h"
#include "wire/neighbour/icmp.h"
#include "wire/neighbour/nd.h"

static const uint8_t router_mac[6] = {2, 0xFF, 0, 0, 0, 1};

static struct sw_interface interfaces[] = {
	{.name = "vlan 10", .ip = "10.0.10.1/24", .ip6 = "fd00:10::1/64"},
	{.name = "vlan 20", .ip = "10.0.20.1/24", .ip6 = "fd00:20::1/64"},
	{.name = "port 3", .ip = "10.0.33.1/24", .ip6 = "fd00:33::1/64"},
	{.name = "port 4", .ip = "10.0.34.1/24"},
	{.name = "port 5", .ip = "10.0.35.1/24"},
};
static struct sw_static_route routes[] = {
	{.name = "10.99.0.0/16", .nexthop = "10.0.33.2"},
	{.name = "10.88.0.0/16", .nexthop = "10.0.33.2, 10.0.34.2,10.0.35.2"},
	{.name = "10.77.0.0/16", .nexthop = "blackhole"},
	{.name = "fd00:99::/32", .nexthop = "fd00:33::2"},
};
static struct sw_neighbor neighbors[] = {
	{.name = "10.0.33.2", .mac = {2, 0, 0, 0, 0, 33}},
	{.name = "10.0.34.2", .mac = {2, 0, 0, 0, 0, 34}},
	{.name = "10.0.35.2", .mac = {2, 0, 0, 0, 0, 35}},
	{.name = "fd00:33::2", .mac = {2, 0, 0, 0, 0, 33}},
};

/* bench_of_router() before its start. */
static struct bench *
bench_to_start(void)
{
	struct bench *b = &bench;
	struct sw_params *p = &b->params;

	bench_defaults(p, 6);
	p->vlan_filtering = true;
	p->ports[0].access_vlan = p->ports[1].access_vlan = 10;
	p->ports[2].access_vlan = 20;
	memcpy(p->router.router_mac, router_mac, 6);
	p->tables = (struct sw_tables){.interfaces = interfaces,
				       .routes = routes,
				       .neighbors = neighbors,
				       .n_interfaces = ARRAY_LEN(interfaces),
				       .n_routes = ARRAY_LEN(routes),
				       .n_neighbors = ARRAY_LEN(neighbors)};
	return b;
}

static struct bench *
bench_of_router(void)
{
	struct bench *b = bench_to_start();

	bench_start(b);
	return b;
}

/* What was routed to the neighbour behind port 3, 4 or 5. */
static struct sw_hop_stats
hop_stats(struct bench *b, uint16_t i)
{
	struct neigh_key key = {.vlan_id = (uint16_t)(SW_PORT_DOMAIN + 3 + i)};

	assert_true(sw_address_parse(neighbors[i].name, &key.ip));
	return sw_hop_stats(b->sw, &key);
}

struct packet {
	uint8_t src; /* host */
	const char *from, *to;
	uint16_t sport;
	uint8_t ttl; /* 0: 64 */
	bool tagged;
	uint16_t vlan_tci;
};

static struct rte_mbuf *
make_packet(struct bench *b, const struct packet *s)
{
	struct roce_path path = {.dscp = 26,
				 .ecn = ECN_ECT0,
				 .ttl = s->ttl == 0 ? 64 : s->ttl,
				 .udp_sport = s->sport,
				 .dest_qp = 0x11,
				 .pkey = PKEY_DEFAULT,
				 .tagged = s->tagged,
				 .vlan_tci = s->vlan_tci};
	struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE, .psn = s->sport};
	struct field_ip from, to;

	assert_true(sw_address_parse(s->from, &from) && sw_address_parse(s->to, &to));
	path.ip_version = from.version;
	memcpy(path.src_ip, from.addr, 16);
	memcpy(path.dst_ip, to.addr, 16);
	host_mac(path.src_mac, s->src);
	memcpy(path.dst_mac, router_mac, 6);
	return make_packet_on(b, &path, &fields, 64);
}

static void
give_packet(struct bench *b, uint16_t port, const char *from, const char *to, uint64_t now_ns)
{
	struct packet s = {.src = (uint8_t)port, .from = from, .to = to, .sport = 50000};

	give(b, port, make_packet(b, &s), now_ns);
}

/* What leaves port has these addresses and hops, and is whole: checksum, and the ICRC behind it. */
static void
sees_routed(struct bench *b, uint16_t port, const uint8_t dst_mac[6], uint8_t ttl, uint64_t now_ns)
{
	struct rte_mbuf *m = take(b, port, now_ns);
	const uint8_t *frame;

	assert_non_null(m);
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_memory_equal(frame, dst_mac, 6);
	assert_memory_equal(frame + 6, router_mac, 6);
	assert_int_equal(view_of(m).ttl, ttl);
	roce_of(m);
	sent(m);
}

static void
sees_nothing(struct bench *b, uint64_t now_ns)
{
	for (uint16_t port = 0; port < b->params.n_ports; port++)
		assert_null(take(b, port, now_ns));
}

/* The host behind a port asks by ARP who has an address. */
static void
ask(struct bench *b, uint16_t port, const uint8_t ip[4], const uint8_t target_ip[4],
    uint64_t now_ns)
{
	struct l2 l2 = {.dst_mac = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};
	struct arp arp = {.op = ARP_REQUEST};
	uint8_t frame[ARP_FRAME_BYTES];

	host_mac(l2.src_mac, (uint8_t)port);
	memcpy(arp.sender_mac, l2.src_mac, 6);
	memcpy(arp.sender_ip, ip, 4);
	memcpy(arp.target_ip, target_ip, 4);
	give_bytes(b, port, frame, (uint16_t)arp_build(frame, &l2, &arp), now_ns);
}

/* Host h of VLAN 10 says who it is, as a gratuitous ARP. */
static void
announce(struct bench *b, uint16_t port, const uint8_t ip[4], uint64_t now_ns)
{
	ask(b, port, ip, ip, now_ns);
}

static struct arp
take_arp(struct bench *b, uint16_t port, uint64_t now_ns)
{
	struct rte_mbuf *m = take(b, port, now_ns);
	struct frame_view v;
	struct arp arp;

	assert_non_null(m);
	v = view_of(m);
	assert_true(arp_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &v, &arp));
	sent(m);
	return arp;
}

TEST(packet_follows_its_route_with_new_addresses_and_a_hop_less)
{
	struct bench *b = bench_of_router();

	give_packet(b, 0, "10.0.10.5", "10.99.1.2", 0);
	sees_routed(b, 3, neighbors[0].mac, 63, 0);
	give_packet(b, 2, "fd00:20::5", "fd00:99::7", 10000);
	sees_routed(b, 3, neighbors[3].mac, 63, 10000);
	/* Back in by a routed port, to a host whose address is asked for first. */
	assert_int_equal(sw_router_stats(b->sw).routed_packets, 2);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(routed_port_learns_no_addresses)
{
	struct bench *b = bench_of_router();
	uint32_t known = sw_fdb_entries(b->sw);

	give_packet(b, 3, "10.0.0.2", "10.99.1.2", 0);
	sees_routed(b, 3, neighbors[0].mac, 63, 0);
	assert_int_equal(sw_fdb_port_entries(b->sw, 3), 0);
	give_packet(b, 0, "10.0.10.5", "10.99.1.2", 10000);
	sees_routed(b, 3, neighbors[0].mac, 63, 10000);
	assert_int_equal(sw_fdb_entries(b->sw), known + 1);
	assert_int_equal(sw_fdb_port_entries(b->sw, 0), 1);
	bench_stop(b);
}

TEST(interfaces_count_what_comes_to_the_router_and_goes_from_it)
{
	struct bench *b = bench_of_router();
	struct sw_interface_stats vlan10, vlan20, port3;

	give_packet(b, 0, "10.0.10.5", "10.99.1.2", 0);
	sees_routed(b, 3, neighbors[0].mac, 63, 0);
	give_packet(b, 2, "fd00:20::5", "fd00:99::7", 10000);
	sees_routed(b, 3, neighbors[3].mac, 63, 10000);
	/* No route, and a route to nowhere. */
	give_packet(b, 0, "10.0.10.5", "11.0.0.1", 20000);
	give_packet(b, 0, "10.0.10.5", "10.77.0.1", 20000);
	sees_nothing(b, 30000);
	vlan10 = sw_interface_stats(b->sw, 10);
	vlan20 = sw_interface_stats(b->sw, 20);
	port3 = sw_interface_stats(b->sw, SW_PORT_DOMAIN + 3);
	assert_int_equal(vlan10.in_packets, 3);
	assert_int_equal(vlan10.in_error_packets, 2);
	assert_int_equal(vlan10.out_packets, 0);
	assert_int_equal(vlan20.in_packets, 1);
	assert_int_equal(vlan20.in_error_packets, 0);
	assert_int_equal(port3.in_packets, 0);
	assert_int_equal(port3.out_packets, 2);
	assert_int_equal(port3.out_octets, vlan10.in_octets / 3 + vlan20.in_octets);
	assert_int_equal(vlan10.in_octets + vlan20.in_octets,
			 sw_port_stats(b->sw, 0)->rx_bytes + sw_port_stats(b->sw, 2)->rx_bytes);
	bench_stop(b);
}

TEST(frame_not_to_the_router_is_bridged_and_never_crosses)
{
	struct bench *b = bench_of_router();
	struct frame_spec s = {.src = 0, .dst = BROADCAST_HOST};

	give(b, 0, make_frame(b, &s), 0);
	sent(take(b, 1, 0));
	sees_nothing(b, 1000);
	/* A routed port bridges nothing at all. */
	s.src = 3;
	give(b, 3, make_frame(b, &s), 10000);
	sees_nothing(b, 10000);
	assert_int_equal(drops(b, 3, SW_DROP_NOT_FOR_ROUTER), 1);
	s.tagged = true;
	s.vlan_tci = 10;
	give(b, 3, make_frame(b, &s), 10000);
	assert_int_equal(drops(b, 3, SW_DROP_INGRESS_VLAN_FILTER), 1);
	bench_stop(b);
}

TEST(what_cannot_be_routed_is_dropped_by_name)
{
	struct bench *b = bench_of_router();
	struct packet late = {.from = "10.0.10.5", .to = "10.99.1.2", .ttl = 1};
	uint8_t frame[60] = {0};

	give(b, 0, make_packet(b, &late), 0);
	late.from = "fd00:10::5";
	late.to = "fd00:99::1";
	give(b, 0, make_packet(b, &late), 0);
	assert_int_equal(drops(b, 0, SW_DROP_TTL), 2);
	give_packet(b, 0, "10.0.10.5", "192.0.2.1", 0);
	assert_int_equal(drops(b, 0, SW_DROP_LPM4_MISS), 1);
	give_packet(b, 0, "fd00:10::5", "fd01::1", 0);
	assert_int_equal(drops(b, 0, SW_DROP_LPM6_MISS), 1);
	give_packet(b, 0, "10.0.10.5", "10.77.0.1", 0);
	assert_int_equal(drops(b, 0, SW_DROP_BLACKHOLE_ROUTE), 1);
	give_packet(b, 0, "10.0.10.5", "10.0.10.1", 0); /* RoCE to the router */
	assert_int_equal(drops(b, 0, SW_DROP_IP2ME), 1);
	give_packet(b, 0, "10.0.10.5", "127.0.0.1", 0);
	give_packet(b, 0, "10.0.10.5", "239.1.1.1", 0);
	give_packet(b, 0, "10.0.10.5", "0.0.0.1", 0);
	give_packet(b, 0, "10.0.10.5", "169.254.1.1", 0); /* RFC 3927 2.7 */
	give_packet(b, 0, "fd00:10::5", "fe80::1", 0);
	give_packet(b, 0, "fd00:10::5", "ff02::1", 0);
	give_packet(b, 0, "fd00:10::5", "::1", 0);
	memcpy(frame, router_mac, 6);
	frame[6] = 2;
	frame[12] = 0x88;
	frame[13] = 0xB5; /* no IP */
	give_bytes(b, 0, frame, sizeof(frame), 0);
	assert_int_equal(drops(b, 0, SW_DROP_NON_ROUTABLE), 8);
	assert_int_equal(all_drops(b), 14);
	sees_nothing(b, 0);
	bench_stop(b);
}

/* RFC 1812 5.3.7, RFC 3927 7, RFC 4291 2.5.2, 2.5.3 and 2.5.6. */
/* An ICMP error leaves port for a neighbour, and quotes the packet; its checksums are right. */
static void
sees_error(struct bench *b, uint16_t port, const char *from, const uint8_t type_code[2],
	   uint32_t word, const uint8_t *packet, size_t packet_bytes, uint64_t now_ns)
{
	struct rte_mbuf *m = take(b, port, now_ns);
	const uint8_t *frame, *icmp;
	struct field_ip own;
	struct frame_view v;
	size_t n;

	assert_non_null(m);
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	v = view_of(m);
	icmp = frame + v.l4_off;
	n = (size_t)(v.ip_end - v.l4_off);
	assert_true(sw_address_parse(from, &own));
	assert_memory_equal(frame, neighbors[0].mac, 6);
	assert_memory_equal(frame + 6, router_mac, 6);
	assert_int_equal(v.dscp, 48);
	assert_memory_equal(icmp, type_code, 2);
	assert_int_equal(be32_load(icmp + 4), word);
	if (own.version == 4) {
		assert_memory_equal(frame + v.l3_off + 12, own.addr, 4);
		assert_memory_equal(frame + v.l3_off + 16, packet + 12, 4);
		assert_int_equal(checksum_bytes(icmp, n), 0xFFFF);
	} else {
		assert_memory_equal(frame + v.l3_off + 8, own.addr, 16);
		assert_memory_equal(frame + v.l3_off + 24, packet + 8, 16);
		assert_int_equal(icmp6_checksum(frame + v.l3_off, icmp, n), 0);
	}
	assert_int_equal(n, 8 + packet_bytes);
	/* RFC 1812 4.3.2.3: the hop that the router has taken away may be missing. */
	assert_memory_equal(icmp + 8, packet, own.version == 4 ? 8 : 7);
	assert_memory_equal(icmp + 20, packet + 12, packet_bytes - 12);
	sent(m);
}

struct error_case {
	const char *from, *to, *own;
	uint8_t late[2], big[2];
	uint32_t word; /* too big: second word of the message, for 100 bytes */
};

static const struct error_case error_cases[] = {
	{"10.0.33.2", "10.88.1.2", "10.0.33.1", {11, 0}, {3, 4}, 100},
	{"fd00:33::2", "fd00:20::9", "fd00:33::1", {3, 0}, {2, 0}, 100},
};

TEST(sender_is_told_that_a_packet_ran_out_of_hops)
{
	for (unsigned int i = 0; i < ARRAY_LEN(error_cases); i++) {
		const struct error_case *c = &error_cases[i];
		struct packet late = {.src = 3, .from = c->from, .to = c->to, .ttl = 1};
		struct bench *b = bench_of_router();
		uint8_t packet[256];
		struct rte_mbuf *m = make_packet(b, &late);
		size_t n = m->data_len - ETH_HDR_BYTES;

		memcpy(packet, rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_HDR_BYTES), n);
		give(b, 3, m, 0);
		sees_error(b, 3, c->own, c->late, 0, packet, n, 0);
		assert_int_equal(drops(b, 3, SW_DROP_TTL), 1);
		assert_int_equal(sw_router_stats(b->sw).icmp_errors_sent, 1);
		sees_nothing(b, 0);
		bench_stop(b);
	}
}

TEST(sender_is_told_that_a_routed_packet_is_too_big)
{
	for (unsigned int i = 0; i < ARRAY_LEN(error_cases); i++) {
		const struct error_case *c = &error_cases[i];
		struct packet big = {.src = 3, .from = c->from, .to = c->to};
		struct bench *b = bench_to_start();
		uint8_t packet[256];
		struct rte_mbuf *m;
		size_t n;

		if (i == 1) /* the way of the packet is known, too */
			big.to = "fd00:99::1";
		b->params.tcs[3].mtu_bytes = 100;
		bench_start(b);
		m = make_packet(b, &big);
		n = m->data_len - ETH_HDR_BYTES;
		memcpy(packet, rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_HDR_BYTES), n);
		give(b, 3, m, 0);
		sees_error(b, 3, c->own, c->big, c->word, packet, n, 0);
		assert_int_equal(drops(b, 3, SW_DROP_MTU), 1);
		sees_nothing(b, 0);
		/* IPv4 without DF: it should have been cut, and the sender could not help it. */
		m = make_packet(b, &big);
		if (i == 0) {
			uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_HDR_BYTES);

			ip[6] = 0;
			be16_store(ip + 10, 0);
			be16_store(ip + 10, ipv4_header_checksum(ip, 20));
			give(b, 3, m, 0);
			sees_nothing(b, 0);
			assert_int_equal(drops(b, 3, SW_DROP_MTU), 2);
		} else {
			sent(m);
		}
		bench_stop(b);
	}
}

/* Nobody is asked for, and nothing answers an error, a fragment or a packet of nobody. */
TEST(icmp_errors_are_limited_and_answer_no_errors)
{
	struct packet late = {.src = 3, .from = "10.0.33.2", .to = "10.99.1.2", .ttl = 1};
	struct bench *b = bench_to_start();
	static const char *const strangers[] = {"10.0.33.9", "10.0.10.77", "192.0.2.1"};
	uint64_t now_ns = 0;
	struct rte_mbuf *m;
	uint8_t *ip;

	b->params.router.icmp_errors_per_s = 2;
	bench_start(b);
	for (unsigned int i = 0; i < 5; i++)
		give(b, 3, make_packet(b, &late), 0);
	assert_int_equal(sw_router_stats(b->sw).icmp_errors_sent, 2);
	assert_int_equal(sw_router_stats(b->sw).icmp_errors_limited, 3);
	for (unsigned int i = 0; i < 2; i++)
		sent(take_next(b, 3, &now_ns));
	give(b, 3, make_packet(b, &late), NS_PER_SEC / 2);
	assert_int_equal(sw_router_stats(b->sw).icmp_errors_sent, 3);
	sent(take(b, 3, NS_PER_SEC / 2));
	for (unsigned int i = 0; i < ARRAY_LEN(strangers); i++) {
		late.from = strangers[i];
		give(b, 3, make_packet(b, &late), (10 + i) * NS_PER_SEC);
	}
	assert_int_equal(sw_router_stats(b->sw).icmp_errors_unresolved, ARRAY_LEN(strangers));
	late.from = "10.0.33.2";
	for (unsigned int i = 0; i < 2; i++) {
		m = make_packet(b, &late);
		ip = rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_HDR_BYTES);
		if (i == 0)
			ip[9] = IP_PROTO_ICMP, ip[20] = 11;
		else
			ip[6] = 0x20; /* more fragments follow */
		be16_store(ip + 10, 0);
		be16_store(ip + 10, ipv4_header_checksum(ip, 20));
		give(b, 3, m, (20 + i) * NS_PER_SEC);
	}
	assert_int_equal(sw_router_stats(b->sw).icmp_errors_sent, 3);
	sees_nothing(b, 30 * NS_PER_SEC);
	bench_stop(b);
}

TEST(packet_from_an_address_that_is_nobody_s_is_not_forwarded)
{
	static const char *const sources4[] = {"239.1.1.1", "255.255.255.255", "240.0.0.1",
					       "127.0.0.1", "0.0.0.0",         "169.254.3.4"};
	static const char *const sources6[] = {"ff02::1", "ff0e::7", "::1",
					       "::",      "fe80::1", "febf::9"};
	struct bench *b = bench_of_router();

	for (unsigned int i = 0; i < ARRAY_LEN(sources4); i++)
		give_packet(b, 0, sources4[i], "10.99.1.2", 0);
	for (unsigned int i = 0; i < ARRAY_LEN(sources6); i++)
		give_packet(b, 0, sources6[i], "fd00:99::1", 0);
	assert_int_equal(drops(b, 0, SW_DROP_NON_ROUTABLE_SOURCE),
			 ARRAY_LEN(sources4) + ARRAY_LEN(sources6));
	assert_string_equal(sw_drop_name(SW_DROP_NON_ROUTABLE_SOURCE), "non_routable_source");
	sees_nothing(b, 0);
	/* Those next to them are anybody's; and a link-local host may speak to the router. */
	give_packet(b, 0, "169.253.3.4", "10.99.1.2", 10000);
	sees_routed(b, 3, neighbors[0].mac, 63, 10000);
	give_packet(b, 0, "fec0::1", "fd00:99::1", 20000);
	sees_routed(b, 3, neighbors[3].mac, 63, 20000);
	give_packet(b, 0, "fe80::1", "fd00:10::1", 30000);
	assert_int_equal(drops(b, 0, SW_DROP_IP2ME), 1);
	assert_int_equal(all_drops(b), ARRAY_LEN(sources4) + ARRAY_LEN(sources6) + 1);
	bench_stop(b);
}

TEST(router_answers_for_its_own_addresses_only)
{
	static const uint8_t own[4] = {10, 0, 10, 1}, host[4] = {10, 0, 10, 5}, mac5[6] = {2};
	struct bench *b = bench_of_router();
	struct arp arp;

	(void)mac5;
	ask(b, 0, host, own, 0);
	assert_null(take(b, 1, 0)); /* the question was the router's: nobody else needs it */
	arp = take_arp(b, 0, 0);
	assert_int_equal(arp.op, ARP_REPLY);
	assert_memory_equal(arp.sender_mac, router_mac, 6);
	assert_memory_equal(arp.sender_ip, own, 4);
	assert_memory_equal(arp.target_ip, host, 4);
	/* Another interface's address is not asked for here, and other hosts are. */
	ask(b, 0, host, (const uint8_t[4]){10, 0, 20, 1}, 10000);
	assert_int_equal(take_arp(b, 1, 10000).op, ARP_REQUEST);
	assert_null(take(b, 0, 10000));
	assert_int_equal(sw_router_stats(b->sw).neigh_requests_answered, 1);
	/* Who asked is known from then on, and is used; its first use asks whether it can be
	 * reached, each port of its VLAN. */
	assert_int_equal(sw_router_stats(b->sw).neigh_requests_sent, 0);
	give_packet(b, 2, "10.0.20.5", "10.0.10.5", 20000);
	sees_routed(b, 0, (const uint8_t[6]){2, 0, 0, 0, 0, 0}, 63, 20000);
	arp = take_arp(b, 0, 30000);
	assert_int_equal(arp.op, ARP_REQUEST);
	assert_memory_equal(arp.target_ip, host, 4);
	assert_int_equal(take_arp(b, 1, 30000).op, ARP_REQUEST);
	assert_int_equal(sw_router_stats(b->sw).neigh_requests_sent, 2);
	bench_stop(b);
}

TEST(unknown_neighbour_is_asked_for_in_its_vlan_and_then_used)
{
	static const uint8_t host[4] = {10, 0, 10, 5};
	struct bench *b = bench_of_router();
	struct arp arp;

	for (unsigned int i = 0; i < 5; i++)
		give_packet(b, 2, "10.0.20.5", "10.0.10.5", i);
	assert_int_equal(drops(b, 2, SW_DROP_UNRESOLVED_NEXT_HOP), 5);
	/* One question however many frames, through each port of the VLAN. */
	for (uint16_t port = 0; port < 2; port++) {
		arp = take_arp(b, port, 1000);
		assert_int_equal(arp.op, ARP_REQUEST);
		assert_memory_equal(arp.target_ip, host, 4);
		assert_memory_equal(arp.sender_ip, ((const uint8_t[4]){10, 0, 10, 1}), 4);
	}
	sees_nothing(b, 2000);
	assert_int_equal(sw_router_stats(b->sw).neigh_requests_sent, 2);
	/* The answer, as host 1 on port 1 would give it; it goes to nobody else. */
	{
		struct l2 l2 = {0};
		struct arp reply = {.op = ARP_REPLY, .target_ip = {10, 0, 10, 1}};
		uint8_t frame[ARP_FRAME_BYTES];

		memcpy(l2.dst_mac, router_mac, 6);
		host_mac(l2.src_mac, 1);
		memcpy(reply.sender_mac, l2.src_mac, 6);
		memcpy(reply.sender_ip, host, 4);
		memcpy(reply.target_mac, router_mac, 6);
		give_bytes(b, 1, frame, (uint16_t)arp_build(frame, &l2, &reply), 10000);
	}
	sees_nothing(b, 10000);
	give_packet(b, 2, "10.0.20.5", "10.0.10.5", 20000);
	sees_routed(b, 1, (const uint8_t[6]){2, 0, 0, 0, 0, 1}, 63, 20000);
	sees_nothing(b, 30000);
	bench_stop(b);
}

TEST(ipv6_neighbour_is_solicited_and_advertises)
{
	struct bench *b = bench_of_router();
	struct nd nd = {.type = ND_SOLICITATION, .has_mac = true};
	struct field_ip ip;
	struct l2 l2 = {0};
	uint8_t frame[ND_FRAME_BYTES];
	struct frame_view v;
	struct rte_mbuf *m;

	give_packet(b, 2, "fd00:20::5", "fd00:10::5", 0);
	assert_int_equal(drops(b, 2, SW_DROP_UNRESOLVED_NEXT_HOP), 1);
	m = take(b, 0, 0);
	assert_non_null(m);
	v = view_of(m);
	assert_true(nd_parse(rte_pktmbuf_mtod(m, const uint8_t *), &v, &nd));
	assert_int_equal(nd.type, ND_SOLICITATION);
	assert_true(sw_address_parse("fd00:10::5", &ip));
	assert_memory_equal(nd.target_ip, ip.addr, 16);
	sent(m);
	sent(take(b, 1, 0));
	/* The host asks in turn, from the address that is wanted: that tells it as well. */
	memset(&nd, 0, sizeof(nd));
	nd.type = ND_SOLICITATION;
	nd.has_mac = true;
	memcpy(nd.src_ip, ip.addr, 16);
	host_mac(nd.mac, 1);
	memcpy(l2.src_mac, nd.mac, 6);
	assert_true(sw_address_parse("fd00:10::1", &ip));
	memcpy(nd.target_ip, ip.addr, 16);
	nd_solicited_node(ip.addr, nd.dst_ip);
	nd_group_mac(nd.dst_ip, l2.dst_mac);
	give_bytes(b, 1, frame, (uint16_t)nd_build(frame, &l2, &nd), 10000);
	assert_null(take(b, 0, 10000));
	m = take(b, 1, 10000);
	assert_non_null(m);
	v = view_of(m);
	assert_true(nd_parse(rte_pktmbuf_mtod(m, const uint8_t *), &v, &nd));
	assert_int_equal(nd.type, ND_ADVERTISEMENT);
	assert_int_equal(nd.flags, ND_ROUTER | ND_SOLICITED | ND_OVERRIDE);
	assert_memory_equal(nd.mac, router_mac, 6);
	sent(m);
	give_packet(b, 2, "fd00:20::5", "fd00:10::5", 20000);
	sees_routed(b, 1, (const uint8_t[6]){2, 0, 0, 0, 0, 1}, 63, 20000);
	bench_stop(b);
}

TEST(echo_to_any_address_of_the_router_is_answered)
{
	struct bench *b = bench_of_router();
	/* IPv4 to 10.0.20.1, ICMP echo request with right checksums, from host 0. */
	uint8_t frame[60] = {2,    0xFF, 0,  0,  0,  1, 2, 0, 0, 0, 0, 0, 8,  0,
			     0x45, 0,    0,  28, 0,  1, 0, 0, 1, 1, 0, 0, 10, 0,
			     10,   5,    10, 0,  20, 1, 8, 0, 0, 0, 0, 1, 0,  1};
	struct rte_mbuf *m;
	uint16_t sum = ipv4_header_checksum(frame + 14, 20);

	frame[24] = (uint8_t)(sum >> 8);
	frame[25] = (uint8_t)sum;
	frame[36] = 0xF7; /* ~(0x0800 + 1 + 1) */
	frame[37] = 0xFD;
	give_bytes(b, 0, frame, sizeof(frame), 0); /* with one hop left: it goes no further */
	m = take(b, 0, 0);
	assert_non_null(m);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), frame + 6, 6);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *) + 6, router_mac, 6);
	assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[34], 0);
	assert_int_equal(view_of(m).ttl, 64);
	sent(m);
	assert_int_equal(sw_router_stats(b->sw).echo_requests_answered, 1);
	bench_stop(b);
}

/* A flow keeps its way, whatever comes between; all ways are used, none much more than another. */
TEST(flows_are_spread_over_equal_routes_and_stay_there)
{
	struct bench *b = bench_of_router();
	unsigned int count[3] = {0};
	uint8_t way[300];
	uint64_t now_ns = 0;

	for (unsigned int round = 0; round < 2; round++) {
		for (uint16_t flow = 0; flow < ARRAY_LEN(way); flow++, now_ns += 1000) {
			struct packet s = {.from = "10.0.10.5",
					   .to = "10.88.0.1",
					   .sport = (uint16_t)(0xC000 + flow)};

			give(b, 0, make_packet(b, &s), now_ns);
			for (uint16_t port = 3; port < 6; port++) {
				struct rte_mbuf *m = take(b, port, now_ns);

				if (m == NULL)
					continue;
				assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[5], 30 + port);
				sent(m);
				if (round == 0)
					way[flow] = (uint8_t)port;
				assert_int_equal(way[flow], port);
				count[port - 3]++;
			}
		}
	}
	assert_int_equal(count[0] + count[1] + count[2], 2 * ARRAY_LEN(way));
	for (unsigned int i = 0; i < 3; i++) {
		assert_in_range(count[i], 2 * ARRAY_LEN(way) / 3 * 75 / 100,
				2 * ARRAY_LEN(way) / 3 * 125 / 100);
		assert_int_equal(hop_stats(b, (uint16_t)i).out_packets, count[i]);
	}
	bench_stop(b);
}

/* Next hop i of more than there are chains: IPv4 and IPv6, of three domains. */
static struct neigh_key
any_hop(uint32_t i)
{
	struct neigh_key key = {.ip.version = i % 2 == 0 ? 4 : 6, .vlan_id = (uint16_t)(1 + i % 3)};

	be32_store(key.ip.addr + (i % 2 == 0 ? 0 : 12), 10u << 24 | i / 6);
	return key;
}

TEST(counts_of_many_next_hops_are_found_again)
{
	enum { HOPS = 5 * SW_HOP_CHAINS };
	static struct sw_hop_table table;
	struct sw_hop_counts *counts, *again;
	struct sw_hop_stats of_domain = {0};
	struct neigh_key key;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < HOPS; i++) {
		key = any_hop(i);
		assert_int_equal(sw_hop_counts_of(&table, &key, HOPS, &counts), 0);
		assert_non_null(counts);
		counts->stats.out_packets += i + 1;
	}
	for (uint32_t i = 0; i < HOPS; i++) {
		struct sw_hop_stats one = {0};

		key = any_hop(i);
		sw_hop_counts_add(&table, &key, &one);
		assert_int_equal(one.out_packets, i + 1);
		assert_int_equal(sw_hop_counts_of(&table, &key, 0, &again), 0);
		assert_int_equal(again->stats.out_packets, i + 1);
		sum += key.vlan_id == 2 ? i + 1 : 0;
	}
	sw_hop_counts_add_domain(&table, 2, &of_domain);
	assert_int_equal(of_domain.out_packets, sum);
	key = any_hop(HOPS);
	assert_int_equal(sw_hop_counts_of(&table, &key, HOPS, &counts), 0);
	assert_null(counts);
	sw_hop_counts_free(&table);
}

static unsigned int
count_next_hops(const struct bench *b)
{
	const struct sw_hop_counts *hop = NULL;
	unsigned int n = 0;

	while ((hop = sw_next_hop(b->sw, hop)) != NULL)
		n++;
	return n;
}

/* Those of a next hop go on over new routes, and an interface has all that went to it. */
TEST(next_hops_count_what_is_routed_to_them_over_reloads)
{
	static struct sw_static_route others[] = {{.name = "10.88.0.0/16", .nexthop = "10.0.34.2"}};
	struct bench *b = bench_of_router();
	const struct sw_tables first = b->params.tables;
	uint64_t octets;

	assert_int_equal(count_next_hops(b), 4);
	for (uint64_t t = 0; t < 10; t++) {
		give_packet(b, 0, "10.0.10.5", "10.99.0.1", t * 10000);
		sees_routed(b, 3, neighbors[0].mac, 63, t * 10000);
		give_packet(b, 0, "10.0.10.5", "10.0.33.2", t * 10000 + 5000);
		sees_routed(b, 3, neighbors[0].mac, 63, t * 10000 + 5000);
	}
	assert_int_equal(hop_stats(b, 0).out_packets, 20);
	octets = hop_stats(b, 0).out_octets;
	assert_int_equal(octets, sw_port_stats(b->sw, 3)->tx_bytes);
	/* It is a mere neighbour meanwhile: the interface counts. */
	b->params.tables.routes = others;
	b->params.tables.n_routes = 1;
	sw_reload(b->sw, &b->params, bench_prepare_reload(b), 200000);
	assert_null(take(b, 0, 200000));
	assert_true(sw_reload_settle(b->sw));
	assert_int_equal(count_next_hops(b), 1);
	give_packet(b, 0, "10.0.10.5", "10.0.33.2", 300000);
	sees_routed(b, 3, neighbors[0].mac, 63, 300000);
	assert_int_equal(hop_stats(b, 0).out_packets, 20);
	b->params.tables = first;
	sw_reload(b->sw, &b->params, bench_prepare_reload(b), 400000);
	assert_null(take(b, 0, 400000));
	assert_true(sw_reload_settle(b->sw));
	assert_int_equal(count_next_hops(b), 4);
	give_packet(b, 0, "10.0.10.5", "10.99.0.1", 500000);
	sees_routed(b, 3, neighbors[0].mac, 63, 500000);
	assert_int_equal(hop_stats(b, 0).out_packets, 21);
	assert_int_equal(sw_interface_stats(b->sw, SW_PORT_DOMAIN + 3).out_packets, 22);
	assert_int_equal(sw_interface_stats(b->sw, SW_PORT_DOMAIN + 3).out_octets,
			 sw_port_stats(b->sw, 3)->tx_bytes);
	bench_stop(b);
}

/* One arm: in and out by the same trunk, from VLAN to VLAN. */
TEST(packet_may_leave_by_the_port_that_it_came_by)
{
	struct bench *b = &bench;
	struct sw_neighbor host = {.name = "10.0.20.9", .mac = {2, 0, 0, 0, 0, 9}};
	struct packet s = {
		.from = "10.0.10.5", .to = "10.0.20.9", .tagged = true, .vlan_tci = 5 << 13 | 10};
	struct rte_mbuf *m;

	bench_defaults(&b->params, 2);
	b->params.vlan_filtering = true;
	strcpy(b->params.ports[0].tagged_vlans, "10,20");
	b->params.ports[1].access_vlan = 30;
	memcpy(b->params.router.router_mac, router_mac, 6);
	b->params.tables = (struct sw_tables){
		.interfaces = interfaces, .neighbors = &host, .n_interfaces = 2, .n_neighbors = 1};
	bench_start(b);
	give(b, 0, make_packet(b, &s), 0);
	m = take(b, 0, 0);
	assert_non_null(m);
	assert_int_equal(view_of(m).vlan_tci, 5 << 13 | 20);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), host.mac, 6);
	assert_int_equal(view_of(m).ttl, 63);
	sent(m);
	bench_stop(b);
}

/* What came shared, as from a switch that flooded it, must not change under others. */
TEST(shared_packet_is_copied_before_it_is_changed)
{
	struct bench *b = bench_of_router();
	struct packet s = {.from = "10.0.10.5", .to = "10.99.0.1"};
	struct rte_mbuf *m = make_packet(b, &s), *clone = rte_pktmbuf_clone(m, b->clones);

	give(b, 0, clone, 0);
	sees_routed(b, 3, neighbors[0].mac, 63, 0);
	assert_int_equal(view_of(m).ttl, 64);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), router_mac, 6);
	rte_pktmbuf_free(m);
	bench_stop(b);
}

struct spread {
	uint8_t port[600]; /* of each flow */
	unsigned int n[6];
};

/* Where 600 flows to 10.88.0.0/16 go, whose next hops are behind ports 3, 4 and 5. */
static struct spread
send_flows(struct bench *b, uint64_t now_ns)
{
	struct spread s = {0};

	for (unsigned int i = 0; i < ARRAY_LEN(s.port); i++, now_ns += 1000) {
		char to[32];
		struct packet p = {.from = "10.0.10.5", .to = to, .sport = (uint16_t)(40000 + i)};

		snprintf(to, sizeof(to), "10.88.%u.%u", i / 200, 1 + i % 200);
		give(b, 0, make_packet(b, &p), now_ns);
		for (uint16_t port = 0; port < 6; port++) {
			struct rte_mbuf *m = take(b, port, now_ns);

			if (m == NULL)
				continue;
			if (rte_pktmbuf_mtod(m, uint8_t *)[12] == 0x08 &&
			    rte_pktmbuf_mtod(m, uint8_t *)[13] == 0) {
				s.port[i] = (uint8_t)port;
				s.n[port]++;
			}
			sent(m);
		}
	}
	return s;
}

/* Flows of live next hops stay; those of the dead one are spread over all others. */
static void
sees_moved(const struct spread *before, const struct spread *now, uint8_t dead)
{
	assert_int_equal(now->n[dead], 0);
	assert_int_equal(now->n[3] + now->n[4] + now->n[5], 600);
	for (unsigned int i = 0; i < ARRAY_LEN(now->port); i++) {
		if (before->port[i] != dead)
			assert_int_equal(now->port[i], before->port[i]);
	}
	for (uint8_t port = 3; port < 6; port++) {
		if (port != dead)
			assert_in_range(now->n[port], before->n[port] + 60, before->n[port] + 140);
	}
}

/* The dead next hops of a route with fewer than 64, as a mask. */
static uint64_t
dead_hops(const struct bench *b, uint32_t route)
{
	struct sw_hop_set dead = sw_routing_dead_hops(b->sw, route);

	for (unsigned int i = 1; i < SW_HOP_WORDS; i++)
		assert_int_equal(dead.word[i], 0);
	return dead.word[0];
}

TEST(flows_of_a_next_hop_without_a_link_go_by_the_others_and_come_back)
{
	struct bench *b = bench_of_router();
	struct spread before = send_flows(b, 1000), now;
	uint8_t back;

	assert_int_equal(dead_hops(b, 1), 0);
	sw_set_link(b->sw, 4, false, 2 * NS_PER_MS);
	now = send_flows(b, 4 * NS_PER_MS);
	sees_moved(&before, &now, 4);
	assert_int_equal(sw_router_stats(b->sw).ecmp_moved_packets, before.n[4]);
	assert_int_equal(dead_hops(b, 1), 1u << 1);
	assert_int_equal(dead_hops(b, 0), 0);
	assert_int_equal(drops(b, 4, SW_DROP_LINK_DOWN), 0);
	/* Back: its own flows return, and no other moves. */
	sw_set_link(b->sw, 4, true, 10 * NS_PER_MS);
	now = send_flows(b, 12 * NS_PER_MS);
	assert_memory_equal(now.port, before.port, sizeof(now.port));
	assert_int_equal(dead_hops(b, 1), 0);
	/* Without any link they are dropped as ever. */
	for (uint16_t port = 3; port < 6; port++)
		sw_set_link(b->sw, port, false, 20 * NS_PER_MS);
	now = send_flows(b, 22 * NS_PER_MS);
	assert_int_equal(now.n[3] + now.n[4] + now.n[5], 0);
	/* One is back, not that of the first flow: no frame waits for the next check. */
	back = before.port[0] == 3 ? 4 : 3;
	sw_set_link(b->sw, back, true, 23 * NS_PER_MS);
	now = send_flows(b, 24 * NS_PER_MS);
	assert_int_equal(now.n[back], ARRAY_LEN(now.port));
	bench_stop(b);
}

/* Where the router says that a flow goes; protocol UDP, as RoCE. */
static struct sw_route_look
way_of(struct bench *b, const char *from, const char *to, uint16_t sport, uint64_t now_ns)
{
	struct sw_route_look look = {
		.source_port = sport, .destination_port = ROCE_UDP_PORT, .protocol = IP_PROTO_UDP};
	struct sw_snapshot s = {.table = SW_SNAPSHOT_ROUTE, .route = &look};

	assert_true(sw_address_parse(to, &look.destination));
	assert_true(from == NULL || sw_address_parse(from, &look.source));
	sw_snapshot_ask(b->sw, &s);
	assert_null(take(b, 2, now_ns));
	assert_true(sw_snapshot_is_done(&s));
	return look;
}

/* Each flow of send_flows() goes where the router says. */
static void
sees_ways(struct bench *b, const struct spread *now, uint64_t now_ns)
{
	for (unsigned int i = 0; i < ARRAY_LEN(now->port); i++) {
		struct sw_route_look look;
		char to[32];

		snprintf(to, sizeof(to), "10.88.%u.%u", i / 200, 1 + i % 200);
		look = way_of(b, "10.0.10.5", to, (uint16_t)(40000 + i), now_ns);
		assert_int_equal(look.kind, SW_ROUTE_STATIC);
		assert_int_equal(look.n_hops, 3);
		assert_true(look.hashed);
		assert_int_equal(look.hops[look.chosen].port, now->port[i]);
		assert_false(look.hops[look.chosen].dead);
	}
}

TEST(a_question_names_the_next_hop_that_frames_take)
{
	struct bench *b = bench_of_router();
	struct spread now = send_flows(b, 1000);
	struct sw_route_look look;

	sees_ways(b, &now, 2 * NS_PER_MS);
	sw_set_link(b->sw, 4, false, 2 * NS_PER_MS);
	now = send_flows(b, 4 * NS_PER_MS);
	assert_int_equal(now.n[4], 0);
	sees_ways(b, &now, 6 * NS_PER_MS);
	/* Without a flow, there are only the next hops. */
	look = way_of(b, NULL, "10.88.1.1", 0, 6 * NS_PER_MS);
	assert_int_equal(look.n_hops, 3);
	assert_false(look.hashed);
	assert_true(look.hops[1].dead && look.hops[1].port == 4 && !look.hops[0].dead);
	/* The other kinds. */
	look = way_of(b, NULL, "10.99.1.1", 0, 6 * NS_PER_MS);
	assert_int_equal(look.kind, SW_ROUTE_STATIC);
	assert_int_equal(look.n_hops, 1);
	assert_memory_equal(look.hops[0].neigh.mac, neighbors[0].mac, 6);
	assert_int_equal(way_of(b, NULL, "10.77.1.1", 0, 6 * NS_PER_MS).kind, SW_ROUTE_BLACKHOLE);
	assert_int_equal(way_of(b, NULL, "10.66.1.1", 0, 6 * NS_PER_MS).kind, SW_ROUTE_NONE);
	assert_int_equal(way_of(b, NULL, "10.0.33.1", 0, 6 * NS_PER_MS).kind, SW_ROUTE_LOCAL);
	look = way_of(b, NULL, "10.0.33.9", 0, 6 * NS_PER_MS);
	assert_int_equal(look.kind, SW_ROUTE_CONNECTED);
	assert_int_equal(look.hops[0].neigh.key.ip.version, 0); /* the question asks nobody */
	look = way_of(b, NULL, "fd00:99::1", 0, 6 * NS_PER_MS);
	assert_int_equal(look.kind, SW_ROUTE_STATIC);
	assert_int_equal(look.hops[0].neigh.key.ip.version, 6);
	bench_stop(b);
}

/* A route over many neighbours behind ports 3 to 5, and what a model knows of it. */
struct many {
	unsigned int n;
	uint8_t port[SW_MAX_NEXTHOPS];    /* of each next hop */
	unsigned int at[SW_MAX_NEXTHOPS]; /* the neighbour: several hops may be one */
	bool down[6];
	uint64_t sent[SW_MAX_NEXTHOPS]; /* by neighbour */
};

/* Neighbour i is behind port 3 + i % 3. */
static void
write_neighbour(unsigned int i, char *text, size_t size)
{
	snprintf(text, size, "10.%u.0.%u", 103 + i % 3, 2 + i / 3);
}

static struct bench *
bench_of_many_hops(struct many *m, struct prng *r, unsigned int n)
{
	static struct sw_interface wide[] = {{.name = "vlan 10", .ip = "10.0.10.1/24"},
					     {.name = "port 3", .ip = "10.103.0.1/24"},
					     {.name = "port 4", .ip = "10.104.0.1/24"},
					     {.name = "port 5", .ip = "10.105.0.1/24"}};
	static struct sw_neighbor stations[SW_MAX_NEXTHOPS];
	static char text[SW_NEXTHOP_CHARS + 1];
	static struct sw_static_route route[] = {{.name = "10.88.0.0/16", .nexthop = text}};
	struct bench *b = bench_to_start();
	size_t used = 0;

	*m = (struct many){.n = n};
	for (unsigned int i = 0; i < SW_MAX_NEXTHOPS; i++) {
		write_neighbour(i, stations[i].name, sizeof(stations[i].name));
		memcpy(stations[i].mac, (uint8_t[6]){2, 9, 0, 0, 0, (uint8_t)i}, 6);
	}
	for (unsigned int i = 0; i < n; i++) {
		m->at[i] = prng_below(r, 16) == 0 ? (unsigned int)prng_below(r, n) : i;
		m->port[i] = (uint8_t)(3 + m->at[i] % 3);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 i == 0 ? "" : ",", stations[m->at[i]].name);
	}
	b->params.tables = (struct sw_tables){.interfaces = wide,
					      .routes = route,
					      .neighbors = stations,
					      .n_interfaces = ARRAY_LEN(wide),
					      .n_routes = 1,
					      .n_neighbors = SW_MAX_NEXTHOPS};
	bench_start(b);
	return b;
}

/* The part of 2^32 that a number is, of n. */
static unsigned int
share(uint32_t number, unsigned int n)
{
	return (unsigned int)((double)number / 4294967296.0 * n);
}

/* The next hop of a flow: its own one, or while that is dead one of those that are not. */
static unsigned int
model_hop(const struct many *m, uint32_t hash)
{
	unsigned int live[SW_MAX_NEXTHOPS], n = 0, own = share(hash, m->n);

	for (unsigned int i = 0; i < m->n; i++)
		if (!m->down[m->port[i]])
			live[n++] = i;
	return n == 0 || !m->down[m->port[own]] ? own : live[share(ecmp_rehash(hash), n)];
}

static void
sees_model_s_hop(struct bench *b, struct many *m, uint16_t sport, uint64_t now_ns)
{
	static const uint8_t addrs[8] = {10, 0, 10, 5, 10, 88, 0, 1};
	struct packet p = {.from = "10.0.10.5", .to = "10.88.0.1", .sport = sport};
	struct sw_route_look look = way_of(b, p.from, p.to, sport, now_ns);
	struct ecmp_flow flow = {.addrs = addrs, .ip_version = 4, .proto = IP_PROTO_UDP};
	uint8_t ports[4];
	unsigned int hop;

	be16_store(ports, sport);
	be16_store(ports + 2, ROCE_UDP_PORT);
	memcpy(&flow.ports, ports, sizeof(flow.ports));
	hop = model_hop(m, ecmp_hash(&flow, 0));
	assert_int_equal(look.n_hops, m->n);
	assert_int_equal(look.hashed, m->n > 1);
	if (look.hashed)
		assert_int_equal(look.chosen, hop);
	for (unsigned int i = 0; i < m->n; i++) {
		assert_int_equal(look.hops[i].dead, m->down[m->port[i]]);
		assert_int_equal(look.hops[i].port, m->port[i]);
	}
	give(b, 0, make_packet(b, &p), now_ns);
	m->sent[m->at[hop]]++;
	/* Routed to a port without a link, as all are. */
	if (m->down[m->port[hop]]) {
		sees_nothing(b, now_ns);
		return;
	}
	sees_routed(b, m->port[hop], (uint8_t[6]){2, 9, 0, 0, 0, (uint8_t)m->at[hop]}, 63, now_ns);
}

static void
sees_model_s_dead_hops(const struct bench *b, const struct many *m)
{
	struct sw_hop_set dead = sw_routing_dead_hops(b->sw, 0), none = {0};

	for (unsigned int i = 0; i < m->n; i++) {
		assert_int_equal(sw_hop_words_have(dead.word, i), m->down[m->port[i]]);
		dead.word[i / 64] &= ~(1ull << i % 64);
	}
	assert_memory_equal(&dead, &none, sizeof(dead));
}

/* Any number of next hops, of which those behind some ports are dead for a while. */
TEST(flows_take_the_hops_of_a_model_over_up_to_256)
{
	static const unsigned int counts[] = {1,  2,   3,   5,   15,  16,  17,  63,
					      64, 100, 127, 128, 129, 200, 255, 256};
	struct prng r;

	prng_seed(&r, 39, 0);
	for (unsigned int c = 0; c < ARRAY_LEN(counts); c++) {
		struct many m;
		struct bench *b = bench_of_many_hops(&m, &r, counts[c]);
		uint64_t now_ns = NS_PER_SEC;

		for (unsigned int phase = 0; phase < 8; phase++) {
			for (uint16_t port = 3; phase > 0 && port < 6; port++) {
				m.down[port] = prng_below(&r, 2);
				sw_set_link(b->sw, port, !m.down[port], now_ns);
			}
			assert_null(take(b, 2, now_ns)); /* sees the links before the check */
			now_ns += b->params.router.neigh_retrans_time_ns;
			b->sw->ops->control(b->sw, now_ns);
			assert_null(take(b, 2, now_ns));
			sees_model_s_dead_hops(b, &m);
			for (unsigned int i = 0; i < 30; i++) {
				now_ns += 10000;
				sees_model_s_hop(b, &m, (uint16_t)prng_below(&r, 65536), now_ns);
			}
			sees_model_s_dead_hops(b, &m);
		}
		for (unsigned int i = 0; i < counts[c]; i++) {
			struct neigh_key key = {.vlan_id = (uint16_t)(SW_PORT_DOMAIN + 3 + i % 3)};
			char text[16];

			write_neighbour(i, text, sizeof(text));
			assert_true(sw_address_parse(text, &key.ip));
			assert_int_equal(sw_hop_stats(b->sw, &key).out_packets, m.sent[i]);
		}
		bench_stop(b);
	}
}

/* Answers of the stations behind ports 3 to 5, but for the silent one. */
static void
answer_asks(struct bench *b, uint8_t silent, uint64_t now_ns)
{
	for (uint16_t port = 0; port < 6; port++) {
		struct rte_mbuf *m;

		while ((m = take(b, port, now_ns)) != NULL) {
			struct frame_view v = view_of(m);
			struct arp arp;

			if (port >= 3 && port != silent &&
			    arp_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &v,
				      &arp)) {
				struct l2 l2 = {0};
				uint8_t frame[ARP_FRAME_BYTES];
				uint8_t ip[4];

				memcpy(ip, arp.target_ip, 4);
				memcpy(l2.dst_mac, router_mac, 6);
				host_mac(l2.src_mac, (uint8_t)(30 + port));
				arp.op = ARP_REPLY;
				memcpy(arp.target_ip, arp.sender_ip, 4);
				memcpy(arp.sender_ip, ip, 4);
				memcpy(arp.sender_mac, l2.src_mac, 6);
				give_bytes(b, port, frame, (uint16_t)arp_build(frame, &l2, &arp),
					   now_ns);
			}
			sent(m);
			now_ns += 100;
		}
	}
}

TEST(flows_of_a_next_hop_that_does_not_answer_go_by_the_others)
{
	struct bench *b = &bench;
	struct spread before, now;
	uint64_t now_ns = NS_PER_SEC;

	bench_of_router();
	sw_destroy(b->sw);
	b->params.tables.n_neighbors = 0; /* all are asked for */
	bench_start(b);
	for (unsigned int i = 0; i < 40; i++, now_ns += 10 * NS_PER_MS) {
		struct packet p = {.from = "10.0.10.5", .to = "10.88.0.1", .sport = (uint16_t)i};

		give(b, 0, make_packet(b, &p), now_ns);
		answer_asks(b, 0, now_ns);
	}
	before = send_flows(b, now_ns);
	assert_int_equal(before.n[3] + before.n[4] + before.n[5], 600);
	/* Port 4's does not answer any more, and is given up in the end. */
	for (unsigned int i = 0; i < 1000; i++, now_ns += 100 * NS_PER_MS) {
		struct packet p = {.from = "10.0.10.5", .to = "10.88.0.1", .sport = (uint16_t)i};

		give(b, 0, make_packet(b, &p), now_ns);
		answer_asks(b, 4, now_ns);
	}
	assert_int_equal(sw_router_stats(b->sw).neigh.neigh_failed, 1);
	now = send_flows(b, now_ns);
	sees_moved(&before, &now, 4);
	assert_int_equal(dead_hops(b, 1), 1u << 1);
	/* It is asked on, and its flows come back when it answers. */
	for (unsigned int i = 0; i < 150; i++, now_ns += 100 * NS_PER_MS) {
		struct packet p = {.from = "10.0.10.5", .to = "10.88.0.1", .sport = (uint16_t)i};

		give(b, 0, make_packet(b, &p), now_ns);
		answer_asks(b, 0, now_ns);
	}
	now = send_flows(b, now_ns);
	assert_memory_equal(now.port, before.port, sizeof(now.port));
	bench_stop(b);
}

/* What control() requests is done by the next tx(), of answer_asks(). */
static void
check_next_hops(struct bench *b, uint8_t silent, uint64_t now_ns)
{
	b->sw->ops->control(b->sw, now_ns);
	answer_asks(b, silent, now_ns);
}

/* No frame needs them yet: the first one finds their addresses, and a dead one is known. */
TEST(next_hops_are_asked_for_at_start_and_dead_without_a_frame)
{
	struct bench *b = &bench;
	struct packet p = {.from = "10.0.10.5", .to = "10.88.0.1"};
	uint64_t now_ns = NS_PER_SEC, retrans_ns;

	bench_of_router();
	sw_destroy(b->sw);
	b->params.tables.n_neighbors = 0; /* all are asked for */
	bench_start(b);
	retrans_ns = b->params.router.neigh_retrans_time_ns;
	for (unsigned int i = 0; i < NEIGH_TRIES; i++, now_ns += retrans_ns) {
		check_next_hops(b, 4, now_ns);
		assert_int_equal(dead_hops(b, 1), 0);
	}
	/* Three IPv4 next hops, and an IPv6 one, which nobody answers for. */
	assert_int_equal(sw_router_stats(b->sw).neigh_requests_sent, 2 + NEIGH_TRIES * 2);
	check_next_hops(b, 4, now_ns);
	assert_int_equal(dead_hops(b, 1), 1u << 1);
	for (p.sport = 0; p.sport < 40; p.sport++) {
		struct rte_mbuf *m;
		unsigned int n = 0;

		now_ns += 10000;
		give(b, 0, make_packet(b, &p), now_ns);
		for (uint16_t port = 3; port <= 5; port++) {
			while ((m = take(b, port, now_ns)) != NULL) {
				n += view_of(m).ip_proto == IP_PROTO_UDP;
				sent(m);
			}
		}
		assert_int_equal(n, 1);
	}
	assert_int_equal(all_drops(b), 0);
	/* It answers at last. */
	for (unsigned int i = 0; i < NEIGH_FAILED_FACTOR + 2; i++, now_ns += retrans_ns)
		check_next_hops(b, 0, now_ns);
	assert_int_equal(dead_hops(b, 1), 0);
	bench_stop(b);
}

/* Nor must a frame find that a hop is live: not the first time, and not after a short outage. */
TEST(next_hops_are_no_longer_dead_when_they_answer_without_a_frame)
{
	struct bench *b = &bench;
	uint64_t now_ns = NS_PER_SEC, retrans_ns;

	bench_of_router();
	sw_destroy(b->sw);
	b->params.tables.n_neighbors = 0;
	bench_start(b);
	retrans_ns = b->params.router.neigh_retrans_time_ns;
	for (uint16_t port = 3; port <= 5; port++)
		sw_set_link(b->sw, port, false, now_ns);
	for (unsigned int i = 0; i < 2; i++)
		check_next_hops(b, 0, now_ns += retrans_ns);
	assert_int_equal(dead_hops(b, 1), 7);
	for (uint16_t port = 3; port <= 5; port++)
		sw_set_link(b->sw, port, true, now_ns);
	/* One less than fail the IPv6 hop, which nobody answers for. */
	for (unsigned int i = 0; i < NEIGH_TRIES; i++)
		check_next_hops(b, 0, now_ns += retrans_ns);
	assert_int_equal(dead_hops(b, 1), 0);
	bench_stop(b);
	/* All are live at both checks; frames in between met one without a link. */
	b = bench_of_router();
	check_next_hops(b, 0, now_ns);
	sw_set_link(b->sw, 4, false, now_ns);
	send_flows(b, now_ns + 1000);
	assert_int_equal(dead_hops(b, 1), 1u << 1);
	sw_set_link(b->sw, 4, true, now_ns + 2 * NS_PER_MS);
	answer_asks(b, 0, now_ns + 3 * NS_PER_MS);
	check_next_hops(b, 0, now_ns + retrans_ns);
	assert_int_equal(dead_hops(b, 1), 0);
	bench_stop(b);
}

/* A solicitation or an ARP request for the router's address, from a made-up host of VLAN 10. */
static void
speak_as(struct bench *b, uint8_t version, uint32_t number, uint64_t now_ns)
{
	uint8_t frame[ND_FRAME_BYTES];
	struct l2 l2 = {.src_mac = {2}};
	uint16_t len;

	if (version == 4) {
		struct arp arp = {.op = ARP_REQUEST,
				  .sender_mac = {2},
				  .sender_ip = {10, 0, 10, (uint8_t)(2 + number % 250)},
				  .target_ip = {10, 0, 10, 1}};

		memset(l2.dst_mac, 0xFF, 6);
		len = (uint16_t)arp_build(frame, &l2, &arp);
	} else {
		struct nd nd = {.type = ND_SOLICITATION,
				.has_mac = true,
				.mac = {2},
				.target_ip = {0xFD, 0, 0, 0x10, [15] = 1},
				.src_ip = {0xFD, 0, 0, 0x10, [8] = 0xBA}};

		nd_solicited_node(nd.target_ip, nd.dst_ip);
		nd_group_mac(nd.dst_ip, l2.dst_mac);
		be32_store(nd.src_ip + 12, number);
		len = (uint16_t)nd_build(frame, &l2, &nd);
	}
	give_bytes(b, 0, frame, len, now_ns);
}

/*
 * One host of VLAN 10 makes up neighbours, by speaking as them or by sending to them in another
 * VLAN. A host of VLAN 20 that nobody has talked to yet, and which answers, is reached by others
 * all the while: one packet is lost, the one that asks.
 */
static void
reach_new_hosts_beside(uint8_t version, bool scan)
{
	struct bench *b = &bench;
	uint64_t now_ns = NS_PER_SEC;
	uint32_t made = 0;

	bench_of_router();
	sw_destroy(b->sw);
	b->params.router.neighbor_entries = 256;
	bench_start(b);
	for (uint8_t host = 0; host < 40; host++) {
		static const uint8_t mac[6] = {2, 0, 0, 0, 0, 2};
		uint8_t ip[4] = {10, 0, 20, 0};
		char to[32];

		ip[3] = (uint8_t)(200 + host);
		snprintf(to, sizeof(to), "10.0.20.%u", ip[3]);
		for (unsigned int i = 0; i < 300; i++, now_ns += NS_PER_MS / 10) {
			made++;
			if (scan) {
				char target[40];

				snprintf(target, sizeof(target), "fd00:20::%x", made);
				if (version == 4)
					snprintf(target, sizeof(target), "10.0.20.%u",
						 2 + made % 190);
				give_packet(b, 0, version == 4 ? "10.0.10.5" : "fd00:10::5", target,
					    now_ns);
			} else {
				speak_as(b, version, made, now_ns);
			}
			for (uint16_t port = 0; port < 3; port++) {
				struct rte_mbuf *m;

				while ((m = take(b, port, now_ns)) != NULL) {
					sent(m);
					now_ns += 1000;
				}
			}
		}
		give_packet(b, 1, "10.0.10.9", to, now_ns);
		{
			struct l2 l2 = {.src_mac = {2, 0, 0, 0, 0, 2}};
			struct arp arp = {.op = ARP_REPLY, .target_ip = {10, 0, 20, 1}};
			uint8_t frame[ARP_FRAME_BYTES];
			struct arp asked = take_arp(b, 2, now_ns);

			assert_memory_equal(asked.target_ip, ip, 4);
			memcpy(l2.dst_mac, router_mac, 6);
			memcpy(arp.sender_mac, mac, 6);
			memcpy(arp.sender_ip, ip, 4);
			give_bytes(b, 2, frame, (uint16_t)arp_build(frame, &l2, &arp), now_ns);
		}
		for (unsigned int i = 1; i <= 10; i++) {
			now_ns += 1000;
			give_packet(b, 1, "10.0.10.9", to, now_ns);
			sees_routed(b, 2, mac, 63, now_ns);
		}
	}
	assert_int_equal(drops(b, 1, SW_DROP_UNRESOLVED_NEXT_HOP), 40);
	for (uint16_t port = 0; port < 6; port++)
		drain(b, port, &now_ns);
	bench_stop(b);
}

TEST(new_host_is_reached_beside_a_flood_of_arp)
{
	reach_new_hosts_beside(4, false);
}

TEST(new_host_is_reached_beside_a_flood_of_solicitations)
{
	reach_new_hosts_beside(6, false);
}

TEST(new_host_is_reached_beside_a_scan_of_its_subnet)
{
	reach_new_hosts_beside(4, true);
	reach_new_hosts_beside(6, true);
}

/* A scan of the subnet finds no end of places, throws out no gateway, and asks a bounded number. */
TEST(scan_of_a_subnet_is_bounded)
{
	struct bench *b = &bench;
	uint64_t now_ns = 0;
	char to[16];

	bench_of_router();
	sw_destroy(b->sw);
	b->params.router.neighbor_entries = 16;
	bench_start(b);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(to, sizeof(to), "10.0.10.%u", 10 + i);
		give_packet(b, 2, "10.0.20.5", to, i);
		drain(b, 0, &now_ns);
		drain(b, 1, &now_ns);
		now_ns = i;
	}
	assert_int_equal(drops(b, 2, SW_DROP_UNRESOLVED_NEXT_HOP), 200);
	/* 16 places, of which 4 are the gateways'; a port has 3 of those without address, each
	 * asked through two ports. */
	assert_int_equal(sw_router_stats(b->sw).neigh_requests_sent, 2 * 3);
	assert_int_equal(sw_router_stats(b->sw).claims.neigh_unresolved_full, 200 - 3);
	give_packet(b, 0, "10.0.10.5", "10.99.1.2", NS_PER_MS);
	sees_routed(b, 3, neighbors[0].mac, 63, NS_PER_MS);
	/* A second on, those that did not answer make room. */
	give_packet(b, 2, "10.0.20.5", "10.0.10.250", 2 * NS_PER_SEC);
	assert_int_equal(sw_router_stats(b->sw).claims.neigh_unresolved_full, 200 - 3);
	assert_int_equal(sw_router_stats(b->sw).claims.neigh_displaced, 1);
	now_ns = 2 * NS_PER_SEC;
	for (uint16_t port = 0; port < 6; port++)
		drain(b, port, &now_ns);
	bench_stop(b);
}

/* A burst of all kinds at once is what the same frames are one by one. */
TEST(burst_equals_its_frames_one_by_one)
{
	static const char *const to[] = {"10.99.0.1",  "10.88.0.1", "192.0.2.1", "10.0.10.1",
					 "fd00:99::1", "10.77.0.1", "fd01::1"};
	struct bench *b = &bench;
	uint64_t counts[2][SW_DROPS], routed[2];

	for (unsigned int whole = 0; whole < 2; whole++) {
		struct rte_mbuf *burst[70];
		uint64_t now_ns = 0;

		bench_of_router();
		for (unsigned int i = 0; i < ARRAY_LEN(burst); i++) {
			const char *dst = to[i % ARRAY_LEN(to)];
			struct packet s = {.from = strchr(dst, ':') ? "fd00:10::5" : "10.0.10.5",
					   .to = dst,
					   .sport = (uint16_t)i};

			burst[i] = make_packet(b, &s);
		}
		if (whole)
			b->sw->ops->rx(b->sw, 0, burst, ARRAY_LEN(burst), 0);
		for (unsigned int i = 0; !whole && i < ARRAY_LEN(burst); i++)
			give(b, 0, burst[i], 0);
		for (unsigned int d = 0; d < SW_DROPS; d++)
			counts[whole][d] = drops(b, 0, (enum sw_drop)d);
		routed[whole] = sw_router_stats(b->sw).routed_packets;
		for (uint16_t port = 0; port < 6; port++) {
			drain(b, port, &now_ns);
			now_ns = 0;
		}
		bench_stop(b);
	}
	assert_memory_equal(counts[0], counts[1], sizeof(counts[0]));
	assert_int_equal(routed[0], routed[1]);
	assert_int_equal(routed[0], 30);
}

/* What can be seen of a run from outside. */
struct outcome {
	uint64_t frames, hash; /* of what left, by port and in order */
	struct sw_port_stats ports[6];
	struct sw_router_stats router;
	struct sw_interface_stats vlans[2];
	struct sw_interface_stats routed_ports[3];
	struct sw_hop_stats hops[3]; /* behind these ports */
	struct sw_ledger ledger;
};

/* Of a few kinds: over next hops, to neighbours known and unknown, and what no router forwards. */
static struct rte_mbuf *
random_packet(struct bench *b, struct prng *r, uint16_t port)
{
	static const char *const from[] = {"10.0.10.5", "10.0.10.6", "10.0.20.5",
					   "10.0.33.5", "10.0.34.5", "10.0.35.5"};
	static const char *const to[] = {"10.99.0.1",  "10.99.0.2", "10.88.0.1", "10.88.3.4",
					 "10.0.10.5",  "10.0.10.6", "10.0.20.5", "10.88.9.9",
					 "10.0.20.77", "10.77.0.1", "192.0.2.1", "10.0.10.1",
					 "127.0.0.1",  "224.1.1.1", "10.0.10.5", "10.99.7.1"};
	struct packet s = {.src = (uint8_t)port,
			   .from = prng_below(r, 32) == 0 ? "169.254.1.1" : from[port],
			   .to = to[prng_below(r, prng_below(r, 4) == 0 ? ARRAY_LEN(to) : 8)],
			   .sport = (uint16_t)(40000 + prng_below(r, 50)),
			   .ttl = prng_below(r, 16) == 0 ? 1 : 64};

	return make_packet(b, &s);
}

/* Now and then a link fails, hosts move or fall silent, and the routes are replaced. */
static void
disturb(struct bench *b, uint32_t round, uint64_t now_ns)
{
	if (round % 50 == 0) {
		announce(b, (uint16_t)(round / 200 % 2), (const uint8_t[]){10, 0, 10, 5}, now_ns);
		announce(b, 1, (const uint8_t[]){10, 0, 10, 6}, now_ns);
		announce(b, 2, (const uint8_t[]){10, 0, 20, 5}, now_ns);
	}
	if (round % 100 == 60)
		sw_set_link(b->sw, (uint16_t)(round / 100 % 6), false, now_ns);
	if (round % 100 == 70)
		sw_set_link(b->sw, (uint16_t)(round / 100 % 6), true, now_ns);
	if (round % 500 == 250)
		routes[0].nexthop = round % 1000 == 250 ? "10.0.34.2" : "10.0.33.2";
	if (round % 500 == 250)
		sw_reload(b->sw, &b->params, bench_prepare_reload(b), now_ns);
}

static void
take_all(struct bench *b, struct outcome *o, uint64_t *now_ns)
{
	for (uint16_t port = 0; port < 6; port++) {
		struct rte_mbuf *m;

		for (uint64_t at_ns = *now_ns; (m = take_next(b, port, &at_ns)) != NULL; sent(m)) {
			const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

			o->frames++;
			o->hash += port;
			for (uint16_t at = 0; at < m->data_len; at++)
				o->hash = (o->hash ^ frame[at]) * 0x100000001B3ull;
		}
	}
}

static void
run_in_bursts(uint64_t seed, uint16_t burst, struct outcome *o)
{
	struct bench *b = bench_to_start();
	uint64_t now_ns = 0, control_ns = 0;
	struct prng r;

	/* The router's own packets follow the burst that caused them. */
	b->params.router.icmp_errors_per_s = 0;
	bench_start(b);
	memset(o, 0, sizeof(*o));
	prng_seed(&r, seed, 1);
	for (uint32_t round = 0; round < 1000; round++) {
		uint16_t port = (uint16_t)prng_below(&r, 6);
		struct rte_mbuf *m[8];

		now_ns += 20 * NS_PER_MS + prng_below(&r, 1000);
		if (now_ns >= control_ns)
			control_ns = b->sw->ops->control(b->sw, now_ns);
		disturb(b, round, now_ns);
		for (uint16_t i = 0; i < ARRAY_LEN(m); i++)
			m[i] = random_packet(b, &r, port);
		for (uint16_t i = 0; i < ARRAY_LEN(m); i = (uint16_t)(i + burst))
			b->sw->ops->rx(b->sw, port, &m[i], burst, now_ns);
		take_all(b, o, &now_ns);
	}
	for (uint16_t port = 0; port < 6; port++)
		o->ports[port] = *sw_port_stats(b->sw, port);
	o->router = sw_router_stats(b->sw);
	for (uint16_t i = 0; i < 2; i++)
		o->vlans[i] = sw_interface_stats(b->sw, (uint16_t)(10 + 10 * i));
	for (uint16_t i = 0; i < 3; i++)
		o->routed_ports[i] = sw_interface_stats(b->sw, (uint16_t)(SW_PORT_DOMAIN + 3 + i));
	for (uint16_t i = 0; i < 3; i++)
		o->hops[i] = hop_stats(b, i);
	o->ledger = sw_ledger(b->sw);
	bench_stop(b);
}

TEST(packets_are_routed_alone_as_in_bursts)
{
	static struct outcome alone, together;

	for (uint64_t seed = 1; seed <= 3; seed++) {
		run_in_bursts(seed, 1, &alone);
		for (uint16_t burst = 2; burst <= 8; burst = (uint16_t)(burst * 2)) {
			run_in_bursts(seed, burst, &together);
			assert_memory_equal(&alone, &together, sizeof(alone));
		}
		assert_true(alone.router.routed_packets > 4000);
		assert_true(alone.router.ecmp_moved_packets > 0);
		assert_true(alone.vlans[1].in_error_packets > 100);
		assert_true(alone.routed_ports[0].out_packets > 1000);
	}
}

/* A stranger on port 0 who claims the addresses of host 7, which is on port 1. */
struct claims {
	uint8_t version;
	bool asks;    /* in requests for the router's address; else in answers that nobody wants */
	bool answers; /* the requests to its own MAC address, too */
	bool earlier; /* than the first answer of host 7; else a second later */
	bool is_true; /* host 7 has gone, and the stranger is the host now */
};

static const uint8_t claimed_ip6[16] = {0xFD, 0, 0, 0x10, [15] = 7};

/* What host h says that its address is that of host 7: to the router, which asked or not. */
static void
claim(struct bench *b, const struct claims *c, uint16_t port, uint8_t h, bool asks, uint64_t now_ns)
{
	struct arp arp = {.op = asks ? ARP_REQUEST : ARP_REPLY,
			  .sender_ip = {10, 0, 10, 7},
			  .target_ip = {10, 0, 10, 1}};
	struct nd nd = {.type = asks ? ND_SOLICITATION : ND_ADVERTISEMENT,
			.flags = asks ? 0 : ND_OVERRIDE | ND_SOLICITED,
			.has_mac = true,
			.dst_ip = {0xFD, 0, 0, 0x10, [15] = 1},
			.target_ip = {0xFD, 0, 0, 0x10, [15] = asks ? 1 : 7}};
	uint8_t frame[ND_FRAME_BYTES];
	struct l2 l2;
	size_t len;

	l2 = (struct l2){0};
	memcpy(l2.dst_mac, router_mac, 6);
	host_mac(l2.src_mac, h);
	memcpy(arp.sender_mac, l2.src_mac, 6);
	memcpy(nd.mac, l2.src_mac, 6);
	memcpy(nd.src_ip, claimed_ip6, 16);
	len = c->version == 4 ? arp_build(frame, &l2, &arp) : nd_build(frame, &l2, &nd);
	give_bytes(b, port, frame, (uint16_t)len, now_ns);
}

/* Is it a request of the router for host 7? */
static bool
wants_host_7(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view v = view_of(m);
	struct arp arp;
	struct nd nd;

	if (v.ethertype == ETHERTYPE_ARP)
		return arp_parse(frame, m->data_len, &v, &arp) && arp.target_ip[3] == 7;
	return v.ip_proto == IP_PROTO_ICMPV6 && nd_parse(frame, &v, &nd) &&
	       memcmp(nd.target_ip, claimed_ip6, 16) == 0;
}

/* Hosts take their frames and answer. @return frames of data that left for the right one. */
static unsigned int
take_and_answer(struct bench *b, const struct claims *c, uint64_t now_ns)
{
	unsigned int right = 0;

	for (uint16_t port = 0; port < 2; port++) {
		uint8_t h = port == 0 ? 6 : 7, mac[6];
		struct rte_mbuf *m;

		host_mac(mac, h);
		for (uint64_t at_ns = now_ns; (m = take(b, port, at_ns)) != NULL; at_ns += 100) {
			const uint8_t *to = rte_pktmbuf_mtod(m, const uint8_t *);
			bool own = memcmp(to, mac, 6) == 0;

			if (wants_host_7(m) && (own || to[0] & 1) &&
			    (port == 0 ? c->answers : !c->is_true))
				claim(b, c, port, h, false, now_ns);
			right += port == (c->is_true ? 0 : 1) && own &&
				 view_of(m).ip_proto == IP_PROTO_UDP;
			sent(m);
		}
	}
	return right;
}

/* @return hundredths of the data frames of 60 s that left for the right host. */
static unsigned int
play_claims(const struct claims *c, unsigned int per_minute)
{
	static const unsigned int frames = 6000;
	unsigned int first = c->earlier ? 0 : 100, right = 0, n = 0;
	struct bench *b = &bench;

	bench_of_router();
	for (unsigned int i = 0; i < frames; i++) {
		uint64_t now_ns = NS_PER_SEC + i * 10 * NS_PER_MS;
		/* Until the stranger is host 7, that is on port 1. */
		const struct claims now = {.version = c->version,
					   .asks = c->asks,
					   .answers = c->answers && i >= first,
					   .is_true = c->is_true && i >= first};

		for (; i >= first && n < ((i - first) * per_minute + frames) / frames; n++)
			claim(b, &now, 0, 6, now.asks, now_ns);
		give_packet(b, 2, c->version == 4 ? "10.0.20.5" : "fd00:20::5",
			    c->version == 4 ? "10.0.10.7" : "fd00:10::7", now_ns);
		right += take_and_answer(b, &now, now_ns);
		right += take_and_answer(b, &now, now_ns + NS_PER_MS);
	}
	bench_stop(b);
	return right * 100 / frames;
}

static void
print_curve(const char *what, const struct claims *c, unsigned int least, unsigned int *bad)
{
	static const unsigned int rates[] = {1, 60, 6000, 60000};

	printf("%s, %-26s:", c->version == 4 ? "ARP" : "ND ", what);
	for (unsigned int i = 0; i < ARRAY_LEN(rates); i++) {
		unsigned int share = play_claims(c, rates[i]);

		printf("  %u a minute %u %%", rates[i], share);
		*bad += share < least;
	}
	printf("\n");
}

/* Attack curves. Its own answer came before the first claim: it holds, as long as it answers. */
TEST(claims_of_a_stranger_do_not_move_a_host)
{
	unsigned int bad = 0;

	for (uint8_t version = 4; version <= 6; version += 2) {
		print_curve("answers", &(struct claims){.version = version}, 99, &bad);
		print_curve("requests", &(struct claims){.version = version, .asks = true}, 99,
			    &bad);
		print_curve("of one that answers",
			    &(struct claims){.version = version, .answers = true}, 99, &bad);
		/* Whose address is it? Who is asked first decides, as long as he answers. */
		print_curve("of one that came first",
			    &(struct claims){.version = version, .answers = true, .earlier = true},
			    0, &bad);
		/* Four seconds without: the old address is asked three times, then all are. */
		print_curve("true",
			    &(struct claims){.version = version, .answers = true, .is_true = true},
			    93, &bad);
	}
	assert_int_equal(bad, 0);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
