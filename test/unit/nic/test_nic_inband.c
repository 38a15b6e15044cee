/* SPDX-License-Identifier: BSD-3-Clause */
/* Echoes of a responder, and what a requester hears of them: marks, and in-band telemetry. */
#include "unit/nic/nic_test.h"
#include "base/numbers/array.h"
#include "wire/bytes/be.h"
#include "wire/roce/int_hdr.h"

/* The next frame as it is on the wire. @return its length; 0: none until the time. */
static uint16_t
take_bytes(uint64_t until_ns, uint8_t bytes[512])
{
	struct rte_mbuf *m;
	uint16_t len;

	while (solo.nic->ops->tx(solo.nic, 0, &m, 1, solo.now_ns) == 0) {
		uint64_t next_ns = solo.nic->ops->next_ns(solo.nic, 0);

		if (next_ns > until_ns)
			return 0;
		solo.now_ns = next_ns > solo.now_ns ? next_ns : solo.now_ns;
	}
	len = m->data_len < 512 ? m->data_len : 512;
	memcpy(bytes, rte_pktmbuf_mtod(m, uint8_t *), len);
	rte_pktmbuf_free(m);
	return len;
}

/* Give a frame from the peer an INT header with one hop, and send it. @return bytes sent. */
static void
feed_int(const struct roce_fields *fields, uint16_t payload_bytes, uint8_t flags,
	 const struct int_hop *hop, int broken_at)
{
	const struct roce_path path = solo_path(&solo);
	static const uint8_t payload[256];
	uint8_t room[INT_MAX_BYTES + 512], *at = room + INT_MAX_BYTES, raw[INT_HOP_BYTES];
	size_t len = roce_build(at, 512, &path, fields, payload, payload_bytes);
	unsigned int bytes;

	be32_store(raw, hop->queue_bytes);
	be32_store(raw + 4, hop->tx_bytes);
	be32_store(raw + 8, hop->time_ns);
	be32_store(raw + 12, hop->rate_mbps);
	bytes = int_insert(at, 2, flags, 0x1234, raw, 1);
	if (broken_at >= 0)
		(at - bytes)[14 + 20 + 8 + broken_at] = 0xEE;
	solo_feed_bytes(&solo, at - bytes, (uint16_t)(len + bytes));
}

static void
start(int cc, bool requester)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo_init(&solo);
	solo.params.cc = cc;
	solo.params.ack_every = 1;
	solo.params.int_slots = 2;
	solo.params.local_ack_timeout = 0;
	qp.requester = requester;
	qp.mtu_bytes = 256;
	solo_start(&solo, &qp);
}

static const struct roce_fields write_only = {
	.opcode = RC_WRITE_ONLY, .reth_dma_bytes = 8, .ack_req = true};
static const struct int_hop hop = {1000, 2000, 3000, 40000};

TEST(data_of_hpcc_has_a_header_and_other_data_has_none)
{
	uint8_t bytes[512];

	start(CC_HPCC, true);
	assert_true(take_bytes(1000, bytes) > 0);
	assert_int_equal(be16_load(bytes + 36), INT_UDP_PORT);
	assert_int_equal(bytes[43], 2 << 4);
	solo_destroy(&solo);
	start(CC_DCQCN, true);
	assert_true(take_bytes(1000, bytes) > 0);
	assert_int_equal(be16_load(bytes + 36), ROCE_UDP_PORT);
	solo_destroy(&solo);
}

TEST(ack_echoes_the_hops_of_its_packet)
{
	uint8_t bytes[512], out[512];
	struct frame_view f;
	struct roce_view v;
	struct int_hop echoed;
	const uint8_t *hdr;
	uint16_t len;

	start(CC_HPCC, false);
	feed_int(&write_only, 8, INT_FULL, &hop, -1);
	len = take_bytes(1000, bytes);
	assert_int_equal(frame_parse(bytes, len, &f), FRAME_OK);
	/* A switch on the way back adds nothing. */
	assert_false(int_is_open(bytes, len));
	assert_int_equal(int_strip(bytes, len, &f, out, &hdr), INT_OK);
	assert_int_equal(int_hdr_hops(hdr), 1);
	assert_int_equal(int_hdr_path_id(hdr), 0x1234);
	assert_true(int_hdr_is_full(hdr));
	echoed = int_read_hop(hdr, 0);
	assert_memory_equal(&echoed, &hop, sizeof(hop));
	len -= (uint16_t)int_hdr_bytes(1);
	assert_int_equal(frame_parse(out, len, &f), FRAME_OK);
	assert_int_equal(roce_parse(out, len, &f, true, &v), ROCE_OK);
	assert_int_equal(v.opcode, RC_ACK);
	assert_int_equal(nic_stats(solo.nic)->rx_write_requests, 1);
	solo_destroy(&solo);
}

TEST(requester_hears_the_echo)
{
	const struct nic_stats *stats;
	const struct roce_fields ack = {.opcode = RC_ACK, .aeth_syndrome = AETH_ACK, .psn = 0};
	uint8_t bytes[512];

	start(CC_HPCC, true);
	while (take_bytes(2000, bytes) > 0)
		;
	feed_int(&ack, 0, INT_ECHO, &hop, -1);
	stats = nic_stats(solo.nic);
	/* hpcc_samples is its first counter. */
	assert_int_equal(stats->cc.of[CC_SLOT(CC_HPCC)].words[0], 1);
	assert_int_equal(stats->acks_received, 1);
	solo_destroy(&solo);
}

/* Version, slots and hops: none may lie; and the ICRC still covers the rest of the frame. */
TEST(broken_headers_are_bad_roce_and_broken_frames_bad_icrc)
{
	start(CC_HPCC, false);
	for (int at = 0; at < 2; at++)
		feed_int(&write_only, 8, 0, &hop, at);
	assert_int_equal(nic_stats(solo.nic)->drops[NIC_DROP_BAD_ROCE], 2);
	/* Behind the header of 4 + 2 x 16 bytes: the PSN. */
	feed_int(&write_only, 8, 0, &hop, 36 + 11);
	assert_int_equal(nic_stats(solo.nic)->drops[NIC_DROP_BAD_ICRC], 1);
	/* In a hop: switches write there, so the ICRC does not cover it. */
	feed_int(&write_only, 8, 0, &hop, 5);
	assert_int_equal(nic_stats(solo.nic)->rx_write_requests, 1);
	solo_destroy(&solo);
}

TEST(nic_without_telemetry_takes_the_frames_for_no_roce)
{
	start(CC_DCQCN, false);
	feed_int(&write_only, 8, 0, &hop, -1);
	assert_int_equal(nic_stats(solo.nic)->drops[NIC_DROP_NOT_ROCE], 1);
	solo_destroy(&solo);
}

/* np_ecn_echo: the ACK says that its packet was marked, and there is no CNP. */
TEST(mark_is_echoed_once_in_place_of_a_cnp)
{
	struct roce_path path;
	struct roce_view v;
	struct nic_qp_params qp = nic_test_qp(0);

	solo_init(&solo);
	solo.params.np.np_ecn_echo = true;
	qp.requester = false;
	qp.mtu_bytes = 256;
	solo_start(&solo, &qp);
	path = solo_path(&solo);
	for (uint32_t psn = 0; psn < 2; psn++) {
		struct roce_fields fields = write_only;

		fields.psn = psn;
		path.ecn = psn == 0 ? ECN_CE : ECN_ECT0;
		solo_feed_on(&solo, &path, &fields, 8);
		assert_true(solo_take(&solo, solo.now_ns + 1000, &v));
		assert_int_equal(v.opcode, RC_ACK);
		assert_int_equal(v.becn, psn == 0);
	}
	expect_silence(&solo, 1000000);
	assert_int_equal(nic_stats(solo.nic)->np.np_cnp_sent, 0);
	assert_int_equal(nic_stats(solo.nic)->np.np_ecn_marked_roce_packets, 1);
	solo_destroy(&solo);
}

/* READ responses and datagrams have no ACK that could echo their mark. */
TEST(marks_of_what_no_ack_answers_cause_cnps)
{
	static const int verbs[] = {NIC_READ, NIC_UD_SEND};

	for (unsigned int i = 0; i < ARRAY_LEN(verbs); i++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct roce_path path;
		struct roce_view v;

		solo_init(&solo);
		solo.params.np.np_ecn_echo = true;
		solo.params.local_ack_timeout = 0;
		qp.verb = verbs[i];
		qp.requester = verbs[i] == NIC_READ;
		qp.message_bytes = qp.mtu_bytes = 256;
		qp.messages = 1;
		qp.qkey = 7;
		solo_start(&solo, &qp);
		path = solo_path(&solo);
		path.ecn = ECN_CE;
		if (verbs[i] == NIC_READ) {
			assert_true(solo_take(&solo, NS_PER_MS, &v));
			assert_int_equal(v.opcode, RC_READ_REQUEST);
			solo_feed_on(&solo, &path,
				     &(struct roce_fields){.opcode = RC_READ_RESP_ONLY,
							   .psn = v.psn,
							   .aeth_syndrome = AETH_ACK},
				     256);
		} else {
			solo_feed_on(&solo, &path,
				     &(struct roce_fields){.opcode = UD_SEND_ONLY,
							   .deth_qkey = 7,
							   .deth_src_qp = qp.peer_qpn},
				     256);
		}
		assert_true(solo_take(&solo, 2 * NS_PER_MS, &v));
		assert_int_equal(v.opcode, ROCE_CNP);
		solo_destroy(&solo);
	}
}

static void
reload(const uint32_t *added, const uint32_t *removed)
{
	struct nic_flow_update live = {0};
	const struct nic_reload r = {.params = solo.params,
				     .flows = &live,
				     .n_flows = 1,
				     .added = added,
				     .n_added = added != NULL,
				     .removed = removed,
				     .n_removed = removed != NULL};

	nic_reload(solo.nic, &r);
	while (!nic_reload_is_done(solo.nic))
		solo.nic->ops->rx(solo.nic, 0, NULL, 0, solo.now_ns);
}

/* A mark and hops that no ACK has echoed leave with their flow. */
TEST(next_flow_of_a_place_inherits_no_echo)
{
	static const uint32_t id;
	const struct nic_flow_place place = {.n_qps = 1};
	uint8_t bytes[512];
	uint16_t len = 0;

	solo_init(&solo);
	solo.params.cc = CC_HPCC;
	solo.params.ack_every = 1;
	solo.params.int_slots = 2;
	solo.params.np.np_ecn_echo = true;
	solo_create(&solo, 64);
	assert_int_equal(nic_reserve_flows(solo.nic, 1), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct roce_fields fields = write_only;
		struct roce_path path = solo_path(&solo);

		qp.requester = false;
		qp.mtu_bytes = 256;
		assert_int_equal(nic_prepare_flow(solo.nic, &qp, &place), 0);
		reload(&id, NULL);
		fields.ack_req = i == 1;
		path.ecn = i == 0 ? ECN_CE : ECN_ECT0;
		if (i == 0) {
			/* The first of a message, so that no ACK is due. */
			fields.opcode = RC_WRITE_FIRST;
			fields.reth_dma_bytes = 512;
			feed_int(&fields, 256, 0, &hop, -1);
			solo_feed_on(&solo, &path,
				     &(struct roce_fields){.opcode = RC_WRITE_LAST, .psn = 1}, 256);
			assert_int_equal(nic_stats(solo.nic)->np.np_ecn_marked_roce_packets, 1);
			assert_int_equal(take_bytes(solo.now_ns + 1000, bytes), 0);
			reload(NULL, &id);
			for (unsigned int k = 0; !nic_flow_is_free(solo.nic, id); k++) {
				assert_true(k < 100);
				solo_run(&solo, solo.now_ns + NS_PER_MS);
			}
			nic_forget_flow(solo.nic, id);
			continue;
		}
		solo_feed_on(&solo, &path, &fields, 8);
		len = take_bytes(solo.now_ns + 1000, bytes);
	}
	/* An ACK of 14 + 20 + 8 + 12 + 4 + 4 bytes, without BECN. */
	assert_int_equal(len, 62);
	assert_int_equal(bytes[14 + 20 + 8 + 4] >> 6, 0);
	solo_destroy(&solo);
}

/* ... and DCTCP cuts for it. */
TEST(echoed_mark_is_heard)
{
	struct nic_qp_info info;

	start(CC_DCTCP, true);
	solo_run(&solo, 2000);
	solo_feed(&solo,
		  (struct roce_fields){.opcode = RC_ACK, .aeth_syndrome = AETH_ACK, .becn = true},
		  0);
	nic_qp_info(solo.nic, 0, &info);
	assert_int_equal(info.rate_cuts, 1);
	assert_int_equal(info.rate_bps, 20 * GBPS);
	solo_destroy(&solo);
}

TEST(window_of_an_algorithm_needs_an_ack_per_packet)
{
	char why[256];

	solo_init(&solo);
	solo.params.cc = CC_SWIFT;
	assert_true(nic_params_check(&solo.params, why, sizeof(why)) != 0);
	assert_non_null(strstr(why, "ack_every"));
	solo.params.ack_every = 1;
	assert_int_equal(nic_params_check(&solo.params, why, sizeof(why)), 0);
}

/*
 * The window is in bytes on the wire, with the INT header, whatever the messages: a packet begins
 * while less than the window is in flight. ACKs without hops do not change the window.
 */
TEST(window_of_hpcc_is_exact_for_messages_of_any_size)
{
	static const uint32_t sizes[] = {0, 1, 64, 255, 256, 257, 600, 1000, 5000};
	const uint32_t window = 50000; /* 40 Gb/s x T */
	static const int verbs[] = {NIC_WRITE, NIC_WRITE_IMM, NIC_SEND};

	for (unsigned int i = 0; i < 27; i++) {
		struct nic_qp_params qp = nic_test_qp(0);
		uint64_t sum;
		uint32_t packets = 0, acked = 0, last = 0, wire[4096];
		uint8_t bytes[512];
		uint16_t len;

		solo_init(&solo);
		solo.params.cc = CC_HPCC;
		solo.params.ack_every = 1;
		solo.params.int_slots = 1 + i % 3;
		solo.params.local_ack_timeout = 0;
		solo.params.window_packets = 4096;
		qp.mtu_bytes = 256;
		qp.verb = verbs[i / 9];
		qp.message_bytes = sizes[i % 9];
		qp.messages = 0;
		qp.depth = 4096;
		solo_start(&solo, &qp);
		sum = 0;
		for (unsigned int round = 0; round < 50; round++) {
			while ((len = take_bytes(solo.now_ns + NS_PER_MS, bytes)) > 0) {
				assert_true(packets < 4096);
				last = wire[packets++] = wire_bytes(len);
				sum += last;
			}
			if (sum < window || sum - last >= window)
				fail_msg(
					"%u bytes, verb %u, round %u: %lu bytes in flight, window %u",
					sizes[i % 9], i / 9, round, sum, window);
			/* Acknowledge some, by one ACK. */
			for (unsigned int n = 1 + round % 7; n > 0; n--)
				sum -= wire[acked++];
			solo_feed(&solo,
				  (struct roce_fields){.opcode = RC_ACK,
						       .aeth_syndrome = AETH_ACK,
						       .psn = acked - 1},
				  0);
		}
		solo_destroy(&solo);
	}
}

TEST_MAIN(.begin = start_eal)
