/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node that describes the RDMA NIC on the other end of its link by what that does on the wire, as
 * Lumina (SIGCOMM 2023) and Collie (NSDI 2022) do. It runs as other nodes: in virtual time against
 * quench's own NIC, and on a port against any.
 *
 * The NIC's host starts the data, an endless flow to each QP of the prober. The prober answers it,
 * sends marked packets (the NIC is the notification point), CNPs (it is the reaction point), gaps,
 * NAKs, wrong ICRCs and pauses, measures the answers, and fills the lines of struct findings.
 *
 * Invariant (tested): every experiment ends, by its answer or by its time; lines that the NIC did
 * not answer say so.
 */
#ifndef QUENCH_PROBE_PROBER_H
#define QUENCH_PROBE_PROBER_H

#include "node/node.h"
#include "probe/core/prober_core.h"
#include "probe/params/prober_params.h"
#include "probe/report/findings.h"

struct rte_mempool;

/** Largest frame that a prober sends or receives, without FCS. */
#define PROBER_LARGEST_FRAME 4200u

/**
 * @param pool  Mbufs with room for PROBER_LARGEST_FRAME; outlives the node.
 * @return      The node, owned by the caller, or NULL with errno EINVAL or ENOMEM.
 */
struct node *prober_create(const struct prober_params *params, struct rte_mempool *pool);
void prober_destroy(struct node *node);

/** Have all experiments ended? */
bool prober_done(const struct node *node);
/** After the end: why nothing could be found, or NULL. */
const char *prober_trouble(const struct node *node);
/** What has been found so far. */
const struct findings *prober_findings(const struct node *node);
const struct prober_stats *prober_stats(const struct node *node);
/** Name of the experiment that runs. */
const char *prober_experiment(const struct node *node);

#endif
