/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of quench-switch (doc/interface.md). */
#ifndef QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_METHODS_H
#define QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_METHODS_H

#include "runtime/desk/desk.h"

extern const struct desk_method switch_methods[];
extern const unsigned int switch_methods_n;

#endif
