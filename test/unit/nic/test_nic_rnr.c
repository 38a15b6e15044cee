/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers that are not ready: receive WQEs, RNR NAKs, and requesters that wait. */
#include "unit/nic/nic_test.h"

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "nic/observe/flow_info.h"

/* What the cable saw, and what it does to the n-th RNR NAK or to frames by chance. */
static struct {
	uint64_t data_at_ns[4096];
	uint32_t data_psn[4096];
	unsigned int n_data, n_rnr;
	struct roce_view first_rnr;
	uint64_t first_rnr_at_ns;
	unsigned int rnr; /* with this fate; counted from 1 */
	enum fate fate;
	uint32_t lose_ppm;
	struct prng prng;
} script;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)n;
	if (from == 0 && script.n_data < 4096) {
		script.data_at_ns[script.n_data] = p->now_ns;
		script.data_psn[script.n_data++] = v->psn;
	}
	if (script.lose_ppm > 0 && prng_below(&script.prng, 1000000) < script.lose_ppm)
		return FATE_LOSE;
	if (from == 1 && v->opcode == RC_ACK && v->aeth_syndrome >> 5 == 1) {
		if (script.n_rnr++ == 0) {
			script.first_rnr = *v;
			script.first_rnr_at_ns = p->now_ns;
		}
		if (script.n_rnr == script.rnr)
			return script.fate;
	}
	return FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, watch, &script, sizeof(script));
	pair.params[0].local_ack_timeout = 4;
	pair.params[1].min_rnr_timer = 1; /* 10 us */
	solo_init(&solo);
	return 0;
}

/* 4 messages of 3 packets; one WQE, posted again 25 us after it was taken. */
static struct nic_qp_params
rnr_qp(int verb)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.verb = verb;
	qp.max_recv_wr = 1;
	qp.post_recv_ns = 25000;
	return qp;
}

static const struct nic_stats *
stats(unsigned int host)
{
	return nic_stats(pair.nic[host]);
}

static void
expect_complete(const struct nic_qp_params *qp)
{
	struct nic_qp_info a = pair_info(&pair, 0, 0), b = pair_info(&pair, 1, 0);

	assert_true(a.done);
	assert_false(a.error);
	assert_int_equal(a.tx_messages, qp->messages);
	assert_int_equal(b.rx_messages, qp->messages);
	assert_int_equal(b.rx_payload_bytes, qp->messages * qp->message_bytes);
	assert_int_equal(pair_next_ns(&pair), NEVER_NS);
}

TEST(send_without_a_wqe_is_held_back_at_its_first_packet)
{
	struct nic_qp_params qp = rnr_qp(NIC_SEND);

	qp.messages = 2;
	qp.initial_psn = 0xFFFFFD; /* the second message begins at PSN 0 */
	pair_play(&pair, 64, &qp);
	assert_int_equal(script.first_rnr.aeth_syndrome, AETH_RNR_NAK | 1);
	assert_int_equal(script.first_rnr.psn, 0);
	/* It says that the first message has arrived. */
	assert_int_equal(script.first_rnr.aeth_msn, 1);
	/* Six packets in flight, three of them dropped: the first one, and two in silence. */
	assert_int_equal(script.data_psn[6], 0);
	assert_int_equal(stats(1)->drops[NIC_DROP_OUT_OF_BUFFER], script.n_rnr);
	assert_int_equal(stats(1)->rnr_naks_sent, script.n_rnr);
	assert_int_equal(stats(1)->naks_sent, script.n_rnr);
	assert_int_equal(stats(0)->rnr_naks_received, script.n_rnr);
	assert_int_equal(stats(0)->packet_seq_err, 0);
	assert_int_equal(stats(0)->local_ack_timeout_err, 0);
	/* Waits of 10 us, rounded up to the next 1.024 us, from when the NAK arrives. */
	assert_true(script.data_at_ns[6] >= script.first_rnr_at_ns + PAIR_DELAY_NS + 10000);
	assert_true(script.data_at_ns[6] <= script.first_rnr_at_ns + PAIR_DELAY_NS + 12000);
	expect_complete(&qp);
	pair_destroy(&pair);
}

TEST(wait_after_a_refusal_is_no_round_trip)
{
	struct nic_qp_params qp = rnr_qp(NIC_SEND);
	const struct nic_times *times;

	qp.messages = 2;
	qp.depth = 1;
	pair_play(&pair, 64, &qp);
	assert_true(script.n_rnr > 0);
	expect_complete(&qp);
	/* The second message had to wait, for 10 us at least. Its round trip begins after that. */
	times = nic_flow_times(pair.nic[0], 0);
	assert_non_null(times);
	assert_int_equal(times->rtt_ns.count, 2);
	assert_true(times->rtt_ns.max < 10000);
	assert_true(times->completion_ns.max > 10000);
	pair_destroy(&pair);
}

TEST(write_with_immediate_is_held_back_at_its_last_packet)
{
	struct nic_qp_params qp = rnr_qp(NIC_WRITE_IMM);

	qp.messages = 2;
	pair_play(&pair, 64, &qp);
	assert_int_equal(script.first_rnr.psn, 5);
	assert_int_equal(script.data_psn[6], 5);
	assert_true(script.n_rnr >= 2);
	expect_complete(&qp);
	pair_destroy(&pair);
}

TEST(write_needs_no_wqe)
{
	struct nic_qp_params qp = rnr_qp(NIC_WRITE);

	pair_play(&pair, 64, &qp);
	assert_int_equal(script.n_rnr, 0);
	expect_complete(&qp);
	pair_destroy(&pair);
}

TEST(wqes_are_posted_one_after_the_other)
{
	struct nic_qp_params qp = rnr_qp(NIC_SEND);
	struct roce_fields send = {.opcode = RC_SEND_ONLY, .ack_req = true};
	/* When a SEND comes, and whether it finds one of three WQEs, each posted in 100 ns. */
	static const struct {
		uint64_t at_ns;
		bool taken;
	} rows[] = {{1000, true},  {1000, true}, {1000, true}, {1099, false}, {1100, true},
		    {1150, false}, {1300, true}, {1300, true}, {1300, false}, {1400, true}};

	solo_create(&solo, 64);
	qp.requester = false;
	qp.max_recv_wr = 3;
	qp.post_recv_ns = 100;
	nic_add_qp(solo.nic, &qp, 0);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t refused = nic_stats(solo.nic)->drops[NIC_DROP_OUT_OF_BUFFER];

		solo.now_ns = rows[i].at_ns;
		solo_feed(&solo, send, 8);
		if (nic_stats(solo.nic)->drops[NIC_DROP_OUT_OF_BUFFER] - refused == rows[i].taken)
			fail_msg("row %u", i);
		send.psn += rows[i].taken;
	}
	solo_destroy(&solo);
}

TEST(each_code_is_a_time)
{
	static const struct {
		uint8_t code;
		uint64_t us;
	} rows[] = {{1, 10},   {2, 20},     {7, 120},     {12, 640},
		    {13, 960}, {20, 10240}, {31, 491520}, {0, 655360}};
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_view v;

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t asked_ns;

		solo_init(&solo);
		solo_create(&solo, 64);
		solo.now_ns = 12345678901; /* beyond 32 bits */
		qp.messages = 1;
		qp.start_ns = solo.now_ns;
		nic_add_qp(solo.nic, &qp, solo.now_ns);
		for (unsigned int k = 0; k < 3; k++)
			assert_true(solo_take(&solo, solo.now_ns + 10000, &v));
		solo_feed(&solo,
			  (struct roce_fields){.opcode = RC_ACK,
					       .psn = 1,
					       .aeth_syndrome = AETH_RNR_NAK | rows[i].code},
			  0);
		asked_ns = solo.now_ns;
		assert_true(solo_take(&solo, NEVER_NS - 1, &v));
		assert_int_equal(v.psn, 1);
		assert_true(solo.now_ns >= asked_ns + rows[i].us * 1000);
		assert_true(solo.now_ns <= asked_ns + rows[i].us * 1000 + 2048);
		solo_destroy(&solo);
	}
}

TEST(retries_end_in_an_error_unless_there_are_seven)
{
	for (uint8_t retries = 0; retries <= 7; retries++) {
		struct nic_qp_params qp = rnr_qp(NIC_SEND);

		setup(NULL);
		pair.params[0].rnr_retry = retries;
		qp.post_recv_ns = 1000000; /* a hundred waits */
		qp.messages = 2;
		pair_play(&pair, 64, &qp);
		if (retries == 7) {
			assert_true(script.n_rnr > 50);
			expect_complete(&qp);
		} else {
			assert_int_equal(script.n_rnr, retries + 1);
			assert_true(pair_info(&pair, 0, 0).error);
			assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 1);
			assert_int_equal(stats(0)->rnr_nak_retry_err, 1);
			assert_int_equal(stats(0)->qp_errors, 1);
			assert_true(nic_done(pair.nic[0]));
		}
		pair_destroy(&pair);
	}
}

/* Of many messages, each is refused some times, and none of them more than the limit. */
TEST(progress_gives_the_retries_back)
{
	struct nic_qp_params qp = rnr_qp(NIC_SEND);

	pair.params[0].rnr_retry = 3;
	qp.messages = 50;
	pair_play(&pair, 64, &qp);
	assert_true(script.n_rnr > 50);
	expect_complete(&qp);
	pair_destroy(&pair);
}

TEST(rnr_naks_may_be_lost_doubled_or_overtaken)
{
	static const enum fate fates[] = {FATE_LOSE, FATE_DUPLICATE, FATE_OVERTAKEN};
	static const int verbs[] = {NIC_SEND, NIC_WRITE_IMM};

	for (unsigned int k = 0; k < 2 * 3 * 6; k++) {
		struct nic_qp_params qp = rnr_qp(verbs[k % 2]);

		setup(NULL);
		script.fate = fates[k / 2 % 3];
		script.rnr = 1 + k / 6;
		pair_play(&pair, 64, &qp);
		assert_true(script.n_rnr >= script.rnr);
		expect_complete(&qp);
		pair_destroy(&pair);
	}
}

TEST(loss_at_random_loses_nothing_and_repeats)
{
	uint64_t ended_ns[2] = {0, 0};

	for (unsigned int run = 0; run < 2; run++) {
		struct nic_qp_params qp = rnr_qp(NIC_SEND);

		setup(NULL);
		prng_seed(&script.prng, 11, 0);
		script.lose_ppm = 10000;
		qp.messages = 500;
		qp.depth = 8;
		qp.max_recv_wr = 4;
		qp.post_recv_ns = 3000;
		pair_play(&pair, 256, &qp);
		assert_true(script.n_rnr > 10);
		expect_complete(&qp);
		ended_ns[run] = pair.now_ns;
		pair_destroy(&pair);
	}
	assert_int_equal(ended_ns[0], ended_ns[1]);
}

TEST(datagrams_without_a_wqe_are_lost)
{
	struct nic_qp_params qp = rnr_qp(NIC_UD_SEND);

	qp.message_bytes = 1000;
	qp.messages = 10;
	pair_play(&pair, 64, &qp);
	assert_int_equal(pair_info(&pair, 1, 0).rx_messages, 1);
	assert_int_equal(stats(1)->drops[NIC_DROP_OUT_OF_BUFFER], 9);
	assert_int_equal(stats(1)->rx_ud_missed_packets, 0);
	assert_int_equal(stats(1)->tx_packets, 0);
	pair_destroy(&pair);
}

/* The NAK finds a QP that is paced, or ready, and not in its list of those blocked. */
TEST(a_paced_sender_waits_as_well)
{
	for (unsigned int k = 0; k < 2; k++) {
		struct nic_qp_params qp = rnr_qp(NIC_SEND);

		setup(NULL);
		if (k == 0)
			qp.rate_cap_bps = 2 * GBPS;
		else
			pair.params[0].link_speed_bps = pair.params[0].link_speed_bps / 4;
		qp.messages = 20;
		qp.depth = 16;
		qp.post_recv_ns = 40000;
		pair_play(&pair, 64, &qp);
		assert_true(script.n_rnr > 10);
		expect_complete(&qp);
		pair_destroy(&pair);
	}
}

/* One message of a QP: what it is to send again, after an RNR NAK or a timeout, arrives after
 * all. */
TEST(an_ack_ends_what_it_waits_for)
{
	for (unsigned int refused = 0; refused < 2; refused++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct nic_qp_info info;
		struct roce_view v;

		solo_init(&solo);
		solo.params.local_ack_timeout = 4;
		solo_create(&solo, 64);
		qp.messages = 1;
		qp.message_bytes = 1024;
		/* A packet in 8 ms. */
		qp.rate_cap_bps = MBPS;
		nic_add_qp(solo.nic, &qp, 0);
		assert_true(solo_take(&solo, 0, &v));
		if (refused)
			solo_feed(&solo,
				  (struct roce_fields){.opcode = RC_ACK,
						       .aeth_syndrome = AETH_RNR_NAK},
				  0);
		else
			expect_silence(&solo, 200000);
		assert_int_equal(nic_stats(solo.nic)->local_ack_timeout_err, !refused);
		solo_feed(&solo, (struct roce_fields){.opcode = RC_ACK, .aeth_syndrome = 31}, 0);
		/* It leaves the pacing wheel at the horizon. */
		expect_silence(&solo, solo.now_ns + 20000);
		assert_true(nic_qp_info(solo.nic, 0, &info));
		assert_true(info.done);
		assert_true(nic_done(solo.nic));
		solo_destroy(&solo);
	}
}

/*
 * Linux's soft-RoCE answers a refused packet with an RNR NAK, and each flight of packets after it
 * with a NAK of the same PSN: they were sent before the RNR NAK came.
 */
TEST(sequence_naks_of_packets_after_the_refused_one_are_no_losses)
{
	struct nic_qp_params qp = rnr_qp(NIC_SEND);
	struct roce_view v;

	for (unsigned int late = 0; late < 2; late++) {
		struct roce_fields refused = {.opcode = RC_ACK, .aeth_syndrome = AETH_RNR_NAK | 1};
		struct roce_fields missing = {.opcode = RC_ACK, .aeth_syndrome = AETH_NAK_PSN_SEQ};

		solo_init(&solo);
		solo.params.retry_cnt = 2;
		solo_create(&solo, 64);
		qp.messages = 1;
		qp.message_bytes = 3072;
		nic_add_qp(solo.nic, &qp, 0);
		for (unsigned int k = 0; k < 50; k++) {
			uint64_t answered_ns;

			for (unsigned int n = 0; n < 3; n++) {
				assert_true(solo_take(&solo, solo.now_ns + 20000, &v));
				assert_int_equal(v.psn, n);
				/* The NAK of the flight before meets packets on their way again. */
				if (late && k > 0 && n == 0) {
					solo_feed(&solo, missing, 0);
					assert_true(solo_take(&solo, solo.now_ns + 20000, &v));
					assert_int_equal(v.psn, 0);
				}
			}
			solo_feed(&solo, refused, 0);
			answered_ns = solo.now_ns;
			if (!late)
				solo_feed(&solo, missing, 0);
			expect_silence(&solo, answered_ns + 10000);
		}
		assert_int_equal(nic_stats(solo.nic)->qp_errors, 0);
		assert_int_equal(nic_stats(solo.nic)->rnr_naks_received, 50);
		solo_destroy(&solo);
	}
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
