/* SPDX-License-Identifier: BSD-3-Clause */
/* The method that resets the QPs of a flow. */
#ifndef QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_RESET_H
#define QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_RESET_H

#include "runtime/desk/desk.h"

desk_reply reset_reply;

#endif
