/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry commands of quench-nic (doc/interface.md). telemetry.program is a struct tracing. */
#ifndef QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_H
#define QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_H

#include "runtime/telemetry/telemetry.h"

extern const struct telemetry_endpoint nic_endpoints[];
extern const unsigned int nic_endpoints_n;

#endif
