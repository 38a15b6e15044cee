/* SPDX-License-Identifier: BSD-3-Clause */
/* The method for the histograms of a flow's times. */
#ifndef QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_TIMES_H
#define QUENCH_APP_QUENCH_NIC_DESK_NIC_METHODS_TIMES_H

#include "runtime/desk/desk.h"

desk_reply times_reply;

#endif
