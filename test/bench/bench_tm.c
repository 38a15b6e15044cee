/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the traffic manager costs a frame: all that it decides between arrival and departure (class,
 * admission on both sides, XOFF?, scheduler, WRED, release on both sides, XON?), beside rte_sched's
 * enqueue and dequeue; and one WRED decision beside rte_red's.
 */
#include <rte_mbuf.h>
#include <rte_red.h>
#include <rte_sched.h>

#include "../mmu_defaults.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "bench.h"
#include "sched_peer.h"
#include "tm/buffer/mmu_part.h"
#include "tm/pfc/pfc_rx.h"
#include "tm/pfc/pfc_tx.h"
#include "tm/classes/qos_map.h"
#include "tm/queue/sched.h"
#include "tm/queue/wred.h"

#define ROUNDS 15
#define ROUND_FRAMES 200000u
#define PORTS 4
#define BURST 32
#define FRAME_BYTES 1082 /* MTU 1024 */
#define MBUFS 4095

/* One egress port of a switch with four ingress ports; queues hold sizes and origins, not
 * packets. */
struct item {
	uint16_t port;
	uint8_t pg;
	uint8_t queue;
	uint32_t bytes;
};

struct egress {
	struct qos_map_params qos;
	struct mmu *mmu;
	struct sched sched;
	struct wred wred;
	struct pfc_rx pfc_rx;
	struct pfc_tx pfc_tx[PORTS];
	struct prng prng;
	struct item fifo[TM_CLASSES][256];
	uint8_t head[TM_CLASSES], tail[TM_CLASSES]; /* run over 256 on their own */
	uint8_t backlogged;
	uint64_t queue_bytes[TM_CLASSES];
	uint64_t now_ns, marked, sent;
};

static void
tm_start(struct egress *tm)
{
	struct mmu_params mmu = mmu_defaults();
	struct sched_params sched;
	struct wred_params wred;
	struct pfc_params pfc;
	static const uint8_t all_in_one[MMU_MAX_PORTS];
	int rc = 0;

	memset(tm, 0, sizeof(*tm));
	mmu.n_ports = PORTS;
	memset(mmu.lossless_pgs, 8, sizeof(mmu.lossless_pgs));
	memset(mmu.lossless_queues, 8, sizeof(mmu.lossless_queues));
	rc |= field_defaults(qos_map_fields, qos_map_fields_n, &tm->qos);
	rc |= field_defaults(sched_fields, sched_fields_n, &sched);
	rc |= field_defaults(wred_fields, wred_fields_n, &wred);
	rc |= field_defaults(pfc_fields, pfc_fields_n, &pfc);
	bench_check(rc == 0, "defaults");
	tm->mmu = mmu_create_parts(&mmu, 1, all_in_one);
	bench_check(tm->mmu != NULL, "mmu_create_parts");
	sched_set_params(&tm->sched, &sched);
	wred_init(&tm->wred, &wred);
	pfc_rx_init(&tm->pfc_rx, tm->qos.pfc_enable, 40 * GBPS);
	for (int i = 0; i < PORTS; i++)
		pfc_tx_init(&tm->pfc_tx[i], &pfc, 40 * GBPS);
	prng_seed(&tm->prng, 1, 0);
}

static void
ask_xoff(struct egress *tm, uint16_t port, uint8_t pg)
{
	bool xoff = pfc_tx_is_xoff(&tm->pfc_tx[port], pg);
	bool wanted = mmu_pg_wants_xoff(tm->mmu, port, pg, xoff);

	if (wanted != xoff)
		pfc_tx_set(&tm->pfc_tx[port], pg, wanted, tm->now_ns);
}

static void
tm_enqueue(struct egress *tm, uint16_t port, int dscp)
{
	struct qos_class c = qos_map_classify(&tm->qos, dscp, -1);
	uint32_t bytes = mmu_charge_bytes(tm->mmu, FRAME_BYTES);

	bench_check(mmu_admitted(mmu_ingress_admit(tm->mmu, port, c.pg, bytes)),
		    "ingress admission");
	bench_check(mmu_admitted(mmu_egress_admit(tm->mmu, 0, c.queue, bytes)), "egress admission");
	tm->fifo[c.queue][tm->tail[c.queue]++] = (struct item){port, c.pg, c.queue, bytes};
	tm->queue_bytes[c.queue] += bytes;
	tm->backlogged |= (uint8_t)(1u << c.queue);
	ask_xoff(tm, port, c.pg);
}

static void
tm_dequeue(struct egress *tm)
{
	uint8_t paused = qos_map_paused_queues(&tm->qos, pfc_rx_paused(&tm->pfc_rx, tm->now_ns));
	int q = sched_pick(&tm->sched, tm->backlogged & (uint8_t)~paused);
	struct item it = tm->fifo[q][tm->head[q]++];

	tm->queue_bytes[q] -= it.bytes;
	if (tm->head[q] == tm->tail[q])
		tm->backlogged &= (uint8_t) ~(1u << q);
	sched_charge(&tm->sched, (uint8_t)q, it.bytes + GAP_BYTES, tm->backlogged >> q & 1);
	if (q == 3)
		tm->marked += wred_hit(&tm->wred, tm->queue_bytes[q], prng_u32(&tm->prng));
	mmu_egress_release(tm->mmu, 0, it.queue, it.bytes);
	mmu_ingress_release(tm->mmu, it.port, it.pg, it.bytes, 1);
	ask_xoff(tm, it.port, it.pg);
	tm->now_ns += 220;
	tm->sent++;
}

/* Bursts in, bursts out, two bursts standing in the queues: RoCE, and a CNP and a bulk frame in 8
 * each. */
static void
tm_burst_in(struct egress *tm)
{
	static const int8_t dscp[8] = {26, 26, 48, 26, 26, 0, 24, 26};

	for (unsigned int i = 0; i < BURST; i++)
		tm_enqueue(tm, (uint16_t)(i / 8), dscp[i % 8]);
}

static double
tm_round_ns(void *arg)
{
	struct egress *tm = arg;
	double start = bench_clock_ns();

	for (unsigned int n = 0; n < ROUND_FRAMES; n += BURST) {
		tm_burst_in(tm);
		for (unsigned int i = 0; i < BURST; i++)
			tm_dequeue(tm);
	}
	return (bench_clock_ns() - start) / ROUND_FRAMES;
}

struct peer {
	struct rte_sched_port *port;
	struct rte_mempool *pool;
};

static void
peer_start(struct peer *peer)
{
	peer->port = sched_peer_create(5);
	peer->pool = rte_pktmbuf_pool_create("bench", MBUFS, 0, 0, 2048, SOCKET_ID_ANY);
	bench_check(peer->pool != NULL, "rte_pktmbuf_pool_create");
}

/* Takes mbufs from the pool as a receiving driver does, and gives each its class. */
static void
peer_burst_in(struct peer *peer)
{
	struct rte_mbuf *pkts[BURST];

	bench_check(rte_pktmbuf_alloc_bulk(peer->pool, pkts, BURST) == 0, "mbufs");
	for (unsigned int i = 0; i < BURST; i++) {
		pkts[i]->pkt_len = pkts[i]->data_len = FRAME_BYTES - FCS_BYTES;
		rte_sched_port_pkt_write(peer->port, pkts[i], 0, 0,
					 i % 8 == 2 ? 0 : RTE_SCHED_TRAFFIC_CLASS_BE,
					 i % 8 == 5 ? 1 : 0, RTE_COLOR_GREEN);
	}
	rte_sched_port_enqueue(peer->port, pkts, BURST);
}

static double
peer_round_ns(void *arg)
{
	struct peer *peer = arg;
	double start = bench_clock_ns();
	uint64_t out = 0;
	struct rte_mbuf *pkts[BURST];

	for (unsigned int n = 0; n < ROUND_FRAMES; n += BURST) {
		int got;

		peer_burst_in(peer);
		got = rte_sched_port_dequeue(peer->port, pkts, BURST);
		if (got > 0)
			rte_pktmbuf_free_bulk(pkts, (unsigned int)got);
		out += (uint64_t)got;
	}
	bench_check(out * 10 > ROUND_FRAMES * 9ull, "rte_sched: passing nine frames in ten");
	return (bench_clock_ns() - start) / ROUND_FRAMES;
}

/* A queue that wanders over the curve: the same lengths for both, in frames for rte_red. */
#define LENGTHS 1024
static uint16_t lengths[LENGTHS];
static volatile uint64_t sink;

static double
wred_round_ns(void *arg)
{
	struct wred *w = arg;
	struct prng r;
	uint64_t hits = 0;
	double start;

	prng_seed(&r, 3, 0);
	start = bench_clock_ns();
	for (unsigned int i = 0; i < ROUND_FRAMES; i++)
		hits += wred_hit(w, lengths[i % LENGTHS] * 1082u, prng_u32(&r));
	sink += hits;
	return (bench_clock_ns() - start) / ROUND_FRAMES;
}

struct red_peer {
	struct rte_red_config config;
	struct rte_red red;
};

static double
red_round_ns(void *arg)
{
	struct red_peer *peer = arg;
	double start = bench_clock_ns();
	uint64_t hits = 0;

	for (unsigned int i = 0; i < ROUND_FRAMES; i++)
		hits += rte_red_enqueue(&peer->config, &peer->red, lengths[i % LENGTHS], i) != 0;
	sink += hits;
	return (bench_clock_ns() - start) / ROUND_FRAMES;
}

int
main(void)
{
	static struct egress tm;
	struct red_peer red;
	struct peer peer;

	bench_eal(64);
	tm_start(&tm);
	tm_burst_in(&tm);
	tm_burst_in(&tm);
	peer_start(&peer);
	peer_burst_in(&peer);
	peer_burst_in(&peer);
	bench_check(rte_red_config_init(&red.config, 9, 5, 185, 100) == 0, "rte_red_config_init");
	bench_check(rte_red_rt_data_init(&red.red) == 0, "rte_red_rt_data_init");
	for (unsigned int i = 0; i < LENGTHS; i++)
		lengths[i] = (uint16_t)(1 + prng_below(&tm.prng, 150));
	bench_compare((struct bench_side){"tm, one frame in and out", tm_round_ns, &tm},
		      (struct bench_side){SCHED_PEER_NAME, peer_round_ns, &peer}, "ns/frame",
		      ROUNDS);
	bench_check(mmu_balanced(tm.mmu) && tm.sent > 0, "balance of the buffer");
	bench_compare((struct bench_side){"wred_hit", wred_round_ns, &tm.wred},
		      (struct bench_side){"rte_red_enqueue", red_round_ns, &red}, "ns/frame",
		      ROUNDS);
	mmu_destroy(tm.mmu);
	rte_sched_port_free(peer.port);
	return EXIT_SUCCESS;
}
