/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events for the operator: storms, links, negotiation. The control side records them, quench-switch
 * prints them, the lab writes them to a file.
 */
#ifndef QUENCH_SWITCH_CONTROL_EVENT_H
#define QUENCH_SWITCH_CONTROL_EVENT_H

#include <stddef.h>
#include <stdint.h>

/* Limit of the events that wait for a reader. Further events are lost, and counted. */
#define SW_EVENTS 256

enum sw_event_kind {
	SW_EVENT_STORM_DETECTED,
	SW_EVENT_STORM_RESTORED,
	SW_EVENT_WAIT_TO_SHUTDOWN,
	SW_EVENT_BIG_RED_SWITCH_ON,
	SW_EVENT_BIG_RED_SWITCH_OFF,
	SW_EVENT_LINK_DOWN,
	SW_EVENT_LINK_UP,
	SW_EVENT_DCBX_NO_NEIGHBOUR,
	SW_EVENT_DCBX_NO_PFC_TLV,
	SW_EVENT_DCBX_SEVERAL,
	SW_EVENT_DCBX_AGREED,
	SW_EVENT_DCBX_MISMATCH,
};

struct sw_event {
	uint64_t at_ns;
	enum sw_event_kind kind;
	uint16_t port;
	uint8_t queue;
	uint8_t ours, theirs; /* DCBX: masks of priorities with PFC */
};

/** One word for a list: "storm_detected". */
const char *sw_event_name(enum sw_event_kind kind);

/**
 * One line of text: SONiC's, if SONiC has such an event.
 *
 * @param port  The event's port in words: its name or number.
 * @return      As snprintf.
 */
int sw_event_text(const struct sw_event *e, const char *port, char *text, size_t size);

#endif
