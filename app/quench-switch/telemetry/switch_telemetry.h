/* SPDX-License-Identifier: BSD-3-Clause */
/* The telemetry commands of quench-switch (doc/interface.md). */
#ifndef QUENCH_APP_QUENCH_SWITCH_TELEMETRY_SWITCH_TELEMETRY_H
#define QUENCH_APP_QUENCH_SWITCH_TELEMETRY_SWITCH_TELEMETRY_H

#include "runtime/telemetry/telemetry.h"

extern const struct telemetry_endpoint switch_endpoints[];
extern const unsigned int switch_endpoints_n;

#endif
