/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of LLDP and DCBX. */
#ifndef QUENCH_SWITCH_PARAMS_SW_LLDP_H
#define QUENCH_SWITCH_PARAMS_SW_LLDP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"

struct lldp_params {
	bool lldp;
	uint64_t lldp_tx_interval_ns;
	uint8_t lldp_tx_hold;
	uint8_t lldp_tx_fast_init;
	bool dcbx_willing;
};

FIELD_TABLE(lldp_fields);

#endif
