// SPDX-License-Identifier: BSD-3-Clause
#include "tm/pfc/pfcwd.h"

#include "base/numbers/array.h"
#include "base/field/field_table.h"
#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

/*
 * Share of a poll interval, in percent, that makes a poll bad. The rest allows for a late refresh.
 */
#define PAUSED_PCT 99

static const char *const mode_words[] = {"off", "sonic", "nxos", NULL};
static const char *const action_words[] = {"drop", "forward", "alert", NULL};

const struct field pfcwd_fields[] = {
	{FIELD_OF(struct pfcwd_params, pfcwd), .type = FIELD_ENUM, .choices = mode_words,
	 .def = "off", .live = true,
	 .help = "PFC watchdog: off, or detection of pause storms as in SONiC or as in NX-OS; "
		 "keys marked sonic or nxos apply to that one only"},
	{FIELD_OF(struct pfcwd_params, action), .type = FIELD_ENUM, .choices = action_words,
	 .def = "drop", .live = true,
	 .help = "action during a storm: drop: drop waiting and arriving packets; forward: "
		 "ignore the pause; alert: only report"},
	{FIELD_OF(struct pfcwd_params, pfcwd_sw_enable), .type = FIELD_SET8, .def = "0-7",
	 .live = true,
	 .help = "watched priorities; those whose pauses a port does not obey are ignored"},
	{FIELD_OF(struct pfcwd_params, detection_time_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_US, .max = 60 * NS_PER_SEC, .def = "200ms", .live = true,
	 .aliases = {{.name = "detection_time", .scale = NS_PER_MS}},
	 .help = "sonic: duration of a pause that counts as a storm; the alias counts ms"},
	{FIELD_OF(struct pfcwd_params, restoration_time_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_US, .max = UINT64_MAX, .def = "400ms", .live = true,
	 .aliases = {{.name = "restoration_time", .scale = NS_PER_MS}},
	 .help = "sonic: time without XOFF after which a storm has ended; never: until the next "
		 "start"},
	{FIELD_OF(struct pfcwd_params, poll_interval_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_US, .max = 60 * NS_PER_SEC, .def = "100ms", .live = true,
	 .aliases = {{.name = "POLL_INTERVAL", .scale = NS_PER_MS}},
	 .help = "sonic: time between two polls of a queue"},
	{FIELD_OF(struct pfcwd_params, detect_empty), .type = FIELD_BOOL, .def = "on", .live = true,
	 .help = "sonic: also detect a storm on a queue that is paused and empty"},
	{FIELD_OF(struct pfcwd_params, xon_blocks_restore), .type = FIELD_BOOL, .def = "off",
	 .live = true,
	 .help = "on: every PFC frame, including XON, delays restoration, as in "
		 "SONiC"},
	{FIELD_OF(struct pfcwd_params, big_red_switch), .type = FIELD_BOOL, .def = "off",
	 .live = true, .aliases = {{.name = "BIG_RED_SWITCH"}},
	 .help = "on: every watched queue drops, and the watchdog polls no queue"},
	{FIELD_OF(struct pfcwd_params, big_red_switch_storms), .type = FIELD_U16, .max = 512,
	 .def = "0", .live = true,
	 .help = "big_red_switch turns on when this number of queues is in a storm at the same "
		 "time; 0: never"},
	{FIELD_OF(struct pfcwd_params, watch_dog_interval_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_US, .max = 60 * NS_PER_SEC, .def = "100ms", .live = true,
	 .help = "nxos: time between two polls of a queue"},
	{FIELD_OF(struct pfcwd_params, shutdown_multiplier), .type = FIELD_U16, .min = 1,
	 .max = 1000, .def = "1", .live = true,
	 .help = "nxos: number of intervals after which a stuck queue is shut down; stuck: it has "
		 "packets and sends none; the first stuck interval does not count"},
	{FIELD_OF(struct pfcwd_params, auto_restore_multiplier), .type = FIELD_U16, .max = 1000,
	 .def = "10", .live = true,
	 .help = "nxos: number of intervals without XOFF after which a queue is restored"},
	{FIELD_OF(struct pfcwd_params, fixed_restore_multiplier), .type = FIELD_U16, .max = 1000,
	 .def = "0", .live = true,
	 .help = "nxos: number of intervals added to "
		 "auto_restore_multiplier"},
};

const unsigned int pfcwd_fields_n = ARRAY_LEN(pfcwd_fields);

/* clang-format off */
#define STAT(member, name_, text) { name_, text, offsetof(struct pfcwd_stats, member) }
const struct counter_field pfcwd_counters[] = {
	STAT(deadlock_detected, "deadlock_detected", "pause storms detected"),
	STAT(deadlock_restored, "deadlock_restored", "pause storms that ended"),
	STAT(total.tx_packets, "tx_packets", "packets sent by the queue during storms"),
	STAT(total.tx_dropped_packets, "tx_dropped_packets", "packets for the queue dropped during storms"),
	STAT(total.rx_packets, "rx_packets", "packets received in the group during storms"),
	STAT(total.rx_dropped_packets, "rx_dropped_packets", "packets of the group dropped during storms"),
};

const struct counter_field pfcwd_last_counters[] = {
	STAT(last.tx_packets, "tx_packets_last", "packets sent by the queue in the last storm"),
	STAT(last.tx_dropped_packets, "tx_dropped_packets_last",
	     "packets for the queue dropped in the last storm"),
	STAT(last.rx_packets, "rx_packets_last", "packets received in the group in the last storm"),
	STAT(last.rx_dropped_packets, "rx_dropped_packets_last",
	     "packets of the group dropped in the last storm"),
	STAT(detected_ns, "storm_detected_ns", "when the last storm was detected, since the start; 0: never"),
	STAT(restored_ns, "storm_restored_ns", "when the last storm that ended was restored, since the start; 0: never"),
	STAT(longest_storm_ns, "longest_storm_ns", "longest storm, from detection to restoration or until now"),
};
#undef STAT
/* clang-format on */

const unsigned int pfcwd_counters_n = ARRAY_LEN(pfcwd_counters);
const unsigned int pfcwd_last_counters_n = ARRAY_LEN(pfcwd_last_counters);

const char *
pfcwd_mode_name(enum pfcwd_mode mode)
{
	return mode_words[mode];
}

int
pfcwd_params_check(const struct pfcwd_params *p, char *why, unsigned int why_size)
{
	int rc = fields_check(pfcwd_fields, pfcwd_fields_n, p, why, why_size);

	if (rc != 0)
		return rc;
	if (p->pfcwd == PFCWD_SONIC && p->detection_time_ns < p->poll_interval_ns)
		return params_refuse(why, why_size, "detection_time_ns is below poll_interval_ns");
	if (p->pfcwd == PFCWD_SONIC && p->restoration_time_ns < p->poll_interval_ns)
		return params_refuse(why, why_size,
				     "restoration_time_ns is below poll_interval_ns");
	if (p->pfcwd == PFCWD_NXOS && p->auto_restore_multiplier + p->fixed_restore_multiplier == 0)
		return params_refuse(
			why, why_size,
			"auto_restore_multiplier and fixed_restore_multiplier are both 0");
	if (p->pfcwd == PFCWD_NXOS && p->action == PFCWD_FORWARD)
		return params_refuse(why, why_size,
				     "action = forward is not supported with pfcwd = nxos");
	return 0;
}

uint64_t
pfcwd_interval_ns(const struct pfcwd_params *p)
{
	switch (p->pfcwd) {
	case PFCWD_SONIC:
		return p->poll_interval_ns;
	case PFCWD_NXOS:
		return p->watch_dog_interval_ns;
	default:
		return NEVER_NS;
	}
}

static bool
is_stuck(const struct pfcwd_sample *now, const struct pfcwd_sample *before)
{
	return now->queue_bytes > 0 && before->queue_bytes > 0 &&
	       now->counts.tx_packets == before->counts.tx_packets;
}

static bool
is_bad(const struct pfcwd_params *p, const struct pfcwd_sample *now,
       const struct pfcwd_sample *before, uint64_t elapsed_ns)
{
	uint64_t paused_ns = sub_sat(now->paused_ns, before->paused_ns);

	if (p->pfcwd == PFCWD_NXOS)
		return is_stuck(now, before);
	return paused_ns >= mul_div(elapsed_ns, PAUSED_PCT, 100) &&
	       (p->detect_empty || is_stuck(now, before));
}

static bool
is_quiet(const struct pfcwd_params *p, const struct pfcwd_sample *now,
	 const struct pfcwd_sample *before)
{
	if (p->xon_blocks_restore)
		return now->pause_frames == before->pause_frames;
	return now->xoff_frames == before->xoff_frames;
}

/* Length of the countdown in the present state. */
static uint64_t
whole_ns(const struct pfcwd *w, const struct pfcwd_params *p)
{
	if (p->pfcwd == PFCWD_SONIC)
		return w->state == PFCWD_STORMED ? p->restoration_time_ns : p->detection_time_ns;
	switch (w->state) {
	case PFCWD_OPERATIONAL:
		return p->watch_dog_interval_ns;
	case PFCWD_WAIT_TO_SHUTDOWN:
		return p->shutdown_multiplier * p->watch_dog_interval_ns;
	case PFCWD_STORMED:
		break;
	}
	return (p->auto_restore_multiplier + p->fixed_restore_multiplier) *
	       p->watch_dog_interval_ns;
}

/* Count down while the condition holds, else restart. @return true at the end. */
static bool
count_down(struct pfcwd *w, bool goes_on, uint64_t whole, uint64_t elapsed_ns)
{
	if (!goes_on || whole == NEVER_NS) {
		w->left_ns = whole;
		return false;
	}
	if (w->left_ns <= elapsed_ns)
		return true;
	w->left_ns -= elapsed_ns;
	return false;
}

static void
store(uint64_t *member, uint64_t value)
{
	__atomic_store_n(member, value, __ATOMIC_RELAXED);
}

static void
measure_storm(struct pfcwd_stats *s, uint64_t now_ns)
{
	store(&s->longest_storm_ns, max_u64(s->longest_storm_ns, sub_sat(now_ns, s->detected_ns)));
}

static enum pfcwd_event
enter(struct pfcwd *w, enum pfcwd_state state, uint64_t now_ns)
{
	w->state = state;
	switch (state) {
	case PFCWD_OPERATIONAL:
		counter_inc(&w->stats.deadlock_restored);
		measure_storm(&w->stats, now_ns);
		store(&w->stats.restored_ns, now_ns);
		return PFCWD_RESTORED;
	case PFCWD_WAIT_TO_SHUTDOWN:
		return PFCWD_WAITS;
	case PFCWD_STORMED:
		break;
	}
	counter_inc(&w->stats.deadlock_detected);
	store(&w->stats.detected_ns, now_ns);
	w->stats.last = (struct pfcwd_counts){0};
	return PFCWD_DETECTED;
}

static enum pfcwd_event
next_state(struct pfcwd *w, const struct pfcwd_params *p, const struct pfcwd_sample *before,
	   uint64_t before_ns, uint64_t elapsed_ns)
{
	uint64_t now_ns = w->last_ns;
	bool bad = is_bad(p, &w->last, before, now_ns - before_ns);
	bool alert = p->action == PFCWD_ALERT;
	uint64_t whole = whole_ns(w, p);
	enum pfcwd_event event;

	if (w->state == PFCWD_STORMED && alert && p->pfcwd == PFCWD_SONIC) {
		if (bad)
			return PFCWD_NOTHING;
	} else if (w->state == PFCWD_STORMED) {
		if (!count_down(w, is_quiet(p, &w->last, before), whole, elapsed_ns))
			return PFCWD_NOTHING;
	} else if (w->state == PFCWD_WAIT_TO_SHUTDOWN && !bad) {
		w->state = PFCWD_OPERATIONAL;
		w->left_ns = p->watch_dog_interval_ns;
		return PFCWD_NOTHING;
	} else if (!count_down(w, bad, whole, elapsed_ns)) {
		return PFCWD_NOTHING;
	}
	if (w->state == PFCWD_STORMED)
		event = enter(w, PFCWD_OPERATIONAL, now_ns);
	else if (w->state == PFCWD_OPERATIONAL && p->pfcwd == PFCWD_NXOS)
		event = enter(w, PFCWD_WAIT_TO_SHUTDOWN, now_ns);
	else
		event = enter(w, PFCWD_STORMED, now_ns);
	w->left_ns = whole_ns(w, p);
	return event;
}

/* A counter that was cleared restarts at 0. */
static void
add_change(uint64_t *total, uint64_t *last, uint64_t now, uint64_t before)
{
	uint64_t change = now >= before ? now - before : now;

	counter_add(total, change);
	counter_add(last, change);
}

static void
add_counts(struct pfcwd_stats *stats, const struct pfcwd_counts *now,
	   const struct pfcwd_counts *before)
{
	struct pfcwd_counts *t = &stats->total, *l = &stats->last;

	add_change(&t->tx_packets, &l->tx_packets, now->tx_packets, before->tx_packets);
	add_change(&t->tx_dropped_packets, &l->tx_dropped_packets, now->tx_dropped_packets,
		   before->tx_dropped_packets);
	add_change(&t->rx_packets, &l->rx_packets, now->rx_packets, before->rx_packets);
	add_change(&t->rx_dropped_packets, &l->rx_dropped_packets, now->rx_dropped_packets,
		   before->rx_dropped_packets);
}

void
pfcwd_count(struct pfcwd *w, const struct pfcwd_sample *sample, uint64_t now_ns)
{
	if (w->state == PFCWD_STORMED)
		measure_storm(&w->stats, now_ns);
	if (w->polled && w->state == PFCWD_STORMED)
		add_counts(&w->stats, &sample->counts, &w->last.counts);
	w->polled = true;
	w->last_ns = w->counted_ns = now_ns;
	w->last = *sample;
}

enum pfcwd_event
pfcwd_poll(struct pfcwd *w, const struct pfcwd_params *params, const struct pfcwd_sample *sample,
	   uint64_t now_ns)
{
	struct pfcwd before = *w;
	uint64_t due_ns = now_ns - now_ns % pfcwd_interval_ns(params);

	pfcwd_count(w, sample, now_ns);
	if (!before.polled) {
		w->left_ns = whole_ns(w, params);
		return PFCWD_NOTHING;
	}
	w->counted_ns = max_u64(due_ns, before.counted_ns);
	if (now_ns <= before.last_ns)
		return PFCWD_NOTHING;
	return next_state(w, params, &before.last, before.last_ns,
			  w->counted_ns - before.counted_ns);
}

void
pfcwd_restart(struct pfcwd *w, const struct pfcwd_params *params)
{
	w->left_ns = whole_ns(w, params);
}

void
pfcwd_force(struct pfcwd *w, bool stormed, uint64_t now_ns)
{
	if (stormed != (w->state == PFCWD_STORMED))
		enter(w, stormed ? PFCWD_STORMED : PFCWD_OPERATIONAL, now_ns);
	/* The next poll only stores its sample, to compare the one after it with. */
	w->polled = false;
}
