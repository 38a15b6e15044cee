/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/event.h"

#include <stdio.h>

static const struct {
	const char *name;
	const char *text; /* format; arguments 1 to 4: port, queue, ours, theirs */
} kinds[] = {
	[SW_EVENT_STORM_DETECTED] =
		{"storm_detected",
		 "PFC Watchdog detected PFC storm on port %1$s, queue index %2$u"},
	[SW_EVENT_STORM_RESTORED] = {"storm_restored",
				     "PFC Watchdog storm restored on port %1$s, queue index %2$u"},
	[SW_EVENT_WAIT_TO_SHUTDOWN] = {"wait_to_shutdown",
				       "PFC Watchdog: queue stuck, wait to shutdown on port %1$s, "
				       "queue index %2$u"},
	[SW_EVENT_BIG_RED_SWITCH_ON] = {"big_red_switch_on",
					"PFC Watchdog: BIG_RED_SWITCH mode is enabled"},
	[SW_EVENT_BIG_RED_SWITCH_OFF] = {"big_red_switch_off",
					 "PFC Watchdog: BIG_RED_SWITCH mode is disabled"},
	[SW_EVENT_LINK_DOWN] = {"link_down", "port %1$s: link down"},
	[SW_EVENT_LINK_UP] = {"link_up", "port %1$s: link up"},
	[SW_EVENT_DCBX_NO_NEIGHBOUR] = {"dcbx_no_neighbour", "port %1$s: DCBX: no neighbour"},
	[SW_EVENT_DCBX_NO_PFC_TLV] = {"dcbx_no_pfc_tlv",
				      "port %1$s: DCBX: the neighbour sends no valid PFC TLV"},
	[SW_EVENT_DCBX_SEVERAL] = {"dcbx_several",
				   "port %1$s: DCBX: more than one neighbour, no PFC agreed"},
	[SW_EVENT_DCBX_AGREED] = {"dcbx_agreed",
				  "port %1$s: DCBX: PFC agreed (ours 0x%3$02x, peer's 0x%4$02x)"},
	[SW_EVENT_DCBX_MISMATCH] = {"dcbx_mismatch",
				    "port %1$s: DCBX: PFC mismatch (ours 0x%3$02x, "
				    "peer's 0x%4$02x)"},
};

const char *
sw_event_name(enum sw_event_kind kind)
{
	return kinds[kind].name;
}

/*
 * The formats are the constants above. All four arguments are passed, and a format may use fewer.
 */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
int
sw_event_text(const struct sw_event *e, const char *port, char *text, size_t size)
{
	return snprintf(text, size, kinds[e->kind].text, port, e->queue, e->ours, e->theirs);
}
