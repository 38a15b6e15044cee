/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why did the rate of a QP change? Prints the QP's events for a person: one line per event, or a
 * story of a few lines, each of which summarises several consecutive events.
 *
 * The lab sees the trace of congestion control, and the rest of the fabric: which queue marked,
 * which node paused, which packets were sent again. quench-nic has the trace alone.
 */
#ifndef QUENCH_CTL_RESULTS_EXPLAIN_H
#define QUENCH_CTL_RESULTS_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "cc/cc.h"

#define EXPLAIN_WHERE_CHARS 47

enum explain_kind {
	EXPLAIN_RATE,       /* congestion control has acted */
	EXPLAIN_HELD,       /* paused */
	EXPLAIN_RELEASED,   /* no longer paused */
	EXPLAIN_SENT_AGAIN, /* the sender went back */
	EXPLAIN_SET,        /* parameters were changed from outside */
	EXPLAIN_DONE,       /* the last data is acknowledged, or the QP gave up */
};

/* The cause of a CNP: the first packet marked since the previous CNP. */
struct explain_mark {
	char where[EXPLAIN_WHERE_CHARS + 1]; /* "s1 port 4 queue 3"; empty: not known */
	uint64_t at_ns;
	uint64_t queue_bytes; /* in the queue when the packet left, without the packet */
	uint32_t psn;
	uint32_t packets; /* marked since the previous CNP */
};

struct explain_event {
	uint64_t at_ns;
	enum explain_kind kind;
	uint32_t did;                     /* EXPLAIN_RATE: mask of enum cc_did; 0: the state
					   * when the trace began */
	struct cc_view before, after;     /* EXPLAIN_RATE; before.rate_bps 0: not known */
	struct explain_mark mark;         /* of a CNP */
	char by[EXPLAIN_WHERE_CHARS + 1]; /* EXPLAIN_HELD, _RELEASED: who paused whom */
	uint64_t held_ns;                 /* EXPLAIN_RELEASED */
	const char *set, *set_by;         /* EXPLAIN_SET: what, and the event's name; not owned */
	bool set_ends;                    /* EXPLAIN_SET: the previous value is restored */
	uint32_t psn, packets;            /* EXPLAIN_SENT_AGAIN: first PSN, number of packets */
	bool failed;                      /* EXPLAIN_DONE */
};

/**
 * Fill in `before` of each event of congestion control: the state after the previous one. The first
 * event has none, so its before.rate_bps stays 0, unless it is a start, of the QP or of a trace.
 */
void explain_set_before(struct explain_event *events, uint32_t n);

/** Print one event in words, without its time. */
void explain_words(FILE *out, const struct explain_event *e);

/** Print one event as one line. */
void explain_line(FILE *out, const struct explain_event *e);

/**
 * Print all events in at most most_lines lines.
 *
 * @param events  In the order of time.
 * @return        0 or -ENOMEM.
 */
int explain_story(FILE *out, const struct explain_event *events, uint32_t n, uint32_t most_lines);

/** Format a rate as in these lines, such as "9.375 Gb/s". @return text. */
const char *explain_rate(char text[static 24], uint64_t rate_bps);

#endif
