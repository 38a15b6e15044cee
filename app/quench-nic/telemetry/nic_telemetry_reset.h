/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry command that resets the QPs of a flow. */
#ifndef QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_RESET_H
#define QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_RESET_H

#include "runtime/telemetry/telemetry.h"

telemetry_reply reset_reply;

#endif
