/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/tables/sw_classes.h"

#include <stddef.h>

#include "base/numbers/array.h"
#include "switch/tables/sw_limits.h"

#define PROFILE_FIELD(owner, member, text)                                                         \
	{                                                                                          \
		FIELD_OF(owner, member), .type = FIELD_STR, .min = 1, .max = SW_PROFILE_NAME,      \
					 .def = SW_PROFILE_DEFAULT, .live = true, .help = text     \
	}

const struct field sw_queue_fields[] = {
	PROFILE_FIELD(
		struct sw_queue_params, wred_profile,
		"NAME of a [wred NAME]; none: no WRED; default: [wred] if wred_queues includes "
		"the queue"),
	{FIELD_OF(struct sw_queue_params, marking), .type = FIELD_ENUM, .choices = mark_words,
	 .def = "wred",
	 .help = "scheme that decides on marks, with the keys of its section; drops stay WRED's. "
		 "A scheme other than wred needs WRED with ecn = ecn_all on the queue"},
	PROFILE_FIELD(struct sw_queue_params, buffer_profile,
		      "NAME of a [buffer_profile NAME]; default: egress_lossless or egress_lossy"),
	{FIELD_OF(struct sw_queue_params, min_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = MAX_LINK_SPEED, .def = "0", .live = true, .aliases = {{.name = "cir", .scale = 8}},
	 .help = "guaranteed rate, in wire bytes: below it, the queue precedes all queues "
		 "that have reached theirs; 0: none (SONiC's cir, which counts bytes per "
		 "second)"},
	{FIELD_OF(struct sw_queue_params, max_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = MAX_LINK_SPEED, .def = "0", .live = true, .aliases = {{.name = "pir", .scale = 8}},
	 .help = "highest rate of the queue, in wire bytes; 0: shaper_rate_bps of the port "
		 "(SONiC's pir, which counts bytes per second)"},
	{FIELD_OF(struct sw_queue_params, burst_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .max = 1000000, .def = "16KB", .live = true, .aliases = {{.name = "cbs"}, {.name = "pbs"}},
	 .help = "burst of both rates after the queue waited for other queues (SONiC's cbs and "
		 "pbs)"},
};

const struct field sw_pg_fields[] = {
	PROFILE_FIELD(struct sw_pg_params, buffer_profile,
		      "NAME of a [buffer_profile NAME]; default: lossless or lossy"),
};

const struct field sw_tc_fields[] = {
	{FIELD_OF(struct sw_tc_params, mtu_bytes), .type = FIELD_U32, .unit = UNIT_BYTES,
	 .max = MAX_FRAME_BYTES, .def = "0", .live = true, .aliases = {{.name = "mtu"}},
	 .help = "largest payload of the class (without Ethernet header, one tag and FCS); "
		 "longer frames are dropped as mtu; 0: only max_frame_bytes limits"},
};

const unsigned int sw_queue_fields_n = ARRAY_LEN(sw_queue_fields);
const unsigned int sw_pg_fields_n = ARRAY_LEN(sw_pg_fields);
const unsigned int sw_tc_fields_n = ARRAY_LEN(sw_tc_fields);
