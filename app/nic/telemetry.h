/* SPDX-License-Identifier: BSD-3-Clause */
/* The telemetry commands of quench-nic (doc/interface.md). Their program is struct nic_config. */
#ifndef QUENCH_APP_NIC_TELEMETRY_H
#define QUENCH_APP_NIC_TELEMETRY_H

#include "common/telemetry.h"

extern const struct telemetry_endpoint nic_endpoints[];
extern const unsigned int nic_endpoints_n;

/* Of several files. */
json_t *nic_counters_reply(struct telemetry_call *call);
json_t *nic_gauges_reply(struct telemetry_call *call);

#endif
