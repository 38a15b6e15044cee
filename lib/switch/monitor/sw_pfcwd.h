/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PFC watchdog of all queues. It is control work: it reads counters of the data path, and
 * requests that queues in a storm drop or forward their frames. The queue of a priority and the
 * group with its number are watched together.
 *
 * Invariant: requested.storm_drop and storm_forward of a port are disjoint.
 */
#ifndef QUENCH_SWITCH_MONITOR_SW_PFCWD_H
#define QUENCH_SWITCH_MONITOR_SW_PFCWD_H

#include <stdbool.h>
#include <stdint.h>

struct node;
struct pfcwd;
struct sw;
struct sw_params;

/** @return 0 or -ENOMEM; sw_pfcwd_free() frees what there is. */
int sw_pfcwd_init(struct sw *sw, const struct sw_params *params);
void sw_pfcwd_free(struct sw *sw);
void sw_pfcwd_set_params(struct sw *sw, const struct sw_params *params, uint64_t now_ns);

/** @return when to call again. */
uint64_t sw_pfcwd_control(struct sw *sw, uint64_t now_ns);

/** End all storms, and the big red switch unless it is configured; counters stay. */
void sw_pfcwd_restart(struct sw *sw, uint64_t now_ns);

/**
 * Make all watched queues drop, and suspend detection; takes effect in the next control(), unless
 * the watchdog is off.
 */
void sw_set_big_red_switch(struct node *node, bool on);

/** Is the big red switch on, by request or because of too many storms? */
bool sw_big_red_switch(const struct node *node);

/** Does the watchdog watch this priority of this port? */
bool sw_pfcwd_watches(const struct node *node, uint16_t port, uint8_t prio);

const struct pfcwd *sw_pfcwd(const struct node *node, uint16_t port, uint8_t prio);

#endif
