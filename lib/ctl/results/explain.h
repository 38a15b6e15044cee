/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why did the rate of a QP move? Its events as lines for a person: each of them, or a story of a
 * few lines in which those that belong together are one.
 *
 * The words are the same whoever tells: a trace of congestion control alone (a running program), or
 * with it what the lab sees of the whole fabric: who marked, who paused, what was sent again.
 */
#ifndef QUENCH_CTL_RESULTS_EXPLAIN_H
#define QUENCH_CTL_RESULTS_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "cc/cc.h"

#define EXPLAIN_WHERE_CHARS 47

enum explain_kind {
	EXPLAIN_RATE,       /* congestion control did something */
	EXPLAIN_HELD,       /* paused */
	EXPLAIN_RELEASED,   /* and no longer */
	EXPLAIN_SENT_AGAIN, /* the sender went back */
	EXPLAIN_SET,        /* parameters were changed from outside */
	EXPLAIN_DONE,       /* the last data is acknowledged, or the QP gave up */
};

/* Why a CNP came: the first packet that was marked since the CNP before. */
struct explain_mark {
	char where[EXPLAIN_WHERE_CHARS + 1]; /* "s1 port 4 queue 3"; empty: not known */
	uint64_t at_ns;
	uint64_t queue_bytes; /* when it left */
	uint32_t psn;
	uint32_t packets; /* marked since the CNP before */
};

struct explain_event {
	uint64_t at_ns;
	enum explain_kind kind;
	uint32_t did;                     /* EXPLAIN_RATE: mask of enum cc_did; 0: the state
					   * when the trace began */
	struct cc_view before, after;     /* the same; before.rate_bps 0: not known */
	struct explain_mark mark;         /* of a CNP */
	char by[EXPLAIN_WHERE_CHARS + 1]; /* EXPLAIN_HELD, _RELEASED: who paused whom */
	uint64_t held_ns;                 /* EXPLAIN_RELEASED */
	const char *set, *set_by;         /* EXPLAIN_SET: what, and the event's name; not owned */
	bool set_ends;                    /* EXPLAIN_SET: it is as before again */
	uint32_t psn, packets;            /* EXPLAIN_SENT_AGAIN: from where, how many */
	bool failed;                      /* EXPLAIN_DONE */
};

/**
 * Fill in what an event of congestion control was before: the state after the one before it. Of the
 * first one that is not known, unless it is a start, or a trace's: its rate stays 0.
 */
void explain_set_before(struct explain_event *events, uint32_t n);

/** One event, one line. */
void explain_line(FILE *out, const struct explain_event *e);

/** The same without its time and the end of the line. */
void explain_words(FILE *out, const struct explain_event *e);

/**
 * The same in at most so many lines.
 *
 * @param events  In the order of time.
 * @return        0 or -ENOMEM.
 */
int explain_story(FILE *out, const struct explain_event *events, uint32_t n, uint32_t most_lines);

/** A rate as lines have it, such as "9.375 Gb/s". @return text. */
const char *explain_rate(char text[static 24], uint64_t rate_bps);

#endif
