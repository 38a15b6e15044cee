/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameter port: a number, or the name of a port that has one. */
#ifndef QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_PORT_PARAM_H
#define QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_PORT_PARAM_H

#include "runtime/desk/desk.h"

/** Read it; the method requires it. @return false: refused, with the reason in call. */
bool switch_port_param(struct desk_call *call, uint16_t *port);

#endif
