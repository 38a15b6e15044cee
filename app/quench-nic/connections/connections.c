/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/connections/connections.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "ctl/config/config.h"
#include "nic/gsi/gsi.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/connections/connection_flow.h"
#include "runtime/notice/monotonic.h"
#include "runtime/notice/say.h"

/* Poll interval of the connection manager: with connections, and without. */
#define LOOK_NS (5 * NS_PER_MS)
#define IDLE_LOOK_NS (20 * NS_PER_MS)
/* Events handled together, in one change of the configuration. */
#define BATCH 64u
/*
 * Limit of connections that are being opened. A peer needs time for each of them, and gives up a
 * handshake that takes too long.
 */
#define MOST_OPENING 64u
/* Time without a packet from the peer after which a finished connection is ended. */
#define LINGER_NS NS_PER_SEC
/* Delay of the next attempt after a failure. It doubles with each failure in a row, up to 32 s. */
#define RETRY_NS NS_PER_SEC
#define MOST_DOUBLINGS 5u
/* Flow numbers per pattern: more than connections, because users may add flows NAME@N, too. */
#define MOST_NAMES (4 * NIC_CM_CONNECTIONS)
/* Time that the end of the program waits for answers of the peers. */
#define LEAVE_NS (300 * NS_PER_MS)
#define VLAN_ID_MASK 0x0FFFu

/* ---- messages ---- */

/* Limit the rate of messages, because a peer can cause many. */
static bool
may_say(struct connections *c)
{
	uint64_t left_out = c->limit.suppressed;

	if (!say_limit_passes(&c->limit, monotonic_ns()))
		return false;
	if (left_out > 0)
		say("connections: %" PRIu64 " lines were left out", left_out);
	c->limit.suppressed = 0;
	return true;
}

static void
say_connected(struct connections *c, const struct connection *one)
{
	char ip[FIELD_IP_CHARS];

	if (may_say(c))
		say("connection %s with %s, port %u: established; local_qpn=%u peer_qpn=%u",
		    one->flow, field_ip_text(&one->view.peer.ip, ip), one->view.terms.port,
		    one->qpn, one->view.other.qpn);
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
	char ip[FIELD_IP_CHARS], reason[32] = "";

	if (!may_say(c))
		return;
	if (e->cause == CM_BY_REJECT)
		snprintf(reason, sizeof(reason), ", reason %u", e->reason);
	(e->cause == CM_BY_US || e->cause == CM_BY_PEER ? say : say_warning)(
		"connection %s with %s, port %u: %s%s", one->flow,
		field_ip_text(&one->view.peer.ip, ip), one->view.terms.port, causes[e->cause],
		reason);
}

/* ---- the configuration ---- */

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

	/* A pattern without a VLAN accepts peers of any VLAN, and answers in the peer's VLAN. */
	if (pattern->qp.tagged &&
	    (!v->peer.tagged || ((pattern->qp.vlan_tci ^ v->peer.vlan_tci) & VLAN_ID_MASK) != 0))
		return false;
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

/* One connection's part of a change of the configuration. */
struct part {
	struct connection *one;
	/* Lines "flow NAME.key=value", or a flow to remove; owned; NULL: out of memory */
	char *lines;
	bool done;
	struct cm_end own; /* our end of the connection, if the flow is to be added */
	bool completed;    /* all messages of a flow to be removed are complete */
};

struct parts {
	unsigned int n;
	struct part all[BATCH];
};

static struct part *
add_part(struct parts *p, struct connection *one, char *lines)
{
	assert(p->n < BATCH);
	p->all[p->n] = (struct part){.one = one, .lines = lines};
	return &p->all[p->n++];
}

/* Set keys, or remove flows. @return false: refused, with a warning if may_warn. */
static bool
change(struct connections *c, const char *lines, bool removes, bool may_warn)
{
	const struct active_config_request request = {
		.set = removes ? NULL : lines, .remove = removes ? lines : NULL, .quiet = true};
	struct active_config_outcome out;
	struct config_error err;

	if (active_config_change(c->active, &request, &out, &err) == 0)
		return true;
	if (may_warn && !atomic_load(&c->stop) && may_say(c))
		say_warning("connection: %s", err.text);
	return false;
}

/* Apply all parts in one change. @return false: refused. */
static bool
change_at_once(struct connections *c, const struct parts *p, bool removes)
{
	char *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);
	bool good = out != NULL;

	for (unsigned int i = 0; good && i < p->n; i++) {
		good = p->all[i].lines != NULL;
		if (good)
			fputs(p->all[i].lines, out);
	}
	good = out != NULL && fclose(out) == 0 && good && change(c, lines, removes, false);
	free(lines);
	return good;
}

/* Apply the parts in one change. If that is refused, apply each part in its own change. */
static void
change_all(struct connections *c, struct parts *p, bool removes)
{
	bool good = p->n > 1 && change_at_once(c, p, removes);

	for (unsigned int i = 0; i < p->n; i++) {
		struct part *part = &p->all[i];

		part->done = good || (part->lines != NULL && change(c, part->lines, removes, true));
		free(part->lines);
		part->lines = NULL;
	}
}

static bool
has_number(const struct connections *c, uint32_t qpn)
{
	for (uint32_t i = 0; i < NIC_CM_CONNECTIONS; i++)
		if (c->all[i].known && c->all[i].qpn == qpn)
			return true;
	return false;
}

/* A random number that nobody can predict. */
static uint32_t
secret(void)
{
	uint32_t n;

	while (getrandom(&n, sizeof(n), 0) != (ssize_t)sizeof(n))
		;
	return n;
}

/*
 * A QP number that is used neither by a flow nor by a connection without a flow; 0: none is free.
 * It is drawn at random from all max_qps numbers, so that a stranger is unlikely to guess it.
 */
static uint32_t
free_qpn(struct connections *c)
{
	const struct nic_config *config = nic_config_of(active_config_running_begin(c->active));
	uint32_t most = config->nic.max_qps, qpn = 0, tries = 0;

	do {
		int64_t number = flow_registry_free_number(c->registry, secret() % most);

		qpn = number < 0 ? 0 : config->nic.first_qpn + (uint32_t)number;
	} while (qpn != 0 && has_number(c, qpn) && ++tries <= NIC_CM_CONNECTIONS);
	active_config_running_end(c->active);
	return tries > NIC_CM_CONNECTIONS ? 0 : qpn;
}

/* ---- one connection ---- */

/* The number N of a flow NAME@N of this pattern; 0: the flow is of another pattern. */
static uint32_t
number_of(const char *flow, const char *prefix, size_t prefix_chars)
{
	unsigned long n;

	if (strncmp(flow, prefix, prefix_chars) != 0)
		return 0;
	n = strtoul(flow + prefix_chars, NULL, 10);
	return n < MOST_NAMES ? (uint32_t)n : 0;
}

/* Name a new connection's flow with the lowest free number. Names are reused, because the program
 * keeps the counters of every name. */
static void
name_flow(const struct connections *c, const struct nic_config *config, const char *pattern,
	  char name[NIC_FLOW_NAME_CHARS + 1])
{
	bool used[MOST_NAMES] = {true};
	char prefix[NIC_FLOW_NAME_CHARS + 1];
	size_t n =
		(size_t)snprintf(prefix, sizeof(prefix), "%.21s%c", pattern, NIC_CONNECTION_SIGN);
	uint32_t number = 0;

	for (uint32_t i = 0; i < NIC_CM_CONNECTIONS; i++)
		if (c->all[i].known)
			used[number_of(c->all[i].flow, prefix, n)] = true;
	/* A user may have added a flow of this name, or its removal may have failed. */
	for (unsigned int i = 0; i < config->n_flows; i++)
		used[number_of(config->flows[i].name, prefix, n)] = true;
	while (number < MOST_NAMES - 1 && used[number])
		number++;
	snprintf(name, NIC_FLOW_NAME_CHARS + 1, "%.22s%u", prefix, number);
}

/* The flow of a connection, or NULL. */
static const struct nic_flow *
flow_of(const struct nic_config *config, struct connection *one)
{
	/* New flows are appended, and a removal moves later flows down: search downwards first. */
	for (uint32_t i = min_u64(one->place + 1ull, config->n_flows); i-- > 0;)
		if (strcmp(config->flows[i].name, one->flow) == 0) {
			one->place = i;
			return &config->flows[i];
		}
	for (uint32_t i = one->place + 1; i < config->n_flows; i++)
		if (strcmp(config->flows[i].name, one->flow) == 0) {
			one->place = i;
			return &config->flows[i];
		}
	return NULL;
}

/* The connection with this ID; NULL: it is unknown, or it has ended. */
static struct connection *
find(struct connections *c, uint32_t id)
{
	struct connection *one = &c->all[cm_slot(id)];

	return one->known && one->id == id ? one : NULL;
}

static struct connecting *
connecting_of(struct connections *c, const char *pattern)
{
	for (unsigned int i = 0; i < c->n_connecting; i++)
		if (strcmp(c->connecting[i].name, pattern) == 0)
			return &c->connecting[i];
	return NULL;
}

static void
try_later(struct connecting *k)
{
	/* Connections that are opened together fail together, and count as one attempt. */
	if (monotonic_ns() < k->retry_ns)
		return;
	k->retry_ns = monotonic_ns() + (RETRY_NS << k->failures);
	k->failures += k->failures < MOST_DOUBLINGS;
}

/* Forget a connection, whose flow does not exist or was removed. */
static void
forget(struct connections *c, struct connection *one, bool completed)
{
	struct connecting *k = one->view.active ? connecting_of(c, one->pattern) : NULL;

	if (k != NULL) {
		k->open--;
		if (completed)
			k->completed++;
		else
			try_later(k);
	}
	pthread_mutex_lock(&c->lock);
	one->known = false;
	pthread_mutex_unlock(&c->lock);
}

/* Mark a connection's flow for remove_all(), which then forgets the connection. */
static void
remove_flow(struct connections *c, const struct nic_config *config, struct parts *gone,
	    struct connection *one)
{
	const struct nic_flow *flow = one->has_flow ? flow_of(config, one) : NULL;
	char line[NIC_FLOW_NAME_CHARS + 2];

	if (flow == NULL) {
		forget(c, one, false);
		return;
	}
	snprintf(line, sizeof(line), "%s\n", one->flow);
	add_part(gone, one, strdup(line))->completed =
		flow_registry_life_info(c->registry, flow->id).qps_done > 0;
}

/* A connection whose flow could not be removed stays, and tend() tries again. */
static void
remove_all(struct connections *c, struct parts *gone)
{
	change_all(c, gone, true);
	for (unsigned int i = 0; i < gone->n; i++)
		if (gone->all[i].done)
			forget(c, gone->all[i].one, gone->all[i].completed);
		else
			gone->all[i].one->ended_ns = monotonic_ns();
	gone->n = 0;
}

static struct connection *
begin(struct connections *c, const struct nic_config *config, uint32_t id,
      const struct nic_flow *pattern, uint32_t qpn, const struct cm_view *v)
{
	struct connection *one = &c->all[cm_slot(id)];
	char name[NIC_FLOW_NAME_CHARS + 1];
	struct parts gone = {0};

	/* The connection manager has reused the slot, and we have not handled the end yet. */
	if (one->known) {
		remove_flow(c, config, &gone, one);
		remove_all(c, &gone);
		if (one->known)
			forget(c, one, false);
	}
	name_flow(c, config, pattern->name, name);
	pthread_mutex_lock(&c->lock);
	*one = (struct connection){.known = true,
				   .id = id,
				   .may_start = !pattern->qp.stopped,
				   .qpn = qpn,
				   .place = UINT32_MAX,
				   .view = *v};
	strcpy(one->pattern, pattern->name);
	strcpy(one->flow, name);
	pthread_mutex_unlock(&c->lock);
	return one;
}

static void
set_state(struct connections *c, struct connection *one, enum cm_state state)
{
	pthread_mutex_lock(&c->lock);
	one->view.state = state;
	pthread_mutex_unlock(&c->lock);
}

/* Both ends are ready: let the flow send. */
static void
start(struct connections *c, struct parts *starts, struct connection *one)
{
	struct connecting *k = connecting_of(c, one->pattern);
	char line[NIC_FLOW_NAME_CHARS + 32];

	set_state(c, one, CM_ESTABLISHED);
	say_connected(c, one);
	if (k != NULL)
		k->failures = 0;
	snprintf(line, sizeof(line), "flow %s.stopped=off\n", one->flow);
	if (one->may_start)
		add_part(starts, one, strdup(line));
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

/* A random initial PSN. It is not 0, because peer_psn = 0 means initial_psn. */
static uint32_t
new_psn(void)
{
	return secret() % 0xffffff + 1;
}

/* The reason to reject a REQ; 0: the pattern (NULL: none matches) accepts it. */
static enum cm_reason
fault_of(const struct nic_flow *pattern, const struct cm_view *v)
{
	if (pattern == NULL)
		return CM_REASON_INVALID_SERVICE_ID;
	/* The requester's MTU is not negotiable. */
	return cm_mtu_bytes(v->terms.mtu_code) > pattern->qp.mtu_bytes ? CM_REASON_INVALID_MTU
								       : (enum cm_reason)0;
}

/*
 * In a flood of REQs, offer a QP number to a peer without adding a flow. The flow is added when the
 * peer answers. Several peers may be offered the same number; the first one that answers gets it.
 * Called on the main lcore.
 */
static enum cm_reason
offer(void *arg, const struct cm_view *v, struct cm_end *own)
{
	struct connections *c = arg;
	const struct config_version *version = active_config_hold(c->active);
	const struct nic_config *config = nic_config_of(version);
	enum cm_reason fault = fault_of(pattern_for(config, v), v);
	uint32_t qpn;

	pthread_mutex_lock(&c->lock);
	c->spares_are_used = true;
	qpn = c->n_spares == 0 ? 0 : c->spares[c->next_spare++ % c->n_spares];
	pthread_mutex_unlock(&c->lock);
	if (fault == 0 && qpn == 0)
		fault = CM_REASON_NO_QP;
	if (fault == 0)
		*own = own_end(config, qpn, new_psn(), &v->other);
	active_config_release(c->active, version);
	return fault;
}

/* Choose new QP numbers for offers, if any has been offered. */
static void
choose_spares(struct connections *c)
{
	uint32_t spares[CONNECTIONS_SPARES], n = 0;
	bool wanted;

	pthread_mutex_lock(&c->lock);
	wanted = c->spares_are_used || c->n_spares == 0;
	c->spares_are_used = false;
	pthread_mutex_unlock(&c->lock);
	if (!wanted)
		return;
	while (n < CONNECTIONS_SPARES && (spares[n] = free_qpn(c)) != 0)
		n++;
	pthread_mutex_lock(&c->lock);
	memcpy(c->spares, spares, n * sizeof(spares[0]));
	c->n_spares = n;
	pthread_mutex_unlock(&c->lock);
}

/* Results of a batch of events. Each event causes at most one part and one order. */
struct round {
	struct parts adds, starts, gone;
	uint32_t n_orders;
	struct cm_order orders[BATCH];
};

static void
order(struct round *r, struct cm_order one)
{
	assert(r->n_orders < BATCH);
	r->orders[r->n_orders++] = one;
}

static void
give_orders(struct connections *c, struct round *r)
{
	cm_order_all(&c->orders, r->orders, r->n_orders);
	r->n_orders = 0;
}

/* A REQ, or an RTU that accepts an offer. The RTU names our QP number and PSN. */
static void
on_requested(struct connections *c, const struct nic_config *config, struct round *r,
	     const struct cm_news *h)
{
	const struct nic_flow *pattern = pattern_for(config, &h->view);
	uint32_t qpn = h->view.own.qpn, psn = h->view.own.psn, id = h->event.id;
	enum cm_reason fault = fault_of(pattern, &h->view);
	struct connection *one;

	if (fault == 0 && qpn == 0) {
		qpn = free_qpn(c);
		psn = new_psn();
	} else if (fault == 0 && has_number(c, qpn)) {
		qpn = 0;
	}
	if (fault == 0 && qpn == 0)
		fault = CM_REASON_NO_QP;
	if (fault != 0) {
		order(r, (struct cm_order){.kind = CM_ORDER_REJECT, .id = id, .reason = fault});
		return;
	}
	one = begin(c, config, id, pattern, qpn, &h->view);
	add_part(&r->adds, one, connection_flow(pattern, one->flow, &one->view, qpn, psn))->own =
		own_end(config, qpn, psn, &h->view.other);
}

/* A REP: add the flow. */
static void
on_replied(struct connections *c, const struct nic_config *config, struct round *r,
	   struct connection *one, const struct cm_view *v)
{
	const struct nic_flow *pattern = find_pattern(config, one->pattern);

	pthread_mutex_lock(&c->lock);
	one->view = *v;
	pthread_mutex_unlock(&c->lock);
	if (pattern == NULL)
		order(r, (struct cm_order){.kind = CM_ORDER_END, .id = one->id});
	else
		add_part(&r->adds, one,
			 connection_flow(pattern, one->flow, v, one->qpn, v->own.psn));
}

static void
on_ended(struct connections *c, const struct nic_config *config, struct round *r,
	 struct connection *one, const struct cm_event *e)
{
	uint64_t timeout_ns = 4096ull << min_u64(one->view.terms.ack_timeout, 20);

	say_ended(c, one, e);
	set_state(c, one, CM_TIMEWAIT);
	/* A DREQ may overtake the last ACK: keep the flow for half of the slot's TIMEWAIT. */
	if (e->cause == CM_BY_PEER)
		one->ended_ns = monotonic_ns() + timeout_ns / 2;
	else
		remove_flow(c, config, &r->gone, one);
}

static void
on_event(struct connections *c, const struct nic_config *config, struct round *r,
	 const struct cm_news *h)
{
	struct connection *one = find(c, h->event.id);

	if (h->event.what == CM_REQUESTED)
		on_requested(c, config, r, h);
	else if (one == NULL)
		return;
	else if (h->event.what == CM_REPLIED)
		on_replied(c, config, r, one, &h->view);
	else if (h->event.what == CM_CONNECTED)
		start(c, &r->starts, one);
	else
		on_ended(c, config, r, one, &h->event);
}

/* The flow of a connection was added or refused: tell the peer. */
static void
on_added(struct connections *c, struct round *r, const struct part *part)
{
	struct connection *one = part->one;
	struct cm_order next = {.id = one->id, .own = part->own};

	one->has_flow = part->done;
	if (one->view.active) {
		next.kind = part->done ? CM_ORDER_READY : CM_ORDER_END;
	} else if (part->done) {
		next.kind = CM_ORDER_ACCEPT;
		set_state(c, one, CM_REP_SENT);
	} else {
		next.kind = CM_ORDER_REJECT;
		next.reason = CM_REASON_NO_RESOURCES;
		forget(c, one, false);
	}
	order(r, next);
	if (one->view.active && part->done)
		start(c, &r->starts, one);
}

/* Handle a batch of events. @return false: no more are pending. */
static bool
serve(struct connections *c)
{
	struct cm_news news[BATCH];
	uint32_t n = cm_order_look(&c->orders, news, BATCH);
	const struct config_version *v = active_config_hold(c->active);
	struct round r = {0};

	for (uint32_t i = 0; i < n; i++)
		on_event(c, nic_config_of(v), &r, &news[i]);
	active_config_release(c->active, v);
	change_all(c, &r.adds, false);
	for (unsigned int i = 0; i < r.adds.n; i++)
		on_added(c, &r, &r.adds.all[i]);
	give_orders(c, &r);
	change_all(c, &r.starts, false);
	remove_all(c, &r.gone);
	return n == BATCH;
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
	struct cm_view v = {
		.state = CM_REQ_SENT,
		.active = true,
		.peer = {.ip = p->qp.peer_ip, .tagged = p->qp.tagged, .vlan_tci = p->qp.vlan_tci},
		.terms = {.port = p->cm_port,
			  .mtu_code = cm_mtu_code(p->qp.mtu_bytes),
			  .retry_cnt = (uint8_t)RTE_MIN(config->nic.retry_cnt, CM_MOST_RETRIES),
			  .ack_timeout = config->nic.local_ack_timeout},
	};
	uint32_t qpn = free_qpn(c), id;

	if (qpn == 0)
		return false;
	memcpy(v.peer.mac, p->qp.peer_mac, sizeof(v.peer.mac));
	v.own = own_end(config, qpn, new_psn(), NULL);
	id = cm_order_connect(&c->orders, &v.peer, &v.terms, &v.own);
	if (id == CM_NONE)
		return false;
	begin(c, config, id, p, qpn, &v);
	return true;
}

/* The number of connections that we have requested and that are not established yet. */
static uint32_t
count_opening(const struct connections *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < NIC_CM_CONNECTIONS; i++)
		n += c->all[i].known && c->all[i].view.active &&
		     c->all[i].view.state < CM_ESTABLISHED;
	return n;
}

/* Does a pattern send messages to peers that connect to it? */
static bool
listens_to_send(const struct nic_config *config)
{
	bool any = false;

	for (unsigned int i = 0; i < config->n_patterns; i++) {
		const struct nic_flow *p = &config->flows[config->n_flows + i];

		any = any || (p->connect == NIC_CONNECT_LISTEN && p->qp.requester);
	}
	return any;
}

/* Open connections until each pattern has as many as it wants. */
static void
connect_patterns(struct connections *c, const struct nic_config *config)
{
	uint32_t opening = count_opening(c);
	bool pending = false;

	follow_patterns(c, config);
	for (unsigned int i = 0; i < c->n_connecting; i++) {
		struct connecting *k = &c->connecting[i];
		const struct nic_flow *p = find_pattern(config, k->name);

		if (p == NULL) {
			/* The pattern was removed. A later one of this name starts from 0. */
			k->completed = k->failures = 0;
			continue;
		}
		while (k->open + k->completed < p->qp_count && opening < MOST_OPENING &&
		       monotonic_ns() >= k->retry_ns) {
			if (connect_one(c, config, p)) {
				k->open++;
				opening++;
			} else {
				try_later(k);
			}
		}
		/* Between two attempts no flow exists, but the pattern has more to send. */
		if (p->qp.requester)
			pending = pending || !workload_ends(&p->qp.work) ||
				  k->completed < p->qp_count;
	}
	atomic_store(&c->pending, pending || listens_to_send(config));
}

/* ---- ends ---- */

/* Has the QP given up, or is all sent and the peer quiet? */
static bool
is_over(struct connections *c, struct connection *one, const struct nic_flow *flow)
{
	const struct nic_flow_info info = flow_registry_life_info(c->registry, flow->id);
	uint64_t now_ns = monotonic_ns();

	if (info.qps_done == 0 || info.sum.rx_packets != one->rx_packets)
		one->quiet_ns = now_ns;
	one->rx_packets = info.sum.rx_packets;
	return info.qps_failed > 0 || (flow->qp.requester && workload_ends(&flow->qp.work) &&
				       now_ns - one->quiet_ns >= LINGER_NS);
}

/* After the peer's DREQ: has the last ACK arrived, or is it too late for one? */
static bool
has_settled(struct connections *c, const struct connection *one, const struct nic_flow *flow)
{
	return flow == NULL || monotonic_ns() >= one->ended_ns ||
	       flow_registry_life_info(c->registry, flow->id).qps_done > 0;
}

static void
tend(struct connections *c, const struct nic_config *config, struct round *r,
     struct connection *one)
{
	const struct nic_flow *flow = one->has_flow ? flow_of(config, one) : NULL;

	if (one->ended_ns > 0) {
		if (has_settled(c, one, flow))
			remove_flow(c, config, &r->gone, one);
	} else if (one->is_ending) {
		return;
	} else if (find_pattern(config, one->pattern) == NULL ||
		   (one->has_flow && (flow == NULL || is_over(c, one, flow)))) {
		one->is_ending = true;
		set_state(c, one, CM_DREQ_SENT);
		order(r, (struct cm_order){.kind = CM_ORDER_END, .id = one->id});
	} else if (one->view.state == CM_REP_SENT && one->rx_packets > 0) {
		/* A packet shows that the peer is ready, even if its RTU is lost. */
		order(r, (struct cm_order){.kind = CM_ORDER_PACKET, .id = one->id});
	}
}

/* ---- the thread ---- */

/* Check all connections. @return true: there is at least one. */
static bool
tend_all(struct connections *c, const struct nic_config *config)
{
	struct round r = {0};
	bool any = false;

	for (uint32_t i = 0; i < NIC_CM_CONNECTIONS; i++) {
		struct connection *one = &c->all[i];

		if (!one->known)
			continue;
		any = true;
		tend(c, config, &r, one);
		/* The removals change the configuration: the rest waits for the next call. */
		if (r.gone.n == BATCH)
			break;
		if (r.n_orders == BATCH)
			give_orders(c, &r);
	}
	give_orders(c, &r);
	remove_all(c, &r.gone);
	return any;
}

/* @return true: there is at least one connection. */
static bool
look(struct connections *c)
{
	const struct config_version *v;
	bool any;

	while (serve(c) && !atomic_load(&c->stop))
		;
	choose_spares(c);
	v = active_config_hold(c->active);
	connect_patterns(c, nic_config_of(v));
	any = tend_all(c, nic_config_of(v));
	active_config_release(c->active, v);
	return any;
}

static void
run_thread(void *arg)
{
	struct connections *c = arg;

	while (!atomic_load(&c->stop)) {
		const struct timespec pause = {.tv_nsec = look(c) ? LOOK_NS : IDLE_LOOK_NS};

		nanosleep(&pause, NULL);
	}
}

int
connections_start(struct connections *c, struct active_config *active,
		  struct flow_registry *registry)
{
	int rc;

	*c = (struct connections){.active = active, .registry = registry};
	c->all = calloc(NIC_CM_CONNECTIONS, sizeof(*c->all));
	if (c->all == NULL)
		return -ENOMEM;
	c->orders = (struct cm_orders){active->mailbox, nic_cm(registry->nodes->node[0])};
	atomic_store(&c->pending, true);
	pthread_mutex_init(&c->lock, NULL);
	rc = control_thread_start(&c->thread, "connections", run_thread, c);
	c->has_thread = rc == 0;
	if (rc == 0)
		nic_gsi_set_offer(registry->nodes->node[0], offer, c);
	else
		connections_stop(c);
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
connections_leave(struct connections *c, uint64_t now_ns)
{
	uint32_t waiting;

	if (!c->has_thread)
		return false;
	/* The thread opens no more connections. The next call ends those it has just opened. */
	atomic_store(&c->stop, true);
	if (c->leave_by_ns == 0)
		c->leave_by_ns = now_ns + LEAVE_NS;
	waiting = cm_disconnect_all(c->orders.cm, now_ns);
	if (waiting == 0 || now_ns < c->leave_by_ns)
		return waiting > 0;
	say_warning("connections: peers that did not answer our DREQ: %u", waiting);
	return false;
}

bool
connections_are_done(const struct connections *c)
{
	return !atomic_load(&c->pending);
}

void
connections_visit(struct connections *c, void (*visit)(void *arg, const struct connection *one),
		  void *arg)
{
	if (c->all == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; i < NIC_CM_CONNECTIONS; i++)
		if (c->all[i].known)
			visit(arg, &c->all[i]);
	pthread_mutex_unlock(&c->lock);
}
