/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue of events for a reader.
 *
 * Invariant: events recorded = taken + waiting + lost; waiting <= SW_EVENTS.
 */
#ifndef QUENCH_SWITCH_CONTROL_EVENT_LOG_H
#define QUENCH_SWITCH_CONTROL_EVENT_LOG_H

#include <stdbool.h>
#include "switch/control/event.h"

struct node;
struct sw;

/** Record an event, in the front. */
void sw_event_record(struct sw *sw, const struct sw_event *e);

/** Take the oldest event; in the thread that calls control(). @return false: there is none. */
bool sw_event_next(struct node *node, struct sw_event *out);

/** Copy the i-th waiting event. @return false: fewer wait. */
bool sw_event_peek(const struct node *node, uint32_t i, struct sw_event *out);

/**
 * Number of events lost, because SW_EVENTS waited already, since the last sw_events_take_lost(). In
 * the thread that calls control().
 */
uint32_t sw_events_lost(const struct node *node);
/** As sw_events_lost(), and count from 0 again. */
uint32_t sw_events_take_lost(struct node *node);

#endif
