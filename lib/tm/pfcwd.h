/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC watchdog of one queue: has its peer paused it for too long, and has that ended?
 *
 * sonic: polled every poll_interval. A poll is bad when the priority was paused for 99 % of the
 * time since the last one (the exact pause timer, not samples of it); with detect_empty off, also
 * only if packets waited and none left. A storm is detected when polls were bad for detection_time
 * in a row, so detection_time to detection_time + poll_interval after it began, and is restored
 * when no pause was asked for during restoration_time. XON frames count as such with
 * xon_blocks_restore only (SONiC lets any PFC frame block, so that a peer that sends XON is never
 * restored). With action = alert it is restored at the first good poll.
 *
 * nxos: polled every watch_dog_interval. Packets that wait while none leaves are stuck; after one
 * such interval the queue waits to shut down, after the multiplier's further ones it is shut down,
 * and comes back after auto_restore_multiplier + fixed_restore_multiplier intervals without XOFF.
 *
 * Invariant (tested): detected - restored is 1 while a storm is on, else 0.
 */
#ifndef QUENCH_TM_PFCWD_H
#define QUENCH_TM_PFCWD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"

enum pfcwd_mode { PFCWD_OFF, PFCWD_SONIC, PFCWD_NXOS };
enum pfcwd_action { PFCWD_DROP, PFCWD_FORWARD, PFCWD_ALERT };

struct pfcwd_params {
	int pfcwd;               /* enum pfcwd_mode */
	int action;              /* enum pfcwd_action */
	uint8_t pfcwd_sw_enable; /* mask of priorities that are watched, of those with PFC */
	uint64_t detection_time_ns;
	uint64_t restoration_time_ns; /* NEVER_NS: it never restores by itself */
	uint64_t poll_interval_ns;
	bool detect_empty;
	bool xon_blocks_restore;
	bool big_red_switch;
	uint16_t big_red_switch_storms; /* 0: it never trips by itself */
	uint64_t watch_dog_interval_ns;
	uint16_t shutdown_multiplier;
	uint16_t auto_restore_multiplier;
	uint16_t fixed_restore_multiplier;
};

extern const struct field pfcwd_fields[];
extern const unsigned int pfcwd_fields_n;

/** Ranges and rules across keys. @return 0, or as params_refuse(). */
int pfcwd_params_check(const struct pfcwd_params *params, char *why, unsigned int why_size);

/** "off", "sonic", "nxos". */
const char *pfcwd_mode_name(enum pfcwd_mode mode);

/** Time between two polls; NEVER_NS when it is off. */
uint64_t pfcwd_interval_ns(const struct pfcwd_params *params);

/* Packets of the queue, and of the priority group of the same priority that came in by its port. */
struct pfcwd_counts {
	uint64_t tx_packets, tx_dropped_packets;
	uint64_t rx_packets, rx_dropped_packets;
};

/* What is read at a poll; all but paused_ns and the frames may restart at 0. */
struct pfcwd_sample {
	uint64_t paused_ns; /* so far */
	uint64_t pause_frames, xoff_frames;
	uint64_t queue_bytes;
	struct pfcwd_counts counts;
};

enum pfcwd_state { PFCWD_OPERATIONAL, PFCWD_WAIT_TO_SHUTDOWN, PFCWD_STORMED };
enum pfcwd_event { PFCWD_NOTHING, PFCWD_WAITS, PFCWD_DETECTED, PFCWD_RESTORED };

/* PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED and so on; last: of the present or the latest storm. */
struct pfcwd_stats {
	uint64_t deadlock_detected, deadlock_restored;
	struct pfcwd_counts total, last;
};

extern const struct counter_field pfcwd_counters[]; /* SONiC's names, in lower case */
extern const unsigned int pfcwd_counters_n;
/* Of the present or the latest storm: they restart with each. */
extern const struct counter_field pfcwd_last_counters[];
extern const unsigned int pfcwd_last_counters_n;

/* Zero-initialised state is operational and has not been polled. */
struct pfcwd {
	enum pfcwd_state state;
	bool polled;
	uint64_t left_ns; /* of a countdown that runs */
	uint64_t last_ns; /* poll */
	struct pfcwd_sample last;
	struct pfcwd_stats stats;
};

/**
 * Look at the queue.
 *
 * @param now_ns  Of the sample.
 */
enum pfcwd_event pfcwd_poll(struct pfcwd *w, const struct pfcwd_params *params,
			    const struct pfcwd_sample *sample, uint64_t now_ns);

/** Count only: a storm that was declared from outside goes on. */
void pfcwd_count(struct pfcwd *w, const struct pfcwd_sample *sample, uint64_t now_ns);

/** Other params from now on, of the same mode: the running countdown restarts. */
void pfcwd_restart(struct pfcwd *w, const struct pfcwd_params *params);

/** Declare a storm, or its end, from outside: the big red switch. */
void pfcwd_force(struct pfcwd *w, bool stormed);

#endif
