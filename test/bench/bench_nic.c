/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a packet costs a NIC node: data sent by few and many QPs, data received, ACKs made and
 * taken. Calls are of one packet each, as the lab makes them, and of bursts, as a poll loop does;
 * the clock of the nodes is virtual, so that the link is never waited for. Beside each: the least
 * that a generator or a receiver does for as many frames of that length, in loops over all of them.
 */
#include <rte_mbuf.h>

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "bench.h"
#include "net_crc.h"
#include "nic_set_up.h"
#include "plain_loop.h"

#define FRAMES 512 /* in flight over and over: more than the first-level cache holds */
#define MTU 1024
#define ROUNDS 9
#define ROUND_FRAMES (256 * FRAMES)
#define LINK_BPS (100 * GBPS)
#define FRAME_NS 89 /* of 1106 wire bytes */
#define BURST 32
#define FRAME_BYTES 1082 /* MTU 1024, RC WRITE Middle, without FCS */
#define ACK_BYTES 62

struct bench {
	struct nic_pools pools;
	struct node *tx, *rx;
	uint64_t tx_now_ns, rx_now_ns;
	struct rte_mbuf *frames[FRAMES];
	struct rte_mbuf *acks[FRAMES];
	unsigned int n_acks;
	uint16_t burst;
	/* nanoseconds spent since the start of a round */
	double receive_ns, hear_ns;
	double plain_receive_ns, plain_hear_ns;
};

static volatile uint32_t sink;

struct scene {
	uint32_t qps;
	uint16_t burst;
	uint16_t ack_every;
	bool icrc_check;
};

static struct node *
create(const struct bench *b, const struct scene *scene, uint8_t host)
{
	struct nic_params p;
	struct node *node;

	nic_set_up_params(&p, host, LINK_BPS);
	/* A poll loop comes by once a burst, the lab once a frame. */
	p.shaper_burst_ns = scene->burst == 1 ? 1 : 3000;
	p.max_qps = scene->qps;
	p.icrc_check = scene->icrc_check;
	p.ack_every = scene->ack_every;
	p.window_packets = 1u << 22;
	p.local_ack_timeout = 20;
	node = nic_create(&p, &b->pools);
	bench_check(node != NULL, "nic_create");
	return node;
}

static void
add_qps(struct node *node, const struct scene *scene, uint8_t peer, bool requester)
{
	struct nic_qp_params qp = nic_set_up_qp(peer);
	struct prng r;

	qp.requester = requester;
	qp.depth = 1u << 12;
	/* Together they fill nearly all of the link, and each has to be paced. */
	qp.rate_cap_bps = LINK_BPS / 100 * 95 / scene->qps;
	prng_seed(&r, 1, 0);
	for (uint32_t i = 0; i < scene->qps; i++) {
		/* In an order that no prefetcher knows. */
		qp.start_ns = prng_below(&r, scene->qps * 100ull);
		qp.peer_qpn = 17 + i;
		bench_check(nic_add_qp(node, &qp, 0) >= 0, "nic_add_qp");
	}
}

static void
start(struct bench *b, const struct scene *scene)
{
	b->tx = create(b, scene, 1);
	b->rx = create(b, scene, 2);
	add_qps(b->tx, scene, 2, true);
	add_qps(b->rx, scene, 1, false);
	b->tx_now_ns = b->rx_now_ns = 0;
}

/* A frame that is refused or sent twice would be measured as one that is cheap. */
static void
check_clean(const struct node *node)
{
	const struct nic_stats *s = nic_stats(node);
	uint64_t faults = s->packet_seq_err + s->out_of_sequence + s->local_ack_timeout_err +
			  s->retransmitted_packets + s->qp_errors + s->no_mbuf;

	for (unsigned int i = 0; i < NIC_DROPS; i++)
		faults += s->drops[i];
	bench_check(faults == 0, "no frame lost, refused or repeated");
}

static void
stop(struct bench *b)
{
	check_clean(b->tx);
	check_clean(b->rx);
	nic_destroy(b->tx);
	nic_destroy(b->rx);
}

/* The next frame of a node that always has one. */
static void
take(struct node *node, uint64_t *now_ns, struct rte_mbuf **m)
{
	do {
		uint64_t next_ns = node->ops->next_ns(node, 0);

		bench_check(next_ns != NEVER_NS, "something to send");
		*now_ns = next_ns > *now_ns ? next_ns : *now_ns;
	} while (node->ops->tx(node, 0, m, 1, *now_ns) == 0);
}

/* As a poll loop does: the time of a burst passes, and the node gives what it has by then. */
static unsigned int
poll(struct bench *b, unsigned int max_pkts)
{
	uint16_t burst = max_pkts < BURST ? (uint16_t)max_pkts : BURST;

	b->tx_now_ns += BURST * FRAME_NS;
	return b->tx->ops->tx(b->tx, 0, &b->frames[FRAMES - max_pkts], burst, b->tx_now_ns);
}

static void
send_frames(struct bench *b, uint16_t burst)
{
	unsigned int n = 0;

	while (n < FRAMES) {
		if (burst == 1)
			take(b->tx, &b->tx_now_ns, &b->frames[n++]);
		else
			n += poll(b, FRAMES - n);
	}
}

/* Receive the frames; after each, send the ACK that it asked for, if it did. */
static void
receive_frames(struct bench *b, bool acks)
{
	double start_ns = bench_clock_ns();

	b->n_acks = 0;
	for (unsigned int i = 0; i < FRAMES; i++) {
		b->rx->ops->rx(b->rx, 0, &b->frames[i], 1, b->rx_now_ns);
		if (acks)
			take(b->rx, &b->rx_now_ns, &b->acks[b->n_acks++]);
	}
	b->receive_ns += bench_clock_ns() - start_ns;
}

static void
hear_acks(struct bench *b)
{
	double start_ns = bench_clock_ns();

	for (unsigned int i = 0; i < b->n_acks; i++)
		b->tx->ops->rx(b->tx, 0, &b->acks[i], 1, b->tx_now_ns);
	b->hear_ns += bench_clock_ns() - start_ns;
}

/* The same of the plain loops, over frames from the same pools. */
static void
plain_frames(struct bench *b, bool acks, bool crc)
{
	double start_ns;

	plain_generate(b->pools.data, b->frames, FRAMES, FRAME_BYTES);
	start_ns = bench_clock_ns();
	sink += plain_receive(b->frames, FRAMES, crc);
	if (acks)
		plain_generate(b->pools.control, b->acks, FRAMES, ACK_BYTES);
	b->plain_receive_ns += bench_clock_ns() - start_ns;
	if (!acks)
		return;
	start_ns = bench_clock_ns();
	sink += plain_receive(b->acks, FRAMES, false);
	b->plain_hear_ns += bench_clock_ns() - start_ns;
}

static double
round_send(void *arg)
{
	struct bench *b = arg;
	double start_ns = bench_clock_ns();

	for (unsigned int i = 0; i < ROUND_FRAMES; i += FRAMES) {
		send_frames(b, b->burst);
		rte_pktmbuf_free_bulk(b->frames, FRAMES);
	}
	return (bench_clock_ns() - start_ns) / ROUND_FRAMES;
}

static double
round_generate(void *arg)
{
	struct bench *b = arg;
	double start_ns = bench_clock_ns();

	for (unsigned int i = 0; i < ROUND_FRAMES; i += FRAMES) {
		plain_generate(b->pools.data, b->frames, FRAMES, FRAME_BYTES);
		rte_pktmbuf_free_bulk(b->frames, FRAMES);
	}
	return (bench_clock_ns() - start_ns) / ROUND_FRAMES;
}

static void
bench_send(struct bench *b, uint32_t qps, uint16_t burst)
{
	struct scene scene = {.qps = qps, .burst = burst, .ack_every = 1024};
	char name[64];

	start(b, &scene);
	b->burst = burst;
	snprintf(name, sizeof(name), "nic tx + free, %u QP%s, bursts of %u", qps,
		 qps == 1 ? "" : "s", burst);
	bench_compare((struct bench_side){name, round_send, b},
		      (struct bench_side){"plain generator loop (alloc, headers, free)",
					  round_generate, b},
		      "ns/packet", ROUNDS);
	stop(b);
}

static void
bench_receive(struct bench *b, bool acks, bool icrc_check)
{
	struct scene scene = {
		.qps = 16, .burst = 1, .ack_every = acks ? 1 : 1024, .icrc_check = icrc_check};
	double receive_ns[ROUNDS], hear_ns[ROUNDS], plain_ns[ROUNDS], plain_hear_ns[ROUNDS];
	int rounds = (int)bench_rounds(ROUNDS);
	char name[64], peer[64];

	start(b, &scene);
	/* The first round fills caches. */
	for (int round = -1; round < rounds; round++) {
		b->receive_ns = b->hear_ns = b->plain_receive_ns = b->plain_hear_ns = 0;
		for (unsigned int i = 0; i < ROUND_FRAMES; i += FRAMES) {
			send_frames(b, 1);
			receive_frames(b, acks);
			hear_acks(b);
		}
		for (unsigned int i = 0; i < ROUND_FRAMES; i += FRAMES)
			plain_frames(b, acks, icrc_check);
		if (round >= 0) {
			receive_ns[round] = b->receive_ns / ROUND_FRAMES;
			hear_ns[round] = b->hear_ns / ROUND_FRAMES;
			plain_ns[round] = b->plain_receive_ns / ROUND_FRAMES;
			plain_hear_ns[round] = b->plain_hear_ns / ROUND_FRAMES;
		}
	}
	stop(b);
	snprintf(name, sizeof(name), "nic rx%s, %s", acks ? " + ACK sent" : "",
		 icrc_check ? "ICRC verified" : "no ICRC check");
	snprintf(peer, sizeof(peer), "headers%s%s, free%s (limit)",
		 icrc_check ? ", rte_net_crc " : "", icrc_check ? net_crc_use_best() : "",
		 acks ? ", generate" : "");
	bench_print(name, bench_median(receive_ns, (unsigned int)rounds), "ns/packet", peer,
		    bench_median(plain_ns, (unsigned int)rounds));
	if (acks)
		bench_print("nic rx of an ACK", bench_median(hear_ns, (unsigned int)rounds),
			    "ns/packet", "headers, free (limit)",
			    bench_median(plain_hear_ns, (unsigned int)rounds));
}

int
main(void)
{
	static const uint32_t qps[] = {1, 1000, 100000};
	static struct bench b;

	bench_eal(64);
	net_crc_use_best();
	nic_set_up_pools(&b.pools, 4096, MTU, 2048);
	for (unsigned int i = 0; i < ARRAY_LEN(qps); i++) {
		bench_send(&b, qps[i], 1);
		bench_send(&b, qps[i], BURST);
	}
	bench_receive(&b, false, false);
	bench_receive(&b, false, true);
	bench_receive(&b, true, false);
	nic_set_up_pools_free(&b.pools);
	return EXIT_SUCCESS;
}
