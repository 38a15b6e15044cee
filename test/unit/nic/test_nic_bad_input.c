/* SPDX-License-Identifier: BSD-3-Clause */
/* What the NIC does with frames and parameters that are wrong: each has a name, none does harm. */
#include "unit/nic/nic_test.h"

#include <errno.h>

#include "base/numbers/array.h"
#include "base/numbers/prng.h"

/* A requester with three packets out; no timer, so that only what is received can move it. */
static void
start(void)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.messages = 1;
	solo.params.local_ack_timeout = 0;
	solo_start(&solo, &qp);
	solo_run(&solo, 2000);
}

static uint64_t
drops(enum nic_drop d)
{
	return nic_stats(solo.nic)->drops[d];
}

/* A right frame of n bytes towards our QP. */
static uint16_t
good_frame(uint8_t *buf, uint8_t opcode)
{
	struct roce_path path = solo_path(&solo);
	struct roce_fields fields = {
		.opcode = opcode, .reth_dma_bytes = 8, .aeth_syndrome = AETH_ACK, .psn = 0};

	return (uint16_t)roce_build(buf, 256, &path, &fields, "payload",
				    opcode == RC_ACK || opcode == ROCE_CNP ? 0 : 8);
}

/* What the NIC tells a capture. */
struct told {
	struct node_drops drops; /* first */
	unsigned int n;
	const char *reason;
};

static void
on_dropped(struct node_drops *drops, uint16_t port, const struct rte_mbuf *m, const char *reason)
{
	struct told *told = (struct told *)drops;

	assert_int_equal(port, 0);
	assert_non_null(m);
	told->n++;
	told->reason = reason;
}

/* Change one byte of a good WRITE Only (or the frame's length), with the ICRC as it was. */
TEST(each_broken_frame_is_dropped_by_name)
{
	static const struct {
		int at;        /* byte to change; -1: the length */
		uint8_t value; /* or bytes to cut off */
		enum nic_drop want;
	} rows[] = {
		{-1, 80, NIC_DROP_MALFORMED},   /* 2 bytes of Ethernet are left of 82 */
		{-1, 60, NIC_DROP_MALFORMED},   /* IP header cut */
		{-1, 10, NIC_DROP_MALFORMED},   /* shorter than the IP length says */
		{14, 0x65, NIC_DROP_MALFORMED}, /* IP version */
		{24, 0x77, NIC_DROP_MALFORMED}, /* IP checksum */
		{5, 0x07, NIC_DROP_NOT_FOR_US}, /* another station */
		{0, 0x03, NIC_DROP_NOT_FOR_US}, /* a group */
		{12, 0x12, NIC_DROP_NOT_ROCE},  /* EtherType 0x1200 */
		{37, 0xB8, NIC_DROP_NOT_ROCE},  /* UDP port 4792 */
		{39, 0x01, NIC_DROP_BAD_ROCE},  /* UDP length */
		{42, 0x04, NIC_DROP_BAD_ICRC},  /* SEND Only */
		{42, 0xF0, NIC_DROP_UNKNOWN_OPCODE},
		{42, 0x24, NIC_DROP_UNKNOWN_OPCODE}, /* UC SEND Only */
		{43, 0x01, NIC_DROP_BAD_ROCE},       /* transport header version */
		{53, 0x05, NIC_DROP_BAD_ICRC},       /* PSN */
		{71, 'x', NIC_DROP_BAD_ICRC},        /* payload */
	};
	struct told told = {.drops = {.wanted = true, .dropped = on_dropped}};

	start();
	solo.nic->ops->watch_drops(solo.nic, &told.drops);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t before[NIC_DROPS];
		uint8_t frame[256];
		uint16_t n = good_frame(frame, RC_WRITE_ONLY);

		memcpy(before, nic_stats(solo.nic)->drops, sizeof(before));
		assert_int_equal(n, 82);
		if (rows[i].at < 0)
			n = (uint16_t)(n - rows[i].value);
		else
			frame[rows[i].at] = rows[i].value;
		solo_feed_bytes(&solo, frame, n);
		for (int d = 0; d < NIC_DROPS; d++)
			if (drops(d) != before[d] + ((int)rows[i].want == d))
				fail_msg("row %u: %s", i, nic_drop_name(d));
		assert_int_equal(told.n, i + 1);
		assert_string_equal(told.reason, nic_drop_name(rows[i].want));
	}
	expect_silence(&solo, NEVER_NS);
	solo_destroy(&solo);
}

/* The same addresses on another VLAN are another host. A priority tag is no VLAN. */
TEST(frames_of_another_vlan_are_dropped_by_name)
{
	static const struct {
		bool tagged;
		uint16_t tci;
		uint16_t vlan; /* of frames that the flow takes */
	} flows[] = {{false, 0, 0}, {true, 0xE000, 0}, {true, 0x6007, 7}};

	for (unsigned int i = 0; i < ARRAY_LEN(flows); i++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct roce_path path;
		uint32_t psn = 0;

		solo_init(&solo);
		qp.requester = false;
		qp.tagged = flows[i].tagged;
		qp.vlan_tci = flows[i].tci;
		solo_start(&solo, &qp);
		path = solo_path(&solo);
		for (int vlan = -1; vlan < 10; vlan++) {
			bool taken = flows[i].vlan == (vlan < 0 ? 0 : vlan);
			uint64_t before = drops(NIC_DROP_WRONG_VLAN);

			path.tagged = vlan >= 0;
			path.vlan_tci = (uint16_t)(0x4000 | (vlan & 0xFFF));
			solo_feed_on(&solo, &path,
				     &(struct roce_fields){.opcode = RC_SEND_ONLY, .psn = psn}, 8);
			psn += taken;
			assert_int_equal(drops(NIC_DROP_WRONG_VLAN), before + !taken);
		}
		assert_int_equal(psn, flows[i].vlan == 0 ? 2 : 1);
		assert_int_equal(pair_info(&(struct pair){.nic = {solo.nic}}, 0, 0).rx_messages,
				 psn);
		solo_destroy(&solo);
	}
}

TEST(frames_of_others_are_dropped_by_name)
{
	static const struct {
		uint8_t opcode;
		uint8_t aeth_syndrome;
		uint32_t psn;
		uint16_t payload_bytes;
		enum nic_drop want;
	} rows[] = {
		{RC_ACK, AETH_ACK, 3, 0, NIC_DROP_UNEXPECTED_ACK},        /* not sent yet */
		{RC_ACK, AETH_ACK, 0xFFFFFF, 0, NIC_DROP_UNEXPECTED_ACK}, /* before the first */
		{RC_ACK, AETH_NAK_PSN_SEQ, 9, 0, NIC_DROP_UNEXPECTED_ACK},
		{RC_ACK, 0x80 | AETH_RNR_NAK, 0, 0, NIC_DROP_UNEXPECTED_ACK}, /* reserved bit */
		{RC_ACK, 0x40, 0, 0, NIC_DROP_UNEXPECTED_ACK},                /* reserved kind */
		{RC_READ_RESP_ONLY, AETH_ACK, 0, 8, NIC_DROP_UNEXPECTED_RESPONSE},
		{RC_READ_RESP_MIDDLE, 0, 0, 1024, NIC_DROP_UNEXPECTED_RESPONSE},
		{UD_SEND_ONLY, 0, 0, 8, NIC_DROP_WRONG_TRANSPORT},
	};

	start();
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t before = drops(rows[i].want);

		solo_feed(&solo,
			  (struct roce_fields){.opcode = rows[i].opcode,
					       .aeth_syndrome = rows[i].aeth_syndrome,
					       .psn = rows[i].psn},
			  rows[i].payload_bytes);
		assert_int_equal(drops(rows[i].want), before + 1);
	}
	expect_silence(&solo, NEVER_NS);
	assert_int_equal(nic_stats(solo.nic)->qp_errors, 0);
	assert_int_equal(nic_stats(solo.nic)->retransmitted_packets, 0);
	solo_destroy(&solo);
}

TEST(frame_to_another_address_or_qp_is_dropped_by_name)
{
	struct roce_fields fields = {.opcode = RC_WRITE_ONLY, .reth_dma_bytes = 8};
	struct roce_path path;

	start();
	path = solo_path(&solo);
	path.dst_ip[3] = 7;
	solo_feed_on(&solo, &path, &fields, 8);
	assert_int_equal(drops(NIC_DROP_NOT_FOR_US), 1);
	path = solo_path(&solo);
	path.dest_qp = QPN_MASK;
	solo_feed_on(&solo, &path, &fields, 8);
	assert_int_equal(drops(NIC_DROP_UNKNOWN_QP), 1);
	path = solo_path(&solo);
	path.src_ip[0] = 11;
	solo_feed_on(&solo, &path, &fields, 8);
	assert_int_equal(drops(NIC_DROP_WRONG_PEER), 1);
	expect_silence(&solo, NEVER_NS);
	solo_destroy(&solo);
}

TEST(late_ack_changes_nothing)
{
	struct roce_fields ack = {.opcode = RC_ACK, .aeth_syndrome = AETH_ACK, .psn = 1};

	start();
	solo_feed(&solo, ack, 0);
	ack.psn = 0;
	solo_feed(&solo, ack, 0);
	ack.aeth_syndrome = AETH_NAK_PSN_SEQ;
	solo_feed(&solo, ack, 0);
	assert_int_equal(drops(NIC_DROP_UNEXPECTED_ACK), 0);
	expect_silence(&solo, NEVER_NS);
	assert_int_equal(nic_stats(solo.nic)->retransmitted_packets, 0);
	solo_destroy(&solo);
}

TEST(icrc_check_off_takes_the_frame)
{
	uint8_t frame[256];
	uint16_t n;

	solo.params.icrc_check = false;
	start();
	n = good_frame(frame, RC_WRITE_ONLY);
	frame[71] ^= 1;
	solo_feed_bytes(&solo, frame, n);
	assert_int_equal(drops(NIC_DROP_BAD_ICRC), 0);
	assert_int_equal(nic_stats(solo.nic)->rx_write_requests, 1);
	solo_destroy(&solo);
}

TEST(mac_control_is_pfc_or_dropped_by_name)
{
	uint8_t frame[PFC_FRAME_BYTES];
	uint16_t quanta[8] = {0};

	start();
	pfc_frame_build(frame, (uint8_t[6]){2, 0, 0, 0, 0, 9}, 0xFF, quanta);
	solo_feed_bytes(&solo, frame, PFC_MIN_BYTES - 1);
	assert_int_equal(drops(NIC_DROP_MAC_CONTROL_MALFORMED), 1);
	frame[15] = 0x77;
	solo_feed_bytes(&solo, frame, sizeof(frame));
	assert_int_equal(drops(NIC_DROP_MAC_CONTROL_UNKNOWN), 1);
	frame[5] = 0x02; /* 01:80:C2:00:00:02 is not a pause address */
	solo_feed_bytes(&solo, frame, sizeof(frame));
	assert_int_equal(drops(NIC_DROP_MAC_CONTROL_ADDRESS), 1);
	assert_int_equal(drops(NIC_DROP_NOT_FOR_US), 0);
	assert_int_equal(nic_stats(solo.nic)->rx_pause_frames, 0);
	solo_destroy(&solo);
}

TEST(frame_of_two_segments_is_malformed)
{
	uint8_t frame[256];
	struct rte_mbuf *head, *tail;

	start();
	head = solo_mbuf(&solo, frame, good_frame(frame, RC_WRITE_ONLY));
	tail = solo_mbuf(&solo, frame, 10);
	assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
	solo.nic->ops->rx(solo.nic, 0, &head, 1, solo.now_ns);
	assert_int_equal(drops(NIC_DROP_MALFORMED), 1);
	solo_destroy(&solo);
}

/* Bytes turned at random: every frame is used or dropped under one name, and no mbuf is lost. */
TEST(random_damage_is_counted_frame_by_frame)
{
	static const uint8_t opcodes[] = {RC_WRITE_ONLY, RC_ACK, ROCE_CNP};
	const struct nic_stats *s;
	struct prng r;
	uint64_t dropped = 0;

	prng_seed(&r, 7, 0);
	solo.params.icrc_check = false; /* else it is the ICRC that says no, nearly always */
	start();
	for (unsigned int i = 0; i < 20000; i++) {
		uint8_t frame[256];
		uint16_t n = good_frame(frame, opcodes[prng_below(&r, 3)]);
		struct rte_mbuf *m;

		for (uint64_t k = prng_below(&r, 4); k > 0; k--) {
			uint64_t at = prng_below(&r, n);

			frame[at] = (uint8_t)prng_u32(&r);
		}
		if (prng_below(&r, 8) == 0)
			n = (uint16_t)prng_below(&r, n + 1u);
		solo_feed_bytes(&solo, frame, n);
		solo.now_ns += 1000;
		while (solo.nic->ops->tx(solo.nic, 0, &m, 1, solo.now_ns) == 1)
			rte_pktmbuf_free(m);
	}
	s = nic_stats(solo.nic);
	for (int d = 0; d < NIC_DROPS; d++)
		dropped += s->drops[d];
	assert_int_equal(s->rx_packets, 20000);
	assert_true(dropped > 5000 && dropped < 20000);
	solo_destroy(&solo);
}

TEST(defaults_need_only_addresses)
{
	struct nic_params p;
	char why[128];

	assert_int_equal(nic_params_check(&solo.params, why, sizeof(why)), 0);
	p = solo.params;
	nic_params_default(&p);
	assert_int_equal(nic_params_check(&p, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "mac"));
	assert_int_equal(p.data_dscp, 26);
	assert_int_equal(p.retry_cnt, 7);
	assert_true(p.icrc_check && p.cc == CC_DCQCN && p.flow_control == NIC_FLOW_PFC);
}

#define BREAK(member, value, word)                                                                 \
	do {                                                                                       \
		struct nic_params broken = solo.params;                                            \
		char why[128];                                                                     \
                                                                                                   \
		broken.member = value;                                                             \
		assert_int_equal(nic_params_check(&broken, why, sizeof(why)), -EINVAL);            \
		assert_ptr_equal(strstr(why, word), why);                                          \
		assert_null(nic_create(&broken, &solo.pools));                                     \
		assert_int_equal(errno, EINVAL);                                                   \
	} while (0)

TEST(wrong_parameters_are_refused_by_name)
{
	nic_test_pools(&solo.pools, 16, 16);
	BREAK(mac[0], 1, "mac");
	BREAK(ip.version, 6, "ip");
	BREAK(ip6.version, 4, "ip6");
	BREAK(link_speed_bps, 0, "link_speed_bps");
	BREAK(first_qpn, 1, "first_qpn");
	BREAK(first_qpn, QPN_MASK, "first_qpn");
	BREAK(max_qps, 0, "max_qps");
	BREAK(initial_rate, NIC_INITIAL_VALUE, "initial_rate_bps");
	BREAK(data_dscp, 64, "data_dscp");
	BREAK(np.np_cnp_dscp, 64, "np_cnp_dscp");
	BREAK(local_ack_timeout, 32, "local_ack_timeout");
	BREAK(ack_every, 0, "ack_every");
	BREAK(window_packets, 1u << 23, "window_packets");
	BREAK(rate_window_bytes, 8192, "ack_every");
	BREAK(rp.rp_max_rate_bps, 41 * GBPS, "rp_max_rate_bps");
	BREAK(rp.rp_min_rate_bps, 41 * GBPS, "rp_min_rate_bps");
	BREAK(qos.dscp_to_tc_map[3], 9, "dscp_to_tc_map");
	nic_test_pools_free(&solo.pools);
}

#define BREAK_QP(member, value, word)                                                              \
	do {                                                                                       \
		struct nic_qp_params broken = nic_test_qp(0);                                      \
		char why[256] = "";                                                                \
                                                                                                   \
		broken.member = value;                                                             \
		assert_int_equal(nic_qp_params_check(&broken, &solo.params, why, sizeof(why)),     \
				 -EINVAL);                                                         \
		assert_ptr_equal(strstr(why, word), why);                                          \
		assert_int_equal(nic_add_qp(solo.nic, &broken, 0), -EINVAL);                       \
	} while (0)

TEST(wrong_qps_are_refused_by_name)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo.params.max_qps = 1;
	solo.params.ip6.version = 0;
	solo_create(&solo, 64);
	BREAK_QP(peer_mac[0], 3, "peer_mac");
	BREAK_QP(peer_ip.version, 0, "peer_ip");
	BREAK_QP(peer_qpn, 0, "peer_qpn");
	BREAK_QP(peer_qpn, 1u << 24, "peer_qpn");
	BREAK_QP(initial_psn, 1u << 24, "initial_psn");
	BREAK_QP(mtu_bytes, 1500, "mtu_bytes");
	BREAK_QP(mtu_bytes, 128, "mtu_bytes");
	BREAK_QP(mtu_bytes, 768, "mtu_bytes");
	BREAK_QP(mtu_bytes, 4100, "mtu_bytes");
	BREAK_QP(mtu_bytes, 9216, "mtu_bytes");
	BREAK_QP(message_bytes, (1ull << 31) + 1, "message_bytes");
	BREAK_QP(depth, 0, "depth");
	BREAK_QP(start_ns, NEVER_NS, "start_ns");
	/* Right in itself, but this NIC has no IPv6 address. */
	qp.peer_ip.version = 6;
	assert_int_equal(nic_add_qp(solo.nic, &qp, 0), -EINVAL);
	qp.peer_ip.version = 4;
	assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN);
	assert_int_equal(nic_add_qp(solo.nic, &qp, 0), -ENOSPC);
	assert_int_equal(nic_qp_count(solo.nic), 1);
	solo_destroy(&solo);
}

TEST(mtu_beyond_the_pool_is_refused)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct nic_pools pools;

	nic_test_pools(&pools, 16, 16);
	solo.pools = pools;
	solo.pools.data = nic_data_pool_create(
		&(struct pkt_pool_params){
			.name = "narrow", .n_mbufs = 16, .socket = SOCKET_ID_ANY, .threads = true},
		512);
	solo.nic = nic_create(&solo.params, &solo.pools);
	assert_int_equal(nic_add_qp(solo.nic, &qp, 0), -EINVAL);
	qp.mtu_bytes = 512;
	assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN);
	nic_destroy(solo.nic);
	pkt_pool_destroy(solo.pools.data);
	nic_test_pools_free(&pools);
	assert_null(nic_data_pool_create(
		&(struct pkt_pool_params){
			.name = "wide", .n_mbufs = 16, .socket = SOCKET_ID_ANY, .threads = true},
		NIC_MAX_MTU + 1));
}

TEST(every_drop_is_a_counter)
{
	bool seen[NIC_DROPS] = {false};

	for (unsigned int i = 0; i < nic_counters_n; i++) {
		size_t at = nic_counters[i].offset;

		for (unsigned int k = 0; k < i; k++) {
			assert_string_not_equal(nic_counters[i].name, nic_counters[k].name);
			assert_int_not_equal(at, nic_counters[k].offset);
		}
		if (at >= offsetof(struct nic_stats, drops) && at < offsetof(struct nic_stats, rp))
			seen[(at - offsetof(struct nic_stats, drops)) / sizeof(uint64_t)] = true;
	}
	for (int d = 0; d < NIC_DROPS; d++) {
		assert_true(seen[d]);
		assert_string_not_equal(nic_drop_name(d), "none");
	}
}

TEST_MAIN(.begin = start_eal, .before_each = solo_setup)
