/* SPDX-License-Identifier: BSD-3-Clause */
/* The PFC watchdog on a switch: what it detects when, what it does to whom, when it ends. */
#include "unit/switch/sw_test.h"

#include "base/numbers/array.h"
#include "switch/control/event_log.h"
#include "switch/core/switch.h"
#include "unit/chance.h"

#define PRIO 3
#define XOFF_EVERY_NS (400 * NS_PER_US) /* 65535 quanta at 40G last 838.8 us */

/* SONiC's flavour in thousandths: polls each millisecond, 2 ms to detect, 3 ms to restore. */
static struct bench *
bench_of(uint16_t n_ports, int action)
{
	struct bench *b = &bench;

	bench_defaults(&b->params, n_ports);
	b->params.pfcwd.pfcwd = PFCWD_SONIC;
	b->params.pfcwd.action = action;
	b->params.pfcwd.poll_interval_ns = NS_PER_MS;
	b->params.pfcwd.detection_time_ns = 2 * NS_PER_MS;
	b->params.pfcwd.restoration_time_ns = 3 * NS_PER_MS;
	return b;
}

static void
start(struct bench *b)
{
	bench_start_learnt(b);
	b->sw->ops->control(b->sw, 0);
}

/* Time passes: control is called when it asked to be, and frames of XOFF come to these ports. */
static void
pass_with(struct bench *b, uint8_t prios, uint64_t from_us, uint64_t to_us, uint32_t storm_ports)
{
	for (uint64_t us = from_us + 100; us <= to_us; us += 100) {
		uint64_t now_ns = us * NS_PER_US;

		for (uint16_t port = 0; port < b->params.n_ports; port++) {
			if (storm_ports >> port & 1 && (us - 100) % 400 == 0)
				give_pfc(b, port, prios, 65535, now_ns);
		}
		if (us % 1000 == 0)
			b->sw->ops->control(b->sw, now_ns);
	}
}

static void
pass(struct bench *b, uint64_t from_us, uint64_t to_us, uint32_t storm_ports)
{
	pass_with(b, 1u << PRIO, from_us, to_us, storm_ports);
}

static void
sees_event(struct bench *b, enum sw_event_kind kind, uint16_t port, uint64_t at_us)
{
	struct sw_event e;

	assert_true(sw_event_next(b->sw, &e));
	assert_int_equal(e.kind, kind);
	assert_int_equal(e.port, port);
	assert_int_equal(e.at_ns, at_us * NS_PER_US);
}

/* The queue of port 1 is in a storm from 3 ms on. */
static void
start_with_storm(struct bench *b)
{
	start(b);
	pass(b, 0, 3000, 1u << 1);
	sees_event(b, SW_EVENT_STORM_DETECTED, 1, 3000);
}

static void
sees_no_event(struct bench *b)
{
	struct sw_event e;

	assert_false(sw_event_next(b->sw, &e));
}

/* Data frames that leave from now on until nothing leaves for 10 us. */
static unsigned int
drain_at(struct bench *b, uint16_t port, uint64_t us)
{
	uint64_t now_ns = us * NS_PER_US;
	unsigned int n = 0;

	while (next_ns(b, port) <= now_ns + 10 * NS_PER_US) {
		uint64_t due_ns = next_ns(b, port);
		struct mac_control mc;
		struct rte_mbuf *m;

		now_ns = due_ns > now_ns ? due_ns : now_ns;
		m = take(b, port, now_ns);
		if (m == NULL)
			continue;
		n += !is_pfc(m, &mc);
		sent(m);
	}
	return n;
}

static const struct pfcwd_stats *
stats_of(const struct bench *b, uint16_t port)
{
	return &sw_pfcwd(b->sw, port, PRIO)->stats;
}

TEST(drop_empties_the_queue_and_both_directions_until_restored)
{
	struct bench *b = bench_of(3, PFCWD_DROP);
	const struct pfcwd_counts *n;

	start(b);
	pass(b, 0, 2900, 1u << 1); /* the storm begins at 100 us */
	give_data(b, 0, 1, 5, 2900 * NS_PER_US);
	assert_int_equal(drain_at(b, 1, 2900), 0);
	/* Good at 1 ms, bad at 2 and 3 ms. */
	pass(b, 2900, 3000, 1u << 1);
	sees_event(b, SW_EVENT_STORM_DETECTED, 1, 3000);
	assert_int_equal(drain_at(b, 1, 3000), 0);
	assert_int_equal(sw_queue_bytes(b->sw, 1, PRIO), 0);
	give_data(b, 0, 1, 2, 3100 * NS_PER_US); /* to the queue */
	give_data(b, 1, 0, 3, 3100 * NS_PER_US); /* from the group */
	give_data(b, 0, 2, 1, 3100 * NS_PER_US); /* neither */
	assert_int_equal(drain_at(b, 0, 3100), 0);
	assert_int_equal(drain_at(b, 2, 3100), 1);
	assert_int_equal(drops(b, 1, SW_DROP_PFC_WATCHDOG), 5 + 2 + 3);
	/* The last XOFF comes at 4.9 ms: quiet at 6, 7 and 8 ms. */
	pass(b, 3100, 5000, 1u << 1);
	pass(b, 5000, 7900, 0);
	sees_no_event(b);
	pass(b, 7900, 8000, 0);
	sees_event(b, SW_EVENT_STORM_RESTORED, 1, 8000);
	give_data(b, 0, 1, 4, 8000 * NS_PER_US);
	give_data(b, 1, 0, 4, 8000 * NS_PER_US);
	assert_int_equal(drain_at(b, 1, 8000), 4);
	assert_int_equal(drain_at(b, 0, 8000), 4);
	n = &stats_of(b, 1)->total;
	assert_int_equal(n->tx_dropped_packets, 7);
	assert_int_equal(n->rx_dropped_packets, 3);
	assert_int_equal(n->tx_packets + n->rx_packets, 0);
	assert_memory_equal(n, &stats_of(b, 1)->last, sizeof(*n));
	assert_int_equal(stats_of(b, 1)->deadlock_detected, 1);
	assert_int_equal(stats_of(b, 1)->deadlock_restored, 1);
	assert_int_equal(stats_of(b, 1)->detected_ns, 3000 * NS_PER_US);
	assert_int_equal(stats_of(b, 1)->restored_ns, 8000 * NS_PER_US);
	assert_int_equal(stats_of(b, 1)->longest_storm_ns, 5000 * NS_PER_US);
	bench_stop(b);
}

TEST(forward_sends_in_spite_of_the_pause_and_counts_it)
{
	struct bench *b = bench_of(2, PFCWD_FORWARD);

	start(b);
	pass(b, 0, 2900, 1u << 1);
	give_data(b, 0, 1, 5, 2900 * NS_PER_US);
	assert_int_equal(drain_at(b, 1, 2900), 0);
	pass(b, 2900, 3000, 1u << 1);
	sees_event(b, SW_EVENT_STORM_DETECTED, 1, 3000);
	assert_int_equal(drain_at(b, 1, 3000), 5);
	pass(b, 3000, 3500, 1u << 1);
	give_data(b, 0, 1, 2, 3500 * NS_PER_US);
	give_data(b, 1, 0, 3, 3500 * NS_PER_US);
	assert_int_equal(drain_at(b, 1, 3500), 2);
	assert_int_equal(drain_at(b, 0, 3500), 3);
	pass(b, 3500, 5000, 1u << 1);
	assert_int_equal(all_drops(b), 0);
	assert_int_equal(stats_of(b, 1)->total.tx_packets, 7);
	assert_int_equal(stats_of(b, 1)->total.rx_packets, 3);
	assert_int_equal(sw_pfcwd(b->sw, 1, PRIO)->state, PFCWD_STORMED);
	bench_stop(b);
}

TEST(alert_changes_nothing_and_ends_with_the_storm)
{
	struct bench *b = bench_of(2, PFCWD_ALERT);

	start(b);
	give_pfc(b, 1, 1u << PRIO, 65535, 100000);
	give_data(b, 0, 1, 5, 100 * NS_PER_US);
	pass(b, 100, 4000, 1u << 1);
	sees_event(b, SW_EVENT_STORM_DETECTED, 1, 3000);
	assert_int_equal(drain_at(b, 1, 4000), 0);
	/* Paused until 3.7 ms + 838.8 us: half of the poll's millisecond. */
	assert_int_equal(drain_at(b, 1, 4600), 5);
	pass(b, 4600, 5000, 0);
	sees_event(b, SW_EVENT_STORM_RESTORED, 1, 5000);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(polls_that_are_less_late_each_time_count_as_whole_intervals)
{
	static const uint64_t late_ns[] = {900 * NS_PER_US, 600 * NS_PER_US, 30 * NS_PER_US};
	struct bench *b = bench_of(2, PFCWD_DROP);
	struct sw_event e;

	start(b);
	/* As in pass(): the storm begins at 100 us; good at 1 ms, bad at 2 and 3 ms. */
	for (uint64_t us = 100; us <= 3000; us += 100) {
		if ((us - 100) % 400 == 0)
			give_pfc(b, 1, 1u << PRIO, 65535, us * NS_PER_US);
		if (us % 1000 == 0)
			b->sw->ops->control(b->sw, us * NS_PER_US + late_ns[us / 1000 - 1]);
	}
	assert_true(sw_event_next(b->sw, &e));
	assert_int_equal(e.kind, SW_EVENT_STORM_DETECTED);
	assert_int_equal(e.at_ns, 3000 * NS_PER_US + late_ns[2]);
	bench_stop(b);
}

TEST(a_watchdog_that_begins_between_two_polls_counts_from_there)
{
	struct bench *b = bench_of(2, PFCWD_DROP);
	struct sw_event e;

	start(b);
	give_pfc(b, 1, 1u << PRIO, 65535, 100 * NS_PER_US);
	b->sw->ops->control(b->sw, 1500 * NS_PER_US);
	/* Bad at 2 and 3 ms, 1.5 ms in all. */
	for (uint64_t us = 1600; us <= 4000; us += 100) {
		if (us % 400 == 0)
			give_pfc(b, 1, 1u << PRIO, 65535, us * NS_PER_US);
		if (us % 1000 != 0)
			continue;
		b->sw->ops->control(b->sw, us * NS_PER_US);
		if (us < 4000)
			sees_no_event(b);
	}
	assert_true(sw_event_next(b->sw, &e));
	assert_int_equal(e.kind, SW_EVENT_STORM_DETECTED);
	assert_int_equal(e.at_ns, 4000 * NS_PER_US);
	bench_stop(b);
}

TEST(throttled_storm_that_lets_frames_through_is_none)
{
	struct bench *b = bench_of(2, PFCWD_DROP);

	start(b);
	/* 65535 quanta of each millisecond: 838.8 us. */
	for (uint64_t ms = 0; ms < 20; ms++) {
		give_pfc(b, 1, 1u << PRIO, 65535, ms * NS_PER_MS + 1000);
		pass(b, ms * 1000, (ms + 1) * 1000, 0);
	}
	sees_no_event(b);
	assert_int_equal(pfc_rx_duration_ns(sw_pfc_rx(b->sw, 1), PRIO, 20 * NS_PER_MS),
			 20 * 838848ull);
	bench_stop(b);
}

TEST(empty_queue_is_in_a_storm_unless_told_otherwise)
{
	struct bench *b = bench_of(2, PFCWD_DROP);

	b->params.pfcwd.detect_empty = false;
	start(b);
	pass(b, 0, 5000, 1u << 1);
	sees_no_event(b);
	give_data(b, 0, 1, 1, 5000 * NS_PER_US);
	/* Waits at the polls of 6 and 7 ms: bad at 7 and 8. */
	pass(b, 5000, 8000, 1u << 1);
	sees_event(b, SW_EVENT_STORM_DETECTED, 1, 8000);
	take(b, 1, 8 * NS_PER_MS);
	bench_stop(b);
}

TEST(xon_blocks_the_restoration_only_if_told_so)
{
	for (int blocks = 0; blocks <= 1; blocks++) {
		struct bench *b = bench_of(2, PFCWD_DROP);
		struct sw_event e;

		b->params.pfcwd.xon_blocks_restore = blocks;
		start_with_storm(b);
		for (uint64_t ms = 3; ms < 10; ms++) {
			give_pfc(b, 1, 1u << PRIO, 0, ms * NS_PER_MS + 1);
			pass(b, ms * 1000, (ms + 1) * 1000, 0);
		}
		assert_int_equal(sw_event_next(b->sw, &e), !blocks);
		bench_stop(b);
	}
}

/* sonic-swss issue 1128: with pfc_asymmetric a pause of a lossy priority stops a queue, too. */
TEST(a_storm_of_a_lossy_priority_is_seen_on_an_asymmetric_port)
{
	struct bench *b = bench_of(2, PFCWD_DROP);
	struct frame_spec lossy = {.src = 0, .dst = 1, .dscp = 0};

	b->params.ports[1].pfc_asymmetric = true;
	start(b);
	pass_with(b, 1u << 0, 0, 2900, 1u << 1);
	give(b, 0, make_frame(b, &lossy), 2900 * NS_PER_US);
	assert_int_equal(drain_at(b, 1, 2900), 0);
	pass_with(b, 1u << 0, 2900, 3000, 1u << 1);
	sees_event(b, SW_EVENT_STORM_DETECTED, 1, 3000);
	give(b, 0, make_frame(b, &lossy), 3100 * NS_PER_US);
	assert_int_equal(drain_at(b, 1, 3100), 0);
	assert_int_equal(all_drops(b), 2);
	bench_stop(b);
}

/* A pause that the watchdog does not see may stop a queue for ever. */
TEST(the_watchdog_watches_the_priorities_that_a_port_obeys)
{
	static const int flows[] = {SW_FLOW_OFF, SW_FLOW_PFC};

	for (unsigned int i = 0; i < 8; i++) {
		struct bench *b = bench_of(2, PFCWD_DROP);
		struct sw_port_params *p = &b->params.ports[1];

		p->flow_control = flows[i & 1];
		p->pfc_asymmetric = p->flow_control == SW_FLOW_PFC && i & 2;
		p->classes.own_pfc_enable = i & 4;
		p->classes.pfc_enable[0] = 0;
		start(b);
		give_pfc(b, 1, UINT8_MAX, 65535, 0);
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
			bool obeyed = pfc_rx_read(sw_pfc_rx(b->sw, 1), prio, 1000).duration_ns > 0;

			assert_int_equal(sw_pfcwd_watches(b->sw, 1, prio), obeyed);
		}
		bench_stop(b);
	}
}

TEST(infinite_restoration_time_never_restores)
{
	struct bench *b = bench_of(2, PFCWD_DROP);

	b->params.pfcwd.restoration_time_ns = NEVER_NS;
	start_with_storm(b);
	pass(b, 3000, 100000, 0);
	sees_no_event(b);
	bench_stop(b);
}

/* A port's link changes 300 times before anyone looks: 256 events wait, 44 are counted as lost. */
TEST(events_beyond_the_queue_are_counted)
{
	struct bench *b = bench_of(2, PFCWD_DROP);
	struct sw_event e;
	unsigned int taken = 0;

	start(b);
	for (unsigned int i = 0; i < 300; i++)
		sw_set_link(b->sw, 0, i % 2 == 1, i);
	while (sw_event_next(b->sw, &e)) {
		assert_int_equal(e.at_ns, taken);
		taken++;
	}
	assert_int_equal(taken, SW_EVENTS);
	assert_int_equal(sw_events_take_lost(b->sw), 300 - SW_EVENTS);
	assert_int_equal(sw_events_lost(b->sw), 0);
	bench_stop(b);
}

TEST(storms_of_two_ports_trip_the_big_red_switch)
{
	struct bench *b = bench_of(4, PFCWD_FORWARD);
	struct frame_spec lossy = {.src = 0, .dst = 3, .dscp = 0};

	b->params.pfcwd.big_red_switch_storms = 2;
	start_with_storm(b);
	pass(b, 3000, 6000, 1u << 1 | 1u << 2);
	sees_event(b, SW_EVENT_STORM_DETECTED, 2, 6000);
	sees_event(b, SW_EVENT_BIG_RED_SWITCH_ON, 0, 6000);
	/* Every watched queue drops, that of port 3 too; others do not. */
	give_data(b, 0, 3, 2, 6100 * NS_PER_US);
	give(b, 0, make_frame(b, &lossy), 6100 * NS_PER_US);
	assert_int_equal(drain_at(b, 3, 6100), 1);
	assert_int_equal(drops(b, 0, SW_DROP_PFC_WATCHDOG), 2);
	/* Neither detection nor restoration. */
	pass(b, 6100, 20000, 0);
	sees_no_event(b);
	sw_set_big_red_switch(b->sw, false);
	pass(b, 20000, 21000, 0);
	sees_event(b, SW_EVENT_BIG_RED_SWITCH_OFF, 0, 21000);
	give_data(b, 0, 3, 2, 21100 * NS_PER_US);
	assert_int_equal(drain_at(b, 3, 21100), 2);
	assert_int_equal(stats_of(b, 3)->deadlock_detected, 1);
	assert_int_equal(stats_of(b, 3)->deadlock_restored, 1);
	bench_stop(b);
}

#define LIFE_PORTS 3

/*
 * A life of the watchdog: storms come and go, and its parameters change while it runs. `open` are
 * the storms of which there was an event, and no event of their end.
 */
struct life {
	struct prng rng;
	uint8_t open[LIFE_PORTS];
	uint64_t restored, switched_on;
};

static void
change_params(struct bench *b, struct prng *r)
{
	static const struct {
		int pfcwd, action;
	} modes[] = {
		{PFCWD_SONIC, PFCWD_DROP}, {PFCWD_SONIC, PFCWD_FORWARD}, {PFCWD_SONIC, PFCWD_ALERT},
		{PFCWD_NXOS, PFCWD_DROP},  {PFCWD_OFF, PFCWD_DROP},
	};
	unsigned int mode = (unsigned int)prng_below(r, ARRAY_LEN(modes));
	unsigned int port = (unsigned int)prng_below(r, LIFE_PORTS);

	sw_running_params(b->sw, &b->params);
	if (chance(r, 30)) {
		b->params.pfcwd.pfcwd = modes[mode].pfcwd;
		b->params.pfcwd.action = modes[mode].action;
	}
	if (chance(r, 50))
		b->params.ports[port].pfcwd = chance(r, 60);
	if (chance(r, 30))
		b->params.pfcwd.pfcwd_sw_enable = chance(r, 60) ? 1u << PRIO : 0;
	if (chance(r, 40))
		b->params.pfcwd.big_red_switch = chance(r, 30);
	if (chance(r, 30))
		b->params.pfcwd.big_red_switch_storms = (uint16_t)prng_below(r, 4);
}

static void
take_events(struct bench *b, struct life *life)
{
	struct sw_event e;

	while (sw_event_next(b->sw, &e)) {
		uint8_t bit = (uint8_t)(1u << e.queue);

		switch (e.kind) {
		case SW_EVENT_STORM_DETECTED:
			assert_false(life->open[e.port] & bit);
			life->open[e.port] |= bit;
			break;
		case SW_EVENT_STORM_RESTORED:
			assert_true(life->open[e.port] & bit);
			life->open[e.port] &= (uint8_t)~bit;
			life->restored++;
			break;
		case SW_EVENT_BIG_RED_SWITCH_ON:
			memset(life->open, 0, sizeof(life->open));
			life->switched_on++;
			break;
		default:
			break;
		}
	}
}

static void
sees_truth(struct bench *b, const struct life *life)
{
	unsigned int storms = 0;
	bool red = sw_big_red_switch(b->sw) && b->params.pfcwd.pfcwd != PFCWD_OFF;

	for (uint16_t port = 0; port < LIFE_PORTS; port++) {
		const struct sw_port_state *state = &sw_of(b->sw)->ports[port].requested;
		uint8_t acts = state->storm_drop | state->storm_forward, stormed = 0;

		for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
			const struct pfcwd *w = sw_pfcwd(b->sw, port, prio);
			bool in_storm = w->state == PFCWD_STORMED;

			assert_int_equal(w->stats.deadlock_detected - w->stats.deadlock_restored,
					 in_storm);
			stormed |= (uint8_t)(in_storm << prio);
			storms += in_storm;
			assert_true(!in_storm || sw_pfcwd_watches(b->sw, port, prio));
			assert_true(!red || in_storm == sw_pfcwd_watches(b->sw, port, prio));
		}
		assert_int_equal(acts & ~stormed, 0);
		assert_true(red || stormed == life->open[port]);
		if (red)
			assert_int_equal(state->storm_drop, stormed);
	}
	assert_true(red || b->params.pfcwd.pfcwd == PFCWD_OFF || storms == 0 ||
		    b->params.pfcwd.big_red_switch_storms == 0 ||
		    storms < b->params.pfcwd.big_red_switch_storms);
}

TEST(storms_and_their_events_agree_over_random_changes)
{
	struct bench *b = bench_of(LIFE_PORTS, PFCWD_DROP);
	struct life life = {0};
	uint64_t us = 0;

	prng_seed(&life.rng, 7, 0);
	b->params.pfcwd.watch_dog_interval_ns = NS_PER_MS;
	start(b);
	for (unsigned int step = 0; step < 600; step++) {
		uint64_t until_us = us + 1000 * any(&life.rng, 1, 6);

		if (chance(&life.rng, 40)) {
			change_params(b, &life.rng);
			sw_reload(b->sw, &b->params, bench_prepare_reload(b), us * NS_PER_US);
			b->sw->ops->rx(b->sw, 0, NULL, 0, us * NS_PER_US);
		}
		pass(b, us, until_us, (uint32_t)prng_below(&life.rng, 1u << LIFE_PORTS));
		us = until_us;
		assert_true(sw_reload_settle(b->sw));
		take_events(b, &life);
		sees_truth(b, &life);
	}
	assert_int_equal(sw_events_take_lost(b->sw), 0);
	assert_true(life.restored > 20 && life.switched_on > 20);
	bench_stop(b);
}

TEST(a_port_goes_by_its_own_action_and_times)
{
	struct bench *b = bench_of(3, PFCWD_ALERT);
	struct sw_port_params *p = &b->params.ports[2];

	p->pfcwd_action = 1 + PFCWD_DROP;
	p->pfcwd_detection_time_ns = 5 * NS_PER_MS;
	p->pfcwd_restoration_time_ns = 8 * NS_PER_MS;
	start(b);
	pass(b, 0, 10000, 1u << 1 | 1u << 2);
	/* Bad from 2 ms on: for 2 ms as of [pfcwd], and for 5 ms. */
	sees_event(b, SW_EVENT_STORM_DETECTED, 1, 3000);
	sees_event(b, SW_EVENT_STORM_DETECTED, 2, 6000);
	/* Only the second one drops. */
	give(b, 0, make_frame(b, &(struct frame_spec){.src = 0, .dst = 1, .dscp = 26}), 10000000);
	give(b, 0, make_frame(b, &(struct frame_spec){.src = 0, .dst = 2, .dscp = 26}), 10000000);
	assert_int_equal(sw_port_stats(b->sw, 1)->drops[SW_DROP_PFC_WATCHDOG], 0);
	assert_int_equal(sw_port_stats(b->sw, 2)->drops[SW_DROP_PFC_WATCHDOG], 1);
	/* The last XOFF comes at 9.7 ms: good at 11 ms, which ends an alert, and quiet for 8 ms. */
	pass(b, 10000, 24000, 0);
	sees_event(b, SW_EVENT_STORM_RESTORED, 1, 11000);
	sees_event(b, SW_EVENT_STORM_RESTORED, 2, 18000);
	drain_at(b, 1, 24000);
	bench_stop(b);
}

TEST(a_port_with_times_below_the_poll_interval_is_refused)
{
	struct bench *b = bench_of(2, PFCWD_DROP);
	char why[256];

	b->params.ports[1].pfcwd_detection_time_ns = NS_PER_MS / 2;
	sw_params_resolve(&b->params);
	assert_int_equal(sw_params_check(&b->params, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "port 1: detection_time_ns is below poll_interval_ns");
}

TEST(nxos_waits_shuts_down_and_restores_by_multiples_of_its_interval)
{
	struct bench *b = bench_of(2, PFCWD_DROP);
	struct pfcwd_params *p = &b->params.pfcwd;

	p->pfcwd = PFCWD_NXOS;
	p->watch_dog_interval_ns = NS_PER_MS;
	p->auto_restore_multiplier = 3;
	p->fixed_restore_multiplier = 1;
	b->params.ports[1].pfcwd_interface_multiplier = 2;
	start(b);
	pass(b, 0, 500, 1u << 1);
	give_data(b, 0, 1, 5, 500 * NS_PER_US);
	/* Seen at 1 ms, stuck at 2: waits; stuck at 3 and 4: shut down. */
	pass(b, 500, 2000, 1u << 1);
	sees_event(b, SW_EVENT_WAIT_TO_SHUTDOWN, 1, 2000);
	pass(b, 2000, 3900, 1u << 1);
	sees_no_event(b);
	pass(b, 3900, 4000, 1u << 1);
	sees_event(b, SW_EVENT_STORM_DETECTED, 1, 4000);
	assert_int_equal(drain_at(b, 1, 4000), 0);
	assert_int_equal(drops(b, 1, SW_DROP_PFC_WATCHDOG), 5);
	/* Quiet at 6, 7, 8 and 9 ms: the last XOFF comes at 4.9. */
	pass(b, 4000, 5000, 1u << 1);
	pass(b, 5000, 8900, 0);
	sees_no_event(b);
	pass(b, 8900, 9000, 0);
	sees_event(b, SW_EVENT_STORM_RESTORED, 1, 9000);
	give_data(b, 0, 1, 1, 9000 * NS_PER_US);
	assert_int_equal(drain_at(b, 1, 9000), 1);
	bench_stop(b);
}

TEST(nxos_queue_that_moves_again_is_not_shut_down)
{
	struct bench *b = bench_of(2, PFCWD_DROP);

	b->params.pfcwd.pfcwd = PFCWD_NXOS;
	b->params.pfcwd.watch_dog_interval_ns = NS_PER_MS;
	start(b);
	pass(b, 0, 500, 1u << 1);
	give_data(b, 0, 1, 5, 500 * NS_PER_US);
	pass(b, 500, 2000, 1u << 1);
	sees_event(b, SW_EVENT_WAIT_TO_SHUTDOWN, 1, 2000);
	give_pfc(b, 1, 1u << PRIO, 0, 2100 * NS_PER_US);
	assert_int_equal(drain_at(b, 1, 2100), 5);
	pass(b, 2100, 10000, 0);
	sees_no_event(b);
	assert_int_equal(all_drops(b), 0);
	bench_stop(b);
}

TEST(storm_on_one_port_ends_with_its_victims_free)
{
	struct bench *b = bench_of(3, PFCWD_DROP);
	struct mac_control mc;
	struct rte_mbuf *m;
	uint64_t now_ns;

	b->params.mmu.lossless = (struct buffer_profile){
		.static_th_bytes = 10 * DATA_BYTES,
		.xoff_bytes = 5 * DATA_BYTES,
		.xon_offset_bytes = 3 * DATA_BYTES,
	};
	start(b);
	pass(b, 0, 100, 1u << 1);
	/* Host 0 is held for the sake of port 1, with all that it has for port 2. */
	give_data(b, 0, 1, 10, 200 * NS_PER_US);
	m = take(b, 0, 200 * NS_PER_US);
	assert_true(is_pfc(m, &mc));
	assert_int_equal(mc.quanta[PRIO], 65535);
	sent(m);
	pass(b, 200, 3000, 1u << 1);
	sees_event(b, SW_EVENT_STORM_DETECTED, 1, 3000);
	now_ns = 3 * NS_PER_MS;
	m = take(b, 0, now_ns);
	assert_true(is_pfc(m, &mc));
	assert_int_equal(mc.quanta[PRIO], 0);
	sent(m);
	for (uint64_t us = 3000; us < 6000; us += 100) {
		give_data(b, 0, 1, 2, us * NS_PER_US);
		give_data(b, 0, 2, 2, us * NS_PER_US);
		assert_int_equal(drain_at(b, 2, us), 2);
		pass(b, us, us + 100, 1u << 1);
	}
	assert_false(pfc_tx_is_xoff(sw_pfc_tx(b->sw, 0), PRIO));
	assert_int_equal(drops(b, 1, SW_DROP_PFC_WATCHDOG), 10 + 60);
	bench_stop(b);
}

TEST(lines_of_the_log_are_those_of_sonic)
{
	struct sw_event e = {.kind = SW_EVENT_STORM_DETECTED, .port = 4, .queue = 3};
	char text[128];

	sw_event_text(&e, "4", text, sizeof(text));
	assert_string_equal(text, "PFC Watchdog detected PFC storm on port 4, queue index 3");
	e.kind = SW_EVENT_STORM_RESTORED;
	sw_event_text(&e, "Ethernet16", text, sizeof(text));
	assert_string_equal(text, "PFC Watchdog storm restored on port Ethernet16, queue index 3");
	assert_string_equal(sw_event_name(e.kind), "storm_restored");
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
