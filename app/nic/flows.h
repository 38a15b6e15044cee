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
#ifndef QUENCH_APP_NIC_FLOWS_H
#define QUENCH_APP_NIC_FLOWS_H

#include <jansson.h>
#include <stdio.h>

#include "common/run.h"
#include "ctl/nic_config.h"
#include "nic/nic_flow.h"

/* Of one flow at the last sample. */
struct flow_mark {
	uint64_t wire_bytes, payload_bytes;
	struct nic_times *times; /* NULL: not measured, or nobody reads them */
};

struct flows {
	const struct nic_config *config;
	FILE *flows_csv, *port_csv, *times_csv; /* NULL: none */
	struct flow_mark *last;                 /* of each flow, at last_ns */
	uint64_t last_ns;
	struct nic_times *all, *interval; /* of the flow in hand, all lcores together */
};

/** @param dir  NULL: no files; else made if it is missing. @return 0, or APP_FAILED after an error
 * line. */
int flows_open(struct flows *f, const struct nic_config *config, const char *dir);

/** Close files. @return 0, or APP_FAILED after an error line: disk full. */
int flows_close(struct flows *f);

/** An interval is over: rows into the files, and lines on out if flows are few. */
void flows_sample(struct flows *f, const struct run_app *app, FILE *out, uint64_t now_ns);

/** The run is over: what the histograms hold goes into times.csv, a table of flows to out. */
void flows_end(struct flows *f, const struct run_app *app, FILE *out, uint64_t elapsed_ns);

/** What one flow of the configuration has done so far; of one thread at a time for each f. */
json_t *flows_object(struct flows *f, const struct run_app *app, unsigned int i,
		     uint64_t elapsed_ns);

/** A list with one object for each flow, of the whole run. */
json_t *flows_report(struct flows *f, const struct run_app *app, uint64_t elapsed_ns);

/** Does the flow's data leave here? Of READ it comes to the requester. */
bool flows_sends_data(const struct nic_flow *flow);

/** Time in which a flow could send so far. */
uint64_t flows_active_ns(const struct nic_flow *flow, uint64_t elapsed_ns);

/** Mean rate of bytes, rounded; 0 in no time. */
uint64_t flows_rate_bps(uint64_t bytes, uint64_t ns);

#endif
