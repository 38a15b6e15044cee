/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC watchdog of one queue: detects that the peer has paused the queue for too long, and when this
 * has ended.
 *
 * sonic: polled every poll_interval. A poll is bad if the priority was paused for at least 99 % of
 * the time since the last poll (measured by the exact pause timer). With detect_empty off, packets
 * must also have waited without any leaving. A storm is detected once all polls have been bad for
 * detection_time, rounded up to whole poll intervals: after that time (less the 1 % that a bad poll
 * allows), and at most one poll_interval later. The queue is restored once no XOFF has arrived for
 * restoration_time. With xon_blocks_restore, XON frames count like XOFF, as in SONiC: a queue whose
 * peer keeps sending XON is never restored. With action = alert the queue is restored at the first
 * good poll.
 *
 * nxos: polled every watch_dog_interval. A queue is stuck if packets wait and none leaves. After
 * one stuck interval it waits to shut down; after shutdown_multiplier further ones it is shut down.
 * It is restored after auto_restore_multiplier + fixed_restore_multiplier intervals without XOFF;
 * with xon_blocks_restore, without any PFC frame.
 *
 * Invariant (tested): detected - restored = 1 during a storm, else 0.
 */
#ifndef QUENCH_TM_PFC_PFCWD_H
#define QUENCH_TM_PFC_PFCWD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"

enum pfcwd_mode { PFCWD_OFF, PFCWD_SONIC, PFCWD_NXOS };
enum pfcwd_action { PFCWD_DROP, PFCWD_FORWARD, PFCWD_ALERT };

struct pfcwd_params {
	int pfcwd;               /* enum pfcwd_mode */
	int action;              /* enum pfcwd_action */
	uint8_t pfcwd_sw_enable; /* mask of watched priorities, among those that the port obeys */
	uint64_t detection_time_ns;
	uint64_t restoration_time_ns; /* NEVER_NS: not restored automatically */
	uint64_t poll_interval_ns;
	bool detect_empty;
	bool xon_blocks_restore;
	bool big_red_switch;
	uint16_t big_red_switch_storms; /* 0: does not trip automatically */
	uint64_t watch_dog_interval_ns;
	uint16_t shutdown_multiplier;
	uint16_t auto_restore_multiplier;
	uint16_t fixed_restore_multiplier;
};

FIELD_TABLE(pfcwd_fields);

/** Ranges and rules across keys. @return 0, or as params_refuse(). */
int pfcwd_params_check(const struct pfcwd_params *params, char *why, unsigned int why_size);

/** "off", "sonic", "nxos". */
const char *pfcwd_mode_name(enum pfcwd_mode mode);

/** Time between two polls; NEVER_NS when off. */
uint64_t pfcwd_interval_ns(const struct pfcwd_params *params);

/*
 * tx: packets of the queue. rx: packets received on this port, in the group of the same priority.
 */
struct pfcwd_counts {
	uint64_t tx_packets, tx_dropped_packets;
	uint64_t rx_packets, rx_dropped_packets;
};

/* Input of a poll. Counters may restart at 0, except paused_ns and the frame counts. */
struct pfcwd_sample {
	uint64_t paused_ns; /* total so far */
	uint64_t pause_frames, xoff_frames;
	uint64_t queue_bytes;
	struct pfcwd_counts counts;
};

enum pfcwd_state { PFCWD_OPERATIONAL, PFCWD_WAIT_TO_SHUTDOWN, PFCWD_STORMED };
enum pfcwd_event { PFCWD_NOTHING, PFCWD_WAITS, PFCWD_DETECTED, PFCWD_RESTORED };

/* As PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED and so on. last: the current or latest storm. */
struct pfcwd_stats {
	uint64_t deadlock_detected, deadlock_restored;
	struct pfcwd_counts total, last;
	uint64_t detected_ns, restored_ns; /* the latest ones; 0: none */
	uint64_t longest_storm_ns;         /* until its restoration, or so far */
};

COUNTER_TABLE(pfcwd_counters); /* SONiC's names, in lower case */
/* Of the current or latest storm, whose packets begin at 0; and times of storms. */
COUNTER_TABLE(pfcwd_last_counters);

/* Zero-initialised: operational, not polled yet. */
struct pfcwd {
	enum pfcwd_state state;
	bool polled;
	uint64_t left_ns; /* remaining time of the countdown */
	uint64_t last_ns; /* time of the last poll */
	/*
	 * time up to which the countdown has counted: that at which the last poll was due, as polls
	 * are at multiples of the interval. Each poll is late by another time. If that were
	 * counted, n polls in a row would often be less than n intervals, and would need one more.
	 */
	uint64_t counted_ns;
	struct pfcwd_sample last;
	struct pfcwd_stats stats;
};

/**
 * Poll the queue. The first poll only stores its sample.
 *
 * @param now_ns  Time of the sample.
 * @return        The change of state; PFCWD_NOTHING also if a queue no longer waits to shut down.
 */
enum pfcwd_event pfcwd_poll(struct pfcwd *w, const struct pfcwd_params *params,
			    const struct pfcwd_sample *sample, uint64_t now_ns);

/** Update the counters without a change of state, during a storm of pfcwd_force(). */
void pfcwd_count(struct pfcwd *w, const struct pfcwd_sample *sample, uint64_t now_ns);

/** Apply new params of the same mode: the countdown restarts. */
void pfcwd_restart(struct pfcwd *w, const struct pfcwd_params *params);

/** Begin or end a storm from outside: the big red switch. */
void pfcwd_force(struct pfcwd *w, bool stormed, uint64_t now_ns);

#endif
