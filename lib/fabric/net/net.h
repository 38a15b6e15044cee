/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario built: hosts, switches, cables, packet pools, QPs. Everything is owned by the net.
 */
#ifndef QUENCH_FABRIC_NET_H
#define QUENCH_FABRIC_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/links/fabric.h"
#include "fabric/scenario/scenario.h"
#include "nic/observe/flow_info.h"

/* One flow from one host to another: consecutive QPs at both ends. */
struct net_flow {
	char name[FLOW_TITLE_CHARS + 1]; /* "incast h1" */
	uint16_t src, dst;               /* host numbers, from 1 */
	uint32_t src_qp, dst_qp;         /* index of the first QP at each end */
	uint16_t qps;
	const struct flow_params *params;
};

struct net;

/** Build it. EAL runs. @return the net, or NULL with one line in why. */
struct net *net_create(const struct scenario *s, char *why, unsigned int why_size);
/** Free all of it; the scenario stays the caller's and outlives the net. */
void net_destroy(struct net *net);

const struct scenario *net_scenario(const struct net *net);
struct fabric *net_fabric(struct net *net);
/** Switch i in [0, topology->n_switches). */
const struct node *net_switch(const struct net *net, uint32_t i);
/** Host h in [1, hosts]. */
const struct node *net_host(const struct net *net, uint16_t h);
/** Frames that did not arrive at a port, as fabric_cable_drops(). */
uint64_t net_cable_drops(const struct net *net, struct fabric_end e, enum cable_drop why);
/** What happened to frames to a port that did arrive, as fabric_cable_stats(). */
struct cable_stats net_cable_stats(const struct net *net, struct fabric_end e);
uint32_t net_flow_count(const struct net *net);
const struct net_flow *net_flow(const struct net *net, uint32_t index);

/* Where a flow's data comes from: its source, of READ its destination. */
struct net_end {
	uint16_t host;
	uint32_t first_qp; /* index of the first QP */
};

struct net_end net_flow_sender(const struct net_flow *flow);
struct net_end net_flow_receiver(const struct net_flow *flow);

/**
 * Trace what congestion control does to a flow's QP, if it is not traced already. Before the run.
 * @return 0, -ENOSPC (NIC_MAX_TRACES of its host are traced) or -ENOMEM.
 */
int net_trace_qp(struct net *net, uint32_t index, uint16_t qp);
/** The trace of a flow's QP at the sender of its data; NULL: none. */
const struct nic_trace *net_trace_of(const struct net *net, uint32_t index, uint16_t qp);

/** Sum of what the flow's QPs did at the two ends of its data. Rates are sums too. */
void net_flow_info(const struct net *net, uint32_t index, struct nic_qp_info *at_sender,
		   struct nic_qp_info *at_receiver);

/** Times of the flow's messages, at its source; NULL: not measured. */
const struct nic_times *net_flow_times(const struct net *net, uint32_t index);

/** The flow's pacing, at the sender of its data; NULL: not measured. */
const struct nic_pacing *net_flow_pacing(const struct net *net, uint32_t index);

/** Time in which pauses have held the flow's data at its sender so far. */
uint64_t net_flow_paused_ns(const struct net *net, uint32_t index, uint64_t now_ns);

#endif
