/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of a connection manager, and two hashes to find them: by the peer's communication
 * ID, and by the peer's QP.
 *
 * Invariant: a connection is in the chain of its remote_id while is_by_id, and in that of its
 * peer's QP while is_by_qpn; no chain is longer than CM_CHAIN.
 */
#ifndef QUENCH_NIC_CM_CM_TABLE_H
#define QUENCH_NIC_CM_CM_TABLE_H

#include "base/numbers/half_sip.h"
#include "nic/cm/cm_types.h"
#include "wire/mad/cm_msg.h"

/* Longest chain. With a keyed hash and as many chains as connections, one of 16 is unheard of. */
#define CM_CHAIN 16u

struct cm_connection {
	struct cm_view view;
	struct cm_msg last; /* message that waits for an answer, or is repeated as one */
	uint64_t transaction_id;
	uint64_t due_ns;        /* NEVER_NS: nothing is due */
	uint8_t answer_timeout; /* of `last` */
	uint8_t retries_left;
	uint8_t peer_retries; /* of our REP, from the REQ */
	uint8_t peer_timeout; /* time in which the peer answers */
	uint8_t events;       /* mask of enum cm_happened */
	enum cm_cause cause;
	uint16_t reason;
	uint32_t serial;   /* of the IDs that the slot had */
	uint32_t promises; /* handshakes without a connection that have an ID of the slot */
	bool is_by_id, is_by_qpn, is_listed;
	bool is_proven;     /* the peer has answered a message of ours */
	bool is_doubted;    /* the peer was asked if it has forgotten the connection */
	bool is_unresolved; /* the last attempt to send did not leave */
	uint64_t resolve_until_ns;
	uint64_t begun_ns; /* the REQ came; 0: we sent it */
	uint32_t next_by_id, next_by_qpn;
	uint32_t next_event, next_free;
};

struct cm_table {
	struct half_sip_key key;
	struct cm_connection *all;
	uint32_t n, used;
	uint32_t free_head;
	uint32_t *by_id, *by_qpn; /* heads of chains */
	uint32_t mask;
};

/** @return 0 or -ENOMEM; cm_table_free() in both cases. */
int cm_table_init(struct cm_table *t, uint32_t n, const struct half_sip_key *key);
void cm_table_free(struct cm_table *t);

/**
 * A cleared connection with a new local ID, in no chain, and if possible in no promised slot.
 * @return its index, or CM_NONE: full.
 */
uint32_t cm_table_take(struct cm_table *t);
/** The same for a free slot and an ID of cm_table_next_id(). @return false: the slot is in use. */
bool cm_table_take_slot(struct cm_table *t, uint32_t local_id);
/** A free slot, near this one and not promised if there is one; or CM_NONE. */
uint32_t cm_table_free_slot(const struct cm_table *t, uint32_t near);
/** A new local ID of a slot. */
uint32_t cm_table_next_id(struct cm_table *t, uint32_t slot);
/** Remove a connection from its chains, and free its slot. */
void cm_table_give(struct cm_table *t, uint32_t connection);

/** The connection with this local ID, or CM_NONE. */
uint32_t cm_table_by_local_id(const struct cm_table *t, uint32_t local_id);
/** The connections with a peer's communication ID, and with a peer's QP; CM_NONE: none. */
uint32_t cm_table_by_remote_id(const struct cm_table *t, const struct field_ip *ip, uint32_t id);
uint32_t cm_table_by_remote_qpn(const struct cm_table *t, const struct field_ip *ip, uint32_t qpn);

/** Enter view.remote_id, and view.other.qpn. @return false: the chain is full. */
bool cm_table_enter_id(struct cm_table *t, uint32_t connection);
bool cm_table_enter_qpn(struct cm_table *t, uint32_t connection);

#endif
