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

/* A data packet leaves the sender. */
static void
see_data(struct lab_explain *x, const struct roce_view *v, uint64_t at_ns)
{
	if (!x->sending || psn_diff(v->psn, x->next_psn) >= 0) {
		x->next_psn = (v->psn + 1) & 0xFFFFFF;
		x->sending = true;
		x->back = UINT32_MAX;
		return;
	}
	/* Each go-back is one event. */
	if (x->back == UINT32_MAX ||
	    psn_diff(v->psn, x->sights[x->back].e.psn) < (int32_t)x->sights[x->back].e.packets) {
		struct explain_event *e = add(x, EXPLAIN_SENT_AGAIN, at_ns);

		if (e == NULL)
			return;
		e->psn = v->psn;
		x->back = x->n - 1;
	}
	x->sights[x->back].e.packets++;
}

/* A packet leaves a switch, which may have marked it. */
static void
see_mark(struct place *p, const struct rte_mbuf *m, const struct roce_view *v, uint64_t at_ns)
{
	const struct node *sw = net_switch(p->x->net, p->node);
	struct explain_mark *mark = &p->x->marked;
	int queue = v->ecn == ECN_CE ? sw_marking_queue(sw, p->port, m) : -1;

	if (queue < 0 || mark->packets++ > 0)
		return;
	snprintf(mark->where, sizeof(mark->where), "%s port %u queue %d",
		 topology_of(p->x)->switches[p->node].name, p->port, queue);
	mark->at_ns = at_ns;
	mark->psn = v->psn;
	/* Without this packet, which has left the queue, as in the marking decision. */
	mark->queue_bytes = sw_queue_bytes(sw, p->port, (uint8_t)queue);
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
	if (is_data(x, m, &v)) {
		if (p->hop == 0)
			p->hop = ++x->hops;
		if (topology_is_switch(topology_of(x), p->node))
			see_mark(p, m, &v, at_ns);
		else
			see_data(x, &v, at_ns);
	} else if (is_cnp(x, m, &v) && p->node == topology_host_node(topology_of(x), x->to.host)) {
		x->answers[x->answers_in++ % 16] = x->marked;
		x->marked = (struct explain_mark){0};
	}
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
see_pause(struct place *p, bool hold, uint64_t at_ns)
{
	struct explain_event *e;

	/* A refresh, or a repeated XON */
	if (hold == p->held)
		return;
	p->held = hold;
	e = p->hop > 0 ? add(p->x, hold ? EXPLAIN_HELD : EXPLAIN_RELEASED, at_ns) : NULL;
	if (e != NULL) {
		e->held_ns = hold ? 0 : at_ns - p->held_from_ns;
		say_who(p, e->by);
	}
	p->held_from_ns = at_ns;
}

static void
see_received(void *arg, const struct rte_mbuf *m, uint64_t at_ns)
{
	struct place *p = arg;
	struct lab_explain *x = p->x;
	struct frame_view f;
	struct roce_view v;
	int hold = explain_pause(m, x->prio);

	if (hold >= 0) {
		see_pause(p, hold != 0, at_ns);
	} else if (p->node == topology_host_node(topology_of(x), x->from.host) &&
		   explain_parse(m, &f, &v) &&
		   is_between(rte_pktmbuf_mtod(m, const uint8_t *), &v, &x->to_ip, &x->from_ip,
			      x->from_qpn)) {
		struct explain_event *e;

		x->last_ns = at_ns;
		if (v.opcode != ROCE_CNP)
			return;
		/*
		 * Stored only for its mark: the trace has a row with the same time (find_mark()).
		 */
		e = add(x, EXPLAIN_RATE, at_ns);
		if (e != NULL && x->answers_out != x->answers_in)
			e->mark = x->answers[x->answers_out++ % 16];
	}
}

void
lab_explain_set(struct lab_explain *x, const struct event_params *e, uint64_t now_ns)
{
	struct explain_event *event = x != NULL ? add(x, EXPLAIN_SET, now_ns) : NULL;

	if (event == NULL)
		return;
	event->set = e->set;
	event->set_by = e->name;
	event->set_ends = now_ns > e->at_ns;
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
	struct nic_qp_info info;

	x->from = net_flow_sender(flow);
	x->to = net_flow_receiver(flow);
	nic_qp_info(net_host(x->net, x->from.host), x->from.first_qp + x->qp, &info);
	x->from_qpn = info.local_qpn;
	x->to_qpn = info.peer_qpn;
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
			say_error("--explain %s: expected a flow of the run, such as \"%s\", or "
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
	free(x->places);
	free(x->sights);
	free(x);
}
