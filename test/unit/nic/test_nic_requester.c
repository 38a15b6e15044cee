/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester: which packets leave, and when. */
#include "unit/nic/requester_test.h"

#include "base/numbers/array.h"
#include "base/numbers/prng.h"

TEST(message_is_first_middle_last_with_reth_on_first)
{
	static const struct {
		uint8_t opcode;
		uint16_t payload_bytes;
		bool ack_req;
	} want[] = {
		{RC_WRITE_FIRST, 1024, false},
		{RC_WRITE_MIDDLE, 1024, false},
		{RC_WRITE_LAST, 512, true},
	};
	struct nic_qp_params qp = nic_test_qp(0);

	qp.messages = 2;
	qp.initial_psn = 100;
	play(&qp);
	assert_int_equal(seen.n, 6);
	for (unsigned int i = 0; i < 6; i++) {
		const struct roce_view *v = &seen.v[i];

		assert_int_equal(v->opcode, want[i % 3].opcode);
		assert_int_equal(v->payload_bytes, want[i % 3].payload_bytes);
		assert_int_equal(v->ack_req, want[i % 3].ack_req);
		assert_int_equal(v->psn, 100 + i);
		assert_int_equal(v->reth_dma_bytes, i % 3 == 0 ? 2560 : 0);
		assert_int_equal(v->dscp, 26);
		assert_int_equal(v->ecn, ECN_ECT0);
		assert_int_equal(v->dest_qp, PAIR_QPN);
		assert_true(v->migreq);
		assert_int_equal(v->udp_sport, roce_udp_sport(roce_flow_label(PAIR_QPN, PAIR_QPN)));
	}
	expect_complete(&qp);
}

/* All packets of a message, and their ICRCs, which the peer checks. */
TEST(a_flow_may_have_a_udp_source_port_of_its_own)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.messages = 2;
	qp.udp_sport = 4242;
	play(&qp);
	assert_int_equal(seen.n, 6);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(seen.v[i].udp_sport, 4242);
	expect_complete(&qp);
}

TEST(short_and_empty_messages_are_one_packet)
{
	static const uint16_t sizes[] = {0, 1, 3, 1023, 1024};

	for (unsigned int i = 0; i < ARRAY_LEN(sizes); i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		setup(NULL);
		qp.message_bytes = sizes[i];
		qp.messages = 3;
		play(&qp);
		assert_int_equal(seen.n, 3);
		for (unsigned int k = 0; k < 3; k++) {
			assert_int_equal(seen.v[k].opcode, RC_WRITE_ONLY);
			assert_int_equal(seen.v[k].payload_bytes, sizes[i]);
			assert_int_equal(seen.v[k].reth_dma_bytes, sizes[i]);
			assert_true(seen.v[k].ack_req);
		}
		expect_complete(&qp);
	}
}

TEST(every_address_family_and_tag_completes)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		setup(NULL);
		if (i & 1)
			qp.peer_ip = pair.params[1].ip6;
		qp.tagged = i & 2;
		qp.vlan_tci = 3 << 13 | 100;
		play(&qp);
		assert_int_equal(seen.v[0].ip_version, i & 1 ? 6 : 4);
		expect_complete(&qp);
	}
}

TEST(ack_is_asked_for_on_each_nth_packet_and_the_last)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].ack_every = 4;
	qp.message_bytes = 10 * 1024;
	qp.messages = 1;
	play(&qp);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(seen.v[i].ack_req, i == 3 || i == 7 || i == 9);
	assert_int_equal(stats(1)->acks_sent, 3);
	assert_int_equal(stats(0)->acks_received, 3);
	expect_complete(&qp);
}

TEST(one_ack_for_every_frame)
{
	struct nic_qp_params qp = nic_test_qp(0);

	pair.params[0].ack_every = 1;
	play(&qp);
	assert_int_equal(seen.n, 12);
	assert_int_equal(stats(0)->acks_received, 12);
	expect_complete(&qp);
}

/* Loses all ACKs and counts how far the sender goes without. */
TEST(window_and_depth_bound_what_is_unacknowledged)
{
	static const struct {
		uint32_t window_packets, depth, want;
	} cases[] = {{5, 4, 5}, {100, 2, 6}, {6, 2, 6}, {1, 1, 1}};

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		setup(NULL);
		pair.params[0].window_packets = cases[i].window_packets;
		pair.params[0].ack_every = 100;
		seen.lose_ack_to = 1000;
		qp.depth = cases[i].depth;
		start(&qp);
		pair_run(&pair, NS_PER_MS);
		assert_int_equal(seen.n, cases[i].want);
		/* The packet that fills the window asks for the ACK that will open it. */
		assert_true(seen.v[seen.n - 1].ack_req);
		seen.lose_ack_to = 0;
		pair_run(&pair, NEVER_NS);
		expect_complete(&qp);
	}
}

TEST(stop_time_finishes_what_has_begun)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.messages = 0;
	qp.depth = 8;
	qp.start_ns = 5000;
	qp.stop_ns = 20000;
	start(&qp);
	assert_false(nic_done(pair.nic[0]));
	pair_run(&pair, NEVER_NS);
	assert_in_range(seen.at_ns[0], 5000, 5032);
	assert_true(seen.at_ns[seen.n - 1] < 20000 + 3 * 300);
	assert_int_equal(seen.v[seen.n - 1].opcode, RC_WRITE_LAST);
	/* 15 us at 40G, 940 wire bytes on average, and no more than the message begun last. */
	assert_in_range(seen.n, 79, 83);
	qp.messages = seen.n / 3;
	assert_int_equal(seen.n % 3, 0);
	expect_complete(&qp);
}

TEST(qps_share_the_wire_round_robin)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.message_bytes = 100 * 1024;
	qp.messages = 1;
	pair_create(&pair, 512);
	for (unsigned int i = 0; i < 4; i++)
		pair_connect(&pair, &qp);
	pair_run(&pair, 50000);
	for (unsigned int i = 0; i + 4 <= 200; i += 4)
		for (unsigned int k = 0; k < 4; k++)
			assert_int_equal(seen.v[i + k].dest_qp, seen.v[k].dest_qp);
	pair_run(&pair, NEVER_NS);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(pair_info(&pair, 0, i).done);
	pair_destroy(&pair);
}

TEST(rate_cap_paces_to_the_byte)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint64_t sent_bytes, allowed;

	qp.rate_cap_bps = 3 * GBPS;
	qp.messages = 0;
	qp.depth = 100;
	start(&qp);
	pair_run(&pair, NS_PER_MS);
	sent_bytes = pair_info(&pair, 0, 0).tx_wire_bytes;
	allowed = 3 * GBPS / 8 / 1000; /* bytes in 1 ms */
	assert_in_range(sent_bytes, allowed - 1200, allowed + 2048 + 1200);
	pair_destroy(&pair);
}

TEST(line_rate_fills_the_link)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint64_t wire_ns;

	pair.params[0].qp_burst_bytes = 5; /* that of the port: no credit to hide behind */
	qp.message_bytes = 64 * 1024;
	qp.messages = 0;
	qp.depth = 100;
	start(&qp);
	pair_run(&pair, 500000);
	/* Not a nanosecond is lost to the wheel: the wire time of what left is the time. */
	wire_ns = serialization_ns((uint32_t)pair_info(&pair, 0, 0).tx_wire_bytes, 40 * GBPS);
	assert_in_range(wire_ns, 500000 - 100, 500000 + 300);
	pair_destroy(&pair);
}

TEST(data_pool_exhausted_delays_and_loses_nothing)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.messages = 50;
	qp.depth = 50;
	pair_play(&pair, 3, &qp);
	assert_true(stats(0)->no_mbuf > 0);
	assert_int_equal(seen.n, 150);
	assert_int_equal(stats(0)->retransmitted_packets, 0);
	expect_complete(&qp);
}

/* Payload of a frame that reuses an mbuf is whole: the cable verifies each ICRC. */
TEST(few_mbufs_carry_messages_of_all_lengths)
{
	struct prng r;

	prng_seed(&r, 1, 0);
	pair.params[0].link_speed_bps = 100 * GBPS;
	pair.fate = NULL;
	pair_create(&pair, 7);
	for (unsigned int i = 0; i < 16; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		qp.mtu_bytes = (uint16_t)(256u << prng_below(&r, 5));
		qp.message_bytes = prng_below(&r, 9000);
		qp.messages = 20;
		if (i % 3 == 0)
			qp.peer_ip = pair.params[1].ip6;
		pair_connect(&pair, &qp);
	}
	pair_run(&pair, NEVER_NS);
	for (unsigned int i = 0; i < 16; i++) {
		assert_true(pair_info(&pair, 0, i).done);
		assert_int_equal(pair_info(&pair, 1, i).rx_messages, 20);
	}
	assert_int_equal(stats(1)->drops[NIC_DROP_BAD_ICRC], 0);
	pair_destroy(&pair);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
