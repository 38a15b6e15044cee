/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion time, slowdown and round-trip time, held against times that the cable saw. */
#include <stdlib.h>

#include "unit/nic/nic_test.h"

#include "base/numbers/fixed.h"
#include "nic/observe/flow_info.h"

#define LINK_BPS (40 * GBPS)
/* Wire bytes over IPv4: Eth, IP, UDP, BTH, [RETH], payload, ICRC, FCS, gap. */
#define HEADERS (14u + 20u + 8u + 12u + 4u + 4u + 20u)
#define RETH 16u
#define ACK_WIRE (HEADERS + 4u)
#define MOST_MESSAGES 4096

/* What the cable saw, by message: when its last packet left, when the ACK of it was back. */
static struct {
	uint64_t sent_ns[MOST_MESSAGES], acked_ns[MOST_MESSAGES];
	uint32_t end_psn[MOST_MESSAGES]; /* of its last packet */
	uint32_t sent, acked;
} seen;

static uint64_t
ser_ns(uint32_t wire)
{
	return serialization_ns(wire, LINK_BPS);
}

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	bool last = v->opcode == RC_WRITE_LAST || v->opcode == RC_WRITE_ONLY;

	(void)n;
	if (from == 0 && last && seen.sent < MOST_MESSAGES) {
		seen.end_psn[seen.sent] = v->psn;
		seen.sent_ns[seen.sent++] = p->now_ns;
	}
	while (from == 1 && v->opcode == RC_ACK && seen.acked < seen.sent &&
	       psn_diff(v->psn, seen.end_psn[seen.acked]) >= 0)
		seen.acked_ns[seen.acked++] = p->now_ns + PAIR_DELAY_NS + ser_ns(ACK_WIRE);
	return FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, watch, &seen, sizeof(seen));
	return 0;
}

static const struct nic_times *
run_one_flow(const struct nic_qp_params *qp, uint64_t until_ns)
{
	const struct nic_times *times;

	pair_create(&pair, 512);
	pair_connect(&pair, qp);
	pair_run(&pair, until_ns);
	times = nic_flow_times(pair.nic[0], 0);
	assert_non_null(times);
	/* Whoever only answers completes nothing. */
	assert_null(nic_flow_times(pair.nic[1], 0));
	return times;
}

TEST(one_packet_on_an_idle_link_takes_both_ways_to_the_nanosecond)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint64_t want_ns =
		ser_ns(HEADERS + RETH + 1024) + PAIR_DELAY_NS + ser_ns(ACK_WIRE) + PAIR_DELAY_NS;
	const struct nic_times *t;

	qp.message_bytes = 1024;
	qp.messages = 1;
	qp.base_rtt_ns = want_ns;
	t = run_one_flow(&qp, NEVER_NS);
	assert_int_equal(t->completion_ns.count, 1);
	assert_int_equal(t->ideal_from, NIC_IDEAL_FROM_BASE_RTT);
	assert_int_equal(t->completion_ns.max, want_ns);
	assert_int_equal(t->rtt_ns.count, 1);
	assert_int_equal(t->rtt_ns.max, want_ns);
	assert_int_equal(t->least_rtt_ns, want_ns);
	assert_int_equal(t->slowdown_milli.max, 1000);
	assert_int_equal(pair_info(&pair, 0, 0).rtt_ns, want_ns);
	assert_int_equal(pair_info(&pair, 0, 0).completion_max_ns, want_ns);
	pair_destroy(&pair);
}

TEST(many_packets_on_an_idle_link_are_not_slowed_down)
{
	struct nic_qp_params qp = nic_test_qp(0);
	/* 999 full packets, then one that takes the round trip; the shaper carries remainders. */
	uint64_t before_ns = ser_ns(999 * (HEADERS + 1024) + RETH);
	uint64_t rtt_ns = ser_ns(HEADERS + 1024) + PAIR_DELAY_NS + ser_ns(ACK_WIRE) + PAIR_DELAY_NS;
	const struct nic_times *t;

	qp.message_bytes = 1000 * 1024;
	qp.messages = 3;
	qp.depth = 1;
	qp.base_rtt_ns = rtt_ns;
	t = run_one_flow(&qp, NEVER_NS);
	assert_int_equal(t->completion_ns.count, 3);
	assert_in_range(t->completion_ns.max, before_ns + rtt_ns - 1, before_ns + rtt_ns + 1);
	assert_int_equal(t->slowdown_milli.count, 3);
	assert_int_equal(t->slowdown_milli.max, 1000);
	assert_int_equal(t->slowdown_milli.sum, 3000);
	pair_destroy(&pair);
}

static int
ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The histogram holds these times. */
static void
expect_times(const struct hist *h, uint64_t *ns, uint32_t n)
{
	static const double pcts[] = {50, 95, 99, 99.9};
	uint64_t sum = 0;

	qsort(ns, n, sizeof(*ns), ascending);
	for (uint32_t i = 0; i < n; i++)
		sum += ns[i];
	assert_int_equal(h->count, n);
	assert_int_equal(h->sum, sum);
	assert_int_equal(h->max, ns[n - 1]);
	for (unsigned int i = 0; i < 4; i++) {
		/* The smallest time that so many do not exceed. */
		uint32_t rank = (uint32_t)(((uint64_t)(pcts[i] * 10) * n + 999) / 1000);
		uint64_t exact = ns[rank - 1], got = hist_quantile(h, pcts[i]);

		assert_true(got >= exact);
		assert_true(got - exact <= exact / 128);
	}
}

TEST(a_closed_loop_is_timed_from_when_depth_lets_the_qp_turn_to_it)
{
	static uint64_t ns[2000];
	struct nic_qp_params qp = nic_test_qp(0);
	const struct nic_times *t;

	qp.message_size = WORKLOAD_UNIFORM;
	qp.message_min_bytes = 0;
	qp.message_bytes = 20000;
	qp.messages = 2000;
	qp.depth = 3;
	t = run_one_flow(&qp, NEVER_NS);
	assert_int_equal(seen.acked, 2000);
	for (uint32_t m = 0; m < 2000; m++) {
		uint64_t begun_ns = m == 0 ? 0 : seen.sent_ns[m - 1];

		if (m >= 3 && seen.acked_ns[m - 3] > begun_ns)
			begun_ns = seen.acked_ns[m - 3];
		ns[m] = seen.acked_ns[m] - begun_ns;
	}
	expect_times(&t->completion_ns, ns, 2000);
	pair_destroy(&pair);
}

/*
 * M/D/1 at half load: each message is one packet, which takes as long as every other; the source
 * serves them in order. Lindley's recursion from the arrivals gives each of them; theory the mean
 * wait, rho / (2 (1 - rho)) of the service time.
 */
TEST(an_open_loop_counts_the_wait_at_the_source)
{
	static uint64_t ns[MOST_MESSAGES];
	uint32_t wire = HEADERS + RETH + 1024;
	struct nic_qp_params qp = nic_test_qp(0);
	uint64_t arrival_ns = 0, free_ns = 0, wait_ns = 0, rest_ns;
	const struct nic_times *t;
	uint32_t n;

	qp.message_bytes = 1024;
	qp.messages = MOST_MESSAGES;
	qp.arrival = WORKLOAD_POISSON;
	qp.load_bps = LINK_BPS / 2 * 1024 / wire;
	qp.seed = 5;
	t = run_one_flow(&qp, NEVER_NS);
	rest_ns = ser_ns(wire) + PAIR_DELAY_NS + ser_ns(ACK_WIRE) + PAIR_DELAY_NS;
	for (n = 0; n < MOST_MESSAGES; n++) {
		uint64_t begin_ns;

		arrival_ns += workload_gap_ns(&qp.work, qp.load_bps, PAIR_QPN, n);
		begin_ns = max_u64(arrival_ns, free_ns);
		free_ns = begin_ns + ser_ns(wire);
		wait_ns += begin_ns - arrival_ns;
		ns[n] = begin_ns - arrival_ns + rest_ns;
	}
	assert_int_equal(t->completion_ns.count, MOST_MESSAGES);
	/* An arrival waits for the end of its slot of the pacing wheel, 32 ns; the recursion rounds
	 * each service up to a nanosecond, the shaper carries the remainder. */
	assert_in_range(hist_mean(&t->completion_ns), rest_ns + wait_ns / n - 5,
			rest_ns + wait_ns / n + 32);
	assert_in_range(t->completion_ns.max, ns[0], 2 * rest_ns + 100 * ser_ns(wire));
	qsort(ns, n, sizeof(ns[0]), ascending);
	for (unsigned int pct = 50; pct < 100; pct += 7)
		assert_in_range(hist_quantile(&t->completion_ns, pct), ns[n * pct / 100] * 98 / 100,
				ns[n * pct / 100] * 102 / 100);
	/* 4096 messages: a standard error of some percent. */
	assert_in_range(wait_ns / n, ser_ns(wire) * 40 / 100, ser_ns(wire) * 60 / 100);
	pair_destroy(&pair);
}

TEST(beyond_four_in_flight_every_other_message_is_timed)
{
	struct nic_qp_params qp = nic_test_qp(0);
	const struct nic_times *t;

	qp.depth = 16;
	qp.messages = 64;
	t = run_one_flow(&qp, NEVER_NS);
	assert_int_equal(t->completion_ns.count, 16);
	assert_int_equal(pair_info(&pair, 0, 0).completions, 16);
	assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 64);
	pair_destroy(&pair);
}

static uint64_t last_answer_ns;

static enum fate
lose_some(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)v;
	if (from == 1)
		last_answer_ns = p->now_ns + PAIR_DELAY_NS + ser_ns(ACK_WIRE);
	return from == 0 && n % 50 == 40 ? FATE_LOSE : FATE_PASS;
}

TEST(a_message_that_is_sent_again_is_timed_from_its_first_begin)
{
	struct nic_qp_params qp = nic_test_qp(0);
	const struct nic_times *t;

	pair.fate = lose_some;
	qp.messages = 200;
	qp.depth = 1;
	t = run_one_flow(&qp, NEVER_NS);
	assert_int_equal(t->completion_ns.count, 200);
	/* One at a time without a break: together they are the whole run. */
	assert_int_equal(t->completion_ns.sum, last_answer_ns);
	/* One of each message; what was lost is timed when it is sent again. */
	assert_int_equal(t->rtt_ns.count, 200);
	/* A message of three packets, lost and sent again, took its time; no round trip did. */
	assert_true(hist_quantile(&t->completion_ns, 100) > 2 * t->rtt_ns.max);
	pair_destroy(&pair);
}

TEST(base_rtt_of_the_flow_comes_before_the_one_measured)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint64_t rtt_ns =
		ser_ns(HEADERS + RETH + 1024) + PAIR_DELAY_NS + ser_ns(ACK_WIRE) + PAIR_DELAY_NS;

	qp.message_bytes = 1024;
	qp.messages = 5;
	qp.depth = 1;
	qp.base_rtt_ns = rtt_ns / 2;
	assert_int_equal(run_one_flow(&qp, NEVER_NS)->slowdown_milli.max,
			 (rtt_ns * 2000 / (rtt_ns / 2) + 1) / 2);
	pair_destroy(&pair);
}

TEST(a_slowdown_needs_a_hundred_round_trips_or_a_base)
{
	struct nic_qp_params qp = nic_test_qp(0);
	const struct nic_times *t;

	qp.message_bytes = 1024;
	qp.messages = NIC_LEAST_RTT_SAMPLES - 1;
	qp.depth = 1;
	t = run_one_flow(&qp, NEVER_NS);
	assert_int_equal(t->rtt_ns.count, NIC_LEAST_RTT_SAMPLES - 1);
	assert_int_equal(t->slowdown_milli.count, 0);
	assert_int_equal(t->ideal_from, NIC_IDEAL_FROM_LEAST_RTT);
	pair_destroy(&pair);

	/* The last round trip of the hundred is that of message 100. */
	setup(state);
	qp.messages = NIC_LEAST_RTT_SAMPLES + 7;
	t = run_one_flow(&qp, NEVER_NS);
	assert_int_equal(t->slowdown_milli.count, 8);
	assert_int_equal(t->slowdown_milli.max, 1000);
	pair_destroy(&pair);
}

/* Its first QP starts late, and the last one ends last. */
TEST(span_of_a_flow_is_from_its_first_start_to_its_last_end)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_flow_info before = {0}, after = {0};
	uint64_t least_ns;

	pair_create(&pair, 512);
	qp.start_ns = 50000;
	pair_connect(&pair, &qp);
	qp.start_ns = 90000;
	pair_connect(&pair, &qp);
	pair_run(&pair, 10000);
	nic_flow_info(pair.nic[0], 0, &before);
	assert_false(before.started);
	pair_run(&pair, NEVER_NS);
	nic_flow_info(pair.nic[0], 0, &after);
	assert_true(after.started);
	assert_true(after.started_ns >= 50000 && after.started_ns < 50100);
	/* Four messages of 2560 bytes at 40 Gb/s after the second QP's start. */
	least_ns = 90000 + 4 * 2560 * 8 / 40;
	assert_true(after.ended_ns >= least_ns && after.ended_ns < 2 * least_ns);
	pair_destroy(&pair);
}

TEST(flows_are_read_apart_even_if_they_do_the_same)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_flow_info first = {0}, second = {0}, none = {0};

	pair_create(&pair, 512);
	pair_connect(&pair, &qp);
	qp.flow_id = 7;
	pair_connect(&pair, &qp);
	pair_connect(&pair, &qp);
	/* A part of the flow that starts later has other arrivals, and is of it all the same. */
	qp.start_ns = 50000;
	qp.arrival = WORKLOAD_PERIODIC;
	qp.load_bps = GBPS;
	pair_connect(&pair, &qp);
	qp.flow_id = 6;
	assert_int_equal(nic_add_qp(pair.nic[0], &qp, 0), -EINVAL);
	pair_run(&pair, NEVER_NS);
	nic_flow_info(pair.nic[0], 0, &first);
	nic_flow_info(pair.nic[0], 7, &second);
	nic_flow_info(pair.nic[0], 3, &none);
	assert_int_equal(first.qps, 1);
	assert_int_equal(first.sum.tx_messages, 4);
	assert_int_equal(second.qps, 3);
	assert_int_equal(second.qps_done, 3);
	assert_int_equal(second.sum.tx_messages, 12);
	assert_int_equal(second.sum.completions, 12);
	assert_int_equal(second.sum.tx_payload_bytes, 12 * 2560);
	assert_int_equal(none.qps, 0);
	assert_int_equal(nic_flow_times(pair.nic[0], 0)->completion_ns.count, 4);
	assert_int_equal(nic_flow_times(pair.nic[0], 7)->completion_ns.count, 12);
	assert_null(nic_flow_times(pair.nic[0], 3));
	assert_null(nic_flow_times(pair.nic[0], 8));
	pair_destroy(&pair);
}

static enum fate
mark_third(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)v;
	return from == 0 && n % 3 == 0 ? FATE_MARK : FATE_PASS;
}

TEST(marks_and_cnps_are_counted_by_flow)
{
	static const int algorithms[] = {CC_NONE, CC_DCQCN};

	for (unsigned int a = 0; a < 2; a++) {
		struct nic_flow_info at_src = {0}, at_dst = {0};
		struct nic_qp_params qp = nic_test_qp(0);

		setup(state);
		pair.fate = mark_third;
		pair.params[0].cc = algorithms[a];
		pair.params[1].np.np_min_time_between_cnps_us = 0;
		pair_create(&pair, 512);
		qp.flow_id = 1;
		pair_connect(&pair, &qp);
		pair_connect(&pair, &qp);
		pair_run(&pair, NEVER_NS);
		nic_flow_info(pair.nic[0], 1, &at_src);
		nic_flow_info(pair.nic[1], 1, &at_dst);
		assert_int_equal(at_dst.sum.ce_packets, 8); /* of 24 */
		assert_in_range(at_dst.sum.cnps_sent, 1, 8);
		assert_int_equal(at_dst.sum.cnps_sent,
				 at_src.sum.cnps_handled + at_src.sum.cnps_ignored);
		assert_int_equal(algorithms[a] == CC_NONE ? at_src.sum.cnps_handled
							  : at_src.sum.cnps_ignored,
				 0);
		assert_int_equal(at_src.sum.cnps_ignored,
				 nic_stats(pair.nic[0])->rp.rp_cnp_ignored);
		assert_int_equal(
			pair_info(&pair, 1, 0).ce_packets + pair_info(&pair, 1, 1).ce_packets, 8);
		pair_destroy(&pair);
	}
}

TEST(nothing_is_timed_where_nobody_answers_or_asks)
{
	static const struct {
		int choice;
		uint32_t max_qps;
		bool measures;
	} cases[] = {
		{NIC_MEASURE_OFF, 16, false},
		{NIC_MEASURE_AUTO, NIC_TIMED_QPS, true},
		{NIC_MEASURE_AUTO, NIC_TIMED_QPS + 1, false},
		{NIC_MEASURE_ON, NIC_TIMED_QPS + 1, true},
	};
	struct nic_qp_params qp = nic_test_qp(0);

	for (unsigned int i = 0; i < 4; i++) {
		setup(state);
		pair.params[0].measure_times = cases[i].choice;
		pair.params[0].max_qps = cases[i].max_qps;
		qp.raw = cases[i].measures;
		pair_play(&pair, 512, &qp);
		assert_int_equal(nic_measures_times(pair.nic[0]), cases[i].measures);
		assert_null(nic_flow_times(pair.nic[0], 0));
		assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 4);
		assert_int_equal(pair_info(&pair, 0, 0).rtt_ns, 0);
		assert_int_equal(pair_info(&pair, 0, 0).completions, 0);
		pair_destroy(&pair);
	}
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
