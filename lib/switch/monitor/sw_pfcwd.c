/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/monitor/sw_pfcwd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "switch/control/event_log.h"
#include "switch/control/owners.h"
#include "switch/control/control_state.h"

static void
record(struct sw *sw, enum sw_event_kind kind, uint16_t port, uint8_t queue, uint64_t now_ns)
{
	sw_event_record(sw, &(struct sw_event){
				    .at_ns = now_ns, .kind = kind, .port = port, .queue = queue});
}

static bool
is_watched(const struct sw *sw, uint16_t port, uint8_t prio)
{
	const struct sw_watchdog *wd = &sw->control->watchdog;

	return wd->watched_prios[port] >> prio & 1;
}

static void
set_params(struct sw_watchdog *wd, const struct sw_params *params)
{
	wd->params = params->pfcwd;
	for (uint16_t port = 0; port < params->n_ports; port++) {
		wd->of_port[port] = sw_port_pfcwd(params, port);
		wd->qos[port] = sw_port_qos(params, port);
		wd->watched_prios[port] = 0;
		if (params->ports[port].pfcwd)
			wd->watched_prios[port] =
				params->pfcwd.pfcwd_sw_enable & sw_port_obeyed_prios(params, port);
	}
}

int
sw_pfcwd_init(struct sw *sw, const struct sw_params *params)
{
	struct sw_watchdog *wd = &sw->control->watchdog;

	wd->of_port = calloc(params->n_ports, sizeof(*wd->of_port));
	wd->qos = calloc(params->n_ports, sizeof(*wd->qos));
	wd->watched_prios = calloc(params->n_ports, sizeof(*wd->watched_prios));
	wd->queue = pages_alloc_sparse(params->n_ports * sizeof(*wd->queue));
	if (wd->of_port == NULL || wd->qos == NULL || wd->watched_prios == NULL ||
	    wd->queue == NULL)
		return -ENOMEM;
	wd->big_red_requested = params->pfcwd.big_red_switch;
	set_params(wd, params);
	return 0;
}

void
sw_pfcwd_free(struct sw *sw)
{
	free(sw->control->watchdog.of_port);
	free(sw->control->watchdog.qos);
	free(sw->control->watchdog.watched_prios);
	pages_free_sparse(sw->control->watchdog.queue,
			  sw->n_ports * sizeof(*sw->control->watchdog.queue));
}

static struct pfcwd_sample
read_sample(const struct sw *sw, uint16_t port, uint8_t prio, uint64_t now_ns)
{
	const struct sw_port *p = &sw->ports[port];
	uint8_t queue = sw->control->watchdog.qos[port].pfc_priority_to_queue_map[prio];
	struct pfc_rx_view rx = pfc_rx_read(&p->pfc_rx, prio, now_ns);

	return (struct pfcwd_sample){
		.paused_ns = rx.duration_ns,
		.pause_frames = rx.pause_frames,
		.xoff_frames = rx.xoff_frames,
		.queue_bytes = counter_read(&p->queue[queue].bytes),
		.counts =
			{
				.tx_packets = counter_read(&p->stats.queue[queue].tx_packets),
				.tx_dropped_packets =
					counter_read(&p->storm_counts[prio].tx_dropped),
				.rx_packets = counter_read(&p->storm_counts[prio].rx_packets),
				.rx_dropped_packets =
					counter_read(&p->storm_counts[prio].rx_dropped),
			},
	};
}

static void
request_action(struct sw *sw, uint16_t port, uint8_t prio, bool stormed)
{
	struct sw_port_state *requested = &sw->ports[port].requested;
	int action = sw->control->watchdog.big_red ? PFCWD_DROP
						   : sw->control->watchdog.of_port[port].action;
	uint8_t bit = (uint8_t)(1u << prio);
	uint8_t drop = requested->storm_drop & (uint8_t)~bit;
	uint8_t forward = requested->storm_forward & (uint8_t)~bit;

	if (stormed && action == PFCWD_DROP)
		drop |= bit;
	if (stormed && action == PFCWD_FORWARD)
		forward |= bit;
	__atomic_store_n(&requested->storm_drop, drop, __ATOMIC_RELAXED);
	__atomic_store_n(&requested->storm_forward, forward, __ATOMIC_RELAXED);
	sw_want_port(sw, port);
}

static void
on_event(struct sw *sw, uint16_t port, uint8_t prio, enum pfcwd_event event, uint64_t now_ns)
{
	uint8_t queue = sw->control->watchdog.qos[port].pfc_priority_to_queue_map[prio];

	switch (event) {
	case PFCWD_NOTHING:
		break;
	case PFCWD_WAITS:
		record(sw, SW_EVENT_WAIT_TO_SHUTDOWN, port, queue, now_ns);
		break;
	case PFCWD_DETECTED:
		record(sw, SW_EVENT_STORM_DETECTED, port, queue, now_ns);
		request_action(sw, port, prio, true);
		break;
	case PFCWD_RESTORED:
		record(sw, SW_EVENT_STORM_RESTORED, port, queue, now_ns);
		request_action(sw, port, prio, false);
		break;
	}
}

/*
 * While the big red switch is on, counters are updated but states do not change.
 * @return the number of queues in a storm.
 */
static unsigned int
poll_queues(struct sw *sw, uint64_t now_ns)
{
	struct sw_watchdog *wd = &sw->control->watchdog;
	unsigned int n_storms = 0;

	for (uint16_t port = 0; port < sw->n_ports; port++) {
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
			struct pfcwd_sample sample;

			if (!is_watched(sw, port, prio))
				continue;
			sample = read_sample(sw, port, prio, now_ns);
			if (wd->big_red)
				pfcwd_count(&wd->queue[port][prio], &sample, now_ns);
			else
				on_event(sw, port, prio,
					 pfcwd_poll(&wd->queue[port][prio], &wd->of_port[port],
						    &sample, now_ns),
					 now_ns);
			n_storms += wd->queue[port][prio].state == PFCWD_STORMED;
		}
	}
	return n_storms;
}

/* Put all watched queues into the same state. */
static void
force_all(struct sw *sw, bool stormed, uint64_t now_ns)
{
	struct sw_watchdog *wd = &sw->control->watchdog;

	for (uint16_t port = 0; port < sw->n_ports; port++) {
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
			if (!is_watched(sw, port, prio))
				continue;
			pfcwd_force(&wd->queue[port][prio], stormed, now_ns);
			request_action(sw, port, prio, stormed);
		}
	}
}

static void
turn_big_red(struct sw *sw, bool on, uint64_t now_ns)
{
	sw->control->watchdog.big_red = on;
	record(sw, on ? SW_EVENT_BIG_RED_SWITCH_ON : SW_EVENT_BIG_RED_SWITCH_OFF, 0, 0, now_ns);
	force_all(sw, on, now_ns);
}

uint64_t
sw_pfcwd_control(struct sw *sw, uint64_t now_ns)
{
	struct sw_watchdog *wd = &sw->control->watchdog;
	uint64_t interval_ns = pfcwd_interval_ns(&wd->params);
	unsigned int n_storms;
	bool requested;

	if (interval_ns == NEVER_NS)
		return NEVER_NS;
	requested = __atomic_load_n(&wd->big_red_requested, __ATOMIC_RELAXED);
	if (requested != wd->big_red)
		turn_big_red(sw, requested, now_ns);
	if (now_ns < wd->next_ns)
		return wd->next_ns;
	n_storms = poll_queues(sw, now_ns);
	if (!wd->big_red && wd->params.big_red_switch_storms != 0 &&
	    n_storms >= wd->params.big_red_switch_storms) {
		__atomic_store_n(&wd->big_red_requested, true, __ATOMIC_RELAXED);
		turn_big_red(sw, true, now_ns);
	}
	/* Times are multiples of the interval; a late poll skips one. */
	wd->next_ns = (now_ns / interval_ns + 1) * interval_ns;
	return wd->next_ns;
}

/*
 * Apply new parameters to a queue. If it is no longer watched, or the watchdog's mode has changed,
 * its storm ends; otherwise the storm continues with the new action. The end of a storm of the big
 * red switch is no event, as its beginning was none.
 */
static void
set_queue_params(struct sw *sw, uint16_t port, uint8_t prio, const struct pfcwd_params *old,
		 uint64_t now_ns)
{
	const struct pfcwd_params *params = &sw->control->watchdog.of_port[port];
	struct pfcwd *w = &sw->control->watchdog.queue[port][prio];

	if (is_watched(sw, port, prio) && memcmp(params, old, sizeof(*old)) == 0)
		return;
	if (is_watched(sw, port, prio) && params->pfcwd == old->pfcwd) {
		pfcwd_restart(w, params);
		if (w->state == PFCWD_STORMED)
			request_action(sw, port, prio, true);
		return;
	}
	if (w->state == PFCWD_STORMED && sw->control->watchdog.big_red)
		request_action(sw, port, prio, false);
	else if (w->state == PFCWD_STORMED)
		on_event(sw, port, prio, PFCWD_RESTORED, now_ns);
	pfcwd_force(w, false, now_ns);
	w->state = PFCWD_OPERATIONAL;
}

void
sw_pfcwd_set_params(struct sw *sw, const struct sw_params *params, uint64_t now_ns)
{
	struct sw_watchdog *wd = &sw->control->watchdog;
	uint64_t interval_ns = pfcwd_interval_ns(&wd->params);
	struct pfcwd_params old[SW_MAX_PORTS];

	/*
	 * Turn it off here: with the watchdog off, sw_pfcwd_control() no longer checks the big red
	 * switch.
	 */
	if (wd->big_red && !params->pfcwd.big_red_switch)
		turn_big_red(sw, false, now_ns);
	__atomic_store_n(&wd->big_red_requested, params->pfcwd.big_red_switch, __ATOMIC_RELAXED);
	memcpy(old, wd->of_port, sw->n_ports * sizeof(old[0]));
	set_params(wd, params);
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
			set_queue_params(sw, port, prio, &old[port], now_ns);
	}
	/* It stays on: queues that are watched from now on drop too. */
	if (wd->big_red && pfcwd_interval_ns(&wd->params) != NEVER_NS)
		force_all(sw, true, now_ns);
	if (pfcwd_interval_ns(&wd->params) != interval_ns)
		wd->next_ns = 0;
}

void
sw_pfcwd_restart(struct sw *sw, uint64_t now_ns)
{
	struct sw_watchdog *wd = &sw->control->watchdog;

	force_all(sw, false, now_ns);
	wd->big_red = false;
	__atomic_store_n(&wd->big_red_requested, wd->params.big_red_switch, __ATOMIC_RELAXED);
}

void
sw_set_big_red_switch(struct node *node, bool on)
{
	__atomic_store_n(&sw_of(node)->control->watchdog.big_red_requested, on, __ATOMIC_RELAXED);
}

bool
sw_big_red_switch(const struct node *node)
{
	return __atomic_load_n(&sw_of_const(node)->control->watchdog.big_red_requested,
			       __ATOMIC_RELAXED);
}

bool
sw_pfcwd_watches(const struct node *node, uint16_t port, uint8_t prio)
{
	return is_watched(sw_of_const(node), port, prio);
}

const struct pfcwd *
sw_pfcwd(const struct node *node, uint16_t port, uint8_t prio)
{
	return &sw_of_const(node)->control->watchdog.queue[port][prio];
}
