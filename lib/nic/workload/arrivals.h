/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the messages of an open loop come, whatever happens to its load.
 *
 * A flow keeps the spans of time in which messages came, each with its load; between two of them
 * it was stopped. The gap before a message is a share of the mean gap that depends on seed, QP and
 * number alone, and takes as long as the loads in force meanwhile make it. So a change counts from
 * its instant on, what had come before stays where it was, and nothing comes while a flow is
 * stopped: a gap that a stop interrupts goes on when the flow does.
 *
 * A QP keeps the arrival of its next message. One that is still to come moves with the change
 * (arrivals_moved_ns()). One that has come keeps its time, and those after it follow through the
 * spans. Both ways give the same times, as long as a backlog spans no more than ARRIVALS_SPANS
 * changes; of an older one the two oldest spans count as one at their mean load.
 */
#ifndef QUENCH_NIC_WORKLOAD_ARRIVALS_H
#define QUENCH_NIC_WORKLOAD_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/workload/workload.h"

#define ARRIVALS_SPANS 8u
/* Later than any run; the pacing wheel takes no later deadline. */
#define ARRIVALS_LAST_NS ((1ull << 63) - 1)

struct arrivals_span {
	uint64_t from_ns, until_ns; /* until NEVER_NS: in force; of an empty one both are equal */
	uint64_t load_bps;          /* > 0 */
};

struct arrivals {
	struct arrivals_span span[ARRIVALS_SPANS]; /* oldest first */
	uint32_t n;
	/* The last change: what was to come at moved_from_ns at moved_bps comes at moved_to_ns; 0:
	 * it moved nothing. */
	uint64_t moved_bps;
	uint64_t moved_from_ns, moved_to_ns;
};

/** Messages come from start_ns on, or, stopped, from a change after it. load_bps > 0. */
void arrivals_init(struct arrivals *a, uint64_t start_ns, uint64_t load_bps, bool stopped);

/**
 * Another load, a stop, or an end of it at at_ns, which is no earlier than the last change. Call it
 * with what is in force, too: then nothing moves. @param load_bps  0 stops.
 */
void arrivals_change(struct arrivals *a, uint64_t load_bps, bool stopped, uint64_t at_ns);

/** Where the last change has moved an arrival to. One before the change stays where it is. */
uint64_t arrivals_moved_ns(const struct arrivals *a, uint64_t arrival_ns);

/** Arrival of a QP's message, when the one before it came at before_ns. */
uint64_t arrivals_next_ns(const struct arrivals *a, const struct workload *w, uint32_t qpn,
			  uint64_t message, uint64_t before_ns);

/** Arrival of a QP's first message, when nothing has changed since arrivals_init(). */
uint64_t arrivals_first_ns(const struct arrivals *a, const struct workload *w, uint32_t qpn);

#endif
