/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/cm/cm.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "base/threads/counter.h"
#include "nic/cm/cm_pending.h"
#include "nic/cm/cm_table.h"
#include "wire/mad/cm_ip.h"
#include "wire/roce/gid.h"

/* Longest time that a peer's message may make us wait: 4.096 us x 2^22 = 17 s. */
#define LONGEST_TIMEOUT 22u
/* Shortest one that a peer may ask for: 67 ms. Else 16 REPs would follow its REQ in 65 us. */
#define SHORTEST_TIMEOUT 14u
#define UNIT_NS 4096u
/* Time to the next attempt to send to a peer whose MAC address is being resolved. */
#define UNRESOLVED_NS (10 * NS_PER_MS)
#define HOP_LIMIT 64u
/* Keeps this use of the key apart from others. */
#define TRANSACTIONS 0x74726e73u
/* Linux also says so if the route is not that of a subnet manager. */
#define PERMISSIVE_LID 0xFFFFu
#define PKEY 0xFFFFu
/* Code of the static rate, which means nothing over Ethernet; 0 is reserved. */
#define PACKET_RATE_10G 3u
#define FIRST_SPORT 49152u
/* Connections without RTU, as 1 / HALF_OPEN of the table. Beyond it, a REQ takes no connection. */
#define HALF_OPEN 8u
/* Part of the table from which on room is made, as 1 / SPARE of it. */
#define SPARE 8u
/* Connections of which the oldest is given up. */
#define LOOKED_AT 16u
/* QP 0 has no connections: a peer that has the connection does not obey a DREQ that names it. */
#define NO_QPN 0u
/*
 * Repetitions of the REP of a handshake without a connection, and how many leave at a time for all
 * of them. A REQ may be forged, so a flood of them must not become a larger flood of REPs.
 */
#define PENDING_RETRIES 3u
#define PENDING_REPEATS 4u
#define PENDING_INTERVAL_NS NS_PER_MS
/* Entries that one look passes: all of them in 64 ms. */
#define PENDING_LOOKED_AT 256u

struct cm {
	struct cm_params params;
	struct cm_stats *stats;
	struct cm_ops ops;
	void *arg;
	struct cm_table table;
	struct cm_pendings pendings;
	uint32_t half_open;  /* connections in CM_REQ_RCVD and CM_REP_SENT */
	uint64_t next_ns;    /* no connection has something due earlier */
	uint64_t pending_ns; /* next look at the handshakes without a connection */
	uint64_t transactions;
	uint32_t hand;                    /* of make_room() */
	uint32_t next_slot;               /* of answer_without_connection() */
	uint32_t first_event, last_event; /* CM_NONE: none */
};

const char *const cm_state_words[] = {"free",     "req_sent", "rep_rcvd",    "req_rcvd",
				      "rep_sent", "rtu_rcvd", "established", "dreq_sent",
				      "timewait", "ending"};

struct cm *
cm_create(const struct cm_params *params, struct cm_stats *stats, const struct cm_ops *ops,
	  void *arg)
{
	struct cm *cm = calloc(1, sizeof(*cm));

	if (cm == NULL)
		return NULL;
	*cm = (struct cm){
		.params = *params,
		.stats = stats,
		.ops = *ops,
		.arg = arg,
		.next_ns = NEVER_NS,
		.pending_ns = NEVER_NS,
		.first_event = CM_NONE,
		.last_event = CM_NONE,
	};
	if (cm_table_init(&cm->table, params->max_connections, &params->key) == 0 &&
	    cm_pendings_init(&cm->pendings, &params->key) == 0)
		return cm;
	cm_destroy(cm);
	return NULL;
}

void
cm_destroy(struct cm *cm)
{
	if (cm == NULL)
		return;
	cm_table_free(&cm->table);
	cm_pendings_free(&cm->pendings);
	free(cm);
}

static struct cm_connection *
at(const struct cm *cm, uint32_t slot)
{
	return &cm->table.all[slot];
}

/* The connection with this ID, or NULL: it is no more. */
static struct cm_connection *
named(const struct cm *cm, uint32_t id)
{
	uint32_t slot = cm_table_by_local_id(&cm->table, id);

	return slot == CM_NONE ? NULL : at(cm, slot);
}

static uint32_t
index_of(const struct cm *cm, const struct cm_connection *c)
{
	return (uint32_t)(c - cm->table.all);
}

static uint64_t
timeout_ns(uint8_t code)
{
	return (uint64_t)UNIT_NS << min_u64(code, LONGEST_TIMEOUT);
}

static void
arm(struct cm *cm, struct cm_connection *c, uint64_t due_ns)
{
	c->due_ns = due_ns;
	cm->next_ns = min_u64(cm->next_ns, due_ns);
}

static bool
is_half_open(enum cm_state state)
{
	return state == CM_REQ_RCVD || state == CM_REP_SENT;
}

/* Nothing but a REQ, which may be forged, says that the peer uses this QP and this ID. */
static bool
is_unproven(const struct cm_connection *c)
{
	return is_half_open(c->view.state) ||
	       (c->view.state == CM_TIMEWAIT && !c->view.active && !c->is_proven);
}

static void
set_state(struct cm *cm, struct cm_connection *c, enum cm_state state)
{
	cm->half_open += (uint32_t)is_half_open(state) - is_half_open(c->view.state);
	c->view.state = state;
}

static void
give(struct cm *cm, struct cm_connection *c)
{
	set_state(cm, c, CM_FREE);
	cm_table_give(&cm->table, index_of(cm, c));
}

/* ---- messages ---- */

static void
send_to(struct cm *cm, const struct cm_peer *to, const struct cm_msg *msg)
{
	counter_inc(&cm->stats->cm_messages_sent);
	cm->ops.send(cm->arg, to, msg);
}

/* Of a conversation that we begin. It says nothing about the ones of others. */
static uint64_t
new_transaction(struct cm *cm)
{
	const uint32_t words[2] = {(uint32_t)++cm->transactions, TRANSACTIONS};

	return (uint64_t)half_sip(&cm->params.key, words, 2) << 32 | words[0];
}

/* A message of a connection, without the fields of its own. */
static struct cm_msg
of(const struct cm_connection *c, uint16_t attribute)
{
	return (struct cm_msg){
		.attribute = attribute,
		.transaction_id = c->transaction_id,
		.local_id = c->view.local_id,
		.remote_id = c->view.remote_id,
	};
}

/* Send a message that needs an answer. */
static void
ask(struct cm *cm, struct cm_connection *c, uint8_t timeout, uint8_t retries, uint64_t now_ns)
{
	c->answer_timeout = timeout;
	c->retries_left = retries;
	arm(cm, c, now_ns + timeout_ns(timeout));
	send_to(cm, &c->view.peer, &c->last);
}

static void
send_reject(struct cm *cm, const struct cm_peer *to, struct cm_msg msg, enum cm_about about,
	    enum cm_reason reason)
{
	msg.attribute = CM_REJ;
	msg.about = (uint8_t)about;
	msg.reason = (uint16_t)reason;
	counter_inc(&cm->stats->cm_rejects_sent);
	send_to(cm, to, &msg);
}

/* Refuse a message that belongs to no connection. */
static void
refuse(struct cm *cm, const struct cm_peer *to, const struct cm_msg *msg, enum cm_about about,
       enum cm_reason reason)
{
	const struct cm_msg rej = {
		.transaction_id = msg->transaction_id,
		.local_id = msg->remote_id,
		.remote_id = msg->local_id,
	};

	send_reject(cm, to, rej, about, reason);
}

/* Ask for more time (12.6.6). */
static void
send_mra(struct cm *cm, const struct cm_connection *c, enum cm_about about)
{
	struct cm_msg mra = of(c, CM_MRA);

	mra.about = (uint8_t)about;
	mra.service_timeout = cm->params.response_timeout;
	send_to(cm, &c->view.peer, &mra);
}

static void
send_drep(struct cm *cm, const struct cm_peer *to, const struct cm_msg *dreq)
{
	const struct cm_msg drep = {
		.attribute = CM_DREP,
		.transaction_id = dreq->transaction_id,
		.local_id = dreq->remote_id,
		.remote_id = dreq->local_id,
	};

	send_to(cm, to, &drep);
}

static struct cm_msg
build_req(const struct cm *cm, const struct cm_connection *c)
{
	const struct cm_view *v = &c->view;
	const struct field_ip *ip = v->peer.ip.version == 4 ? &cm->params.ip : &cm->params.ip6;
	struct cm_ip header = {
		.ip_version = v->peer.ip.version,
		.sport = (uint16_t)(FIRST_SPORT + c->serial % 16384u),
	};
	struct cm_msg req = of(c, CM_REQ);

	req.guid = cm->params.guid;
	req.service_id = cm_ip_service(v->terms.port);
	req.qpn = v->own.qpn;
	req.psn = v->own.psn;
	req.responder_resources = v->own.responder_resources;
	req.initiator_depth = v->own.initiator_depth;
	req.rnr_retry = v->own.rnr_retry;
	req.remote_response_timeout = req.local_response_timeout = cm->params.response_timeout;
	req.max_retries = cm->params.max_retries;
	req.transport = CM_TRANSPORT_RC;
	req.retry_cnt = v->terms.retry_cnt;
	req.ack_timeout = v->terms.ack_timeout;
	req.mtu_code = v->terms.mtu_code;
	req.pkey = PKEY;
	req.local_lid = req.remote_lid = PERMISSIVE_LID;
	gid_of_ip(ip, req.local_gid);
	gid_of_ip(&v->peer.ip, req.remote_gid);
	req.hop_limit = HOP_LIMIT;
	req.packet_rate = PACKET_RATE_10G;
	memcpy(header.src_ip, ip->addr, sizeof(header.src_ip));
	memcpy(header.dst_ip, v->peer.ip.addr, sizeof(header.dst_ip));
	cm_ip_build(req.private_data, &header);
	return req;
}

static struct cm_msg
build_rep(const struct cm *cm, const struct cm_view *v, uint64_t transaction_id)
{
	return (struct cm_msg){
		.attribute = CM_REP,
		.transaction_id = transaction_id,
		.local_id = v->local_id,
		.remote_id = v->remote_id,
		.guid = cm->params.guid,
		.qpn = v->own.qpn,
		.psn = v->own.psn,
		.responder_resources = v->own.responder_resources,
		.initiator_depth = v->own.initiator_depth,
		.rnr_retry = v->own.rnr_retry,
		.ack_delay = v->terms.ack_timeout,
	};
}

/* ---- events and ends ---- */

static void
tell(struct cm *cm, struct cm_connection *c, enum cm_happened what)
{
	/* An end supersedes what happened before. */
	c->events = (uint8_t)((what == CM_ENDED ? 0 : c->events) | 1u << what);
	if (c->is_listed)
		return;
	c->is_listed = true;
	c->next_event = CM_NONE;
	if (cm->first_event == CM_NONE)
		cm->first_event = index_of(cm, c);
	else
		at(cm, cm->last_event)->next_event = index_of(cm, c);
	cm->last_event = index_of(cm, c);
}

static bool
has_ended(const struct cm_connection *c)
{
	return c->view.state == CM_FREE || c->view.state == CM_TIMEWAIT ||
	       c->view.state == CM_ENDING;
}

/* waits: packets of the connection may still be in the network. */
static void
end(struct cm *cm, struct cm_connection *c, enum cm_cause cause, bool waits, uint64_t now_ns)
{
	if (has_ended(c))
		return;
	c->cause = cause;
	set_state(cm, c, waits ? CM_TIMEWAIT : CM_ENDING);
	c->due_ns = NEVER_NS;
	if (waits)
		arm(cm, c, now_ns + timeout_ns(c->view.terms.ack_timeout));
	tell(cm, c, CM_ENDED);
}

static void
leave_timewait(struct cm *cm, struct cm_connection *c)
{
	c->due_ns = NEVER_NS;
	set_state(cm, c, CM_ENDING);
	if (!c->is_listed)
		give(cm, c);
}

static void
establish(struct cm *cm, struct cm_connection *c)
{
	counter_inc(&cm->stats->cm_connected);
	c->is_proven = true;
	set_state(cm, c, CM_ESTABLISHED);
	c->due_ns = NEVER_NS;
}

/* A peer may ask for less patience than ours, not for more: it could fill the table. */
static uint8_t
patience(const struct cm *cm, uint8_t peer_timeout)
{
	return (uint8_t)min_u64(max_u64(peer_timeout, SHORTEST_TIMEOUT),
				cm->params.response_timeout);
}

static void
disconnect(struct cm *cm, struct cm_connection *c, uint64_t now_ns)
{
	set_state(cm, c, CM_DREQ_SENT);
	c->transaction_id = new_transaction(cm);
	c->last = of(c, CM_DREQ);
	c->last.remote_qpn = c->view.other.qpn;
	ask(cm, c, patience(cm, c->peer_timeout), cm->params.max_retries, now_ns);
}

/*
 * A REQ or a REP says that the peer uses its QP, or its communication ID, for another connection
 * (12.9.8.3). It may be forged, so ask the peer: a DREQ of no QP. A peer that has forgotten the
 * connection answers with a DREP, one that has it drops the DREQ. If either gets lost,
 * the peer's next REQ asks again. The DREQ names both IDs, so it must go to the connection's peer
 * and not to who sent the REQ.
 */
static void
doubt(struct cm *cm, struct cm_connection *c)
{
	struct cm_msg dreq = of(c, CM_DREQ);

	dreq.transaction_id = new_transaction(cm);
	dreq.remote_qpn = NO_QPN;
	c->is_doubted = true;
	counter_inc(&cm->stats->cm_doubts);
	send_to(cm, &c->view.peer, &dreq);
}

/* ---- received messages ---- */

/* The connection that a message names by our ID and, once it is known, by the peer's. */
static struct cm_connection *
find(struct cm *cm, const struct cm_peer *from, const struct cm_msg *msg)
{
	struct cm_connection *c = named(cm, msg->remote_id);
	const struct cm_view *v = c == NULL ? NULL : &c->view;

	if (v == NULL || !cm_same_ip(&v->peer.ip, &from->ip))
		return NULL;
	/* To a REQ of ours, a peer may answer with a REJ without an ID of its own. */
	if (v->state != CM_REQ_SENT && msg->local_id != v->remote_id)
		return NULL;
	return c;
}

static void
drop_pending(struct cm *cm, struct cm_pending *p)
{
	at(cm, cm_slot(p->local_id))->promises--;
	cm_pending_drop(&cm->pendings, p);
}

/* The handshake without a connection that a message names by both IDs, or NULL. */
static struct cm_pending *
find_pending(struct cm *cm, const struct cm_peer *from, const struct cm_msg *msg)
{
	struct cm_pending *p = cm_pending_find(&cm->pendings, &from->ip, msg->local_id);

	return p != NULL && p->local_id == msg->remote_id ? p : NULL;
}

static void
on_same_req(struct cm *cm, struct cm_connection *c, const struct cm_msg *req)
{
	counter_inc(&cm->stats->cm_duplicates);
	if (c->view.state == CM_REQ_RCVD)
		send_mra(cm, c, CM_ABOUT_REQ);
	else if (c->view.state == CM_REP_SENT)
		send_to(cm, &c->view.peer, &c->last);
	else if (has_ended(c))
		refuse(cm, &c->view.peer, req, CM_ABOUT_REQ, CM_REASON_STALE_CONNECTION);
}

/* The reason to refuse a REQ, or 0. */
static enum cm_reason
fault_of(const struct cm_peer *from, const struct cm_msg *req)
{
	struct cm_ip ip;
	uint16_t port;

	if (!cm_ip_port(req->service_id, &port))
		return CM_REASON_INVALID_SERVICE_ID;
	if (req->transport != CM_TRANSPORT_RC)
		return CM_REASON_INVALID_TRANSPORT;
	if (cm_mtu_bytes(req->mtu_code) == 0)
		return CM_REASON_INVALID_MTU;
	/* The private data must begin with the addresses of annex A11. */
	if (!cm_ip_parse(req->private_data, &ip) || ip.ip_version != from->ip.version ||
	    memcmp(ip.src_ip, from->ip.addr, from->ip.version == 4 ? 4 : 16) != 0)
		return CM_REASON_CONSUMER;
	return (enum cm_reason)0;
}

/* What a REQ says, but for the connection's state and our end. */
static void
read_req(struct cm_view *v, const struct cm_peer *from, const struct cm_msg *req)
{
	v->peer = *from;
	v->remote_id = req->local_id;
	v->other = (struct cm_end){
		.qpn = req->qpn,
		.psn = req->psn,
		.responder_resources = req->responder_resources,
		.initiator_depth = req->initiator_depth,
		.rnr_retry = req->rnr_retry,
	};
	cm_ip_port(req->service_id, &v->terms.port);
	v->terms.mtu_code = req->mtu_code;
	v->terms.retry_cnt = req->retry_cnt;
	v->terms.ack_timeout = req->ack_timeout;
}

/* The table is nearly full: give up the oldest of some connections that only wait for their end. */
static void
make_room(struct cm *cm)
{
	struct cm_connection *oldest = NULL;

	for (uint32_t i = 0; i < LOOKED_AT; i++) {
		struct cm_connection *c = at(cm, cm->hand);

		cm->hand = (cm->hand + 1) % cm->table.n;
		if (c->view.state == CM_TIMEWAIT && (oldest == NULL || c->due_ns < oldest->due_ns))
			oldest = c;
	}
	if (oldest == NULL)
		return;
	counter_inc(&cm->stats->cm_evicted);
	leave_timewait(cm, oldest);
}

static struct cm_view
view_of(const struct cm_pending *p)
{
	return (struct cm_view){
		.peer = p->peer,
		.own = p->own,
		.other = p->other,
		.terms = p->terms,
		.local_id = p->local_id,
		.remote_id = p->remote_id,
	};
}

static void
send_rep_of(struct cm *cm, const struct cm_pending *p)
{
	const struct cm_view v = view_of(p);
	const struct cm_msg rep = build_rep(cm, &v, p->transaction_id);

	send_to(cm, &p->peer, &rep);
}

/* A peer believes in a connection that cannot be made. */
static void
send_dreq_of(struct cm *cm, const struct cm_pending *p)
{
	const struct cm_msg dreq = {
		.attribute = CM_DREQ,
		.transaction_id = new_transaction(cm),
		.local_id = p->local_id,
		.remote_id = p->remote_id,
		.remote_qpn = p->other.qpn,
	};

	send_to(cm, &p->peer, &dreq);
}

static void
refuse_full(struct cm *cm, const struct cm_peer *from, const struct cm_msg *req)
{
	counter_inc(&cm->stats->cm_drop_full);
	refuse(cm, from, req, CM_ABOUT_REQ, CM_REASON_NO_RESOURCES);
}

/*
 * Many peers have not answered their REP: this one gets its REP without a connection. A REQ costs
 * its sender nothing, not even an address of its own.
 */
static void
answer_without_connection(struct cm *cm, const struct cm_peer *from, const struct cm_msg *req,
			  uint64_t now_ns)
{
	struct cm_view v = {0};
	struct cm_pending *p;
	enum cm_reason fault;
	uint32_t slot;

	read_req(&v, from, req);
	fault = cm->ops.offer(cm->arg, &v, &v.own);
	if (fault != 0) {
		refuse(cm, from, req, CM_ABOUT_REQ, fault);
		return;
	}
	slot = cm_table_free_slot(&cm->table, cm->next_slot);
	if (slot == CM_NONE) {
		refuse_full(cm, from, req);
		return;
	}
	/* Others get other slots, while there are some: the first one that answers takes it. */
	cm->next_slot = slot + 1;
	p = cm_pending_place(&cm->pendings, &from->ip, req->local_id);
	if (p->number != 0) {
		counter_inc(&cm->stats->cm_evicted);
		drop_pending(cm, p);
	}
	cm_pending_take(&cm->pendings, p);
	p->remote_id = req->local_id;
	p->transaction_id = req->transaction_id;
	p->local_id = cm_table_next_id(&cm->table, slot);
	at(cm, slot)->promises++;
	p->peer = *from;
	p->own = v.own;
	p->other = v.other;
	p->terms = v.terms;
	p->peer_retries = req->max_retries;
	p->peer_timeout = req->local_response_timeout;
	p->most_repeats = (uint8_t)min_u64(PENDING_RETRIES,
					   min_u64(req->max_retries, cm->params.max_retries));
	p->due_ns = now_ns + timeout_ns(patience(cm, p->peer_timeout));
	cm->pending_ns = min_u64(cm->pending_ns, now_ns + PENDING_INTERVAL_NS);
	send_rep_of(cm, p);
}

static bool
is_overdue(const struct cm_pending *p, uint64_t now_ns)
{
	return p->number != 0 && p->due_ns <= now_ns;
}

/* Its RTU may be lost. */
static void
repeat_rep_of(struct cm *cm, struct cm_pending *p, uint64_t now_ns)
{
	p->repeats++;
	p->due_ns = now_ns + timeout_ns(patience(cm, p->peer_timeout));
	counter_inc(&cm->stats->cm_retries);
	send_rep_of(cm, p);
}

/*
 * The first repetition of a REP comes before the later ones of others: an honest peer that has lost
 * its RTU needs one, and those that never answer would use up all.
 */
static void
repeat_reps(struct cm *cm, uint64_t now_ns)
{
	struct cm_pending *later[PENDING_REPEATS];
	unsigned int left = PENDING_REPEATS, n_later = 0;

	if (now_ns < cm->pending_ns)
		return;
	for (unsigned int i = 0; i < PENDING_LOOKED_AT && left > 0; i++) {
		struct cm_pending *p = cm_pending_next(&cm->pendings);

		if (!is_overdue(p, now_ns))
			continue;
		if (p->repeats >= p->most_repeats) {
			drop_pending(cm, p);
		} else if (p->repeats == 0) {
			repeat_rep_of(cm, p, now_ns);
			left--;
		} else if (n_later < PENDING_REPEATS) {
			later[n_later++] = p;
		}
	}
	for (unsigned int i = 0; i < n_later && left > 0; i++, left--)
		repeat_rep_of(cm, later[i], now_ns);
	cm->pending_ns = cm->pendings.used == 0 ? NEVER_NS : now_ns + PENDING_INTERVAL_NS;
}

/* @return false: there is no room in the chains. */
static bool
enter_chains(struct cm *cm, const struct cm_connection *c)
{
	return cm_table_enter_id(&cm->table, index_of(cm, c)) &&
	       cm_table_enter_qpn(&cm->table, index_of(cm, c));
}

/* Of two connections with one QP or ID, one that the peer answered replaces one without RTU. */
static bool
gives_way(struct cm *cm, uint32_t slot, uint64_t now_ns)
{
	if (slot == CM_NONE)
		return true;
	if (!is_unproven(at(cm, slot)))
		return false;
	counter_inc(&cm->stats->cm_evicted);
	if (at(cm, slot)->view.state == CM_TIMEWAIT)
		leave_timewait(cm, at(cm, slot));
	else
		end(cm, at(cm, slot), CM_BY_STALE, false, now_ns);
	return true;
}

/* The peer has answered its REP: now it gets a connection. */
static void
promote(struct cm *cm, struct cm_pending *p, uint64_t now_ns)
{
	const struct field_ip *ip = &p->peer.ip;
	struct cm_connection *c = at(cm, cm_slot(p->local_id));
	bool good = gives_way(cm, cm_table_by_remote_qpn(&cm->table, ip, p->other.qpn), now_ns) &&
		    gives_way(cm, cm_table_by_remote_id(&cm->table, ip, p->remote_id), now_ns) &&
		    cm_table_take_slot(&cm->table, p->local_id);

	if (good) {
		c->view = view_of(p);
		c->transaction_id = p->transaction_id;
		c->peer_retries = p->peer_retries;
		c->peer_timeout = p->peer_timeout;
		c->last = build_rep(cm, &c->view, c->transaction_id);
		good = enter_chains(cm, c);
		if (!good)
			give(cm, c);
	}
	if (good) {
		c->is_proven = true;
		set_state(cm, c, CM_RTU_RCVD);
		tell(cm, c, CM_REQUESTED);
	} else {
		counter_inc(&cm->stats->cm_drop_full);
		send_dreq_of(cm, p);
	}
	drop_pending(cm, p);
}

/* A REQ that makes a connection. */
static void
begin(struct cm *cm, const struct cm_peer *from, const struct cm_msg *req)
{
	uint32_t i = cm_table_take(&cm->table);
	struct cm_connection *c;

	if (i == CM_NONE) {
		refuse_full(cm, from, req);
		return;
	}
	c = at(cm, i);
	read_req(&c->view, from, req);
	c->transaction_id = req->transaction_id;
	c->peer_retries = req->max_retries;
	c->peer_timeout = req->local_response_timeout;
	if (!enter_chains(cm, c)) {
		give(cm, c);
		refuse_full(cm, from, req);
		return;
	}
	set_state(cm, c, CM_REQ_RCVD);
	tell(cm, c, CM_REQUESTED);
}

static void
on_req(struct cm *cm, const struct cm_peer *from, const struct cm_msg *req, uint64_t now_ns)
{
	enum cm_reason fault = fault_of(from, req);
	uint32_t same = cm_table_by_remote_id(&cm->table, &from->ip, req->local_id);
	struct cm_connection *c = same == CM_NONE ? NULL : at(cm, same);
	struct cm_pending *p;

	if (c != NULL && c->transaction_id == req->transaction_id &&
	    c->view.other.qpn == req->qpn && !c->view.active) {
		on_same_req(cm, c, req);
		return;
	}
	if (fault == 0 && c == NULL) {
		same = cm_table_by_remote_qpn(&cm->table, &from->ip, req->qpn);
		c = same == CM_NONE ? NULL : at(cm, same);
	}
	if (fault == 0 && c != NULL && c->view.state == CM_ESTABLISHED) {
		doubt(cm, c);
		return;
	}
	if (fault == 0 && c != NULL && c->view.state == CM_TIMEWAIT && c->cause == CM_BY_STALE) {
		/* It has restarted: its next REQ finds no connection. */
		counter_inc(&cm->stats->cm_drop_unexpected);
		return;
	}
	if (fault == 0 && c != NULL && !is_unproven(c))
		fault = CM_REASON_STALE_CONNECTION;
	if (fault != 0) {
		refuse(cm, from, req, CM_ABOUT_REQ, fault);
		return;
	}
	p = cm_pending_find(&cm->pendings, &from->ip, req->local_id);
	if (p != NULL && p->transaction_id == req->transaction_id && p->other.qpn == req->qpn) {
		counter_inc(&cm->stats->cm_duplicates);
		send_rep_of(cm, p);
		return;
	}
	if (p != NULL)
		drop_pending(cm, p);
	if (cm->table.used >= cm->table.n - cm->table.n / SPARE)
		make_room(cm);
	/* Of two REQs with one QP or ID, the one with an RTU has the connection. */
	if (c != NULL || cm->half_open >= max_u64(cm->table.n / HALF_OPEN, 1))
		answer_without_connection(cm, from, req, now_ns);
	else
		begin(cm, from, req);
}

/* The first REP of a connection. */
static void
on_first_rep(struct cm *cm, struct cm_connection *c, const struct cm_msg *rep, uint64_t now_ns)
{
	struct cm_view *v = &c->view;
	uint32_t stale = cm_table_by_remote_qpn(&cm->table, &v->peer.ip, rep->qpn);

	v->remote_id = rep->local_id;
	c->transaction_id = rep->transaction_id;
	if (!gives_way(cm, stale, now_ns)) {
		if (at(cm, stale)->view.state == CM_ESTABLISHED)
			doubt(cm, at(cm, stale));
		send_reject(cm, &v->peer, of(c, CM_REJ), CM_ABOUT_REP, CM_REASON_STALE_CONNECTION);
		end(cm, c, CM_BY_STALE, false, now_ns);
		return;
	}
	v->other = (struct cm_end){
		.qpn = rep->qpn,
		.psn = rep->psn,
		.responder_resources = rep->responder_resources,
		.initiator_depth = rep->initiator_depth,
		.rnr_retry = rep->rnr_retry,
	};
	if (!enter_chains(cm, c)) {
		counter_inc(&cm->stats->cm_drop_full);
		send_reject(cm, &v->peer, of(c, CM_REJ), CM_ABOUT_REP, CM_REASON_NO_RESOURCES);
		c->reason = CM_REASON_NO_RESOURCES;
		end(cm, c, CM_BY_REJECT, false, now_ns);
		return;
	}
	set_state(cm, c, CM_REP_RCVD);
	c->due_ns = NEVER_NS;
	tell(cm, c, CM_REPLIED);
}

static void
on_rep(struct cm *cm, const struct cm_peer *from, const struct cm_msg *rep, uint64_t now_ns)
{
	struct cm_connection *c = find(cm, from, rep);

	if (c == NULL || !c->view.active || has_ended(c)) {
		counter_inc(&cm->stats->cm_drop_unknown);
		refuse(cm, from, rep, CM_ABOUT_REP, CM_REASON_INVALID_COMM_ID);
	} else if (c->view.state == CM_REQ_SENT) {
		on_first_rep(cm, c, rep, now_ns);
	} else if (c->view.state == CM_REP_RCVD) {
		counter_inc(&cm->stats->cm_duplicates);
		send_mra(cm, c, CM_ABOUT_REP);
	} else if (c->view.state == CM_ESTABLISHED) {
		/* Our RTU was lost. */
		counter_inc(&cm->stats->cm_duplicates);
		send_to(cm, &c->view.peer, &c->last);
	} else {
		counter_inc(&cm->stats->cm_drop_unexpected);
	}
}

static void
on_rtu(struct cm *cm, const struct cm_peer *from, const struct cm_msg *rtu, uint64_t now_ns)
{
	struct cm_connection *c = find(cm, from, rtu);
	struct cm_pending *p = c == NULL ? find_pending(cm, from, rtu) : NULL;

	if (p != NULL) {
		promote(cm, p, now_ns);
	} else if (c == NULL) {
		counter_inc(&cm->stats->cm_drop_unknown);
	} else if (c->view.state == CM_REP_SENT) {
		establish(cm, c);
		tell(cm, c, CM_CONNECTED);
	} else if (c->view.state == CM_RTU_RCVD ||
		   (c->view.state == CM_ESTABLISHED && !c->view.active)) {
		counter_inc(&cm->stats->cm_duplicates);
	} else {
		counter_inc(&cm->stats->cm_drop_unexpected);
	}
}

static void
on_rej(struct cm *cm, const struct cm_peer *from, const struct cm_msg *rej, uint64_t now_ns)
{
	struct cm_connection *c = find(cm, from, rej);
	struct cm_pending *p = c == NULL ? find_pending(cm, from, rej) : NULL;
	uint32_t i = CM_NONE;

	/*
	 * A peer that has waited in vain for our REP does not know our ID. Its REJ has the
	 * transaction of its REQ.
	 */
	if (c == NULL && rej->reason == CM_REASON_TIMEOUT && rej->remote_id == 0)
		i = cm_table_by_remote_id(&cm->table, &from->ip, rej->local_id);
	if (i != CM_NONE && is_half_open(at(cm, i)->view.state) &&
	    at(cm, i)->transaction_id == rej->transaction_id)
		c = at(cm, i);
	if (p != NULL) {
		counter_inc(&cm->stats->cm_rejects_received);
		drop_pending(cm, p);
	} else if (c == NULL) {
		counter_inc(&cm->stats->cm_drop_unknown);
	} else if (has_ended(c)) {
		counter_inc(&cm->stats->cm_drop_unexpected);
	} else {
		bool waits = c->view.state != CM_REQ_SENT && c->view.state != CM_REQ_RCVD;
		bool ours = c->view.state == CM_DREQ_SENT;

		counter_inc(&cm->stats->cm_rejects_received);
		c->reason = rej->reason;
		end(cm, c, ours ? CM_BY_US : CM_BY_REJECT, waits, now_ns);
	}
}

/*
 * The peer needs more time. That costs one of the retries: a peer cannot ask for more without end.
 */
static void
on_mra(struct cm *cm, const struct cm_peer *from, const struct cm_msg *mra, uint64_t now_ns)
{
	struct cm_connection *c = find(cm, from, mra);

	if (c == NULL) {
		counter_inc(&cm->stats->cm_drop_unknown);
	} else if (c->retries_left > 0 &&
		   ((c->view.state == CM_REQ_SENT && mra->about == CM_ABOUT_REQ) ||
		    (c->view.state == CM_REP_SENT && mra->about == CM_ABOUT_REP))) {
		c->retries_left--;
		arm(cm, c,
		    now_ns + timeout_ns(c->answer_timeout) + timeout_ns(mra->service_timeout));
	} else {
		counter_inc(&cm->stats->cm_drop_unexpected);
	}
}

static void
on_dreq(struct cm *cm, const struct cm_peer *from, const struct cm_msg *dreq, uint64_t now_ns)
{
	struct cm_connection *c = find(cm, from, dreq);
	struct cm_pending *p = c == NULL ? find_pending(cm, from, dreq) : NULL;

	if (p != NULL && p->own.qpn == dreq->remote_qpn)
		drop_pending(cm, p);
	if (c == NULL) {
		/* We have forgotten the connection: let the peer forget it too. */
		counter_inc(&cm->stats->cm_drop_unknown);
		send_drep(cm, from, dreq);
	} else if (dreq->remote_qpn != c->view.own.qpn || c->view.state == CM_REQ_SENT ||
		   c->view.state == CM_REQ_RCVD || c->view.state == CM_ENDING) {
		counter_inc(&cm->stats->cm_drop_unexpected);
	} else {
		if (has_ended(c))
			counter_inc(&cm->stats->cm_duplicates);
		send_drep(cm, &c->view.peer, dreq);
		end(cm, c, c->view.state == CM_DREQ_SENT ? CM_BY_US : CM_BY_PEER, true, now_ns);
	}
}

static void
on_drep(struct cm *cm, const struct cm_peer *from, const struct cm_msg *drep, uint64_t now_ns)
{
	struct cm_connection *c = find(cm, from, drep);

	if (c == NULL) {
		counter_inc(&cm->stats->cm_drop_unknown);
	} else if (c->view.state == CM_DREQ_SENT) {
		end(cm, c, CM_BY_US, true, now_ns);
	} else if (c->view.state == CM_ESTABLISHED && c->is_doubted) {
		counter_inc(&cm->stats->cm_stale);
		end(cm, c, CM_BY_STALE, true, now_ns);
	} else {
		counter_inc(&cm->stats->cm_drop_unexpected);
	}
}

void
cm_on_message(struct cm *cm, const struct cm_peer *from, enum cm_verdict verdict,
	      const struct cm_msg *msg, uint64_t now_ns)
{
	counter_inc(&cm->stats->cm_messages_received);
	if (verdict == CM_MALFORMED) {
		counter_inc(&cm->stats->cm_drop_malformed);
	} else if (verdict != CM_OK) {
		counter_inc(&cm->stats->cm_drop_unsupported);
		if (verdict == CM_OTHER_VERSION)
			refuse(cm, from, msg, CM_ABOUT_REQ, CM_REASON_INVALID_CLASS_VERSION);
	} else if (msg->attribute == CM_REQ) {
		on_req(cm, from, msg, now_ns);
	} else if (msg->attribute == CM_REP) {
		on_rep(cm, from, msg, now_ns);
	} else if (msg->attribute == CM_RTU) {
		on_rtu(cm, from, msg, now_ns);
	} else if (msg->attribute == CM_REJ) {
		on_rej(cm, from, msg, now_ns);
	} else if (msg->attribute == CM_MRA) {
		on_mra(cm, from, msg, now_ns);
	} else if (msg->attribute == CM_DREQ) {
		on_dreq(cm, from, msg, now_ns);
	} else {
		on_drep(cm, from, msg, now_ns);
	}
}

/* ---- the caller's decisions ---- */

uint32_t
cm_connect(struct cm *cm, const struct cm_peer *to, const struct cm_terms *terms,
	   const struct cm_end *own, uint64_t now_ns)
{
	uint32_t i = cm_table_take(&cm->table);
	struct cm_connection *c;

	if (i == CM_NONE)
		return CM_NONE;
	c = at(cm, i);
	set_state(cm, c, CM_REQ_SENT);
	c->view.active = true;
	c->view.peer = *to;
	c->view.terms = *terms;
	c->view.own = *own;
	c->peer_timeout = cm->params.response_timeout;
	c->transaction_id = new_transaction(cm);
	c->last = build_req(cm, c);
	c->resolve_until_ns =
		now_ns + (cm->params.max_retries + 1u) * timeout_ns(cm->params.response_timeout);
	ask(cm, c, cm->params.response_timeout, cm->params.max_retries, now_ns);
	return c->view.local_id;
}

void
cm_accept(struct cm *cm, uint32_t id, const struct cm_end *own, uint64_t now_ns)
{
	struct cm_connection *c = named(cm, id);

	if (c == NULL)
		return;
	if (c->view.state == CM_RTU_RCVD) {
		establish(cm, c);
		tell(cm, c, CM_CONNECTED);
	}
	if (c->view.state != CM_REQ_RCVD)
		return;
	c->view.own = *own;
	set_state(cm, c, CM_REP_SENT);
	c->last = build_rep(cm, &c->view, c->transaction_id);
	ask(cm, c, patience(cm, c->peer_timeout),
	    (uint8_t)min_u64(c->peer_retries, cm->params.max_retries), now_ns);
}

void
cm_reject(struct cm *cm, uint32_t id, enum cm_reason reason, uint64_t now_ns)
{
	struct cm_connection *c = named(cm, id);
	bool replied = c != NULL && c->view.state == CM_REP_RCVD;

	if (c != NULL && c->view.state == CM_RTU_RCVD)
		disconnect(cm, c, now_ns);
	if (c == NULL || (c->view.state != CM_REQ_RCVD && !replied))
		return;
	send_reject(cm, &c->view.peer, of(c, CM_REJ), replied ? CM_ABOUT_REP : CM_ABOUT_REQ,
		    reason);
	give(cm, c);
}

void
cm_ready(struct cm *cm, uint32_t id)
{
	struct cm_connection *c = named(cm, id);

	if (c == NULL || c->view.state != CM_REP_RCVD)
		return;
	establish(cm, c);
	c->last = of(c, CM_RTU);
	send_to(cm, &c->view.peer, &c->last);
}

void
cm_on_packet(struct cm *cm, uint32_t id)
{
	struct cm_connection *c = named(cm, id);

	if (c == NULL || c->view.state != CM_REP_SENT)
		return;
	establish(cm, c);
	tell(cm, c, CM_CONNECTED);
}

void
cm_disconnect(struct cm *cm, uint32_t id, uint64_t now_ns)
{
	struct cm_connection *c = named(cm, id);
	const struct cm_peer *peer;

	if (c == NULL)
		return;
	peer = &c->view.peer;
	switch (c->view.state) {
	case CM_ESTABLISHED:
	case CM_REP_SENT:
	case CM_RTU_RCVD:
		disconnect(cm, c, now_ns);
		break;
	case CM_REQ_SENT:
		send_reject(cm, peer, of(c, CM_REJ), CM_ABOUT_REQ, CM_REASON_TIMEOUT);
		end(cm, c, CM_BY_US, false, now_ns);
		break;
	case CM_REQ_RCVD:
		send_reject(cm, peer, of(c, CM_REJ), CM_ABOUT_REQ, CM_REASON_CONSUMER);
		end(cm, c, CM_BY_US, false, now_ns);
		break;
	case CM_REP_RCVD:
		send_reject(cm, peer, of(c, CM_REJ), CM_ABOUT_REP, CM_REASON_CONSUMER);
		end(cm, c, CM_BY_US, true, now_ns);
		break;
	default:
		break;
	}
}

uint32_t
cm_disconnect_all(struct cm *cm, uint64_t now_ns)
{
	uint32_t waiting = 0;

	for (uint32_t i = 0; i < cm->table.n; i++) {
		struct cm_connection *c = at(cm, i);

		if (c->view.state != CM_FREE)
			cm_disconnect(cm, c->view.local_id, now_ns);
		waiting += c->view.state == CM_DREQ_SENT;
	}
	return waiting;
}

void
cm_on_unresolved(struct cm *cm, uint32_t local_id, uint64_t now_ns)
{
	struct cm_connection *c = named(cm, local_id);

	if (c == NULL || c->view.state != CM_REQ_SENT || now_ns >= c->resolve_until_ns)
		return;
	/* The attempt does not count. */
	c->is_unresolved = true;
	arm(cm, c, now_ns + UNRESOLVED_NS);
}

/* ---- timers ---- */

static void
give_up(struct cm *cm, struct cm_connection *c, uint64_t now_ns)
{
	bool req = c->view.state == CM_REQ_SENT;

	counter_inc(&cm->stats->cm_timeouts);
	/* 12.9.8.2: let the peer forget the connection, if only our messages reach it. */
	if (c->view.state != CM_DREQ_SENT)
		send_reject(cm, &c->view.peer, of(c, CM_REJ), req ? CM_ABOUT_REQ : CM_ABOUT_REP,
			    CM_REASON_TIMEOUT);
	end(cm, c, c->view.state == CM_DREQ_SENT ? CM_BY_US : CM_BY_TIMEOUT, !req, now_ns);
}

static void
on_due(struct cm *cm, struct cm_connection *c, uint64_t now_ns)
{
	c->due_ns = NEVER_NS;
	if (c->view.state == CM_TIMEWAIT) {
		leave_timewait(cm, c);
		return;
	}
	if (!c->is_unresolved && c->retries_left == 0) {
		give_up(cm, c, now_ns);
		return;
	}
	if (!c->is_unresolved) {
		c->retries_left--;
		counter_inc(&cm->stats->cm_retries);
	}
	c->is_unresolved = false;
	arm(cm, c, now_ns + timeout_ns(c->answer_timeout));
	send_to(cm, &c->view.peer, &c->last);
}

void
cm_run(struct cm *cm, uint64_t now_ns)
{
	uint64_t next_ns = NEVER_NS;

	repeat_reps(cm, now_ns);
	if (now_ns < cm->next_ns)
		return;
	for (uint32_t i = 0; i < cm->table.n; i++) {
		struct cm_connection *c = at(cm, i);

		if (c->due_ns <= now_ns)
			on_due(cm, c, now_ns);
		next_ns = min_u64(next_ns, c->due_ns);
	}
	cm->next_ns = next_ns;
}

uint64_t
cm_next_ns(const struct cm *cm)
{
	return min_u64(cm->next_ns, cm->pending_ns);
}

bool
cm_next_event(struct cm *cm, struct cm_event *out)
{
	uint32_t i = cm->first_event;
	struct cm_connection *c;

	if (i == CM_NONE)
		return false;
	c = at(cm, i);
	*out = (struct cm_event){
		.id = c->view.local_id,
		.what = (enum cm_happened)__builtin_ctz(c->events),
		.cause = c->cause,
		.reason = c->reason,
	};
	c->events &= (uint8_t)(c->events - 1);
	if (c->events != 0)
		return true;
	cm->first_event = c->next_event;
	c->is_listed = false;
	if (c->view.state == CM_ENDING)
		give(cm, c);
	return true;
}

bool
cm_read(const struct cm *cm, uint32_t id, struct cm_view *out)
{
	const struct cm_connection *c = named(cm, id);

	if (c == NULL)
		return false;
	*out = c->view;
	return true;
}

uint32_t
cm_count(const struct cm *cm)
{
	return cm->table.used;
}
