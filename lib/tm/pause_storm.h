/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A receiver that pauses for too long. One host that does not take its frames holds its port, the
 * switch holds all that send through it, and the pauses spread: so NICs watch themselves.
 *
 * A priority that is held longer than the minor watermark is a warning; longer than the critical
 * one, an error: its pausing is disabled until the host has caught up, and what finds no room in
 * the meantime is lost. Both are counted once for each time that it is held. Names and meaning are
 * mlx5's: device_stall_minor_watermark and device_stall_critical_watermark of its PFCC register,
 * tx_pause_storm_warning_events and tx_pause_storm_error_events of ethtool -S.
 *
 * Invariant (tested): a priority is never held longer than the critical watermark.
 */
#ifndef QUENCH_TM_PAUSE_STORM_H
#define QUENCH_TM_PAUSE_STORM_H

#include <stdbool.h>
#include <stdint.h>

#include "tm/qos_map.h"

struct pause_storm_params {
	uint64_t minor_ns;    /* 0: no warnings */
	uint64_t critical_ns; /* 0: no errors; at least minor_ns */
};

struct pause_storm_stats {
	uint64_t tx_pause_storm_warning_events;
	uint64_t tx_pause_storm_error_events;
};

/* Zero-initialised state: nothing is held. Masks of priorities. */
struct pause_storm {
	uint8_t paused, warned;
	uint8_t disabled; /* may not be held, until pause_storm_end() */
	uint64_t since_ns[TM_CLASSES];
};

/** The peer is held from now on. */
void pause_storm_begin(struct pause_storm *s, uint8_t prio, uint64_t now_ns);

/** The host has caught up: nobody is held, and may be again. */
void pause_storm_end(struct pause_storm *s, uint8_t prio);

/** What has been held for too long is counted. @return priorities that are disabled just now. */
uint8_t pause_storm_check(struct pause_storm *s, const struct pause_storm_params *params,
			  struct pause_storm_stats *stats, uint64_t now_ns);

/** When pause_storm_check() will have something to do; NEVER_NS: nothing is held. */
uint64_t pause_storm_next_ns(const struct pause_storm *s, const struct pause_storm_params *params);

#endif
