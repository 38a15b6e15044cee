/* SPDX-License-Identifier: BSD-3-Clause */
/* The telemetry command that begins a capture of a port (runtime/capture/capture.h). */
#ifndef QUENCH_APP_RUNTIME_REPORT_TELEMETRY_CAPTURE_H
#define QUENCH_APP_RUNTIME_REPORT_TELEMETRY_CAPTURE_H

#include "runtime/telemetry/telemetry.h"

telemetry_reply capture_reply;

/* A row for a program's table of endpoints. */
/* clang-format off */
#define CAPTURE_ENDPOINT                                                                             \
	{"/quench/capture", ",PORT[ KEY=VALUE...]", "Returns the socket of a capture of a port",     \
	 TELEMETRY_WHOLE, capture_reply}
/* clang-format on */

#endif
