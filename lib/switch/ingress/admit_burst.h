/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admission of a burst, run by run. A run consists of consecutive frames of one class to one port
 * that need no individual decision. If a run is certain to fit, it is charged and counted as a
 * whole; all other frames are admitted one by one. The charges of a group's runs are applied at the
 * end of the burst, or before a frame is admitted alone.
 *
 * Invariant (tested): the result is the same as if the frames were admitted one by one.
 */
#ifndef QUENCH_SWITCH_INGRESS_ADMIT_BURST_H
#define QUENCH_SWITCH_INGRESS_ADMIT_BURST_H

#include "switch/core/switch.h"
#include "switch/frame/arrival.h"

/**
 * As sw_admit() for each frame of a burst of one port, including counters and XOFF; takes the
 * frames.
 *
 * @param reasons  Per frame: SW_PASS, or why it is not forwarded.
 */
void sw_admit_burst(struct sw *sw, struct arrival *a, unsigned int n, const enum sw_drop reasons[]);

/**
 * Enqueue the frames of the first n entries of a ring, which their ingress has admitted; takes the
 * frames. The caller releases the slots.
 */
void sw_admit_crossed(struct sw *sw, const struct sw_ring *r, uint32_t n, uint64_t now_ns);

#endif
