/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slowdown of messages by their size, and whether a run was long enough for its tail.
 *
 * Percentiles are exact up to SLOWDOWN_MAX_KEPT messages: the least slowdown such that at least
 * that share of the messages has no larger one. Beyond, every second message is dropped, then every
 * fourth and so on, so that the memory is bounded.
 *
 * A message that has not ended has no slowdown yet, and may become the slowest. So each bucket also
 * has the p99 that would follow if all its messages that have not ended were slower than the
 * others.
 *
 * Confidence interval of the p99: batch means (Law, Kelton: Simulation Modeling and Analysis). The
 * messages are divided, in the order of their ends, into SLOWDOWN_BATCHES batches, whose p99s are
 * treated as independent.
 */
#ifndef QUENCH_FABRIC_RESULTS_SLOWDOWN_H
#define QUENCH_FABRIC_RESULTS_SLOWDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/scenario/scenario.h"

/* 128 MB. */
#define SLOWDOWN_MAX_KEPT (1u << 24)
#define SLOWDOWN_SHARES 10u
#define SLOWDOWN_MAX_EDGES SCENARIO_MAX_EDGES
#define SLOWDOWN_MAX_BUCKETS (SLOWDOWN_MAX_EDGES + 1)
#define SLOWDOWN_BATCHES 10u
/* A p99 of fewer messages is their largest value. */
#define SLOWDOWN_FEWEST 100u
/* Slowdowns are in units of 1 / SLOWDOWN_UNIT. */
#define SLOWDOWN_UNIT 10000u
/* A percentile that does not exist. */
#define SLOWDOWN_NONE UINT32_MAX

enum slowdown_percentile {
	SLOWDOWN_P50,
	SLOWDOWN_P95,
	SLOWDOWN_P99,
	SLOWDOWN_P999,
	SLOWDOWN_PERCENTILES
};

/* Messages of more than the bucket before and at most to_bytes. */
struct slowdown_bucket {
	uint64_t from_bytes, to_bytes;
	uint64_t messages;                         /* that have a slowdown */
	uint64_t not_ended;                        /* begun, or arrived in an open loop */
	uint32_t percentile[SLOWDOWN_PERCENTILES]; /* SLOWDOWN_NONE: no message */
	/* p99 if the messages that have not ended were the slowest; SLOWDOWN_NONE: one of them */
	uint32_t p99_bound;
};

struct slowdown_summary {
	struct slowdown_bucket all;
	struct slowdown_bucket buckets[SLOWDOWN_MAX_BUCKETS];
	uint32_t n_buckets;
	uint64_t every;           /* one of this many messages was kept */
	bool backlog_is_cut;      /* more messages had not ended than not_ended says */
	bool has_interval;        /* enough messages for batch means */
	double p99_low, p99_high; /* 95 % confidence interval of all.p99 */
};

struct slowdowns;

/** @return owned by the caller, or NULL: no memory. */
struct slowdowns *slowdowns_create(void);
void slowdowns_destroy(struct slowdowns *s);

/** A message has ended. ideal_ns > 0. @return 0 or -ENOMEM. */
int slowdowns_add(struct slowdowns *s, uint32_t bytes, uint64_t took_ns, uint64_t ideal_ns);
/** A message has not ended when the run does. @return 0 or -ENOMEM. */
int slowdowns_add_not_ended(struct slowdowns *s, uint32_t bytes);
/** More messages have not ended than were added. */
void slowdowns_cut_backlog(struct slowdowns *s);

/**
 * Buckets that end at the edges, which rise, and one for larger messages; or without edges
 * SLOWDOWN_SHARES buckets with equally many messages. Messages of one size are in one bucket, so
 * there may be fewer. @return 0 or -ENOMEM.
 */
int slowdowns_summary(const struct slowdowns *s, const uint64_t *edges, uint32_t n_edges,
		      struct slowdown_summary *out);

/** Has the bucket a p99 that stands on fewer than SLOWDOWN_FEWEST messages? */
static inline bool
slowdown_is_scarce(const struct slowdown_bucket *b)
{
	return b->messages > 0 && b->messages < SLOWDOWN_FEWEST;
}

/** Can the messages that have not ended raise the p99 by more than a twentieth? */
static inline bool
slowdown_may_rise(const struct slowdown_bucket *b)
{
	uint64_t p99 = b->percentile[SLOWDOWN_P99];

	return b->not_ended > 0 && (b->p99_bound == SLOWDOWN_NONE || b->p99_bound > p99 + p99 / 20);
}

#endif
