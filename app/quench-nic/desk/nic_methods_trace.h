/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods that begin, show and end traces of QPs. */
#ifndef QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_TRACE_H
#define QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_TRACE_H

#include "runtime/desk/desk.h"

desk_reply traces_reply, trace_reply, set_trace_reply;

#endif
