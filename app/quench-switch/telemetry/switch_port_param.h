/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameter PORT of telemetry commands: a number, or the name of a port that has one. */
#ifndef QUENCH_APP_QUENCH_SWITCH_TELEMETRY_SWITCH_PORT_PARAM_H
#define QUENCH_APP_QUENCH_SWITCH_TELEMETRY_SWITCH_PORT_PARAM_H

#include "runtime/telemetry/telemetry.h"

/** Parse parameter i. @return false: refused, with the reason in call. */
bool switch_port_param(struct telemetry_call *call, unsigned int i, uint16_t *port);

#endif
