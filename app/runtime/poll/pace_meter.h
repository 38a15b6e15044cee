/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How late paced frames leave: the time at which the device took a frame, less the time at which it
 * was due (pkt_meta.due_ns), in a histogram.
 *
 * While the kernel runs another task on the core, frames leave late for a reason other than pacing.
 * The loop's clock shows such gaps: the time between two rounds is normally that of one burst's
 * work, so a gap above PACE_GAP_NS means that the core ran something else. A frame due before the
 * end of the last gap is excluded, and counted.
 *
 * Invariant: departures = late_ns.count + excluded + unknown, and close <= late_ns.count.
 */
#ifndef QUENCH_APP_RUNTIME_POLL_PACE_METER_H
#define QUENCH_APP_RUNTIME_POLL_PACE_METER_H

#include <stdint.h>

#include "base/sets/hist.h"

/* A round with a full burst takes 2 to 4 us. */
#define PACE_GAP_NS 10000u
/* Departures that are late by at most this are also counted (close). */
#define PACE_CLOSE_NS 2000u

struct pace_meter {
	uint64_t last_ns;    /* start of the last round */
	uint64_t gap_end_ns; /* frames due before this are excluded */
	uint64_t gaps, gap_ns, longest_gap_ns;
	uint64_t close;    /* within PACE_CLOSE_NS */
	uint64_t excluded; /* due in a gap */
	uint64_t unknown;  /* not paced: control frames, or no due time known */
	struct hist late_ns;
};

/** A round of the loop begins. */
static inline void
pace_meter_round(struct pace_meter *p, uint64_t now_ns)
{
	uint64_t gap_ns = now_ns - p->last_ns;

	if (p->last_ns != 0 && gap_ns > PACE_GAP_NS) {
		p->gaps++;
		p->gap_ns += gap_ns;
		p->longest_gap_ns = gap_ns > p->longest_gap_ns ? gap_ns : p->longest_gap_ns;
		p->gap_end_ns = now_ns;
	}
	p->last_ns = now_ns;
}

/** A frame that was due at due_ns (0: not known) has left. */
static inline void
pace_meter_departure(struct pace_meter *p, uint64_t due_ns, uint64_t now_ns)
{
	uint64_t late_ns = now_ns > due_ns ? now_ns - due_ns : 0;

	if (due_ns == 0) {
		p->unknown++;
	} else if (due_ns < p->gap_end_ns) {
		p->excluded++;
	} else {
		p->close += late_ns <= PACE_CLOSE_NS;
		hist_add(&p->late_ns, late_ns, 1);
	}
}

/** Add the measurements of another lcore. */
static inline void
pace_meter_add(struct pace_meter *p, const struct pace_meter *other)
{
	p->gaps += other->gaps;
	p->gap_ns += other->gap_ns;
	if (other->longest_gap_ns > p->longest_gap_ns)
		p->longest_gap_ns = other->longest_gap_ns;
	p->close += other->close;
	p->excluded += other->excluded;
	p->unknown += other->unknown;
	hist_merge(&p->late_ns, &other->late_ns);
}

#endif
