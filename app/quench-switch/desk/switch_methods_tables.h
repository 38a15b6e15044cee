/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies with the tables of a switch: addresses, neighbours, routes, VLANs, interfaces. */
#ifndef QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_METHODS_TABLES_H
#define QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_METHODS_TABLES_H

#include "runtime/desk/desk.h"
#include "switch/control/snapshot.h"

desk_reply switch_fdb_reply, switch_neigh_reply, switch_routes_reply, switch_vlans_reply,
	switch_interfaces_reply;

/** Request a snapshot from the owning lcore, and wait. @return false: refused with the reason. */
bool switch_take(struct desk_call *call, struct sw_snapshot *s);

#endif
