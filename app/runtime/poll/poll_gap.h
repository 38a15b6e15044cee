/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times between the polls of a loop, and what late ones cost.
 *
 * A port's shaper lets a late poll catch up for at most shaper_burst_ns. If a frame waited, the
 * rest of the lateness is lost to the port's rate. A loop that slept until due_ns was late only
 * from then on.
 *
 * Invariant: gap_ns.count = polls - 1, and lost_ns <= the sum of gaps.
 */
#ifndef QUENCH_APP_RUNTIME_POLL_POLL_GAP_H
#define QUENCH_APP_RUNTIME_POLL_POLL_GAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/fixed.h"
#include "base/sets/hist.h"
#include "base/threads/counter.h"

struct poll_gap {
	uint64_t last_ns;     /* end of the last poll; 0: none */
	uint64_t burst_ns;    /* shaper_burst_ns; the control thread writes it */
	uint64_t lost_ns;     /* lateness beyond burst_ns of polls that moved frames */
	uint64_t late_max_ns; /* of these polls */
	struct hist gap_ns;
};

/**
 * A poll has ended.
 *
 * @param moved   It moved frames.
 * @param due_ns  If the loop slept before it: time at which work was due, else 0.
 */
static inline void
poll_gap_add(struct poll_gap *g, bool moved, uint64_t due_ns, uint64_t now_ns)
{
	uint64_t late_ns = sub_sat(now_ns, due_ns > g->last_ns ? due_ns : g->last_ns);
	uint64_t burst_ns = __atomic_load_n(&g->burst_ns, __ATOMIC_RELAXED);

	if (g->last_ns != 0) {
		hist_add(&g->gap_ns, now_ns - g->last_ns, 1);
		if (moved && late_ns > burst_ns) {
			counter_add(&g->lost_ns, late_ns - burst_ns);
			if (late_ns > g->late_max_ns)
				__atomic_store_n(&g->late_max_ns, late_ns, __ATOMIC_RELAXED);
		}
	}
	g->last_ns = now_ns;
}

/*
 * Sleeps end late, mostly by the same time: about 5 us on a machine, 60 us in a virtual one. So a
 * loop wakes up earlier than its next work by what sleeps were late before, and spins for the rest.
 */
struct poll_wake {
	uint64_t early_ns; /* at most POLL_WAKE_MOST_NS */
};

/* What is later had another cause, such as another task on the core. */
#define POLL_WAKE_MOST_NS 200000u
/* The estimate follows a longer time at once, and shorter ones by this part. */
#define POLL_WAKE_FALL_SHIFT 6

/** Time to sleep, at most most_ns, before the work that is due at due_ns (NEVER_NS: none). */
static inline uint64_t
poll_wake_sleep_ns(const struct poll_wake *w, uint64_t due_ns, uint64_t most_ns, uint64_t now_ns)
{
	return min_u64(sub_sat(sub_sat(due_ns, w->early_ns), now_ns), most_ns);
}

/** A sleep ended late_ns later than wanted. */
static inline void
poll_wake_woke(struct poll_wake *w, uint64_t late_ns)
{
	late_ns = min_u64(late_ns, POLL_WAKE_MOST_NS);
	if (late_ns >= w->early_ns)
		w->early_ns = late_ns;
	else
		w->early_ns -= (w->early_ns - late_ns) >> POLL_WAKE_FALL_SHIFT;
}

#endif
