/* SPDX-License-Identifier: BSD-3-Clause */
/* What the keys of a NIC's telemetry mean: replies to /quench/counters and /quench/gauges. */
#ifndef QUENCH_APP_QUENCH_NIC_NIC_CATALOGUE_H
#define QUENCH_APP_QUENCH_NIC_NIC_CATALOGUE_H

#include "runtime/telemetry/telemetry.h"

json_t *nic_counters_reply(struct telemetry_call *call);
json_t *nic_gauges_reply(struct telemetry_call *call);

#endif
