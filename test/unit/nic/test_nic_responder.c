/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder, the order of what leaves, and pause: one NIC whose peer is the test. */
#include "base/numbers/array.h"
#include "nic/qp/qp.h"
#include "unit/nic/nic_test.h"
#include "wire/bytes/be.h"

#define FIRST(seq, total)                                                                          \
	{                                                                                          \
		.opcode = RC_WRITE_FIRST, .psn = (seq), .reth_dma_bytes = (total)                  \
	}
#define MIDDLE(seq)                                                                                \
	{                                                                                          \
		.opcode = RC_WRITE_MIDDLE, .psn = (seq)                                            \
	}
#define LAST(seq)                                                                                  \
	{                                                                                          \
		.opcode = RC_WRITE_LAST, .psn = (seq), .ack_req = true                             \
	}
#define ONLY(seq, total)                                                                           \
	{                                                                                          \
		.opcode = RC_WRITE_ONLY, .psn = (seq), .reth_dma_bytes = (total), .ack_req = true  \
	}

static void
start(uint32_t control_mbufs)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.requester = false;
	solo_create(&solo, control_mbufs);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN + i);
}

static struct nic_qp_info
info(void)
{
	struct nic_qp_info out;

	nic_qp_info(solo.nic, 0, &out);
	return out;
}

static const struct nic_stats *
stats(void)
{
	return nic_stats(solo.nic);
}

TEST(request_in_sequence_is_acknowledged_when_asked)
{
	start(64);
	solo_feed(&solo, (struct roce_fields)FIRST(0, 2560), 1024);
	solo_feed(&solo, (struct roce_fields)MIDDLE(1), 1024);
	expect_silence(&solo, 1000);
	solo_feed(&solo, (struct roce_fields)LAST(2), 512);
	expect_answer(&solo, AETH_ACK, 2, 1);
	solo_feed(&solo, (struct roce_fields)ONLY(3, 7), 7);
	expect_answer(&solo, AETH_ACK, 3, 2);
	assert_int_equal(info().rx_messages, 2);
	assert_int_equal(info().rx_packets, 4);
	assert_int_equal(info().rx_payload_bytes, 2567);
	/* 14 + 20 + 8 + 12 + 4 + 4 FCS + 20 gap = 82; RETH 16 in two; 7 bytes have one pad byte. */
	assert_int_equal(info().rx_wire_bytes, 4 * 82 + 2 * 16 + 2567 + 1);
	assert_int_equal(stats()->rx_write_requests, 2);
	expect_silence(&solo, NEVER_NS);
	solo_destroy(&solo);
}

TEST(ack_has_the_bytes_of_the_field)
{
	struct roce_view v;

	start(64);
	solo_feed(&solo, (struct roce_fields)ONLY(0, 0), 0);
	assert_true(solo_take(&solo, 1000, &v));
	/* Golden frame 07: DSCP 26, ECT(0), MigReq, no AckReq. */
	assert_int_equal(v.dscp, 26);
	assert_int_equal(v.ecn, ECN_ECT0);
	assert_true(v.migreq);
	assert_false(v.ack_req);
	assert_int_equal(v.icrc_off, 58);
	solo_destroy(&solo);
}

/* Answers have a class of their own: a pause of the data's does not hold them. */
TEST(ack_and_nak_have_a_dscp_and_ecn_of_their_own)
{
	struct roce_view v;

	solo.params.ack_dscp = 24;
	solo.params.ack_ecn = ECN_NOT_ECT;
	solo.params.qos.dscp_to_tc_map[24] = 4;
	solo.params.qos.tc_to_priority_group_map[4] = 4;
	solo.params.qos.pfc_enable |= 1 << 4;
	start(64);
	solo_feed_pause(&solo, 1 << 3, 100);
	solo_feed(&solo, (struct roce_fields)ONLY(0, 8), 8);
	assert_true(solo_take(&solo, 1000, &v));
	assert_int_equal(v.aeth_syndrome, AETH_ACK);
	assert_int_equal(v.dscp, 24);
	assert_int_equal(v.ecn, ECN_NOT_ECT);
	solo_feed_pause(&solo, 1 << 4, 100);
	solo_feed(&solo, (struct roce_fields)ONLY(2, 8), 8);
	expect_silence(&solo, solo.now_ns + 1000);
	solo_feed_pause(&solo, 1 << 4, 0);
	assert_true(solo_take(&solo, solo.now_ns + 1000, &v));
	assert_int_equal(v.aeth_syndrome, AETH_NAK_PSN_SEQ);
	assert_int_equal(v.dscp, 24);
	assert_int_equal(v.ecn, ECN_NOT_ECT);
	solo_destroy(&solo);
}

TEST(data_has_the_ecn_of_its_own)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_view v;

	solo.params.data_ecn = ECN_NOT_ECT;
	solo_start(&solo, &qp);
	assert_true(solo_take(&solo, 1000, &v));
	assert_int_equal(v.opcode, RC_WRITE_FIRST);
	assert_int_equal(v.ecn, ECN_NOT_ECT);
	solo_destroy(&solo);
}

TEST(gap_gets_one_nak_until_the_expected_packet_comes)
{
	start(64);
	solo_feed(&solo, (struct roce_fields)ONLY(0, 8), 8);
	expect_answer(&solo, AETH_ACK, 0, 1);
	solo_feed(&solo, (struct roce_fields)ONLY(2, 8), 8);
	expect_answer(&solo, AETH_NAK_PSN_SEQ, 1, 1);
	solo_feed(&solo, (struct roce_fields)ONLY(3, 8), 8);
	solo_feed(&solo, (struct roce_fields)ONLY(2, 8), 8);
	expect_silence(&solo, solo.now_ns + 1000);
	assert_int_equal(stats()->out_of_sequence, 3);
	assert_int_equal(stats()->naks_sent, 1);
	solo_feed(&solo, (struct roce_fields)ONLY(1, 8), 8);
	expect_answer(&solo, AETH_ACK, 1, 2);
	/* The next gap is another one. */
	solo_feed(&solo, (struct roce_fields)ONLY(4, 8), 8);
	expect_answer(&solo, AETH_NAK_PSN_SEQ, 2, 2);
	assert_int_equal(info().rx_messages, 2);
	solo_destroy(&solo);
}

/* The missing packet comes before the NAK has left: the packets after the gap are still lost. */
TEST(nak_leaves_although_its_gap_was_filled)
{
	start(64);
	solo_feed(&solo, (struct roce_fields)ONLY(0, 8), 8);
	expect_answer(&solo, AETH_ACK, 0, 1);
	solo_feed(&solo, (struct roce_fields)ONLY(3, 8), 8);
	solo_feed(&solo, (struct roce_fields)ONLY(1, 8), 8);
	solo_feed(&solo, (struct roce_fields)ONLY(4, 8), 8);
	expect_answer(&solo, AETH_NAK_PSN_SEQ, 2, 2);
	solo_feed(&solo, (struct roce_fields)ONLY(5, 8), 8);
	expect_silence(&solo, solo.now_ns + 1000);
	for (uint32_t psn = 2; psn < 6; psn++) {
		solo_feed(&solo, (struct roce_fields)ONLY(psn, 8), 8);
		expect_answer(&solo, AETH_ACK, psn, psn + 1);
	}
	assert_int_equal(stats()->naks_sent, 1);
	assert_int_equal(stats()->out_of_sequence, 3);
	solo_destroy(&solo);
}

/* Reordered and duplicated in one burst: the NAK would name a packet that nobody has sent. */
TEST(nak_does_not_leave_when_all_dropped_packets_came_again)
{
	start(64);
	solo_feed(&solo, (struct roce_fields)ONLY(0, 8), 8);
	expect_answer(&solo, AETH_ACK, 0, 1);
	solo_feed(&solo, (struct roce_fields)ONLY(2, 8), 8);
	solo_feed(&solo, (struct roce_fields)ONLY(3, 8), 8);
	for (uint32_t psn = 1; psn < 4; psn++)
		solo_feed(&solo, (struct roce_fields)ONLY(psn, 8), 8);
	expect_answer(&solo, AETH_ACK, 3, 4);
	assert_int_equal(stats()->naks_sent, 0);
	/* The next gap gets its NAK. */
	solo_feed(&solo, (struct roce_fields)ONLY(5, 8), 8);
	expect_answer(&solo, AETH_NAK_PSN_SEQ, 4, 4);
	/* A gap that is too long to count is answered as before. */
	for (uint32_t psn = 4; psn < 6; psn++)
		solo_feed(&solo, (struct roce_fields)ONLY(psn, 8), 8);
	expect_answer(&solo, AETH_ACK, 5, 6);
	solo_feed(&solo, (struct roce_fields)ONLY(6 + QP_FAR, 8), 8);
	for (uint32_t psn = 6; psn <= 6 + QP_FAR; psn++)
		solo_feed(&solo, (struct roce_fields)ONLY(psn, 8), 8);
	expect_answer(&solo, AETH_NAK_PSN_SEQ, 7 + QP_FAR, 7 + QP_FAR);
	solo_destroy(&solo);
}

TEST(duplicate_is_acknowledged_again_and_not_delivered)
{
	start(64);
	for (uint32_t psn = 0; psn < 3; psn++) {
		solo_feed(&solo, (struct roce_fields)ONLY(psn, 8), 8);
		expect_answer(&solo, AETH_ACK, psn, psn + 1);
	}
	solo_feed(&solo, (struct roce_fields)ONLY(1, 8), 8);
	expect_answer(&solo, AETH_ACK, 2, 3);
	assert_int_equal(stats()->duplicate_request, 1);
	assert_int_equal(info().rx_payload_bytes, 24);
	solo_destroy(&solo);
}

TEST(psn_and_message_count_wrap)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.requester = false;
	qp.initial_psn = 0xFFFFFF;
	solo_start(&solo, &qp);
	solo_feed(&solo, (struct roce_fields)ONLY(0xFFFFFF, 8), 8);
	expect_answer(&solo, AETH_ACK, 0xFFFFFF, 1);
	solo_feed(&solo, (struct roce_fields)ONLY(1, 8), 8);
	expect_answer(&solo, AETH_NAK_PSN_SEQ, 0, 1);
	solo_feed(&solo, (struct roce_fields)ONLY(0, 8), 8);
	expect_answer(&solo, AETH_ACK, 0, 2);
	solo_feed(&solo, (struct roce_fields)ONLY(0xFFFFFF, 8), 8);
	expect_answer(&solo, AETH_ACK, 0, 2);
	solo_destroy(&solo);
}

/* Each row: what comes after a First of 2560 bytes (or after nothing), and is no valid request. */
TEST(request_that_does_not_fit_is_refused)
{
	static const struct {
		bool after_first;
		struct roce_fields fields;
		uint16_t payload_bytes;
	} rows[] = {
		{false, MIDDLE(0), 1024},                  /* without First */
		{false, LAST(0), 100},                     /* without First */
		{false, FIRST(0, 2560), 1000},             /* First shorter than the MTU */
		{false, FIRST(0, 2560), 2048},             /* longer than the MTU */
		{false, FIRST(0, 1024), 1024},             /* a message of one packet is an Only */
		{false, FIRST(0, 0x80000001), 1024},       /* above 2^31 */
		{false, ONLY(0, 8), 12},                   /* DMA length is another one */
		{false, ONLY(0, 2048), 2048},              /* longer than the MTU */
		{false, {.opcode = RC_SEND_MIDDLE}, 1024}, /* without First */
		{false, {.opcode = RC_SEND_LAST}, 8},      /* without First */
		{false, {.opcode = RC_SEND_FIRST}, 1020},  /* First shorter than the MTU */
		{false, {.opcode = RC_SEND_ONLY}, 1028},   /* longer than the MTU */
		{false, {.opcode = RC_READ_REQUEST, .reth_dma_bytes = 8}, 0},
		{true, FIRST(1, 2560), 1024},                    /* First inside a message */
		{true, ONLY(1, 8), 8},                           /* Only inside a message */
		{true, {.opcode = RC_SEND_LAST, .psn = 1}, 512}, /* of a SEND inside a WRITE */
		{true, {.opcode = RC_SEND_ONLY, .psn = 1}, 512},
		{true, MIDDLE(1), 1020}, /* Middle shorter than the MTU */
		{true, LAST(1), 512},    /* one packet too early */
		{true, LAST(1), 1536},   /* right in sum, longer than the MTU */
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t psn = rows[i].after_first;

		solo_init(&solo);
		start(64);
		if (rows[i].after_first)
			solo_feed(&solo, (struct roce_fields)FIRST(0, 2560), 1024);
		solo_feed(&solo, rows[i].fields, rows[i].payload_bytes);
		expect_answer(&solo, AETH_NAK_INVALID_REQUEST, psn, 0);
		assert_int_equal(stats()->drops[NIC_DROP_UNEXPECTED_OPCODE], 1);
		/* In error: nothing is served or answered any more. */
		solo_feed(&solo, (struct roce_fields)ONLY(psn, 8), 8);
		solo_feed(&solo, (struct roce_fields)ONLY(psn + 9, 8), 8);
		expect_silence(&solo, NEVER_NS);
		assert_int_equal(stats()->drops[NIC_DROP_UNEXPECTED_OPCODE], 3);
		assert_int_equal(info().rx_messages, 0);
		solo_destroy(&solo);
	}
}

/*
 * RC opcodes by table 38 of IBTA: First, Middle, Last, Only of a SEND (capital) or a WRITE; R: READ
 * request, of a QP that serves none; -: response; x: atomic or reserved.
 */
static const char opcode_kinds[] = "FMLLOOfmllooR------xxxLOxxxxxxxx";
static_assert(sizeof(opcode_kinds) - 1 == RC_OPCODES_END, "each RC opcode");

enum context { NO_MESSAGE, IN_SEND, IN_WRITE, CONTEXTS };

static bool
is_served(char kind, enum context context)
{
	static const char *const served[CONTEXTS] = {
		[NO_MESSAGE] = "FOfo", [IN_SEND] = "ML", [IN_WRITE] = "ml"};

	return strchr(served[context], kind) != NULL;
}

/* A packet with any opcode, which roce_build() need not know: a SEND Only is turned into it. */
static void
feed_opcode(uint8_t opcode, uint32_t psn)
{
	bool known = roce_ext_bytes(opcode) >= 0;
	char kind = opcode < RC_OPCODES_END ? opcode_kinds[opcode] : 'x';
	uint16_t ext = known ? (uint16_t)roce_ext_bytes(opcode) : 0,
		 payload = strchr("FMfml", kind) != NULL               ? 1024
			   : kind == 'R' || strchr("-x", kind) != NULL ? 0
								       : 8;
	struct roce_fields send = {.opcode = RC_SEND_ONLY, .psn = psn, .ack_req = true};
	uint8_t frame[1200], body[1100] = {0};
	struct roce_path path = solo_path(&solo);
	size_t n;

	if (opcode == RC_READ_RESP_FIRST || opcode == RC_READ_RESP_MIDDLE ||
	    opcode == RC_READ_RESP_LAST)
		payload = 1024;
	/* DMA length of an RETH. */
	be32_store(body + 12, kind == 'f' ? 2048 : payload);
	n = roce_build(frame, sizeof(frame), &path, &send, body, (uint16_t)(ext + payload));
	frame[42] = opcode; /* first byte of the BTH */
	solo_feed_bytes(&solo, frame, (uint16_t)n);
}

static uint64_t
sum_of_drops(void)
{
	uint64_t sum = 0;

	for (unsigned int d = 0; d < NIC_DROPS; d++)
		sum += stats()->drops[d];
	return sum;
}

static void
try_opcode(uint8_t opcode, enum context context)
{
	bool rc = opcode < RC_OPCODES_END, response = rc && opcode_kinds[opcode] == '-';
	bool served = rc && !response && is_served(opcode_kinds[opcode], context);
	uint32_t psn = context != NO_MESSAGE;
	uint64_t cnps;

	solo_init(&solo);
	solo.params.icrc_check = false;
	start(64);
	if (context == IN_SEND)
		solo_feed(&solo, (struct roce_fields){.opcode = RC_SEND_FIRST}, 1024);
	if (context == IN_WRITE)
		solo_feed(&solo,
			  (struct roce_fields)FIRST(0, opcode == RC_WRITE_MIDDLE ? 3072 : 2048),
			  1024);
	cnps = stats()->rp.rp_cnp_handled + stats()->rp.rp_cnp_ignored;
	feed_opcode(opcode, psn);
	if (served)
		expect_answer(&solo, AETH_ACK, psn, strchr("LOlo", opcode_kinds[opcode]) != NULL);
	else if (rc && !response)
		expect_answer(&solo, AETH_NAK_INVALID_REQUEST, psn, 0);
	expect_silence(&solo, NEVER_NS);
	cnps = stats()->rp.rp_cnp_handled + stats()->rp.rp_cnp_ignored - cnps;
	if (sum_of_drops() + served + cnps != 1)
		fail_msg("opcode 0x%02x in context %u: %ju drops, %ju CNPs", opcode, context,
			 (uintmax_t)sum_of_drops(), (uintmax_t)cnps);
	assert_int_equal(stats()->drops[NIC_DROP_UNEXPECTED_OPCODE] > 0,
			 rc && !served && (!response || opcode == RC_ATOMIC_ACK));
	assert_int_equal(stats()->drops[NIC_DROP_UNKNOWN_OPCODE] > 0,
			 !rc && roce_ext_bytes(opcode) < 0);
	assert_int_equal(stats()->drops[NIC_DROP_WRONG_TRANSPORT] > 0,
			 opcode == UD_SEND_ONLY || opcode == UD_SEND_ONLY_IMM);
	solo_destroy(&solo);
}

/* 9.7.4.1: a request that is invalid here, or that we do not know, gets a NAK. */
TEST(each_opcode_is_served_refused_or_dropped_by_name)
{
	for (unsigned int opcode = 0; opcode < 256; opcode++)
		for (enum context context = 0; context < CONTEXTS; context++)
			try_opcode((uint8_t)opcode, context);
}

TEST(write_with_immediate_is_a_write)
{
	struct roce_fields only = ONLY(0, 8);

	start(64);
	only.opcode = RC_WRITE_ONLY_IMM;
	solo_feed(&solo, only, 8);
	expect_answer(&solo, AETH_ACK, 0, 1);
	solo_destroy(&solo);
}

TEST(requester_refused_is_in_error)
{
	static const uint8_t syndromes[] = {AETH_NAK_INVALID_REQUEST, 0x62, 0x63};
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_view v;

	for (unsigned int i = 0; i < sizeof(syndromes); i++) {
		solo_init(&solo);
		solo_start(&solo, &qp);
		assert_true(solo_take(&solo, 1000, &v));
		solo_feed(&solo,
			  (struct roce_fields){.opcode = RC_ACK, .aeth_syndrome = syndromes[i]}, 0);
		assert_true(info().error);
		assert_true(nic_done(solo.nic));
		assert_int_equal(stats()->qp_errors, 1);
		expect_silence(&solo, NEVER_NS);
		solo_destroy(&solo);
	}
}

TEST(refusal_acknowledges_what_came_before)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_fields nak = {
		.opcode = RC_ACK, .aeth_syndrome = AETH_NAK_INVALID_REQUEST, .psn = 1};
	struct roce_view v;

	qp.message_bytes = 8;
	solo_start(&solo, &qp);
	for (unsigned int i = 0; i < 2; i++)
		assert_true(solo_take(&solo, 1000, &v));
	solo_feed(&solo, nak, 0);
	assert_true(info().error);
	assert_int_equal(info().tx_messages, 1);
	expect_silence(&solo, NEVER_NS);
	solo_destroy(&solo);
}

/* While the wire (or pause) holds answers back, one entry per QP is all there is. */
TEST(answers_of_one_qp_become_one)
{
	struct roce_path to_second = solo_path(&solo);
	struct roce_view v;

	start(64);
	to_second.dest_qp = PAIR_QPN + 1;
	solo_feed_pause(&solo, 1 << 3, 100);
	for (uint32_t psn = 0; psn < 10; psn++) {
		solo_feed(&solo, (struct roce_fields)ONLY(psn, 8), 8);
		solo_feed_on(&solo, &to_second, &(struct roce_fields)ONLY(psn, 8), 8);
	}
	solo_feed_pause(&solo, 1 << 3, 0);
	expect_answer(&solo, AETH_ACK, 9, 10);
	assert_true(solo_take(&solo, NEVER_NS, &v));
	assert_int_equal(v.psn, 9);
	expect_silence(&solo, NEVER_NS);
	assert_int_equal(stats()->acks_sent, 2);
	solo_destroy(&solo);
}

TEST(nak_takes_the_place_of_an_ack_that_has_not_left)
{
	start(64);
	solo_feed_pause(&solo, 1 << 3, 100);
	solo_feed(&solo, (struct roce_fields)ONLY(0, 8), 8);
	solo_feed(&solo, (struct roce_fields)ONLY(5, 8), 8);
	/* A duplicate does not take it back: the gap is still there. */
	solo_feed(&solo, (struct roce_fields)ONLY(0, 8), 8);
	solo_feed_pause(&solo, 1 << 3, 0);
	expect_answer(&solo, AETH_NAK_PSN_SEQ, 1, 1);
	expect_silence(&solo, NEVER_NS);
	solo_destroy(&solo);
}

TEST(cnp_leaves_before_ack_before_data)
{
	static const uint8_t want[] = {ROCE_CNP, RC_ACK, RC_WRITE_FIRST};
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_path marked = solo_path(&solo);
	struct roce_view v;

	marked.ecn = ECN_CE;
	solo_start(&solo, &qp);
	solo_feed_on(&solo, &marked, &(struct roce_fields)ONLY(0, 8), 8);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(solo_take(&solo, 2000, &v));
		assert_int_equal(v.opcode, want[i]);
	}
	solo_destroy(&solo);
}

/* Data and ACKs map to priority 3, CNPs to queue 7; only MAC control ignores pause. */
TEST(each_priority_obeys_its_own_pause)
{
	static const struct {
		uint8_t paused;
		uint8_t want[3];
	} rows[] = {
		{1 << 3, {ROCE_CNP, 0, 0}},
		{1 << 7, {RC_ACK, RC_WRITE_FIRST, RC_WRITE_MIDDLE}},
		{1 << 3 | 1 << 7, {0, 0, 0}},
		{(uint8_t) ~(1 << 3 | 1 << 7), {ROCE_CNP, RC_ACK, RC_WRITE_FIRST}},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct roce_path marked;
		struct roce_view v;

		solo_init(&solo);
		solo.params.qos.pfc_enable = 0xFF;
		for (uint8_t tc = 0; tc < TM_CLASSES; tc++)
			solo.params.qos.tc_to_priority_group_map[tc] = tc;
		solo_start(&solo, &qp);
		marked = solo_path(&solo);
		marked.ecn = ECN_CE;
		solo_feed_on(&solo, &marked, &(struct roce_fields)ONLY(0, 8), 8);
		solo_feed_pause(&solo, rows[i].paused, 0xFFFF);
		for (unsigned int k = 0; k < 3; k++) {
			bool any = solo_take(&solo, 2000, &v);

			assert_int_equal(any, rows[i].want[k] != 0);
			if (any)
				assert_int_equal(v.opcode, rows[i].want[k]);
		}
		solo_destroy(&solo);
	}
}

TEST(pause_ends_by_time_or_by_xon)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_view v;

	solo_start(&solo, &qp);
	/* 1000 quanta of 512 bit times at 40 Gb/s are 12.8 us. */
	solo_feed_pause(&solo, 1 << 3, 1000);
	assert_true(solo_take(&solo, NS_PER_SEC, &v));
	assert_int_equal(solo.now_ns, 12800);
	solo_feed_pause(&solo, 1 << 3, 1000);
	expect_silence(&solo, 15000);
	solo_feed_pause(&solo, 1 << 3, 0);
	assert_true(solo_take(&solo, 15000, &v));
	/* A priority that PFC is not enabled on keeps sending; the frame is counted. */
	solo_feed_pause(&solo, 1 << 2, 1000);
	assert_true(solo_take(&solo, 16000, &v));
	assert_int_equal(stats()->rx_pause_frames, 4);
	assert_int_equal(nic_pfc_rx(solo.nic)->stats.rx_pause[3], 3);
	assert_int_equal(nic_pfc_rx(solo.nic)->stats.rx_pause[2], 1);
	solo_destroy(&solo);
}

TEST(pause_is_counted_and_ignored_when_told_so)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint8_t pause[PFC_FRAME_BYTES];
	struct roce_view v;

	solo.params.flow_control = NIC_FLOW_OFF;
	solo_start(&solo, &qp);
	solo_feed_pause(&solo, 0xFF, 0xFFFF);
	pause_frame_build(pause, (uint8_t[6]){2, 0, 0, 0, 0, 9}, 0xFFFF);
	solo_feed_bytes(&solo, pause, sizeof(pause));
	assert_true(solo_take(&solo, 1000, &v));
	assert_int_equal(stats()->rx_pause_frames, 2);
	assert_int_equal(nic_pfc_rx(solo.nic)->stats.rx_pause[3], 1);
	solo_destroy(&solo);
}

/* What is owed is a note in the QP: with no mbuf it waits, and nothing of it is forgotten. */
TEST(control_pool_exhausted_delays_answers)
{
	struct roce_path marked = solo_path(&solo);
	struct rte_mbuf *held[64];
	struct roce_view v;
	unsigned int n = 0;

	start(32);
	marked.ecn = ECN_CE;
	solo_feed_on(&solo, &marked, &(struct roce_fields)ONLY(0, 8), 8);
	while ((held[n] = rte_pktmbuf_alloc(solo.pools.control)) != NULL)
		n++;
	expect_silence(&solo, 5000);
	assert_true(stats()->no_mbuf >= 5);
	assert_int_equal(stats()->np.np_cnp_sent, 0);
	while (n > 0)
		rte_pktmbuf_free(held[--n]);
	assert_true(solo_take(&solo, 7000, &v));
	assert_int_equal(v.opcode, ROCE_CNP);
	expect_answer(&solo, AETH_ACK, 0, 1);
	solo_destroy(&solo);
}

/* Control frames are wire time too: answers to back-to-back requests leave no faster than it. */
TEST(control_frames_are_charged_to_the_shaper)
{
	struct roce_view v;
	uint64_t first_ns;

	start(64);
	for (uint32_t i = 0; i < 4; i++) {
		struct roce_path path = solo_path(&solo);

		path.dest_qp = PAIR_QPN + i;
		solo_feed_on(&solo, &path, &(struct roce_fields)ONLY(0, 8), 8);
	}
	assert_true(solo_take(&solo, 1000, &v));
	first_ns = solo.now_ns;
	for (uint32_t i = 1; i < 4; i++)
		assert_true(solo_take(&solo, 1000, &v));
	/* 62 + 4 + 20 bytes at 40 Gb/s: 17.2 ns each, less the burst of one nanosecond. */
	assert_in_range(solo.now_ns - first_ns, 51, 52);
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = solo_setup)
