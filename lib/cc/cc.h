/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion control of one QP: events in, a rate out, and a window if the algorithm has one.
 *
 * Events are the start of a flow, wire bytes sent, acknowledgements with what they tell (round-trip
 * times, echoed marks, the queues of the path), losses, CNPs, and a timer that the algorithm sets.
 * The result is the rate in force, in bits/s of wire bytes, and the window, in wire bytes that are
 * not acknowledged, or in packets (counts_packets). All QPs of a node share algorithm, parameters
 * and counters.
 *
 * cc_table.h lists the algorithms. doc/extending.md shows how to add one: a file with params,
 * state, counters and a struct cc_ops, and a line in that table. Keys, counters and reports follow.
 *
 * cc_on_sent() calls no function for most packets: until the timer or the byte count completes an
 * event, it is an addition and two comparisons for every algorithm.
 */
#ifndef QUENCH_CC_CC_H
#define QUENCH_CC_CC_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field/field.h"
#include "cc/algorithms/cc_ops.h"

/* CC_NONE: a constant rate. */
#define CC(id, word, section) CC_##id,
enum cc_algorithm {
	CC_NONE,
#include "cc/cc_table.h"
	CC_ALGORITHMS
};
#undef CC

/** Words of enum cc_algorithm, NULL-terminated. */
extern const char *const cc_words[];

/*
 * A choice of a flow: 0 for the algorithm of its NIC, or CC_CHOICE(algorithm). Words: default, and
 * those of cc_words.
 */
#define CC_CHOICE(algorithm) ((int)(algorithm) + 1)
extern const char *const cc_choice_words[];

static inline enum cc_algorithm
cc_chosen(int choice, int of_nic)
{
	return (enum cc_algorithm)(choice > 0 ? choice - 1 : of_nic);
}

/* The tables of each algorithm. */
#define CC(id, word, section)                                                                      \
	FIELD_TABLE(section##_fields);                                                             \
	COUNTER_TABLE(section##_counters);
#include "cc/cc_table.h"
#undef CC

/* Parameters and counters of every algorithm but CC_NONE. */
struct cc_params {
	union cc_keys of[CC_ALGORITHMS - 1];
};

struct cc_stats {
	union cc_counts of[CC_ALGORITHMS - 1];
};

/* Index into both; algorithm is not CC_NONE. */
#define CC_SLOT(algorithm) ((algorithm)-1)

/** The word of bit i of a cc_did mask, i < CC_REASONS. */
const char *cc_reason_word(unsigned int i);

/* Parameters and counters of all algorithms; they outlive the node. */
struct cc_setup {
	enum cc_algorithm algorithm;
	uint64_t max_rate_bps; /* the port's speed; dcqcn has its own */
	const struct cc_params *params;
	struct cc_stats *stats;
};

void cc_init(struct cc_node *node, const struct cc_setup *setup);

/** Apply a change of the parameters that node points to. Other threads may call cc_read(). */
void cc_take_params(struct cc_node *node);

/** By enum cc_algorithm. CC_NONE has neither tables nor functions. */
extern const struct cc_ops *const cc_algorithms[];

/* What the algorithms of a NIC need of it, together; as in struct cc_ops. */
struct cc_needs {
	bool hears_rtts, hears_hops, hears_echoes, has_window, notifies;
	uint32_t more_bytes; /* the most that one of them needs, a multiple of 8 */
};

/** @param mask  Algorithms, as bits of enum cc_algorithm. */
struct cc_needs cc_needs_of(uint32_t mask);

/** Value of an algorithm's min_rate_key; 0: it has none. */
uint64_t cc_min_rate_bps(enum cc_algorithm algorithm, const struct cc_params *params);

/**
 * Check the parameters of an algorithm other than CC_NONE and CC_DCQCN: ranges, rules between keys,
 * and the lowest rate against the port's speed.
 * @return 0, or as params_refuse().
 */
int cc_params_check(enum cc_algorithm algorithm, const struct cc_params *params,
		    uint64_t link_speed_bps, char *why, unsigned int why_size);

/** Start a flow; begin->rate_bps is clamped to the algorithm's range; none has no range. */
uint32_t cc_on_start(struct cc *cc, const struct cc_node *node, const struct cc_begin *begin,
		     uint64_t now_ns);

/** A CNP for this QP; counted as handled, or as ignored if the algorithm ignores CNPs. */
uint32_t cc_on_cnp(struct cc *cc, const struct cc_node *node, const struct cc_cnp *cnp,
		   uint64_t now_ns);

/** Run the timer if it is due, and the events that cc_rest() let wait. */
uint32_t cc_catch_up(struct cc *cc, const struct cc_node *node, uint64_t now_ns);

/**
 * Let timer events that can only raise the rate wait, at most until until_ns. For a QP whose rate
 * is capped below that of the algorithm. The events run, with the same result, before the next
 * event of another kind.
 */
void cc_rest(struct cc *cc, const struct cc_node *node, uint64_t until_ns);

/**
 * May time be left out while this QP sends? Its rate then stays as it is until a CNP comes.
 */
bool cc_may_pass(const struct cc *cc, const struct cc_node *node);
/**
 * Time is left out: ns pass, without CNPs and without a count of bytes, and the clock stays at
 * now_ns. Run the timers' events of this time.
 */
uint32_t cc_pass(struct cc *cc, const struct cc_node *node, uint64_t ns, uint64_t now_ns);

/** At least one packet is newly acknowledged. Needs to be called only if node->hears_acks. */
uint32_t cc_on_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack,
		   uint64_t now_ns);

/**
 * The requester goes back, after a NAK or a timeout.
 * @param next_seq  As in struct cc_ack: packets from it on are sent again.
 */
uint32_t cc_on_loss(struct cc *cc, const struct cc_node *node, uint32_t next_seq, enum cc_loss by,
		    uint64_t now_ns);

/**
 * Clamp the rate to new limits. Call once for each QP after cc_take_params(), and after
 * cc_catch_up() under the old ones.
 */
uint32_t cc_on_params(struct cc *cc, const struct cc_node *node);

void cc_read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns);

/** Called by cc_on_sent(), with its arguments, if an event is due. */
uint32_t cc_on_sent_slow(struct cc *cc, const struct cc_node *node, uint32_t bytes,
			 uint64_t now_ns);

/* Inline definitions */

/** Run the timer if it is due; a call before next_event_ns changes nothing. */
static inline uint32_t
cc_on_timer(struct cc *cc, const struct cc_node *node, uint64_t now_ns)
{
	if (now_ns < cc->head.next_event_ns)
		return 0;
	assert(node->ops->timer != NULL);
	return node->ops->timer(cc, node, now_ns);
}

/**
 * Is an event due when this QP sends wire bytes, at least one? If not, the caller may add them to
 * head.byte_count instead of calling cc_on_sent().
 * @param byte_event_bytes  Of the node.
 */
static inline bool
cc_has_event(const struct cc *cc, uint64_t byte_event_bytes, uint32_t bytes, uint64_t now_ns)
{
	uint64_t sum = (uint64_t)cc->head.byte_count + bytes;

	/*
	 * Is sum at least B (byte_event_bytes)? With B = 0 never, because B - 1 is then the largest
	 * number.
	 */
	return now_ns >= cc->head.next_event_ns || sum - 1 >= byte_event_bytes - 1;
}

/** Account wire bytes, at least one, sent by this QP. */
static inline uint32_t
cc_on_sent(struct cc *cc, const struct cc_node *node, uint32_t bytes, uint64_t now_ns)
{
	if (cc_has_event(cc, node->byte_event_bytes, bytes, now_ns))
		return cc_on_sent_slow(cc, node, bytes, now_ns);
	cc->head.byte_count += bytes;
	return 0;
}

#endif
