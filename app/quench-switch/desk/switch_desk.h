/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods of quench-switch's front desk (doc/interface.md), and its report at the end. */
#ifndef QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_DESK_H
#define QUENCH_APP_QUENCH_SWITCH_DESK_SWITCH_DESK_H

#include <jansson.h>

#include "runtime/desk/desk.h"
#include "runtime/run/run.h"
#include "switch/control/snapshot.h"
#include "switch/sw.h"

extern const struct desk_method switch_methods[];
extern const unsigned int switch_methods_n;

/* Meanings of the keys in replies. */
desk_reply switch_counters_reply, switch_gauges_reply;
/* Tables. */
desk_reply switch_fdb_reply, switch_neigh_reply, switch_routes_reply, switch_vlans_reply,
	switch_interfaces_reply;

desk_reply switch_clear_watermark_reply;
extern const struct desk_param switch_clear_params[];

/** Read it; the method requires it. @return false: refused, with the reason in call. */
bool switch_port_param(struct desk_call *call, uint16_t *port);

/** Request a snapshot from the owning lcore, and wait. @return false: refused with the reason. */
bool switch_take(struct desk_call *call, struct sw_snapshot *s);

/** For struct run_app. Reads counters only. */
void switch_stats(const struct run_app *app, struct run_traffic *traffic, char *text,
		  unsigned int text_size);

/** All counters, after the loop has ended. @return a new object, or NULL without memory. */
json_t *switch_report(const struct run_app *app, const struct sw_params *params,
		      const struct run_result *result);

#endif
