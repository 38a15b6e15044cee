/* SPDX-License-Identifier: BSD-3-Clause */
#include "attack/town.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "node/pkt_pool.h"
#include "tm/buffer/mmu.h"
#include "unit/eal.h"
#include "wire/neighbour/arp.h"
#include "wire/bytes/be.h"
#include "wire/frame/ecn.h"
#include "wire/frame/frame.h"
#include "wire/link/pfc_frame.h"
#include "wire/roce/roce.h"

#define BUFFER_BYTES (4u << 20)
/* As quench-switch makes them: [pool] backing_frame_bytes, and what bursts and caches may hold
 * beside the buffer. */
#define BACKING_FRAME_BYTES 512u
#define FRAMES_BESIDE_BUFFER 2048u
#define OWN_FRAMES 1024u
#define BURST 32u
#define PAYLOAD 1024u
/* A lossless priority, by the default DSCP map. */
#define DSCP 26u
#define PRIO 3u

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);  \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* What a host sends to another; the stream's number stands in the destination QP. */
enum stream { LOSSLESS, INCAST, ROUTED_STREAM, NEWCOMER_STREAM, STREAMS };

struct source {
	uint8_t from, to;
	enum stream stream;
	uint64_t rate_bps; /* wire bits */
	uint64_t start_ns;
	/* state */
	uint64_t next_ps;
	uint32_t psn;
};

static const struct source sources_of_town[] = {
	{SENDER, RECEIVER, LOSSLESS, 10 * GBPS, 0, 0, 0},
	{INCAST_A, INCAST_RECEIVER, INCAST, 40 * GBPS, 0, 0, 0},
	{INCAST_B, INCAST_RECEIVER, INCAST, 40 * GBPS, 0, 0, 0},
	{SENDER, ROUTED, ROUTED_STREAM, 5 * GBPS, 0, 0, 0},
	{SENDER, NEWCOMER, NEWCOMER_STREAM, 5 * GBPS, TOWN_ARRIVAL_NS, 0, 0},
};

struct host {
	uint64_t paused_until_ns; /* priority PRIO */
	bool announced;
	struct rte_mbuf *answer; /* to an ARP request, not given to the switch yet */
};

struct town {
	struct node *sw;
	const struct attack *attack;
	struct source sources[ARRAY_LEN(sources_of_town)];
	struct host hosts[TOWN_PORTS];
	struct town_stream streams[STREAMS];
	struct town_result result;
	uint64_t attack_next_ps, attack_left;
	uint64_t begin_ns; /* hosts have greeted: times of the run count from here */
	uint64_t now_ns;
};

static struct rte_mempool *frames, *clones, *pauses, *own;
static struct sw_params params;
static const uint8_t router_mac[6] = {2, 0xFF, 0, 0, 0, 1};
/* Honest hosts are .1 to .7 of 10.0.10.0 and 10.0.20.0; the attacker has addresses of both subnets
 * to name. */
static struct sw_interface interfaces[] = {
	{.name = "vlan 10", .ip = "10.0.10.254/20", .ip6 = "fd00:10::fe/64"},
	{.name = "vlan 20", .ip = "10.0.20.254/20", .ip6 = "fd00:20::fe/64"},
};

static void
set_params(struct sw_params *p)
{
	const char *shards = getenv("QUENCH_TEST_SHARDS");
	char why[256] = "";

	sw_params_default(p, TOWN_PORTS);
	p->shards = shards == NULL ? 1 : (uint16_t)atoi(shards);
	p->vlan_filtering = true;
	p->mmu.buffer_bytes = BUFFER_BYTES;
	p->shaper_burst_ns = 2 * TOWN_TICK_NS;
	p->fdb_entries = 8192;
	p->router.neighbor_entries = 512;
	memcpy(p->router.router_mac, router_mac, 6);
	p->lldp.lldp = true;
	for (uint16_t i = 0; i < TOWN_PORTS; i++) {
		p->ports[i].mac[0] = 2;
		p->ports[i].mac[4] = 0xEE;
		p->ports[i].mac[5] = (uint8_t)i;
		p->ports[i].link_speed_bps = TOWN_LINK_BPS;
		p->ports[i].access_vlan = i == ROUTED || i == NEWCOMER ? 20 : 10;
	}
	p->tables =
		(struct sw_tables){.interfaces = interfaces, .n_interfaces = ARRAY_LEN(interfaces)};
	sw_params_resolve(p);
	p->mmu.packets = (uint32_t)mmu_params_packets(&p->mmu, BACKING_FRAME_BYTES);
	if (sw_params_check(p, why, sizeof(why)) != 0) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
}

static struct rte_mempool *
make_pool(const char *name, uint32_t n_mbufs, uint16_t largest_frame)
{
	struct rte_mempool *pool =
		pkt_pool_create(&(struct pkt_pool_params){.name = name,
							  .n_mbufs = n_mbufs,
							  .largest_frame = largest_frame,
							  .socket = SOCKET_ID_ANY});

	CHECK(pool != NULL);
	return pool;
}

void
town_open(void)
{
	uint32_t n;

	if (frames != NULL)
		return;
	CHECK(test_eal_init(256) >= 0);
	set_params(&params);
	n = params.mmu.packets + FRAMES_BESIDE_BUFFER;
	frames = make_pool("frames", n, 2048);
	clones = make_pool("clones", n, 0);
	pauses = make_pool("pauses", OWN_FRAMES, 128);
	own = make_pool("own", OWN_FRAMES, 2048);
}

static void
mac_of(uint8_t mac[6], uint8_t host)
{
	memcpy(mac, ((const uint8_t[6]){2, 0, 0, 0, 0, host}), 6);
}

static uint8_t
subnet_of(uint8_t host)
{
	return host == ROUTED || host == NEWCOMER ? 20 : 10;
}

/* A frame of a stream, or NULL: the device has no mbuf. */
static struct rte_mbuf *
make(const struct source *s)
{
	static const uint8_t payload[PAYLOAD];
	struct roce_path path = {.ip_version = 4,
				 .src_ip = {10, 0, subnet_of(s->from), s->from},
				 .dst_ip = {10, 0, subnet_of(s->to), s->to},
				 .dscp = DSCP,
				 .ecn = ECN_ECT0,
				 .ttl = 64,
				 .udp_sport = 50000,
				 .dest_qp = s->stream,
				 .pkey = PKEY_DEFAULT};
	struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE, .psn = s->psn};
	struct rte_mbuf *m = rte_pktmbuf_alloc(frames);
	size_t len;

	if (m == NULL)
		return NULL;
	mac_of(path.src_mac, s->from);
	if (subnet_of(s->from) == subnet_of(s->to))
		mac_of(path.dst_mac, s->to);
	else
		memcpy(path.dst_mac, router_mac, 6);
	len = roce_build(rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_tailroom(m), &path, &fields,
			 payload, PAYLOAD);
	CHECK(len > 0);
	rte_pktmbuf_append(m, (uint16_t)len);
	return m;
}

static uint64_t
wire_ps(uint32_t frame_bytes, uint64_t rate_bps)
{
	return (uint64_t)(frame_bytes + 24) * 8 * 1000000000000u / rate_bps;
}

/* An ARP request or answer of an honest host. */
static struct rte_mbuf *
arp_of(uint8_t host, uint16_t op, const uint8_t to_mac[6], const uint8_t target_ip[4])
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(frames);
	struct l2 l2 = {0};
	struct arp arp = {.op = op, .sender_ip = {10, 0, subnet_of(host), host}};

	if (m == NULL)
		return NULL;
	mac_of(l2.src_mac, host);
	memcpy(l2.dst_mac, to_mac, 6);
	mac_of(arp.sender_mac, host);
	memcpy(arp.target_ip, target_ip, 4);
	rte_pktmbuf_append(m, (uint16_t)arp_build(rte_pktmbuf_mtod(m, uint8_t *), &l2, &arp));
	return m;
}

/* The switch's part of a run: cost.py counts the instructions in these two, and in nothing else. */
__attribute__((noinline)) static void
switch_rx(struct town *t, uint16_t port, struct rte_mbuf **pkts, uint16_t n)
{
	t->sw->ops->rx(t->sw, port, pkts, n, t->now_ns);
}

__attribute__((noinline)) static uint16_t
switch_tx(struct town *t, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts)
{
	return t->sw->ops->tx(t->sw, port, pkts, max_pkts, t->now_ns);
}

static void
give(struct town *t, uint16_t port, struct rte_mbuf **pkts, uint16_t n)
{
	if (n == 0)
		return;
	t->result.rx_frames += n;
	switch_rx(t, port, pkts, n);
}

/* What an honest source sends in this tick. */
static void
send(struct town *t, struct source *s)
{
	struct rte_mbuf *burst[BURST];
	uint16_t n = 0;

	if (t->now_ns < t->begin_ns + s->start_ns ||
	    t->now_ns < t->hosts[s->from].paused_until_ns) {
		s->next_ps = t->now_ns * 1000;
		return;
	}
	while (s->next_ps <= t->now_ns * 1000 && n < BURST) {
		struct rte_mbuf *m = make(s);

		s->psn++;
		t->streams[s->stream].sent++;
		if (m == NULL)
			t->result.honest_refused++;
		else
			burst[n++] = m;
		s->next_ps += wire_ps(ETH_HDR_BYTES + 20 + 8 + 12 + PAYLOAD + 4, s->rate_bps);
	}
	give(t, s->from, burst, n);
}

static void
attack(struct town *t)
{
	struct rte_mbuf *burst[BURST];
	uint16_t n = 0;

	if (t->attack->frame == NULL)
		return;
	while (t->attack_next_ps <= t->now_ns * 1000 && t->attack_left > 0 && n < BURST) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(frames);
		uint8_t frame[TOWN_FRAME_BYTES];
		uint16_t len = t->attack->frame(frame, t->result.attack_frames++);

		t->attack_left--;
		t->attack_next_ps += wire_ps(len, TOWN_LINK_BPS);
		if (m == NULL) {
			t->result.attack_refused++;
			continue;
		}
		memcpy(rte_pktmbuf_append(m, len), frame, len);
		burst[n++] = m;
	}
	give(t, ATTACKER, burst, n);
}

static void
on_pause(struct town *t, uint16_t host, const struct mac_control *mc)
{
	if (!(mc->enable >> PRIO & 1))
		return;
	t->result.pauses_obeyed++;
	/* A quantum is 512 bit times. */
	t->hosts[host].paused_until_ns =
		t->now_ns + (uint64_t)mc->quanta[PRIO] * 512 * NS_PER_SEC / TOWN_LINK_BPS;
}

static bool
has_arrived(const struct town *t)
{
	return t->now_ns >= t->begin_ns + TOWN_ARRIVAL_NS;
}

/* The router asks for a host: it answers, once it has arrived. */
static void
on_arp(struct town *t, uint8_t host, const uint8_t *frame, const struct frame_view *v, size_t len)
{
	struct arp arp;

	if (!arp_parse(frame, len, v, &arp) || arp.op != ARP_REQUEST || arp.target_ip[3] != host ||
	    arp.target_ip[2] != subnet_of(host) || t->hosts[host].answer != NULL ||
	    (host == NEWCOMER && !has_arrived(t)))
		return;
	t->hosts[host].answer = arp_of(host, ARP_REPLY, arp.sender_mac, arp.sender_ip);
}

static void
on_data(struct town *t, uint8_t host, const uint8_t *frame, const struct frame_view *v, size_t len)
{
	struct roce_view r;

	/* A stream's frame only at the host that it is for: floods of it do not count. */
	if (roce_parse(frame, len, v, false, &r) != ROCE_OK || r.opcode != RC_WRITE_MIDDLE ||
	    r.dest_qp >= STREAMS || frame[5] != host)
		return;
	t->streams[r.dest_qp].arrived++;
	if (r.dest_qp == NEWCOMER_STREAM && t->result.newcomer_answered_ns == 0)
		t->result.newcomer_answered_ns = t->now_ns - t->begin_ns - TOWN_ARRIVAL_NS;
}

static void
receive(struct town *t, uint16_t host, struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct mac_control mc;
	struct frame_view v;

	CHECK(frame_parse(frame, m->data_len, &v) == FRAME_OK);
	if (host != ATTACKER) {
		if (v.ethertype == ETHERTYPE_MAC_CONTROL &&
		    mac_control_parse(frame, m->data_len, &mc) == MAC_CONTROL_PFC)
			on_pause(t, host, &mc);
		else if (v.ethertype == ETHERTYPE_ARP)
			on_arp(t, (uint8_t)host, frame, &v, m->data_len);
		else if (v.ip_version == 4)
			on_data(t, (uint8_t)host, frame, &v, m->data_len);
	}
	rte_pktmbuf_free(m);
}

static bool
take_all(struct town *t)
{
	bool some = false;

	for (uint16_t port = 0; port < TOWN_PORTS; port++) {
		struct rte_mbuf *burst[BURST];
		uint16_t n;

		while ((n = switch_tx(t, port, burst, BURST)) > 0) {
			some = true;
			t->result.tx_frames += n;
			for (uint16_t i = 0; i < n; i++)
				receive(t, port, burst[i]);
		}
	}
	return some;
}

/* Hosts that are there from the start have spoken, and the router knows the one that it sends
 * to. */
static void
greet(struct town *t)
{
	for (uint8_t host = 1; host < TOWN_PORTS; host++) {
		struct rte_mbuf *m;

		if (host == NEWCOMER)
			continue;
		m = arp_of(host, ARP_REQUEST,
			   (const uint8_t[6]){0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
			   (const uint8_t[4]){10, 0, subnet_of(host), 254});
		CHECK(m != NULL);
		give(t, host, &m, 1);
	}
	t->now_ns += NS_PER_MS;
	take_all(t);
}

static void
tick(struct town *t)
{
	attack(t);
	for (unsigned int i = 0; i < ARRAY_LEN(t->sources); i++)
		send(t, &t->sources[i]);
	for (uint8_t host = 1; host < TOWN_PORTS; host++) {
		struct rte_mbuf *m = t->hosts[host].answer;

		t->hosts[host].answer = NULL;
		if (m == NULL && host == NEWCOMER && !t->hosts[host].announced && has_arrived(t)) {
			m = arp_of(host, ARP_REQUEST,
				   (const uint8_t[6]){0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
				   (const uint8_t[4]){10, 0, 20, 254});
			t->hosts[host].announced = m != NULL;
		}
		if (m != NULL)
			give(t, host, &m, 1);
	}
	take_all(t);
}

static void
open_switch(struct town *t, const struct attack *a, uint64_t attack_frames)
{
	const struct sw_pools pools = {
		.frames = frames, .pause = pauses, .own = own, .clones = clones};

	*t = (struct town){.attack = a, .attack_left = attack_frames};
	t->sw = sw_create(&params, &pools);
	CHECK(t->sw != NULL);
	memcpy(t->sources, sources_of_town, sizeof(t->sources));
	greet(t);
	t->begin_ns = t->now_ns;
	t->attack_next_ps = t->now_ns * 1000;
	for (unsigned int i = 0; i < ARRAY_LEN(t->sources); i++)
		t->sources[i].next_ps = t->now_ns * 1000;
}

/* Everything leaves; nothing is lost uncounted: the ledger closes and all mbufs are back. */
static void
close_switch(struct town *t)
{
	struct sw_ledger l;

	for (unsigned int quiet = 0; quiet < 100; quiet++) {
		t->now_ns += 10 * NS_PER_US;
		if (take_all(t))
			quiet = 0;
	}
	l = sw_ledger(t->sw);
	CHECK(l.in + l.copies + l.generated == l.queued + l.sent + l.dropped + l.consumed);
	CHECK(l.queued == 0 && mmu_balanced(sw_mmu(t->sw)) && mmu_used_bytes(sw_mmu(t->sw)) == 0);
	for (uint16_t port = 0; port < TOWN_PORTS; port++)
		t->result.pauses_sent +=
			port == ATTACKER ? 0 : sw_port_stats(t->sw, port)->tx_pause_frames;
	for (uint8_t host = 0; host < TOWN_PORTS; host++)
		rte_pktmbuf_free(t->hosts[host].answer);
	sw_destroy(t->sw);
	CHECK(rte_mempool_in_use_count(frames) == 0 && rte_mempool_in_use_count(clones) == 0);
	CHECK(rte_mempool_in_use_count(pauses) == 0 && rte_mempool_in_use_count(own) == 0);
	t->result.lossless = t->streams[LOSSLESS];
	t->result.incast = t->streams[INCAST];
	t->result.routed = t->streams[ROUTED_STREAM];
	t->result.newcomer = t->streams[NEWCOMER_STREAM];
}

struct town_result
town_run(const struct attack *a, uint64_t run_ns, uint64_t attack_frames)
{
	static struct town t;

	open_switch(&t, a, attack_frames == 0 ? UINT64_MAX : attack_frames);
	for (; t.now_ns < t.begin_ns + run_ns; t.now_ns += TOWN_TICK_NS)
		tick(&t);
	for (unsigned int i = 0; i < STREAMS; i++)
		t.streams[i].in_time = t.streams[i].arrived;
	close_switch(&t);
	return t.result;
}

struct town_result
town_run_alone(const struct attack *a, uint64_t first, uint64_t n, void (*then)(void))
{
	static struct town t;

	open_switch(&t, a, first);
	for (unsigned int part = 0; part < 2; part++) {
		for (; t.attack_left > 0; t.now_ns += TOWN_TICK_NS) {
			attack(&t);
			take_all(&t);
		}
		if (part > 0)
			break;
		t.attack_left = n;
		t.result.rx_frames = t.result.tx_frames = 0;
		then();
	}
	close_switch(&t);
	return t.result;
}
