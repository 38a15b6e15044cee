/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of [event NAME] and [record NAME]. */
#include "base/numbers/array.h"
#include "base/numbers/units.h"
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
	{FIELD_OF(struct event_params, at_ns), .least_bare = 1000, .type = FIELD_U64,
	 .unit = UNIT_NS, .min = 1, .max = 3600 * NS_PER_SEC,
	 .help = "time of the event; everything else of the same nanosecond happens before it"},
	{FIELD_OF(struct event_params, action), .type = FIELD_ENUM, .choices = event_action_words,
	 .help = "link_down, link_up: disconnect or connect the cable at a port; loss, "
		 "bit_errors, corrupt, reorder, delay: act on frames of that cable; tx_disable, "
		 "tx_enable: stop or resume data of a switch port; pfc_delay: a switch port "
		 "obeys pause frames `quanta` later; pause_storm, pause_storm_end: a host starts "
		 "or stops pausing its peer; slow_receiver: a host drains at drain_rate_bps; "
		 "switch_restart: a switch restarts; set: change live keys; send: inject frames "
		 "at a port; clear_watermarks, clear_counters, dump (to the results): act on one "
		 "node or all"},
	{FIELD_OF(struct event_params, node), .type = FIELD_STR, .max = TOPOLOGY_NODE_CHARS,
	 .def = "all",
	 .help = "switch or host, such as T1 or h3; all: every node, for actions without a port"},
	{FIELD_OF(struct event_params, port), .type = FIELD_STR, .max = EVENT_PORT_CHARS,
	 .def = "0",
	 .help = "port number, or the node at the other end of the cable, such as L1 or h1"},
	{FIELD_OF(struct event_params, for_ns), .least_bare = 1000, .type = FIELD_U64,
	 .unit = UNIT_NS, .max = 3600 * NS_PER_SEC, .def = "0",
	 .help = "duration of the action, after which the values of the file's sections apply "
		 "again; 0: until another event or the end of the run; switch_restart: time until "
		 "the switch works again, not 0; not used by link_up, tx_enable, "
		 "pause_storm_end, send, clear_watermarks, clear_counters and dump"},
	{FIELD_OF(struct event_params, direction), .type = FIELD_ENUM, .choices = direction_words,
	 .def = "both",
	 .help = "loss, bit_errors, corrupt, reorder, delay: affected frames: both directions, "
		 "frames that leave by the port (tx), or frames that arrive there (rx)"},
	{FIELD_OF(struct event_params, frames), .type = FIELD_ENUM, .choices = cable_frames_words,
	 .def = "all",
	 .help = "loss: affected kind of frames: all, data (and requests), ack (and NAK), cnp, "
		 "pause"},
	{FIELD_OF(struct event_params, frame_ppb), .type = FIELD_U32, .max = CABLE_MAX_PPB,
	 .def = "0",
	 .help = "loss, corrupt, reorder: number of affected frames per 10^9, chosen at random; "
		 "0: none"},
	{FIELD_OF(struct event_params, bit_errors_per_tbit), .type = FIELD_U64,
	 .max = CABLE_MAX_BIT_ERRORS, .def = "0",
	 .help = "bit_errors: errors per 10^12 bits, as in [link NAME]"},
	{FIELD_OF(struct event_params, reorder_frames), .type = FIELD_U32, .max = 1000000,
	 .def = "0",
	 .help = "reorder: number of later frames that overtake a frame, which arrives at most "
		 "delay_ns late; 0: the frame arrives delay_ns late"},
	{FIELD_OF(struct event_params, delay_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = NS_PER_SEC, .def = "0",
	 .help = "delay: new propagation delay of the cable; reorder: time by which a frame is "
		 "late"},
	{FIELD_OF(struct event_params, drain_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 800 * GBPS, .def = "0",
	 .help = "slow_receiver: drain rate, as in [receiver]; the limits of [receiver] apply; "
		 "0: immediately"},
	{FIELD_OF(struct event_params, quanta), .type = FIELD_U16, .max = UINT16_MAX, .def = "0",
	 .help = "pfc_delay: delay in quanta of 512 bit times"},
	{FIELD_OF(struct event_params, set), .type = FIELD_STR, .max = EVENT_SET_CHARS,
	 .def = "none",
	 .help = "set: changes of live keys, SECTION.KEY=VALUE separated by commas: "
		 "wred.Kmin=20KB, switch T1.pfc_generate=off, flow late.stopped=off"},
	{FIELD_OF(struct event_params, frame), .type = FIELD_STR, .max = EVENT_FRAME_CHARS,
	 .def = "none", .help = "send: frame without FCS, in hexadecimal, or none"},
	{FIELD_OF(struct event_params, file), .type = FIELD_STR, .max = EVENT_PATH_CHARS,
	 .def = "none",
	 .help = "send: pcap or pcapng file with Ethernet frames, relative to the scenario's "
		 "file, or none"},
	{FIELD_OF(struct event_params, count), .type = FIELD_U32, .min = 1, .max = 1000000000,
	 .def = "1", .help = "send: number of times that the frame or the file is sent"},
	{FIELD_OF(struct event_params, rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = 800 * GBPS, .def = "0",
	 .help = "send: rate, in wire bytes; 0: interval_ns "
		 "applies"},
	{FIELD_OF(struct event_params, interval_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .max = 3600 * NS_PER_SEC, .def = "0",
	 .help = "send: time between frames; 0: the time stamps of the file, or link speed for a "
		 "single frame"},
};
const unsigned int event_fields_n = ARRAY_LEN(event_fields);

const struct field record_fields[] = {
	{FIELD_OF(struct record_params, node), .type = FIELD_STR, .min = 1,
	 .max = TOPOLOGY_NODE_CHARS,
	 .help = "switch or host, such as T1 or h3; the frames of its port are "
		 "written to NAME.pcapng (doc/lab.md)"},
	{FIELD_OF(struct record_params, port), .type = FIELD_STR, .max = EVENT_PORT_CHARS,
	 .def = "0",
	 .help = "port number, or the node at the other end of the cable, such as L1 or h1"},
	{FIELD_OF(struct record_params, snap_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .max = 65535, .def = "0", .help = "largest number of bytes written per frame; 0: all"},
};
const unsigned int record_fields_n = ARRAY_LEN(record_fields);
