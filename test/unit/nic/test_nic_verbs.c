/* SPDX-License-Identifier: BSD-3-Clause */
/* WRITE, WRITE with immediate and SEND over a cable that goes wrong once, and raw QPs. */
#include "unit/nic/nic_test.h"

#include "base/numbers/array.h"

/* What the cable saw of the data. */
static struct {
	uint8_t opcodes[64];
	uint32_t imm[64];
	bool ack_req[64];
	unsigned int n; /* data frames */
} script;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)n;
	if (from == 0 && script.n < 64) {
		script.opcodes[script.n] = v->opcode;
		script.imm[script.n] = v->imm;
		script.ack_req[script.n++] = v->ack_req;
	}
	return FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, watch, &script, sizeof(script));
	pair.params[0].local_ack_timeout = 4;
	return 0;
}

TEST(each_verb_has_its_opcodes)
{
	static const struct {
		int verb;
		uint8_t first, middle, last, only;
	} rows[] = {
		{NIC_WRITE, RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_LAST, RC_WRITE_ONLY},
		{NIC_WRITE_IMM, RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_LAST_IMM,
		 RC_WRITE_ONLY_IMM},
		{NIC_SEND, RC_SEND_FIRST, RC_SEND_MIDDLE, RC_SEND_LAST, RC_SEND_ONLY},
		{NIC_SEND_IMM, RC_SEND_FIRST, RC_SEND_MIDDLE, RC_SEND_LAST_IMM, RC_SEND_ONLY_IMM},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct nic_qp_params qp = nic_test_qp(0);
		bool sends = rows[i].first == RC_SEND_FIRST;

		setup(NULL);
		qp.verb = rows[i].verb;
		qp.messages = 2;
		pair_create(&pair, 64);
		pair_connect(&pair, &qp);
		qp.message_bytes = 7;
		pair_connect(&pair, &qp);
		pair_run(&pair, NEVER_NS);
		/* Two QPs in turn: three packets and three, one and one. */
		assert_int_equal(script.n, 8);
		assert_int_equal(script.opcodes[0], rows[i].first);
		assert_int_equal(script.opcodes[1], rows[i].only);
		assert_int_equal(script.opcodes[2], rows[i].middle);
		assert_int_equal(script.opcodes[3], rows[i].only);
		assert_int_equal(script.opcodes[4], rows[i].last);
		/* The immediate is the message's number. */
		assert_int_equal(script.imm[3], nic_verb_has_imm(rows[i].verb) ? 1 : 0);
		assert_int_equal(nic_stats(pair.nic[1])->rx_send_requests, sends ? 4 : 0);
		assert_int_equal(nic_stats(pair.nic[1])->rx_write_requests, sends ? 0 : 4);
		pair_destroy(&pair);
	}
}

TEST(immediate_data_may_be_a_value)
{
	static const int verbs[] = {NIC_WRITE_IMM, NIC_SEND_IMM};

	for (unsigned int i = 0; i < ARRAY_LEN(verbs); i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		setup(NULL);
		qp.verb = verbs[i];
		qp.messages = 2;
		qp.message_bytes = 7;
		qp.has_imm = true;
		qp.imm_data = 0xc0ffee;
		pair_create(&pair, 64);
		pair_connect(&pair, &qp);
		pair_run(&pair, NEVER_NS);
		assert_int_equal(script.n, 2);
		assert_int_equal(script.imm[0], 0xc0ffee);
		assert_int_equal(script.imm[1], 0xc0ffee);
		pair_destroy(&pair);
	}
}

/*
 * 4 messages of 3 packets. Data frames are numbered 0 to 11, answers one for each message: the last
 * data frame is a lost tail, the last answer a lost ACK with nothing behind it.
 */
TEST(each_verb_survives_each_mishap)
{
	static const enum fate fates[] = {FATE_LOSE, FATE_DUPLICATE, FATE_OVERTAKEN};

	for (int verb = NIC_WRITE; verb <= NIC_SEND_IMM; verb++) {
		if (verb == NIC_READ || verb == NIC_UD_SEND)
			continue;
		for (unsigned int k = 0; k < 3 * (12 + 4); k++) {
			struct nic_qp_params qp = nic_test_qp(0);
			struct nic_qp_info a, b;

			setup(NULL);
			pair.mishap.fate = fates[k % 3];
			pair.mishap.from = k / 3 >= 12;
			pair.mishap.frame = k / 3 % 12;
			qp.verb = verb;
			pair_play(&pair, 64, &qp);
			a = pair_info(&pair, 0, 0);
			b = pair_info(&pair, 1, 0);
			if (!a.done || a.tx_messages != 4 || b.rx_messages != 4 ||
			    b.rx_payload_bytes != 4 * 2560)
				fail_msg("verb %d, fate %d of frame %u from %u", verb,
					 pair.mishap.fate, (unsigned int)pair.mishap.frame,
					 pair.mishap.from);
			pair_destroy(&pair);
		}
	}
}

/* Data and ACK; the queue that a pause holds follows. */
TEST(dscp_of_a_flow_goes_before_that_of_the_nic)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_view v;

	solo_create(&solo, 64);
	qp.messages = 1;
	nic_add_qp(solo.nic, &qp, 0);
	qp.has_dscp = true;
	nic_add_qp(solo.nic, &qp, 0);
	/* DSCP 26 is of priority 3, DSCP 0 of priority 0. */
	solo_feed_pause(&solo, 1 << 3, 0xFFFF);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(solo_take(&solo, 10000, &v));
		assert_int_equal(v.dscp, 0);
	}
	expect_silence(&solo, 10000);
	solo_feed_pause(&solo, 1 << 3, 0);
	assert_true(solo_take(&solo, 20000, &v));
	assert_int_equal(v.dscp, 26);
	solo_destroy(&solo);

	solo_init(&solo);
	solo_create(&solo, 64);
	qp.dscp = 10;
	qp.requester = false;
	nic_add_qp(solo.nic, &qp, 0);
	solo_feed(&solo, (struct roce_fields){.opcode = RC_WRITE_ONLY, .ack_req = true}, 0);
	assert_true(solo_take(&solo, 10000, &v));
	assert_int_equal(v.opcode, RC_ACK);
	assert_int_equal(v.dscp, 10);
	solo_destroy(&solo);
}

TEST(raw_qp_needs_no_answer_and_sends_nothing_twice)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_qp_info info;
	struct roce_view v;
	unsigned int n = 0;

	solo.params.local_ack_timeout = 1;
	solo.params.window_packets = 2;
	solo_create(&solo, 64);
	qp.raw = true;
	qp.messages = 20;
	qp.depth = 1;
	nic_add_qp(solo.nic, &qp, 0);
	for (; solo_take(&solo, NS_PER_SEC, &v); n++) {
		assert_false(v.ack_req);
		assert_int_equal(v.psn, n);
	}
	assert_int_equal(n, 60);
	nic_qp_info(solo.nic, 0, &info);
	assert_true(info.done);
	assert_int_equal(info.tx_messages, 20);
	assert_int_equal(info.retransmitted_packets, 0);
	solo_destroy(&solo);
}

TEST(raw_qp_obeys_cnps_and_begins_incast_rounds)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_qp_info info;
	struct roce_view v;
	unsigned int n = 0;

	solo_create(&solo, 64);
	qp.raw = true;
	qp.arrival = WORKLOAD_INCAST;
	qp.messages = 5;
	nic_add_qp(solo.nic, &qp, 0);
	nic_add_qp(solo.nic, &qp, 0);
	assert_true(solo_take(&solo, NS_PER_MS, &v));
	solo_feed(&solo, (struct roce_fields){.opcode = ROCE_CNP, .becn = true}, 0);
	nic_qp_info(solo.nic, 0, &info);
	assert_int_equal(info.cnps_handled, 1);
	assert_int_equal(info.rate_bps, 20 * GBPS);
	while (solo_take(&solo, NS_PER_SEC, &v))
		n++;
	assert_int_equal(n, 2 * 5 * 3 - 1);
	assert_true(nic_done(solo.nic));
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = solo_setup)
