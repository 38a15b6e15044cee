/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving from other shards: frames, returned charges, and neighbours' addresses.
 *
 * Invariant: crossed_out_bytes - crossed_in_bytes, over all shards, is the number of charged bytes
 * on their way between shards.
 */
#ifndef QUENCH_SWITCH_INGRESS_CROSSED_H
#define QUENCH_SWITCH_INGRESS_CROSSED_H

#include "switch/core/switch.h"

/** Release the charges that other shards have returned to a port. */
void sw_crossed_collect(struct sw *sw, uint16_t port, uint64_t now_ns);
/** Take what other shards have handed over: frames, up to a bound, and neighbours' addresses. */
void sw_crossed_take(struct sw *sw, uint64_t now_ns);
/**
 * Serve all shards until nothing waits between them. Call it only if one thread drives all shards.
 */
void sw_crossed_settle(struct sw *front, uint64_t now_ns);

#endif
