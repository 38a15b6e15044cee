/* SPDX-License-Identifier: BSD-3-Clause */
/* Other params while frames pass: packet by packet, and by chance with senders that obey. */
#include "unit/switch/sw_test.h"

#include <stdio.h>

#include "base/numbers/prng.h"

#define DATA_NS 222u /* a frame on the wire at 40G, rounded up */

static struct bench *
bench_of(uint16_t n_ports)
{
	struct bench *b = &bench;

	bench_defaults(&b->params, n_ports);
	b->params.mmu.lossless = (struct buffer_profile){
		.static_th_bytes = 100 * DATA_BYTES,
		.xoff_bytes = 10 * DATA_BYTES,
		.xon_offset_bytes = 3 * DATA_BYTES,
	};
	return b;
}

/* Put b->params, as the test has changed them, in force. */
static void
reload(struct bench *b, uint64_t now_ns)
{
	sw_reload(b->sw, &b->params, bench_prepare_reload(b), now_ns);
	assert_false(sw_reload_is_done(b->sw));
	b->sw->ops->rx(b->sw, 0, NULL, 0, now_ns);
	b->sw->ops->control(b->sw, now_ns);
	assert_true(sw_reload_settle(b->sw));
	bench_sees_balance(b);
}

static void
sees_pfc(struct bench *b, uint16_t port, bool xoff, uint64_t now_ns)
{
	struct rte_mbuf *m = take(b, port, now_ns);
	struct mac_control mc;

	assert_non_null(m);
	assert_true(is_pfc(m, &mc));
	assert_int_equal(mc.enable, 1u << 3);
	assert_true((mc.quanta[3] > 0) == xoff);
	sent(m);
}

TEST(a_limit_below_what_is_held_pauses_the_sender_and_drops_nothing)
{
	struct bench *b = bench_of(3);
	uint64_t now_ns = 0;

	bench_start_learnt(b);
	give_data(b, 0, 1, 50, 0);
	assert_null(take(b, 0, 0));
	b->params.mmu.lossless.static_th_bytes = 10 * DATA_BYTES;
	reload(b, 0);
	sees_pfc(b, 0, true, 0);
	/* What was on its way has all of the headroom. */
	give_data(b, 0, 1, 10, 0);
	assert_int_equal(mmu_pg_state(sw_mmu(b->sw), 0, 3).headroom_bytes, 10 * DATA_BYTES);
	assert_int_equal(all_drops(b), 0);
	/* XON at limit less offset: 53 frames have to leave. */
	for (unsigned int i = 0; i < 53; i++) {
		assert_null(take(b, 0, now_ns));
		sent(take_next(b, 1, &now_ns));
	}
	sees_pfc(b, 0, false, now_ns + DATA_NS);
	assert_int_equal(drain(b, 1, &now_ns), 7);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(headroom_that_shrinks_becomes_shared_use_and_the_pause_goes_on)
{
	struct bench *b = bench_of(3);
	struct mmu_pg_state pg;
	uint64_t now_ns = 0;

	b->params.mmu.lossless.static_th_bytes = 10 * DATA_BYTES;
	bench_start_learnt(b);
	give_data(b, 0, 1, 18, 0);
	sees_pfc(b, 0, true, 0);
	b->params.mmu.lossless.xoff_bytes = 2 * DATA_BYTES;
	b->params.mmu.lossless.size_bytes = 4 * DATA_BYTES;
	reload(b, 0);
	pg = mmu_pg_state(sw_mmu(b->sw), 0, 3);
	assert_int_equal(pg.reserved_bytes, 4 * DATA_BYTES);
	assert_int_equal(pg.shared_bytes, 12 * DATA_BYTES);
	assert_int_equal(pg.headroom_bytes, 2 * DATA_BYTES);
	assert_null(take(b, 0, 0));
	assert_int_equal(drain(b, 1, &now_ns), 18);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(a_pool_that_shrinks_below_its_use_takes_no_more_until_it_is_not)
{
	struct bench *b = bench_of(3);
	struct frame_spec lossy = {.src = 0, .dst = 1, .payload_bytes = DATA_PAYLOAD};
	uint64_t now_ns = 0;

	b->params.mmu.lossy = (struct buffer_profile){.dynamic = true, .dynamic_th = 7};
	bench_start_learnt(b);
	for (unsigned int i = 0; i < 50; i++)
		give(b, 0, make_frame(b, &lossy), 0);
	b->params.mmu.lossy_pool_bytes = 20 * DATA_BYTES;
	reload(b, 0);
	assert_int_equal(mmu_pool_used_bytes(sw_mmu(b->sw), MMU_INGRESS_LOSSY), 50 * DATA_BYTES);
	assert_int_equal(mmu_pool_used_bytes(sw_mmu(b->sw), MMU_INGRESS_LOSSLESS), 0);
	give(b, 0, make_frame(b, &lossy), 0);
	assert_int_equal(all_drops(b), 1);
	for (unsigned int i = 0; i < 31; i++)
		sent(take_next(b, 1, &now_ns));
	give(b, 0, make_frame(b, &lossy), now_ns);
	assert_int_equal(all_drops(b), 1);
	assert_int_equal(drain(b, 1, &now_ns), 20);
	bench_stop(b);
}

TEST(a_group_that_is_lossless_no_more_tells_xon_and_obeys_nothing)
{
	struct bench *b = bench_of(3);
	uint64_t now_ns = 0;

	b->params.mmu.lossless.static_th_bytes = 10 * DATA_BYTES;
	bench_start_learnt(b);
	give_pfc(b, 1, 1u << 3, 65535, 0);
	give_data(b, 0, 1, 15, 0);
	sees_pfc(b, 0, true, 0);
	assert_null(take(b, 1, 0));
	b->params.qos.pfc_enable = 0;
	reload(b, 1000);
	sees_pfc(b, 0, false, 1000);
	now_ns = 1000;
	assert_int_equal(mmu_headroom_used_bytes(sw_mmu(b->sw)), 0);
	assert_int_equal(drain(b, 1, &now_ns), 15);
	assert_int_equal(now_ns, 1000 + 14 * DATA_WIRE_BYTES * 8 / 40);
	/* And back. */
	b->params.qos.pfc_enable = 1u << 3;
	reload(b, now_ns);
	give_pfc(b, 1, 1u << 3, 65535, now_ns);
	give_data(b, 0, 1, 15, now_ns);
	sees_pfc(b, 0, true, now_ns);
	now_ns += DATA_NS;
	assert_null(take(b, 1, now_ns));
	give_pfc(b, 1, 1u << 3, 0, now_ns);
	assert_int_equal(drain(b, 1, &now_ns), 15);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(a_curve_that_changes_counts_from_the_next_frame_on)
{
	struct bench *b = bench_of(3);
	uint64_t now_ns = 0;

	bench_start_learnt(b);
	give_data(b, 0, 1, 20, 0);
	for (unsigned int i = 0; i < 10; i++)
		sent(take_next(b, 1, &now_ns));
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets, 0);
	b->params.wred.green_min_threshold_bytes = b->params.wred.green_max_threshold_bytes =
		5 * DATA_BYTES;
	reload(b, now_ns);
	/* Behind them wait 9, 8, 7, 6, 5, .. frames. */
	assert_int_equal(drain(b, 1, &now_ns), 10);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[3].ecn_marked_packets, 4);
	bench_stop(b);
}

TEST(a_class_that_goes_to_another_queue_leaves_what_waits_where_it_is)
{
	struct bench *b = bench_of(3);
	struct frame_spec plain = {.src = 0, .dst = 1, .payload_bytes = DATA_PAYLOAD, .psn = 7};
	uint64_t now_ns = 0;

	bench_start_learnt(b);
	give(b, 0, make_frame(b, &plain), 0);
	give(b, 0, make_frame(b, &plain), 0);
	b->params.qos.dscp_to_tc_map[0] = 7;
	reload(b, 0);
	plain.psn = 8;
	give(b, 0, make_frame(b, &plain), 0);
	assert_int_equal(sw_queue_bytes(b->sw, 1, 0), 2 * DATA_BYTES);
	assert_int_equal(sw_queue_bytes(b->sw, 1, 7), DATA_BYTES);
	assert_int_equal(drain(b, 1, &now_ns), 3);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[7].tx_packets, 1);
	bench_stop(b);
}

/* Frames of queue 0 among n, while 0 and 3 always wait. */
static unsigned int
share_of_queue_0(struct bench *b, unsigned int n, uint64_t *now_ns)
{
	struct frame_spec plain = {.src = 0, .dst = 1, .payload_bytes = DATA_PAYLOAD};
	uint64_t before = sw_port_stats(b->sw, 1)->queue[0].tx_packets;

	for (unsigned int i = 0; i < n; i++) {
		if (sw_queue_bytes(b->sw, 1, 0) < 5 * DATA_BYTES)
			give(b, 0, make_frame(b, &plain), *now_ns);
		if (sw_queue_bytes(b->sw, 1, 3) < 5 * DATA_BYTES)
			give(b, 2, make_data(b, 2, 1, i), *now_ns);
		sent(take_next(b, 1, now_ns));
	}
	return (unsigned int)(sw_port_stats(b->sw, 1)->queue[0].tx_packets - before);
}

TEST(weights_and_rates_change_between_two_frames)
{
	struct bench *b = bench_of(3);
	uint64_t now_ns = 0, from_ns;

	for (unsigned int i = 0; i < TM_CLASSES; i++)
		b->params.sched.dwrr_weight[i] = 10;
	bench_start_learnt(b);
	assert_in_range(share_of_queue_0(b, 200, &now_ns), 98, 102);
	b->params.sched.dwrr_weight[3] = 30;
	reload(b, now_ns);
	assert_in_range(share_of_queue_0(b, 200, &now_ns), 48, 53);
	b->params.ports[1].shaper_rate_bps = 10 * GBPS;
	reload(b, now_ns);
	sent(take_next(b, 1, &now_ns));
	from_ns = now_ns;
	share_of_queue_0(b, 100, &now_ns);
	assert_in_range(now_ns - from_ns, 100 * DATA_WIRE_BYTES * 8 / 10 - 1,
			100 * DATA_WIRE_BYTES * 8 / 10 + 1);
	b->params.queues[1][3].max_rate_bps = 1 * GBPS;
	reload(b, now_ns);
	assert_in_range(share_of_queue_0(b, 100, &now_ns), 80, 100);
	drain(b, 1, &now_ns);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(knobs_go_back_to_what_is_loaded_and_the_storm_of_a_watchdog_that_is_off_is_over)
{
	struct bench *b = bench_of(3);
	uint64_t now_ns = 0;

	b->params.pfcwd.pfcwd = PFCWD_SONIC;
	bench_start_learnt(b);
	sw_set_tx_disabled(b->sw, 1, true);
	sw_set_pfc_delay(b->sw, 1, 7);
	sw_set_big_red_switch(b->sw, true);
	b->sw->ops->control(b->sw, 0);
	give_data(b, 0, 1, 3, 0);
	assert_int_equal(all_drops(b), 3);
	sw_running_params(b->sw, &b->params);
	assert_true(b->params.ports[1].tx_disabled && b->params.pfcwd.big_red_switch);
	assert_int_equal(b->params.ports[1].pfc_delay_quanta, 7);
	b->params.ports[1].tx_disabled = false;
	b->params.ports[1].pfc_delay_quanta = 0;
	b->params.pfcwd.big_red_switch = false;
	b->params.pfcwd.pfcwd = PFCWD_OFF;
	reload(b, 0);
	assert_false(sw_tx_disabled(b->sw, 1) || sw_big_red_switch(b->sw));
	give_data(b, 0, 1, 3, 0);
	assert_int_equal(drain(b, 1, &now_ns), 3);
	assert_int_equal(all_drops(b), 3);
	bench_stop(b);
}

/* Of three frames to port 1, how many leave it? */
static unsigned int
leave_port_1(struct bench *b, uint64_t *now_ns)
{
	*now_ns += NS_PER_MS;
	give_data(b, 0, 1, 3, *now_ns);
	return drain(b, 1, now_ns);
}

static unsigned int
leave_after_reload(struct bench *b, uint64_t *now_ns, bool watched, int pfcwd)
{
	b->params.ports[1].pfcwd = watched;
	b->params.pfcwd.pfcwd = pfcwd;
	reload(b, *now_ns);
	return leave_port_1(b, now_ns);
}

TEST(the_big_red_switch_holds_for_what_a_reload_begins_to_watch)
{
	struct bench *b = bench_of(2);
	uint64_t now_ns = 0;

	b->params.pfcwd.pfcwd = PFCWD_SONIC;
	b->params.pfcwd.big_red_switch = true;
	b->params.ports[0].pfcwd = b->params.ports[1].pfcwd = false;
	bench_start_learnt(b);
	b->sw->ops->control(b->sw, 0);
	assert_int_equal(leave_port_1(b, &now_ns), 3);
	assert_int_equal(leave_after_reload(b, &now_ns, true, PFCWD_SONIC), 0);
	assert_int_equal(leave_after_reload(b, &now_ns, true, PFCWD_OFF), 3);
	assert_int_equal(leave_after_reload(b, &now_ns, true, PFCWD_SONIC), 0);
	assert_int_equal(leave_after_reload(b, &now_ns, false, PFCWD_SONIC), 3);
	assert_int_equal(leave_after_reload(b, &now_ns, true, PFCWD_NXOS), 0);
	b->params.pfcwd.big_red_switch = false;
	assert_int_equal(leave_after_reload(b, &now_ns, true, PFCWD_NXOS), 3);
	bench_stop(b);
}

/* Packet buffers are those of the start. */
TEST(more_headroom_than_packets_were_made_for_is_refused)
{
	struct bench *b = bench_with_ports(2);
	struct sw_forwarding *next = NULL;
	char why[256] = "";

	sw_params_resolve(&b->params);
	b->params.mmu.packets = (uint32_t)mmu_params_packets(&b->params.mmu, 4096);
	bench_start(b);
	/* As a configuration is read again: it knows nothing of packets. */
	b->params.mmu.packets = 0;
	b->params.mmu.lossless.xoff_bytes = 200000;
	assert_int_equal(sw_params_check(&b->params, why, sizeof(why)), 0);
	assert_true(sw_reload_prepare(b->sw, &b->params, &next, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "lossless: xoff_bytes: expected"));
	assert_null(next);
	b->params.mmu.lossless.xoff_bytes = 20000;
	assert_int_equal(sw_reload_prepare(b->sw, &b->params, &next, why, sizeof(why)), 0);
	sw_reload_forget(next);
	bench_stop(b);
}

TEST(pause_of_the_link_and_pfc_do_not_change_into_each_other)
{
	struct bench *b = bench_of(2);
	static struct sw_params next;

	next = b->params;
	next.ports[1].flow_control = SW_FLOW_OFF;
	assert_null(sw_reload_fault(&b->params, &next));
	next.ports[1].flow_control = SW_FLOW_PAUSE;
	assert_non_null(sw_reload_fault(&b->params, &next));
	assert_non_null(sw_reload_fault(&next, &b->params));
}

/* A host that stops 4 frames after an XOFF, which is less than any headroom below. */
struct sender {
	bool held;
	unsigned int on_its_way;
};

static void
hear(struct bench *b, struct sender *s, uint16_t port, uint64_t now_ns)
{
	struct rte_mbuf *m;

	while ((m = take(b, port, now_ns)) != NULL) {
		struct mac_control mc;

		if (is_pfc(m, &mc) && mc.enable >> 3 & 1) {
			s->held = mc.quanta[3] > 0;
			s->on_its_way = 4;
		}
		rte_pktmbuf_free(m);
	}
}

static void
change_by_chance(struct bench *b, struct prng *prng)
{
	struct mmu_params *mmu = &b->params.mmu;
	bool dynamic = prng_u32(prng) % 2;

	mmu->lossless = (struct buffer_profile){
		.size_bytes = prng_u32(prng) % 4 * DATA_BYTES,
		.dynamic = dynamic,
		.dynamic_th = (int8_t)(dynamic ? (int)(prng_u32(prng) % 8) - 6 : 0),
		.static_th_bytes = dynamic ? 0 : (5 + prng_u32(prng) % 200) * DATA_BYTES,
		.xon_offset_bytes = prng_u32(prng) % 4 * DATA_BYTES,
		.xoff_bytes = (24 + prng_u32(prng) % 20) * DATA_BYTES,
	};
	mmu->lossy_pool_bytes = prng_u32(prng) % 3 * 40 * DATA_BYTES;
	mmu->egress_lossy_pool_bytes = prng_u32(prng) % 3 * 40 * DATA_BYTES;
	mmu->shared_headroom_pool_bytes = prng_u32(prng) % 2 * 4 * 60 * DATA_BYTES;
	b->params.wred.green_max_threshold_bytes = 10000 + prng_u32(prng) % 200000;
	b->params.sched.dwrr_weight[3] = (uint8_t)(1 + prng_u32(prng) % 100);
	b->params.ports[3].shaper_rate_bps = (1 + prng_u32(prng) % 40) * GBPS;
	b->params.qos.tc_to_queue_map[0] = (uint8_t)(prng_u32(prng) % 3);
}

TEST(reloads_under_load_drop_nothing_lossless_and_balance)
{
	struct bench *b = bench_of(4);
	struct frame_spec plain = {.dst = 3, .payload_bytes = 200};
	struct sender senders[3] = {0};
	uint64_t now_ns = 0, lossless = 0;
	struct prng prng;

	prng_seed(&prng, 11, 0);
	b->params.mmu.buffer_bytes = 3000000;
	bench_start_learnt(b);
	for (unsigned int step = 0; step < 20000; step++, now_ns += 100) {
		for (uint16_t i = 0; i < 3; i++) {
			struct sender *s = &senders[i];

			if (prng_u32(&prng) % 4 == 0 && (!s->held || s->on_its_way > 0)) {
				give_data(b, i, 3, 1, now_ns);
				s->on_its_way -= s->on_its_way > 0;
				lossless++;
			}
			plain.src = (uint8_t)i;
			if (prng_u32(&prng) % 8 == 0)
				give(b, i, make_frame(b, &plain), now_ns);
			hear(b, s, i, now_ns);
		}
		hear(b, &(struct sender){0}, 3, now_ns);
		if (step % 100 == 99) {
			change_by_chance(b, &prng);
			reload(b, now_ns);
		}
		bench_sees_balance(b);
	}
	assert_true(lossless > 1000);
	assert_true(sw_pfc_tx(b->sw, 0)->stats.tx_pause_transition[3] > 10);
	for (uint16_t port = 0; port < 4; port++)
		assert_int_equal(drops(b, port, SW_DROP_NO_HEADROOM), 0);
	drain(b, 3, &now_ns);
	assert_int_equal(sw_port_stats(b->sw, 3)->queue[3].tx_packets, lossless);
	assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), 0);
	bench_stop(b);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
