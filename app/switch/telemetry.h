/* SPDX-License-Identifier: BSD-3-Clause */
/* The telemetry commands of quench-switch (doc/interface.md). */
#ifndef QUENCH_APP_SWITCH_TELEMETRY_H
#define QUENCH_APP_SWITCH_TELEMETRY_H

#include "common/telemetry.h"
#include "switch/sw.h"
#include "switch/control/snapshot.h"

extern const struct telemetry_endpoint switch_endpoints[];
extern const unsigned int switch_endpoints_n;

/* What the replies need. */
struct switch_program {
	struct node *node;
	const struct sw_params *params;
};

/* Of several files. */
json_t *switch_counters_reply(struct telemetry_call *call);
json_t *switch_gauges_reply(struct telemetry_call *call);
json_t *switch_fdb_reply(struct telemetry_call *call);
json_t *switch_neigh_reply(struct telemetry_call *call);
json_t *switch_routes_reply(struct telemetry_call *call);
json_t *switch_vlans_reply(struct telemetry_call *call);
json_t *switch_interfaces_reply(struct telemetry_call *call);
json_t *switch_set_tx_disabled_reply(struct telemetry_call *call);
json_t *switch_set_pfc_delay_reply(struct telemetry_call *call);
json_t *switch_set_big_red_switch_reply(struct telemetry_call *call);
json_t *switch_clear_watermark_reply(struct telemetry_call *call);

/** Ask the owner of the data path for a snapshot, and wait. @return false: call says why not. */
bool switch_take(struct telemetry_call *call, struct sw_snapshot *s);

/** Of the configuration that was in force when the call came. */
const struct switch_program *switch_of(const struct telemetry_call *call);

#endif
