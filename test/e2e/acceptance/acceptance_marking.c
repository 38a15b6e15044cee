/* SPDX-License-Identifier: BSD-3-Clause */
/* The marking curve and the marking point, mark by mark. */
#include "acceptance.h"
#include "base/numbers/prng.h"
#include "tm/queue/mark_accuracy.h"

#define SEED 20150817
#define MIN_FRAMES 10
#define MAX_FRAMES 50

/* 20 % at 50 frames, nothing up to 10. */
static struct bench *
marking_bench(void)
{
	struct bench *b = acceptance_bench(2);

	b->params.mmu.lossless.static_th_bytes = 0;
	b->params.seed = SEED;
	b->params.mark_accuracy = true;
	b->params.wred_queues = 1 << 3;
	b->params.wred.green_min_threshold_bytes = MIN_FRAMES * DATA_BYTES;
	b->params.wred.green_max_threshold_bytes = MAX_FRAMES * DATA_BYTES;
	b->params.wred.green_drop_probability_ppm = 200000;
	return b;
}

/* Of a queue with this many frames behind the one that leaves, in the paper's words. */
static double
curve(unsigned int frames)
{
	if (frames <= MIN_FRAMES)
		return 0;
	return frames > MAX_FRAMES ? 1 : 0.2 * (frames - MIN_FRAMES) / (MAX_FRAMES - MIN_FRAMES);
}

/*
 * The queue is held at one length after another: for each frame that leaves one comes. Each mark is
 * known beforehand from the seed, one draw a frame; and over all of them the share at each length
 * is the curve's, within four standard deviations.
 */
TEST(marks_are_those_of_the_curve_at_every_length)
{
	const unsigned int per_length = 2000;
	struct bench *b = marking_bench();
	uint8_t shard_of_port[SW_MAX_PORTS];
	uint64_t now_ns = 0;
	struct prng r;

	bench_start_learnt(b);
	/* Each shard draws numbers of its own. */
	sw_shards_deal(&b->params, shard_of_port);
	prng_seed(&r, SEED, shard_of_port[1]);
	give(b, 0, make_data(b, 0, 1, 0), now_ns);
	for (unsigned int behind = 1; behind <= MAX_FRAMES + 2; behind++) {
		double p = curve(behind), marks = 0, spread = per_length * p * (1 - p);

		give(b, 0, make_data(b, 0, 1, 0), now_ns);
		for (unsigned int i = 0; i < per_length; i++) {
			struct rte_mbuf *m = take_next(b, 1, &now_ns);
			bool expected = prng_u32(&r) < p * 4294967296.0;

			assert_int_equal(view_of(m).ecn == ECN_CE, expected);
			marks += expected;
			sent(m);
			give(b, 0, make_data(b, 0, 1, 0), now_ns);
		}
		marks -= per_length * p;
		assert_true(marks * marks <= 16 * spread);
	}
	drain(b, 1, &now_ns);
	bench_stop(b);
}

/* The report of the same: bins add up, and hold what the curve says of the lengths that they
 * met. */
TEST(accuracy_report_agrees_with_marks_and_curve)
{
	const struct mark_accuracy *a;
	struct bench *b = marking_bench();
	uint64_t now_ns = 0, packets = 0, marked = 0, seen = 0, max_seen = 0;

	bench_start_learnt(b);
	for (unsigned int round = 0; round < 40; round++) {
		for (unsigned int i = 0; i < MAX_FRAMES + 10; i++)
			give(b, 0, make_data(b, 0, 1, i), now_ns);
		for (struct rte_mbuf *m; (m = take_next(b, 1, &now_ns)) != NULL; sent(m))
			seen += view_of(m).ecn == ECN_CE;
	}
	a = sw_mark_accuracy(b->sw, 1, 3);
	assert_non_null(a);
	assert_null(sw_mark_accuracy(b->sw, 1, 0));
	for (unsigned int i = 0; i < MARK_BINS; i++) {
		const struct mark_bin *bin = &a->bins[i];
		uint64_t upper = mark_bin_upper_bytes(sw_mark_curve(b->sw, 1, 3), i);
		double expected = 0;
		unsigned int met = 0;

		for (unsigned int behind = 0; behind < MAX_FRAMES + 10; behind++) {
			uint64_t bytes = behind * (uint64_t)DATA_BYTES;

			if (bytes > upper || (i > 0 && bytes <= max_seen))
				continue;
			expected += 40 * curve(behind);
			met++;
		}
		max_seen = upper;
		assert_int_equal(bin->packets, 40 * met);
		/* To a millionth: the sum of 32-bit fractions, each rounded down. */
		assert_true(bin->expected_q32 / 4294967296.0 - expected < 1e-6);
		assert_true(expected - bin->expected_q32 / 4294967296.0 < 1e-5);
		packets += bin->packets;
		marked += bin->marked;
	}
	assert_int_equal(packets, 40 * (MAX_FRAMES + 10));
	assert_int_equal(marked, seen);
	assert_int_equal(marked, sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets);
	bench_stop(b);
}

/* Which of n frames that were held and let go are CE, as a string of marks. */
static void
marks_of_burst(struct bench *b, unsigned int n, char *marks)
{
	uint64_t now_ns = 0;

	hold(b, 1, 3, 0);
	for (unsigned int i = 0; i < n; i++)
		give(b, 0, make_data(b, 0, 1, i), 0);
	let_go(b, 1, 3, 0);
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = take_next(b, 1, &now_ns);

		assert_int_equal(roce_of(m).psn, i);
		marks[i] = roce_of(m).ecn == ECN_CE ? 'M' : '-';
		sent(m);
	}
	marks[n] = '\0';
}

/* Cut-off marking: min = max = 4 frames, probability 1. */
TEST(cut_off_marks_at_departure_the_first_and_not_the_last)
{
	static const struct {
		int mark_at;
		const char *marks;
	} rows[] = {
		/* Of ten, packet i has 10 - i behind it: five have more than four. */
		{SW_MARK_AT_DEQUEUE, "MMMMM-----"},
		/* At arrival packet i finds i - 1 before it. */
		{SW_MARK_AT_ENQUEUE, "-----MMMMM"},
	};

	for (unsigned int i = 0; i < 2; i++) {
		struct bench *b = marking_bench();
		char marks[16];

		b->params.mark_at = rows[i].mark_at;
		b->params.wred.green_min_threshold_bytes = 4 * DATA_BYTES;
		b->params.wred.green_max_threshold_bytes = 4 * DATA_BYTES;
		b->params.wred.green_drop_probability_ppm = 1000000;
		bench_start_learnt(b);
		marks_of_burst(b, 10, marks);
		assert_string_equal(marks, rows[i].marks);
		bench_stop(b);
	}
}

/* avg += (q - avg) / 4: a burst is over before the average has seen it. */
TEST(average_marks_later_than_the_queue_itself)
{
	struct bench *b = marking_bench();
	char marks[32];

	b->params.wred.wred_weight = 2;
	b->params.wred.green_min_threshold_bytes = 4 * DATA_BYTES;
	b->params.wred.green_max_threshold_bytes = 4 * DATA_BYTES;
	bench_start_learnt(b);
	/*
	 * Behind 9 8 7 6 5 4 3 2 1 0: averages in frames 2.25 3.69 4.52 4.89 4.92 4.69 4.27 3.70
	 * 3.02 2.27.
	 */
	marks_of_burst(b, 10, marks);
	assert_string_equal(marks, "--MMMMM---");
	bench_stop(b);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
