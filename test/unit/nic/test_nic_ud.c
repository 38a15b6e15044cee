/* SPDX-License-Identifier: BSD-3-Clause */
/* UD SEND: what leaves, what is taken, what is missed, and who slows down. */
#include "base/numbers/array.h"
#include "unit/nic/nic_test.h"

#include "base/numbers/prng.h"

static struct {
	struct roce_view seen[64];
	unsigned int n;
	bool mark;
	uint32_t lose_ppm, lost;
	struct prng prng;
} script;

static enum fate
watch(struct pair *p, unsigned int from, uint64_t n, const struct roce_view *v)
{
	(void)p;
	(void)n;
	if (from == 1)
		return FATE_PASS;
	if (script.n < 64)
		script.seen[script.n++] = *v;
	if (script.lose_ppm > 0 && prng_below(&script.prng, 1000000) < script.lose_ppm) {
		script.lost++;
		return FATE_LOSE;
	}
	if (script.mark)
		return FATE_MARK;
	return FATE_PASS;
}

static int
setup(void **state)
{
	(void)state;
	pair_watch(&pair, watch, &script, sizeof(script));
	solo_init(&solo);
	return 0;
}

static struct nic_qp_params
ud_qp(void)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.verb = NIC_UD_SEND;
	qp.qkey = 0x80010001;
	qp.message_bytes = 1000;
	qp.messages = 10;
	return qp;
}

static void
run(const struct nic_qp_params *qp)
{
	pair_play(&pair, 128, qp);
}

static const struct nic_stats *
stats(unsigned int host)
{
	return nic_stats(pair.nic[host]);
}

TEST(message_is_one_packet_that_nobody_acknowledges)
{
	struct nic_qp_params qp = ud_qp();
	struct nic_qp_info a, b;

	qp.initial_psn = 0xFFFFFE;
	run(&qp);
	assert_int_equal(script.n, 10);
	for (unsigned int i = 0; i < 10; i++) {
		const struct roce_view *v = &script.seen[i];

		assert_int_equal(v->opcode, UD_SEND_ONLY);
		assert_int_equal(v->psn, (0xFFFFFE + i) & PSN_MASK);
		assert_int_equal(v->deth_qkey, 0x80010001);
		assert_int_equal(v->deth_src_qp, PAIR_QPN);
		assert_int_equal(v->payload_bytes, 1000);
		assert_int_equal(v->pad, 0);
		assert_false(v->ack_req);
		assert_int_equal(v->ecn, ECN_ECT0);
	}
	a = pair_info(&pair, 0, 0);
	b = pair_info(&pair, 1, 0);
	assert_true(a.done);
	assert_int_equal(a.tx_messages, 10);
	assert_int_equal(a.tx_packets, 10);
	assert_int_equal(b.rx_messages, 10);
	assert_int_equal(b.rx_packets, 10);
	assert_int_equal(b.rx_payload_bytes, 10000);
	assert_int_equal(stats(1)->rx_send_requests, 10);
	assert_int_equal(stats(1)->tx_packets, 0);
	assert_int_equal(stats(1)->rx_ud_missed_packets, 0);
	pair_destroy(&pair);
}

TEST(all_sizes_mtus_and_families_arrive)
{
	static const uint16_t mtus[] = {256, 512, 1024, 2048, 4096, 4352, 8960};

	for (unsigned int m = 0; m < ARRAY_LEN(mtus); m++)
		for (unsigned int i = 0; i < 5; i++) {
			const uint16_t mtu = mtus[m];
			const uint16_t sizes[] = {0, 1, 255, (uint16_t)(mtu - 1), mtu};
			struct nic_qp_params qp = ud_qp();

			setup(NULL);
			qp.mtu_bytes = mtu;
			qp.message_bytes = sizes[i];
			qp.tagged = i & 1;
			if (i & 2)
				qp.peer_ip = pair.params[1].ip6;
			run(&qp);
			assert_int_equal(pair_info(&pair, 1, 0).rx_messages, 10);
			assert_int_equal(pair_info(&pair, 1, 0).rx_payload_bytes, 10 * sizes[i]);
			pair_destroy(&pair);
		}
}

/* Each of the ten packets in turn. Nothing shows that the last one is missing. */
TEST(what_is_lost_doubled_or_late_is_counted)
{
	static const struct {
		enum fate fate;
		unsigned int delivered, missed, late;
	} rows[] = {
		{FATE_LOSE, 9, 1, 0},
		{FATE_DUPLICATE, 11, 0, 1},
		{FATE_OVERTAKEN, 10, 1, 1},
	};

	for (unsigned int k = 0; k < 3 * 9; k++) {
		struct nic_qp_params qp = ud_qp();

		setup(NULL);
		pair.mishap.frame = k / 3;
		pair.mishap.fate = rows[k % 3].fate;
		run(&qp);
		assert_int_equal(pair_info(&pair, 1, 0).rx_messages, rows[k % 3].delivered);
		assert_int_equal(stats(1)->rx_ud_missed_packets, rows[k % 3].missed);
		assert_int_equal(stats(1)->rx_ud_late_packets, rows[k % 3].late);
		assert_int_equal(stats(0)->retransmitted_packets, 0);
		pair_destroy(&pair);
	}
}

TEST(loss_at_random_is_what_was_passed_over)
{
	struct nic_qp_params qp = ud_qp();

	prng_seed(&script.prng, 3, 0);
	script.lose_ppm = 10000;
	qp.messages = 5000;
	run(&qp);
	assert_true(script.lost > 20);
	assert_int_equal(pair_info(&pair, 1, 0).rx_messages, 5000 - script.lost);
	assert_int_equal(stats(1)->rx_ud_missed_packets, script.lost);
	pair_destroy(&pair);
}

TEST(marks_slow_the_sender)
{
	struct nic_qp_params qp = ud_qp();
	struct nic_qp_info a;

	script.mark = true;
	qp.messages = 2000;
	pair_create(&pair, 128);
	pair_connect(&pair, &qp);
	pair_run(&pair, 200 * NS_PER_US);
	a = pair_info(&pair, 0, 0);
	assert_true(stats(1)->np.np_cnp_sent >= 3);
	assert_int_equal(a.cnps_handled, stats(1)->np.np_cnp_sent);
	assert_true(a.rate_bps < 10 * GBPS);
	pair_destroy(&pair);
}

TEST(messages_longer_than_a_packet_are_refused)
{
	static struct workload_cdf cdf = {.n = 1, .bytes = {5000}, .share_q32 = {1ull << 32}};
	struct nic_qp_params qp = ud_qp();
	char why[256] = "";

	qp.message_bytes = 1025;
	assert_int_equal(nic_qp_params_check(&qp, &pair.params[0], why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "mtu_bytes"));
	qp.message_bytes = 1024;
	assert_int_equal(nic_qp_params_check(&qp, &pair.params[0], why, sizeof(why)), 0);
	qp.message_size = WORKLOAD_CDF;
	qp.cdf = &cdf;
	assert_int_equal(nic_qp_params_check(&qp, &pair.params[0], why, sizeof(why)), -EINVAL);
}

static void
feed(uint8_t opcode, uint32_t qkey, uint32_t src_qp, uint16_t payload_bytes)
{
	struct roce_path path = solo_path(&solo);
	struct roce_fields fields = {.opcode = opcode,
				     .deth_qkey = qkey,
				     .deth_src_qp = src_qp,
				     .aeth_syndrome = AETH_ACK,
				     .reth_dma_bytes = payload_bytes,
				     .ack_req = true};

	path.ecn = ECN_CE;
	solo_feed_on(&solo, &path, &fields, payload_bytes);
}

/* All marked: only what is accepted is answered with a CNP, and that goes to the source QP. */
TEST(what_is_not_a_datagram_of_the_peer_is_dropped_by_name)
{
	struct nic_qp_params qp = ud_qp();
	struct nic_qp_info info;
	struct roce_view v;
	const uint64_t *drops;

	solo_create(&solo, 64);
	qp.requester = false;
	qp.peer_qpn = 99;
	assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN);
	drops = nic_stats(solo.nic)->drops;
	feed(UD_SEND_ONLY, 0x80010000, 99, 8);
	assert_int_equal(drops[NIC_DROP_BAD_QKEY], 1);
	feed(UD_SEND_ONLY, 0x80010001, 98, 8);
	assert_int_equal(drops[NIC_DROP_WRONG_PEER], 1);
	feed(RC_READ_RESP_ONLY, 0, 0, 8);
	assert_int_equal(drops[NIC_DROP_UNEXPECTED_RESPONSE], 1);
	while (solo_take(&solo, 100, &v))
		assert_int_equal(v.opcode, ROCE_CNP);
	solo.now_ns = 100000;
	while (solo_take(&solo, 100000, &v))
		assert_int_equal(v.opcode, ROCE_CNP);
	feed(RC_WRITE_ONLY, 0, 0, 8);
	feed(RC_SEND_ONLY, 0, 0, 8);
	feed(RC_READ_REQUEST, 0, 0, 0);
	assert_int_equal(drops[NIC_DROP_WRONG_TRANSPORT], 3);
	nic_qp_info(solo.nic, 0, &info);
	assert_int_equal(info.rx_messages, 0);
	feed(UD_SEND_ONLY, 0x80010001, 99, 1028);
	assert_int_equal(drops[NIC_DROP_UNEXPECTED_OPCODE], 1);
	while (solo_take(&solo, 300000, &v))
		assert_int_equal(v.opcode, ROCE_CNP);
	solo.now_ns = 400000;
	feed(UD_SEND_ONLY_IMM, 0x80010001, 99, 8);
	assert_true(solo_take(&solo, 400000, &v));
	assert_int_equal(v.opcode, ROCE_CNP);
	assert_int_equal(v.dest_qp, 99);
	expect_silence(&solo, NEVER_NS);
	nic_qp_info(solo.nic, 0, &info);
	assert_int_equal(info.rx_messages, 1);
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
