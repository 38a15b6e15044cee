/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/events/events_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

static void
find_next(struct events *ev)
{
	ev->next_ns = ev->reroute_ns;
	for (uint32_t i = 0; i < ev->n; i++)
		ev->next_ns = min_u64(ev->next_ns, ev->items[i].next_ns);
}

struct events *
events_create(struct net *net, events_report_fn report, void *arg)
{
	const struct scenario *s = net_scenario(net);
	struct events *ev = calloc(1, sizeof(*ev));

	if (ev == NULL)
		return NULL;
	*ev = (struct events){.net = net,
			      .report = report,
			      .arg = arg,
			      .params = s->events,
			      .n = s->n_events,
			      .reroute_ns = NEVER_NS};
	ev->items = calloc(ev->n + 1, sizeof(*ev->items));
	ev->down = calloc(s->topology->n_links, sizeof(*ev->down));
	if (ev->items == NULL || ev->down == NULL) {
		events_destroy(ev);
		return NULL;
	}
	for (uint32_t i = 0; i < ev->n; i++)
		ev->items[i].next_ns = s->events[i].at_ns;
	find_next(ev);
	return ev;
}

void
events_destroy(struct events *ev)
{
	if (ev == NULL)
		return;
	free(ev->down);
	free(ev->items);
	free(ev);
}

uint64_t
events_next_ns(const struct events *ev)
{
	return ev->next_ns;
}

struct event_result
events_result(const struct events *ev, uint32_t index)
{
	return ev->items[index].result;
}

/* A switch clears watermarks before its next burst, so pass it an empty burst. */
static void
clear_watermarks_of(struct node *sw, uint64_t now_ns)
{
	sw_clear_watermarks(sw, UINT32_MAX);
	sw->ops->rx(sw, 0, NULL, 0, now_ns);
}

static void
clear_watermarks(struct events *ev, const struct event_params *e, uint64_t now_ns)
{
	const struct topology *t = net_scenario(ev->net)->topology;

	for (uint32_t i = 0; i < t->n_switches; i++)
		if ((e->everywhere || e->at.node == i) && net_owns(ev->net, i))
			clear_watermarks_of(events_switch(ev, i), now_ns);
}

static bool
send_frame(struct events *ev, const struct event_params *e, const struct event_frame *frame)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(ev->net->frames);
	char *data = m == NULL ? NULL : rte_pktmbuf_append(m, (uint16_t)frame->n_bytes);

	if (data == NULL) {
		rte_pktmbuf_free(m);
		return false;
	}
	memcpy(data, e->send.bytes + frame->offset, frame->n_bytes);
	if (fabric_inject(ev->net->fabric, net_end_at(ev->net, e->at), m, ev->next_ns) < 0) {
		rte_pktmbuf_free(m);
		return false;
	}
	return true;
}

/* Time from a frame to the next one. */
static uint64_t
gap_ns(const struct events *ev, const struct event_params *e, const struct event_frame *frame)
{
	const struct topology *t = net_scenario(ev->net)->topology;
	uint64_t rate_bps = e->rate_bps;

	if (e->interval_ns > 0)
		return e->interval_ns;
	if (rate_bps == 0)
		rate_bps = t->links[topology_link_at(t, e->at)].cable.rate_bps;
	return max_u64(1, serialization_ns(wire_bytes(frame->n_bytes), rate_bps));
}

static void
send(struct events *ev, const struct event_params *e, struct item *item)
{
	const struct event_frame *frame = &e->send.frames[item->next_frame];
	bool own_times = e->rate_bps == 0 && e->interval_ns == 0 && e->send.n > 1;

	if (send_frame(ev, e, frame))
		item->result.frames_sent++;
	else
		item->result.no_mbuf++;
	if (++item->next_frame < e->send.n) {
		item->next_ns = own_times ? item->round_ns + frame[1].at_ns
					  : item->next_ns + gap_ns(ev, e, frame);
		return;
	}
	item->next_frame = 0;
	item->next_ns += gap_ns(ev, e, frame);
	item->round_ns = item->next_ns;
	if (++item->rounds == e->count)
		item->next_ns = NEVER_NS;
}

/* Begin or end the effect of an event that lasts. */
static int
set_state(struct events *ev, const struct event_params *e, bool on, uint64_t now_ns)
{
	struct node *sw;

	if ((e->action == EVENT_TX_DISABLE || e->action == EVENT_PFC_DELAY) &&
	    !net_owns(ev->net, e->at.node))
		return 0;
	switch (e->action) {
	case EVENT_SET:
		if (ev->report != NULL)
			ev->report(ev->arg, e, now_ns);
		return net_change(ev->net, on ? &e->begin : &e->end, now_ns);
	case EVENT_TX_DISABLE:
		sw = events_switch(ev, e->at.node);
		sw_set_tx_disabled(sw, e->at.port, on);
		break;
	case EVENT_PFC_DELAY:
		sw = events_switch(ev, e->at.node);
		sw_set_pfc_delay(sw, e->at.port, on ? e->quanta : 0);
		break;
	default:
		return events_fault(ev, e, on, now_ns);
	}
	fabric_poke(ev->net->fabric, e->at.node, now_ns);
	return 0;
}

/* If an action ends another one: that other action. Otherwise: the action itself. */
static int
beginning_of(int action)
{
	switch (action) {
	case EVENT_LINK_UP:
		return EVENT_LINK_DOWN;
	case EVENT_TX_ENABLE:
		return EVENT_TX_DISABLE;
	case EVENT_PAUSE_STORM_END:
		return EVENT_PAUSE_STORM;
	default:
		return action;
	}
}

static int
run_state(struct events *ev, const struct event_params *e, struct item *item)
{
	uint64_t now_ns = item->next_ns;
	struct event_params begun = *e;
	bool on;

	begun.action = beginning_of(e->action);
	on = begun.action == e->action && !item->lasts;
	item->lasts = on && e->for_ns > 0;
	item->next_ns = item->lasts ? now_ns + e->for_ns : NEVER_NS;
	/* Pass the original event if possible, because the callback may store the pointer. */
	return set_state(ev, begun.action == e->action ? e : &begun, on, now_ns);
}

static int
run_item(struct events *ev, const struct event_params *e, struct item *item)
{
	uint64_t now_ns = item->next_ns;
	int rc;

	if (e->action < EVENT_SEND)
		return run_state(ev, e, item);
	if (e->action == EVENT_SEND) {
		if (item->rounds == 0 && item->next_frame == 0)
			item->round_ns = now_ns;
		send(ev, e, item);
		return 0;
	}
	item->next_ns = NEVER_NS;
	if (e->action == EVENT_CLEAR_WATERMARKS) {
		clear_watermarks(ev, e, now_ns);
		return 0;
	}
	rc = net_gather(ev->net, true);
	if (rc == 0 && ev->report != NULL)
		ev->report(ev->arg, e, now_ns);
	return rc;
}

int
events_run(struct events *ev, uint64_t now_ns)
{
	int rc = 0;

	while (rc == 0 && ev->next_ns <= now_ns) {
		for (uint32_t i = 0; rc == 0 && i < ev->n; i++)
			if (ev->items[i].next_ns == ev->next_ns)
				rc = run_item(ev, &ev->params[i], &ev->items[i]);
		if (rc == 0 && ev->reroute_ns == ev->next_ns) {
			ev->reroute_ns = NEVER_NS;
			rc = net_reroute(ev->net, ev->down);
		}
		find_next(ev);
	}
	return rc;
}
