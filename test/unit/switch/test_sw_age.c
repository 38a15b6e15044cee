/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch that is old: the same life, of all that goes by time, begun at several dates. Every
 * frame, its time from the beginning on, every event and every counter have to be the same.
 *
 * Ports 0 and 1 are in VLAN 10, port 2 in VLAN 20, port 3 is a router's. Shapers of a port and of
 * queues, storm control, the averages of WRED, pauses and their watchdog, addresses that age,
 * neighbours that are asked and give up, and LLDP, whose frames come back in at the next port.
 */
#include "unit/switch/sw_test.h"

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "unit/chance.h"
#include "unit/sanitized.h"
#include "switch/control/event_log.h"
#include "wire/neighbour/arp.h"

#define PORTS 4
#define PRIO 3

static const uint8_t router_mac[6] = {2, 0xFF, 0, 0, 0, 1};
static const uint8_t first_three[PORTS][3] = {{10, 0, 10}, {10, 0, 10}, {10, 0, 20}, {10, 0, 33}};

static struct sw_interface interfaces[] = {
	{.name = "vlan 10", .ip = "10.0.10.1/24"},
	{.name = "vlan 20", .ip = "10.0.20.1/24"},
	{.name = "port 3", .ip = "10.0.33.1/24"},
};
static struct sw_static_route routes[] = {
	{.name = "10.99.0.0/16", .nexthop = "10.0.33.2,10.0.20.2"}};

static struct {
	struct bench *b;
	struct prng r;
	uint64_t start_ns, now_ns, control_ns;
	uint64_t digest;
} life;

static void
mix_in(const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		life.digest = (life.digest ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3ull;
}

static void
set_params(struct sw_params *p)
{
	bench_defaults(p, PORTS);
	p->vlan_filtering = true;
	p->ports[0].access_vlan = p->ports[1].access_vlan = 10;
	p->ports[2].access_vlan = 20;
	p->ports[0].flow_control = p->ports[1].flow_control = SW_FLOW_AUTO;
	p->ports[1].shaper_rate_bps = 7 * GBPS;
	for (unsigned int i = 0; i < SW_STORMS; i++)
		p->ports[0].storm_bps[i] = p->ports[2].storm_bps[i] = 300 * KBPS;
	for (unsigned int queue = 0; queue < TM_CLASSES; queue++) {
		p->queues[0][queue].max_rate_bps = 1 * GBPS + 7;
		p->queues[2][queue].min_rate_bps = 100 * MBPS;
		p->queues[2][queue].burst_bytes = 3000;
	}
	p->wred.green_min_threshold_bytes = 1000;
	p->wred.green_max_threshold_bytes = 20000;
	p->wred.wred_weight = 6;
	p->wred_queues = UINT8_MAX;
	p->fdb_ageing_s = 1;
	p->fdb_entries = 64; /* one step of a sweep passes them all */
	p->pfcwd.pfcwd = PFCWD_SONIC;
	p->pfcwd.poll_interval_ns = NS_PER_MS;
	p->pfcwd.detection_time_ns = 2 * NS_PER_MS;
	p->pfcwd.restoration_time_ns = 3 * NS_PER_MS;
	p->lldp.lldp = true;
	p->lldp.lldp_tx_interval_ns = NS_PER_SEC;
	p->lldp.lldp_tx_hold = 2;
	p->watermark_interval_ns = 10 * NS_PER_MS;
	memcpy(p->router.router_mac, router_mac, 6);
	p->router.neigh_retrans_time_ns = 20 * NS_PER_MS;
	p->router.neigh_reachable_time_ns = 1500 * NS_PER_MS;
	p->tables = (struct sw_tables){.interfaces = interfaces,
				       .routes = routes,
				       .n_interfaces = ARRAY_LEN(interfaces),
				       .n_routes = ARRAY_LEN(routes)};
}

static void
answer_arp(uint16_t port, const struct rte_mbuf *m)
{
	struct l2 l2 = {.tagged = false};
	struct frame_view v = view_of(m);
	uint8_t frame[ARP_FRAME_BYTES], asked[4];
	struct arp arp;

	if (!arp_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &v, &arp) ||
	    arp.op != ARP_REQUEST || arp.target_ip[3] == 4 || chance(&life.r, 30))
		return;
	memcpy(asked, arp.target_ip, 4);
	host_mac(l2.src_mac, (uint8_t)port);
	memcpy(l2.dst_mac, arp.sender_mac, 6);
	arp.op = ARP_REPLY;
	memcpy(arp.target_mac, arp.sender_mac, 6);
	memcpy(arp.target_ip, arp.sender_ip, 4);
	memcpy(arp.sender_mac, l2.src_mac, 6);
	memcpy(arp.sender_ip, asked, 4);
	give_bytes(life.b, port, frame, (uint16_t)arp_build(frame, &l2, &arp), life.now_ns);
}

/* A frame has left. What it says to hosts they answer, or not. */
static void
on_frame(uint16_t port, struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t ethertype = (uint16_t)(frame[12] << 8 | frame[13]);
	uint64_t at_ns = life.now_ns - life.start_ns;

	mix_in(&at_ns, sizeof(at_ns));
	mix_in(&port, sizeof(port));
	for (const struct rte_mbuf *s = m; s != NULL; s = s->next)
		mix_in(rte_pktmbuf_mtod(s, const void *), s->data_len);
	if (ethertype == 0x88CC && chance(&life.r, 30))
		give_bytes(life.b, (port + 1) % PORTS, frame, m->data_len, life.now_ns);
	else if (ethertype == ETHERTYPE_ARP)
		answer_arp(port, m);
	rte_pktmbuf_free(m);
}

static uint64_t
earliest_ns(void)
{
	uint64_t at_ns = life.control_ns;

	for (uint16_t port = 0; port < PORTS; port++)
		at_ns = min_u64(at_ns, next_ns(life.b, port));
	return at_ns;
}

/* All that happens up to a time by itself. */
static void
pass(uint64_t until_ns)
{
	for (uint64_t at_ns; (at_ns = earliest_ns()) <= until_ns;) {
		struct rte_mbuf *m;

		life.now_ns = max_u64(life.now_ns, at_ns);
		if (life.control_ns <= life.now_ns)
			life.control_ns = life.b->sw->ops->control(life.b->sw, life.now_ns);
		for (uint16_t port = 0; port < PORTS; port++) {
			while (next_ns(life.b, port) <= life.now_ns &&
			       (m = take(life.b, port, life.now_ns)) != NULL)
				on_frame(port, m);
		}
	}
	life.now_ns = until_ns;
}

/* Of a host behind port, to another one, to one that nobody knows, to all, or by the router. */
static void
give_any_data(uint16_t port)
{
	struct frame_spec s = {.src = (uint8_t)port,
			       .dst = (uint8_t)(1 - port),
			       .dscp = chance(&life.r, 50) ? 26 : (uint8_t)any(&life.r, 0, 63),
			       .ecn = (uint8_t)any(&life.r, 0, 2),
			       .payload_bytes = (uint16_t)any(&life.r, 1, 1500)};
	struct rte_mbuf *m;
	uint8_t *frame;

	if (port > 1 || chance(&life.r, 25))
		s.dst = chance(&life.r, 50) ? BROADCAST_HOST : (uint8_t)any(&life.r, 20, 25);
	m = make_frame(life.b, &s);
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	if (chance(&life.r, port > 1 ? 80 : 20)) {
		uint16_t to = (uint16_t)any(&life.r, 0, PORTS - 1);

		memcpy(frame, router_mac, 6);
		memcpy(frame + 30, first_three[to], 3);
		frame[33] = (uint8_t)any(&life.r, 2, 4);
		if (chance(&life.r, 20))
			memcpy(frame + 30, (uint8_t[]){10, 99, 1}, 3);
		/* The header's sum is not over what it was: RFC 1071 by hand. */
		frame[24] = frame[25] = 0;
		uint32_t sum = 0;

		for (unsigned int i = 14; i < 34; i += 2)
			sum += (uint32_t)(frame[i] << 8 | frame[i + 1]);
		sum = (sum & 0xFFFF) + (sum >> 16);
		sum = ~((sum & 0xFFFF) + (sum >> 16));
		frame[24] = (uint8_t)(sum >> 8);
		frame[25] = (uint8_t)sum;
	}
	give(life.b, port, m, life.now_ns);
}

static void
give_any(void)
{
	uint16_t port = (uint16_t)any(&life.r, 0, PORTS - 1);

	if (chance(&life.r, 2))
		give_pfc(life.b, port, chance(&life.r, 50) ? 1u << PRIO : 255,
			 (uint16_t)(chance(&life.r, 30) ? 0 : any(&life.r, 1, 65535)), life.now_ns);
	for (uint64_t n = any(&life.r, 1, 4); n > 0; n--)
		give_any_data(port);
}

static void
live_a_while(void)
{
	uint16_t stormed = (uint16_t)any(&life.r, 0, PORTS - 1);

	for (uint64_t n = any(&life.r, 50, 300); n > 0; n--) {
		pass(life.now_ns + any(&life.r, 0, 3000));
		give_any();
	}
	if (chance(&life.r, 50)) {
		for (uint64_t n = any(&life.r, 2, 20); n > 0; n--) {
			give_pfc(life.b, stormed, 1u << PRIO, 65535, life.now_ns);
			give_any();
			pass(life.now_ns + 400 * NS_PER_US);
		}
	}
	for (uint64_t n = any(&life.r, 0, 8); n > 0; n--) {
		pass(life.now_ns + any(&life.r, 1, 150 * NS_PER_MS));
		give_any();
	}
	pass(life.now_ns + (chance(&life.r, 50) ? any(&life.r, 1, 5 * NS_PER_MS)
						: any(&life.r, 1, 2500 * NS_PER_MS)));
}

static void
mix_in_counts(void)
{
	const struct node *sw = life.b->sw;
	struct sw_router_stats router = sw_router_stats(sw);
	struct fdb_stats fdb = sw_fdb_stats(sw);
	struct sw_ledger ledger = sw_ledger(sw);

	mix_in(&router, sizeof(router));
	mix_in(&fdb, sizeof(fdb));
	mix_in(&ledger, sizeof(ledger));
	for (uint16_t port = 0; port < PORTS; port++) {
		mix_in(sw_port_stats(sw, port), sizeof(struct sw_port_stats));
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
			struct pfcwd_stats s = sw_pfcwd(sw, port, prio)->stats;

			s.detected_ns -= s.detected_ns > 0 ? life.start_ns : 0;
			s.restored_ns -= s.restored_ns > 0 ? life.start_ns : 0;
			mix_in(&s, sizeof(s));
		}
	}
}

/* What happened in all lives. */
static struct {
	uint64_t marked, storm_drops, aged, routed, learnt, failed;
	uint64_t events[SW_EVENT_DCBX_MISMATCH + 1];
} seen;

static void
mix_in_events(void)
{
	struct sw_event e;

	while (sw_event_next(life.b->sw, &e)) {
		uint64_t at_ns = e.at_ns - life.start_ns;

		mix_in(&at_ns, sizeof(at_ns));
		mix_in(&e.kind, sizeof(e.kind));
		mix_in(&e.port, sizeof(e.port));
		seen.events[e.kind]++;
	}
}

static void
note_what_happened(void)
{
	const struct node *sw = life.b->sw;
	struct sw_router_stats router = sw_router_stats(sw);

	for (uint16_t port = 0; port < PORTS; port++) {
		const struct sw_port_stats *s = sw_port_stats(sw, port);

		for (unsigned int d = SW_DROP_STORM_BROADCAST; d <= SW_DROP_STORM_UNKNOWN_UNICAST;
		     d++)
			seen.storm_drops += s->drops[d];
		for (uint8_t queue = 0; queue < TM_CLASSES; queue++)
			seen.marked += s->queue[queue].ecn_marked_packets;
	}
	seen.aged += sw_fdb_stats(sw).aged;
	seen.routed += router.routed_packets;
	seen.learnt += router.neigh.neigh_learnt;
	seen.failed += router.neigh.neigh_failed;
}

static void
sees_that_all_happened(void)
{
	assert_true(seen.marked > 0);
	assert_true(seen.storm_drops > 0);
	assert_true(seen.aged > 0);
	assert_true(seen.routed > 0);
	assert_true(seen.learnt > 0);
	assert_true(seen.failed > 0);
	assert_true(seen.events[SW_EVENT_STORM_DETECTED] > 0);
	assert_true(seen.events[SW_EVENT_STORM_RESTORED] > 0);
	assert_true(seen.events[SW_EVENT_DCBX_AGREED] > 0);
	assert_true(seen.events[SW_EVENT_DCBX_NO_NEIGHBOUR] > 0);
}

static uint64_t
live(struct bench *b, uint64_t seed, uint64_t start_ns)
{
	memset(&life, 0, sizeof(life));
	life.b = b;
	life.start_ns = life.now_ns = life.control_ns = start_ns;
	life.digest = 0xcbf29ce484222325ull;
	prng_seed(&life.r, seed, 0);
	set_params(&b->params);
	bench_start(b);
	for (unsigned int i = 0; i < 30; i++) {
		live_a_while();
		mix_in_events();
	}
	/* What waits for a port that is held goes when its peer is heard no more. */
	pass(life.now_ns + NS_PER_SEC);
	mix_in_events();
	mix_in_counts();
	note_what_happened();
	bench_stop(b);
	return life.digest;
}

TEST(a_life_that_begins_late_is_the_same)
{
	/* Some seconds before time has more than 32, 48, 55 and 56 bits; a year; and near the end.
	 * Whole seconds, as some timers round the time to parts of one. */
	static const uint64_t dates_s[] = {
		(1ull << 32) / NS_PER_SEC - 1,
		(1ull << 48) / NS_PER_SEC - 8,
		31536000,
		(1ull << 55) / NS_PER_SEC - 8,
		(1ull << 56) / NS_PER_SEC - 8,
		(1ull << 63) / NS_PER_SEC - 100,
	};
	const char *n = getenv("QUENCH_SWITCH_SEEDS");
	/* What differs late are numbers, which no sanitizer judges. */
	uint64_t seeds = n != NULL ? strtoull(n, NULL, 10) : SANITIZED ? 2 : 6;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		uint64_t young = live(&bench, seed, NS_PER_SEC);

		for (unsigned int i = 0; i < ARRAY_LEN(dates_s); i++) {
			if (live(&bench, seed, dates_s[i] * NS_PER_SEC) != young)
				fail_msg("seed %ju: not the same from %ju s on", (uintmax_t)seed,
					 (uintmax_t)dates_s[i]);
		}
	}
	sees_that_all_happened();
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
