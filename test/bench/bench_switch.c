/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a packet costs the switch node, from rx() to tx(): parse, learn, forward, both admissions,
 * enqueue, scheduler, shaper, WRED, release (switch_flows.h). Beside it: for small frames the least
 * that a forwarder does, for large ones rte_sched over as many frames alike.
 *
 * Then what is compared with bursts of 32 of the 64 flows: single frames; 65536 addresses, where
 * each frame is given others between two passes, which is not counted; and routes, 16384 of them to
 * 64 next hops, by 65536 flows, also with single frames.
 */
#include <rte_mbuf.h>
#include <rte_sched.h>

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "bench.h"
#include "plain_loop.h"
#include "sched_peer.h"
#include "switch_flows.h"
#include "switch_set_up.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/frame/frame.h"

#define PORTS SWITCH_FLOWS_PORTS
#define FRAMES SWITCH_FLOWS_FRAMES
#define ROUNDS 9
#define MACS 65536u
#define ROUTES 16384u
#define HOPS 16u /* next hops of a port */
#define LONGEST 1082

enum scene { PLAIN, MANY_MACS, MANY_ROUTES };

struct bench {
	struct switch_flows flows;
	enum scene scene;
	struct prng prng;
	/* the peer */
	struct rte_mempool *pool;
	struct rte_sched_port *sched;
	struct rte_mbuf *peer_pkts[FRAMES];
	uint64_t peer_in, peer_out;
};

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
		routes[i].nexthop = neighbors[i % (PORTS * HOPS)].name;
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
	switch_flows_start(&b->flows, &params, pools, len);
	if (b->scene == PLAIN)
		switch_flows_learn(&b->flows);
	for (unsigned int i = 0; i < FRAMES; i++)
		b->peer_pkts[i] = switch_flows_frame(&b->flows, i, pools->frames, len);
}

static void
stop(struct bench *b)
{
	switch_flows_stop(&b->flows);
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
		bench_check(sw_learn(b->flows.sw, 0, mac, (uint16_t)(i % PORTS), 0) == 0,
			    "sw_learn");
	}
}

/* A packet of one of 65536 flows, to an address behind one of the port's routes. */
static void
set_flow(uint8_t *frame, uint32_t r, uint16_t in, uint16_t out)
{
	uint8_t *ip = frame + ETH_HDR_BYTES,
		mac[6] = {2, 0, 0, 0, (uint8_t)(r % SWITCH_FLOWS), (uint8_t)in};
	uint32_t route = r % (ROUTES / PORTS) * PORTS + out;

	memcpy(frame, router_mac, 6);
	memcpy(frame + 6, mac, 6);
	ip[8] = 64;
	be32_store(ip + 12, 10u << 24 | (uint32_t)in << 8 | (2 + r % SWITCH_FLOWS));
	be32_store(ip + 16, 20u << 24 | route << 8 | (r >> 24));
	be16_store(ip + IPV4_HDR_BYTES, (uint16_t)(r >> 16));
	be16_store(ip + 10, 0);
	be16_store(ip + 10, ipv4_header_checksum(ip, IPV4_HDR_BYTES));
}

/* Other stations of the same ports, or other flows. */
static void
readdress(struct bench *b)
{
	const struct switch_flows *f = &b->flows;

	for (unsigned int i = 0; i < FRAMES; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(f->pkts[i], uint8_t *);
		uint32_t r = prng_u32(&b->prng);

		if (b->scene == MANY_ROUTES) {
			set_flow(frame, r, f->in_port[i], f->out_port[i]);
			continue;
		}
		set_station(frame, r % (MACS / PORTS), f->out_port[i]);
		set_station(frame + 6, (r >> 16) % (MACS / PORTS), f->in_port[i]);
	}
}

static void
macswap_pass(struct bench *b)
{
	for (unsigned int i = 0; i < FRAMES; i += b->flows.burst)
		plain_macswap(b->pool, &b->peer_pkts[i], b->flows.burst);
}

/* What comes out goes where it once came from: the class is one, its queue first in, first out. */
static void
sched_take(struct bench *b)
{
	unsigned int at = (unsigned int)(b->peer_out % FRAMES), max_pkts = b->flows.burst;

	max_pkts = max_pkts < FRAMES - at ? max_pkts : FRAMES - at;
	b->peer_out += (unsigned int)rte_sched_port_dequeue(b->sched, &b->peer_pkts[at], max_pkts);
}

static void
sched_pass(struct bench *b)
{
	for (unsigned int i = 0; i < FRAMES; i += b->flows.burst) {
		for (unsigned int k = 0; k < b->flows.burst; k++)
			rte_sched_port_pkt_write(b->sched, b->peer_pkts[i + k], 0, 0,
						 RTE_SCHED_TRAFFIC_CLASS_BE, 0, RTE_COLOR_GREEN);
		b->peer_in += (unsigned int)rte_sched_port_enqueue(b->sched, &b->peer_pkts[i],
								   b->flows.burst);
		sched_take(b);
	}
	for (unsigned int tries = 0; b->peer_out < b->peer_in && tries < FRAMES; tries++)
		sched_take(b);
	bench_check(b->peer_in % FRAMES == 0 && b->peer_out == b->peer_in,
		    "rte_sched gives back what it took");
}

static double
round_many_mpps(void *arg)
{
	struct bench *b = arg;
	double begin, spent = 0;
	unsigned int passes = 0;

	for (; spent < SWITCH_FLOWS_ROUND_NS; passes++) {
		readdress(b);
		begin = bench_clock_ns();
		switch_flows_pass(&b->flows);
		spent += bench_clock_ns() - begin;
	}
	return 1e3 * passes * FRAMES / spent;
}

static double
peer_round_ns(void (*one_pass)(struct bench *), struct bench *b)
{
	double begin = bench_clock_ns(), spent;
	unsigned int passes = 0;

	do {
		one_pass(b);
		passes++;
		spent = bench_clock_ns() - begin;
	} while (spent < SWITCH_FLOWS_ROUND_NS);
	return spent / passes / FRAMES;
}

static double
round_macswap(void *arg)
{
	return peer_round_ns(macswap_pass, arg);
}

static double
round_sched(void *arg)
{
	return peer_round_ns(sched_pass, arg);
}

/* Each length with single frames and with bursts, beside another program. */
static void
compare_lengths(struct bench *b, const struct sw_pools *pools)
{
	static const uint16_t bursts[] = {1, SWITCH_FLOWS_BURST};
	static const uint16_t lengths[] = {SWITCH_FLOWS_SMALLEST, LONGEST};
	struct bench_side peers[] = {{"macswap loop with free and alloc (limit)", round_macswap, b},
				     {SCHED_PEER_NAME, round_sched, b}};
	char name[64];

	for (unsigned int l = 0; l < ARRAY_LEN(lengths); l++) {
		for (unsigned int i = 0; i < ARRAY_LEN(bursts); i++) {
			b->flows.burst = bursts[i];
			start(b, pools, lengths[l]);
			snprintf(name, sizeof(name), "switch rx to tx, %u B, bursts of %u",
				 lengths[l] + FCS_BYTES, bursts[i]);
			bench_compare((struct bench_side){name, switch_flows_round_ns, &b->flows},
				      peers[l], "ns/packet", ROUNDS);
			stop(b);
		}
	}
}

/* Beside bursts of 32 of the 64 flows. */
static void
compare_scene(struct bench *b, struct switch_flows *plain, const struct sw_pools *pools,
	      struct bench_side ours)
{
	start(b, pools, SWITCH_FLOWS_SMALLEST);
	if (b->scene == MANY_MACS)
		learn_stations(b);
	bench_compare(ours, (struct bench_side){SWITCH_FLOWS_NAME, switch_flows_round_mpps, plain},
		      "Mpps", ROUNDS);
	stop(b);
}

int
main(void)
{
	static struct switch_flows plain;
	static struct bench b;
	struct sw_pools pools;

	bench_eal(128);
	pools = switch_set_up_pools(4096, 2048, false);
	b.pool = pools.frames;
	/* RED looks at each frame, and begins beyond the burst: it is to drop none. */
	b.sched = sched_peer_create(2 * SWITCH_FLOWS_BURST);
	compare_lengths(&b, &pools);
	switch_flows_start_plain(&plain, &pools);
	b.flows.burst = 1;
	compare_scene(&b, &plain, &pools,
		      (struct bench_side){"switch, 64 B, single frames", switch_flows_round_mpps,
					  &b.flows});
	b.flows.burst = SWITCH_FLOWS_BURST;
	b.scene = MANY_MACS;
	compare_scene(&b, &plain, &pools,
		      (struct bench_side){"switch, 64 B, 65536 addresses", round_many_mpps, &b});
	b.scene = MANY_ROUTES;
	compare_scene(&b, &plain, &pools,
		      (struct bench_side){"switch, 64 B, 16384 routes, 65536 flows",
					  round_many_mpps, &b});
	b.flows.burst = 1;
	compare_scene(&b, &plain, &pools,
		      (struct bench_side){"switch, 64 B, 16384 routes, single frames",
					  round_many_mpps, &b});
	switch_flows_stop(&plain);
	rte_sched_port_free(b.sched);
	return EXIT_SUCCESS;
}
