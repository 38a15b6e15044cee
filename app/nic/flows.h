/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each flow of a quench-nic does, interval by interval: on the terminal, in DIR/flows.csv and
 * DIR/port.csv, and over the whole run in the JSON. Rates are those of the direction in which a
 * flow's data goes: sent if it requests, received if it answers.
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

/* Sums over the QPs of a flow. */
struct flow_counts {
	uint64_t wire_bytes, payload_bytes, messages; /* of completed messages, if it requests */
	uint64_t retransmitted_packets, cnps_handled, cnps_sent, rate_cuts;
	uint64_t rate_bps, target_rate_bps; /* now */
	uint32_t qps_done, qps_failed;
};

struct flows {
	const struct nic_config *config;
	FILE *flows_csv, *port_csv; /* NULL: none */
	struct flow_counts *last;   /* of each flow, at last_ns */
	uint64_t last_ns;
};

/** @param dir  NULL: no files; else made if it is missing. @return 0, or APP_FAILED after an error
 * line. */
int flows_open(struct flows *f, const struct nic_config *config, const char *dir);

/** Close files. @return 0, or APP_FAILED after an error line: disk full. */
int flows_close(struct flows *f);

/** An interval is over: rows into the files, and lines on out if flows are few. */
void flows_sample(struct flows *f, const struct run_app *app, FILE *out, uint64_t now_ns);

/** A list with one object for each flow, of the whole run. */
json_t *flows_report(const struct flows *f, const struct run_app *app, uint64_t elapsed_ns);

#endif
