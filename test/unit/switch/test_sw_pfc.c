/* SPDX-License-Identifier: BSD-3-Clause */
/* PFC of the switch: obeying it and generating it, packet by packet and to the nanosecond. */
#include "base/numbers/array.h"
#include "unit/switch/sw_test.h"
#include "tm/buffer/thresholds.h"

#define QUANTUM_PS 12800ull /* 512 bit times at 40G */
/* 65535 quanta at 40G: 838848 ns; sent again after half of it. */
#define REFRESH_NS 419424ull

static struct mac_control
take_pfc(struct bench *b, uint16_t port, uint64_t now_ns)
{
	static const uint8_t mac_control[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	struct rte_mbuf *m = take(b, port, now_ns);
	struct mac_control mc;

	assert_non_null(m);
	assert_true(is_pfc(m, &mc));
	assert_memory_equal(rte_pktmbuf_mtod(m, const uint8_t *), mac_control, 6);
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, const uint8_t *, 6),
			    b->params.ports[port].mac, 6);
	sent(m);
	return mc;
}

TEST(pause_holds_its_priority_and_ends_by_itself)
{
	struct bench *b = bench_with_ports(2);
	struct frame_spec other = {.src = 0, .dst = 1, .dscp = 0, .psn = 50};
	uint64_t now_ns = 1000;
	struct rte_mbuf *m;

	bench_start(b);
	give(b, 0, make_data(b, 0, 1, 1), 0);
	give_pfc(b, 1, 1u << 3, 1000, now_ns); /* 12800 ns */
	give(b, 0, make_frame(b, &other), now_ns);
	m = take_next(b, 1, &now_ns);
	assert_int_equal(now_ns, 1000);
	assert_int_equal(roce_of(m).psn, 50);
	sent(m);
	assert_int_equal(next_ns(b, 1), 1000 + 1000 * QUANTUM_PS / 1000);
	m = take_next(b, 1, &now_ns);
	assert_int_equal(now_ns, 13800);
	assert_int_equal(roce_of(m).psn, 1);
	sent(m);
	assert_int_equal(sw_pfc_rx(b->sw, 1)->stats.rx_pause[3], 1);
	assert_int_equal(sw_pfc_rx(b->sw, 1)->stats.rx_pause_duration_ns[3], 12800);
	bench_stop(b);
}

TEST(xon_resumes_at_once_and_wakes_the_port)
{
	struct bench *b = bench_with_ports(2);

	bench_start(b);
	give_pfc(b, 1, 1u << 3, 65535, 0);
	give(b, 0, make_data(b, 0, 1, 1), 0);
	assert_null(take(b, 1, 100));
	b->sw->wake[0] = 0;
	give_pfc(b, 1, 1u << 3, 0, 200);
	assert_true(b->sw->wake[0] == 1u << 1);
	assert_true(next_ns(b, 1) <= 200);
	sent(take(b, 1, 200));
	bench_stop(b);
}

TEST(pause_of_another_priority_or_port_or_not_enabled_holds_nothing)
{
	struct bench *b = bench_with_ports(2);

	bench_start(b);
	give_pfc(b, 1, (uint8_t) ~(1u << 3), 65535, 0);
	give_pfc(b, 0, 1u << 3, 65535, 0);
	give_pfc(b, 1, 0, 65535, 0); /* vector of zeros: says nothing */
	give(b, 0, make_data(b, 0, 1, 1), 0);
	sent(take(b, 1, 0));
	assert_int_equal(sw_pfc_rx(b->sw, 1)->stats.rx_pause[0], 1); /* counted all the same */
	assert_int_equal(sw_port_stats(b->sw, 1)->rx_pause_frames, 2);
	bench_stop(b);
}

TEST(mac_control_to_another_station_is_counted_and_pauses_nothing)
{
	static const uint8_t others[][6] = {
		{0x02, 0, 0, 1, 0, 0},          /* the address of port 0 */
		{0x02, 0, 0, 0, 0, 1},          /* a host's */
		{0x01, 0x80, 0xC2, 0, 0, 0x02}, /* of slow protocols */
		{0x01, 0x80, 0xC2, 0, 0, 0x0E}, /* of LLDP */
		{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
	};
	struct bench *b = bench_with_ports(2);
	uint8_t frame[PFC_FRAME_BYTES];

	bench_start_learnt(b);
	for (unsigned int i = 0; i < ARRAY_LEN(others); i++) {
		pfc_frame_build(frame, (uint8_t[6]){0}, 0xFF,
				(uint16_t[8]){9, 9, 9, 9, 9, 9, 9, 9});
		memcpy(frame, others[i], 6);
		give_bytes(b, 1, frame, sizeof(frame), 0);
		assert_int_equal(drops(b, 1, SW_DROP_MAC_CONTROL_ADDRESS), i + 1);
	}
	assert_int_equal(sw_port_stats(b->sw, 1)->rx_pause_frames, 0);
	assert_int_equal(sw_pfc_rx(b->sw, 1)->paused, 0);
	assert_null(take(b, 0, 0)); /* forwarded to nobody */
	/* The port's own address is as good as the group's. */
	memcpy(frame, b->params.ports[1].mac, 6);
	give_bytes(b, 1, frame, sizeof(frame), 0);
	give(b, 0, make_data(b, 0, 1, 1), 0);
	assert_null(take(b, 1, 1));
	assert_int_equal(sw_port_stats(b->sw, 1)->rx_pause_frames, 1);
	bench_stop(b);
}

TEST(next_time_is_the_first_expiry_that_frees_a_packet)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 0;

	b->params.qos.pfc_enable = 1u << 2 | 1u << 3 | 1u << 4;
	for (uint8_t tc = 0; tc < TM_CLASSES; tc++)
		b->params.qos.tc_to_priority_group_map[tc] = tc;
	b->params.qos.dscp_to_tc_map[8] = 4;
	bench_start(b);
	give_pfc(b, 1, 1u << 2, 10, 0); /* nothing waits behind this one */
	give_pfc(b, 1, 1u << 3, 1000, 0);
	give_pfc(b, 1, 1u << 4, 100, 0);
	assert_true(next_ns(b, 1) == NEVER_NS);
	give(b, 0, make_data(b, 0, 1, 3), 0);
	assert_int_equal(next_ns(b, 1), 12800);
	b->sw->wake[0] = 0;
	give(b, 0, make_frame(b, &(struct frame_spec){.src = 0, .dst = 1, .dscp = 8}), 0);
	assert_true(b->sw->wake[0] == 1u << 1);
	assert_int_equal(next_ns(b, 1), 1280);
	sent(take_next(b, 1, &now_ns));
	assert_int_equal(now_ns, 1280);
	sent(take_next(b, 1, &now_ns));
	assert_int_equal(now_ns, 12800);
	bench_stop(b);
}

TEST(xoff_headroom_drop_and_xon_come_at_their_packets)
{
	struct bench *b = bench_with_ports(3);
	struct mac_control mc;
	uint64_t now_ns = 0;

	set_small_group(&b->params);
	bench_start_learnt(b);
	for (unsigned int i = 1; i <= 16; i++) {
		give(b, 0, make_data(b, 0, 1, i), 0);
		assert_int_equal(pfc_tx_is_xoff(sw_pfc_tx(b->sw, 0), 3), i >= 10);
		assert_int_equal(mmu_pg_state(sw_mmu(b->sw), 0, 3).headroom_bytes,
				 (i <= 10  ? 0
				  : i > 15 ? 5
					   : i - 10) *
					 DATA_BYTES);
		assert_int_equal(drops(b, 0, SW_DROP_NO_HEADROOM), i > 15);
	}
	assert_int_equal(next_ns(b, 0), 0);
	mc = take_pfc(b, 0, 0);
	assert_int_equal(mc.enable, 1u << 3);
	assert_int_equal(mc.quanta[3], 65535);
	assert_int_equal(next_ns(b, 0), REFRESH_NS);
	for (unsigned int departed = 1; departed <= 15; departed++) {
		b->sw->wake[0] = 0;
		sent(take_next(b, 1, &now_ns));
		assert_int_equal(pfc_tx_is_xoff(sw_pfc_tx(b->sw, 0), 3), departed < 8);
		assert_int_equal(b->sw->wake[0] & 1, departed == 8);
	}
	mc = take_pfc(b, 0, now_ns);
	assert_int_equal(mc.enable, 1u << 3);
	assert_int_equal(mc.quanta[3], 0);
	assert_true(next_ns(b, 0) == NEVER_NS && next_ns(b, 2) == NEVER_NS);
	assert_int_equal(sw_port_stats(b->sw, 0)->tx_pause_frames, 2);
	assert_int_equal(sw_port_stats(b->sw, 0)->tx_packets, 0);
	assert_int_equal(sw_ledger(b->sw).generated, 2 * 64);
	bench_stop(b);
}

TEST(xoff_is_sent_again_while_it_holds)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 0;

	set_small_group(&b->params);
	bench_start(b);
	give_data(b, 0, 1, 10, 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(next_ns(b, 0), i * REFRESH_NS);
		assert_null(i > 0 ? take(b, 0, i * REFRESH_NS - 1) : NULL);
		assert_int_equal(take_pfc(b, 0, i * REFRESH_NS).quanta[3], 65535);
	}
	now_ns = 3 * REFRESH_NS - 5000;
	assert_int_equal(drain(b, 1, &now_ns), 10);
	assert_int_equal(take_pfc(b, 0, now_ns).quanta[3], 0);
	assert_int_equal(sw_pfc_tx(b->sw, 0)->stats.tx_pause[3], 4);
	bench_stop(b);
}

/* Frames of another group free room, so that XOFF ends without a frame of its own group. */
TEST(xoff_is_not_sent_again_once_other_groups_have_freed_room)
{
	struct bench *b = bench_with_ports(4);
	uint64_t now_ns = 0;
	unsigned int n = 0;

	set_small_group(&b->params);
	b->params.mmu.lossless.dynamic = true;
	b->params.mmu.lossless.static_th_bytes = 0;
	b->params.mmu.lossless.dynamic_th = 0;
	b->params.mmu.buffer_bytes = 80 * DATA_BYTES;
	bench_start_learnt(b);
	give_pfc(b, 2, 1u << 3, 65535, 0);
	give_data(b, 1, 3, 12, 0);
	while (!pfc_tx_is_xoff(sw_pfc_tx(b->sw, 0), 3)) {
		give(b, 0, make_data(b, 0, 2, n), 0);
		assert_true(++n < 80);
	}
	assert_int_equal(take_pfc(b, 0, 0).quanta[3], 65535);
	assert_int_equal(drain(b, 3, &now_ns), 12);
	assert_int_equal(take_pfc(b, 0, REFRESH_NS).quanta[3], 0);
	assert_true(next_ns(b, 0) == NEVER_NS);
	now_ns = 2 * REFRESH_NS;
	drain(b, 2, &now_ns);
	bench_stop(b);
}

/* A paused port still tells its peer, ahead of data, and the frame takes its time on the wire. */
TEST(pfc_frame_leaves_while_data_is_paused_and_goes_first)
{
	struct bench *b = bench_with_ports(2);
	uint64_t now_ns = 0;

	set_small_group(&b->params);
	bench_start_learnt(b);
	give_pfc(b, 0, 1u << 3, 65535, 0);
	give(b, 1, make_data(b, 1, 0, 1), 0);
	give_data(b, 0, 1, 10, 0);
	assert_int_equal(take_pfc(b, 0, 0).quanta[3], 65535);
	assert_null(take(b, 0, 5000));
	/* Both due: XON first, then data, 84 bytes (16.8 ns) later but for the bucket's 6. */
	now_ns = 10000;
	assert_int_equal(drain(b, 1, &now_ns), 10);
	give_pfc(b, 0, 1u << 3, 0, now_ns);
	assert_int_equal(take_pfc(b, 0, now_ns).quanta[3], 0);
	assert_int_equal(next_ns(b, 0), now_ns + 16);
	assert_null(take(b, 0, now_ns + 15));
	sent(take(b, 0, now_ns + 16));
	bench_stop(b);
}

/*
 * Lossless frames come in by port 0 at line rate, for a host that is paused, and stop when the XOFF
 * has left. Meanwhile port 0 sends under its shaper.
 *
 * @return how long the XOFF waited.
 */
static uint64_t
xoff_delay_ns(uint64_t shaper_rate_bps)
{
	struct bench *b = bench_with_ports(2);
	struct pfc_link link = {
		.link_speed_bps = 40 * GBPS, .own_frame_bytes = 2048, .peer_frame_bytes = 2048};
	struct frame_spec back = {.src = 1, .dst = 0, .payload_bytes = 1900};
	uint64_t now_ns = 0, wanted_ns = 0, left_ns = 0;
	struct mac_control mc;

	b->params.ports[0].shaper_rate_bps = shaper_rate_bps;
	set_small_group(&b->params);
	b->params.mmu.lossless.xoff_bytes = pfc_headroom(&link).total_bytes;
	bench_start_learnt(b);
	give_pfc(b, 1, 1u << 3, 65535, 0);
	for (unsigned int i = 0; i < 4; i++)
		give(b, 1, make_frame(b, &back), 0);
	for (unsigned int i = 0; left_ns == 0; i++) {
		struct rte_mbuf *m;

		give(b, 0, make_data(b, 0, 1, i), now_ns);
		if (wanted_ns == 0 && pfc_tx_is_xoff(sw_pfc_tx(b->sw, 0), 3))
			wanted_ns = now_ns;
		while ((m = take(b, 0, now_ns)) != NULL) {
			if (is_pfc(m, &mc))
				left_ns = now_ns;
			sent(m);
		}
		now_ns += serialization_ns(DATA_WIRE_BYTES, 40 * GBPS);
		assert_int_equal(drops(b, 0, SW_DROP_NO_HEADROOM), 0);
	}
	bench_stop(b);
	return left_ns - wanted_ns;
}

TEST(xoff_waits_for_the_wire_and_not_for_the_shaper)
{
	static const uint64_t rates_bps[] = {40 * GBPS, 20 * GBPS, 1 * GBPS, 4 * MBPS};

	/* The frame in front takes 395 ns of the wire; the bench looks once in 222 ns. */
	for (unsigned int i = 0; i < ARRAY_LEN(rates_bps); i++)
		assert_in_range(xoff_delay_ns(rates_bps[i]), 0, 444 + 222);
}

/* One second under a shaper of 4 Mb/s: XOFF and XON every 250 us are 5.4 Mb/s of pause frames. */
TEST(data_pays_for_pause_frames_and_their_debt_has_a_bound)
{
	struct bench *b = bench_with_ports(2);
	struct frame_spec back = {.src = 1, .dst = 0};
	uint64_t data_bytes = 0, now_ns = 0, end_ns;
	unsigned int pauses = 0;
	struct mac_control mc;
	struct rte_mbuf *m;

	b->params.ports[0].shaper_rate_bps = 4 * MBPS;
	set_small_group(&b->params);
	bench_start_learnt(b);
	for (unsigned int i = 0; i < 3500; i++)
		give(b, 1, make_frame(b, &back), 0);
	for (unsigned int i = 0; i < 4000; i++) {
		now_ns = i * 250 * NS_PER_US;
		for (unsigned int k = 0; k < 11; k++)
			give(b, 0, make_data(b, 0, 1, k), now_ns);
		for (unsigned int half = 0; half < 2; half++) {
			while ((m = take(b, 0, now_ns)) != NULL) {
				pauses += is_pfc(m, &mc);
				data_bytes += is_pfc(m, &mc) ? 0 : wire_bytes(m->pkt_len);
				sent(m);
			}
			drain(b, 1, &now_ns);
			now_ns += NS_PER_US;
		}
	}
	assert_int_equal(pauses, 8000);
	assert_true(data_bytes < 1000);
	/* 65536 bytes of debt take 131 ms; from then on data has all of the rate. */
	now_ns += 132 * NS_PER_MS;
	data_bytes = 0;
	for (end_ns = now_ns + 100 * NS_PER_MS; now_ns < end_ns; now_ns += 10 * NS_PER_US) {
		while ((m = take(b, 0, now_ns)) != NULL) {
			data_bytes += wire_bytes(m->pkt_len);
			sent(m);
		}
	}
	assert_in_range(data_bytes, 49000, 50500);
	bench_stop(b);
}

TEST(own_drain_makes_xon_go_before_the_next_packet)
{
	struct bench *b = bench_with_ports(2);
	struct rte_mbuf *out[8];
	uint64_t now_ns = 0;
	struct mac_control mc;
	uint16_t n;

	set_small_group(&b->params);
	b->params.shaper_burst_ns = 10000;
	bench_start_learnt(b);
	give_data(b, 0, 1, 10, now_ns);
	assert_int_equal(take_pfc(b, 0, now_ns).quanta[3], 65535);
	give(b, 1, make_data(b, 1, 0, 77), now_ns);
	n = b->sw->ops->tx(b->sw, 1, out, 8, now_ns);
	assert_int_equal(n, 8);
	for (uint16_t i = 0; i < n; i++)
		sent(out[i]);
	n = b->sw->ops->tx(b->sw, 0, out, 8, now_ns);
	assert_int_equal(n, 2);
	assert_true(is_pfc(out[0], &mc));
	assert_int_equal(mc.quanta[3], 0);
	assert_int_equal(roce_of(out[1]).psn, 77);
	sent(out[0]);
	sent(out[1]);
	bench_stop(b);
}

TEST(without_pfc_the_group_drops_at_its_lossy_limit)
{
	struct bench *b = bench_with_ports(2);

	set_small_group(&b->params);
	b->params.pfc_generate = false;
	b->params.mmu.lossy = (struct buffer_profile){.static_th_bytes = 12 * DATA_BYTES};
	bench_start(b);
	for (unsigned int i = 0; i < 20; i++)
		give(b, 0, make_data(b, 0, 1, i), 0);
	assert_int_equal(drops(b, 0, SW_DROP_PG_LIMIT), 8);
	assert_int_equal(all_drops(b), 8);
	assert_true(next_ns(b, 0) == NEVER_NS);
	/* It still obeys. */
	give_pfc(b, 1, 1u << 3, 65535, 0);
	assert_null(take(b, 1, 1000));
	bench_stop(b);
}

TEST(lossy_queue_limit_is_counted_at_the_egress)
{
	struct bench *b = bench_with_ports(3);
	struct frame_spec s = {.src = 0, .dst = 1, .payload_bytes = DATA_PAYLOAD};

	b->params.mmu.egress_lossy = (struct buffer_profile){.static_th_bytes = 4 * DATA_BYTES};
	bench_start_learnt(b);
	for (unsigned int i = 0; i < 6; i++)
		give(b, 0, make_frame(b, &s), 0);
	assert_int_equal(drops(b, 1, SW_DROP_QUEUE_LIMIT), 2);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[0].drop_packets, 2);
	assert_int_equal(all_drops(b), 2);
	assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), 4 * DATA_BYTES);
	/* Of a flood the copies that fit go on. */
	s.dst = BROADCAST_HOST;
	give(b, 0, make_frame(b, &s), 0);
	assert_int_equal(drops(b, 1, SW_DROP_QUEUE_LIMIT), 3);
	sent(take(b, 2, 0));
	bench_stop(b);
}

TEST(pfc_frame_without_an_mbuf_is_tried_again_later)
{
	static struct rte_mbuf *taken[BENCH_FRAMES];
	struct bench *b = bench_with_ports(2);

	set_small_group(&b->params);
	bench_start(b);
	give_data(b, 0, 1, 10, 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(b->frames, taken, BENCH_FRAMES), 0);
	assert_null(take(b, 0, 0));
	rte_pktmbuf_free_bulk(taken, BENCH_FRAMES);
	assert_int_equal(sw_port_stats(b->sw, 0)->pause_no_mbuf, 1);
	assert_int_equal(sw_pfc_tx(b->sw, 0)->stats.tx_pause[3], 0);
	assert_int_equal(next_ns(b, 0), 1000);
	assert_null(take(b, 0, 999));
	assert_int_equal(take_pfc(b, 0, 1000).quanta[3], 65535);
	bench_stop(b);
}

TEST(flooded_frame_holds_its_group_until_the_last_copy_left)
{
	struct bench *b = bench_with_ports(4);
	uint64_t now_ns = 0;

	set_small_group(&b->params);
	bench_start(b);
	give_data(b, 0, 9, 10, 0);
	assert_int_equal(take_pfc(b, 0, 0).quanta[3], 65535);
	assert_int_equal(drain(b, 1, &now_ns), 10);
	assert_int_equal(drain(b, 2, &now_ns), 10);
	assert_true(pfc_tx_is_xoff(sw_pfc_tx(b->sw, 0), 3));
	for (unsigned int departed = 1; departed <= 10; departed++) {
		sent(take_next(b, 3, &now_ns));
		assert_int_equal(pfc_tx_is_xoff(sw_pfc_tx(b->sw, 0), 3), departed < 3);
	}
	bench_stop(b);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
