/* SPDX-License-Identifier: BSD-3-Clause */
/* Meanings of the keys in a switch's replies: methods `counters` and `gauges`. */
#ifndef QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_CATALOGUE_H
#define QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_CATALOGUE_H

#include "runtime/desk/desk.h"

desk_reply switch_counters_reply, switch_gauges_reply;

#endif
