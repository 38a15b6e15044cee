/* SPDX-License-Identifier: BSD-3-Clause */
/* What a requester tells its congestion control: ACKs, NAKs, silence, and round-trip times. */
#include "unit/nic/nic_test.h"

/* A counter of the algorithm in force. */
static uint64_t
count(const char *name)
{
	const struct cc_ops *ops = cc_algorithms[solo.params.cc];
	const char *stats = (const char *)&nic_stats(solo.nic)->cc.of[CC_SLOT(solo.params.cc)];

	for (unsigned int i = 0; i < *ops->n_counters; i++)
		if (strcmp(ops->counters[i].name, name) == 0)
			return *(const uint64_t *)(const void *)(stats + ops->counters[i].offset);
	fail_msg("no counter %s", name);
	return 0;
}

static struct nic_qp_info
info(void)
{
	struct nic_qp_info out;

	nic_qp_info(solo.nic, 0, &out);
	return out;
}

/* One QP with data without end, AckReq on each fourth packet. */
static void
start(enum cc_algorithm algorithm)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo_init(&solo);
	solo.params.cc = algorithm;
	solo.params.ack_every = 4;
	solo.params.window_packets = 1 << 16;
	solo.params.local_ack_timeout = 0;
	qp.message_bytes = 1 << 20;
	qp.messages = 0;
	qp.depth = 1000;
	solo_start(&solo, &qp);
}

static void
feed_answer(uint8_t syndrome, uint32_t psn)
{
	solo_feed(&solo,
		  (struct roce_fields){.opcode = RC_ACK, .aeth_syndrome = syndrome, .psn = psn}, 0);
}

TEST(nak_acknowledges_what_came_and_is_a_loss)
{
	start(CC_DCTCP);
	solo_run(&solo, 10000);
	/* All before 8 has come: a round trip, without a mark. Then the loss halves the rate. */
	feed_answer(AETH_NAK_PSN_SEQ, 8);
	assert_int_equal(count("dctcp_round_trips"), 1);
	assert_int_equal(count("dctcp_cuts"), 1);
	assert_int_equal(info().rate_bps, 20 * GBPS);
	assert_int_equal(info().rate_cuts, 1);
	/* The same gap again, in the same round trip: one cut is enough. */
	feed_answer(AETH_NAK_PSN_SEQ, 8);
	assert_int_equal(info().rate_bps, 20 * GBPS);
	solo_destroy(&solo);
}

TEST(acks_end_round_trips_of_dctcp)
{
	start(CC_DCTCP);
	solo_run(&solo, 5000);
	feed_answer(AETH_ACK, 3);
	/* What was on its way then is the next round trip: 5 us at 221 ns each are 23 packets. */
	solo_run(&solo, 8000);
	feed_answer(AETH_ACK, 7);
	feed_answer(AETH_ACK, 19);
	assert_int_equal(count("dctcp_round_trips"), 1);
	feed_answer(AETH_ACK, 23);
	assert_int_equal(count("dctcp_round_trips"), 2);
	/* A late ACK says nothing new. */
	feed_answer(AETH_ACK, 7);
	assert_int_equal(count("dctcp_round_trips"), 2);
	solo_destroy(&solo);
}

TEST(timely_times_the_packet_that_asks)
{
	uint64_t asked_ns = 0;
	struct roce_view v;

	start(CC_TIMELY);
	do {
		assert_true(solo_take(&solo, NEVER_NS, &v));
		asked_ns = solo.now_ns;
	} while (!v.ack_req);
	assert_int_equal(v.psn, 3);
	solo_run(&solo, 10000);
	/* One sample is outstanding: those of later packets are not asked for. */
	solo.now_ns = 12345;
	feed_answer(AETH_ACK, 3);
	assert_int_equal(info().rtt_ns, 12345 - asked_ns);
	feed_answer(AETH_ACK, 7);
	assert_int_equal(count("timely_samples"), 1);
	solo_destroy(&solo);
}

/* Karn: what was sent twice gives no time. */
TEST(timely_takes_no_time_of_what_was_sent_again)
{
	start(CC_TIMELY);
	solo_run(&solo, 5000);
	feed_answer(AETH_NAK_PSN_SEQ, 0);
	solo_run(&solo, 6500);
	/* Packets 0 to 7 are out a second time, and 3 and 7 asked again. */
	feed_answer(AETH_ACK, 3);
	feed_answer(AETH_ACK, 7);
	assert_int_equal(count("timely_samples"), 0);
	/* Beyond what had been sent before, times are taken again. */
	solo_run(&solo, 20000);
	feed_answer(AETH_ACK, 43);
	assert_int_equal(count("timely_samples"), 1);
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal)
