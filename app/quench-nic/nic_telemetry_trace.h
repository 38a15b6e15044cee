/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry commands that begin, show and end traces of QPs. */
#ifndef QUENCH_APP_QUENCH_NIC_NIC_TELEMETRY_TRACE_H
#define QUENCH_APP_QUENCH_NIC_NIC_TELEMETRY_TRACE_H

#include "runtime/telemetry/telemetry.h"

json_t *traces_reply(struct telemetry_call *call);
json_t *trace_reply(struct telemetry_call *call);
json_t *set_trace_reply(struct telemetry_call *call);

#endif
