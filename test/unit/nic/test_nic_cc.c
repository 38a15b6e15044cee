/* SPDX-License-Identifier: BSD-3-Clause */
/* What a requester tells its congestion control: ACKs, NAKs, silence, and round-trip times. */
#include "unit/nic/nic_test.h"
#include "base/field/field_table.h"

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

/* The responder has dropped what came after the gap: an ACK answers the second transmission. */
TEST(packets_sent_again_after_a_nak_are_timed)
{
	start(CC_TIMELY);
	solo_run(&solo, 5000);
	feed_answer(AETH_NAK_PSN_SEQ, 0);
	solo_run(&solo, 6500);
	feed_answer(AETH_ACK, 3);
	assert_int_equal(count("timely_samples"), 1);
	assert_in_range(info().rtt_ns, 1, 1500);
	solo_destroy(&solo);
}

/* Karn: after a timeout, the first ACK may answer either transmission. */
TEST(first_ack_after_a_timeout_gives_no_time)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo_init(&solo);
	solo.params.cc = CC_TIMELY;
	solo.params.ack_every = 1;
	solo.params.window_packets = 8;
	solo.params.local_ack_timeout = 1;
	qp.message_bytes = 1 << 20;
	qp.messages = 0;
	solo_start(&solo, &qp);
	while (nic_stats(solo.nic)->local_ack_timeout_err == 0)
		solo_run(&solo, solo.now_ns + 1000);
	solo_run(&solo, solo.now_ns + 3000);
	feed_answer(AETH_ACK, 2);
	assert_int_equal(count("timely_samples"), 0);
	solo_run(&solo, solo.now_ns + 3000);
	/* Packet 8 was the first one that left after that ACK. */
	feed_answer(AETH_ACK, 8);
	assert_int_equal(count("timely_samples"), 1);
	solo_destroy(&solo);
}

/* Swift with messages of one size, and cuts of up to 90 %. */
static void
start_swift(uint64_t message_bytes)
{
	struct nic_qp_params qp = nic_test_qp(0);
	const struct cc_ops *ops = cc_algorithms[CC_SWIFT];
	const struct field_alias *alias;

	solo_init(&solo);
	solo.params.cc = CC_SWIFT;
	solo.params.ack_every = 1;
	solo.params.window_packets = 4096;
	solo.params.local_ack_timeout = 14;
	assert_int_equal(
		field_parse(field_find(ops->fields, *ops->n_fields, "swift_max_mdf_ppm", &alias),
			    NULL, "90%", &solo.params.cc_params.of[CC_SLOT(CC_SWIFT)], NULL, 0),
		0);
	qp.message_bytes = message_bytes;
	qp.messages = 0;
	qp.depth = 5000;
	solo_start(&solo, &qp);
	solo_run(&solo, 5000);
	feed_answer(AETH_ACK, 0);
	solo_run(&solo, 30000);
}

/* Losses of one packet, one a round trip. */
static void
lose(unsigned int losses)
{
	for (unsigned int i = 0; i < losses; i++) {
		feed_answer(AETH_NAK_PSN_SEQ, 1);
		solo_run(&solo, solo.now_ns + 6000);
	}
}

/*
 * SIGCOMM 2020, section 3.1: below 1, cwnd is a packet each rtt / cwnd, of any size. With a
 * round-trip time of 100 us, cwnd ends at 0.01.
 */
TEST(swift_below_one_packet_paces_short_packets_as_long_ones)
{
	static const uint64_t sizes[] = {1024, 64, 0};
	uint64_t before_ns;
	struct roce_view v;

	for (unsigned int i = 0; i < 3; i++) {
		start_swift(sizes[i]);
		lose(5);
		feed_answer(AETH_ACK, (uint32_t)nic_stats(solo.nic)->tx_packets -
					      (uint32_t)nic_stats(solo.nic)->retransmitted_packets -
					      1);
		for (unsigned int n = 0; n < 20; n++) {
			before_ns = solo.now_ns;
			assert_true(solo_take(&solo, solo.now_ns + 20 * NS_PER_MS, &v));
			solo.now_ns += 100 * NS_PER_US;
			feed_answer(AETH_ACK, v.psn);
		}
		assert_in_range(solo.now_ns - before_ns, 9900 * NS_PER_US, 10200 * NS_PER_US);
		solo_destroy(&solo);
	}
}

/* Each packet is acknowledged 5 us after it left: how many until the rate is that of the port? */
TEST(swift_recovers_while_it_sends_again)
{
	static uint64_t due_ns[4096];
	static uint32_t psn[4096];
	uint32_t head = 0, tail = 0;
	struct roce_view v;
	uint64_t begin_ns;

	start_swift(1 << 20);
	lose(6);
	assert_true(info().rate_bps < GBPS);
	begin_ns = solo.now_ns;
	while (info().rate_bps < 39 * GBPS) {
		if (solo_take(&solo, head < tail ? due_ns[head] : NEVER_NS - 1, &v)) {
			assert_true(tail < 4096);
			psn[tail] = v.psn;
			due_ns[tail++] = solo.now_ns + 5000;
		} else {
			solo.now_ns = due_ns[head];
			feed_answer(AETH_ACK, psn[head++]);
		}
	}
	print_message("line rate after %u packets, %lu ns\n", tail, solo.now_ns - begin_ns);
	assert_in_range(tail, 1, 3);
	assert_in_range(solo.now_ns - begin_ns, 1, 1000 * NS_PER_US);
	solo_destroy(&solo);
}

/* After a timeout the window covers what is sent again. */
TEST(window_after_a_timeout_covers_what_is_sent_again)
{
	uint64_t sent, resent;

	start_swift(1 << 20);
	solo_run(&solo, 60000);
	sent = nic_stats(solo.nic)->tx_packets;
	while (nic_stats(solo.nic)->local_ack_timeout_err == 0)
		solo_run(&solo, solo.now_ns + NS_PER_MS);
	solo_run(&solo, solo.now_ns + NS_PER_MS);
	resent = nic_stats(solo.nic)->retransmitted_packets;
	assert_in_range(resent, 1, sent / 10 + 1);
	solo_destroy(&solo);
}

/* Packets in flight, after time for as many as may be. */
static uint64_t
fill_window(uint32_t acked)
{
	solo_run(&solo, solo.now_ns + 100 * NS_PER_US);
	return nic_stats(solo.nic)->tx_packets - acked;
}

/* HPCC's GetWin(): of 10000 bytes of payload, 5000 at half the rate, each rounded up to packets. */
TEST(window_follows_the_rate)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo_init(&solo);
	solo.params.cc = CC_DCTCP;
	solo.params.ack_every = 1;
	solo.params.rate_window_bytes = 10000;
	solo.params.local_ack_timeout = 0;
	qp.message_bytes = 1 << 20;
	qp.messages = 0;
	qp.depth = 1000;
	solo_start(&solo, &qp);
	assert_int_equal(info().rate_bps, 40 * GBPS);
	assert_int_equal(fill_window(0), 10);
	/* The first mark halves the rate: of the ten in flight, five have to be acknowledged. */
	solo_feed(&solo, (struct roce_fields){.opcode = ROCE_CNP, .becn = true}, 0);
	assert_int_equal(info().rate_bps, 20 * GBPS);
	for (uint32_t psn = 0; psn < 5; psn++) {
		feed_answer(AETH_ACK, psn);
		assert_int_equal(fill_window(0), 10);
	}
	feed_answer(AETH_ACK, 5);
	assert_int_equal(fill_window(6), 5);
	solo_destroy(&solo);
}

/* A window below one packet is one packet, and what is lost is sent again. */
TEST(window_that_follows_the_rate_has_one_packet_at_least)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo_init(&solo);
	solo.params.ack_every = 1;
	solo.params.rate_window_bytes = 1;
	solo.params.local_ack_timeout = 1;
	qp.message_bytes = 1 << 20;
	qp.messages = 0;
	solo_start(&solo, &qp);
	solo_run(&solo, 5000);
	assert_int_equal(nic_stats(solo.nic)->tx_packets, 1);
	while (nic_stats(solo.nic)->local_ack_timeout_err == 0)
		solo_run(&solo, solo.now_ns + 1000);
	solo_run(&solo, solo.now_ns + 1000);
	assert_int_equal(nic_stats(solo.nic)->retransmitted_packets, 1);
	feed_answer(AETH_ACK, 0);
	solo_run(&solo, solo.now_ns + 1000);
	assert_int_equal(nic_stats(solo.nic)->tx_packets, 3);
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal)
