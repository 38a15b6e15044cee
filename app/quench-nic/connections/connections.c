/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/connections/connections.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <arpa/inet.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "ctl/config/config.h"
#include "nic/gsi/gsi.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/connections/connection_flow.h"
#include "runtime/notice/say.h"

/* Interval between two looks at the connection manager. */
#define LOOK_NS (5 * NS_PER_MS)
#define IDLE_LOOK_NS (20 * NS_PER_MS)
#define BATCH 16u
/* How long a peer must be quiet after our last message: it may have more to say. */
#define LINGER_NS NS_PER_SEC
/* Time to the next attempt after one that failed. */
#define RETRY_NS NS_PER_SEC
#define LINES_PER_S 10u

/* ---- work for the main lcore ---- */

struct happened {
	struct cm_event event;
	struct cm_view view;
};

enum order {
	ORDER_LOOK,
	ORDER_CONNECT,
	ORDER_ACCEPT,
	ORDER_REJECT,
	ORDER_READY,
	ORDER_PACKET,
	ORDER_END,
};

struct work {
	struct cm *cm;
	enum order order;
	uint32_t connection;
	struct cm_end own;
	struct cm_peer peer;
	struct cm_terms terms;
	enum cm_reason reason;
	uint32_t n;
	struct happened happened[BATCH];
};

static void
do_work(void *arg, uint64_t now_ns)
{
	struct work *w = arg;

	switch (w->order) {
	case ORDER_LOOK:
		for (w->n = 0; w->n < BATCH; w->n++) {
			struct happened *h = &w->happened[w->n];

			if (!cm_next_event(w->cm, &h->event))
				break;
			cm_read(w->cm, h->event.connection, &h->view);
		}
		break;
	case ORDER_CONNECT:
		w->connection = cm_connect(w->cm, &w->peer, &w->terms, &w->own, now_ns);
		break;
	case ORDER_ACCEPT:
		cm_accept(w->cm, w->connection, &w->own, now_ns);
		break;
	case ORDER_REJECT:
		cm_reject(w->cm, w->connection, w->reason, now_ns);
		break;
	case ORDER_READY:
		cm_ready(w->cm, w->connection, now_ns);
		break;
	case ORDER_PACKET:
		cm_on_packet(w->cm, w->connection);
		break;
	case ORDER_END:
		cm_disconnect(w->cm, w->connection, now_ns);
		break;
	}
}

/* @return false: the program is about to end. */
static bool
on_main(struct connections *c, struct work *w)
{
	w->cm = nic_cm(c->node);
	return mailbox_call(c->active->mailbox, do_work, w) == 0;
}

static void
order(struct connections *c, enum order what, uint32_t connection, enum cm_reason reason)
{
	struct work w = {.order = what, .connection = connection, .reason = reason};

	on_main(c, &w);
}

/* ---- lines ---- */

static uint64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

/* May another line be printed in this second? A peer can make many. */
static bool
may_say(struct connections *c)
{
	uint64_t second = clock_ns() / NS_PER_SEC;

	if (second != c->said_s)
		c->said = 0;
	c->said_s = second;
	return c->said++ < LINES_PER_S;
}

static const char *
ip_text(const struct field_ip *ip, char text[INET6_ADDRSTRLEN])
{
	return inet_ntop(ip->version == 6 ? AF_INET6 : AF_INET, ip->addr, text, INET6_ADDRSTRLEN);
}

static void
say_connected(struct connections *c, const struct connection *one)
{
	char ip[INET6_ADDRSTRLEN];

	if (may_say(c))
		say("connection %s with %s, port %u: established; local_qpn=%u peer_qpn=%u",
		    one->flow, ip_text(&one->view.peer.ip, ip), one->view.terms.port, one->qpn,
		    one->view.other.qpn);
}

static void
say_ended(struct connections *c, const struct connection *one, const struct cm_event *e)
{
	static const char *const causes[] = {
		[CM_BY_US] = "ended by us",
		[CM_BY_PEER] = "ended by the peer",
		[CM_BY_REJECT] = "refused by the peer",
		[CM_BY_TIMEOUT] = "the peer does not answer",
		[CM_BY_STALE] = "the peer has forgotten it",
	};
	char ip[INET6_ADDRSTRLEN], reason[32] = "";

	if (!may_say(c))
		return;
	if (e->cause == CM_BY_REJECT)
		snprintf(reason, sizeof(reason), ", reason %u", e->reason);
	(e->cause == CM_BY_US || e->cause == CM_BY_PEER ? say : say_warning)(
		"connection %s with %s, port %u: %s%s", one->flow, ip_text(&one->view.peer.ip, ip),
		one->view.terms.port, causes[e->cause], reason);
}

/* ---- the configuration ---- */

static const struct nic_flow *
find_flow(const struct nic_config *config, const char *name)
{
	for (unsigned int i = 0; i < config->n_flows; i++)
		if (strcmp(config->flows[i].name, name) == 0)
			return &config->flows[i];
	return NULL;
}

static const struct nic_flow *
find_pattern(const struct nic_config *config, const char *name)
{
	for (unsigned int i = 0; i < config->n_patterns; i++) {
		const struct nic_flow *p = &config->flows[config->n_flows + i];

		if (strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}

static bool
takes(const struct nic_flow *pattern, const struct cm_view *v)
{
	static const uint8_t any[16];
	const struct field_ip *ip = &pattern->qp.peer_ip;
	size_t n = ip->version == 4 ? 4 : 16;

	return pattern->connect == NIC_CONNECT_LISTEN && pattern->cm_port == v->terms.port &&
	       ip->version == v->peer.ip.version &&
	       (memcmp(ip->addr, any, n) == 0 || memcmp(ip->addr, v->peer.ip.addr, n) == 0);
}

static const struct nic_flow *
pattern_for(const struct nic_config *config, const struct cm_view *v)
{
	for (unsigned int i = 0; i < config->n_patterns; i++)
		if (takes(&config->flows[config->n_flows + i], v))
			return &config->flows[config->n_flows + i];
	return NULL;
}

/* Apply lines "flow NAME.key=value", or remove a flow. @return false, after a warning. */
static bool
change(struct connections *c, const char *set, const char *remove)
{
	const struct active_config_request request = {.set = set, .remove = remove};
	struct active_config_outcome out;
	struct config_error err;

	if (active_config_change(c->active, &request, &out, &err) == 0)
		return true;
	if (!atomic_load(&c->stop) && may_say(c))
		say_warning("connection: %s", err.text);
	return false;
}

/* A free QP number, or 0. */
static uint32_t
free_qpn(struct connections *c)
{
	const struct nic_config *config = nic_config_of(active_config_running_begin(c->active));
	int64_t first = flow_registry_free_numbers(c->registry, 1);
	uint32_t qpn = first < 0 ? 0 : config->nic.first_qpn + (uint32_t)first;

	active_config_running_end(c->active);
	return qpn;
}

/* ---- one connection ---- */

static bool
is_named(const struct connections *c, const char *flow)
{
	for (uint32_t i = 0; i < NIC_CM_CONNECTIONS; i++)
		if (c->all[i].known && strcmp(c->all[i].flow, flow) == 0)
			return true;
	return false;
}

/* The name of a new connection's flow: with the lowest number that is free, because the program
 * keeps the counters of each name for ever. */
static void
name_flow(const struct connections *c, const char *pattern, char name[NIC_FLOW_NAME_CHARS + 1])
{
	uint32_t n = 1;

	do
		snprintf(name, NIC_FLOW_NAME_CHARS + 1, "%.21s%c%u", pattern, NIC_CONNECTION_SIGN,
			 n++);
	while (is_named(c, name));
}

static struct connection *
begin(struct connections *c, uint32_t index, const struct nic_flow *pattern, uint32_t qpn,
      uint32_t psn)
{
	struct connection *one = &c->all[index];

	char name[NIC_FLOW_NAME_CHARS + 1];

	name_flow(c, pattern->name, name);
	pthread_mutex_lock(&c->lock);
	*one = (struct connection){
		.known = true, .may_start = !pattern->qp.stopped, .qpn = qpn, .psn = psn};
	strcpy(one->pattern, pattern->name);
	strcpy(one->flow, name);
	pthread_mutex_unlock(&c->lock);
	return one;
}

static void
remember(struct connections *c, struct connection *one, const struct cm_view *v)
{
	pthread_mutex_lock(&c->lock);
	one->view = *v;
	pthread_mutex_unlock(&c->lock);
}

static void
set_state(struct connections *c, struct connection *one, enum cm_state state)
{
	pthread_mutex_lock(&c->lock);
	one->view.state = state;
	pthread_mutex_unlock(&c->lock);
}

static bool
add_flow(struct connections *c, struct connection *one, const struct nic_flow *pattern,
	 const struct cm_view *v)
{
	char *lines = connection_flow(pattern, one->flow, v, one->qpn, one->psn);

	one->has_flow = lines != NULL && change(c, lines, NULL);
	free(lines);
	return one->has_flow;
}

static void
start_flow(struct connections *c, const struct connection *one)
{
	char line[NIC_FLOW_NAME_CHARS + 32];

	snprintf(line, sizeof(line), "flow %s.stopped=off", one->flow);
	if (one->may_start)
		change(c, line, NULL);
}

static struct cm_end
own_end(const struct nic_config *config, uint32_t qpn, uint32_t psn, const struct cm_end *other)
{
	uint8_t most = (uint8_t)config->nic.max_rd_atomic;
	struct cm_end own = {.qpn = qpn,
			     .psn = psn,
			     .responder_resources = most,
			     .initiator_depth = most,
			     .rnr_retry = config->nic.rnr_retry};

	if (other != NULL && other->initiator_depth < most)
		own.responder_resources = other->initiator_depth;
	if (other != NULL && other->responder_resources < most)
		own.initiator_depth = other->responder_resources;
	return own;
}

/* Not 0, which would stand for initial_psn as a key. */
static uint32_t
new_psn(void)
{
	return (uint32_t)random() % 0xffffff + 1;
}

/* A REQ has come. */
static void
on_requested(struct connections *c, const struct nic_config *config, const struct happened *h)
{
	const struct nic_flow *pattern = pattern_for(config, &h->view);
	uint32_t qpn = pattern == NULL ? 0 : free_qpn(c), psn = new_psn();
	struct work w = {.order = ORDER_ACCEPT, .connection = h->event.connection};
	struct connection *one;

	/* Who asks decides on the MTU, and takes no other. */
	if (qpn == 0 || cm_mtu_bytes(h->view.terms.mtu_code) > pattern->qp.mtu_bytes) {
		order(c, ORDER_REJECT, h->event.connection,
		      pattern == NULL ? CM_REASON_INVALID_SERVICE_ID
		      : qpn == 0      ? CM_REASON_NO_QP
				      : CM_REASON_INVALID_MTU);
		return;
	}
	one = begin(c, h->event.connection, pattern, qpn, psn);
	remember(c, one, &h->view);
	if (!add_flow(c, one, pattern, &h->view)) {
		order(c, ORDER_REJECT, h->event.connection, CM_REASON_NO_RESOURCES);
		one->known = false;
		return;
	}
	w.own = own_end(config, qpn, psn, &h->view.other);
	on_main(c, &w);
	set_state(c, one, CM_REP_SENT);
}

/* A REP has come. */
static void
on_replied(struct connections *c, const struct nic_config *config, const struct happened *h)
{
	struct connection *one = &c->all[h->event.connection];
	const struct nic_flow *pattern = find_pattern(config, one->pattern);

	remember(c, one, &h->view);
	if (pattern == NULL || !add_flow(c, one, pattern, &h->view)) {
		order(c, ORDER_END, h->event.connection, 0);
		return;
	}
	order(c, ORDER_READY, h->event.connection, 0);
	set_state(c, one, CM_ESTABLISHED);
	say_connected(c, one);
	start_flow(c, one);
}

static struct connecting *
connecting_of(struct connections *c, const char *pattern)
{
	for (unsigned int i = 0; i < c->n_connecting; i++)
		if (strcmp(c->connecting[i].name, pattern) == 0)
			return &c->connecting[i];
	return NULL;
}

/* Of this connection alone: an earlier one may have had the flow's name. */
static struct nic_flow_info
info_of(struct connections *c, const struct nic_flow *flow)
{
	const struct nic_nodes *nodes = c->registry->nodes;
	struct nic_flow_info info = {0};

	flow_registry_read_begin(c->registry);
	for (uint16_t i = 0; i < nodes->plan.n_lcores; i++)
		nic_flow_info(nodes->node[i], flow->id, &info);
	flow_registry_read_end(c->registry);
	return info;
}

/* Has its QP given up, or are all messages of its flow complete, and is the peer quiet? */
static bool
is_over(struct connections *c, struct connection *one, const struct nic_flow *flow)
{
	const struct nic_flow_info info = info_of(c, flow);
	uint64_t now_ns = clock_ns();

	if (info.qps_done == 0 || info.sum.rx_packets != one->rx_packets)
		one->quiet_ns = now_ns;
	one->rx_packets = info.sum.rx_packets;
	return info.qps_failed > 0 || (flow->qp.requester && workload_ends(&flow->qp.work) &&
				       now_ns - one->quiet_ns >= LINGER_NS);
}

/* Forget a connection, and remove its flow. */
static void
forget(struct connections *c, struct connection *one, const struct nic_flow *flow)
{
	struct connecting *k = connecting_of(c, one->pattern);
	bool completed = flow != NULL && info_of(c, flow).qps_done > 0;

	if (flow != NULL)
		change(c, NULL, one->flow);
	if (k != NULL && one->view.active) {
		k->open--;
		if (completed)
			k->completed++;
		else
			k->retry_ns = clock_ns() + RETRY_NS;
	}
	pthread_mutex_lock(&c->lock);
	one->known = false;
	pthread_mutex_unlock(&c->lock);
}

static void
on_ended(struct connections *c, const struct nic_config *config, const struct happened *h)
{
	struct connection *one = &c->all[h->event.connection];
	uint64_t timeout_ns = 4096ull << min_u64(one->view.terms.ack_timeout, 20);

	if (!one->known)
		return;
	say_ended(c, one, &h->event);
	set_state(c, one, CM_TIMEWAIT);
	/* A DREQ may overtake the last ACK. The slot is ours for twice this time. */
	if (h->event.cause == CM_BY_PEER)
		one->ended_ns = clock_ns() + timeout_ns / 2;
	else
		forget(c, one, find_flow(config, one->flow));
}

static void
on_event(struct connections *c, const struct nic_config *config, const struct happened *h)
{
	struct connection *one = &c->all[h->event.connection];

	switch (h->event.what) {
	case CM_REQUESTED:
		on_requested(c, config, h);
		break;
	case CM_REPLIED:
		on_replied(c, config, h);
		break;
	case CM_CONNECTED:
		remember(c, one, &h->view);
		set_state(c, one, CM_ESTABLISHED);
		say_connected(c, one);
		start_flow(c, one);
		break;
	case CM_ENDED:
		on_ended(c, config, h);
		break;
	}
}

/* ---- patterns with connect = cm ---- */

static void
follow_patterns(struct connections *c, const struct nic_config *config)
{
	for (unsigned int i = 0; i < config->n_patterns; i++) {
		const struct nic_flow *p = &config->flows[config->n_flows + i];
		struct connecting *grown;

		if (p->connect != NIC_CONNECT_CM || connecting_of(c, p->name) != NULL)
			continue;
		grown = realloc(c->connecting, (c->n_connecting + 1) * sizeof(*grown));
		if (grown == NULL)
			return;
		c->connecting = grown;
		c->connecting[c->n_connecting] = (struct connecting){0};
		strcpy(c->connecting[c->n_connecting++].name, p->name);
	}
}

static bool
connect_one(struct connections *c, const struct nic_config *config, const struct nic_flow *p)
{
	struct work w = {.order = ORDER_CONNECT};
	uint32_t qpn = free_qpn(c), psn = new_psn();

	w.peer.ip = p->qp.peer_ip;
	memcpy(w.peer.mac, p->qp.peer_mac, sizeof(w.peer.mac));
	w.peer.tagged = p->qp.tagged;
	w.peer.vlan_tci = p->qp.vlan_tci;
	w.terms = (struct cm_terms){.port = p->cm_port,
				    .mtu_code = cm_mtu_code(p->qp.mtu_bytes),
				    .retry_cnt = config->nic.retry_cnt,
				    .ack_timeout = config->nic.local_ack_timeout};
	w.own = own_end(config, qpn, psn, NULL);
	if (qpn == 0 || !on_main(c, &w) || w.connection == CM_NONE)
		return false;
	remember(c, begin(c, w.connection, p, qpn, psn),
		 &(struct cm_view){
			 .state = CM_REQ_SENT, .active = true, .peer = w.peer, .terms = w.terms});
	return true;
}

/* Open what is missing. */
static void
connect_patterns(struct connections *c, const struct nic_config *config)
{
	bool pending = false;

	follow_patterns(c, config);
	for (unsigned int i = 0; i < c->n_connecting; i++) {
		struct connecting *k = &c->connecting[i];
		const struct nic_flow *p = find_pattern(config, k->name);

		if (p == NULL)
			continue;
		while (k->open + k->completed < p->qp_count && clock_ns() >= k->retry_ns) {
			if (connect_one(c, config, p))
				k->open++;
			else
				k->retry_ns = clock_ns() + RETRY_NS;
		}
		if (p->qp.requester && workload_ends(&p->qp.work))
			pending = pending || k->completed < p->qp_count;
	}
	atomic_store(&c->pending, pending);
}

/* ---- ends ---- */

static void
end_some(struct connections *c, const struct nic_config *config)
{
	for (uint32_t i = 0; i < NIC_CM_CONNECTIONS; i++) {
		struct connection *one = &c->all[i];
		const struct nic_flow *flow;

		if (!one->known || !one->has_flow)
			continue;
		flow = find_flow(config, one->flow);
		if (one->ended_ns > 0) {
			if (flow == NULL || info_of(c, flow).qps_done > 0 ||
			    clock_ns() >= one->ended_ns)
				forget(c, one, flow);
			continue;
		}
		/* Or it was removed by a command, or its pattern was. */
		if (flow == NULL || find_pattern(config, one->pattern) == NULL ||
		    is_over(c, one, flow))
			order(c, ORDER_END, i, 0);
		/* The peer is ready, though its RTU may be lost. */
		else if (one->view.state == CM_REP_SENT && one->rx_packets > 0)
			order(c, ORDER_PACKET, i, 0);
	}
}

/* ---- the thread ---- */

static void
look(struct connections *c, bool *idle)
{
	const struct config_version *v;
	struct work w = {.order = ORDER_LOOK};
	bool any = false;

	if (!on_main(c, &w))
		return;
	for (uint32_t i = 0; i < w.n; i++) {
		/* Each may change the configuration. */
		v = active_config_hold(c->active);
		on_event(c, nic_config_of(v), &w.happened[i]);
		active_config_release(c->active, v);
	}
	v = active_config_hold(c->active);
	connect_patterns(c, nic_config_of(v));
	end_some(c, nic_config_of(v));
	active_config_release(c->active, v);
	for (uint32_t i = 0; i < NIC_CM_CONNECTIONS; i++)
		any = any || c->all[i].known;
	*idle = !any;
}

static void
run_thread(void *arg)
{
	struct connections *c = arg;
	bool idle = true;

	while (!atomic_load(&c->stop)) {
		const struct timespec pause = {.tv_nsec = idle ? IDLE_LOOK_NS : LOOK_NS};

		look(c, &idle);
		nanosleep(&pause, NULL);
	}
}

int
connections_start(struct connections *c, struct active_config *active,
		  struct flow_registry *registry)
{
	int rc;

	*c = (struct connections){
		.active = active, .registry = registry, .node = registry->nodes->node[0]};
	srandom((unsigned int)clock_ns());
	atomic_store(&c->pending, true);
	c->all = calloc(NIC_CM_CONNECTIONS, sizeof(*c->all));
	if (c->all == NULL)
		return -ENOMEM;
	pthread_mutex_init(&c->lock, NULL);
	rc = control_thread_start(&c->thread, "connections", run_thread, c);
	c->has_thread = rc == 0;
	return rc;
}

void
connections_stop(struct connections *c)
{
	if (c->all == NULL)
		return;
	atomic_store(&c->stop, true);
	if (c->has_thread)
		control_thread_join(&c->thread);
	pthread_mutex_destroy(&c->lock);
	free(c->all);
	free(c->connecting);
	*c = (struct connections){0};
}

bool
connections_are_done(const struct connections *c)
{
	return !atomic_load(&c->pending);
}

void
connections_visit(struct connections *c,
		  bool (*visit)(void *arg, uint32_t index, const struct connection *one), void *arg)
{
	bool more = c->all != NULL;

	if (!more)
		return;
	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; more && i < NIC_CM_CONNECTIONS; i++)
		if (c->all[i].known)
			more = visit(arg, i, &c->all[i]);
	pthread_mutex_unlock(&c->lock);
}
