/* SPDX-License-Identifier: BSD-3-Clause */
/* Meanings of the keys in a NIC's telemetry: replies to /quench/counters and /quench/gauges. */
#ifndef QUENCH_APP_QUENCH_NIC_NIC_CATALOGUE_H
#define QUENCH_APP_QUENCH_NIC_NIC_CATALOGUE_H

#include "runtime/telemetry/telemetry.h"

json_t *nic_counters_reply(struct telemetry_call *call);
json_t *nic_gauges_reply(struct telemetry_call *call);

#endif
