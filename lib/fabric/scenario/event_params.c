/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of [event NAME] and [record NAME]. */
#include "base/units.h"
#include "fabric/scenario/scenario.h"

const char *const event_action_words[] = {
	[EVENT_LINK_DOWN] = "link_down",
	[EVENT_LINK_UP] = "link_up",
	[EVENT_TX_DISABLE] = "tx_disable",
	[EVENT_TX_ENABLE] = "tx_enable",
	[EVENT_PFC_DELAY] = "pfc_delay",
	[EVENT_LOSS] = "loss",
	[EVENT_BIT_ERRORS] = "bit_errors",
	[EVENT_CORRUPT] = "corrupt",
	[EVENT_REORDER] = "reorder",
	[EVENT_DELAY] = "delay",
	[EVENT_PAUSE_STORM] = "pause_storm",
	[EVENT_PAUSE_STORM_END] = "pause_storm_end",
	[EVENT_SLOW_RECEIVER] = "slow_receiver",
	[EVENT_SWITCH_RESTART] = "switch_restart",
	[EVENT_SET] = "set",
	[EVENT_SEND] = "send",
	[EVENT_CLEAR_WATERMARKS] = "clear_watermarks",
	[EVENT_CLEAR_COUNTERS] = "clear_counters",
	[EVENT_DUMP] = "dump",
	[EVENT_DUMP + 1] = NULL,
};

static const char *const direction_words[] = {"both", "tx", "rx", NULL};

const struct field event_fields[] = {
	{FIELD_OF(struct event_params, at_ns), .type = FIELD_U64, .unit = UNIT_NS, .min = 1,
	 .max = 3600 * NS_PER_SEC, .help = "when: after all else that happens at that time"},
	{FIELD_OF(struct event_params, action), .type = FIELD_ENUM, .choices = event_action_words,
	 .help = "link_down, link_up: of the cable at a port; loss, bit_errors, corrupt, reorder, "
		 "delay: of frames on it; tx_disable, tx_enable: of data of a switch port; "
		 "pfc_delay: a switch port obeys pause frames `quanta` later; pause_storm, "
		 "pause_storm_end: a host pauses its peer; slow_receiver: a host drains at "
		 "drain_rate_bps; switch_restart; set: other keys, of any live ones; send: frames "
		 "leave by a port; clear_watermarks, clear_counters, dump (to the results): of "
		 "one node or of all"},
	{FIELD_OF(struct event_params, node), .type = FIELD_STR, .max = TOPOLOGY_NODE_CHARS,
	 .def = "all",
	 .help = "a switch or a host, such as T1 or h3; all: every node, where the action has no "
		 "port"},
	{FIELD_OF(struct event_params, port), .type = FIELD_STR, .max = EVENT_PORT_CHARS,
	 .def = "0", .help = "port of the node, or the node at its other end, such as L1 or h1"},
	{FIELD_OF(struct event_params, for_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 3600 * NS_PER_SEC, .def = "0",
	 .help = "how long it lasts, if it can: then things are as the other sections say; 0: "
		 "until another event, or to the end"},
	{FIELD_OF(struct event_params, direction), .type = FIELD_ENUM, .choices = direction_words,
	 .def = "both",
	 .help = "loss, bit_errors, corrupt, reorder, delay: of frames both ways, of those that "
		 "leave by the port (tx), or of those that come to it (rx)"},
	{FIELD_OF(struct event_params, frames), .type = FIELD_ENUM, .choices = cable_frames_words,
	 .def = "all",
	 .help = "loss: of all frames, or of one kind: data (and requests), ack (and NAK), cnp, "
		 "pause"},
	{FIELD_OF(struct event_params, frame_ppb), .type = FIELD_U32, .max = CABLE_MAX_PPB,
	 .def = "0",
	 .help = "loss, corrupt, reorder: frames of 10^9 that it happens to, at random; 0: none"},
	{FIELD_OF(struct event_params, bit_errors_per_tbit), .type = FIELD_U64,
	 .max = CABLE_MAX_BIT_ERRORS, .def = "0",
	 .help = "bit_errors: in 10^12 bits, as of [link NAME]"},
	{FIELD_OF(struct event_params, reorder_frames), .type = FIELD_U32, .max = 1000000,
	 .def = "0",
	 .help = "reorder: a frame arrives after this many of the next ones, but at most delay_ns "
		 "late; 0: delay_ns late, after those that overtake it in that time"},
	{FIELD_OF(struct event_params, delay_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "0",
	 .help = "delay: propagation delay of the cable from now on; reorder: how late"},
	{FIELD_OF(struct event_params, drain_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 800 * GBPS, .def = "0",
	 .help = "slow_receiver: as of [receiver], whose limits hold; 0: all at once"},
	{FIELD_OF(struct event_params, quanta), .type = FIELD_U16, .max = UINT16_MAX, .def = "0",
	 .help = "pfc_delay: how much later, in quanta of 512 bit times"},
	{FIELD_OF(struct event_params, set), .type = FIELD_STR, .max = EVENT_SET_CHARS,
	 .def = "none",
	 .help = "set: SECTION.KEY=VALUE, or several with commas between them, as if the other "
		 "sections said so from now on: wred.Kmin=20KB, switch T1.pfc_generate=off, flow "
		 "late.stopped=off; only keys that are live"},
	{FIELD_OF(struct event_params, frame), .type = FIELD_STR, .max = EVENT_FRAME_CHARS,
	 .def = "none", .help = "send: a frame without FCS, in hexadecimal, or none"},
	{FIELD_OF(struct event_params, file), .type = FIELD_STR, .max = EVENT_PATH_CHARS,
	 .def = "none",
	 .help = "send: a pcap or pcapng file of Ethernet, beside the scenario's file, or none"},
	{FIELD_OF(struct event_params, count), .type = FIELD_U32, .min = 1, .max = 1000000000,
	 .def = "1", .help = "send: how many times the frame or the file"},
	{FIELD_OF(struct event_params, rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 800 * GBPS, .def = "0",
	 .help = "send: at this rate, wire bytes; 0: as interval_ns says"},
	{FIELD_OF(struct event_params, interval_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 3600 * NS_PER_SEC, .def = "0",
	 .help = "send: time from frame to frame; 0: a file's own times, and of a single frame at "
		 "the link's speed"},
};
const unsigned int event_fields_n = sizeof(event_fields) / sizeof(event_fields[0]);

const struct field record_fields[] = {
	{FIELD_OF(struct record_params, node), .type = FIELD_STR, .min = 1,
	 .max = TOPOLOGY_NODE_CHARS, .help = "a switch or a host, such as T1 or h3"},
	{FIELD_OF(struct record_params, port), .type = FIELD_STR, .max = EVENT_PORT_CHARS,
	 .def = "0", .help = "port of the node, or the node at its other end, such as L1 or h1"},
	{FIELD_OF(struct record_params, snap_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .max = 65535, .def = "0", .help = "of each frame that are written; 0: all"},
};
const unsigned int record_fields_n = sizeof(record_fields) / sizeof(record_fields[0]);
