/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour table: resolves the IP addresses of peers to MAC addresses, and keeps these up to date
 * (RFC 826; RFC 4861 7.3, whose timers it uses for both IP versions). It handles no packets: it
 * tells its owner which neighbour to ask and how, and the owner enters the answers.
 *
 *   INCOMPLETE --answer--> REACHABLE --reachable_ns--> PROBE --answer--> REACHABLE
 *   PROBE --NEIGH_TRIES unanswered--> INCOMPLETE --NEIGH_TRIES unanswered--> FAILED
 *   FAILED keeps asking, NEIGH_FAILED_FACTOR times slower; answer --> REACHABLE
 *   any --unsolicited, with a new address--> STALE --used--> PROBE (RFC 4861 7.2.3)
 *   FAILED --unsolicited, with any address--> STALE
 *   REACHABLE --neigh_on_claimed(), with another address--> PROBE, at the known address
 *
 * A host, with few known peers, calls neigh_run(), which asks every neighbour that is due. A router
 * calls neigh_touch(), which asks only when a packet needs the neighbour.
 *
 * Requests go to the known address in PROBE, and to the group in INCOMPLETE and FAILED.
 * neigh_touch() allows the use of a learned address in all states but FAILED, so a lost request
 * does not stop a flow.
 *
 * A table that unknown senders can fill (neigh_limit(), neigh_claim()) limits the entries per
 * interface and per port. A resolved neighbour counts for its interface, which may have as many of
 * them as there are free entries. An unresolved one counts for the port whose frames need it, which
 * may have a quarter of that number. So if each of n interfaces wants all entries, each gets about
 * 1/(n + 1) of them, and as many stay free.
 *
 * A new neighbour beyond a limit replaces an idle one. If the interface has used its share, the new
 * neighbour replaces a resolved neighbour of that interface that failed or was not used for
 * NEIGH_IDLE_NS. If only the port has used its share, the new neighbour replaces an unresolved
 * neighbour of that port that failed or did not answer in time. A neighbour entered from an
 * announcement and never used is idle at once. A neighbour in use is never replaced.
 *
 * The hash is keyed (base/numbers/half_sip.h). At most a quarter of the slots is used, and an entry
 * of neigh_claim() is less than NEIGH_MAX_PROBES from its home slot.
 *
 * Invariant (tested): an unanswered request is repeated at most once per retrans_ns, unless the
 * neighbour announces its address or the owner calls neigh_unfix() or neigh_forget_learned().
 * Work is at most proportional to the number of neighbours, which neigh_limit() or the owner
 * limits.
 */
#ifndef QUENCH_FWD_NEIGH_H
#define QUENCH_FWD_NEIGH_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "base/numbers/units.h"
#include "base/numbers/half_sip.h"

#define NEIGH_NONE UINT32_MAX
#define NEIGH_TRIES 3
#define NEIGH_FAILED_FACTOR 10
#define NEIGH_MAX_PROBES 64u
/*
 * An unused neighbour counts as idle after this time. Its last use is recorded once per
 * NEIGH_IDLE_STEP_NS.
 */
#define NEIGH_IDLE_NS (60 * NS_PER_SEC)
#define NEIGH_IDLE_STEP_NS NS_PER_SEC

enum neigh_state { NEIGH_INCOMPLETE, NEIGH_REACHABLE, NEIGH_PROBE, NEIGH_FAILED, NEIGH_STALE };

struct neigh_key {
	struct field_ip ip;
	uint16_t vlan_id; /* or bridging domain; 0: untagged or priority-tagged */
};

struct neigh {
	struct neigh_key key; /* ip.version 0: a free entry */
	uint8_t mac[6];
	bool has_mac : 1;
	bool fixed : 1;     /* configured: never asked, never replaced */
	bool pinned : 1;    /* its index is in use by the owner: never replaced */
	bool contested : 1; /* REACHABLE: another address was claimed since the last answer */
	bool asked : 1;     /* in the queue of requests, until neigh_pop_ask() */
	uint8_t state;      /* enum neigh_state */
	uint8_t tries;      /* requests sent in this state */
	uint16_t port;      /* port whose frame first needed it; n_ports: none */
	uint32_t ask_link;  /* next in that queue, or next free entry */
	/* calls of neigh_add(), or the neigh_claim() that made it, minus neigh_release() */
	uint32_t users;
	uint64_t next_ns;    /* next step of the state machine */
	uint64_t idle_ns;    /* time from which it may be replaced, unless it is used before */
	uint32_t prev, next; /* in its neigh_list, oldest first; NEIGH_NONE: none */
};
static_assert(sizeof(struct neigh) == 64, "a cache line");

struct neigh_params {
	uint64_t retrans_ns; /* between two requests */
	/* from an answer to the next request; NEVER_NS: no further request */
	uint64_t reachable_ns;
	/* hash key, set at creation; must be secret if strangers can add entries */
	struct half_sip_key key;
};

struct neigh_stats {
	uint64_t neigh_learnt;  /* first addresses learned */
	uint64_t neigh_changed; /* addresses replaced by another one */
	/* messages with another address than the known one, which was asked first */
	uint64_t neigh_contested;
	uint64_t neigh_failed; /* neighbours given up because they did not answer */
};

struct neigh_claim_stats {
	uint64_t neigh_displaced; /* neighbours replaced by another */
	/* claims refused: the interface has used its share, or the hash chain is too long */
	uint64_t neigh_table_full;
	/* claims refused: the port has used its share of unresolved entries */
	uint64_t neigh_unresolved_full;
};

/* Reason for an entry of neigh_claim(). */
struct neigh_claim {
	bool heard;    /* the neighbour announced its address: call neigh_on_heard() next */
	uint16_t port; /* if not: the port whose frame needs the neighbour */
};

struct neigh_table;

/** @return a table, or NULL: out of memory. */
struct neigh_table *neigh_table_create(const struct neigh_params *params);
void neigh_table_destroy(struct neigh_table *t);

/**
 * Add a neighbour, which is asked for its address from now_ns on. If it exists, add a user to it.
 * @return its index, or -ENOMEM.
 */
int64_t neigh_add(struct neigh_table *t, const struct neigh_key *key, uint64_t now_ns);

/**
 * Allocate room for n neighbours, so that neigh_add() cannot fail up to that number.
 * @return 0 or -ENOMEM.
 */
int neigh_reserve(struct neigh_table *t, uint32_t n);

/**
 * Add a neighbour with a configured address. An existing one gets this address, and a user more.
 * @return its index, or -ENOMEM.
 */
int64_t neigh_add_fixed(struct neigh_table *t, const struct neigh_key *key, const uint8_t mac[6]);

/**
 * Limit an empty table to this many entries, and allocate them.
 *
 * @param interfaces  All keys have vlan_id below this.
 * @param ports       All neigh_claim.port are below this.
 * @return            0 or -ENOMEM.
 */
int neigh_limit(struct neigh_table *t, uint32_t entries, uint32_t interfaces, uint16_t ports);

/** Is a table with a limit full? */
bool neigh_is_full(const struct neigh_table *t);

/**
 * Add a neighbour on behalf of an unknown sender, within the limits, unless it exists.
 *
 * @return its index, or NEIGH_NONE: refused, and counted in stats.
 */
uint32_t neigh_claim(struct neigh_table *t, struct neigh_claim_stats *stats,
		     const struct neigh_key *key, struct neigh_claim claim, uint64_t now_ns);

/**
 * Call when a packet needs this neighbour: queues a request if one is due.
 * @return true: its address may be used.
 */
bool neigh_touch(struct neigh_table *t, struct neigh_stats *stats, uint32_t index, uint64_t now_ns);

/** Make a configured address a learned one, which is verified at its next use or neigh_run(). */
void neigh_unfix(struct neigh_table *t, uint32_t index, uint64_t now_ns);

/** Set whether the owner uses this index. */
void neigh_pin(struct neigh_table *t, uint32_t index, bool pinned);

/** Remove a neighbour, whatever its users, and free its entry. */
void neigh_remove(struct neigh_table *t, uint32_t index);
/** Remove a user. Without users, the neighbour is removed. Not for fixed neighbours. */
void neigh_release(struct neigh_table *t, uint32_t index);

/** Change the timers. A timer that is already running keeps its length. */
void neigh_set_params(struct neigh_table *t, const struct neigh_params *params);

/** @return index of a neighbour, or NEIGH_NONE. */
uint32_t neigh_find(const struct neigh_table *t, const struct neigh_key *key);

/** Its state as a word, such as reachable; permanent for a fixed one. */
const char *neigh_state_text(const struct neigh *n);

static inline const struct neigh *neigh_get(const struct neigh_table *t, uint32_t index);
/** The index of what neigh_get() has returned. */
static inline uint32_t neigh_index(const struct neigh_table *t, const struct neigh *n);
/** Number of entries, including free ones. Every index is below this number. */
uint32_t neigh_count(const struct neigh_table *t);
/** Number of neighbours without an address. */
uint32_t neigh_unresolved(const struct neigh_table *t);

/** A neighbour has answered. @return true if its address is new; configured ones do not change. */
bool neigh_on_learnt(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
		     const uint8_t mac[6], uint64_t now_ns);

/**
 * As neigh_on_learnt(), of a message that anybody may have sent. While the neighbour answers at its
 * known address, another one is not believed: it makes the table ask the known address, once
 * per retrans_ns at most. A neighbour that has moved is found after NEIGH_TRIES requests.
 */
bool neigh_on_claimed(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
		      const uint8_t mac[6], uint64_t now_ns);

/**
 * A neighbour announced its address without a request. This does not prove that it can be reached.
 * @return as neigh_on_learnt().
 */
bool neigh_on_heard(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
		    const uint8_t mac[6], uint64_t now_ns);

/** Forget all learned addresses, and ask for them again from now_ns on. */
void neigh_forget_learned(struct neigh_table *t, uint64_t now_ns);

/** Advance the state machines that are due; call before neigh_pop_ask(). */
void neigh_run(struct neigh_table *t, struct neigh_stats *stats, uint64_t now_ns);

/** Take the next neighbour to ask off the queue. @return its index, or NEIGH_NONE. */
uint32_t neigh_pop_ask(struct neigh_table *t);

/* Inline definitions */

struct neigh_list {
	uint32_t first, last; /* n 0: any value */
	uint32_t n;
};

struct neigh_table {
	/* per packet */
	uint64_t next_ns;  /* at most the earliest next_ns of a neighbour */
	uint32_t ask_head; /* head of the queue of requests, or NEIGH_NONE */
	uint32_t ask_tail;
	struct neigh *entries;
	/*
	 * Hash table with open addressing: indices into entries, plus 1; 0: a free slot. The number
	 * of slots is a power of two, and at most a quarter of them is used.
	 */
	uint32_t *slots;
	uint32_t mask;
	uint32_t longest_probe; /* longest distance from home at which any entry was inserted */
	struct half_sip_key key;
	struct neigh_params params;
	/* per neighbour */
	uint32_t *hashes; /* hash of each entry's key, kept for moving slots */
	uint32_t n, capacity;
	uint32_t n_freed;
	uint32_t free_head; /* head of the list of free entries, or NEIGH_NONE */
	uint32_t unresolved;
	/* Only after neigh_limit(). The lists (else NULL) hold the neighbours that are neither
	 * fixed nor pinned. */
	uint32_t limit, n_interfaces;
	uint16_t n_ports;
	struct neigh_list *known;  /* resolved, by interface */
	struct neigh_list *wanted; /* unresolved, by port; the last list: those of no port */
};

static inline uint32_t
neigh_index(const struct neigh_table *t, const struct neigh *n)
{
	return (uint32_t)(n - t->entries);
}

static inline const struct neigh *
neigh_get(const struct neigh_table *t, uint32_t index)
{
	assert(index < t->n);
	return &t->entries[index];
}

/** Is a request queued? */
static inline bool
neigh_has_ask(const struct neigh_table *t)
{
	return t->ask_head != NEIGH_NONE;
}

/** Would neigh_touch() only return true, and change nothing? */
static inline bool
neigh_is_settled(const struct neigh *e, uint64_t now_ns)
{
	return e->has_mac && e->state != NEIGH_FAILED && now_ns < e->next_ns &&
	       e->idle_ns >= now_ns + NEIGH_IDLE_NS - NEIGH_IDLE_STEP_NS;
}

/** Time before which neigh_run() has no work; NEVER_NS in a new table. */
static inline uint64_t
neigh_next_ns(const struct neigh_table *t)
{
	return t->next_ns;
}

#endif
