/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry commands for programs that add and remove flows while the NIC runs. */
#ifndef QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_FLOWS_H
#define QUENCH_APP_QUENCH_NIC_TELEMETRY_NIC_TELEMETRY_FLOWS_H

#include "runtime/telemetry/telemetry.h"

telemetry_reply remove_reply, free_qpns_reply, connections_reply;

#endif
