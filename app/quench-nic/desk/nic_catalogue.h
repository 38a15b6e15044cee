/* SPDX-License-Identifier: BSD-3-Clause */
/* Meanings of the keys in a NIC's replies: methods `counters` and `gauges`. */
#ifndef QUENCH_APP_QUENCH_NIC_DESK_NIC_CATALOGUE_H
#define QUENCH_APP_QUENCH_NIC_DESK_NIC_CATALOGUE_H

#include "runtime/desk/desk.h"

desk_reply nic_counters_reply, nic_gauges_reply;

#endif
