/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulation of a short loss of power: the switch loses its frames and what it has learned.
 *
 * Invariant: afterwards all queues are empty and no buffer is in use.
 */
#ifndef QUENCH_SWITCH_CHANGE_RESTART_H
#define QUENCH_SWITCH_CHANGE_RESTART_H

#include <stdint.h>

struct node;

/**
 * Drop all frames (under restart; their buffer is released), forget learned addresses and
 * neighbours, and end the pauses of both directions and the storms of the watchdog. Counters,
 * configuration and requests made at run time stay. Only if one thread drives all shards. The
 * caller takes the links down and up.
 */
void sw_restart(struct node *node, uint64_t now_ns);

#endif
