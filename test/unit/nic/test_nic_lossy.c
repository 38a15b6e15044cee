/* SPDX-License-Identifier: BSD-3-Clause */
/* Every reliable verb over a cable that loses, doubles and reorders frames, across the PSNs'
 * wrap. */
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "unit/nic/nic_test.h"

#define FRAMES_PPM 10000 /* of each mishap */

static struct {
	struct prng prng;
	bool random;
	uint64_t mishaps;
	unsigned int lose_cnps; /* this many, then none */
	unsigned int cnps;
	bool mark, deaf;
} script;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	static const enum fate fates[] = {FATE_LOSE, FATE_DUPLICATE, FATE_OVERTAKEN};
	uint64_t number;

	(void)p;
	(void)n;
	if (v->opcode == ROCE_CNP)
		return script.cnps++ < script.lose_cnps ? FATE_LOSE : FATE_PASS;
	if (script.mark && v->opcode != RC_ACK && v->opcode != RC_READ_REQUEST)
		return FATE_MARK;
	if (script.deaf && from == 1)
		return FATE_LOSE;
	if (!script.random)
		return FATE_PASS;
	number = prng_below(&script.prng, 1000000);
	if (number >= 3 * FRAMES_PPM)
		return FATE_PASS;
	script.mishaps++;
	return fates[number / FRAMES_PPM];
}

static const int verbs[] = {NIC_WRITE, NIC_WRITE_IMM, NIC_SEND, NIC_READ};
#define N_VERBS (ARRAY_LEN(verbs))

static void
start(const struct nic_qp_params *qp)
{
	pair.fate = watch;
	pair.params[0].local_ack_timeout = 4;
	pair_create(&pair, 1024);
	pair_connect(&pair, qp);
}

/* Data goes from host 0, but of READ to it. */
static void
expect_complete(const struct nic_qp_params *qp)
{
	struct nic_qp_info a = pair_info(&pair, 0, 0);
	struct nic_qp_info to = pair_info(&pair, qp->verb == NIC_READ ? 0 : 1, 0);
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < qp->messages; i++)
		bytes += workload_message_bytes(&qp->work, PAIR_QPN, i);
	if (!a.done || a.error || a.tx_messages != qp->messages)
		fail_msg("verb %d: %u messages", qp->verb, (unsigned int)a.tx_messages);
	assert_int_equal(to.rx_messages, qp->messages);
	assert_int_equal(to.rx_payload_bytes, bytes);
	assert_int_equal(pair_next_ns(&pair), NEVER_NS);
}

TEST(all_messages_arrive_once_and_runs_repeat)
{
	for (unsigned int k = 0; k < 2 * N_VERBS; k++) {
		uint64_t ended_ns[2] = {0, 0}, sent[2] = {0, 0};

		for (unsigned int run = 0; run < 2; run++) {
			struct nic_qp_params qp = nic_test_qp(0);

			memset(&script, 0, sizeof(script));
			prng_seed(&script.prng, 5 + k, 0);
			script.random = true;
			pair_init(&pair);
			qp.verb = verbs[k / 2];
			qp.initial_psn = PSN_MASK - 300;
			qp.mtu_bytes = 256;
			qp.message_size = WORKLOAD_UNIFORM;
			qp.message_bytes = 5000;
			qp.messages = 200;
			qp.depth = 8;
			if (k % 2 == 1) {
				qp.max_recv_wr = 3;
				qp.post_recv_ns = 2000;
				pair.params[1].min_rnr_timer = 1;
			}
			start(&qp);
			pair_run(&pair, NEVER_NS);
			expect_complete(&qp);
			assert_true(script.mishaps > 50);
			ended_ns[run] = pair.now_ns;
			sent[run] = nic_stats(pair.nic[0])->tx_bytes;
			pair_destroy(&pair);
		}
		assert_int_equal(ended_ns[0], ended_ns[1]);
		assert_int_equal(sent[0], sent[1]);
	}
}

TEST(peer_that_is_not_heard_costs_the_retries)
{
	for (unsigned int k = 0; k < N_VERBS; k++) {
		struct nic_qp_params qp = nic_test_qp(0);

		memset(&script, 0, sizeof(script));
		script.deaf = true;
		pair_init(&pair);
		pair.params[0].retry_cnt = 3;
		qp.verb = verbs[k];
		start(&qp);
		pair_run(&pair, NEVER_NS);
		assert_true(pair_info(&pair, 0, 0).error);
		assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 0);
		assert_int_equal(nic_stats(pair.nic[0])->local_ack_timeout_err, 4);
		assert_int_equal(nic_stats(pair.nic[0])->qp_errors, 1);
		assert_true(nic_done(pair.nic[0]));
		/* What came again was not counted again. */
		if (verbs[k] != NIC_READ)
			assert_true(pair_info(&pair, 1, 0).rx_messages <= 4);
		pair_destroy(&pair);
	}
}

/* A CNP that is lost is a cut less: the next mark in the next interval makes another one. */
TEST(lost_cnp_delays_the_cut)
{
	for (unsigned int k = 0; k < 2 * N_VERBS; k++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct nic_qp_info rp;

		memset(&script, 0, sizeof(script));
		script.mark = true;
		script.lose_cnps = k % 2;
		pair_init(&pair);
		pair.params[1].np.np_min_time_between_cnps_us = 50;
		pair.params[0].np.np_min_time_between_cnps_us = 50;
		qp.verb = verbs[k / 2];
		qp.messages = 0;
		qp.stop_ns = NEVER_NS;
		start(&qp);
		/* Data reaches the notification point within 5 us. */
		pair_run(&pair, 40 * NS_PER_US);
		rp = pair_info(&pair, qp.verb == NIC_READ ? 1 : 0, 0);
		assert_int_equal(rp.rate_cuts, 1 - k % 2);
		assert_int_equal(rp.rate_bps, k % 2 ? 40 * GBPS : 20 * GBPS);
		pair_run(&pair, 70 * NS_PER_US);
		rp = pair_info(&pair, qp.verb == NIC_READ ? 1 : 0, 0);
		assert_int_equal(script.cnps, 2);
		assert_int_equal(rp.rate_cuts, 2 - k % 2);
		assert_int_equal(rp.cnps_handled, 2 - k % 2);
		pair_destroy(&pair);
	}
}

TEST_MAIN(.begin = start_eal)
