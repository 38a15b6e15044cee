/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one node, or several that share its ports: EAL start-up, a poll loop for each node on a
 * lcore of its own, slow work beside them, clean stop.
 *
 * With two lcores or more the workers poll and the main lcore does control work, statistics and
 * stop; with one lcore the loop does both, the slow part when it is due.
 */
#ifndef QUENCH_APP_RUNTIME_RUN_RUN_H
#define QUENCH_APP_RUNTIME_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "fwd/half_sip.h"
#include "node/node.h"
#include "runtime/run/opts.h"
#include "runtime/port/poll_loop.h"

/** Start EAL and catch SIGINT and SIGTERM. @return 0 or an exit code after an error line. */
int run_start(const struct opts *opts);

/**
 * A key that whoever sends us frames cannot guess: of the hashes of tables that frames can write.
 * @return 0 or an exit code after an error line.
 */
int run_make_key(struct half_sip_key *key);

/** lcores that can poll: all but the main one, or that one if it is alone. */
uint16_t run_poll_lcores(void);

/** lcore that will poll the i-th node; i < run_poll_lcores(). */
unsigned int run_poll_lcore(uint16_t i);

/* What a statistics line says about frames, of all ports. */
struct run_traffic {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes; /* frame bytes with FCS */
};

struct nic_share;
struct telemetry;

struct run_app {
	struct node *node;                /* the only one, or nodes[0] */
	struct node **nodes;              /* several that share the ports, or have them by parts */
	const struct poll_queues *queues; /* of each of them, on every port; NULL: node alone */
	uint16_t n_nodes;                 /* 0: node alone */
	/* Of each of nodes[], a mask: the ports that it has to itself. node then is what they are
	 * parts of, for control work and counters. NULL: all have all ports, and node is
	 * nodes[0]. */
	const uint64_t *node_ports;
	const struct nic_share *share; /* where quench-nic's QPs are; NULL: one node has all */
	bool measure_pacing;           /* the nodes say when frames are due */
	bool waits_for_link;           /* nothing is sent while a port's link is down */
	const uint16_t *ethdevs;
	uint16_t n_ports;
	const struct opts *opts;
	struct telemetry *telemetry; /* answers while the nodes run; NULL: none */
	/* Called every millisecond by the lcore that does control work: stop when true. NULL:
	 * not. */
	bool (*done)(const struct run_app *app);
	/* Counters so far; text is what the program adds to the line. */
	void (*stats)(const struct run_app *app, struct run_traffic *traffic, char *text,
		      unsigned int text_size);
	/* Called by the lcore that does control work, after it, and after each look at the ports'
	 * links with what it saw, else with links NULL. NULL: not. */
	void (*watch)(const struct run_app *app, const struct port_link *links, uint64_t now_ns);
	/* Called after each statistics line, with where it went. NULL: not. */
	void (*sample)(const struct run_app *app, FILE *out, uint64_t now_ns);
};

struct run_result {
	uint64_t elapsed_ns;
	struct poll_loop *loops; /* of each node, as it ended; for the caller to free() */
	uint16_t n_loops;
	struct port_link *links;  /* of each port; for the caller to free() */
	struct pace_meter *paces; /* of each node, or NULL; for the caller to free() */
};

/** Where statistics lines go: standard output, unless JSON goes there. */
FILE *run_stats_file(const struct opts *opts);

/** Run until a signal, the duration's end or done(). @return 0 or APP_FAILED. */
int run_node(const struct run_app *app, struct run_result *result);

#endif
