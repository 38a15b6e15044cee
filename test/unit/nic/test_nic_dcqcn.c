/* SPDX-License-Identifier: BSD-3-Clause */
/* The NIC's notification and reaction point: marks into CNPs, CNPs into rates. */
#include "base/numbers/array.h"
#include "unit/nic/nic_test.h"

#include "nic/measure/trace.h"

static struct nic_qp_info
info(uint32_t index)
{
	struct nic_qp_info out;

	nic_qp_info(solo.nic, index, &out);
	return out;
}

static const struct nic_stats *
stats(void)
{
	return nic_stats(solo.nic);
}

static void
start_responder(void)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.requester = false;
	solo_start(&solo, &qp);
	nic_add_qp(solo.nic, &qp, 0);
}

static void
feed_cnp(const struct roce_path *path)
{
	solo_feed_on(&solo, path, &(struct roce_fields){.opcode = ROCE_CNP, .becn = true}, 0);
}

/* Send what may be sent until a time. @return frames. */
static unsigned int
run(uint64_t until_ns)
{
	struct roce_view v;
	unsigned int n = 0;

	while (solo_take(&solo, until_ns, &v))
		n++;
	solo.now_ns = until_ns;
	return n;
}

static uint32_t next_psn;

/* A data packet in sequence, marked or not; the ACK is not asked for. */
static void
feed_data(uint64_t at_ns, uint8_t ecn)
{
	struct roce_path path = solo_path(&solo);

	solo.now_ns = at_ns;
	path.ecn = ecn;
	solo_feed_on(&solo, &path,
		     &(struct roce_fields){
			     .opcode = RC_WRITE_ONLY, .psn = next_psn++, .reth_dma_bytes = 8},
		     8);
}

/* N = 50 us: the first mark is answered at once, then at most one CNP a window, at its end. */
TEST(marks_are_answered_once_a_window)
{
	static const struct {
		uint64_t at_us;
		uint8_t ecn;
		uint64_t cnp_at_us; /* the next CNP, looked for until the next row; 0: none */
	} rows[] = {
		{1, ECN_ECT0, 0},   {5, ECN_CE, 5},        {10, ECN_CE, 0},    {40, ECN_CE, 55},
		{56, ECN_ECT0, 0},  {104, ECN_ECT1, 0},    {200, ECN_CE, 200}, {249, ECN_CE, 250},
		{301, ECN_CE, 301}, {400, ECN_NOT_ECT, 0},
	};
	unsigned int n = ARRAY_LEN(rows);

	next_psn = 0;
	start_responder();
	for (unsigned int i = 0; i < n; i++) {
		uint64_t until_ns = i + 1 < n ? rows[i + 1].at_us * NS_PER_US - 1 : NS_PER_MS;
		struct roce_view v;

		feed_data(rows[i].at_us * NS_PER_US, rows[i].ecn);
		if (rows[i].cnp_at_us > 0) {
			assert_true(solo_take(&solo, until_ns, &v));
			assert_int_equal(solo.now_ns, rows[i].cnp_at_us * NS_PER_US);
			assert_int_equal(v.opcode, ROCE_CNP);
		}
		expect_silence(&solo, until_ns);
	}
	assert_int_equal(stats()->np.np_cnp_sent, 5);
	assert_int_equal(stats()->np.np_ecn_marked_roce_packets, 6);
	assert_int_equal(info(0).cnps_sent, 5);
	/* An idle NP keeps no timer. */
	expect_silence(&solo, NEVER_NS);
	solo_destroy(&solo);
}

/* Facts 5.4: toward the sender of the marked packet, DSCP 48, ECT(0), BECN, PSN 0, 16 zero
 * bytes. */
TEST(cnp_looks_like_the_field_s)
{
	struct roce_view v;

	next_psn = 0;
	start_responder();
	feed_data(0, ECN_CE);
	assert_true(solo_take(&solo, 0, &v));
	assert_int_equal(v.opcode, ROCE_CNP);
	assert_int_equal(v.dscp, 48);
	assert_int_equal(v.ecn, ECN_ECT0);
	assert_int_equal(v.dest_qp, PAIR_QPN);
	assert_int_equal(v.psn, 0);
	assert_true(v.becn);
	assert_false(v.migreq);
	assert_false(v.ack_req);
	/* 74 bytes without FCS. */
	assert_int_equal(v.icrc_off + 4, 74);
	solo_destroy(&solo);
}

TEST(windows_of_two_qps_end_in_their_order)
{
	struct roce_path path = solo_path(&solo);
	struct roce_fields data = {.opcode = RC_WRITE_ONLY, .reth_dma_bytes = 8};
	struct roce_view v;

	start_responder();
	path.ecn = ECN_CE;
	/* Both QPs have one peer QP number here; what tells them apart is when they were marked. */
	for (uint32_t i = 0; i < 4; i++) {
		solo.now_ns = i * 10 * NS_PER_US;
		path.dest_qp = PAIR_QPN + i % 2;
		data.psn = i / 2;
		solo_feed_on(&solo, &path, &data, 8);
		assert_int_equal(solo_take(&solo, solo.now_ns, &v), i < 2);
	}
	/* A mark that comes as the window ends belongs to the next one, behind the other QP's. */
	solo.now_ns = 50 * NS_PER_US;
	path.dest_qp = PAIR_QPN;
	data.psn = 2;
	solo_feed_on(&solo, &path, &data, 8);
	assert_true(solo_take(&solo, NEVER_NS, &v));
	assert_int_equal(solo.now_ns, 50 * NS_PER_US);
	assert_true(solo_take(&solo, NEVER_NS, &v));
	assert_int_equal(solo.now_ns, 60 * NS_PER_US);
	assert_true(solo_take(&solo, NEVER_NS, &v));
	assert_int_equal(solo.now_ns, 100 * NS_PER_US);
	expect_silence(&solo, NEVER_NS);
	solo_destroy(&solo);
}

TEST(zero_interval_answers_every_mark)
{
	next_psn = 0;
	solo.params.np.np_min_time_between_cnps_us = 0;
	start_responder();
	for (unsigned int i = 0; i < 10; i++) {
		struct roce_view v;

		feed_data(i * 100, ECN_CE);
		assert_true(solo_take(&solo, i * 100 + 50, &v));
		assert_int_equal(v.opcode, ROCE_CNP);
	}
	expect_silence(&solo, NEVER_NS);
	assert_int_equal(stats()->np.np_cnp_sent, 10);
	solo_destroy(&solo);
}

TEST(marked_packet_beyond_a_gap_is_answered)
{
	struct roce_view v;

	next_psn = 5;
	start_responder();
	feed_data(0, ECN_CE);
	assert_true(solo_take(&solo, 0, &v));
	assert_int_equal(v.opcode, ROCE_CNP);
	assert_int_equal(stats()->out_of_sequence, 1);
	solo_destroy(&solo);
}

/* On a tagged link: PCP np_cnp_prio whatever that of the data is, and the queue of that PCP. */
TEST(tagged_cnp_has_a_priority_of_its_own)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_path path = solo_path(&solo);
	struct frame_view eth;
	struct roce_view v;
	struct rte_mbuf *m;

	solo.params.qos.trust = QOS_TRUST_PCP;
	qp.requester = false;
	qp.tagged = true;
	qp.vlan_tci = 3 << 13 | 100;
	solo_start(&solo, &qp);
	solo_feed_pause(&solo, 1 << 3, 0xFFFF);
	path.ecn = ECN_CE;
	path.tagged = true;
	path.vlan_tci = qp.vlan_tci;
	solo_feed_on(&solo, &path,
		     &(struct roce_fields){.opcode = RC_WRITE_ONLY, .reth_dma_bytes = 8}, 8);
	assert_int_equal(solo.nic->ops->tx(solo.nic, 0, &m, 1, 0), 1);
	nic_test_view(m, &eth, &v);
	rte_pktmbuf_free(m);
	assert_int_equal(v.opcode, ROCE_CNP);
	assert_true(eth.tagged);
	assert_int_equal(eth.vlan_tci, 6 << 13 | 100);
	solo_destroy(&solo);
}

/* With rp_min_dec_fac = 100 a CNP limits the QP and takes nothing from its rate. */
TEST(a_cnp_that_cuts_nothing_is_no_cut)
{
	struct roce_path path = solo_path(&solo);
	const struct nic_trace *trace;

	solo.params.rp.rp_min_dec_fac_pct = 100;
	solo_create_senders(&solo, 1);
	assert_int_equal(nic_trace_qp(solo.nic, 0, 16), 0);
	run(10 * NS_PER_US);
	feed_cnp(&path);
	assert_int_equal(info(0).cnps_handled, 1);
	assert_int_equal(info(0).rate_bps, 40 * GBPS);
	assert_int_equal(info(0).rate_cuts, 0);
	assert_int_equal(stats()->rp.rp_cuts, 0);
	trace = nic_traces(solo.nic)->trace[0];
	assert_int_equal(nic_trace_row(trace, nic_trace_rows(trace) - 1)->did,
			 CC_DID_CNP | CC_DID_ENGAGE);
	solo_destroy(&solo);
}

TEST(cnp_for_a_qp_that_never_sent_is_ignored)
{
	struct roce_path path = solo_path(&solo);

	start_responder();
	feed_cnp(&path);
	assert_int_equal(stats()->rp.rp_cnp_ignored, 1);
	assert_int_equal(stats()->rp.rp_cnp_handled, 0);
	assert_int_equal(stats()->rp.rp_cuts, 0);
	solo_destroy(&solo);
}

/* A READ response is data of the peer, asked for or not; UD is of another QP than the peer. */
TEST(marked_read_response_is_answered)
{
	static const struct {
		uint8_t opcode;
		bool want_cnp;
	} rows[] = {{RC_READ_RESP_ONLY, true}, {RC_READ_RESP_MIDDLE, true}, {UD_SEND_ONLY, false}};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct roce_path path;
		struct roce_view v;

		solo_init(&solo);
		path = solo_path(&solo);
		path.ecn = ECN_CE;
		start_responder();
		solo_feed_on(&solo, &path, &(struct roce_fields){.opcode = rows[i].opcode}, 1024);
		assert_int_equal(solo_take(&solo, 1000, &v), rows[i].want_cnp);
		if (rows[i].want_cnp)
			assert_int_equal(v.opcode, ROCE_CNP);
		assert_int_equal(stats()->np.np_ecn_marked_roce_packets, rows[i].want_cnp);
		assert_int_equal(stats()->drops[rows[i].want_cnp ? NIC_DROP_UNEXPECTED_RESPONSE
								 : NIC_DROP_WRONG_TRANSPORT],
				 1);
		solo_destroy(&solo);
	}
}

TEST(marks_on_cnp_and_ack_are_counted_only)
{
	struct roce_path path = solo_path(&solo);

	solo_create_senders(&solo, 1);
	run(2000);
	path.ecn = ECN_CE;
	feed_cnp(&path);
	solo_feed_on(&solo, &path,
		     &(struct roce_fields){.opcode = RC_ACK, .aeth_syndrome = AETH_ACK}, 0);
	run(10000);
	assert_int_equal(stats()->np.np_ce_on_control, 2);
	assert_int_equal(stats()->np.np_ecn_marked_roce_packets, 0);
	assert_int_equal(stats()->np.np_cnp_sent, 0);
	assert_int_equal(stats()->rp.rp_cnp_handled, 1);
	solo_destroy(&solo);
}

/* Facts 2.7: 40 Gb/s, one CNP, T = 55 us. The frames that leave show the rate, not a variable. */
TEST(one_cnp_halves_the_rate_which_then_recovers)
{
	static const struct {
		uint64_t until_us;
		double rate_mbps; /* in force since the row before */
	} rows[] = {
		{55, 40000},  {110, 20000}, {165, 30000}, {220, 35000},
		{275, 37500}, {330, 38750}, {385, 39375}, {440, 39687.5},
	};
	struct roce_path path = solo_path(&solo);
	uint64_t sent_bytes = 0;

	solo_create_senders(&solo, 1);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t bytes;

		run(rows[i].until_us * NS_PER_US);
		bytes = info(0).tx_wire_bytes - sent_bytes;
		sent_bytes += bytes;
		/* 55 us; a frame of 1106 wire bytes more or less at either end. */
		assert_true((double)bytes > rows[i].rate_mbps * 55 / 8 - 2400);
		assert_true((double)bytes < rows[i].rate_mbps * 55 / 8 + 2400);
		if (i == 0)
			feed_cnp(&path);
	}
	assert_int_equal(info(0).rate_cuts, 1);
	assert_int_equal(info(0).cnps_handled, 1);
	assert_int_equal(info(0).min_rate_bps, 20 * GBPS);
	assert_int_equal(stats()->rp.rp_cnp_handled, 1);
	solo_destroy(&solo);
}

/* The wait of a QP in the wheel was for tokens at the old rate: half of the rate, twice the
 * rest. */
TEST(cut_lengthens_a_wait_that_has_begun)
{
	struct roce_path path = solo_path(&solo);
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_view v;
	uint64_t last_ns;

	solo.params.qp_burst_bytes = 0;
	solo.params.rp.rp_max_rate_bps = GBPS;
	qp.messages = 0;
	solo_start(&solo, &qp);
	assert_true(solo_take(&solo, 100, &v));
	last_ns = solo.now_ns;
	/* First: 1024 + 98 wire bytes at 1 Gb/s are 8976 ns. A third of it is over at the CNP. */
	solo.now_ns = last_ns + 2992;
	feed_cnp(&path);
	assert_true(solo_take(&solo, NEVER_NS, &v));
	assert_in_range(solo.now_ns - last_ns, 2992 + 2 * 5984, 2992 + 2 * 5984 + 32);
	solo_destroy(&solo);
}

/* At 10 Mb/s a frame takes 885 us; the RP raises the rate each 55 us, and the wait gets shorter. */
TEST(slow_qp_profits_from_rises_while_it_waits)
{
	struct roce_path path = solo_path(&solo);
	struct roce_view v;
	uint64_t last_ns;

	solo.params.qp_burst_bytes = 0;
	solo_create_senders(&solo, 1);
	/* The second frame is a Middle. From its sending on, one whole wait from a known state. */
	assert_true(solo_take(&solo, 0, &v));
	assert_true(solo_take(&solo, NEVER_NS, &v));
	for (unsigned int i = 0; i < 100; i++)
		feed_cnp(&path);
	assert_int_equal(info(0).rate_bps, 10 * MBPS);
	last_ns = solo.now_ns;
	assert_true(solo_take(&solo, NEVER_NS, &v));
	/*
	 * 1106 bytes are 8848 bits. Target and current are 10 Mb/s, so five fast steps change
	 * nothing (the sixth event at 330 us adds 40 Mb/s to the target: 30 Mb/s, then 60, 95,
	 * ...). 330 us at 10 pay 3300, 55 us at 30 pay 1650, 55 at 60 pay 3300: 598 left at 95
	 * Mb/s.
	 */
	assert_in_range(solo.now_ns - last_ns, 440 * NS_PER_US, 450 * NS_PER_US);
	solo_destroy(&solo);
}

TEST(dcqcn_off_keeps_the_rate)
{
	struct roce_path path = solo_path(&solo);

	solo.params.cc = CC_NONE;
	solo_create_senders(&solo, 1);
	run(1000);
	feed_cnp(&path);
	assert_int_equal(info(0).rate_bps, 40 * GBPS);
	assert_int_equal(stats()->rp.rp_cnp_ignored, 1);
	assert_int_equal(stats()->rp.rp_cnp_handled, 0);
	solo_destroy(&solo);
}

TEST(spoofed_cnp_changes_no_rate)
{
	struct roce_path unknown = solo_path(&solo), below = unknown, stranger = unknown;
	struct roce_path other_family = unknown;

	unknown.dest_qp = PAIR_QPN + 1;
	below.dest_qp = PAIR_QPN - 1;
	stranger.src_ip[3] = 99;
	other_family.ip_version = 6;
	memcpy(other_family.dst_ip, solo.params.ip6.addr, 16);
	solo_create_senders(&solo, 1);
	run(1000);
	feed_cnp(&unknown);
	feed_cnp(&below);
	feed_cnp(&stranger);
	feed_cnp(&other_family);
	assert_int_equal(info(0).rate_bps, 40 * GBPS);
	assert_int_equal(info(0).cnps_handled, 0);
	/* Each is handled or ignored, so that sent = handled + ignored + lost. */
	assert_int_equal(stats()->rp.rp_cnp_ignored, 4);
	assert_int_equal(stats()->drops[NIC_DROP_UNKNOWN_QP], 2);
	assert_int_equal(stats()->drops[NIC_DROP_WRONG_PEER], 2);
	assert_int_equal(stats()->rp.rp_cnp_handled, 0);
	solo_destroy(&solo);
}

TEST(first_flow_starts_at_line_rate_the_next_as_told)
{
	static const struct {
		enum nic_initial_rate how;
		uint64_t want_bps[3];
	} rows[] = {
		{NIC_INITIAL_LINE, {40 * GBPS, 40 * GBPS, 40 * GBPS}},
		{NIC_INITIAL_FAIR, {40 * GBPS, 20 * GBPS, 40 * GBPS / 3}},
		{NIC_INITIAL_VALUE, {40 * GBPS, 7 * GBPS, 7 * GBPS}},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		solo_init(&solo);
		solo.params.initial_rate = rows[i].how;
		solo.params.initial_rate_bps = 7 * GBPS;
		solo_create_senders(&solo, 3);
		run(1000);
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(info(k).rate_bps, rows[i].want_bps[k]);
		solo_destroy(&solo);
	}
}

TEST(flow_after_the_last_has_ended_starts_at_line_rate)
{
	struct nic_qp_params first = nic_test_qp(0), second = first;
	struct roce_fields ack = {.opcode = RC_ACK, .aeth_syndrome = AETH_ACK, .psn = 2};

	solo.params.initial_rate = NIC_INITIAL_FAIR;
	first.messages = 1;
	second.start_ns = 50000;
	solo_create(&solo, 64);
	nic_add_qp(solo.nic, &first, 0);
	nic_add_qp(solo.nic, &second, 0);
	assert_int_equal(run(10000), 3);
	solo_feed(&solo, ack, 0);
	assert_true(info(0).done);
	run(60000);
	assert_int_equal(info(1).rate_bps, 40 * GBPS);
	solo_destroy(&solo);
}

static enum fate
mark_all(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	bool *lose_cnps = p->arg;

	(void)n;
	if (v->opcode == ROCE_CNP && *lose_cnps)
		return FATE_LOSE;
	return from == 0 ? FATE_MARK : FATE_PASS;
}

/* Facts 3: in t of continuous CE, 1 + floor(t / N) CNPs at most; and each one cuts. */
TEST(continuous_marks_close_the_loop)
{
	struct nic_qp_params qp = nic_test_qp(0);
	bool lose_cnps = false;
	const struct nic_stats *a, *b;

	pair_init(&pair);
	pair.fate = mark_all;
	pair.arg = &lose_cnps;
	pair_create(&pair, 512);
	qp.messages = 0;
	qp.depth = 1000;
	qp.message_bytes = 1 << 20;
	pair_connect(&pair, &qp);
	pair_run(&pair, 510 * NS_PER_US);
	a = nic_stats(pair.nic[0]);
	b = nic_stats(pair.nic[1]);
	assert_in_range(b->np.np_cnp_sent, 10, 11);
	assert_int_equal(a->rp.rp_cnp_handled, b->np.np_cnp_sent);
	/* Each CNP halves it (alpha stays 1): 40 Gb/s down to the floor of 10 Mb/s takes 12. */
	assert_true(pair_info(&pair, 0, 0).rate_bps < 80 * MBPS);
	assert_int_equal(pair_info(&pair, 0, 0).rate_cuts, a->rp.rp_cuts);
	pair_destroy(&pair);
}

TEST(lost_cnps_leave_the_rate)
{
	struct nic_qp_params qp = nic_test_qp(0);
	bool lose_cnps = true;

	pair_init(&pair);
	pair.fate = mark_all;
	pair.arg = &lose_cnps;
	pair_create(&pair, 512);
	qp.messages = 0;
	pair_connect(&pair, &qp);
	pair_run(&pair, 200 * NS_PER_US);
	assert_int_equal(pair_info(&pair, 0, 0).rate_bps, 40 * GBPS);
	assert_true(nic_stats(pair.nic[1])->np.np_cnp_sent >= 3);
	lose_cnps = false;
	/* The NP does not know of the loss: the next window's CNP does it. */
	pair_run(&pair, 260 * NS_PER_US);
	assert_true(pair_info(&pair, 0, 0).rate_cuts >= 1);
	pair_destroy(&pair);
}

/* mlx: the CNP marks slots, the cut comes with the end of the monitor slot, with no packet then. */
TEST(mlx_cut_comes_at_the_end_of_its_slot)
{
	struct roce_path path = solo_path(&solo);

	rp_params_default(&solo.params.rp, RP_PROFILE_MLX);
	solo_create_senders(&solo, 1);
	run(1000);
	feed_cnp(&path);
	run(4900);
	assert_int_equal(info(0).rate_cuts, 0);
	run(5400);
	assert_int_equal(info(0).rate_cuts, 1);
	/* 100 % - alpha/2 after four slots: facts 2.7 says 51017 of 100000. */
	assert_in_range(info(0).rate_bps, 20400 * MBPS, 20415 * MBPS);
	solo_destroy(&solo);
}

/* Facts 2.6: recovered, the limiter is freed; the next CNP limits again, with alpha set anew. */
TEST(limiter_is_freed_and_engaged_again)
{
	struct roce_path path = solo_path(&solo);

	rp_params_default(&solo.params.rp, RP_PROFILE_MLX);
	solo.params.rp.rp_ai_rate_bps = 5 * GBPS;
	solo_create_senders(&solo, 1);
	run(1000);
	assert_int_equal(stats()->rp.rp_engagements, 0);
	feed_cnp(&path);
	assert_int_equal(stats()->rp.rp_engagements, 1);
	run(30 * NS_PER_MS);
	assert_int_equal(info(0).rate_bps, 40 * GBPS);
	assert_int_equal(stats()->rp.rp_releases, 1);
	feed_cnp(&path);
	assert_int_equal(stats()->rp.rp_engagements, 2);
	assert_int_equal(info(0).alpha_q32, 1023ull << 22);
	solo_destroy(&solo);
}

/* A start below the line rate is limited from the start, and recovers to the line rate. */
TEST(start_below_line_rate_is_an_engagement)
{
	solo.params.initial_rate = NIC_INITIAL_VALUE;
	solo.params.initial_rate_bps = 7 * GBPS;
	solo.params.rp.rp_ai_rate_bps = GBPS;
	solo_create_senders(&solo, 2);
	run(1000);
	assert_int_equal(info(1).rate_bps, 7 * GBPS);
	assert_int_equal(stats()->rp.rp_engagements, 1);
	run(20 * NS_PER_MS);
	assert_int_equal(info(1).rate_bps, 40 * GBPS);
	assert_int_equal(stats()->rp.rp_releases, 1);
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = solo_setup)
