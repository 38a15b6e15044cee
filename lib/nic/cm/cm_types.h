/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection: its ends, its terms and its state. */
#ifndef QUENCH_NIC_CM_CM_TYPES_H
#define QUENCH_NIC_CM_CM_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/field/field.h"

/*
 * A connection's name here and at the peer: its communication ID (12.6). It has the number of the
 * connection's slot in its low bits, and is not used again before 2^20 other connections had the
 * slot, so that a name that is out of date names nothing.
 */
#define CM_SLOT_BITS 12u
#define CM_SLOT_MASK ((1u << CM_SLOT_BITS) - 1)
#define CM_NONE UINT32_MAX
/* CM_NONE is none of theirs. */
#define CM_MAX_CONNECTIONS CM_SLOT_MASK

/** Number of the slot, for arrays beside the connection manager. */
static inline uint32_t
cm_slot(uint32_t id)
{
	return id & CM_SLOT_MASK;
}

/* The other end's CM, and the way to it. */
struct cm_peer {
	struct field_ip ip;
	uint8_t mac[6]; /* zero: unknown */
	bool tagged;
	uint16_t vlan_tci;
};

static inline bool
cm_same_ip(const struct field_ip *a, const struct field_ip *b)
{
	return a->version == b->version && memcmp(a->addr, b->addr, a->version == 4 ? 4 : 16) == 0;
}

/* What one end says about its QP. */
struct cm_end {
	uint32_t qpn;
	uint32_t psn; /* at which the other end begins to send (12.7.31) */
	uint8_t responder_resources, initiator_depth; /* READs served, and outstanding */
	uint8_t rnr_retry;                            /* that the other end shall use */
};

/* What a REQ says about the connection. */
struct cm_terms {
	uint16_t port;
	uint8_t mtu_code;
	uint8_t retry_cnt, ack_timeout; /* of both ends */
};

enum cm_state {
	CM_FREE,
	CM_REQ_SENT,
	CM_REP_RCVD, /* the caller makes the QP */
	CM_REQ_RCVD, /* the caller decides */
	CM_REP_SENT,
	CM_RTU_RCVD, /* to a REP without a QP: the caller makes it */
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_TIMEWAIT,
	CM_ENDING, /* has ended without TIMEWAIT: free when its event has been taken */
};

enum cm_cause {
	CM_BY_US,
	CM_BY_PEER,
	CM_BY_REJECT, /* `reason` */
	CM_BY_TIMEOUT,
	CM_BY_STALE, /* the peer uses its QP for another connection */
};

/* A connection, as others may read it. */
struct cm_view {
	enum cm_state state;
	bool active; /* we sent the REQ */
	struct cm_peer peer;
	struct cm_end own, other;
	struct cm_terms terms;
	uint32_t local_id, remote_id;
};

#endif
