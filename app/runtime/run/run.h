/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one node, or several that share its ports: EAL start-up, a poll loop for each node on its
 * own lcore, slow work on the main lcore, clean stop.
 *
 * With two lcores or more the workers poll and the main lcore does control work, statistics and
 * stop; with one lcore, its loop also does this slow work, when it is due.
 *
 * Invariant: when run_node() returns, no thread polls a node or serves the desk.
 */
#ifndef QUENCH_APP_RUNTIME_RUN_RUN_H
#define QUENCH_APP_RUNTIME_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/numbers/half_sip.h"
#include "node/node.h"
#include "runtime/run/opts.h"
#include "runtime/poll/poll_loop.h"

/**
 * Start EAL and catch SIGINT and SIGTERM.
 *
 * @param largest_frame  Without FCS; net_af_packet gets slots for it (kernel_interface_fit()).
 * @return               0 or an exit code after an error line.
 */
int run_start(const struct opts *opts, uint32_t largest_frame);

/**
 * Make a random key for the hashes of tables that received frames fill, so that a sender cannot
 * cause collisions. @return 0 or an exit code after an error line.
 */
int run_make_key(struct half_sip_key *key);

/** Number of lcores that can poll: all but the main one; 1 if that is the only one. */
uint16_t run_poll_lcores(void);

/** The lcore that polls node i; i < run_poll_lcores(). */
unsigned int run_poll_lcore(uint16_t i);

/* Frame counts of a statistics line, over all ports. */
struct run_traffic {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes; /* frame bytes with FCS */
};

struct nic_share;
struct desk;

struct run_app {
	struct node *node;                /* the only one, or nodes[0] */
	struct node **nodes;              /* several that share or divide the ports */
	const struct poll_queues *queues; /* of each node, on every port; NULL: node alone */
	uint16_t n_nodes;                 /* 0: node alone */
	/* Mask of the ports that each of nodes[] owns; node is then the whole switch, for control
	 * work and counters. NULL: every node uses all ports, and node is nodes[0]. */
	const uint64_t *node_ports;
	const struct nic_share *share; /* maps quench-nic's QPs to nodes; NULL: one node has all */
	/* Active shaper_burst_ns; called by the control lcore. NULL: do not warn of late polls. */
	uint64_t (*shaper_burst_ns)(const struct run_app *app);
	bool measure_pacing; /* the nodes set the due times of frames */
	/* Called before the nodes run: when their time was 0, in ns of a clock that all processes
	 * of the machine share. NULL: not called. */
	void (*set_epoch)(const struct run_app *app, uint64_t epoch_ns);
	/* Called when the desk's socket answers, before the nodes run. NULL: not called. */
	void (*started)(const struct run_app *app);
	bool waits_for_link; /* send nothing while a port's link is down */
	const uint16_t *ethdevs;
	uint16_t n_ports;
	const struct opts *opts;
	struct desk *desk; /* answers while the nodes run; NULL: none */
	/* Called every millisecond by the control lcore; true stops the run. NULL: not called. */
	bool (*done)(const struct run_app *app);
	/* Counters so far; text is the program's part of the statistics line. */
	void (*stats)(const struct run_app *app, struct run_traffic *traffic, char *text,
		      unsigned int text_size);
	/*
	 * Called by the control lcore after control work and after each check of the links; links
	 * is NULL if they were not checked. NULL: not called.
	 */
	void (*watch)(const struct run_app *app, const struct port_link *links, uint64_t now_ns);
	/*
	 * A stop was asked for: called by the control lcore, which goes on with its work, until it
	 * returns false. NULL: stop at once.
	 */
	bool (*leave)(const struct run_app *app, uint64_t now_ns);
	/* Called after each statistics line, with its stream. NULL: not called. */
	void (*sample)(const struct run_app *app, FILE *out, uint64_t now_ns);
};

struct run_result {
	uint64_t elapsed_ns;
	struct poll_loop *loops; /* final state, one per node; for the caller to free() */
	uint16_t n_loops;
	bool no_device_left;      /* all devices were removed while the program ran */
	struct port_link *links;  /* one per port; for the caller to free() */
	struct pace_meter *paces; /* one per node, or NULL; for the caller to free() */
};

/** Where statistics lines go: standard output, unless JSON goes there. */
FILE *run_stats_file(const struct opts *opts);

/**
 * Run until a signal, the duration's end or done(), or until all devices were removed.
 *
 * @return 0 or APP_FAILED.
 */
int run_node(const struct run_app *app, struct run_result *result);

#endif
