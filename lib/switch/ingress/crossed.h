/* SPDX-License-Identifier: BSD-3-Clause */
/* What other shards have for this one: frames, charges, news of neighbours. */
#ifndef QUENCH_SWITCH_INGRESS_CROSSED_H
#define QUENCH_SWITCH_INGRESS_CROSSED_H

#include "switch/egress/switch.h"

/** Take what others have given back to a port. */
void sw_cross_collect(struct sw *sw, uint16_t port, uint64_t now_ns);
/** Take what others have handed over, up to a bound. */
void sw_cross_take(struct sw *sw, uint64_t now_ns);
/** Let all shards do what waits for them, until nothing does: one thread has all of them. */
void sw_shards_settle(struct sw *front, uint64_t now_ns);

#endif
