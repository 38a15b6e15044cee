/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of live lines: three digits with a unit that grows with the number. */
#ifndef QUENCH_APP_RUNTIME_NOTICE_SCALED_H
#define QUENCH_APP_RUNTIME_NOTICE_SCALED_H

#include <stdint.h>

#define SCALED_CHARS 16

/**
 * Format a number such as 4.73 with a decimal prefix of its unit: "27.7 Mpps", "812 pps". With unit
 * "", the prefix follows at once: "27.7M". Below 1000, a whole number is exact.
 *
 * @param value  At least 0.
 * @param unit   At most 4 characters.
 * @return       text.
 */
const char *scaled(char text[SCALED_CHARS], double value, const char *unit);

/** A counter. */
const char *scaled_count(char text[SCALED_CHARS], uint64_t count);

/** Format a time: "812 ns", "8.83 us", "90.7 ms", "1.25 s". */
const char *scaled_time(char text[SCALED_CHARS], uint64_t ns);

#endif
