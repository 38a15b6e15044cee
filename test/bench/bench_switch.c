/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a packet costs the switch node, from rx() to tx(): parse, learn, forward, both admissions,
 * enqueue, scheduler, shaper, WRED, release. Four ports, 64 flows all to all, ECN and PFC on;
 * frames come back in after they went out, so nothing of a device is in the figure. Beside it: for
 * small frames the least that a forwarder does, for large ones rte_sched over as many frames alike.
 *
 * Then the same with 65536 addresses: between two passes, which is not counted, each frame is given
 * others. And routed, over 16384 routes to 64 next hops, by 65536 flows.
 */
#include <rte_mbuf.h>
#include <rte_sched.h>

#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "bench.h"
#include "plain_loop.h"
#include "sched_peer.h"
#include "switch_set_up.h"
#include "../host_path.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/roce/roce.h"

#define PORTS 4
#define FLOWS 64
#define FRAMES 512 /* in flight over and over: more than the first-level cache holds */
#define ROUNDS 9
#define MAX_BURST 32
#define ROUND_NS 20e6
#define SMALLEST 60 /* without FCS */
#define MACS 65536u
#define ROUTES 16384u
#define HOPS 16u         /* next hops behind a port */
#define DATA_OVERHEAD 58 /* Ethernet, IPv4, UDP, BTH, ICRC */

enum scene { PLAIN, MANY_MACS, MANY_ROUTES };

struct bench {
	struct node *sw;
	struct rte_mbuf *pkts[FRAMES];
	uint16_t in_port[FRAMES], out_port[FRAMES];
	uint64_t now_ns;
	uint16_t burst;
	enum scene scene;
	struct prng prng;
	/* the peer */
	struct rte_mempool *pool;
	struct rte_sched_port *sched;
	struct rte_mbuf *peer_pkts[FRAMES];
	uint64_t peer_in, peer_out;
};

/* The shortest RoCE frame has 62 bytes: to have one of 60, its IP packet ends earlier. */
static void
cut_packet(uint8_t *frame, uint16_t len)
{
	uint8_t *ip = frame + ETH_HDR_BYTES;
	uint16_t sum;

	ip[3] = (uint8_t)(len - ETH_HDR_BYTES);
	ip[10] = ip[11] = 0;
	sum = ipv4_header_checksum(ip, IPV4_HDR_BYTES);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/* Frame i belongs to flow i % FLOWS; a burst of neighbours enters by one port and leaves by one
 * port. */
static struct rte_mbuf *
make_frame(struct rte_mempool *pool, unsigned int flow, uint16_t len, uint16_t in, uint16_t out)
{
	static const uint8_t payload[2048];
	struct roce_path path = host_path((uint8_t)in, (uint8_t)out, 2);
	struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *frame;
	size_t max_pkts;

	bench_check(m != NULL, "taking an mbuf");
	path.src_mac[4] = path.dst_mac[4] = path.src_ip[2] = path.dst_ip[2] = (uint8_t)flow;
	if (len == SMALLEST)
		fields.opcode = RC_ACK;
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	max_pkts = rte_pktmbuf_tailroom(m);
	bench_check(roce_build(frame, max_pkts, &path, &fields, payload,
			       len == SMALLEST ? 0 : (uint16_t)(len - DATA_OVERHEAD)) > 0,
		    "building a frame");
	if (len == SMALLEST)
		cut_packet(frame, SMALLEST);
	rte_pktmbuf_append(m, len);
	return m;
}

static const uint8_t router_mac[6] = {2, 0xFF, 0, 0, 0, 1};

/* Every port is routed, with HOPS neighbours; route n, of 24 bits, leads to port n % PORTS. */
static void
add_routes(struct sw_params *p)
{
	static struct sw_interface interfaces[PORTS];
	static struct sw_neighbor neighbors[PORTS * HOPS];
	static struct sw_static_route routes[ROUTES];

	memcpy(p->router.router_mac, router_mac, 6);
	p->tables = (struct sw_tables){.interfaces = interfaces,
				       .neighbors = neighbors,
				       .routes = routes,
				       .n_interfaces = PORTS,
				       .n_neighbors = PORTS * HOPS,
				       .n_routes = ROUTES};
	for (uint32_t i = 0; i < PORTS; i++) {
		snprintf(interfaces[i].name, sizeof(interfaces[i].name), "port %u", i);
		snprintf(interfaces[i].ip, sizeof(interfaces[i].ip), "10.0.%u.1/24", i);
	}
	for (uint32_t i = 0; i < PORTS * HOPS; i++) {
		const uint8_t mac[6] = {2, 2, 0, 0, (uint8_t)(i / PORTS), (uint8_t)(i % PORTS)};

		snprintf(neighbors[i].name, sizeof(neighbors[i].name), "10.0.%u.%u", i % PORTS,
			 2 + i / PORTS);
		memcpy(neighbors[i].mac, mac, 6);
	}
	for (uint32_t i = 0; i < ROUTES; i++) {
		snprintf(routes[i].name, sizeof(routes[i].name), "20.%u.%u.0/24", i >> 8, i & 255);
		snprintf(routes[i].nexthop, sizeof(routes[i].nexthop), "%s",
			 neighbors[i % (PORTS * HOPS)].name);
	}
}

static void
start(struct bench *b, const struct sw_pools *pools, uint16_t len)
{
	static struct sw_params params;

	switch_set_up_params(&params, PORTS);
	if (b->scene == MANY_MACS)
		params.fdb_entries = 2 * MACS;
	if (b->scene == MANY_ROUTES)
		add_routes(&params);
	prng_seed(&b->prng, 1, 0);
	b->sw = switch_set_up(&params, pools);
	b->now_ns = 0;
	for (unsigned int i = 0; i < FRAMES; i++) {
		unsigned int group = i / MAX_BURST;
		uint8_t mac[6] = {2, 0, 0, 0, (uint8_t)(i % FLOWS)};

		b->in_port[i] = (uint16_t)(group % PORTS);
		b->out_port[i] = (uint16_t)((group + 1 + group / PORTS % (PORTS - 1)) % PORTS);
		b->peer_pkts[i] =
			make_frame(pools->frames, i % FLOWS, len, b->in_port[i], b->out_port[i]);
		b->pkts[i] =
			make_frame(pools->frames, i % FLOWS, len, b->in_port[i], b->out_port[i]);
		mac[5] = (uint8_t)b->out_port[i];
		if (b->scene == PLAIN)
			sw_learn(b->sw, 0, mac, b->out_port[i], 0);
	}
}

static void
stop(struct bench *b)
{
	struct sw_ledger l = sw_ledger(b->sw);

	bench_check(l.dropped == 0 && l.in == l.sent && l.queued == 0, "no frame lost or copied");
	sw_destroy(b->sw);
	rte_pktmbuf_free_bulk(b->pkts, FRAMES);
	rte_pktmbuf_free_bulk(b->peer_pkts, FRAMES);
}

/* Station n of a port. */
static void
set_station(uint8_t mac[6], uint32_t n, uint16_t port)
{
	const uint8_t m[6] = {2, 1, 0, (uint8_t)(n >> 8), (uint8_t)n, (uint8_t)port};

	memcpy(mac, m, sizeof(m));
}

static void
learn_stations(struct bench *b)
{
	for (uint32_t i = 0; i < MACS; i++) {
		uint8_t mac[6];

		set_station(mac, i / PORTS, (uint16_t)(i % PORTS));
		bench_check(sw_learn(b->sw, 0, mac, (uint16_t)(i % PORTS), 0) == 0, "sw_learn");
	}
}

/* A packet of one of 65536 flows, to an address behind one of the port's routes. */
static void
set_flow(uint8_t *frame, uint32_t r, uint16_t in, uint16_t out)
{
	uint8_t *ip = frame + ETH_HDR_BYTES,
		mac[6] = {2, 0, 0, 0, (uint8_t)(r % FLOWS), (uint8_t)in};
	uint32_t route = r % (ROUTES / PORTS) * PORTS + out;

	memcpy(frame, router_mac, 6);
	memcpy(frame + 6, mac, 6);
	ip[8] = 64;
	be32_store(ip + 12, 10u << 24 | (uint32_t)in << 8 | (2 + r % FLOWS));
	be32_store(ip + 16, 20u << 24 | route << 8 | (r >> 24));
	be16_store(ip + IPV4_HDR_BYTES, (uint16_t)(r >> 16));
	be16_store(ip + 10, 0);
	be16_store(ip + 10, ipv4_header_checksum(ip, IPV4_HDR_BYTES));
}

/* Other stations of the same ports, or other flows. */
static void
readdress(struct bench *b)
{
	for (unsigned int i = 0; i < FRAMES; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(b->pkts[i], uint8_t *);
		uint32_t r = prng_u32(&b->prng);

		if (b->scene == MANY_ROUTES) {
			set_flow(frame, r, b->in_port[i], b->out_port[i]);
			continue;
		}
		set_station(frame, r % (MACS / PORTS), b->out_port[i]);
		set_station(frame + 6, (r >> 16) % (MACS / PORTS), b->in_port[i]);
	}
}

/* All frames once through the switch. */
static void
pass(struct bench *b)
{
	uint16_t burst = b->burst;

	for (unsigned int i = 0; i < FRAMES; i += burst) {
		uint16_t n;

		/* 32 frames of 1082 bytes at 400G take 0.7 us; a burst of catch-up is 4 us. */
		b->now_ns += NS_PER_US;
		b->sw->ops->rx(b->sw, b->in_port[i], &b->pkts[i], burst, b->now_ns);
		n = b->sw->ops->tx(b->sw, b->out_port[i], &b->pkts[i], burst, b->now_ns);
		bench_check(n == b->burst, "a burst leaves whole");
	}
}

static void
macswap_pass(struct bench *b)
{
	for (unsigned int i = 0; i < FRAMES; i += b->burst)
		plain_macswap(b->pool, &b->peer_pkts[i], b->burst);
}

/* What comes out goes where it once came from: the class is one, its queue first in, first out. */
static void
sched_take(struct bench *b)
{
	unsigned int at = (unsigned int)(b->peer_out % FRAMES), max_pkts = b->burst;

	max_pkts = max_pkts < FRAMES - at ? max_pkts : FRAMES - at;
	b->peer_out += (unsigned int)rte_sched_port_dequeue(b->sched, &b->peer_pkts[at], max_pkts);
}

static void
sched_pass(struct bench *b)
{
	for (unsigned int i = 0; i < FRAMES; i += b->burst) {
		for (unsigned int k = 0; k < b->burst; k++)
			rte_sched_port_pkt_write(b->sched, b->peer_pkts[i + k], 0, 0,
						 RTE_SCHED_TRAFFIC_CLASS_BE, 0, RTE_COLOR_GREEN);
		b->peer_in +=
			(unsigned int)rte_sched_port_enqueue(b->sched, &b->peer_pkts[i], b->burst);
		sched_take(b);
	}
	for (unsigned int tries = 0; b->peer_out < b->peer_in && tries < FRAMES; tries++)
		sched_take(b);
	bench_check(b->peer_in % FRAMES == 0 && b->peer_out == b->peer_in,
		    "rte_sched gives back what it took");
}

static double
round_of(void (*one_pass)(struct bench *), struct bench *b)
{
	double begin = bench_clock_ns(), spent;
	unsigned int passes = 0;

	do {
		one_pass(b);
		passes++;
		spent = bench_clock_ns() - begin;
	} while (spent < ROUND_NS);
	return spent / passes / FRAMES;
}

static double
round_switch(void *arg)
{
	return round_of(pass, arg);
}

static double
round_many(void *arg)
{
	double begin, spent = 0;
	unsigned int passes = 0;

	for (; spent < ROUND_NS; passes++) {
		readdress(arg);
		begin = bench_clock_ns();
		pass(arg);
		spent += bench_clock_ns() - begin;
	}
	return spent / passes / FRAMES;
}

static double
round_macswap(void *arg)
{
	return round_of(macswap_pass, arg);
}

static double
round_sched(void *arg)
{
	return round_of(sched_pass, arg);
}

int
main(void)
{
	static const uint16_t bursts[] = {1, MAX_BURST};
	static const uint16_t lengths[] = {SMALLEST, 1024 + DATA_OVERHEAD};
	static struct bench b;
	struct bench_side peers[] = {
		{"macswap loop with free and alloc (limit)", round_macswap, &b},
		{SCHED_PEER_NAME, round_sched, &b}};
	struct sw_pools pools;
	char name[64];

	bench_eal(128);
	pools = switch_set_up_pools(4096, 2048, false);
	b.pool = pools.frames;
	/* RED looks at each frame, and begins beyond the burst: it is to drop none. */
	b.sched = sched_peer_create(2 * MAX_BURST);
	for (unsigned int l = 0; l < 2; l++) {
		for (unsigned int i = 0; i < 2; i++) {
			b.burst = bursts[i];
			start(&b, &pools, lengths[l]);
			snprintf(name, sizeof(name), "switch rx to tx, %u B, bursts of %u",
				 lengths[l] + FCS_BYTES, bursts[i]);
			bench_compare((struct bench_side){name, round_switch, &b}, peers[l],
				      "ns/packet", ROUNDS);
			stop(&b);
		}
	}
	b.burst = MAX_BURST;
	b.scene = MANY_MACS;
	start(&b, &pools, SMALLEST);
	learn_stations(&b);
	bench_compare((struct bench_side){"switch rx to tx, 64 B, bursts of 32, 65536 addresses",
					  round_many, &b},
		      peers[0], "ns/packet", ROUNDS);
	stop(&b);
	b.scene = MANY_ROUTES;
	start(&b, &pools, SMALLEST);
	bench_compare((struct bench_side){"switch rx to tx, 64 B, bursts of 32, 16384 routes, "
					  "65536 flows",
					  round_many, &b},
		      peers[0], "ns/packet", ROUNDS);
	stop(&b);
	rte_sched_port_free(b.sched);
	return EXIT_SUCCESS;
}
