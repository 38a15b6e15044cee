/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/decimal.h"
#include "runtime/notice/say.h"
#include "quench-lab/recording/explain_flow.h"
#include "quench-lab/recording/explain_frame.h"
#include "quench-lab/recording/explain_flow_internal.h"
#include "switch/egress/sw_why.h"

static struct explain_event *
add(struct lab_explain *x, enum explain_kind kind, uint64_t at_ns)
{
	if (x->n == x->capacity) {
		uint32_t capacity = x->capacity == 0 ? 256 : 2 * x->capacity;
		struct sight *more = realloc(x->sights, capacity * sizeof(*more));

		if (more == NULL) {
			x->lost = true;
			return NULL;
		}
		x->sights = more;
		x->capacity = capacity;
	}
	x->sights[x->n] = (struct sight){.e = {.at_ns = at_ns, .kind = kind}, .number = x->n};
	return &x->sights[x->n++].e;
}

static const struct topology *
topology_of(const struct lab_explain *x)
{
	return net_scenario(x->net)->topology;
}

static bool
is_ip(const uint8_t *frame, const struct roce_view *v, unsigned int off, const struct field_ip *ip)
{
	return v->ip_version == ip->version &&
	       memcmp(frame + v->ip_off + off, ip->addr, ip->version == 4 ? 4 : 16) == 0;
}

/* Is it a frame of the QP in this direction? */
static bool
is_between(const uint8_t *frame, const struct roce_view *v, const struct field_ip *from,
	   const struct field_ip *to, uint32_t to_qpn)
{
	unsigned int src = v->ip_version == 4 ? 12 : 8, bytes = v->ip_version == 4 ? 4 : 16;

	return v->dest_qp == to_qpn && is_ip(frame, v, src, from) &&
	       is_ip(frame, v, src + bytes, to);
}

static bool
is_data(const struct lab_explain *x, const struct rte_mbuf *m, const struct roce_view *v)
{
	return v->payload_bytes > 0 && is_between(rte_pktmbuf_mtod(m, const uint8_t *), v,
						  &x->from_ip, &x->to_ip, x->to_qpn);
}

static bool
is_cnp(const struct lab_explain *x, const struct rte_mbuf *m, const struct roce_view *v)
{
	return v->opcode == ROCE_CNP && is_between(rte_pktmbuf_mtod(m, const uint8_t *), v,
						   &x->to_ip, &x->from_ip, x->from_qpn);
}

/* ---- while the nodes run, perhaps on several threads: what passes a place ---- */

static struct glimpse *
add_glimpse(struct glimpses *g)
{
	if (g->n == g->capacity) {
		uint32_t capacity = g->capacity == 0 ? 64 : 2 * g->capacity;
		struct glimpse *more = realloc(g->of, capacity * sizeof(*more));

		if (more == NULL) {
			g->lost = true;
			return NULL;
		}
		g->of = more;
		g->capacity = capacity;
	}
	memset(&g->of[g->n], 0, sizeof(g->of[g->n]));
	return &g->of[g->n++];
}

/* @return NULL: no memory. */
static struct glimpse *
glimpse(struct place *p, enum glimpse_kind kind, uint64_t at_ns)
{
	struct glimpse *g = add_glimpse(&p->seen);

	if (g == NULL)
		return NULL;
	g->at_ns = at_ns;
	g->kind = kind;
	g->place = (uint32_t)(p - p->x->places) + 1;
	g->number = p->seen_in_all++;
	return g;
}

static void
see_data(struct place *p, const struct rte_mbuf *m, const struct roce_view *v, uint64_t at_ns)
{
	struct glimpse *g = glimpse(p, GLIMPSE_DATA, at_ns);
	const struct node *sw;

	if (g == NULL)
		return;
	g->psn = v->psn;
	g->queue = -1;
	if (v->ecn != ECN_CE || !topology_is_switch(topology_of(p->x), p->node))
		return;
	sw = net_switch(p->x->net, p->node);
	g->queue = (int16_t)sw_marking_queue(sw, p->port, m);
	/* Without this packet, which has left the queue, as in the marking decision. */
	if (g->queue >= 0)
		g->queue_bytes = sw_queue_bytes(sw, p->port, (uint8_t)g->queue);
}

static void
see_sent(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	struct place *p = arg;
	struct lab_explain *x = p->x;
	struct frame_view f;
	struct roce_view v;

	if (!explain_parse(m, &f, &v))
		return;
	if (is_data(x, m, &v))
		see_data(p, m, &v, at_ns);
	else if (is_cnp(x, m, &v) && p->node == topology_host_node(topology_of(x), x->to.host))
		(void)glimpse(p, GLIMPSE_CNP, at_ns);
}

static void
see_received(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	struct place *p = arg;
	struct lab_explain *x = p->x;
	struct glimpse *g;
	struct frame_view f;
	struct roce_view v;
	int hold = explain_pause(m, x->prio);

	if (hold >= 0) {
		/* A refresh, or a repeated XON */
		if ((hold != 0) == p->peer_holds)
			return;
		p->peer_holds = hold != 0;
		g = glimpse(p, GLIMPSE_PAUSE, at_ns);
		if (g != NULL)
			g->hold = hold != 0;
	} else if (p->node == topology_host_node(topology_of(x), x->from.host) &&
		   explain_parse(m, &f, &v) &&
		   is_between(rte_pktmbuf_mtod(m, const uint8_t *), &v, &x->to_ip, &x->from_ip,
			      x->from_qpn)) {
		g = glimpse(p, GLIMPSE_ANSWER, at_ns);
		if (g != NULL)
			g->is_cnp = v.opcode == ROCE_CNP;
	}
}

void
lab_explain_set(struct lab_explain *x, const struct event_params *e, uint64_t now_ns)
{
	struct glimpse *g = x != NULL ? add_glimpse(&x->waiting) : NULL;

	if (g == NULL)
		return;
	g->at_ns = now_ns;
	g->set = e;
	g->number = x->n_sets++;
}

/* ---- between two windows: of all places, in order of time ---- */

/* A data packet leaves the sender. */
static void
take_sending(struct lab_explain *x, const struct glimpse *g)
{
	if (!x->sending || psn_diff(g->psn, x->next_psn) >= 0) {
		x->next_psn = (g->psn + 1) & 0xFFFFFF;
		x->sending = true;
		x->back = UINT32_MAX;
		return;
	}
	/* Each go-back is one event. */
	if (x->back == UINT32_MAX ||
	    psn_diff(g->psn, x->sights[x->back].e.psn) < (int32_t)x->sights[x->back].e.packets) {
		struct explain_event *e = add(x, EXPLAIN_SENT_AGAIN, g->at_ns);

		if (e == NULL)
			return;
		e->psn = g->psn;
		x->back = x->n - 1;
	}
	x->sights[x->back].e.packets++;
}

/* A packet leaves a switch, which may have marked it. */
static void
take_mark(const struct place *p, const struct glimpse *g)
{
	struct explain_mark *mark = &p->x->marked;

	if (g->queue < 0 || mark->packets++ > 0)
		return;
	snprintf(mark->where, sizeof(mark->where), "%s port %u queue %d",
		 topology_of(p->x)->switches[p->node].name, p->port, g->queue);
	mark->at_ns = g->at_ns;
	mark->psn = g->psn;
	mark->queue_bytes = g->queue_bytes;
}

static void
take_data(struct place *p, const struct glimpse *g)
{
	if (p->hop == 0)
		p->hop = ++p->x->hops;
	if (topology_is_switch(topology_of(p->x), p->node))
		take_mark(p, g);
	else
		take_sending(p->x, g);
}

static const char *
name_of(const struct lab_explain *x, uint32_t node, char text[TOPOLOGY_NODE_CHARS + 1])
{
	return topology_node_name(topology_of(x), node, text);
}

/* "s1 holds h3", "leaf2 holds spine1 port 4" */
static void
say_who(const struct place *p, char text[static EXPLAIN_WHERE_CHARS + 1])
{
	const struct topology *t = topology_of(p->x);
	char held[TOPOLOGY_NODE_CHARS + 1], by[TOPOLOGY_NODE_CHARS + 1];

	name_of(p->x, p->node, held);
	if (topology_is_switch(t, p->node))
		snprintf(text, EXPLAIN_WHERE_CHARS + 1, "%s holds %s port %u",
			 name_of(p->x, topology_peer(t, p->node, p->port).node, by), held, p->port);
	else
		snprintf(text, EXPLAIN_WHERE_CHARS + 1, "%s holds %s",
			 name_of(p->x, t->hosts[p->node - t->n_switches].sw, by), held);
}

static void
take_pause(struct place *p, const struct glimpse *g)
{
	struct explain_event *e =
		p->hop > 0 ? add(p->x, g->hold ? EXPLAIN_HELD : EXPLAIN_RELEASED, g->at_ns) : NULL;

	if (e != NULL) {
		e->held_ns = g->hold ? 0 : g->at_ns - p->held_from_ns;
		say_who(p, e->by);
	}
	p->held_from_ns = g->at_ns;
}

static void
take_answer(struct lab_explain *x, const struct glimpse *g)
{
	struct explain_event *e;

	x->last_ns = g->at_ns;
	if (!g->is_cnp)
		return;
	/* Stored only for its mark: the trace has a row with the same time (find_mark()). */
	e = add(x, EXPLAIN_RATE, g->at_ns);
	if (e != NULL && x->answers_out != x->answers_in)
		e->mark = x->answers[x->answers_out++ % 16];
}

static void
take_set(struct lab_explain *x, const struct glimpse *g)
{
	struct explain_event *event = add(x, EXPLAIN_SET, g->at_ns);

	if (event == NULL)
		return;
	event->set = g->set->set;
	event->set_by = g->set->name;
	event->set_ends = g->at_ns > g->set->at_ns;
}

static void
take(struct lab_explain *x, const struct glimpse *g)
{
	struct place *p = g->place > 0 ? &x->places[g->place - 1] : NULL;

	switch (g->kind) {
	case GLIMPSE_SET:
		take_set(x, g);
		break;
	case GLIMPSE_DATA:
		take_data(p, g);
		break;
	case GLIMPSE_CNP:
		x->answers[x->answers_in++ % 16] = x->marked;
		x->marked = (struct explain_mark){0};
		break;
	case GLIMPSE_PAUSE:
		take_pause(p, g);
		break;
	case GLIMPSE_ANSWER:
		take_answer(x, g);
		break;
	}
}

/* Equal for any number of threads and ranks. */
static int
in_order(const void *a, const void *b)
{
	const struct glimpse *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void
await(struct lab_explain *x, const struct glimpse *from)
{
	struct glimpse *to = add_glimpse(&x->waiting);

	if (to != NULL)
		*to = *from;
}

/* To x->waiting: from the places of this process and, at rank 0, those of the others. */
static void
gather(struct lab_explain *x)
{
	struct ranks *ranks = net_ranks(x->net);
	bool is_sent = ranks != NULL && ranks->self != 0;

	if (ranks != NULL)
		ranks_begin(ranks);
	for (uint32_t i = 0; i < x->n_places; i++) {
		struct glimpses *seen = &x->places[i].seen;

		x->lost |= seen->lost;
		if (is_sent)
			rank_bytes_add(&ranks->out[0], seen->of, seen->n * sizeof(*seen->of));
		for (uint32_t k = 0; !is_sent && k < seen->n; k++)
			await(x, &seen->of[k]);
		seen->n = 0;
	}
	if (ranks == NULL)
		return;
	if (is_sent)
		rank_bytes_add(&ranks->out[0], &x->lost, sizeof(x->lost));
	x->lost |= ranks_to_first(ranks) < 0;
	for (uint32_t q = 1; !is_sent && q < ranks->n; q++) {
		struct rank_reader r = rank_reader_of(&ranks->in[q]);
		struct glimpse g;
		bool lost;

		while (r.end - r.at > (ptrdiff_t)sizeof(lost)) {
			rank_reader_copy(&r, &g, sizeof(g));
			if (r.bad || g.place == 0 || g.place > x->n_places)
				break;
			await(x, &g);
		}
		rank_reader_copy(&r, &lost, sizeof(lost));
		x->lost |= lost || r.bad;
	}
}

void
lab_explain_take(struct lab_explain *x, uint64_t now_ns)
{
	struct glimpses *w;
	uint32_t n = 0;

	if (x == NULL)
		return;
	gather(x);
	w = &x->waiting;
	x->lost |= w->lost;
	if (w->n == 0)
		return;
	qsort(w->of, w->n, sizeof(*w->of), in_order);
	while (n < w->n && w->of[n].at_ns <= now_ns)
		take(x, &w->of[n++]);
	w->n -= n;
	memmove(w->of, w->of + n, w->n * sizeof(*w->of));
}

static int
look_at(struct lab_explain *x, uint32_t node, uint16_t port)
{
	const struct fabric_end end = net_end_at(x->net, (struct topology_end){node, port});
	struct place *p = &x->places[x->n_places++];
	struct cable_tap sent = {see_sent, p}, received = {see_received, p};

	*p = (struct place){.x = x, .node = node, .port = port};
	if (recordings_share(x->recordings, end, sent, received))
		return 0;
	return fabric_tap(net_fabric(x->net), end, sent, received);
}

static int
look_everywhere(struct lab_explain *x)
{
	const struct topology *t = topology_of(x);
	int rc = 0;

	x->places = calloc(2ull * t->n_links, sizeof(*x->places));
	if (x->places == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < t->n_links; i++) {
		rc = look_at(x, t->links[i].a.node, t->links[i].a.port);
		if (rc == 0)
			rc = look_at(x, t->links[i].b.node, t->links[i].b.port);
	}
	return rc;
}

/* "incast h1", or "incast": its first flow. */
static bool
find_flow(struct lab_explain *x, const char *name, size_t n)
{
	for (unsigned int whole = 2; whole-- > 0;) {
		for (uint32_t i = 0; i < net_flow_count(x->net); i++) {
			const struct net_flow *flow = net_flow(x->net, i);
			const char *title = whole ? flow->name : flow->params->name;

			if (strlen(title) != n || memcmp(title, name, n) != 0)
				continue;
			x->flow = i;
			x->one_of_many = !whole && i + 1 < net_flow_count(x->net) &&
					 net_flow(x->net, i + 1)->params == flow->params;
			return true;
		}
	}
	return false;
}

static bool
find(struct lab_explain *x, const char *name)
{
	const char *hash = strrchr(name, '#');
	size_t n = hash != NULL ? (size_t)(hash - name) : strlen(name);
	uint64_t qp = 0;

	if (hash != NULL && !decimal_parse(hash + 1, 0, UINT16_MAX, &qp))
		return false;
	if (!find_flow(x, name, n) || qp >= net_flow(x->net, x->flow)->qps)
		return false;
	x->qp = (uint16_t)qp;
	return true;
}

static void
know_ends(struct lab_explain *x)
{
	const struct scenario *s = net_scenario(x->net);
	const struct net_flow *flow = net_flow(x->net, x->flow);

	x->from = net_flow_sender(flow);
	x->to = net_flow_receiver(flow);
	x->from_qpn = SCENARIO_FIRST_QPN + x->from.first_qp + x->qp;
	x->to_qpn = SCENARIO_FIRST_QPN + x->to.first_qp + x->qp;
	x->from_ip = scenario_host_ip(s, x->from.host);
	x->to_ip = scenario_host_ip(s, x->to.host);
	/* A priority group generates PFC for the priority of its number. */
	x->prio = qos_map_classify(&s->nic.qos,
				   flow->params->dscp >= 0 ? flow->params->dscp : s->nic.data_dscp,
				   -1)
			  .pg;
	x->back = UINT32_MAX;
}

struct lab_explain *
lab_explain_open(const char *name, struct net *net, struct recordings *recordings, int *rc)
{
	struct lab_explain *x = calloc(1, sizeof(*x));
	int error = -ENOMEM;

	*rc = APP_FAILED;
	if (x != NULL) {
		x->net = net;
		x->recordings = recordings;
		if (!find(x, name)) {
			if (net_ranks(net) == NULL || net_ranks(net)->self == 0)
				say_error(
					"--explain %s: expected a flow of the run, such as \"%s\", or "
					"one of its QPs: \"%s#0\"",
					name, net_flow(net, 0)->name, net_flow(net, 0)->name);
			*rc = APP_BAD_USAGE;
			lab_explain_close(x);
			return NULL;
		}
		know_ends(x);
		error = net_trace_qp(net, x->flow, x->qp);
	}
	if (error == 0)
		error = look_everywhere(x);
	if (error == 0) {
		*rc = APP_DONE;
		return x;
	}
	say_error("--explain %s: %s", name, strerror(-error));
	lab_explain_close(x);
	return NULL;
}

void
lab_explain_close(struct lab_explain *x)
{
	if (x == NULL)
		return;
	for (uint32_t i = 0; i < x->n_places; i++)
		free(x->places[i].seen.of);
	free(x->waiting.of);
	free(x->places);
	free(x->sights);
	free(x);
}
