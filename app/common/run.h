/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one node: EAL start-up, the poll loop on its lcore, slow work beside it, clean stop.
 *
 * With two lcores or more the first worker polls and the main lcore does control work, statistics
 * and stop; with one lcore the loop does both, the slow part when it is due.
 */
#ifndef QUENCH_APP_RUN_H
#define QUENCH_APP_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "common/opts.h"
#include "common/poll_loop.h"

/** Start EAL and catch SIGINT and SIGTERM. @return 0 or an exit code after an error line. */
int run_start(const struct opts *opts);

/** lcore that will poll. */
unsigned int run_poll_lcore(void);

/* What a statistics line says about frames, of all ports. */
struct run_traffic {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes; /* frame bytes with FCS */
};

struct run_app {
	struct node *node;
	const uint16_t *ethdevs;
	uint16_t n_ports;
	const struct opts *opts;
	/* Called by the polling lcore every millisecond: stop when true. NULL: never. */
	bool (*done)(const struct node *node);
	/* Counters so far; text is what the program adds to the line. */
	void (*stats)(const struct run_app *app, struct run_traffic *traffic, char *text,
		      unsigned int text_size);
};

struct run_result {
	uint64_t elapsed_ns;
	struct poll_loop loop; /* as it ended */
};

/** Run until a signal, the duration's end or done(). @return 0 or APP_FAILED. */
int run_node(const struct run_app *app, struct run_result *result);

#endif
