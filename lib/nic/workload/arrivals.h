/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrival times of the messages of an open loop whose load may change.
 *
 * A flow records spans of time, each with the load in force; a gap between two spans is a stop of
 * the flow. Message m arrives when the integral of the load since the arrival of m - 1 reaches
 * share(seed, QP, m) * mean message size, where the share is 1 on average. Hence a change takes
 * effect at its instant, earlier arrivals keep their times, and nothing arrives while the flow is
 * stopped: the rest of an interrupted gap follows when the flow resumes.
 *
 * A QP stores the arrival of its next message. If that lies in the future, a change moves it
 * (arrivals_moved_ns()). If it lies in the past, it does not move; arrivals_next_ns() computes the
 * later ones from the spans.
 *
 * Invariant: both ways give the same times while a backlog covers at most ARRIVALS_SPANS
 * changes. Beyond that, the two oldest spans are merged into one at their mean load.
 */
#ifndef QUENCH_NIC_WORKLOAD_ARRIVALS_H
#define QUENCH_NIC_WORKLOAD_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/workload/workload.h"

#define ARRIVALS_SPANS 8u
/* Beyond the end of any run, and the latest deadline that the pacing wheel accepts. */
#define ARRIVALS_LAST_NS ((1ull << 63) - 1)

struct arrivals_span {
	/* until_ns NEVER_NS: in force; from_ns = until_ns: an empty span */
	uint64_t from_ns, until_ns;
	uint64_t load_bps; /* > 0 */
};

struct arrivals {
	struct arrivals_span span[ARRIVALS_SPANS]; /* oldest first */
	uint32_t n;
	/* The last change: an arrival due at moved_from_ns under moved_bps is now due at
	 * moved_to_ns. moved_bps 0: the change moved nothing. */
	uint64_t moved_bps;
	uint64_t moved_from_ns, moved_to_ns;
};

/** Messages arrive from start_ns on or, if stopped, from a later change on. load_bps > 0. */
void arrivals_init(struct arrivals *a, uint64_t start_ns, uint64_t load_bps, bool stopped);

/**
 * Change the load, stop or resume at at_ns, which is not before the last change. A call without a
 * change moves nothing.
 *
 * @param load_bps  0 stops.
 */
void arrivals_change(struct arrivals *a, uint64_t load_bps, bool stopped, uint64_t at_ns);

/** New time of an arrival after the last change; arrivals before the change keep their times. */
uint64_t arrivals_moved_ns(const struct arrivals *a, uint64_t arrival_ns);

/** Arrival of a QP's message, given that the previous one arrived at before_ns. */
uint64_t arrivals_next_ns(const struct arrivals *a, const struct workload *w, uint32_t qpn,
			  uint64_t message, uint64_t before_ns);

/** Arrival of a QP's first message; only while nothing has changed since arrivals_init(). */
uint64_t arrivals_first_ns(const struct arrivals *a, const struct workload *w, uint32_t qpn);

#endif
