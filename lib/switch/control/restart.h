/* SPDX-License-Identifier: BSD-3-Clause */
/* A short loss of power: the switch loses its frames and what it learned, and starts again from its
 * configuration. */
#ifndef QUENCH_SWITCH_CONTROL_RESTART_H
#define QUENCH_SWITCH_CONTROL_RESTART_H

#include <stdint.h>

struct node;

/**
 * Lose all that a loss of power takes, at once: frames (dropped under restart, and their buffer is
 * given back), learned addresses and neighbours, pauses of both directions, storms of the watchdog.
 * Counters, configuration and what was asked for at run time stay. One thread drives all shards.
 * The links are the caller's to take down and up.
 */
void sw_restart(struct node *node, uint64_t now_ns);

#endif
