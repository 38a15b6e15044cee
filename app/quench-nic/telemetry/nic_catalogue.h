/* SPDX-License-Identifier: BSD-3-Clause */
/* Meanings of the keys in a NIC's telemetry: replies to /quench/counters and /quench/gauges. */
#ifndef QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_CATALOGUE_H
#define QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_CATALOGUE_H

#include "runtime/telemetry/telemetry.h"

telemetry_reply nic_counters_reply, nic_gauges_reply;

#endif
