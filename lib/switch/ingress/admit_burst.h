/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admission of a burst, run by run: frames that come after each other, of one class and to one
 * port, with nothing to decide on any of them alone. A run that is certain to fit is charged and
 * counted as a whole, which is what its frames in turn would give; frames of any other go one by
 * one. What a group is charged for its runs waits until all of the burst is in, or a frame alone
 * asks for it.
 */
#ifndef QUENCH_SWITCH_INGRESS_ADMIT_BURST_H
#define QUENCH_SWITCH_INGRESS_ADMIT_BURST_H

#include "switch/egress/switch.h"
#include "switch/frame/arrival.h"

/**
 * sw_admit() for what is left of a burst of one port, counted, with XOFF; takes the frames.
 *
 * @param reasons  Per frame: SW_PASS, or why it is not forwarded.
 */
void sw_admit_burst(struct sw *sw, struct arrival *a, unsigned int n, const enum sw_drop reasons[]);

/** Frames that have crossed to this shard, admitted at their ingress: to their queues; takes
 * them. */
void sw_admit_crossed(struct sw *sw, struct arrival *a, unsigned int n);

#endif
