/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry commands that begin, show and end traces of QPs. */
#ifndef QUENCH_APP_NIC_TRACE_TELEMETRY_H
#define QUENCH_APP_NIC_TRACE_TELEMETRY_H

#include "common/telemetry.h"

json_t *traces_reply(struct telemetry_call *call);
json_t *trace_reply(struct telemetry_call *call);
json_t *set_trace_reply(struct telemetry_call *call);

#endif
