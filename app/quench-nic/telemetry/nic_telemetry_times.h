/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry command for the histograms of a flow's times. */
#ifndef QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_TIMES_H
#define QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_TIMES_H

#include "runtime/telemetry/telemetry.h"

telemetry_reply times_reply;

#endif
