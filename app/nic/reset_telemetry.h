/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry command that resets the QPs of a flow. */
#ifndef QUENCH_APP_NIC_RESET_TELEMETRY_H
#define QUENCH_APP_NIC_RESET_TELEMETRY_H

#include "common/telemetry.h"

json_t *reset_reply(struct telemetry_call *call);

#endif
