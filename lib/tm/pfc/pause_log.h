/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The latest pauses of one port in one direction that have ended, of all priorities: since when and
 * for how long. One owner writes; a sequence lock of its user protects it.
 */
#ifndef QUENCH_TM_PFC_PAUSE_LOG_H
#define QUENCH_TM_PFC_PAUSE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/threads/counter.h"
#include "tm/classes/qos_map.h"

#define PAUSE_LOG 16u
/* Ended pauses, and one in force for each priority. */
#define PAUSE_LOG_MOST (PAUSE_LOG + TM_CLASSES)

struct pause_logged {
	uint64_t start_ns, duration_ns;
	uint64_t prio;
};

struct pause_log {
	uint64_t written; /* pauses so far; the latest PAUSE_LOG of them are kept */
	struct pause_logged ring[PAUSE_LOG];
};

/* A pause, for readers. */
struct pause_view {
	uint64_t start_ns, duration_ns;
	uint8_t prio;
	bool lasts; /* in force; duration_ns is that so far */
};

static inline void
pause_log_add(struct pause_log *log, unsigned int prio, uint64_t start_ns, uint64_t duration_ns)
{
	struct pause_logged *at = &log->ring[log->written % PAUSE_LOG];

	__atomic_store_n(&at->start_ns, start_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&at->duration_ns, duration_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&at->prio, prio, __ATOMIC_RELAXED);
	counter_inc(&log->written);
}

/** Copy the logged pauses, the oldest first. @return their number, at most PAUSE_LOG. */
static inline unsigned int
pause_log_read(const struct pause_log *log, struct pause_view out[PAUSE_LOG])
{
	uint64_t end = counter_read(&log->written), i = end > PAUSE_LOG ? end - PAUSE_LOG : 0;
	unsigned int n = 0;

	for (; i < end; i++) {
		const struct pause_logged *at = &log->ring[i % PAUSE_LOG];

		out[n++] = (struct pause_view){
			.start_ns = counter_read(&at->start_ns),
			.duration_ns = counter_read(&at->duration_ns),
			.prio = (uint8_t)counter_read(&at->prio),
		};
	}
	return n;
}

#endif
