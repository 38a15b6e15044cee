/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State and counters of a switch as JSON objects: parts of the final report and of telemetry's
 * replies, so that a key has the same meaning in both (doc/interface.md). Unless noted otherwise,
 * any thread may call these functions while the switch runs.
 */
#ifndef QUENCH_APP_RUNTIME_REPORT_SWITCH_JSON_H
#define QUENCH_APP_RUNTIME_REPORT_SWITCH_JSON_H

#include <jansson.h>

#include "runtime/run/run.h"
#include "switch/sw.h"

/** Set the number of a port, and its name if it has one. */
void switch_set_port(json_t *o, const struct sw_params *params, uint16_t port);
/** A port and its counters, without those of its queues, groups, priorities and drops. */
json_t *switch_port_object(const struct run_result *result, const struct node *node,
			   const struct sw_params *params, uint16_t port);
json_t *switch_queue_object(const struct node *node, uint16_t port, uint8_t queue);
json_t *switch_pg_object(const struct node *node, uint16_t port, uint8_t pg);
/** Dropped packets by reason, and malformed ones by kind. */
json_t *switch_drops_object(const struct node *node, uint16_t port);
json_t *switch_malformed_object(const struct node *node, uint16_t port);
/** Set the counters of pauses that the port obeyed and sent. */
void switch_set_pause(json_t *o, const struct node *node, const struct sw_port_params *params,
		      uint16_t port, uint64_t now_ns);

/** SONiC's PFC_WD_QUEUE_STATS_* and PFC_WD_STATUS. Only on the thread that calls control(). */
json_t *switch_pfcwd_object(const struct node *node, const struct sw_params *params, uint16_t port,
			    uint8_t prio);
/** Only on the thread that calls control(). */
json_t *switch_dcbx_object(const struct node *node, uint16_t port);

json_t *switch_fdb_object(const struct node *node);
json_t *switch_router_object(const struct node *node);
/** The i-th interface of the router. */
json_t *switch_interface_object(const struct node *node, const struct sw_params *params,
				uint32_t i);
/** Set the shared buffer, its pools, and the ledger of charged bytes. */
void switch_set_buffer(json_t *o, const struct node *node, const struct sw_params *params);

#endif
