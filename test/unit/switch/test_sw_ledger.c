/* SPDX-License-Identifier: BSD-3-Clause */
/* Random traffic with floods, drops, marks and pauses: nothing is lost from the books, nothing
 * overtakes. */
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "unit/switch/sw_test.h"

#define PORTS 5
#define STEPS 20000u
#define CLASSES 4

struct run {
	struct bench *b;
	struct prng r;
	uint64_t now_ns;
	uint32_t psn;                             /* grows with every frame made */
	uint32_t last_psn[PORTS][PORTS][CLASSES]; /* [egress][source][class] */
	uint64_t frames_out, pause_out, marked_out, deepest_bytes;
	uint8_t peer_xoff[PORTS]; /* as our PFC frames told it */
};

static const uint8_t class_dscp[CLASSES] = {0, 26, 48, 10};

static void
set_tight_buffer(struct sw_params *p, struct prng *r)
{
	p->mmu.buffer_bytes = 200000;
	p->mmu.cell_bytes = prng_below(r, 2) ? 208 : 0;
	p->mmu.lossless = (struct buffer_profile){
		.size_bytes = 1500,
		.dynamic = true,
		.dynamic_th = -1,
		.xon_offset_bytes = 3000,
		.xoff_bytes = prng_below(r, 2) ? 3000 : 12000,
	};
	p->mmu.lossy =
		(struct buffer_profile){.size_bytes = 1000, .dynamic = true, .dynamic_th = -2};
	p->mmu.egress_lossy =
		(struct buffer_profile){.size_bytes = 1518, .dynamic = true, .dynamic_th = -2};
	p->wred_queues = 0x0F;
	p->wred.green_min_threshold_bytes = 2000;
	p->wred.green_max_threshold_bytes = 20000;
	p->wred.green_drop_probability_ppm = 300000;
	p->mark_at = prng_below(r, 2) ? SW_MARK_AT_DEQUEUE : SW_MARK_AT_ENQUEUE;
	p->pfc_generate = prng_below(r, 4) > 0;
	p->shaper_burst_ns = prng_below(r, 2) ? 1 : 2000;
	p->fdb_entries = 8;
	p->fdb_ageing_s = 1;
	p->ports[4].shaper_rate_bps = 5 * GBPS;
}

static void
give_random(struct run *u, uint16_t port)
{
	uint64_t kind = prng_below(&u->r, 100);
	struct frame_spec s = {
		.src = (uint8_t)port,
		.dst = (uint8_t)prng_below(&u->r, PORTS + 2), /* two hosts nobody ever hears */
		.ecn = (uint8_t)prng_below(&u->r, 4),
		.dscp = class_dscp[prng_below(&u->r, CLASSES)],
		.ip_version = prng_below(&u->r, 4) == 0 ? 6 : 4,
		.payload_bytes = (uint16_t)(4 * (16 + prng_below(&u->r, 300))),
		.psn = u->psn++,
	};
	struct rte_mbuf *m;

	if (kind < 3) {
		give_pfc(u->b, port, (uint8_t)prng_u32(&u->r), (uint16_t)prng_below(&u->r, 300),
			 u->now_ns);
		return;
	}
	if (kind < 6)
		s.dst = BROADCAST_HOST;
	m = make_frame(u->b, &s);
	if (kind >= 97) { /* a broken byte anywhere in the headers */
		uint16_t at = (uint16_t)prng_below(&u->r, 34);

		rte_pktmbuf_mtod(m, uint8_t *)[at] ^= (uint8_t)(1 + prng_below(&u->r, 255));
	}
	if (kind == 96)
		m->pkt_len = m->data_len = (uint16_t)prng_below(&u->r, m->data_len);
	give(u->b, port, m, u->now_ns);
}

static void
check_data(struct run *u, uint16_t port, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view v = view_of(m); /* the IP checksum is right */
	struct roce_view r;
	uint32_t *last;
	unsigned int class = 0;

	u->frames_out++;
	assert_int_equal(m->nb_segs, 1);
	if (v.ip_version == 0 || roce_parse(frame, m->data_len, &v, true, &r) != ROCE_OK ||
	    frame[11] >= PORTS)
		return; /* broken where a bridge does not look */
	while (class < CLASSES - 1 && class_dscp[class] != v.dscp)
		class ++;
	if (v.dscp != class_dscp[class])
		return; /* broken, and in a queue of its own */
	u->marked_out += v.ecn == ECN_CE;
	last = &u->last_psn[port][frame[11]][class];
	assert_true(r.psn + 1 > *last); /* once, and in order */
	*last = r.psn + 1;
}

static void
take_all(struct run *u, uint16_t port)
{
	struct rte_mbuf *out[8];
	struct mac_control mc;
	uint16_t n = u->b->sw->ops->tx(u->b->sw, port, out, 8, u->now_ns);

	for (uint16_t i = 0; i < n; i++) {
		if (is_pfc(out[i], &mc)) {
			u->pause_out++;
			for (unsigned int p = 0; p < TM_CLASSES; p++) {
				uint8_t bit = (uint8_t)(1u << p);

				if (mc.enable & bit)
					u->peer_xoff[port] =
						(uint8_t)((u->peer_xoff[port] & ~bit) |
							  (mc.quanta[p] > 0 ? bit : 0));
			}
		} else {
			check_data(u, port, out[i]);
		}
		rte_pktmbuf_free(out[i]);
	}
}

static uint64_t
first_next_ns(const struct run *u)
{
	uint64_t first = NEVER_NS;

	for (uint16_t port = 0; port < PORTS; port++)
		first = next_ns(u->b, port) < first ? next_ns(u->b, port) : first;
	return first;
}

/* Let time go on until nothing waits but XOFF refreshes, of which there must be none then. */
static void
drain_all(struct run *u)
{
	unsigned int rounds = 0;

	for (uint64_t due = first_next_ns(u); due != NEVER_NS; due = first_next_ns(u)) {
		u->now_ns = due > u->now_ns ? due : u->now_ns;
		for (uint16_t port = 0; port < PORTS; port++)
			take_all(u, port);
		assert_true(rounds++ < 1000000);
	}
}

static void
check_books(const struct run *u)
{
	struct sw_ledger l = sw_ledger(u->b->sw);
	uint64_t queued = 0, dropped = 0;

	bench_sees_balance(u->b);
	for (uint16_t port = 0; port < PORTS; port++) {
		const struct sw_port_stats *s = sw_port_stats(u->b->sw, port);
		uint64_t malformed = 0;

		for (unsigned int v = 0; v < FRAME_VERDICTS; v++)
			malformed += s->malformed[v];
		assert_true(malformed == s->drops[SW_DROP_MALFORMED]);
		for (uint8_t q = 0; q < TM_CLASSES; q++) {
			assert_true(sw_queue_bytes(u->b->sw, port, q) ==
				    mmu_queue_bytes(sw_mmu(u->b->sw), port, q));
			queued += sw_queue_bytes(u->b->sw, port, q);
		}
	}
	dropped = all_drops(u->b);
	assert_true(l.queued == queued);
	assert_true((l.dropped > 0) == (dropped > 0));
	assert_true(mmu_used_bytes(sw_mmu(u->b->sw)) <= u->b->params.mmu.buffer_bytes);
}

static void
run_seed(struct bench *b, uint64_t seed, uint64_t reasons[SW_DROPS], uint64_t *pauses,
	 uint64_t *marks)
{
	static struct run u;

	memset(&u, 0, sizeof(u));
	u.b = b;
	prng_seed(&u.r, seed, 1);
	bench_defaults(&b->params, PORTS);
	set_tight_buffer(&b->params, &u.r);
	bench_start(b);
	print_message("seed %llu\n", (unsigned long long)seed);
	for (unsigned int step = 0; step < STEPS; step++) {
		unsigned int burst = (unsigned int)prng_below(&u.r, 4);

		u.now_ns += prng_below(&u.r, 400);
		for (unsigned int i = 0; i < burst; i++)
			give_random(&u, (uint16_t)prng_below(&u.r, PORTS));
		take_all(&u, (uint16_t)prng_below(&u.r, PORTS));
		if (step % 1000 == 0)
			b->sw->ops->control(b->sw, u.now_ns);
		if (step % 16 == 0)
			check_books(&u);
	}
	if (seed % 2 == 0) {
		drain_all(&u);
		check_books(&u);
		assert_int_equal(sw_ledger(b->sw).queued, 0);
		assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), 0);
		for (uint16_t port = 0; port < PORTS; port++)
			assert_int_equal(u.peer_xoff[port], 0); /* every XOFF found its XON */
	}
	for (unsigned int d = 0; d < SW_DROPS; d++) {
		for (uint16_t port = 0; port < PORTS; port++)
			reasons[d] += drops(b, port, (enum sw_drop)d);
	}
	*pauses += u.pause_out;
	*marks += u.marked_out;
	bench_stop(b); /* pools are full again, also when packets were still queued */
}

TEST(random_traffic_balances_and_keeps_its_order)
{
	static const enum sw_drop expected[] = {
		SW_DROP_MALFORMED,   SW_DROP_SAME_PORT, SW_DROP_BAD_SOURCE, SW_DROP_PG_LIMIT,
		SW_DROP_NO_HEADROOM, SW_DROP_WRED,      SW_DROP_QUEUE_LIMIT};
	uint64_t reasons[SW_DROPS] = {0}, pauses = 0, marks = 0;

	for (uint64_t seed = 1; seed <= 8; seed++)
		run_seed(&bench, seed, reasons, &pauses, &marks);
	/* The traffic has been where it was meant to go. */
	for (unsigned int i = 0; i < ARRAY_LEN(expected); i++) {
		if (reasons[expected[i]] == 0)
			fail_msg("no drop %s in all runs", sw_drop_name(expected[i]));
	}
	assert_true(pauses > 100 && marks > 100);
}

TEST(equal_seeds_make_equal_runs)
{
	uint64_t reasons[2][SW_DROPS] = {{0}}, pauses[2] = {0}, marks[2] = {0};

	for (unsigned int i = 0; i < 2; i++)
		run_seed(&bench, 11, reasons[i], &pauses[i], &marks[i]);
	assert_memory_equal(reasons[0], reasons[1], sizeof(reasons[0]));
	assert_int_equal(pauses[0], pauses[1]);
	assert_int_equal(marks[0], marks[1]);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
