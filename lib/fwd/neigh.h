/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours: the MAC addresses behind the IP addresses of peers, asked for and asked for again
 * (RFC 826; RFC 4861 7.3, whose times it uses for both versions). No packet is seen here: it says
 * whom to ask and how, and is told what was learnt.
 *
 *   INCOMPLETE --answer--> REACHABLE --reachable_ns--> PROBE --answer--> REACHABLE
 *   PROBE --NEIGH_TRIES unanswered--> INCOMPLETE --NEIGH_TRIES unanswered--> FAILED
 *   FAILED asks on, NEIGH_FAILED_FACTOR times slower; answer --> REACHABLE
 *   any --heard, with another address than before--> STALE --wanted--> PROBE (RFC 4861 7.2.3)
 *
 * Two ways to drive it: neigh_run() asks all whose time has come (a host, whose peers are few and
 * known); neigh_touch() asks only when somebody wants to send to that one (a router).
 *
 * PROBE asks the address that is known, INCOMPLETE and FAILED ask the group. An address once learnt
 * stays in use until another one is: a question that gets lost does not stop a flow.
 *
 * A table that strangers write (neigh_limit(), neigh_claim()) is bounded for each of them.
 * Neighbours with an address count for their interface, which may hold as many as there are free
 * places; those without for the port whose frames want them, which may have a quarter as many open.
 * So each of n that ask for more than there is gets an n-th, about, and leaves as much to one that
 * comes later. Beyond that a new neighbour takes the place of an idle one of its own kind: of its
 * interface, one that failed or that nobody has sent to for NEIGH_IDLE_NS (or ever, if only heard
 * of); of its port, one that did not answer in time. One in use never goes for another.
 *
 * The hash has a key (fwd/half_sip.h). Slots are at most a quarter full, and what a stranger claims
 * stands at most NEIGH_MAX_PROBES from its own.
 *
 * Invariant (tested): a neighbour is asked at most once in retrans_ns, and work is bounded by the
 * number of neighbours, which is fixed at start.
 */
#ifndef QUENCH_FWD_NEIGH_H
#define QUENCH_FWD_NEIGH_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/units.h"
#include "fwd/half_sip.h"

#define NEIGH_NONE UINT32_MAX
#define NEIGH_TRIES 3
#define NEIGH_FAILED_FACTOR 10
#define NEIGH_MAX_PROBES 64u
/* Nobody sends to a neighbour that was not sent to for so long; noted once a NEIGH_IDLE_STEP_NS. */
#define NEIGH_IDLE_NS (60 * NS_PER_SEC)
#define NEIGH_IDLE_STEP_NS NS_PER_SEC

enum neigh_state { NEIGH_INCOMPLETE, NEIGH_REACHABLE, NEIGH_PROBE, NEIGH_FAILED, NEIGH_STALE };

struct neigh_key {
	struct field_ip ip;
	uint16_t vlan_id; /* or a bridging domain; 0: untagged, or with a priority tag */
};

struct neigh {
	struct neigh_key key; /* ip.version 0: a place that was given back */
	uint8_t mac[6];
	bool has_mac : 1;
	bool fixed : 1;      /* given by the user: never asked, never replaced */
	bool pinned : 1;     /* the owner holds its index: never replaced */
	bool asked : 1;      /* in the list of questions to send */
	uint8_t state;       /* enum neigh_state */
	uint8_t tries;       /* questions in this state */
	uint16_t port;       /* port whose frame wanted it first; the number of ports: none */
	uint32_t ask_link;   /* or the next place that was given back */
	uint32_t users;      /* neigh_add() less neigh_release() */
	uint64_t next_ns;    /* of the state machine */
	uint64_t idle_ns;    /* from then on it may make room for another, unless it is sent to */
	uint32_t prev, next; /* in its list, oldest first, or NEIGH_NONE */
};
static_assert(sizeof(struct neigh) == 64, "a cache line");

struct neigh_params {
	uint64_t retrans_ns;     /* between two questions */
	uint64_t reachable_ns;   /* from an answer to the next question; NEVER_NS: none */
	struct half_sip_key key; /* of the hash, at creation: a secret where strangers write */
};

struct neigh_stats {
	uint64_t neigh_learnt;  /* addresses learnt for the first time */
	uint64_t neigh_changed; /* addresses that another one replaced */
	uint64_t neigh_failed;  /* times that a neighbour did not answer and was given up */
};

struct neigh_claim_stats {
	uint64_t neigh_displaced;       /* neighbours that gave their place to another */
	uint64_t neigh_table_full;      /* claims without a place: the interface has its share */
	uint64_t neigh_unresolved_full; /* the same: the port has its share of those without address
					 */
};

/* Why a stranger's neighbour is to be entered. */
struct neigh_claim {
	bool heard;    /* it has said its address, which neigh_on_heard() then enters */
	uint16_t port; /* else: the port whose frame wants it */
};

struct neigh_table;

/** @return a table, or NULL: no memory. */
struct neigh_table *neigh_table_create(const struct neigh_params *params);
void neigh_table_destroy(struct neigh_table *t);

/** Add a neighbour, to be asked from now_ns on, unless it is there. @return its index, or
 * -ENOMEM. */
int64_t neigh_add(struct neigh_table *t, const struct neigh_key *key, uint64_t now_ns);

/** Make room for n neighbours at once: neigh_add() does not take memory below that. @return 0 or
 * -ENOMEM. */
int neigh_reserve(struct neigh_table *t, uint32_t n);

/** Add a neighbour whose address is given for good. @return its index, or -ENOMEM. */
int64_t neigh_add_fixed(struct neigh_table *t, const struct neigh_key *key, const uint8_t mac[6]);

/**
 * Let no more than entries be in a table without any, and have room for them.
 *
 * @param interfaces  vlan_id of all keys is below.
 * @param ports       Of neigh_claim.port.
 * @return            0 or -ENOMEM.
 */
int neigh_limit(struct neigh_table *t, uint32_t entries, uint32_t interfaces, uint16_t ports);

/** Are there as many as there may be? Of a table with a limit. */
bool neigh_is_full(const struct neigh_table *t);

/**
 * Enter a neighbour for a stranger, within his limits, unless it is there.
 *
 * @return its index, or NEIGH_NONE, counted: nobody that may is to make room for it.
 */
uint32_t neigh_claim(struct neigh_table *t, struct neigh_claim_stats *stats,
		     const struct neigh_key *key, struct neigh_claim claim, uint64_t now_ns);

/** Somebody wants to send to it: ask if it is time to. @return whether its address may be used. */
bool neigh_touch(struct neigh_table *t, struct neigh_stats *stats, uint32_t index, uint64_t now_ns);

/** Take a fixed neighbour's address as one that was learnt, to be asked for when it is wanted. */
void neigh_unfix(struct neigh_table *t, uint32_t index, uint64_t now_ns);

/** The owner holds an index, or does so no more. */
void neigh_pin(struct neigh_table *t, uint32_t index, bool pinned);

/** Give back the place of a neighbour. */
void neigh_remove(struct neigh_table *t, uint32_t index);
/** Whoever added it needs it no more; after the last one its place is given back. Not of one that
 * is fixed. */
void neigh_release(struct neigh_table *t, uint32_t index);
/** Is there a place that was given back? The next neigh_add() takes it. */
bool neigh_has_free(const struct neigh_table *t);

/** Other times from now on; a time that runs already ends when it was to. */
void neigh_set_params(struct neigh_table *t, const struct neigh_params *params);

/** @return index of a neighbour, or NEIGH_NONE. */
uint32_t neigh_find(const struct neigh_table *t, const struct neigh_key *key);

const struct neigh *neigh_get(const struct neigh_table *t, uint32_t index);
/** Places: indices are below. */
uint32_t neigh_count(const struct neigh_table *t);
/** Neighbours whose address is not known. */
uint32_t neigh_unresolved(const struct neigh_table *t);

/** A neighbour has answered. @return true if its address is another one than before. */
bool neigh_on_learnt(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
		     const uint8_t mac[6], uint64_t now_ns);

/** It has said its address, and nobody had asked: that does not prove that it can be reached.
 * @return as neigh_on_learnt(). */
bool neigh_on_heard(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
		    const uint8_t mac[6], uint64_t now_ns);

/** Forget all addresses that were not given for good, and ask for them again from now_ns on. */
void neigh_forget_learned(struct neigh_table *t, uint64_t now_ns);

/** Run the state machines that are due; call before neigh_pop_ask(). */
void neigh_run(struct neigh_table *t, struct neigh_stats *stats, uint64_t now_ns);

/** Take the next neighbour to ask. @return its index, or NEIGH_NONE. */
uint32_t neigh_pop_ask(struct neigh_table *t);

/* Inline definitions */

struct neigh_list {
	uint32_t first, last, n;
};

struct neigh_table {
	/* per packet */
	uint64_t next_ns;  /* not later than any neighbour's */
	uint32_t ask_head; /* the first to ask, or NEIGH_NONE */
	uint32_t ask_tail;
	struct neigh *entries;
	/* Open addressing: indices into entries, a power of two, at most a quarter full. */
	uint32_t *slots;
	uint32_t mask;
	uint32_t longest_probe; /* furthest that one was ever entered from its own slot */
	struct half_sip_key key;
	struct neigh_params params;
	/* per neighbour */
	uint32_t *hashes; /* of the entries' keys: computed once, needed whenever slots move */
	uint32_t n, room;
	uint32_t n_freed;
	uint32_t free_head; /* the first place that was given back, or NEIGH_NONE */
	uint32_t unresolved;
	/* of a table with a limit, else NULL: neighbours that are neither fixed nor pinned */
	uint32_t limit;
	uint16_t n_ports;
	struct neigh_list *known;  /* with an address, by interface */
	struct neigh_list *wanted; /* without, by port, and after them those of no port */
};

/** Is there one to ask? */
static inline bool
neigh_has_ask(const struct neigh_table *t)
{
	return t->ask_head != NEIGH_NONE;
}

/** Earliest time at which neigh_run() would do something; NEVER_NS without neighbours. */
static inline uint64_t
neigh_next_ns(const struct neigh_table *t)
{
	return t->next_ns;
}

#endif
