/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry commands that begin, show and end traces of QPs. */
#ifndef QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_TRACE_H
#define QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_TRACE_H

#include "runtime/telemetry/telemetry.h"

telemetry_reply traces_reply, trace_reply, set_trace_reply;

#endif
