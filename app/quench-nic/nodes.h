/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC that quench-nic builds: a device with its queues, a node for each lcore that polls, their
 * pools, and the QPs of the configuration, dealt out to the nodes. Where the device has RSS, a QP
 * goes to the lcore at whose receive queue its frames arrive; else in turn.
 */
#ifndef QUENCH_APP_QUENCH_NIC_NODES_H
#define QUENCH_APP_QUENCH_NIC_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/port/port_queues.h"
#include "runtime/port/port_rss.h"
#include "ctl/nic_config/nic_config.h"
#include "nic/port/rss.h"
#include "nic/port/share.h"

struct nic_nodes {
	struct nic_params nic; /* as at the start */
	struct node *node[NIC_SHARE_MAX_NODES];
	struct poll_queues queues[NIC_SHARE_MAX_NODES];
	struct port_plan plan;   /* its lcores are as many as there are nodes */
	struct nic_share *share; /* NULL: one node */
	uint32_t n_qps;          /* at the start */
	uint32_t max_qps;
	uint16_t mtu_bytes;                  /* that there is room for */
	bool placed;                         /* by RSS */
	uint16_t lcore[NIC_RSS_MAX_BUCKETS]; /* of each bucket, with it */
	uint16_t ethdev;
	uint16_t n_open; /* devices: 0 or 1 */
	struct port_rss rss;
	struct rte_mempool *rx_pool;
	struct nic_pools pools;
};

/**
 * Build all of it but the QPs. config gets the device's MAC address if it has none.
 *
 * @param n  Zero-initialised; for nodes_close(), whatever the result.
 * @return   0, or an exit code after an error line.
 */
int nodes_open(struct nic_nodes *n, struct nic_config *config, const char *config_path);

void nodes_close(struct nic_nodes *n);

/** The node that has QP i of a flow. */
uint16_t nodes_home(const struct nic_nodes *n, const struct nic_flow *flow, uint32_t i);

/** How many QPs of a flow each node has; where they are unless they are placed by RSS. */
void nodes_count(const struct nic_nodes *n, const struct nic_flow *flow,
		 struct nic_flow_place *places);

/** Is the last nic_reload() in force on every node? From any thread. */
bool nodes_are_reloaded(const struct nic_nodes *n);

/** Have all requesters that end ended, those of the last nic_reload() too? Where that is called. */
bool nodes_are_done(const struct nic_nodes *n);

#endif
