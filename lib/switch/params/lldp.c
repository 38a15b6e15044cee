/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/params/lldp.h"

#include <stddef.h>

#include "base/units.h"

#define MEMBER(m) .name = #m, .offset = offsetof(struct lldp_params, m), .live = true

/* clang-format off */
const struct field lldp_fields[] = {
	{ MEMBER(lldp), .type = FIELD_BOOL, .max = 1, .def = "off",
	  .help = "send and hear LLDP with DCBX on every port; flow_control = auto needs it" },
	{ MEMBER(lldp_tx_interval_ns), .type = FIELD_U64, .unit = UNIT_NS, .min = NS_PER_SEC,
	  .max = 3600 * NS_PER_SEC, .def = "30s", .help = "time between two frames" },
	{ MEMBER(lldp_tx_hold), .type = FIELD_U8, .min = 2, .max = 10, .def = "4",
	  .help = "time to live in intervals; 802.1AB adds a second" },
	{ MEMBER(lldp_tx_fast_init), .type = FIELD_U8, .min = 1, .max = 8, .def = "4",
	  .help = "frames a second apart for a new neighbour" },
	{ MEMBER(dcbx_willing), .type = FIELD_BOOL, .max = 1, .def = "off",
	  .help = "take the peer's PFC priorities, as far as they are in pfc_enable" },
};
/* clang-format on */

const unsigned int lldp_fields_n = sizeof(lldp_fields) / sizeof(lldp_fields[0]);
