/* SPDX-License-Identifier: BSD-3-Clause */
/* The method that clears watermarks. */
#ifndef QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_METHODS_SET_H
#define QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_METHODS_SET_H

#include "runtime/desk/desk.h"

desk_reply switch_clear_watermark_reply;
extern const struct desk_param switch_clear_params[];

#endif
