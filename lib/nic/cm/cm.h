/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection manager: opens and closes reliable connections by the messages of IBTA volume 1,
 * chapter 12, over the RDMA IP CM service (annex A11). A state machine per connection takes parsed
 * messages and times; it yields messages, through a function of the caller, and events. It knows
 * neither packets nor QPs: the caller makes a QP when an event asks for it, and says when it is
 * ready.
 *
 *   active:  cm_connect() -> REQ; REP arrives: CM_REPLIED; cm_ready() -> RTU
 *   passive: REQ arrives: CM_REQUESTED; cm_accept() -> REP, or cm_reject() -> REJ; RTU arrives:
 *            CM_CONNECTED
 *   passive, in a flood of REQs: REQ arrives: ops.offer() -> REP; RTU arrives: CM_REQUESTED;
 *            cm_accept(): CM_CONNECTED
 *   both:    cm_disconnect() -> DREQ, or a DREQ arrives -> DREP; CM_ENDED
 *
 * A message without an answer is sent again, max_retries times; a message that arrives again gets
 * the same answer again (12.9.8). After its end, a connection waits (TIMEWAIT) until no packet of
 * it can be in the network; until then it answers DREQs, and refuses a REQ with its numbers as
 * stale.
 *
 * Bounds: max_connections connections; a connection has at most one message waiting for an answer;
 * a refusal needs no state. At most 1/8 of the connections have no RTU yet; beyond them, a REQ
 * costs an entry of a table in which later ones displace it (cm_pending.h), and at most four REPs;
 * all such entries repeat 4000 REPs a second at most, the first repetition of each before the later
 * ones of others. From 7/8 of the connections on, each REQ gives up the oldest of some that are in
 * TIMEWAIT. Peers look connections up by keyed hashes with bounded chains, and the IDs and
 * transactions that they see tell nothing about others.
 *
 * A message about a connection must name both IDs, once both are known. A REQ with the numbers of
 * an established one does not end it, since it may be forged: it costs one message, by which the
 * peer says if it has forgotten the connection. Then the connection ends, and a later REQ is
 * served. 12.9.8.3.1 wants a REJ and a DREQ at once, and gives each stranger the power to end
 * connections.
 *
 * Invariant (tested): whatever is lost, repeated or reordered, both ends of a connection end up
 * established or both ended, and each cm_connect() is answered by CM_REPLIED or CM_ENDED within
 * (max_retries + 1) timeouts.
 */
#ifndef QUENCH_NIC_CM_CM_H
#define QUENCH_NIC_CM_CM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "base/numbers/half_sip.h"
#include "nic/cm/cm_types.h"
#include "wire/mad/cm_msg.h"

struct cm_params {
	uint32_t max_connections;
	uint8_t response_timeout; /* within which we, and our peers, answer: 4.096 us x 2^n */
	uint8_t max_retries;
	struct field_ip ip, ip6; /* our own; version 0: none */
	uint64_t guid;
	struct half_sip_key key;
};

struct cm_stats {
	uint64_t cm_messages_sent, cm_messages_received;
	uint64_t cm_retries;    /* messages sent again for want of an answer */
	uint64_t cm_duplicates; /* messages received again */
	uint64_t cm_connected;  /* connections established */
	uint64_t cm_rejects_sent, cm_rejects_received;
	uint64_t cm_timeouts; /* connections that ended because the peer did not answer */
	uint64_t cm_stale;    /* connections whose peer had forgotten them */
	uint64_t cm_doubts;   /* REQs and REPs with the numbers of an established connection */
	uint64_t cm_evicted;  /* handshakes and TIMEWAITs given up for new REQs */
	/* messages dropped */
	uint64_t cm_drop_malformed, cm_drop_unsupported, cm_drop_unknown, cm_drop_unexpected,
		cm_drop_full, cm_drop_unsent;
};

extern const char *const cm_state_words[]; /* by enum cm_state */

enum cm_happened { CM_REQUESTED, CM_REPLIED, CM_CONNECTED, CM_ENDED };

struct cm_event {
	uint32_t id;
	enum cm_happened what;
	enum cm_cause cause; /* of CM_ENDED */
	uint16_t reason;     /* of CM_BY_REJECT: enum cm_reason */
};

struct cm;

/* Functions of the caller. */
struct cm_ops {
	/* Sends a message; it may be lost. */
	void (*send)(void *arg, const struct cm_peer *to, const struct cm_msg *msg);
	/*
	 * A REQ has come while many peers have not answered their REP: who would serve it? The
	 * answer must not cost more than a look. @return 0, with the QP number and the PSN that a
	 * QP would have; or the reason to refuse it.
	 */
	enum cm_reason (*offer)(void *arg, const struct cm_view *v, struct cm_end *own);
};

/** @return a connection manager, or NULL: out of memory. stats: one writer, the caller's thread. */
struct cm *cm_create(const struct cm_params *params, struct cm_stats *stats,
		     const struct cm_ops *ops, void *arg);
void cm_destroy(struct cm *cm);

/** A message arrived: what cm_msg_parse() returned, and its result. */
void cm_on_message(struct cm *cm, const struct cm_peer *from, enum cm_verdict verdict,
		   const struct cm_msg *msg, uint64_t now_ns);

/**
 * Begin a connection: sends a REQ.
 * @return its ID, or CM_NONE: there are max_connections.
 */
uint32_t cm_connect(struct cm *cm, const struct cm_peer *to, const struct cm_terms *terms,
		    const struct cm_end *own, uint64_t now_ns);
/* Calls with the ID of a connection that is no more, or in another state, do nothing. */

/**
 * After CM_REQUESTED: the QP can receive. Sends a REP. If the view has a QP number of our own, from
 * ops.offer(), the peer has its REP and has answered it: CM_CONNECTED follows.
 */
void cm_accept(struct cm *cm, uint32_t id, const struct cm_end *own, uint64_t now_ns);
/**
 * After CM_REQUESTED or CM_REPLIED: sends a REJ. CM_ENDED does not follow; but if the peer has its
 * REP, a DREQ leaves, and CM_ENDED follows.
 */
void cm_reject(struct cm *cm, uint32_t id, enum cm_reason reason, uint64_t now_ns);
/** After CM_REPLIED: the QP can receive and send. Sends an RTU. */
void cm_ready(struct cm *cm, uint32_t id);
/** A packet arrived on the QP of an accepted connection, so an RTU is not needed (12.9.7.2). */
void cm_on_packet(struct cm *cm, uint32_t id);
/** End a connection, in any state: sends a DREQ if it may be established. CM_ENDED follows. */
void cm_disconnect(struct cm *cm, uint32_t id, uint64_t now_ns);
/**
 * cm_disconnect() of all connections.
 * @return how many wait for the peer's answer.
 */
uint32_t cm_disconnect_all(struct cm *cm, uint64_t now_ns);
/** The last message could not leave, because the MAC address of its peer is not known yet. */
void cm_on_unresolved(struct cm *cm, uint32_t local_id, uint64_t now_ns);

/** Do what is due. */
void cm_run(struct cm *cm, uint64_t now_ns);
/** When cm_run() next has something to do. */
uint64_t cm_next_ns(const struct cm *cm);

/**
 * Take the next event.
 * @return false: none.
 */
bool cm_next_event(struct cm *cm, struct cm_event *out);

/** @return false: no such connection. */
bool cm_read(const struct cm *cm, uint32_t id, struct cm_view *out);
/** Connections that are not free. */
uint32_t cm_count(const struct cm *cm);

#endif
