/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch node at its worst: 32 ports, all eight queues of each backlogged, every queue with a
 * marking curve that is met, two lossless groups a port about their XOFF limit, so that pauses and
 * resumes are sent. Frames come back in after they went out; the harness that carries them is in
 * the figure. Beside it rte_sched, which has one port, one queue's worth of backlog and no buffer,
 * and the switch without backlog.
 */
#include <assert.h>
#include <rte_mbuf.h>
#include <rte_sched.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "wire/bytes/checksum.h"
#include "bench.h"
#include "sched_peer.h"
#include "switch_flows.h"
#include "switch_set_up.h"
#include "tm/buffer/mmu.h"

#define PORTS 32
#define PER_GROUP 31 /* frames of one ingress port and class: one to each other port */
#define PER_PORT (PER_GROUP * TM_CLASSES)
#define RING 256u /* holds the frames of a port, and stays in the cache; a power of two */
#define FRAMES (PORTS * PER_PORT)
#define FRAME_LEN 60 /* without FCS */
#define BURST 32
#define ROUNDS 9
#define ROUND_NS 20e6

struct ring {
	struct rte_mbuf *pkts[RING];
	unsigned int head, tail; /* run over */
};
static_assert(RING >= PER_PORT && (RING & (RING - 1)) == 0, "frames of a port; wraps");

struct bench {
	struct node *sw;
	struct ring waiting[PORTS]; /* for their turn to come in again */
	uint64_t now_ns, carried, pauses;
	struct rte_sched_port *sched;
	struct rte_mbuf *peer_pkts[512];
};

static const uint8_t dscp_of_class[TM_CLASSES] = {0, 8, 16, 24, 32, 40, 46, 48};

static void
set_params(struct sw_params *p)
{
	switch_set_up_params(p, PORTS);
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		p->qos.dscp_to_tc_map[dscp_of_class[i]] = (uint8_t)i;
		p->qos.tc_to_priority_group_map[i] = (uint8_t)i;
		p->sched.dwrr_weight[i] = 10;
	}
	p->sched.strict_queues = 0; /* a backlogged strict queue would starve the others */
	p->qos.pfc_enable = 1 << 3 | 1 << 4;
	p->wred_queues = 0xff;
	p->wred.green_min_threshold_bytes = 4 * MIN_FRAME_BYTES;
	p->wred.green_max_threshold_bytes = 64 * MIN_FRAME_BYTES;
	p->mmu.lossless.dynamic = false;
	p->mmu.lossless.static_th_bytes = (PER_GROUP - 1) * MIN_FRAME_BYTES;
	p->mmu.lossless.xon_bytes = (PER_GROUP - 2) * MIN_FRAME_BYTES;
}

static struct rte_mbuf *
make_frame(struct rte_mempool *pool, uint16_t in, uint16_t out, unsigned int class)
{
	const uint8_t start[] = {2,    0,
				 0,    0,
				 0,    (uint8_t)out,
				 2,    0,
				 0,    0,
				 0,    (uint8_t)in,
				 8,    0,
				 0x45, (uint8_t)(dscp_of_class[class] << 2 | ECN_ECT0),
				 0,    FRAME_LEN - ETH_HDR_BYTES,
				 0,    0,
				 0,    0,
				 64,   17};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *frame;
	uint16_t sum;

	bench_check(m != NULL, "taking an mbuf");
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	m->data_len = FRAME_LEN;
	m->pkt_len = FRAME_LEN;
	memset(frame, 0, FRAME_LEN);
	memcpy(frame, start, sizeof(start));
	frame[26] = frame[30] = 10;
	frame[29] = (uint8_t)in;
	frame[33] = (uint8_t)out;
	sum = ipv4_header_checksum(frame + ETH_HDR_BYTES, IPV4_HDR_BYTES);
	frame[24] = (uint8_t)(sum >> 8);
	frame[25] = (uint8_t)sum;
	m->port = in;
	return m;
}

static void
put(struct ring *r, struct rte_mbuf *m)
{
	r->pkts[r->tail++ % RING] = m;
}

static void
come_in(struct bench *b, uint16_t port, unsigned int at_most)
{
	struct ring *r = &b->waiting[port];
	struct rte_mbuf *pkts[BURST];
	uint16_t n = 0;

	while (n < at_most && r->head != r->tail)
		pkts[n++] = r->pkts[r->head++ % RING];
	b->sw->ops->rx(b->sw, port, pkts, n, b->now_ns);
}

static void
go_out(struct bench *b, uint16_t port)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t n = b->sw->ops->tx(b->sw, port, pkts, BURST, b->now_ns);

	for (uint16_t i = 0; i < n; i++) {
		if (unlikely(pkts[i]->port >= PORTS)) {
			b->pauses++;
			rte_pktmbuf_free(pkts[i]);
			continue;
		}
		put(&b->waiting[pkts[i]->port], pkts[i]);
		b->carried++;
	}
}

static void
start(struct bench *b, const struct sw_pools *pools)
{
	static struct sw_params params;

	set_params(&params);
	b->sw = switch_set_up(&params, pools);
	for (uint16_t port = 0; port < PORTS; port++)
		sw_learn(b->sw, 0, (const uint8_t[6]){2, 0, 0, 0, 0, (uint8_t)port}, port, 0);
	for (unsigned int i = 0; i < FRAMES; i++) {
		uint16_t in = (uint16_t)(i / PER_PORT);
		/* Neighbours are of one flow for four frames, then of the next class. */
		uint16_t out = (uint16_t)((in + 1 + i % PER_PORT / TM_CLASSES) % PORTS);

		put(&b->waiting[in], make_frame(pools->frames, in, out, i % TM_CLASSES));
	}
	for (uint16_t port = 0; port < PORTS; port++) {
		while (b->waiting[port].head != b->waiting[port].tail)
			come_in(b, port, BURST);
	}
}

static double
round_switch(void *arg)
{
	struct bench *b = arg;
	double begin = bench_clock_ns(), spent;
	uint64_t carried = b->carried;

	do {
		for (uint16_t port = 0; port < PORTS; port++) {
			b->now_ns += NS_PER_US;
			go_out(b, port);
			come_in(b, port, BURST);
		}
		spent = bench_clock_ns() - begin;
	} while (spent < ROUND_NS);
	return spent / (double)(b->carried - carried);
}

static double
round_mpps(void *arg)
{
	return 1e3 / round_switch(arg);
}

static double
round_sched(void *arg)
{
	struct bench *b = arg;
	double begin = bench_clock_ns(), spent;
	uint64_t carried = 0;

	do {
		for (unsigned int i = 0; i < ARRAY_LEN(b->peer_pkts); i += BURST) {
			for (unsigned int k = 0; k < BURST; k++)
				rte_sched_port_pkt_write(b->sched, b->peer_pkts[i + k], 0, 0,
							 RTE_SCHED_TRAFFIC_CLASS_BE, 0,
							 RTE_COLOR_GREEN);
			rte_sched_port_enqueue(b->sched, &b->peer_pkts[i], BURST);
			carried +=
				(uint64_t)rte_sched_port_dequeue(b->sched, &b->peer_pkts[i], BURST);
		}
		spent = bench_clock_ns() - begin;
	} while (spent < ROUND_NS);
	return spent / (double)carried;
}

static void
check_backlog(const struct bench *b)
{
	struct sw_ledger l = sw_ledger(b->sw);
	uint64_t marked = 0;

	for (uint16_t port = 0; port < PORTS; port++) {
		for (uint8_t queue = 0; queue < TM_CLASSES; queue++) {
			bench_check(sw_queue_bytes(b->sw, port, queue) > 0,
				    "every queue backlogged");
			marked += sw_port_stats(b->sw, port)->queue[queue].ecn_marked_packets;
		}
	}
	bench_check(marked > 0 && b->pauses > 0, "marks and pauses");
	bench_check(l.in + l.generated == l.sent + l.queued && l.dropped == 0 &&
			    mmu_balanced(sw_mmu(b->sw)),
		    "no frame lost, every byte accounted for");
}

int
main(void)
{
	static struct switch_flows plain;
	static struct bench b;
	struct sw_pools pools;

	bench_eal(64);
	pools = switch_set_up_pools(16383, 256, false);
	start(&b, &pools);
	switch_flows_start_plain(&plain, &pools);
	b.sched = sched_peer_create(2 * BURST);
	for (unsigned int i = 0; i < ARRAY_LEN(b.peer_pkts); i++)
		b.peer_pkts[i] = make_frame(pools.frames, 0, 1, 0);
	bench_compare((struct bench_side){"switch rx to tx, 64 B, 32 ports, 8 queues backlogged, "
					  "ECN and PFC",
					  round_switch, &b},
		      (struct bench_side){SCHED_PEER_NAME, round_sched, &b}, "ns/packet", ROUNDS);
	bench_compare(
		(struct bench_side){"switch, 64 B, 32 ports, 8 queues backlogged", round_mpps, &b},
		(struct bench_side){SWITCH_FLOWS_NAME, switch_flows_round_mpps, &plain}, "Mpps",
		ROUNDS);
	check_backlog(&b);
	switch_flows_stop(&plain);
	sw_destroy(b.sw);
	rte_sched_port_free(b.sched);
	return EXIT_SUCCESS;
}
