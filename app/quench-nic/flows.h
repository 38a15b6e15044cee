/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each flow of a quench-nic does, interval by interval: on the terminal, in DIR/flows.csv and
 * DIR/port.csv, and over the whole run in a table, in DIR/times.csv and in the JSON. Rates are
 * those of the direction in which a flow's data goes: sent if it requests, received if it answers,
 * and the other way round with READ.
 *
 * The control lcore reads the QPs while their owners write them: one sample may be a packet off
 * between two columns, and nothing adds up wrongly in the next.
 */
#ifndef QUENCH_APP_QUENCH_NIC_FLOWS_H
#define QUENCH_APP_QUENCH_NIC_FLOWS_H

#include <jansson.h>
#include <stdio.h>

#include "runtime/run/run.h"
#include "ctl/nic_config/nic_config.h"
#include "quench-nic/flow_registry.h"
#include "nic/observe/flow_info.h"

/* One flow, of the configuration or gone. */
struct flow_shown {
	const struct nic_flow *flow;
	struct flow_entry *entry;
	bool gone;
};

struct flows {
	const struct nic_config *config;
	struct flow_registry *registry;
	FILE *flows_csv, *port_csv, *times_csv; /* NULL: none */
	uint64_t last_ns;
	struct flow_shown *shown; /* flows_list(): those of config in its order, then those gone */
	unsigned int n_shown, shown_room;
	struct nic_times *all, *interval; /* of the flow in hand, all lcores together */
};

/** @param dir  NULL: no files; else made if it is missing. @return 0, or APP_FAILED after an error
 * line. */
int flows_open(struct flows *f, const struct nic_config *config, struct flow_registry *registry,
	       const char *dir);

/** Close files. @return 0, or APP_FAILED after an error line: disk full. */
int flows_close(struct flows *f);

/** An interval is over: rows into the files, and lines on out if flows are few. */
void flows_sample(struct flows *f, const struct run_app *app, FILE *out, uint64_t now_ns);

/** The run is over: what the histograms hold goes into times.csv, a table of flows to out. */
void flows_end(struct flows *f, FILE *out, uint64_t elapsed_ns);

/*
 * Flows of the configuration and those gone, of one thread at a time for each f, between
 * flow_registry_read_begin() and flow_registry_read_end().
 */

/** List them again. @return how many. */
unsigned int flows_list(struct flows *f);
/** What flow i of the list has done so far. */
json_t *flows_object(struct flows *f, unsigned int i, uint64_t elapsed_ns);

/** A list with one object for each flow, of the whole run. */
json_t *flows_report(struct flows *f, uint64_t elapsed_ns);

/** Does the flow's data leave here? Of READ it comes to the requester. */
bool flows_sends_data(const struct nic_flow *flow);

/** Time in which a flow of the configuration could send so far. */
uint64_t flows_active_ns(const struct nic_flow *flow, uint64_t elapsed_ns);

/** Mean rate of bytes, rounded; 0 in no time. */
uint64_t flows_rate_bps(uint64_t bytes, uint64_t ns);

#endif
