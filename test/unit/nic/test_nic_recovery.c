/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester: what brings lost packets, and lost answers, back. */
#include "unit/nic/requester_test.h"

#include "base/numbers/array.h"
#include "base/numbers/prng.h"

TEST(psn_wraps_at_24_bits)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.initial_psn = 0xFFFFFB;
	seen.lose_from = 4; /* PSN 0xFFFFFF, so that the NAK and go-back cross the wrap */
	seen.lose_to = 5;
	play(&qp);
	assert_int_equal(seen.v[4].psn, 0xFFFFFF);
	assert_int_equal(seen.v[5].psn, 0);
	assert_int_equal(stats(0)->packet_seq_err, 1);
	expect_complete(&qp);
}

/* The counts of the only QP of each side are those of its NIC. */
static void
expect_answers_by_qp(void)
{
	for (int side = 0; side < 2; side++) {
		struct nic_qp_info qp = pair_info(&pair, side, 0);

		assert_int_equal(qp.acks_sent, stats(side)->acks_sent);
		assert_int_equal(qp.acks_received, stats(side)->acks_received);
		assert_int_equal(qp.naks_sent, stats(side)->naks_sent);
		assert_int_equal(qp.naks_received, stats(side)->packet_seq_err);
		assert_int_equal(qp.out_of_sequence, stats(side)->out_of_sequence);
		assert_int_equal(qp.rx_discarded_packets,
				 stats(side)->out_of_sequence + stats(side)->duplicate_request);
		assert_true(qp.rx_discarded_wire_bytes >= qp.rx_discarded_packets * 84);
		assert_int_equal(qp.failed_messages, 0);
		assert_int_equal(qp.rtt_samples == 0, side);
		assert_true(qp.rtt_min_ns <= qp.rtt_max_ns);
		assert_in_range(qp.rtt_sum_ns, qp.rtt_samples * qp.rtt_min_ns,
				qp.rtt_samples * qp.rtt_max_ns);
	}
}

TEST(lost_packet_is_resent_from_the_gap_once)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.depth = 4;
	seen.lose_from = 4;
	seen.lose_to = 5;
	play(&qp);
	assert_int_equal(stats(1)->naks_sent, 1);
	assert_int_equal(stats(0)->packet_seq_err, 1);
	assert_int_equal(stats(0)->local_ack_timeout_err, 0);
	/* All 12 had left before the NAK came: 4 to 11 leave again. */
	assert_int_equal(stats(0)->retransmitted_packets, 8);
	assert_int_equal(seen.n, 20);
	for (unsigned int i = 0; i < 8; i++) {
		assert_int_equal(seen.v[12 + i].psn, 4 + i);
		assert_int_equal(seen.v[12 + i].opcode, seen.v[4 + i].opcode);
		assert_int_equal(seen.v[12 + i].payload_bytes, seen.v[4 + i].payload_bytes);
		assert_int_equal(seen.v[12 + i].reth_dma_bytes, seen.v[4 + i].reth_dma_bytes);
	}
	assert_int_equal(stats(1)->out_of_sequence, 7);
	assert_int_equal(stats(1)->drops[NIC_DROP_OUT_OF_SEQUENCE], 7);
	assert_int_equal(stats(1)->duplicate_request, 0);
	expect_answers_by_qp();
	expect_complete(&qp);
}

TEST(lost_ack_is_covered_by_the_next)
{
	struct nic_qp_params qp = nic_test_qp(0);

	seen.lose_ack_from = 0;
	seen.lose_ack_to = 1;
	qp.depth = 4;
	play(&qp);
	assert_int_equal(seen.n, 12);
	assert_int_equal(stats(0)->acks_received, 3);
	expect_complete(&qp);
}

TEST(lost_tail_waits_for_the_timer)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint64_t rto_ns = 4096ull << 4, wait_ns;

	pair.params[0].local_ack_timeout = 4;
	qp.depth = 4;
	seen.lose_from = 11;
	seen.lose_to = 12;
	play(&qp);
	assert_int_equal(stats(0)->local_ack_timeout_err, 1);
	assert_int_equal(stats(1)->naks_sent, 0);
	/* From the last sign of life: the ACK of the third message. */
	assert_int_equal(seen.v[12].psn, 9);
	wait_ns = seen.at_ns[12] - seen.at_ns[11];
	assert_in_range(wait_ns, rto_ns, rto_ns + rto_ns / 8 + 5000);
	assert_int_equal(stats(1)->duplicate_request, 2);
	expect_complete(&qp);
}

TEST(lost_last_ack_is_answered_again)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 4;
	qp.messages = 1;
	seen.lose_ack_to = 1;
	play(&qp);
	assert_int_equal(stats(0)->local_ack_timeout_err, 1);
	assert_int_equal(stats(1)->duplicate_request, 3);
	assert_int_equal(pair_info(&pair, 1, 0).rx_packets, 3);
	expect_complete(&qp);
}

TEST(lost_retransmission_waits_for_the_timer)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 4;
	qp.depth = 4;
	seen.lose_psn = 4;
	seen.lose_psn_times = 2;
	play(&qp);
	/* The responder has answered this gap already: silence, so the timer. */
	assert_int_equal(stats(1)->naks_sent, 1);
	assert_int_equal(stats(0)->local_ack_timeout_err, 1);
	expect_complete(&qp);
}

TEST(retries_run_out_into_an_error)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 3;
	pair.params[0].retry_cnt = 5;
	qp.messages = 1;
	seen.lose_to = UINT64_MAX;
	play(&qp);
	assert_int_equal(seen.n, 3 * 6);
	assert_int_equal(stats(0)->qp_errors, 1);
	assert_int_equal(stats(0)->local_ack_timeout_err, 6);
	assert_true(pair_info(&pair, 0, 0).error);
	assert_false(pair_info(&pair, 0, 0).done);
	assert_true(nic_done(pair.nic[0]));
	assert_int_equal(pair_next_ns(&pair), NEVER_NS);
	pair_destroy(&pair);
}

TEST(messages_in_flight_fail_with_their_qp)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 3;
	pair.params[0].retry_cnt = 255;
	qp.messages = 9;
	qp.depth = 4;
	/* Two messages of three packets arrive, and the first packet of the third. */
	seen.lose_from = 7;
	seen.lose_to = UINT64_MAX;
	play(&qp);
	assert_int_equal(stats(0)->local_ack_timeout_err, 256);
	assert_true(pair_info(&pair, 0, 0).error);
	assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 2);
	assert_int_equal(pair_info(&pair, 0, 0).failed_messages, 4);
	pair_destroy(&pair);
}

TEST(progress_gives_the_retries_back)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 3;
	pair.params[0].retry_cnt = 1;
	qp.message_bytes = 1024;
	qp.messages = 10;
	qp.depth = 1;
	seen.lose_each_once = true;
	play(&qp);
	/* One retry each, never two in a row without progress. */
	assert_int_equal(stats(0)->local_ack_timeout_err, 10);
	assert_int_equal(stats(0)->qp_errors, 0);
	expect_complete(&qp);
}

/*
 * At 20 Mb/s a frame takes 442 us, so from one that asks to the next is longer than the timeout of
 * 524 us; at 110 Mb/s the timer of one that was answered still runs when the next one asks.
 */
TEST(timer_runs_only_while_an_ack_is_awaited)
{
	static const uint64_t rates_bps[] = {20 * MBPS, 110 * MBPS};
	uint64_t rto_ns = 4096ull << 7, wait_ns;

	for (unsigned int i = 0; i < ARRAY_LEN(rates_bps); i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		setup(NULL);
		pair.params[0].local_ack_timeout = 7;
		pair.params[0].ack_every = 4;
		qp.rate_cap_bps = rates_bps[i];
		qp.message_bytes = 10 * 1024;
		qp.messages = 1;
		seen.lose_psn = 9;
		seen.lose_psn_times = 1;
		play(&qp);
		/* 3 and 7 are answered; 9 is lost, and the timer runs from it: 8 leaves again. */
		assert_int_equal(stats(0)->local_ack_timeout_err, 1);
		assert_int_equal(seen.n, 12);
		assert_int_equal(seen.v[10].psn, 8);
		wait_ns = seen.at_ns[10] - seen.at_ns[9];
		assert_in_range(wait_ns, rto_ns, rto_ns + rto_ns / 8);
		assert_int_equal(stats(1)->duplicate_request, 1);
		expect_complete(&qp);
	}
}

/* A stream of 900 us with a timeout of 33 us: ACKs hold it off, packets sent do not. */
TEST(acks_restart_the_timer_and_packets_do_not)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 3;
	pair.params[0].ack_every = 2; /* one asks before the one before is answered */
	qp.message_bytes = 4 << 20;
	qp.messages = 1;
	start(&qp);
	pair_run(&pair, 400 * NS_PER_US);
	assert_int_equal(stats(0)->local_ack_timeout_err, 0);
	seen.lose_ack_to = UINT64_MAX;
	pair_run(&pair, 450 * NS_PER_US);
	assert_int_equal(stats(0)->local_ack_timeout_err, 1);
	seen.lose_ack_to = 0;
	pair_run(&pair, 700 * NS_PER_US);
	assert_int_equal(stats(0)->local_ack_timeout_err, 1);
	pair_destroy(&pair);
}

/* The timers of QPs that are done run out at one time and give no frame. */
TEST(many_qps_due_at_once_are_looked_at_in_one_call)
{
	struct nic_qp_params qp = nic_test_qp(0);

	for (unsigned int h = 0; h < 2; h++)
		pair.params[h].max_qps = 200;
	qp.message_bytes = 1;
	qp.messages = 1;
	pair_create(&pair, 512);
	for (unsigned int i = 0; i < 200; i++)
		pair_connect(&pair, &qp);
	/* The cable asserts that a call without a frame leaves nothing due. */
	pair_run(&pair, NEVER_NS);
	for (unsigned int i = 0; i < 200; i++)
		assert_true(pair_info(&pair, 0, i).done);
	assert_int_equal(seen.n, 200);
	pair_destroy(&pair);
}

TEST(no_timeout_means_never)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 0;
	seen.lose_to = UINT64_MAX;
	play(&qp);
	assert_int_equal(seen.n, 6);
	assert_false(nic_done(pair.nic[0]));
	pair_destroy(&pair);
}

/* The stop falls into a wait after which all of it, from the start of a message on, is sent
 * again. */
TEST(stop_time_finishes_what_is_sent_again)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].local_ack_timeout = 4;
	qp.messages = 0;
	qp.depth = 8;
	qp.stop_ns = 20000;
	seen.lose_psn = 3;
	seen.lose_psn_times = 2; /* the second one waits for the timer, 65 us */
	play(&qp);
	assert_int_equal(stats(0)->local_ack_timeout_err, 1);
	qp.messages = (pair_info(&pair, 0, 0).tx_packets - stats(0)->retransmitted_packets) / 3;
	assert_true(qp.messages >= 8);
	expect_complete(&qp);
}

static struct prng chaos_rng;
static uint64_t chaos_lost_cnps;

static enum fate
chaos(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	uint64_t dice = prng_below(&chaos_rng, 1000);

	(void)p;
	(void)from;
	(void)n;
	if (dice < 20) {
		chaos_lost_cnps += v->opcode == ROCE_CNP;
		return FATE_LOSE;
	}
	if (dice < 30 && v->opcode != ROCE_CNP)
		return FATE_DUPLICATE;
	if (dice < 40)
		return FATE_OVERTAKEN;
	return dice < 100 ? FATE_MARK : FATE_PASS;
}

/* Lost, doubled, overtaken, marked: every message arrives whole, once, and every mbuf comes
 * back. */
TEST(messages_survive_a_bad_cable)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const struct nic_stats *a, *b;

		pair_init(&pair);
		prng_seed(&chaos_rng, seed, 0);
		chaos_lost_cnps = 0;
		pair.fate = chaos;
		pair.params[0].local_ack_timeout = 5;
		pair.params[0].ack_every = (uint16_t)(1 + prng_below(&chaos_rng, 8));
		pair.params[0].window_packets = (uint32_t)(1 + prng_below(&chaos_rng, 64));
		pair_create(&pair, 128);
		for (unsigned int i = 0; i < 4; i++) {
			struct nic_qp_params qp = nic_test_qp(0);

			qp.initial_psn = 0xFFFF80;
			qp.message_bytes = prng_below(&chaos_rng, 20000);
			qp.messages = 40;
			qp.message_size = i == 3 ? WORKLOAD_UNIFORM : WORKLOAD_FIXED;
			qp.verb = (int)(i % 3); /* write, write_imm, send */
			qp.depth = (uint32_t)(1 + prng_below(&chaos_rng, 4));
			pair_connect(&pair, &qp);
		}
		pair_run(&pair, 2 * NS_PER_SEC);
		a = stats(0);
		b = stats(1);
		for (unsigned int i = 0; i < 4; i++)
			if (!pair_info(&pair, 0, i).done ||
			    pair_info(&pair, 1, i).rx_messages != 40)
				fail_msg("seed %u QP %u", (unsigned int)seed, i);
		/* A frame held back at the very end may still be on its way. */
		if (pair.cable[1].overtaken == NULL)
			assert_int_equal(b->np.np_cnp_sent, a->rp.rp_cnp_handled +
								    a->rp.rp_cnp_ignored +
								    chaos_lost_cnps);
		assert_true(b->np.np_cnp_sent <= b->np.np_ecn_marked_roce_packets);
		pair_destroy(&pair);
	}
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
