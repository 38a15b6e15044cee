/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies of commands that change a switch: /quench/set and /quench/clear. */
#ifndef QUENCH_APP_QUENCH_SWITCH_TELEMETRY_SWITCH_TELEMETRY_SET_H
#define QUENCH_APP_QUENCH_SWITCH_TELEMETRY_SWITCH_TELEMETRY_SET_H

#include "runtime/telemetry/telemetry.h"

telemetry_reply switch_set_tx_disabled_reply, switch_set_pfc_delay_reply,
	switch_set_big_red_switch_reply, switch_clear_watermark_reply;

#endif
