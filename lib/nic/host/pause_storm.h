/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits the time for which a receiver may pause its sender. If a host does not take its frames,
 * its NIC pauses the switch port; the switch then pauses every port that sends to it, and pauses
 * spread through the network. So each NIC watches the pauses that it sends.
 *
 * A priority paused for longer than the minor watermark counts as a warning. After the critical
 * watermark it counts as an error, and pausing is disabled until the host has caught up; frames
 * that do not fit meanwhile are lost. Warning and error are each counted at most once per pause.
 * Names and meaning are those of mlx5: device_stall_minor_watermark and
 * device_stall_critical_watermark of its PFCC register, tx_pause_storm_warning_events and
 * tx_pause_storm_error_events of ethtool -S.
 *
 * Invariant (tested): after pause_storm_check(), now - since_ns < critical_ns for every paused
 * priority, unless critical_ns is 0.
 */
#ifndef QUENCH_NIC_HOST_PAUSE_STORM_H
#define QUENCH_NIC_HOST_PAUSE_STORM_H

#include <stdbool.h>
#include <stdint.h>

#include "tm/classes/qos_map.h"

struct pause_storm_params {
	uint64_t minor_ns;    /* 0: no warnings */
	uint64_t critical_ns; /* 0: no errors; at least minor_ns */
};

struct pause_storm_stats {
	uint64_t tx_pause_storm_warning_events;
	uint64_t tx_pause_storm_error_events;
};

/* Zero-initialised: nothing is paused. Masks of priorities. */
struct pause_storm {
	uint8_t paused, warned;
	uint8_t disabled; /* these priorities must not be paused until pause_storm_end() */
	uint64_t since_ns[TM_CLASSES];
};

/** The peer is paused from now on. */
void pause_storm_begin(struct pause_storm *s, uint8_t prio, uint64_t now_ns);

/** The host has caught up: the peer is not paused, and may be paused again. */
void pause_storm_end(struct pause_storm *s, uint8_t prio);

/**
 * Count pauses that exceed a watermark. @return priorities whose pausing is disabled by this call.
 */
uint8_t pause_storm_check(struct pause_storm *s, const struct pause_storm_params *params,
			  struct pause_storm_stats *stats, uint64_t now_ns);

/** Time at which pause_storm_check() will next count something; NEVER_NS if nothing is paused. */
uint64_t pause_storm_next_ns(const struct pause_storm *s, const struct pause_storm_params *params);

#endif
