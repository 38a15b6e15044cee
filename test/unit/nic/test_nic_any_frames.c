/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Valid frames in any order at QPs of every verb: nothing is counted down, nothing is sent for
 * ever, and a QP that is in error stays so. Asserts and sanitizers do the rest.
 */
#include "base/numbers/prng.h"
#include "unit/nic/nic_test.h"

#define FRAMES 30000
#define QPS 8

static const uint8_t opcodes[] = {
	RC_SEND_FIRST,     RC_SEND_MIDDLE,     RC_SEND_LAST,
	RC_SEND_LAST_IMM,  RC_SEND_ONLY,       RC_SEND_ONLY_IMM,
	RC_WRITE_FIRST,    RC_WRITE_MIDDLE,    RC_WRITE_LAST,
	RC_WRITE_LAST_IMM, RC_WRITE_ONLY,      RC_WRITE_ONLY_IMM,
	RC_READ_REQUEST,   RC_READ_RESP_FIRST, RC_READ_RESP_MIDDLE,
	RC_READ_RESP_LAST, RC_READ_RESP_ONLY,  RC_ACK,
	UD_SEND_ONLY,      UD_SEND_ONLY_IMM,   ROCE_CNP,
};

/* Both ends of each verb; those that send never end by themselves. */
static void
add_qps(void)
{
	static const int verbs[] = {NIC_WRITE, NIC_SEND, NIC_READ, NIC_UD_SEND};

	for (unsigned int i = 0; i < QPS; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		qp.verb = verbs[i / 2];
		qp.requester = i % 2 == 0;
		qp.mtu_bytes = 256;
		qp.message_bytes = qp.verb == NIC_UD_SEND ? 200 : 1000;
		qp.messages = 0;
		qp.peer_qpn = PAIR_QPN + i;
		qp.initial_psn = PSN_MASK - 40;
		qp.rate_cap_bps = 100 * MBPS;
		qp.max_recv_wr = 2;
		qp.post_recv_ns = 5000;
		assert_true(nic_add_qp(solo.nic, &qp, 0) > 0);
	}
}

static uint16_t
payload_bytes(struct prng *r, uint8_t opcode)
{
	static const uint16_t lengths[] = {1, 232, 256, 260, 1000};

	switch (opcode) {
	case RC_READ_REQUEST:
	case RC_ACK:
	case ROCE_CNP:
		return 0;
	case RC_SEND_FIRST:
	case RC_SEND_MIDDLE:
	case RC_WRITE_FIRST:
	case RC_WRITE_MIDDLE:
	case RC_READ_RESP_FIRST:
	case RC_READ_RESP_MIDDLE:
		return prng_below(r, 8) == 0 ? 512 : 256;
	default:
		return lengths[prng_below(r, 5)];
	}
}

/* What the peer of each QP would send, and how many PSNs it takes: a stretch of it now and then. */
static uint32_t
feed_right(struct prng *r, unsigned int qp, const uint32_t sent_psn[QPS], uint32_t *next_psn)
{
	static const uint8_t natural[QPS] = {RC_ACK,       RC_WRITE_ONLY,     RC_ACK,
					     RC_SEND_ONLY, RC_READ_RESP_ONLY, RC_READ_REQUEST,
					     UD_SEND_ONLY, UD_SEND_ONLY};
	static const uint8_t responses[4] = {RC_READ_RESP_FIRST, RC_READ_RESP_MIDDLE,
					     RC_READ_RESP_MIDDLE, RC_READ_RESP_LAST};
	struct roce_path path = solo_path(&solo);
	struct roce_fields fields = {.opcode = natural[qp],
				     .aeth_syndrome = AETH_ACK,
				     .deth_src_qp = PAIR_QPN + qp,
				     .psn = natural[qp] == RC_ACK ? sent_psn[qp] : *next_psn,
				     .ack_req = true};
	uint16_t bytes = 100;
	uint32_t psns = 1;

	if (natural[qp] == RC_ACK)
		bytes = 0;
	if (natural[qp] == RC_READ_RESP_ONLY) {
		/* Messages of 1000 bytes from the initial PSN on. */
		unsigned int at = (*next_psn - (PSN_MASK - 40)) % 4;

		fields.opcode = responses[at];
		bytes = at == 3 ? 1000 - 3 * 256 : 256;
	}
	fields.reth_dma_bytes = bytes;
	if (natural[qp] == RC_READ_REQUEST) {
		fields.reth_dma_bytes = (uint32_t)prng_below(r, 1000);
		psns = fields.reth_dma_bytes == 0 ? 1 : (fields.reth_dma_bytes + 255) / 256;
		bytes = 0;
	}
	path.dest_qp = PAIR_QPN + qp;
	solo_feed_on(&solo, &path, &fields, bytes);
	return psns;
}

/* Near what was sent last and what came last, mostly. */
static void
feed_wrong(struct prng *r, unsigned int qp, const uint32_t sent_psn[QPS], uint32_t next_psn)
{
	static const uint32_t dma_bytes[] = {0,    1,    232,      256,       1000,
					     1000, 5000, 1u << 31, UINT32_MAX};
	static const uint8_t syndromes[] = {
		AETH_ACK, AETH_ACK,         AETH_RNR_NAK | 1,         AETH_NAK_PSN_SEQ,
		AETH_ACK, AETH_RNR_NAK | 2, AETH_NAK_INVALID_REQUEST, 0x40,
		0xFF};
	struct roce_path path = solo_path(&solo);
	bool rare = prng_below(r, 100) == 0;
	struct roce_fields fields = {
		.opcode = opcodes[prng_below(r, sizeof(opcodes))],
		.ack_req = prng_below(r, 2),
		.reth_dma_bytes = dma_bytes[prng_below(r, rare ? 9 : 7)],
		.aeth_syndrome = syndromes[prng_below(r, rare ? 9 : 6)],
		.deth_src_qp = PAIR_QPN + qp,
	};

	/* In sequence it may be the last one that the QP takes. */
	fields.psn = prng_below(r, 2) ? sent_psn[qp] : next_psn + (rare ? 0 : 1);
	fields.psn += (uint32_t)prng_below(r, 4);
	if (prng_below(r, 2))
		fields.psn -= 6;
	fields.psn &= PSN_MASK;
	path.dest_qp = PAIR_QPN + qp;
	path.ecn = prng_below(r, 4) == 0 ? ECN_CE : ECN_ECT0;
	solo_feed_on(&solo, &path, &fields, payload_bytes(r, fields.opcode));
}

static void
feed_any(struct prng *r, const uint32_t sent_psn[QPS], uint32_t next_psn[QPS])
{
	unsigned int qp = (unsigned int)prng_below(r, QPS);

	if (prng_below(r, 4) == 0)
		feed_wrong(r, qp, sent_psn, next_psn[qp]);
	else
		next_psn[qp] += feed_right(r, qp, sent_psn, &next_psn[qp]);
	next_psn[qp] &= PSN_MASK;
}

static void
expect_no_step_back(const struct nic_qp_info *was, const struct nic_qp_info *is)
{
	assert_true(is->tx_messages >= was->tx_messages);
	assert_true(is->tx_packets >= was->tx_packets);
	assert_true(is->tx_payload_bytes >= was->tx_payload_bytes);
	assert_true(is->rx_messages >= was->rx_messages);
	assert_true(is->rx_packets >= was->rx_packets);
	assert_true(is->rx_payload_bytes >= was->rx_payload_bytes);
	assert_true(is->error >= was->error);
	assert_false(is->done);
}

TEST(any_frames_in_any_order_are_borne)
{
	uint64_t served = 0;

	for (unsigned int seed = 1; seed <= 6; seed++) {
		struct nic_qp_info was[QPS] = {0};
		uint32_t sent_psn[QPS] = {0}, next_psn[QPS];
		uint64_t taken = 0;
		struct prng r;

		prng_seed(&r, seed, 0);
		solo_init(&solo);
		solo.params.local_ack_timeout = 4;
		solo.params.max_rd_atomic = 3;
		solo.params.rnr_retry = (uint8_t)(seed + 1);
		solo_create(&solo, 256);
		add_qps();
		for (unsigned int i = 0; i < QPS; i++)
			next_psn[i] = PSN_MASK - 40;
		for (unsigned int n = 0; n < FRAMES / 6; n++) {
			uint64_t until_ns = solo.now_ns + prng_below(&r, 3000);
			struct roce_view v;

			feed_any(&r, sent_psn, next_psn);
			for (; solo_take(&solo, until_ns, &v); taken++)
				if (v.dest_qp - PAIR_QPN < QPS)
					sent_psn[v.dest_qp - PAIR_QPN] = v.psn;
			solo.now_ns = until_ns;
			for (unsigned int i = 0; n % 64 == 0 && i < QPS; i++) {
				struct nic_qp_info is;

				nic_qp_info(solo.nic, i, &is);
				expect_no_step_back(&was[i], &is);
				was[i] = is;
			}
		}
		assert_true(taken > 100);
		served += nic_stats(solo.nic)->rx_read_requests;
		solo_destroy(&solo);
	}
	assert_true(served > 20);
}

TEST_MAIN(.begin = start_eal)
