/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admission of a burst. First all frames are classified and summed by group. A group whose sum is
 * certain to fit needs no further decision, and is charged once, at the end of the burst or before
 * a frame is admitted alone. Then run by run: consecutive frames of one class to one port enter
 * their queue together. All other frames are admitted one by one.
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
