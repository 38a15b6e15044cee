/* SPDX-License-Identifier: BSD-3-Clause */
/* READ: requests, responses, and what brings lost ones back. */
#include "unit/nic/nic_test.h"

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "nic/observe/flow_info.h"
#include "nic/answers/reads.h"

#define SEEN_MAX 8192

/* What the cable saw, and what it does to frames by chance. */
static struct {
	struct roce_view requests[SEEN_MAX], responses[SEEN_MAX];
	unsigned int n_requests, n_responses;
	uint32_t lose_ppm;
	struct prng prng;
	bool mark_responses;
} script;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)n;
	if (v->opcode == RC_READ_REQUEST && script.n_requests < SEEN_MAX)
		script.requests[script.n_requests++] = *v;
	if (v->opcode >= RC_READ_RESP_FIRST && v->opcode <= RC_READ_RESP_ONLY &&
	    script.n_responses < SEEN_MAX)
		script.responses[script.n_responses++] = *v;
	if (script.lose_ppm > 0 && prng_below(&script.prng, 1000000) < script.lose_ppm)
		return FATE_LOSE;
	if (script.mark_responses && from == 1 && v->opcode != RC_ACK)
		return FATE_MARK;
	return FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, watch, &script, sizeof(script));
	pair.params[0].local_ack_timeout = 4;
	solo_init(&solo);
	return 0;
}

/* 4 READs of 3 responses, the last short. */
static struct nic_qp_params
read_qp(void)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.verb = NIC_READ;
	return qp;
}

static void
lose_response(uint64_t frame)
{
	pair.mishap.from = 1;
	pair.mishap.frame = frame;
	pair.mishap.fate = FATE_LOSE;
}

/* Nothing is left to do, and both ends counted each message once. */
static void
expect_complete(const struct nic_qp_params *qp, uint64_t payload_bytes)
{
	struct nic_qp_info a = pair_info(&pair, 0, 0), b = pair_info(&pair, 1, 0);

	assert_true(a.done);
	assert_false(a.error);
	assert_int_equal(a.tx_messages, qp->messages);
	assert_int_equal(a.rx_messages, qp->messages);
	assert_int_equal(a.rx_payload_bytes, payload_bytes);
	assert_int_equal(b.rx_messages, qp->messages);
	assert_int_equal(b.tx_messages, qp->messages);
	assert_int_equal(b.tx_payload_bytes, payload_bytes);
	assert_int_equal(b.tx_packets - b.retransmitted_packets, a.rx_packets);
	assert_int_equal(pair_next_ns(&pair), NEVER_NS);
}

TEST(request_takes_as_many_psns_as_its_responses)
{
	static const uint8_t opcodes[] = {RC_READ_RESP_FIRST, RC_READ_RESP_MIDDLE,
					  RC_READ_RESP_LAST};
	struct nic_qp_params qp = read_qp();
	struct nic_qp_info a;

	qp.initial_psn = 0xFFFFFE; /* wraps inside the first READ */
	pair_play(&pair, 64, &qp);
	assert_int_equal(script.n_requests, 4);
	assert_int_equal(script.n_responses, 12);
	for (unsigned int i = 0; i < 4; i++) {
		const struct roce_view *v = &script.requests[i];

		assert_int_equal(v->psn, (0xFFFFFE + 3 * i) & PSN_MASK);
		assert_int_equal(v->reth_dma_bytes, 2560);
		assert_int_equal(v->reth_va, 0);
		assert_true(v->ack_req);
		assert_true(v->migreq);
	}
	for (unsigned int i = 0; i < 12; i++) {
		const struct roce_view *v = &script.responses[i];

		assert_int_equal(v->opcode, opcodes[i % 3]);
		assert_int_equal(v->psn, (0xFFFFFE + i) & PSN_MASK);
		assert_int_equal(v->payload_bytes, i % 3 == 2 ? 512 : 1024);
		if (i % 3 != 1)
			assert_int_equal(v->aeth_syndrome, AETH_ACK);
		assert_int_equal(v->dscp, 26);
		assert_int_equal(v->ecn, ECN_ECT0);
	}
	/* The MSN of the last one's end: all four are counted. */
	assert_int_equal(script.responses[11].aeth_msn, 4);
	assert_int_equal(nic_stats(pair.nic[1])->rx_read_requests, 4);
	assert_int_equal(nic_stats(pair.nic[1])->acks_sent, 0);
	assert_int_equal(nic_stats(pair.nic[0])->retransmitted_packets, 0);
	a = pair_info(&pair, 0, 0);
	assert_int_equal(a.tx_packets, 4);
	assert_int_equal(a.rx_packets, 12);
	assert_int_equal(pair_info(&pair, 1, 0).rx_packets, 4);
	expect_complete(&qp, 4 * 2560);
	pair_destroy(&pair);
}

TEST(all_mtus_and_sizes_complete)
{
	static const uint32_t sizes[] = {0, 1, 255, 256, 257, 4096, 4097, 100000};
	static const uint16_t mtus[] = {256, 512, 1024, 2048, 4096, 4352, 8960};

	for (unsigned int m = 0; m < ARRAY_LEN(mtus); m++)
		for (unsigned int i = 0; i < ARRAY_LEN(sizes); i++) {
			struct nic_qp_params qp = read_qp();

			setup(NULL);
			qp.mtu_bytes = mtus[m];
			qp.message_bytes = sizes[i];
			if (i & 1)
				qp.peer_ip = pair.params[1].ip6;
			pair_play(&pair, 64, &qp);
			expect_complete(&qp, 4ull * sizes[i]);
			pair_destroy(&pair);
		}
}

TEST(each_arrival_and_size_of_a_workload_reads)
{
	static struct workload_cdf cdf = {
		.n = 3,
		.bytes = {0, 3000, 20000},
		.share_q32 = {0, Q32_ONE / 2, Q32_ONE},
	};

	assert_int_equal(workload_cdf_finish(&cdf), 0);
	for (int arrival = WORKLOAD_CLOSED; arrival <= WORKLOAD_INCAST; arrival++)
		for (int size = WORKLOAD_FIXED; size <= WORKLOAD_CDF; size++) {
			struct nic_qp_params qp = read_qp();
			uint64_t bytes = 0;

			setup(NULL);
			qp.mtu_bytes = 256;
			qp.arrival = arrival;
			qp.message_size = size;
			qp.message_bytes = 5000;
			qp.message_min_bytes = 10;
			qp.cdf = &cdf;
			qp.messages = 40;
			if (workload_is_open(&qp.work))
				qp.load_bps = 100 * GBPS; /* comes faster than it goes */
			if (arrival == WORKLOAD_ON_OFF)
				qp.on_ns = qp.off_ns = 10000;
			pair_play(&pair, 256, &qp);
			for (unsigned int i = 0; i < 40; i++)
				bytes += workload_message_bytes(&qp.work, PAIR_QPN, i);
			expect_complete(&qp, bytes);
			pair_destroy(&pair);
		}
}

/* 4 requests in one direction, 12 responses in the other: each of them goes wrong once. */
TEST(each_frame_may_be_lost_doubled_or_overtaken)
{
	static const enum fate fates[] = {FATE_LOSE, FATE_DUPLICATE, FATE_OVERTAKEN};

	for (unsigned int k = 0; k < 3 * (4 + 12); k++) {
		struct nic_qp_params qp = read_qp();
		const struct nic_stats *s;

		setup(NULL);
		pair.mishap.fate = fates[k % 3];
		pair.mishap.from = k / 3 >= 4;
		pair.mishap.frame = k / 3 < 4 ? k / 3 : k / 3 - 4;
		qp.initial_psn = 0xFFFFFA;
		pair_play(&pair, 128, &qp);
		expect_complete(&qp, 4 * 2560);
		s = nic_stats(pair.nic[0]);
		assert_true(s->local_ack_timeout_err <= 1);
		pair_destroy(&pair);
	}
}

/* Lost: the second of three responses, of the first of two READs outstanding. */
TEST(gap_is_asked_for_from_the_first_missing_response_on)
{
	struct nic_qp_params qp = read_qp();

	lose_response(1);
	qp.messages = 2;
	pair_play(&pair, 64, &qp);
	assert_int_equal(script.n_requests, 4);
	assert_int_equal(script.requests[2].psn, 1);
	assert_int_equal(script.requests[2].reth_va, 1024);
	assert_int_equal(script.requests[2].reth_dma_bytes, 1536);
	assert_int_equal(script.requests[3].psn, 3);
	assert_int_equal(script.requests[3].reth_dma_bytes, 2560);
	/* All six, then again all but the first: a message of two, and one of three. */
	assert_int_equal(script.n_responses, 6 + 5);
	assert_int_equal(script.responses[6].opcode, RC_READ_RESP_FIRST);
	assert_int_equal(script.responses[6].psn, 1);
	assert_int_equal(script.responses[7].opcode, RC_READ_RESP_LAST);
	assert_int_equal(script.responses[8].opcode, RC_READ_RESP_FIRST);
	assert_int_equal(nic_stats(pair.nic[0])->local_ack_timeout_err, 0);
	assert_int_equal(nic_stats(pair.nic[0])->retransmitted_packets, 2);
	assert_int_equal(nic_stats(pair.nic[1])->duplicate_request, 2);
	assert_int_equal(pair_info(&pair, 1, 0).retransmitted_packets, 5);
	expect_complete(&qp, 2 * 2560);
	pair_destroy(&pair);
}

TEST(read_that_is_asked_again_is_no_round_trip)
{
	struct nic_qp_params qp = read_qp();

	qp.messages = 1;
	lose_response(0);
	pair_play(&pair, 64, &qp);
	assert_int_equal(script.n_requests, 2);
	assert_true(pair_info(&pair, 0, 0).done);
	assert_int_equal(pair_info(&pair, 0, 0).completions, 1);
	assert_int_equal(nic_flow_times(pair.nic[0], 0)->rtt_ns.count, 0);
	pair_destroy(&pair);
}

TEST(lost_tail_is_asked_for_by_the_timer)
{
	struct nic_qp_params qp = read_qp();

	lose_response(2);
	qp.messages = 1;
	pair_play(&pair, 64, &qp);
	assert_int_equal(nic_stats(pair.nic[0])->local_ack_timeout_err, 1);
	assert_int_equal(script.n_requests, 2);
	assert_int_equal(script.requests[1].psn, 2);
	assert_int_equal(script.requests[1].reth_va, 2048);
	assert_int_equal(script.requests[1].reth_dma_bytes, 512);
	assert_int_equal(script.n_responses, 4);
	assert_int_equal(script.responses[3].opcode, RC_READ_RESP_ONLY);
	expect_complete(&qp, 2560);
	pair_destroy(&pair);
}

TEST(responder_that_is_silent_costs_the_retries)
{
	struct nic_qp_params qp = read_qp();
	struct nic_qp_info info;
	struct roce_view v;
	unsigned int n = 0;

	solo.params.local_ack_timeout = 4;
	solo.params.retry_cnt = 3;
	solo_create(&solo, 64);
	qp.depth = 1;
	nic_add_qp(solo.nic, &qp, 0);
	for (; solo_take(&solo, NS_PER_SEC, &v); n++)
		assert_int_equal(v.opcode, RC_READ_REQUEST);
	assert_int_equal(n, 4);
	nic_qp_info(solo.nic, 0, &info);
	assert_true(info.error);
	assert_int_equal(nic_stats(solo.nic)->qp_errors, 1);
	solo_destroy(&solo);
}

/* On the same seed, the same run. */
TEST(loss_at_random_loses_nothing_and_repeats)
{
	uint64_t ended_ns[2] = {0, 0};

	for (unsigned int run = 0; run < 2; run++) {
		struct nic_qp_params qp = read_qp();
		uint64_t bytes = 0;

		setup(NULL);
		prng_seed(&script.prng, 7, 0);
		script.lose_ppm = 10000;
		qp.messages = 500;
		qp.depth = 8;
		qp.mtu_bytes = 256;
		qp.message_size = WORKLOAD_UNIFORM;
		qp.message_bytes = 20000;
		pair_play(&pair, 1024, &qp);
		for (unsigned int i = 0; i < 500; i++)
			bytes += workload_message_bytes(&qp.work, PAIR_QPN, i);
		expect_complete(&qp, bytes);
		assert_true(nic_stats(pair.nic[0])->retransmitted_packets > 20);
		ended_ns[run] = pair.now_ns;
		pair_destroy(&pair);
	}
	assert_int_equal(ended_ns[0], ended_ns[1]);
}

TEST(outstanding_reads_are_bounded)
{
	struct nic_qp_params qp = read_qp();
	struct roce_view v;
	unsigned int n = 0;
	char why[256] = "";

	solo.params.max_rd_atomic = 3;
	solo_create(&solo, 64);
	qp.depth = 4;
	assert_int_equal(nic_qp_params_check(&qp, &solo.params, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "max_rd_atomic"));
	assert_true(nic_add_qp(solo.nic, &qp, 0) < 0);
	/* An open loop has no depth to refuse: it waits. */
	qp.arrival = WORKLOAD_POISSON;
	qp.load_bps = 40 * GBPS;
	qp.messages = 100;
	assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
	while (solo_take(&solo, 30 * NS_PER_US, &v))
		n++;
	assert_int_equal(n, 3);
	for (unsigned int i = 0; i < 3; i++)
		solo_feed(&solo,
			  (struct roce_fields){.opcode = i == 0   ? RC_READ_RESP_FIRST
							 : i == 1 ? RC_READ_RESP_MIDDLE
								  : RC_READ_RESP_LAST,
					       .psn = i,
					       .aeth_syndrome = AETH_ACK},
			  i == 2 ? 512 : 1024);
	while (solo_take(&solo, 40 * NS_PER_US, &v))
		n++;
	assert_int_equal(n, 4);
	solo_destroy(&solo);
}

/* Marks on responses: CNPs come to the responder, which slows down. */
TEST(responder_is_the_reaction_point)
{
	struct nic_qp_params qp = read_qp();
	struct nic_qp_info a, b;

	script.mark_responses = true;
	pair.params[0].local_ack_timeout = 14; /* longer than a frame at the least rate */
	qp.messages = 200;
	pair_create(&pair, 256);
	pair_connect(&pair, &qp);
	pair_run(&pair, 200 * NS_PER_US);
	a = pair_info(&pair, 0, 0);
	b = pair_info(&pair, 1, 0);
	assert_true(a.cnps_sent >= 2);
	assert_int_equal(b.cnps_handled, a.cnps_sent);
	assert_int_equal(a.cnps_handled, 0);
	assert_true(b.rate_cuts >= 2);
	assert_true(b.rate_bps < 11 * GBPS);
	assert_int_equal(a.rate_bps, 40 * GBPS);
	pair_run(&pair, NEVER_NS);
	expect_complete(&qp, 200 * 2560);
	pair_destroy(&pair);
}

/* Another flow's share of the link at its start is that of the QPs that send then. */
TEST(a_responder_is_active_while_it_has_reads_to_answer)
{
	struct nic_qp_params served = read_qp(), late = nic_test_qp(0);
	struct solo s;
	struct nic_qp_info info;
	struct roce_view v;

	solo_init(&s);
	s.params.initial_rate = NIC_INITIAL_FAIR;
	solo_create(&s, 64);
	served.requester = false;
	assert_int_equal(nic_add_qp(s.nic, &served, 0), PAIR_QPN);
	for (unsigned int i = 1; i < 3; i++) {
		late.flow_id = i;
		late.messages = 0;
		late.message_bytes = 1 << 20;
		late.start_ns = i * NS_PER_MS;
		assert_int_equal(nic_add_qp(s.nic, &late, 0), PAIR_QPN + i);
	}
	solo_feed(&s, (struct roce_fields){.opcode = RC_READ_REQUEST, .reth_dma_bytes = 8}, 0);
	while (solo_take(&s, NS_PER_MS + NS_PER_US, &v))
		;
	nic_qp_info(s.nic, 1, &info);
	assert_int_equal(info.min_rate_bps, 40 * GBPS);
	/* While the next one starts, a long one is answered. */
	solo_feed(&s,
		  (struct roce_fields){
			  .opcode = RC_READ_REQUEST, .psn = 1, .reth_dma_bytes = 10 << 20},
		  0);
	while (solo_take(&s, 2 * NS_PER_MS + NS_PER_US, &v))
		;
	nic_qp_info(s.nic, 2, &info);
	assert_int_equal(info.min_rate_bps / GBPS, 13);
	solo_destroy(&s);
}

TEST(rate_cap_of_the_responder_paces_the_data)
{
	struct nic_qp_params qp = read_qp();
	struct nic_qp_info b;

	qp.rate_cap_bps = GBPS;
	qp.messages = 40;
	pair_play(&pair, 256, &qp);
	b = pair_info(&pair, 1, 0);
	/* 120 responses at 1 Gb/s from the first one on, and the timer that is set last. */
	assert_true(pair.now_ns > serialization_ns((uint32_t)b.tx_wire_bytes - 1200, GBPS));
	assert_true(pair.now_ns < serialization_ns((uint32_t)b.tx_wire_bytes, GBPS) + 80000);
	expect_complete(&qp, 40 * 2560);
	pair_destroy(&pair);
}

/* ---- a responder alone ---- */

static void
start_server(uint8_t max_rd_atomic)
{
	struct nic_qp_params qp = read_qp();

	solo_init(&solo);
	solo.params.max_rd_atomic = max_rd_atomic;
	qp.requester = false;
	solo_start(&solo, &qp);
}

static void
ask(uint32_t psn, uint32_t bytes)
{
	solo_feed(&solo,
		  (struct roce_fields){
			  .opcode = RC_READ_REQUEST, .psn = psn, .reth_dma_bytes = bytes},
		  0);
}

static void
expect_response(uint8_t opcode, uint32_t psn)
{
	struct roce_view v;

	assert_true(solo_take(&solo, solo.now_ns + 10000, &v));
	assert_int_equal(v.opcode, opcode);
	assert_int_equal(v.psn, psn);
}

TEST(absurd_requests_are_refused)
{
	static const struct {
		uint32_t bytes;
		bool fits;
	} rows[] = {{0, true}, {1u << 31, true}, {(1u << 31) + 1, false}, {UINT32_MAX, false}};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		start_server(16);
		ask(0, rows[i].bytes);
		if (rows[i].fits)
			expect_response(rows[i].bytes == 0 ? RC_READ_RESP_ONLY : RC_READ_RESP_FIRST,
					0);
		else
			expect_answer(&solo, AETH_NAK_INVALID_REQUEST, 0, 0);
		solo_destroy(&solo);
	}
}

TEST(more_reads_than_agreed_are_refused_behind_the_others)
{
	start_server(2);
	for (uint32_t i = 0; i < 3; i++)
		ask(i, 100);
	expect_response(RC_READ_RESP_ONLY, 0);
	expect_response(RC_READ_RESP_ONLY, 1);
	expect_answer(&solo, AETH_NAK_INVALID_REQUEST, 2, 2);
	assert_int_equal(nic_stats(solo.nic)->drops[NIC_DROP_UNEXPECTED_OPCODE], 1);
	solo_destroy(&solo);
}

TEST(requester_does_not_serve_reads)
{
	struct nic_qp_params qp = read_qp();
	struct roce_view v;

	solo_create(&solo, 64);
	qp.messages = 1;
	nic_add_qp(solo.nic, &qp, 0);
	assert_true(solo_take(&solo, 1000, &v));
	ask(0, 100);
	expect_answer(&solo, AETH_NAK_INVALID_REQUEST, 0, 0);
	solo_destroy(&solo);
}

TEST(what_follows_a_read_is_acknowledged_behind_its_responses)
{
	struct roce_fields write = {
		.opcode = RC_WRITE_ONLY, .psn = 3, .reth_dma_bytes = 8, .ack_req = true};

	start_server(16);
	ask(0, 2560);
	solo_feed(&solo, write, 8);
	write.psn = 9; /* a gap too */
	solo_feed(&solo, write, 8);
	expect_response(RC_READ_RESP_FIRST, 0);
	expect_response(RC_READ_RESP_MIDDLE, 1);
	expect_response(RC_READ_RESP_LAST, 2);
	expect_answer(&solo, AETH_NAK_PSN_SEQ, 4, 2);
	solo_destroy(&solo);
}

TEST(old_requests_are_served_as_long_as_they_are_kept)
{
	start_server(2);
	for (uint32_t i = 0; i < 3; i++) {
		ask(3 * i, 2560);
		expect_response(RC_READ_RESP_FIRST, 3 * i);
		expect_response(RC_READ_RESP_MIDDLE, 3 * i + 1);
		expect_response(RC_READ_RESP_LAST, 3 * i + 2);
	}
	ask(0, 2560); /* not kept */
	expect_silence(&solo, solo.now_ns + 10000);
	ask(4, 1536 + 1); /* another length than it had */
	expect_silence(&solo, solo.now_ns + 10000);
	ask(4, 1536);
	expect_response(RC_READ_RESP_FIRST, 4);
	ask(6, 2560); /* comes anyway, once */
	expect_response(RC_READ_RESP_LAST, 5);
	expect_response(RC_READ_RESP_FIRST, 6);
	expect_response(RC_READ_RESP_MIDDLE, 7);
	expect_response(RC_READ_RESP_LAST, 8);
	expect_silence(&solo, NEVER_NS);
	assert_int_equal(nic_stats(solo.nic)->duplicate_request, 4);
	assert_int_equal(nic_stats(solo.nic)->retransmitted_packets, 5);
	solo_destroy(&solo);
}

/* ---- a requester alone ---- */

TEST(responses_that_do_not_fit_are_dropped_by_name)
{
	static const struct {
		uint8_t opcode;
		uint32_t psn;
		uint16_t payload_bytes;
	} rows[] = {
		{RC_READ_RESP_MIDDLE, 0, 1024}, /* begins nothing */
		{RC_READ_RESP_FIRST, 0, 1020},  /* shorter than the MTU */
		{RC_READ_RESP_ONLY, 0, 512},    /* of a READ of three */
		{RC_READ_RESP_FIRST, 3, 1024},  /* not asked for */
		{RC_READ_RESP_FIRST, 0x800000, 1024},
	};
	struct nic_qp_params qp = read_qp();
	struct roce_view v;

	solo_create(&solo, 64);
	qp.messages = 1;
	nic_add_qp(solo.nic, &qp, 0);
	assert_true(solo_take(&solo, 1000, &v));
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t late = nic_stats(solo.nic)->duplicate_response;

		solo_feed(&solo,
			  (struct roce_fields){.opcode = rows[i].opcode,
					       .psn = rows[i].psn,
					       .aeth_syndrome = AETH_ACK},
			  rows[i].payload_bytes);
		/* Half of all PSNs are behind what is expected. */
		assert_int_equal(nic_stats(solo.nic)->drops[NIC_DROP_UNEXPECTED_RESPONSE] +
					 nic_stats(solo.nic)->duplicate_response,
				 i + 1);
		assert_int_equal(nic_stats(solo.nic)->duplicate_response - late, i == 4);
	}
	expect_silence(&solo, 10000);
	solo_destroy(&solo);
}

TEST(ack_of_a_read_says_that_its_responses_are_lost)
{
	struct nic_qp_params qp = read_qp();
	struct nic_qp_info info;
	struct roce_view v;

	solo_create(&solo, 64);
	qp.messages = 1;
	nic_add_qp(solo.nic, &qp, 0);
	assert_true(solo_take(&solo, 1000, &v));
	solo_feed(&solo,
		  (struct roce_fields){.opcode = RC_ACK, .psn = 2, .aeth_syndrome = AETH_ACK}, 0);
	assert_int_equal(nic_stats(solo.nic)->implied_nak_seq_err, 1);
	assert_true(solo_take(&solo, 1000, &v));
	assert_int_equal(v.opcode, RC_READ_REQUEST);
	assert_int_equal(v.psn, 0);
	nic_qp_info(solo.nic, 0, &info);
	assert_int_equal(info.tx_messages, 0);
	solo_destroy(&solo);
}

/* The responder counts READs in 32 bits, and its ring has max_rd_atomic places or more. */
TEST(reads_go_on_past_2_32_of_them)
{
	for (uint8_t depth = 1; depth <= 17; depth++)
		for (unsigned int loses = 0; loses < 2; loses++) {
			struct nic_qp_params qp = nic_test_qp(0);
			struct nic *reader;

			setup(NULL);
			pair.params[0].max_rd_atomic = pair.params[1].max_rd_atomic = depth;
			qp.verb = NIC_READ;
			qp.depth = depth;
			qp.messages = 60;
			pair_create(&pair, 512);
			pair_connect(&pair, &qp);
			reader = nic_of(pair.nic[1]);
			reader->reads[0].received = (1ull << 32) - 30;
			reader->qps[0].next_msg = (uint32_t)reader->reads[0].received;
			if (loses) {
				pair.mishap.from = 1;
				pair.mishap.frame = 29 * 3; /* the last one's before the wrap */
				pair.mishap.fate = FATE_LOSE;
			}
			pair_run(&pair, NEVER_NS);
			assert_true(pair_info(&pair, 0, 0).done);
			assert_int_equal(pair_info(&pair, 0, 0).tx_messages, 60);
			assert_int_equal(nic_stats(pair.nic[0])->retransmitted_packets > 0, loses);
			pair_destroy(&pair);
		}
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
