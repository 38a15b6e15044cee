/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that leave ahead of data, where the device has a transmit queue for them. */
#include "unit/nic/nic_test.h"

static int
setup(void **state)
{
	struct nic_qp_params qp = nic_test_qp(0);

	(void)state;
	solo_init(&solo);
	solo.params.receiver = (struct rx_drain_params){8 * GBPS, 1000, 500, 100000, 0, 0};
	/* A late poll finds the wire free for all of these. */
	solo.params.shaper_burst_ns = 10000;
	solo_create(&solo, 64);
	nic_send_control_apart(solo.nic);
	qp.message_bytes = 1 << 20;
	assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN);
	return 0;
}

static void
feed_marked(void)
{
	struct roce_path path = solo_path(&solo);

	path.ecn = ECN_CE;
	solo_feed_on(&solo, &path,
		     &(struct roce_fields){
			     .opcode = RC_WRITE_ONLY, .ack_req = true, .reth_dma_bytes = 1024},
		     1024);
}

/* What a burst consists of: P pause, C CNP, A ACK, D data. */
static void
expect_burst(bool control, const char *kinds)
{
	uint16_t (*tx)(struct node *, uint16_t, struct rte_mbuf **, uint16_t, uint64_t) =
		control ? solo.nic->ops->tx_control : solo.nic->ops->tx;
	struct rte_mbuf *m[8];
	uint16_t n = tx(solo.nic, 0, m, 8, solo.now_ns);

	assert_int_equal(n, strlen(kinds));
	for (uint16_t i = 0; i < n; i++) {
		struct frame_view eth;
		struct roce_view v;
		char kind = 'P';

		assert_int_equal(
			frame_parse(rte_pktmbuf_mtod(m[i], uint8_t *), m[i]->data_len, &eth),
			FRAME_OK);
		if (eth.ethertype != ETHERTYPE_MAC_CONTROL) {
			nic_test_view(m[i], &eth, &v);
			kind = v.opcode == ROCE_CNP ? 'C' : v.opcode == RC_ACK ? 'A' : 'D';
		}
		assert_int_equal(kind, kinds[i]);
		rte_pktmbuf_free(m[i]);
	}
}

TEST(control_frames_have_a_call_of_their_own)
{
	expect_burst(true, "");
	solo.now_ns = 1000;
	expect_burst(false, "DD");
	solo.now_ns = 20000;
	feed_marked();
	/* However often data is asked for, control frames wait for their queue, in order. */
	expect_burst(false, "DD");
	solo.now_ns += 100;
	expect_burst(true, "PCA");
	expect_burst(true, "");
	expect_burst(false, "D");
	solo_destroy(&solo);
}

TEST(control_frames_obey_pause)
{
	feed_marked();
	solo_feed_pause(&solo, 0xFF, 0xFFFF);
	/* A pause frame obeys none, the CNP's priority is not one of pfc_enable, the ACK's is. */
	expect_burst(true, "PC");
	solo_feed_pause(&solo, 1 << 3, 0);
	expect_burst(true, "A");
	solo_destroy(&solo);
}

TEST(control_frames_wait_for_the_wire)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo_destroy(&solo);
	solo_init(&solo);
	solo_create(&solo, 64);
	nic_send_control_apart(solo.nic);
	assert_int_equal(nic_add_qp(solo.nic, &qp, 0), PAIR_QPN);
	solo.now_ns = 1000;
	expect_burst(false, "D");
	feed_marked();
	/* 1122 bytes on the wire take 224.4 ns at 40 Gb/s, of which 1 was saved; the CNP's 98
	 * 19.6. */
	solo.now_ns += 223;
	expect_burst(true, "");
	solo.now_ns += 1;
	expect_burst(true, "C");
	expect_burst(true, "");
	expect_burst(false, "");
	solo.now_ns += 20;
	expect_burst(true, "A");
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
