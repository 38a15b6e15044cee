/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods for programs that add and remove flows while the NIC runs. */
#ifndef QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_FLOWS_H
#define QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_FLOWS_H

#include "runtime/desk/desk.h"

desk_reply remove_reply, free_qpns_reply, connections_reply;

#endif
