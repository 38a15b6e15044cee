/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NICs and the switch of a star without an event loop: each is called at equal steps, and what
 * it gives is handed to the other one a window later. No cables, no queue of events, no digest:
 * what is left is what the pipelines take.
 */
#ifndef QUENCH_TEST_BENCH_BARE_LOOP_H
#define QUENCH_TEST_BENCH_BARE_LOOP_H

#include <stdint.h>

struct net;

/**
 * Run an incast of all hosts of a star but the last into that one; host h is at port h - 1.
 *
 * @param step_ns  A frame's time on the congested link: it is asked as often, the senders in turns.
 * @return         Frames that were received, by hosts and the switch.
 */
uint64_t bare_loop(struct net *net, unsigned int hosts, uint64_t step_ns, uint64_t until_ns);

#endif
