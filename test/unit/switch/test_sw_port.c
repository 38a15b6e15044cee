/* SPDX-License-Identifier: BSD-3-Clause */
/* A port's choices and states: 802.3x, response delay, disabled transmission, no link. */
#include "unit/switch/sw_test.h"

/* At 40G a quantum is 12.8 ns. */
#define QUANTA_1000_NS 12800u

static void
give_pause(struct bench *b, uint16_t port, uint16_t quanta, uint64_t now_ns)
{
	static const uint8_t mac[6] = {0x02, 0, 0, 0, 0, 9};
	uint8_t frame[PFC_FRAME_BYTES];

	pause_frame_build(frame, mac, quanta);
	give_bytes(b, port, frame, sizeof(frame), now_ns);
}

/* The next frame has to be an 802.3x PAUSE. */
static uint16_t
take_pause(struct bench *b, uint16_t port, uint64_t *now_ns)
{
	struct rte_mbuf *m = take_next(b, port, now_ns);
	struct mac_control mc;

	assert_non_null(m);
	assert_int_equal(m->data_len, PFC_FRAME_BYTES);
	assert_int_equal(mac_control_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &mc),
			 MAC_CONTROL_PAUSE);
	sent(m);
	return mc.quanta[0];
}

static uint32_t
take_psn(struct bench *b, uint16_t port, uint64_t *now_ns)
{
	struct rte_mbuf *m = take_next(b, port, now_ns);
	uint32_t psn;

	assert_non_null(m);
	psn = roce_of(m).psn;
	sent(m);
	return psn;
}

TEST(link_pause_holds_every_class_to_the_nanosecond)
{
	struct bench *b = bench_with_ports(2);
	struct frame_spec other = {.src = 0, .dst = 1, .dscp = 48, .psn = 7};
	uint64_t now_ns = 1000;

	b->params.ports[1].flow_control = SW_FLOW_PAUSE;
	bench_start_learnt(b);
	give_pause(b, 1, 1000, now_ns);
	give(b, 0, make_frame(b, &other), now_ns);
	give(b, 0, make_data(b, 0, 1, 8), now_ns);
	assert_null(take(b, 1, 1000 + QUANTA_1000_NS - 1));
	assert_int_equal(take_psn(b, 1, &now_ns), 7);
	assert_int_equal(now_ns, 1000 + QUANTA_1000_NS);
	assert_int_equal(drain(b, 1, &now_ns), 1);
	assert_int_equal(sw_port_stats(b->sw, 1)->rx_global_pause_frames, 1);
	assert_int_equal(pfc_rx_duration_ns(sw_pfc_rx(b->sw, 1), 0, now_ns), QUANTA_1000_NS);
	bench_stop(b);
}

TEST(frames_of_the_other_kind_are_counted_and_change_nothing)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 0;

	b->params.ports[0].flow_control = SW_FLOW_PAUSE;
	bench_start_learnt(b);
	give_pause(b, 1, 65535, 0);
	give_pfc(b, 0, 0xFF, 65535, 0);
	give(b, 0, make_data(b, 0, 1, 1), 0);
	give(b, 1, make_data(b, 1, 0, 2), 0);
	assert_int_equal(take_psn(b, 1, &now_ns), 1);
	assert_int_equal(take_psn(b, 0, &now_ns), 2);
	assert_int_equal(now_ns, 0);
	assert_int_equal(sw_port_stats(b->sw, 1)->rx_global_pause_frames, 1);
	assert_int_equal(sw_port_stats(b->sw, 0)->rx_pause_frames, 1);
	assert_int_equal(sw_pfc_rx(b->sw, 0)->stats.rx_pause[3], 0);
	bench_stop(b);
}

TEST(link_pause_holds_the_peer_from_the_tenth_frame_to_the_third_departure)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 0, out_ns = 0;

	set_small_group(&b->params);
	b->params.ports[0].flow_control = SW_FLOW_PAUSE;
	bench_start_learnt(b);
	give_data(b, 0, 1, 9, 0);
	assert_null(take(b, 0, 0));
	give(b, 0, make_data(b, 0, 1, 10), 0);
	assert_int_equal(take_pause(b, 0, &now_ns), 65535);
	for (unsigned int i = 1; i <= 3; i++) {
		assert_true(pfc_tx_is_xoff(sw_pfc_tx(b->sw, 0), 0));
		assert_int_equal(take_psn(b, 1, &out_ns), i);
	}
	assert_int_equal(take_pause(b, 0, &out_ns), 0);
	assert_int_equal(sw_port_stats(b->sw, 0)->tx_global_pause_frames, 2);
	assert_int_equal(sw_port_stats(b->sw, 0)->tx_pause_frames, 0);
	drain(b, 1, &out_ns);
	bench_stop(b);
}

TEST(port_without_flow_control_neither_obeys_nor_generates)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 0;

	set_small_group(&b->params);
	b->params.ports[0].flow_control = SW_FLOW_OFF;
	b->params.ports[1].flow_control = SW_FLOW_OFF;
	bench_start_learnt(b);
	give_pfc(b, 1, 1u << 3, 65535, 0);
	give_data(b, 0, 1, 16, 0);
	assert_int_equal(drops(b, 0, SW_DROP_NO_HEADROOM), 1);
	assert_null(take(b, 0, 0));
	assert_int_equal(take_psn(b, 1, &now_ns), 1);
	assert_int_equal(now_ns, 0);
	assert_int_equal(drain(b, 1, &now_ns), 14);
	bench_stop(b);
}

TEST(asymmetric_port_obeys_every_priority_and_generates_for_its_own)
{
	struct bench *b = bench_with_ports(3);
	struct frame_spec other = {.src = 0, .dst = 1, .dscp = 0, .psn = 50};
	uint64_t now_ns = 0;

	b->params.ports[1].pfc_asymmetric = true;
	bench_start_learnt(b);
	give_pfc(b, 1, 1u << 0, 1000, 0);
	give_pfc(b, 2, 1u << 0, 1000, 0);
	give(b, 0, make_frame(b, &other), 0);
	other.dst = 2;
	give(b, 0, make_frame(b, &other), 0);
	assert_int_equal(take_psn(b, 2, &now_ns), 50);
	assert_int_equal(now_ns, 0);
	assert_int_equal(take_psn(b, 1, &now_ns), 50);
	assert_int_equal(now_ns, QUANTA_1000_NS);
	bench_stop(b);
}

TEST(response_delay_moves_pause_and_resume_by_its_quanta)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns, last_ns = 0;
	struct rte_mbuf *m;
	uint32_t psn = 0;

	b->params.ports[1].pfc_delay_quanta = 1000;
	bench_start_learnt(b);
	give_pfc(b, 1, 1u << 3, 65535, 100);
	give_pfc(b, 1, 1u << 3, 0, 5100);
	give_data(b, 0, 1, 80, 200);
	/* 221.2 ns a frame: the 58th begins at 12808 ns, and there the port is when the pause
	 * counts. */
	for (now_ns = 200; (m = take(b, 1, now_ns)) != NULL; now_ns = next_ns(b, 1)) {
		assert_int_equal(roce_of(m).psn, ++psn);
		sent(m);
		last_ns = now_ns;
	}
	assert_int_equal(psn, 58);
	assert_int_equal(last_ns, 12808);
	assert_int_equal(take_psn(b, 1, &now_ns), 59);
	assert_int_equal(now_ns, 5100 + QUANTA_1000_NS);
	assert_int_equal(pfc_rx_duration_ns(sw_pfc_rx(b->sw, 1), 3, now_ns), 5000);
	drain(b, 1, &now_ns);
	bench_stop(b);
}

TEST(too_many_frames_in_the_delay_are_obeyed_early_and_counted)
{
	struct bench *b = bench_with_ports(2);

	bench_start(b);
	sw_set_pfc_delay(b->sw, 1, 1000);
	assert_null(take(b, 1, 0));
	for (unsigned int i = 0; i < PFC_RX_WAITING; i++)
		give_pfc(b, 1, 1u << 3, 100, i);
	assert_false(pfc_rx_read(sw_pfc_rx(b->sw, 1), 3, 20).paused);
	give_pfc(b, 1, 1u << 3, 100, 20);
	assert_true(pfc_rx_read(sw_pfc_rx(b->sw, 1), 3, 20).paused);
	assert_int_equal(sw_pfc_rx(b->sw, 1)->stats.rx_pause_early, 1);
	bench_stop(b);
}

static struct bench *
bench_with_port_1_disabled(void)
{
	struct bench *b = bench_with_ports(2);

	set_small_group(&b->params);
	b->params.ports[1].tx_disabled = true;
	bench_start_learnt(b);
	return b;
}

TEST(disabled_port_holds_data_and_still_holds_its_peer)
{
	struct bench *b = bench_with_port_1_disabled();
	uint64_t now_ns = 0;
	struct mac_control mc;
	struct rte_mbuf *m;

	for (unsigned int i = 1; i <= 10; i++) {
		give(b, 0, make_data(b, 0, 1, i), 0);
		give(b, 1, make_data(b, 1, 0, i), 0);
	}
	m = take(b, 1, 0);
	assert_true(is_pfc(m, &mc));
	sent(m);
	assert_null(take(b, 1, 1000));
	sw_set_tx_disabled(b->sw, 1, false);
	assert_int_equal(next_ns(b, 1), 0);
	now_ns = 2000;
	assert_int_equal(take_psn(b, 1, &now_ns), 1);
	assert_int_equal(now_ns, 2000);
	sw_set_tx_disabled(b->sw, 1, true);
	assert_null(take(b, 1, 5000));
	sw_set_tx_disabled(b->sw, 1, false);
	now_ns = 5000;
	for (unsigned int i = 2; i <= 10; i++)
		assert_int_equal(take_psn(b, 1, &now_ns), i);
	drain(b, 0, &now_ns);
	bench_stop(b);
}

TEST(link_that_goes_down_drops_what_waits_and_gives_the_buffer_back)
{
	struct bench *b = bench_with_ports(3);
	uint64_t now_ns = 100;
	struct mac_control mc;
	struct rte_mbuf *m;

	set_small_group(&b->params);
	bench_start_learnt(b);
	give_data(b, 0, 1, 10, 0);
	sent(take(b, 0, 0)); /* XOFF to host 0 */
	give_pfc(b, 1, 1u << 3, 65535, 50);
	sw_set_link(b->sw, 1, false, 0);
	assert_null(take(b, 1, 100));
	assert_int_equal(drops(b, 1, SW_DROP_LINK_DOWN), 10);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].drop_packets, 10);
	assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), 0);
	assert_int_equal(pfc_rx_duration_ns(sw_pfc_rx(b->sw, 1), 3, 1000), 50);
	/* Host 0 may go on. */
	m = take_next(b, 0, &now_ns);
	assert_true(is_pfc(m, &mc));
	assert_int_equal(mc.quanta[3], 0);
	sent(m);
	/* Nothing to it. */
	give(b, 0, make_data(b, 0, 1, 11), 200);
	assert_int_equal(drops(b, 1, SW_DROP_LINK_DOWN), 11);
	assert_int_equal(next_ns(b, 1), NEVER_NS);
	sw_set_link(b->sw, 1, true, 0);
	assert_null(take(b, 1, 300));
	now_ns = 300;
	give(b, 0, make_data(b, 0, 1, 12), 300);
	assert_int_equal(take_psn(b, 1, &now_ns), 12);
	assert_int_equal(now_ns, 300);
	bench_stop(b);
}

TEST(frame_from_a_port_proves_its_link_until_someone_looks_again)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 200;

	bench_start_learnt(b);
	sw_set_link(b->sw, 1, false, 0);
	give(b, 0, make_data(b, 0, 1, 1), 100);
	assert_int_equal(drops(b, 1, SW_DROP_LINK_DOWN), 1);
	give(b, 1, make_data(b, 1, 0, 1), 200);
	assert_int_equal(take_psn(b, 0, &now_ns), 1);
	give(b, 0, make_data(b, 0, 1, 2), 200);
	assert_int_equal(take_psn(b, 1, &now_ns), 2);
	/* The look was after the frame. */
	sw_set_link(b->sw, 1, false, 300);
	give(b, 0, make_data(b, 0, 1, 3), 300);
	assert_int_equal(drops(b, 1, SW_DROP_LINK_DOWN), 2);
	sw_set_link(b->sw, 1, true, 400);
	now_ns = 400;
	give(b, 0, make_data(b, 0, 1, 4), 400);
	assert_int_equal(take_psn(b, 1, &now_ns), 4);
	bench_stop(b);
}

TEST(port_that_is_shut_down_neither_takes_nor_sends_frames)
{
	struct bench *b = bench_with_ports(4);
	uint64_t now_ns = 1000;
	uint8_t mac[6];

	b->params.ports[1].shutdown = true;
	bench_start(b);
	host_mac(mac, 1);
	assert_int_equal(sw_learn(b->sw, 0, mac, 1, 0), 0);
	give(b, 0, make_data(b, 0, 1, 1), now_ns);
	assert_int_equal(drops(b, 1, SW_DROP_SHUTDOWN), 1);
	/* A link, a frame and a pause from its peer do not wake it. */
	sw_set_link(b->sw, 1, true, now_ns);
	give(b, 1, make_data(b, 1, 0, 2), now_ns);
	give_pfc(b, 1, 1u << 3, 1000, now_ns);
	assert_null(take(b, 0, now_ns));
	give(b, 0, make_data(b, 0, 1, 3), now_ns);
	assert_null(take(b, 1, now_ns));
	assert_int_equal(drops(b, 1, SW_DROP_SHUTDOWN), 4);
	assert_int_equal(sw_port_stats(b->sw, 1)->rx_pause_frames, 0);
	/* Flooding leaves it out. */
	give(b, 0, make_frame(b, &(struct frame_spec){.src = 0, .dst = BROADCAST_HOST}), now_ns);
	assert_int_equal(drain(b, 2, &now_ns) + drain(b, 3, &now_ns), 2);
	assert_null(take(b, 1, now_ns));
	/* And back: what waits is dropped when it is shut down again. */
	sw_set_shutdown(b->sw, 1, false, now_ns);
	give(b, 0, make_data(b, 0, 1, 4), now_ns);
	sw_set_shutdown(b->sw, 1, true, now_ns);
	assert_null(take(b, 1, now_ns));
	assert_int_equal(drops(b, 1, SW_DROP_SHUTDOWN), 5);
	assert_int_equal(drops(b, 1, SW_DROP_LINK_DOWN), 0);
	sw_set_shutdown(b->sw, 1, false, now_ns);
	give(b, 1, make_data(b, 1, 0, 5), now_ns);
	sent(take_next(b, 0, &now_ns));
	bench_stop(b);
}

TEST(flooding_skips_ports_without_link)
{
	struct bench *b = bench_with_ports(4);
	uint64_t now_ns = 0;

	bench_start(b);
	sw_set_link(b->sw, 1, false, 0);
	sw_set_link(b->sw, 3, false, 0);
	give(b, 0, make_data(b, 0, BROADCAST_HOST, 1), 0);
	assert_int_equal(drain(b, 2, &now_ns), 1);
	assert_int_equal(all_drops(b), 0);
	sw_set_link(b->sw, 2, false, 0);
	give(b, 0, make_data(b, 0, BROADCAST_HOST, 2), 1000);
	assert_int_equal(all_drops(b), 1);
	assert_int_equal(drops(b, 0, SW_DROP_LINK_DOWN), 1);
	bench_stop(b);
}

TEST(xoff_that_the_buffer_still_wants_is_told_when_the_link_is_back)
{
	struct bench *b = bench_with_port_1_disabled();
	uint64_t now_ns = 0;
	struct mac_control mc;
	struct rte_mbuf *m;

	give_data(b, 0, 1, 10, 0);
	sent(take(b, 0, 0));
	sw_set_link(b->sw, 0, false, 0);
	assert_null(take(b, 0, 1000));
	assert_int_equal(pfc_tx_duration_ns(sw_pfc_tx(b->sw, 0), 3, 5000), 1000);
	sw_set_link(b->sw, 0, true, 0);
	now_ns = 2000;
	m = take_next(b, 0, &now_ns);
	assert_true(is_pfc(m, &mc));
	assert_int_equal(mc.quanta[3], 65535);
	assert_int_equal(now_ns, 2000);
	sent(m);
	bench_stop(b);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
