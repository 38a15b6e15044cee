/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours: the MAC addresses behind the IP addresses of peers, asked for and asked for again
 * (RFC 826; RFC 4861 7.3, whose times it uses for both versions). No packet is seen here: it says
 * whom to ask and how, and is told what was learnt.
 *
 *   INCOMPLETE --learnt--> REACHABLE --reachable_ns--> PROBE --learnt--> REACHABLE
 *   PROBE --NEIGH_TRIES unanswered--> INCOMPLETE --NEIGH_TRIES unanswered--> FAILED
 *   FAILED asks on, NEIGH_FAILED_FACTOR times slower; learnt --> REACHABLE
 *
 * Two ways to drive it: neigh_run() asks all whose time has come (a host, whose peers are few and
 * known); neigh_touch() asks only when somebody wants to send to that one (a router).
 *
 * PROBE asks the address that is known, INCOMPLETE and FAILED ask the group. An address once learnt
 * stays in use until another one is: a question that gets lost does not stop a flow.
 *
 * Invariant (tested): a neighbour is asked at most once in retrans_ns, and work is bounded by the
 * number of neighbours, which is fixed at start.
 */
#ifndef QUENCH_NIC_NIC_NEIGH_H
#define QUENCH_NIC_NIC_NEIGH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"

#define NEIGH_NONE UINT32_MAX
#define NEIGH_TRIES 3
#define NEIGH_FAILED_FACTOR 10

enum neigh_state { NEIGH_INCOMPLETE, NEIGH_REACHABLE, NEIGH_PROBE, NEIGH_FAILED };

struct neigh_key {
	struct field_ip ip;
	uint16_t vlan_id; /* or a bridging domain; 0: untagged, or with a priority tag */
};

struct neigh {
	struct neigh_key key; /* ip.version 0: a place that was given back */
	uint8_t mac[6];
	bool has_mac;
	bool fixed;        /* given by the user: never asked, never replaced */
	bool pinned;       /* the owner holds its index: never replaced */
	bool asked;        /* in the list of questions to send */
	uint8_t state;     /* enum neigh_state */
	uint8_t tries;     /* questions in this state */
	uint32_t ask_link; /* or the next place that was given back */
	uint32_t users;    /* neigh_add() less neigh_release() */
	uint64_t next_ns;  /* of the state machine */
};

struct neigh_params {
	uint64_t retrans_ns;   /* between two questions */
	uint64_t reachable_ns; /* from an answer to the next question; NEVER_NS: none */
};

struct neigh_stats {
	uint64_t neigh_learnt;  /* addresses learnt for the first time */
	uint64_t neigh_changed; /* addresses that another one replaced */
	uint64_t neigh_failed;  /* times that a neighbour did not answer and was given up */
};

/* What a table begins with: callers ask these of each packet. */
struct neigh_head {
	uint64_t next_ns; /* not later than any neighbour's */
	uint32_t asks;    /* the first to ask, or NEIGH_NONE */
};

struct neigh_table;

/** @return a table, or NULL: no memory. */
struct neigh_table *neigh_table_create(const struct neigh_params *params);
void neigh_table_destroy(struct neigh_table *t);

/** Add a neighbour, to be asked from now_ns on, unless it is there. @return its index, or -ENOMEM.
 */
int64_t neigh_add(struct neigh_table *t, const struct neigh_key *key, uint64_t now_ns);

/** Make room for n neighbours at once: neigh_add() does not take memory below that. @return 0 or
 * -ENOMEM. */
int neigh_reserve(struct neigh_table *t, uint32_t n);

/** Add a neighbour whose address is given for good. @return its index, or -ENOMEM. */
int64_t neigh_add_fixed(struct neigh_table *t, const struct neigh_key *key, const uint8_t mac[6]);

/** Somebody wants to send to it: ask if it is time to. @return whether its address may be used. */
bool neigh_touch(struct neigh_table *t, struct neigh_stats *stats, uint32_t index, uint64_t now_ns);

/** Take a fixed neighbour's address as one that was learnt, to be asked for when it is wanted. */
void neigh_unfix(struct neigh_table *t, uint32_t index, uint64_t now_ns);

/** The owner holds an index, or does so no more. */
void neigh_pin(struct neigh_table *t, uint32_t index, bool pinned);

/** Give back the place of a neighbour, not in the list of questions. */
void neigh_remove(struct neigh_table *t, uint32_t index);
/** Whoever added it needs it no more; after the last one its place is given back. Not of one that is
 * fixed. */
void neigh_release(struct neigh_table *t, uint32_t index);
/** Is there a place that was given back? The next neigh_add() takes it. */
bool neigh_has_gap(const struct neigh_table *t);

/** Other times from now on; a time that runs already ends when it was to. */
void neigh_set_params(struct neigh_table *t, const struct neigh_params *params);

/** Give the place of one neighbour, not fixed, not pinned and not in the list of questions, to
 * another one that the table does not hold, to be asked from now_ns on. */
void neigh_replace(struct neigh_table *t, uint32_t index, const struct neigh_key *key,
		   uint64_t now_ns);

/** @return index of a neighbour, or NEIGH_NONE. */
uint32_t neigh_find(const struct neigh_table *t, const struct neigh_key *key);

const struct neigh *neigh_get(const struct neigh_table *t, uint32_t index);
/** Places: indices are below. */
uint32_t neigh_count(const struct neigh_table *t);
/** Neighbours whose address is not known. */
uint32_t neigh_unresolved(const struct neigh_table *t);

/** A neighbour has told its address. @return true if it is another one than before. */
bool neigh_on_learnt(struct neigh_table *t, struct neigh_stats *stats, uint32_t index,
		     const uint8_t mac[6], uint64_t now_ns);

/** Forget all addresses that were not given for good, and ask for them anew from now_ns on. */
void neigh_forget_learned(struct neigh_table *t, uint64_t now_ns);

/** Run the state machines that are due; call before neigh_pop_ask(). */
void neigh_run(struct neigh_table *t, struct neigh_stats *stats, uint64_t now_ns);

/** Take the next neighbour to ask. @return its index, or NEIGH_NONE. */
uint32_t neigh_pop_ask(struct neigh_table *t);

/* Inline definitions */

/** Is there one to ask? */
static inline bool
neigh_has_ask(const struct neigh_table *t)
{
	return ((const struct neigh_head *)t)->asks != NEIGH_NONE;
}

/** Earliest time at which neigh_run() would do something; NEVER_NS without neighbours. */
static inline uint64_t
neigh_next_ns(const struct neigh_table *t)
{
	return ((const struct neigh_head *)t)->next_ns;
}

#endif
