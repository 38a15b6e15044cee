/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of quench-nic's front desk (doc/interface.md). desk.program is a struct tracing. */
#ifndef QUENCH_APP_QUENCH_NIC_DESK_NIC_DESK_H
#define QUENCH_APP_QUENCH_NIC_DESK_NIC_DESK_H

#include "runtime/desk/desk.h"

extern const struct desk_method nic_methods[];
extern const unsigned int nic_methods_n;

/* Add, remove and reset flows; the histograms of a flow's times. */
desk_reply remove_reply, free_qpns_reply, connections_reply, reset_reply, times_reply;
desk_result free_qpns_result, connections_result, reset_result, times_result;
/* Jobs whose ranks run here. */
desk_reply jobs_reply;
desk_result jobs_result;
/* Begin, show and end traces of QPs. */
desk_reply traces_reply, trace_reply, story_reply, set_trace_reply;
desk_result traces_result, trace_result, story_result, set_trace_result;

#endif
