/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of each flow of quench-nic: per interval on the terminal, in DIR/flows.csv and in
 * DIR/port.csv; for the whole run in a table, in DIR/times.csv and in the JSON. Rates are those of
 * a flow's data, which a requester sends and a responder receives (READ: the reverse).
 *
 * The control lcore reads the QPs while their owners write them: two columns of a sample may differ
 * by a packet, but no error accumulates.
 */
#ifndef QUENCH_APP_QUENCH_NIC_FLOWS_FLOWS_H
#define QUENCH_APP_QUENCH_NIC_FLOWS_FLOWS_H

#include <stdio.h>

#include "base/field/walk.h"
#include "runtime/run/run.h"
#include "ctl/nic_config/nic_config.h"
#include "quench-nic/flows/flow_registry.h"
#include "nic/observe/flow_info.h"

/* A flow of the configuration, or a removed one. */
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
	/* made by flows_list(): first the configuration's flows in its order, then removed ones */
	struct flow_shown *shown;
	unsigned int n_shown, shown_capacity;
	uint32_t *awaited; /* by flow of the configuration: the one that it waits for; NULL: none */
	struct nic_times *all, *interval; /* scratch: one flow, over all lcores */
};

/** @param dir  NULL: no files; created if missing. @return 0, or APP_FAILED after an error line. */
int flows_open(struct flows *f, const struct nic_config *config, struct flow_registry *registry,
	       const char *dir);

/** Close files. @return 0, or APP_FAILED after an error line (for example, if the disk is full). */
int flows_close(struct flows *f);

/** End of an interval: write rows to the files, and lines to out if there are few flows. */
void flows_sample(struct flows *f, const struct run_app *app, FILE *out, uint64_t now_ns);

/** End of the run: write the histograms to times.csv and a table of flows to out. */
void flows_end(struct flows *f, FILE *out, uint64_t elapsed_ns);

/*
 * Flows of the configuration and removed ones. Call between flow_registry_read_begin() and
 * flow_registry_read_end(), one thread at a time for each f.
 */

/** Rebuild the list. @return its length. */
unsigned int flows_list(struct flows *f);
/** The counters and times of flow i of the list; f is NULL with names_only. */
void flows_walk(struct walk *w, struct flows *f, unsigned int i, uint64_t elapsed_ns);

/** Index in the list of the flow with this name, or n_shown. */
unsigned int flows_find(const struct flows *f, const char *name);
/** Times of flow i of the list, in f until the next call, or NULL: they are not measured. */
const struct nic_times *flows_times(struct flows *f, unsigned int i);
/** Sum of the pacing of flow i of the list in *sum, or NULL: it is not measured. */
const struct nic_pacing *flows_pacing(const struct flows *f, unsigned int i,
				      struct nic_pacing *sum);

/** The list flows, for the whole run; f is NULL with names_only. */
void flows_walk_all(struct walk *w, struct flows *f, uint64_t elapsed_ns);

/** Does this NIC send the flow's data? The responder sends the data of READ. */
bool flows_sends_data(const struct nic_flow *flow);

/** Time during which a flow of the configuration could send so far. */
uint64_t flows_active_ns(const struct nic_flow *flow, uint64_t elapsed_ns);

/** Mean rate in bits/s, rounded; 0 if ns is 0. */
uint64_t flows_rate_bps(uint64_t bytes, uint64_t ns);

#endif
