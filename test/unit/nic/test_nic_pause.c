/* SPDX-License-Identifier: BSD-3-Clause */
/* Pause frames at the NIC: which are obeyed, and those of a slow receiver. */
#include "base/numbers/array.h"
#include "unit/nic/nic_test.h"

static uint32_t psn;

static int
setup(void **state)
{
	(void)state;
	solo_init(&solo);
	psn = 0;
	return 0;
}

static const struct nic_stats *
stats(void)
{
	return nic_stats(solo.nic);
}

static void
start_sender(enum nic_flow_control how)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo.params.flow_control = how;
	solo_start(&solo, &qp);
}

static void
feed_global_pause(uint16_t quanta)
{
	uint8_t frame[PFC_FRAME_BYTES];

	pause_frame_build(frame, (uint8_t[6]){2, 0, 0, 0, 0, 9}, quanta);
	solo_feed_bytes(&solo, frame, sizeof(frame));
}

/* 100 quanta are 1280 ns at 40 Gb/s. */
TEST(link_pause_stops_the_port_for_its_time)
{
	struct roce_view v;

	start_sender(NIC_FLOW_PAUSE);
	feed_global_pause(100);
	assert_true(solo_take(&solo, NEVER_NS, &v));
	assert_int_equal(solo.now_ns, 1280);
	assert_int_equal(stats()->rx_global_pause_frames, 1);
	assert_int_equal(nic_pfc_rx(solo.nic)->stats.rx_pause_transition[0], 1);
	assert_int_equal(nic_pfc_rx(solo.nic)->stats.rx_pause_duration_ns[0], 1280);
	/* Time 0 ends it at once. */
	feed_global_pause(0xFFFF);
	expect_silence(&solo, 10000);
	feed_global_pause(0);
	assert_true(solo_take(&solo, 10000, &v));
	solo_destroy(&solo);
}

TEST(link_pause_holds_cnps_as_well)
{
	struct roce_path path = solo_path(&solo);
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_view v;

	solo.params.flow_control = NIC_FLOW_PAUSE;
	qp.requester = false;
	solo_start(&solo, &qp);
	feed_global_pause(100);
	path.ecn = ECN_CE;
	solo_feed_on(&solo, &path,
		     &(struct roce_fields){.opcode = RC_WRITE_ONLY, .reth_dma_bytes = 8}, 8);
	assert_true(solo_take(&solo, NEVER_NS, &v));
	assert_int_equal(v.opcode, ROCE_CNP);
	assert_int_equal(solo.now_ns, 1280);
	solo_destroy(&solo);
}

TEST(the_other_kind_of_frame_is_counted_only)
{
	static const struct {
		enum nic_flow_control how;
		bool global;
	} rows[] = {{NIC_FLOW_PFC, true},
		    {NIC_FLOW_PAUSE, false},
		    {NIC_FLOW_OFF, false},
		    {NIC_FLOW_OFF, true}};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct roce_view v;

		setup(NULL);
		start_sender(rows[i].how);
		if (rows[i].global)
			feed_global_pause(0xFFFF);
		else
			solo_feed_pause(&solo, 0xFF, 0xFFFF);
		assert_true(solo_take(&solo, 0, &v));
		assert_int_equal(stats()->rx_pause_frames, 1);
		assert_int_equal(stats()->rx_global_pause_frames, rows[i].global);
		solo_destroy(&solo);
	}
}

/* Drained at a byte per ns. */
static const struct rx_drain_params small_buffer = {
	.drain_rate_bps = 8 * GBPS,
	.xoff_bytes = 4000,
	.xon_bytes = 1000,
	.buffer_bytes = 8000,
};

/* A slow responder. */
static void
start_slow(const struct rx_drain_params *receiver)
{
	struct nic_qp_params qp = nic_test_qp(0);

	solo.params.receiver = *receiver;
	qp.requester = false;
	solo_start(&solo, &qp);
}

/* A slow responder whose pauses are watched. */
static void
start_watched(uint64_t minor_ns, uint64_t critical_ns)
{
	struct rx_drain_params p = small_buffer;

	p.device_stall_minor_watermark_ns = minor_ns;
	p.device_stall_critical_watermark_ns = critical_ns;
	start_slow(&p);
}

/* 58 + 16 + 1024 + 4 = 1102 frame bytes with FCS for a WRITE Only of 1024. */
#define FRAME 1102u

static void
feed_data(bool ack_req)
{
	struct roce_fields data = {
		.opcode = RC_WRITE_ONLY, .psn = psn++, .ack_req = ack_req, .reth_dma_bytes = 1024};

	solo_feed(&solo, data, 1024);
}

/* The next frame leaves until a time. @return 0: none; its EtherType, with what it says in mc. */
static uint16_t
take(uint64_t until_ns, enum mac_control_kind *kind, struct mac_control *mc)
{
	for (;;) {
		uint64_t next_ns = solo.nic->ops->next_ns(solo.nic, 0);
		struct frame_view eth;
		struct rte_mbuf *m;

		if (next_ns == NEVER_NS || next_ns > until_ns)
			return 0;
		solo.now_ns = next_ns > solo.now_ns ? next_ns : solo.now_ns;
		if (solo.nic->ops->tx(solo.nic, 0, &m, 1, solo.now_ns) == 0) {
			assert_true(solo.nic->ops->next_ns(solo.nic, 0) > solo.now_ns);
			continue;
		}
		assert_int_equal(frame_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &eth),
				 FRAME_OK);
		if (eth.ethertype == ETHERTYPE_MAC_CONTROL)
			*kind = mac_control_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, mc);
		rte_pktmbuf_free(m);
		return eth.ethertype;
	}
}

TEST(slow_receiver_pauses_its_priority_and_lets_go)
{
	enum mac_control_kind kind;
	struct mac_control mc;

	start_slow(&small_buffer);
	for (unsigned int i = 0; i < 3; i++)
		feed_data(false);
	assert_int_equal(take(0, &kind, &mc), 0);
	/* The fourth: 4408 bytes. Pause comes ahead of the ACK that it asks for. */
	feed_data(true);
	assert_int_equal(take(0, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	assert_int_equal(kind, MAC_CONTROL_PFC);
	assert_int_equal(mc.enable, 1 << 3);
	assert_int_equal(mc.quanta[3], 0xFFFF);
	assert_int_equal(take(1000, &kind, &mc), ETHERTYPE_IPV4);
	/* XON when 3408 bytes are drained. */
	assert_int_equal(take(NEVER_NS, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	assert_int_equal(solo.now_ns, 4 * FRAME - 1000);
	assert_int_equal(mc.enable, 1 << 3);
	assert_int_equal(mc.quanta[3], 0);
	assert_int_equal(take(NEVER_NS, &kind, &mc), 0);
	assert_int_equal(stats()->tx_pause_frames, 2);
	assert_int_equal(nic_pfc_tx(solo.nic)->stats.tx_pause[3], 2);
	assert_int_equal(nic_pfc_tx(solo.nic)->stats.tx_pause_transition[3], 1);
	assert_int_equal(nic_pfc_tx(solo.nic)->stats.tx_pause_duration_ns[3], 4 * FRAME - 1000);
	solo_destroy(&solo);
}

/* Frames that were on their way when XOFF left move the time of XON. */
TEST(frames_behind_xoff_put_xon_off)
{
	enum mac_control_kind kind;
	struct mac_control mc;

	start_slow(&small_buffer);
	for (unsigned int i = 0; i < 4; i++)
		feed_data(false);
	assert_int_equal(take(0, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	solo.now_ns = 2000;
	feed_data(false);
	assert_int_equal(take(NEVER_NS, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	assert_int_equal(mc.quanta[3], 0);
	assert_int_equal(solo.now_ns, 5 * FRAME - 1000);
	solo_destroy(&solo);
}

/* Half of 65535 quanta are 419 us at 40 Gb/s; a buffer of 800 KB is drained in 800. */
TEST(xoff_is_refreshed_while_it_holds)
{
	enum mac_control_kind kind;
	struct mac_control mc;
	unsigned int xoffs = 0;

	start_slow(&(struct rx_drain_params){8 * GBPS, 700000, 1000, 900000, 0, 0});
	for (unsigned int i = 0; i < 700; i++)
		feed_data(false);
	while (take(NEVER_NS, &kind, &mc) == ETHERTYPE_MAC_CONTROL && mc.quanta[3] > 0)
		xoffs++;
	assert_int_equal(xoffs, 2);
	solo_destroy(&solo);
}

TEST(what_does_not_fit_is_lost_and_counted)
{
	solo.params.flow_control = NIC_FLOW_OFF;
	start_slow(&small_buffer);
	for (unsigned int i = 0; i < 10; i++)
		feed_data(false);
	/* 7 x 1102 fit 8000. */
	assert_int_equal(stats()->drops[NIC_DROP_NO_BUFFER], 3);
	assert_int_equal(stats()->tx_pause_frames, 0);
	assert_int_equal(stats()->rx_write_requests, 7);
	solo_destroy(&solo);
}

/*
 * A byte per ns is drained: 4408 bytes are down to 1000 at 3408 ns. With a critical watermark of
 * 2000 ns the pause ends there, and what does not fit is lost until the buffer is down.
 */
TEST(a_pause_that_lasts_too_long_is_given_up)
{
	enum mac_control_kind kind;
	struct mac_control mc;

	start_watched(1500, 2000);
	for (unsigned int i = 0; i < 4; i++)
		feed_data(false);
	assert_int_equal(take(1000, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	assert_int_equal(mc.quanta[3], 0xFFFF);
	assert_int_equal(take(1499, &kind, &mc), 0);
	assert_int_equal(stats()->pause_storm.tx_pause_storm_warning_events, 0);
	assert_int_equal(take(1999, &kind, &mc), 0);
	assert_int_equal(stats()->pause_storm.tx_pause_storm_warning_events, 1);
	assert_int_equal(stats()->pause_storm.tx_pause_storm_error_events, 0);
	/* XON, although 2408 bytes are in the buffer. */
	assert_int_equal(take(NEVER_NS, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	assert_int_equal(solo.now_ns, 2000);
	assert_int_equal(mc.enable, 1 << 3);
	assert_int_equal(mc.quanta[3], 0);
	assert_int_equal(stats()->pause_storm.tx_pause_storm_error_events, 1);
	assert_int_equal(nic_pfc_tx(solo.nic)->stats.tx_pause_duration_ns[3], 2000);
	/* 8000 - 2408 have room for 5 more: 7918 bytes. */
	for (unsigned int i = 0; i < 7; i++)
		feed_data(false);
	assert_int_equal(stats()->drops[NIC_DROP_NO_BUFFER], 2);
	psn -= 2; /* those are sent again */
	/* At 8918 ns it is down to 1000; above 4000 bytes in between, nobody is paused. */
	assert_int_equal(take(8000, &kind, &mc), 0);
	solo.now_ns = 8500;
	feed_data(false);
	assert_int_equal(take(9500, &kind, &mc), 0);
	assert_int_equal(stats()->tx_pause_frames, 2);
	/* Since 10020 ns it may be held again, and is watched from then on. */
	assert_int_equal(take(20000, &kind, &mc), 0);
	solo.now_ns = 20000;
	for (unsigned int i = 0; i < 4; i++)
		feed_data(false);
	assert_int_equal(take(20000, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	assert_int_equal(mc.quanta[3], 0xFFFF);
	assert_int_equal(take(21999, &kind, &mc), 0);
	assert_int_equal(stats()->pause_storm.tx_pause_storm_warning_events, 2);
	assert_int_equal(stats()->pause_storm.tx_pause_storm_error_events, 1);
	solo_destroy(&solo);
}

/* Each pause is shorter, however often they come. */
TEST(short_pauses_are_no_storm)
{
	enum mac_control_kind kind;
	struct mac_control mc;

	start_watched(3500, 4000);
	for (uint64_t at_ns = 0; at_ns < 100000; at_ns += 5000) {
		solo.now_ns = at_ns;
		for (unsigned int i = 0; i < 4; i++)
			feed_data(false);
		while (take(at_ns + 4999, &kind, &mc) == ETHERTYPE_MAC_CONTROL)
			;
	}
	assert_int_equal(nic_pfc_tx(solo.nic)->stats.tx_pause_transition[3], 20);
	assert_int_equal(stats()->pause_storm.tx_pause_storm_warning_events, 0);
	assert_int_equal(stats()->drops[NIC_DROP_NO_BUFFER], 0);
	solo_destroy(&solo);
}

TEST(link_pause_of_a_slow_receiver)
{
	enum mac_control_kind kind;
	struct mac_control mc;

	solo.params.flow_control = NIC_FLOW_PAUSE;
	start_slow(&small_buffer);
	for (unsigned int i = 0; i < 4; i++)
		feed_data(false);
	/* A MAC control frame does not obey the peer's pause. */
	feed_global_pause(0xFFFF);
	assert_int_equal(take(0, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	assert_int_equal(kind, MAC_CONTROL_PAUSE);
	assert_int_equal(mc.quanta[0], 0xFFFF);
	assert_int_equal(take(10000, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	assert_int_equal(kind, MAC_CONTROL_PAUSE);
	assert_int_equal(mc.quanta[0], 0);
	solo_destroy(&solo);
}

/* The buffer is at XOFF, and before that is said the host takes everything at once. */
TEST(a_receiver_that_is_slow_no_more_pauses_nobody)
{
	enum mac_control_kind kind;
	struct mac_control mc;

	start_slow(&small_buffer);
	for (unsigned int i = 0; i < 4; i++)
		feed_data(false);
	nic_set_drain_rate(solo.nic, 0, solo.now_ns);
	assert_int_equal(take(NEVER_NS, &kind, &mc), 0);
	assert_int_equal(stats()->tx_pause_frames, 0);
	/* Slow again: from an empty buffer on. */
	nic_set_drain_rate(solo.nic, small_buffer.drain_rate_bps, solo.now_ns);
	for (unsigned int i = 0; i < 4; i++)
		feed_data(false);
	assert_int_equal(take(solo.now_ns, &kind, &mc), ETHERTYPE_MAC_CONTROL);
	/* Held, let go, and the link comes back before that is said. */
	nic_set_drain_rate(solo.nic, 0, solo.now_ns);
	nic_reset_pause(solo.nic, solo.now_ns);
	assert_int_equal(take(NEVER_NS, &kind, &mc), 0);
	solo_destroy(&solo);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
