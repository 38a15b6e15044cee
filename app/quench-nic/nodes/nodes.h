/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC of quench-nic: a device with its queues, a node for each polling lcore, their pools, and
 * the QPs of the configuration, distributed over the nodes. If the device has RSS, a QP is placed
 * on the lcore that receives its frames; otherwise QPs are assigned in turn.
 *
 * Invariant: the n_qps of a flow's places, summed over all nodes, is its qp_count.
 */
#ifndef QUENCH_APP_QUENCH_NIC_NODES_NODES_H
#define QUENCH_APP_QUENCH_NIC_NODES_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/poll/port_queues.h"
#include "runtime/port/port_rss.h"
#include "runtime/run/opts.h"
#include "ctl/nic_config/nic_config.h"
#include "nic/port/rss.h"
#include "nic/port/share.h"
#include "runtime/run/run.h"
#include "nic/nic.h"
#include "runtime/run/run.h"
#include "nic/nic.h"

struct nic_nodes {
	struct nic_params nic; /* as at start-up */
	struct node *node[NIC_SHARE_MAX_NODES];
	struct poll_queues queues[NIC_SHARE_MAX_NODES];
	struct port_plan plan;   /* n_lcores: number of lcores, which is also the number of nodes */
	struct nic_share *share; /* NULL: one node */
	uint32_t n_qps;          /* at start-up */
	uint32_t max_qps;
	uint32_t burst_ns;     /* in place of a shaper_burst_ns of 0 */
	uint16_t mtu_bytes;    /* largest that data mbufs hold */
	uint16_t stream_bytes; /* largest frame of a stream, with FCS; 0: there is none */
	bool placed;           /* QPs are placed by RSS */
	uint16_t lcore[NIC_RSS_MAX_BUCKETS]; /* of each bucket, if placed */
	uint16_t ethdev;
	uint16_t n_open; /* number of open devices: 0 or 1 */
	struct port_rss rss;
	struct rte_mempool *rx_pool;
	struct rte_mempool *gsi_pool;    /* of management datagrams */
	struct rte_mempool *frames_pool; /* of [frames NAME]; NULL: there is none */
	struct nic_pools pools;
};

/** Largest frame that a configuration sends or receives, without FCS. */
uint16_t nodes_largest_frame(const struct nic_config *config);

/**
 * Build everything except the QPs. Sets the MAC address and shaper_burst_ns of config if they are
 * zero.
 *
 * @param n  Zero-initialised. Call nodes_close() whatever the result.
 * @return   0, or an exit code after an error line.
 */
int nodes_open(struct nic_nodes *n, struct nic_config *config, const struct opts *opts);

void nodes_close(struct nic_nodes *n);

/** A flow with addresses of its own, which need one node; NULL: none, or there is one node. */
const struct nic_flow *nodes_unfit(const struct nic_nodes *n, const struct nic_config *config);

/** A stream whose frames the device's kernel interface would refuse; *most: what it takes. */
const struct nic_stream *nodes_too_long(const struct nic_nodes *n, const struct nic_config *config,
					uint32_t *most);

/** The node that has QP i of a flow. */
uint16_t nodes_home(const struct nic_nodes *n, const struct nic_flow *flow, uint32_t i);

/** Count the QPs of a flow on each node; find their items too, unless QPs are placed by RSS. */
void nodes_count(const struct nic_nodes *n, const struct nic_flow *flow,
		 struct nic_flow_place *places);

/** Is the last nic_reload() in force on every node? Any thread. */
bool nodes_are_reloaded(const struct nic_nodes *n);

/**
 * Have all requester QPs with a limit or a stop time finished, including those of the last
 * nic_reload()? Only on the thread that calls nic_reload().
 */
bool nodes_are_done(const struct nic_nodes *n);

/** Counters, summed over all nodes. Any thread, also while the NIC runs. */
struct nic_stats nic_total_stats(const struct run_app *app);

/* Says once if an algorithm that needs in-band telemetry hears none, or not of all hops. */
struct hops_watch {
	/* of the start; they do not change */
	uint32_t cc_mask; /* bits of enum cc_algorithm */
	uint8_t int_slots;
	/* of cc_mask */
	uint32_t said_missing, said_full;
};

/** Call now and then, in one thread. */
void hops_look(struct hops_watch *w, const struct run_app *app);

#endif
