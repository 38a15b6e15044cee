/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer of an RNR NAK: the low five bits of its syndrome (IBTA volume 1, table 46). */
#ifndef QUENCH_WIRE_ROCE_RNR_TIMER_H
#define QUENCH_WIRE_ROCE_RNR_TIMER_H

#include <stdint.h>

#define RNR_TIMERS 32u

/* How long the requester waits, by the timer. */
extern const uint32_t rnr_timer_us[RNR_TIMERS];

#endif
