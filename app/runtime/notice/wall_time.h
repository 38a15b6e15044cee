/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of day, for people who compare two programs. Nothing computes with it: intervals come
 * from clocks that are not set.
 */
#ifndef QUENCH_APP_RUNTIME_NOTICE_WALL_TIME_H
#define QUENCH_APP_RUNTIME_NOTICE_WALL_TIME_H

#include <stdint.h>

/* "2026-11-29T18:20:32.123456Z" and its end. */
#define WALL_TIME_CHARS 28

/** CLOCK_REALTIME in ns. */
uint64_t wall_now_ns(void);

/** Write a time of day in UTC as ISO 8601, in us, rounded down. @return text. */
const char *wall_time(uint64_t unix_ns, char text[WALL_TIME_CHARS]);

/**
 * Write the time of day of an event of this run. The rate of the run's clock is not adjusted, so
 * the error grows with the age of the event.
 *
 * @param at_ns   when, since the start of the run
 * @param now_ns  now, by the same clock; at least at_ns
 */
const char *wall_time_of(uint64_t at_ns, uint64_t now_ns, char text[WALL_TIME_CHARS]);

#endif
