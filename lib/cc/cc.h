/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion control of one QP: events in, a rate out.
 *
 * Events are the start of a flow, wire bytes sent, acknowledgements and the round-trip times that
 * they show, losses, CNPs, and a timer that the algorithm sets. The result is the rate in force, in
 * bits/s of wire bytes. All QPs of a node share algorithm, parameters and counters.
 *
 * | algorithm | events               | source                                                     |
 * |-----------|----------------------|------------------------------------------------------------|
 * | none      | none                 | a constant rate                                            |
 * | dcqcn     | CNPs, bytes, time    | rp.h                                                       |
 * | dctcp     | CNPs, ACKs, losses   | dctcp.h                                                    |
 * | timely    | round-trip times     | timely.h                                                   |
 *
 * To add an algorithm: a file with params, state and stats, whose state begins like struct cc_head
 * and fits struct cc; a table of functions; and a word in enum cc_algorithm.
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

#include "cc/dctcp.h"
#include "cc/did.h"
#include "cc/rp.h"
#include "cc/timely.h"

enum cc_algorithm { CC_NONE, CC_DCQCN, CC_DCTCP, CC_TIMELY, CC_ALGORITHMS };

/** Words of enum cc_algorithm, NULL-terminated. */
extern const char *const cc_words[];

/* The first members of every algorithm's state. They are used per packet. */
struct cc_head {
	uint64_t rate_bps;
	uint64_t next_event_ns; /* the timer: next change of the rate by time; NEVER_NS: none */
	uint32_t byte_count;    /* wire bytes since the last byte event */
};

/* One QP. Embedded by the thousand: one cache line. */
struct cc {
	union {
		struct cc_head head;
		struct rp rp;
		struct dctcp dctcp;
		struct timely timely;
	};
};
static_assert(sizeof(struct cc) <= 64, "one QP's congestion control fits a cache line");

/** The word of bit i of a cc_did mask, i < CC_REASONS. */
const char *cc_reason_word(unsigned int i);

struct cc_ops;

/* Shared by the QPs of a node; filled in by cc_init(). */
struct cc_node {
	uint64_t byte_event_bytes; /* wire bytes that complete a byte event; 0: none */
	bool hears_acks;           /* cc_on_ack() has to be called */
	bool hears_rtts;           /* ... with round-trip times */
	const struct cc_ops *ops;
	uint64_t max_rate_bps;
	struct rp_stats *rp_stats; /* counts CNPs of all algorithms */
	union {
		const struct rp_params *rp;
		const struct dctcp_params *dctcp;
		const struct timely_params *timely;
	};
	union {
		struct dctcp_stats *dctcp_stats;
		struct timely_stats *timely_stats;
	};
};

/* Parameters and counters of each algorithm; they outlive the node. */
struct cc_setup {
	enum cc_algorithm algorithm;
	uint64_t max_rate_bps; /* of dctcp and timely: the port's speed */
	const struct rp_params *rp;
	const struct dctcp_params *dctcp;
	const struct timely_params *timely;
	struct rp_stats *rp_stats;
	struct dctcp_stats *dctcp_stats;
	struct timely_stats *timely_stats;
};

void cc_init(struct cc_node *node, const struct cc_setup *setup);

/** Apply a change of the parameters that node points to. Other threads may call cc_read(). */
void cc_take_params(struct cc_node *node);

/* Progress of a requester; packets are numbered modulo 2^32. */
struct cc_ack {
	uint32_t acked_seq; /* first packet not acknowledged */
	uint32_t next_seq;  /* first packet not sent */
	uint32_t packets;   /* newly acknowledged */
	uint64_t rtt_ns;    /* measured by this ACK; 0: none, or not node->hears_rtts */
};

/* For display. If an algorithm lacks a member, it is 0, and target_rate_bps is rate_bps. */
struct cc_view {
	uint64_t rate_bps, target_rate_bps;
	uint64_t alpha_q32;
	uint64_t rtt_ns; /* last measured */
	uint16_t time_stage, byte_stage;
	bool limited;
};

/*
 * One function for each event; NULL: the algorithm ignores it. All except start and read return a
 * cc_did mask.
 */
struct cc_ops {
	void (*start)(struct cc *cc, const struct cc_node *node, uint64_t start_rate_bps,
		      uint64_t now_ns);
	uint32_t (*sent)(struct cc *cc, const struct cc_node *node, uint32_t bytes,
			 uint64_t now_ns);
	uint32_t (*timer)(struct cc *cc, const struct cc_node *node, uint64_t now_ns);
	uint32_t (*cnp)(struct cc *cc, const struct cc_node *node, uint64_t now_ns);
	uint32_t (*ack)(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack,
			uint64_t now_ns);
	uint32_t (*loss)(struct cc *cc, const struct cc_node *node, uint64_t now_ns);
	uint32_t (*params)(struct cc *cc, const struct cc_node *node);
	bool hears_rtts; /* ack wants round-trip times */
	void (*read)(const struct cc *cc, const struct cc_node *node, struct cc_view *out,
		     uint64_t now_ns);
};

/** Start a flow at start_rate_bps, clamped to the algorithm's range; none has no range. */
uint32_t cc_on_start(struct cc *cc, const struct cc_node *node, uint64_t start_rate_bps,
		     uint64_t now_ns);

/** A CNP for this QP; counted as handled, or as ignored if the algorithm ignores CNPs. */
uint32_t cc_on_cnp(struct cc *cc, const struct cc_node *node, uint64_t now_ns);

/** Run the timer if it is due; a call before next_event_ns changes nothing. */
uint32_t cc_on_timer(struct cc *cc, const struct cc_node *node, uint64_t now_ns);

/** At least one packet is newly acknowledged. Needs to be called only if node->hears_acks. */
uint32_t cc_on_ack(struct cc *cc, const struct cc_node *node, const struct cc_ack *ack,
		   uint64_t now_ns);

/** The requester goes back, after a NAK or a timeout. */
uint32_t cc_on_loss(struct cc *cc, const struct cc_node *node, uint64_t now_ns);

/** Clamp the rate to new limits. Call once for each QP after cc_take_params(). */
uint32_t cc_on_params(struct cc *cc, const struct cc_node *node);

void cc_read(const struct cc *cc, const struct cc_node *node, struct cc_view *out, uint64_t now_ns);

/** Called by cc_on_sent(), with its arguments, if an event is due. */
uint32_t cc_on_sent_slow(struct cc *cc, const struct cc_node *node, uint32_t bytes,
			 uint64_t now_ns);

/* Inline definitions */

/** Account wire bytes, at least one, sent by this QP. */
static inline uint32_t
cc_on_sent(struct cc *cc, const struct cc_node *node, uint32_t bytes, uint64_t now_ns)
{
	uint64_t sum = (uint64_t)cc->head.byte_count + bytes;

	/*
	 * Is sum at least B (byte_event_bytes)? With B = 0 never, because B - 1 is then the largest
	 * number.
	 */
	if (now_ns >= cc->head.next_event_ns || sum - 1 >= node->byte_event_bytes - 1)
		return cc_on_sent_slow(cc, node, bytes, now_ns);
	cc->head.byte_count = (uint32_t)sum;
	return 0;
}

#endif
