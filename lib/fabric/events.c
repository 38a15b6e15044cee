/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/fixed.h"
#include "base/units.h"
#include "fabric/net_internal.h"

struct item {
	uint64_t next_ns;  /* NEVER_NS: over */
	uint64_t round_ns; /* when the frames of this round began */
	uint32_t rounds, next_frame;
	struct event_result result;
};

struct events {
	struct net *net;
	events_report_fn report;
	void *arg;
	const struct event_params *params;
	struct item *items;
	uint32_t n;
	uint64_t next_ns;
};

static void
find_next(struct events *ev)
{
	ev->next_ns = NEVER_NS;
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
	*ev = (struct events){
		.net = net, .report = report, .arg = arg, .params = s->events, .n = s->n_events};
	ev->items = calloc(ev->n + 1, sizeof(*ev->items));
	if (ev->items == NULL) {
		free(ev);
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

static struct fabric_end
end_at(struct topology_end at)
{
	return (struct fabric_end){.node = at.node, .port = at.port};
}

static struct node *
switch_at(struct events *ev, uint32_t node)
{
	return ev->net->switches[node];
}

/* Both ends that are switches see it. */
static int
set_link(struct events *ev, struct topology_end at, bool up, uint64_t now_ns)
{
	const struct topology *t = net_scenario(ev->net)->topology;
	struct topology_end ends[2] = {at, at};
	int rc = fabric_set_link(ev->net->fabric, end_at(at), up);

	if (rc < 0)
		return rc;
	if (topology_is_switch(t, at.node)) {
		ends[1] = topology_peer(t, at.node, at.port);
	} else {
		const struct topology_host *h = &t->hosts[at.node - t->n_switches];

		ends[1] = (struct topology_end){.node = h->sw, .port = t->links[h->link].b.port};
	}
	for (unsigned int i = 0; i < 2; i++)
		if (topology_is_switch(t, ends[i].node))
			sw_set_link(switch_at(ev, ends[i].node), ends[i].port, up, now_ns);
	for (unsigned int i = 0; i < 2; i++)
		fabric_poke(ev->net->fabric, ends[i].node, now_ns);
	return 0;
}

/* A switch does it before its next frame; no frame is enough for that. */
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
		if (e->everywhere || e->at.node == i)
			clear_watermarks_of(switch_at(ev, i), now_ns);
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
	if (fabric_inject(ev->net->fabric, end_at(e->at), m, ev->next_ns) < 0) {
		rte_pktmbuf_free(m);
		return false;
	}
	return true;
}

/* From a frame to the next one, by what the event says. */
static uint64_t
gap_ns(const struct events *ev, const struct event_params *e, const struct event_frame *frame)
{
	const struct topology *t = net_scenario(ev->net)->topology;
	uint64_t rate_bps = e->rate_bps;
	uint32_t link;

	if (e->interval_ns > 0)
		return e->interval_ns;
	link = topology_is_switch(t, e->at.node) ? t->switches[e->at.node].link[e->at.port]
						 : t->hosts[e->at.node - t->n_switches].link;
	if (rate_bps == 0)
		rate_bps = t->links[link].cable.rate_bps;
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

static int
run_item(struct events *ev, const struct event_params *e, struct item *item)
{
	uint64_t now_ns = item->next_ns;

	if (e->action == EVENT_SEND) {
		if (item->rounds == 0 && item->next_frame == 0)
			item->round_ns = now_ns;
		send(ev, e, item);
		return 0;
	}
	item->next_ns = NEVER_NS;
	switch (e->action) {
	case EVENT_LINK_DOWN:
	case EVENT_LINK_UP:
		return set_link(ev, e->at, e->action == EVENT_LINK_UP, now_ns);
	case EVENT_TX_DISABLE:
	case EVENT_TX_ENABLE:
		sw_set_tx_disabled(switch_at(ev, e->at.node), e->at.port,
				   e->action == EVENT_TX_DISABLE);
		break;
	case EVENT_PFC_DELAY:
		sw_set_pfc_delay(switch_at(ev, e->at.node), e->at.port, e->quanta);
		break;
	case EVENT_CLEAR_WATERMARKS:
		clear_watermarks(ev, e, now_ns);
		return 0;
	default:
		if (ev->report != NULL)
			ev->report(ev->arg, e, now_ns);
		return 0;
	}
	fabric_poke(ev->net->fabric, e->at.node, now_ns);
	return 0;
}

int
events_run(struct events *ev, uint64_t now_ns)
{
	int rc = 0;

	while (rc == 0 && ev->next_ns <= now_ns) {
		for (uint32_t i = 0; rc == 0 && i < ev->n; i++)
			if (ev->items[i].next_ns == ev->next_ns)
				rc = run_item(ev, &ev->params[i], &ev->items[i]);
		find_next(ev);
	}
	return rc;
}
