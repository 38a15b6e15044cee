/* SPDX-License-Identifier: BSD-3-Clause */
/* Meanings of the keys in a switch's telemetry: /quench/counters and /quench/gauges. */
#ifndef QUENCH_APP_QUENCH_SWITCH_TELEMETRY_SWITCH_CATALOGUE_H
#define QUENCH_APP_QUENCH_SWITCH_TELEMETRY_SWITCH_CATALOGUE_H

#include "runtime/telemetry/telemetry.h"

telemetry_reply switch_counters_reply, switch_gauges_reply;

#endif
