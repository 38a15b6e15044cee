/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often a queue marks, by its length, against its curve: counted by the owner of the port for
 * as long as another thread keeps asking (control/snapshot.h), or always with mark_accuracy. While
 * nobody asks, nothing is counted.
 *
 * Invariant (tested): a queue that nobody has asked about for SW_MARK_LOOK_NS decides as one that
 * nobody ever asked about.
 */
#ifndef QUENCH_SWITCH_CONTROL_MARK_LOOK_H
#define QUENCH_SWITCH_CONTROL_MARK_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/units.h"
#include "tm/queue/mark_accuracy.h"

struct node;
struct sw;

/* An answer keeps the counts going for so long. */
#define SW_MARK_LOOK_NS (5 * NS_PER_SEC)

struct sw_mark_look {
	uint16_t port; /* asked */
	uint8_t queue; /* asked */
	bool marks;    /* by a curve of WRED; all else is 0 otherwise */
	bool always;   /* mark_accuracy: the counts are those since the start */
	struct wred_curve curve;
	struct mark_accuracy counts;
};

/** By the thread that asks, first: memory for the counts of a queue. @return 0 or -ENOMEM. */
int sw_mark_look_prepare(struct node *node, uint16_t port, uint8_t queue);

/** By the owner of the port. look: all 0 but for what is asked. */
void sw_mark_look_at(struct sw *sw, struct sw_mark_look *look, uint64_t now_ns);

#endif
