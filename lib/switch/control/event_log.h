/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that wait for a reader. */
#ifndef QUENCH_SWITCH_CONTROL_EVENT_LOG_H
#define QUENCH_SWITCH_CONTROL_EVENT_LOG_H

#include <stdbool.h>
#include "switch/control/event.h"

struct node;
struct sw;

/** Record an event; of the front. */
void sw_event_record(struct sw *sw, const struct sw_event *e);

/** Take the oldest event. Called where control() is. @return false: there is none. */
bool sw_event_next(struct node *node, struct sw_event *out);

/** Look at the i-th event that waits. @return false: fewer wait. */
bool sw_event_peek(const struct node *node, uint32_t i, struct sw_event *out);

/** Events that nobody took in time. */
uint64_t sw_events_lost(const struct node *node);

#endif
