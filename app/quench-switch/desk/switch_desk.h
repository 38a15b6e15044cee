/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of quench-switch's front desk (doc/interface.md), and its report at the end. */
#ifndef QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_DESK_H
#define QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_DESK_H

#include <jansson.h>

#include "runtime/desk/desk.h"
#include "runtime/run/run.h"
#include "switch/control/snapshot.h"
#include "switch/sw_walk.h"

extern const struct desk_method switch_methods[];
extern const unsigned int switch_methods_n;

/* Tables. */
desk_reply switch_fdb_reply, switch_neigh_reply, switch_routes_reply, switch_vlans_reply,
	switch_interfaces_reply, switch_remove_reply;
desk_result switch_fdb_result, switch_neigh_result, switch_routes_result, switch_vlans_result,
	switch_interfaces_result;

desk_reply switch_look_reply, switch_route_reply, switch_nexthops_reply;
extern const struct desk_param switch_route_params[];
desk_result switch_look_result, switch_route_result, switch_nexthops_result;

desk_reply switch_clear_watermark_reply;
desk_result switch_clear_watermark_result;
extern const struct desk_param switch_clear_params[];

/** Read it; the method requires it. @return false: refused, with the reason in call. */
bool switch_port_param(struct desk_call *call, uint16_t *port);

/** Request a snapshot from the owning lcore, and wait. @return false: refused with the reason. */
bool switch_take(struct desk_call *call, struct sw_snapshot *s);

/** For struct run_app. Reads counters only. */
void switch_stats(const struct run_app *app, struct run_traffic *traffic, char *text,
		  unsigned int text_size);

/** A port and its counters, without those of its queues, groups, priorities and drops. */
void switch_walk_port(struct walk *w, const struct run_result *result, const struct sw_view *v,
		      uint16_t port);
/** Drops by reason, with those of the device. */
void switch_walk_drops(struct walk *w, const struct run_result *result, const struct sw_view *v,
		       uint16_t port);
/** The i-th interface of the router. */
void switch_walk_interface(struct walk *w, const struct sw_view *v, uint32_t i);

/** All counters, after the loop has ended. @return a new object, or NULL without memory. */
json_t *switch_report(const struct run_app *app, const struct sw_params *params,
		      const struct run_result *result);
/** Its names. */
void switch_report_names(struct walk *w);

#endif
