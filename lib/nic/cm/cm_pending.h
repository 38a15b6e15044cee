/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handshakes that have got their REP and are no connections yet: what a REQ said, until its RTU
 * comes. They have no chains, and no timers of their own: the connection manager looks at some of
 * them at a time. While a flood of REQs lasts, each REQ costs an entry here, and only the peers
 * that answer become connections.
 *
 * The table has sets of CM_PENDING_WAYS entries. A keyed hash of the peer's address and its
 * communication ID selects the set, so that no sender can aim at the entry of another one, not even
 * under its address. A new entry replaces the oldest of its set.
 *
 * Invariant: an entry is lost after CM_PENDING_WAYS later ones of its set, not before. On average
 * these are CM_PENDING_WAYS x CM_PENDING_SETS REQs: 16 ms at 10^6 a second.
 */
#ifndef QUENCH_NIC_CM_CM_PENDING_H
#define QUENCH_NIC_CM_CM_PENDING_H

#include "base/numbers/half_sip.h"
#include "nic/cm/cm_types.h"

#define CM_PENDING_SETS 1024u
#define CM_PENDING_WAYS 16u

struct cm_pending {
	uint64_t number; /* in the order of their REQs; 0: a free entry */
	uint64_t transaction_id;
	uint32_t local_id, remote_id;
	struct cm_peer peer;
	struct cm_end own, other;
	struct cm_terms terms;
	uint8_t peer_retries, peer_timeout;
	uint8_t repeats, most_repeats; /* of the REP */
	uint64_t due_ns;
};

struct cm_pendings {
	struct half_sip_key key;
	uint64_t numbers;
	uint32_t used;
	uint32_t hand;          /* of cm_pending_next() */
	struct cm_pending *all; /* memory is touched when it is used */
};

/** @return 0 or -ENOMEM; cm_pendings_free() in both cases. */
int cm_pendings_init(struct cm_pendings *t, const struct half_sip_key *key);
void cm_pendings_free(struct cm_pendings *t);

/** The handshake that a peer began with its communication ID, or NULL. */
struct cm_pending *cm_pending_find(const struct cm_pendings *t, const struct field_ip *ip,
				   uint32_t remote_id);
/** The entry for a new handshake: a free one, or one that is to be dropped before. */
struct cm_pending *cm_pending_place(const struct cm_pendings *t, const struct field_ip *ip,
				    uint32_t remote_id);
/** Clear a free entry, and use it. */
void cm_pending_take(struct cm_pendings *t, struct cm_pending *p);
void cm_pending_drop(struct cm_pendings *t, struct cm_pending *p);
/** Each entry in turn, free ones too. */
struct cm_pending *cm_pending_next(struct cm_pendings *t);

#endif
