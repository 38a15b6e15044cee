/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of quench-nic (doc/interface.md). desk.program is a struct tracing. */
#ifndef QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_H
#define QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_H

#include "runtime/desk/desk.h"

extern const struct desk_method nic_methods[];
extern const unsigned int nic_methods_n;

#endif
