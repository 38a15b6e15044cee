/* SPDX-License-Identifier: BSD-3-Clause */
/* When a NIC says that its packets were due: on the grid of the QP's rate, however late it is
 * asked. */
#include "unit/nic/nic_test.h"

#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/observe/flow_info.h"
#include "node/pkt_meta.h"

#define CAP (10 * MBPS)

static int
setup(void **state)
{
	(void)state;
	solo_init(&solo);
	solo.params.measure_pacing = true;
	solo.params.cc = CC_NONE;
	solo.params.qp_burst_bytes = 0;
	solo.params.local_ack_timeout = 0;
	solo.params.window_packets = 1u << 20;
	return 0;
}

static void
start(void)
{
	struct nic_qp_params qp = nic_test_qp(0);

	/* Each message is one packet, so that all are equally long. */
	qp.peer_qpn = PAIR_QPN;
	qp.message_bytes = 1024;
	qp.messages = 0;
	qp.depth = 1u << 16;
	qp.rate_cap_bps = CAP;
	qp.start_ns = 5000;
	solo_create(&solo, 64);
	assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
}

/* The due time of the next packet, which leaves at now_ns if it may. 0: none does, or not known. */
static bool
take(uint64_t *due_ns)
{
	struct rte_mbuf *m;

	if (solo.nic->ops->tx(solo.nic, 0, &m, 1, solo.now_ns) == 0)
		return false;
	*due_ns = pkt_meta(m)->due_ns;
	rte_pktmbuf_free(m);
	return true;
}

static uint64_t
wire_bits(void)
{
	return nic_stats(solo.nic)->tx_bytes * 8 + nic_stats(solo.nic)->tx_packets * GAP_BYTES * 8;
}

TEST(first_packet_is_not_due_the_next_is_when_its_tokens_are_there)
{
	uint64_t due_ns, sent_ns, interval_ns;

	start();
	solo.now_ns = 5000;
	while (!take(&due_ns))
		solo.now_ns++;
	assert_int_equal(due_ns, 0); /* it waited for its start */
	interval_ns = wire_bits() * NS_PER_SEC / CAP;
	/* Without a burst a late packet makes the next one later as well. */
	for (uint64_t late_ns = 0; late_ns < 500000; late_ns += 9999) {
		sent_ns = solo.now_ns;
		solo.now_ns = sent_ns + interval_ns + late_ns;
		/* The wheel's slot and one more look. */
		while (!take(&due_ns))
			assert_true(++solo.now_ns < sent_ns + interval_ns + late_ns + 100);
		assert_int_equal(due_ns, sent_ns + interval_ns);
	}
	solo_destroy(&solo);
}

TEST(late_qp_that_catches_up_keeps_its_schedule)
{
	uint64_t due_ns, first_ns, interval_ns;

	solo.params.qp_burst_bytes = 100000;
	start();
	solo.now_ns = 5000;
	/* The bucket starts full: what leaves at once was not waited for. */
	while (solo.nic->ops->next_ns(solo.nic, 0) < 100 * NS_PER_US) {
		uint64_t next_ns = solo.nic->ops->next_ns(solo.nic, 0);

		solo.now_ns = next_ns > solo.now_ns ? next_ns : solo.now_ns;
		if (take(&due_ns))
			assert_int_equal(due_ns, 0);
	}
	interval_ns = wire_bits() / nic_stats(solo.nic)->tx_packets * NS_PER_SEC / CAP;
	solo.now_ns = 10 * NS_PER_MS;
	while (!take(&first_ns))
		solo.now_ns++;
	for (unsigned int n = 1; n < 8; n++) {
		while (!take(&due_ns))
			solo.now_ns++;
		assert_in_range(due_ns, first_ns + n * interval_ns - 8,
				first_ns + n * interval_ns + 8);
	}
	solo_destroy(&solo);
}

/*
 * A packet takes 1122 x 8 / 10^7 s = 897.6 us at the QP's rate. Without a burst each wait counts
 * from when the last packet left, so what one is late is its jitter, and is lost for the rate.
 */
TEST(gaps_are_held_against_the_rate)
{
	const uint64_t interval_ns = 897600;
	uint64_t late_sum_ns = 0, most_ns = 0, due_ns;
	const struct nic_pacing *pacing;

	start();
	solo.now_ns = 5000;
	while (!take(&due_ns))
		solo.now_ns++;
	pacing = nic_flow_pacing(solo.nic, 0);
	assert_int_equal(pacing->jitter_ns.count, 0);
	/* The first gap does not count: its packet in front was not paced. */
	for (uint64_t late_ns = 0; late_ns <= 1000; late_ns += 100) {
		uint64_t sent_ns = solo.now_ns, took_ns;

		solo.now_ns = sent_ns + interval_ns + late_ns;
		while (!take(&due_ns))
			solo.now_ns++;
		took_ns = late_ns == 0 ? 0 : solo.now_ns - sent_ns - interval_ns;
		late_sum_ns += took_ns;
		most_ns = took_ns > most_ns ? took_ns : most_ns;
	}
	/* The last gap is in it once the next call has looked. */
	assert_int_equal(pacing->jitter_ns.count, 9);
	assert_false(take(&due_ns));
	assert_int_equal(pacing->jitter_ns.count, 10);
	assert_int_equal(pacing->jitter_ns.sum, late_sum_ns);
	assert_int_equal(pacing->jitter_ns.max, most_ns);
	assert_int_equal(pacing->gap_ns.low, 10 * interval_ns + late_sum_ns);
	assert_int_equal(pacing->expected_ps.low, 10 * interval_ns * 1000);
	/* 5500 ns and some slots in 8.976 ms: 613 ppm, rounded towards 0. */
	assert_in_range(-nic_pacing_error_ppm(pacing), 610, 660);
	solo_destroy(&solo);
}

/* The sums of a flow's QPs reach 2^64 ps after 5 h of 1000 QPs: what they say stays right. */
TEST(sums_of_gaps_go_on_past_2_64)
{
	struct nic_pacing *pacing, merged = {0};
	uint64_t due_ns;

	start();
	solo.now_ns = 5000;
	pacing = nic_of(solo.nic)->flows[0].pacing;
	/* A millisecond less than a multiple of 2^64, at the right rate. */
	pacing->gap_ns = (struct nic_wide){.low = UINT64_MAX - NS_PER_MS, .high = 1000};
	pacing->expected_ps =
		(struct nic_wide){.low = UINT64_MAX - 1000 * NS_PER_MS, .high = 1000999};
	for (unsigned int n = 0; n < 8; n++)
		while (!take(&due_ns))
			solo.now_ns++;
	nic_measure_gaps(nic_of(solo.nic));
	assert_int_equal(pacing->gap_ns.high, 1001);
	assert_int_equal(pacing->expected_ps.high, 1001000);
	nic_pacing_merge(&merged, pacing);
	nic_pacing_merge(&merged, pacing);
	assert_true(merged.gap_ns.high == 2002 && merged.expected_ps.high == 2002000);
	assert_in_range(1000 + nic_pacing_error_ppm(pacing), 999, 1001);
	assert_int_equal(nic_pacing_error_ppm(&merged), nic_pacing_error_ppm(pacing));
	solo_destroy(&solo);
}

/* Late once, then back to back until the schedule is caught up: the rate is kept. */
TEST(who_catches_up_has_jitter_and_keeps_its_rate)
{
	const struct nic_pacing *pacing;
	uint64_t due_ns;

	solo.params.qp_burst_bytes = 100000;
	start();
	solo.now_ns = 5000;
	while (solo.now_ns < 950 * NS_PER_MS) {
		uint64_t next_ns = solo.nic->ops->next_ns(solo.nic, 0);

		if (solo.now_ns / (100 * NS_PER_MS) != next_ns / (100 * NS_PER_MS))
			next_ns += 10 * NS_PER_MS;
		solo.now_ns = next_ns > solo.now_ns ? next_ns : solo.now_ns;
		take(&due_ns);
	}
	pacing = nic_flow_pacing(solo.nic, 0);
	assert_true(pacing->jitter_ns.count > 900);
	assert_true(hist_quantile(&pacing->jitter_ns, 50) < 100);
	assert_true(pacing->jitter_ns.max > 9 * NS_PER_MS);
	assert_in_range(1000 + nic_pacing_error_ppm(pacing), 0, 2000);
	solo_destroy(&solo);
}

TEST(nothing_is_said_unless_asked)
{
	struct rte_mbuf *m;

	solo.params.measure_pacing = false;
	start();
	assert_null(nic_flow_pacing(solo.nic, 0));
	for (unsigned int n = 0; n < 3;) {
		uint64_t next_ns = solo.nic->ops->next_ns(solo.nic, 0);

		solo.now_ns = next_ns > solo.now_ns ? next_ns : solo.now_ns;
		if (solo.nic->ops->tx(solo.nic, 0, &m, 1, solo.now_ns) == 1) {
			assert_int_equal(pkt_meta(m)->due_ns, 0);
			rte_pktmbuf_free(m);
			n++;
		}
	}
	solo_destroy(&solo);
}

/* doc/workloads.md: without another limit, QPs share a queue by packets. */
TEST(ready_qps_take_turns_by_packets)
{
	static const uint16_t mtus[] = {1024, 4096, 256};
	uint64_t packets[3];

	solo.params.link_speed_bps = GBPS;
	solo_create(&solo, 64);
	for (unsigned int i = 0; i < 3; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		qp.flow_id = i;
		qp.peer_qpn = PAIR_QPN + i;
		qp.mtu_bytes = mtus[i];
		qp.message_bytes = 1u << 20;
		qp.messages = 0;
		assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
	}
	solo_run(&solo, 10 * NS_PER_MS);
	for (unsigned int i = 0; i < 3; i++) {
		struct nic_qp_info info;

		assert_true(nic_qp_info(solo.nic, i, &info));
		packets[i] = info.tx_packets;
	}
	/* 10 Mbit in rounds of 5376 bytes and three headers. */
	assert_in_range(packets[0], 210, 235);
	assert_in_range(packets[1], packets[0] - 1, packets[0] + 1);
	assert_in_range(packets[2], packets[0] - 1, packets[0] + 1);
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
