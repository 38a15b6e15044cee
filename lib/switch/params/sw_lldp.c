/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/params/sw_lldp.h"

#include <stddef.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"

const struct field lldp_fields[] = {
	{FIELD_OF(struct lldp_params, lldp), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "send and receive LLDP with DCBX on every port; required by flow_control = auto"},
	{FIELD_OF(struct lldp_params, lldp_tx_interval_ns), .type = FIELD_U64, .unit = UNIT_NS,
	 .min = NS_PER_SEC, .max = 3600 * NS_PER_SEC, .def = "30s", .live = true,
	 .help = "time between two LLDP frames"},
	{FIELD_OF(struct lldp_params, lldp_tx_hold), .type = FIELD_U8, .min = 2, .max = 10,
	 .def = "4", .live = true,
	 .help = "time to live of LLDP information, in units of "
		 "lldp_tx_interval_ns; 802.1AB adds a second"},
	{FIELD_OF(struct lldp_params, lldp_tx_fast_init), .type = FIELD_U8, .min = 1, .max = 8,
	 .def = "4", .live = true,
	 .help = "number of LLDP frames, one second apart, sent for a "
		 "new neighbour"},
	{FIELD_OF(struct lldp_params, dcbx_willing), .type = FIELD_BOOL, .def = "off", .live = true,
	 .help = "adopt the PFC priorities of the peer that are also in pfc_enable"},
};

const unsigned int lldp_fields_n = ARRAY_LEN(lldp_fields);
