/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario built: hosts, switches, cables, packet pools, QPs. The net owns all of them. */
#ifndef QUENCH_FABRIC_NET_NET_H
#define QUENCH_FABRIC_NET_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/links/fabric.h"
#include "fabric/scenario/scenario.h"
#include "nic/jobs/job_results.h"
#include "nic/observe/flow_info.h"

/* One flow from one host to another, with consecutive QPs at both ends. */
struct net_flow {
	char name[FLOW_TITLE_CHARS + 1]; /* "incast h1" */
	uint32_t src, dst;               /* host numbers, from 1 */
	uint32_t src_qp, dst_qp;         /* index of the first QP at each end */
	uint32_t qps;
	uint64_t messages; /* of each QP; 0: no limit */
	enum cc_algorithm cc;
	const struct flow_params *params;
};

struct net;

/** Number of threads for a net: one per usable core, but not more than make it faster. */
uint32_t net_threads_that_pay(const struct scenario *s);

/**
 * Build a net; needs a running EAL.
 *
 * Among ranks, each builds and runs its own nodes, and rank 0 builds also a copy of each other
 * node, whose state it reads as of the last net_gather(). All ranks make the same calls of the
 * functions below.
 *
 * @param threads  As in fabric_create().
 * @param ranks    Those that run the net together, which must outlive it; NULL: this process alone.
 * @return         The net, or NULL with one line in why.
 */
struct net *net_create(const struct scenario *s, uint32_t threads, struct ranks *ranks, char *why,
		       unsigned int why_size);
/** Free the net. The scenario stays the caller's and must outlive the net. */
void net_destroy(struct net *net);

/* Physical memory that parts of a net took when they were made. */
struct net_memory {
	uint64_t switches_bytes, hosts_bytes;
	uint64_t cables_bytes; /* and the event loop's state of nodes */
	uint64_t flows_bytes;  /* QPs at both ends, and their paths */
};

struct net_memory net_memory(const struct net *net);

/** NULL: the net has one process. */
struct ranks *net_ranks(const struct net *net);
/** Does this process run a node of the topology? */
bool net_owns(const struct net *net, uint32_t node);
/** Can this process read the node: is it its own, or a copy at rank 0? */
bool net_has(const struct net *net, uint32_t node);
/** Can this process read all nodes? */
bool net_has_all(const struct net *net);
/** The rank that runs it. */
uint32_t net_rank_of(const struct net *net, uint32_t node);
/**
 * Let rank 0 read the present state of all nodes and cables.
 * @param all  Also what is read at the end of a run alone.
 * @return     0, -ENOMEM, or -EIO: another process has other pieces, or does not answer.
 */
int net_gather(struct net *net, bool all);

/** As the run began. */
const struct scenario *net_scenario(const struct net *net);
/** After the changes that events have made so far: the keys of switches, hosts and flows. */
const struct scenario *net_in_force(const struct net *net);
struct fabric *net_fabric(struct net *net);
/** Time that was left out so far: time of the run minus the clock of the fabric and its nodes. */
uint64_t net_skipped_ns(const struct net *net);
/** A time of the run, by the present clock of the nodes. */
uint64_t net_clock_ns(const struct net *net, uint64_t ns);
/** The end of a cable in the fabric. */
struct fabric_end net_end_at(const struct net *net, struct topology_end at);
/** A server, from 0 on; NULL: its hosts are nodes of their own, or are not here (net_has()). */
const struct node *net_server(const struct net *net, uint32_t server);
/** Switch i in [0, topology->n_switches); NULL: it is not here (net_has()). */
const struct node *net_switch(const struct net *net, uint32_t i);
/** Before the run: tell of frames that switch i drops. NULL: no longer, when the run has ended. */
void net_watch_drops(struct net *net, uint32_t i, struct node_drops *drops);
/** Host h in [1, hosts]; NULL: it is not here (net_has()). */
const struct node *net_host(const struct net *net, uint32_t h);
/** The tester around a host's NIC; NULL: none. */
const struct node *net_tester(const struct net *net, uint32_t h);
/** Frames to a port that were lost, as fabric_cable_drops(). */
uint64_t net_cable_drops(const struct net *net, struct topology_end e, enum cable_drop why);
/** Counts of frames that arrived at a port, as fabric_cable_stats(). */
struct cable_stats net_cable_stats(const struct net *net, struct topology_end e);
/** QPs of host h in [1, hosts], of all flows. */
uint32_t net_host_qps(const struct net *net, uint32_t h);
uint32_t net_flow_count(const struct net *net);
const struct net_flow *net_flow(const struct net *net, uint32_t index);

/* The sender of a flow's data: the flow's source, or for READ its destination. */
struct net_end {
	uint32_t host;
	uint32_t first_qp; /* index of the first QP */
};

struct net_end net_flow_sender(const struct net_flow *flow);
struct net_end net_flow_receiver(const struct net_flow *flow);

/**
 * Trace the congestion control of a flow's QP, unless it is traced already. Call it before the run.
 * @return 0, -ENOSPC (its host already traces NIC_MAX_TRACES) or -ENOMEM.
 */
int net_trace_qp(struct net *net, uint32_t index, uint16_t qp);
/** The trace of a flow's QP at the sender of its data; NULL: none. */
const struct nic_trace *net_trace_of(const struct net *net, uint32_t index, uint16_t qp);

/**
 * Has a flow of one of many pairs (all_to_all, trace) sent nothing so far? Results leave such a
 * flow out: most of the pairs of a large fabric may be silent.
 */
bool net_flow_is_silent(const struct net_flow *flow, const struct nic_qp_info *at_sender,
			const struct nic_qp_info *at_receiver);

/**
 * Sums over the flow's QPs, from both ends of its data. Rates are sums too. But if each message has
 * QPs of its own, most of them have not begun or are done: rate and target of the sender are then
 * sums over those between their first packet and their end, and its lowest rate is that of any QP
 * (0: none has begun).
 */
void net_flow_info(const struct net *net, uint32_t index, struct nic_qp_info *at_sender,
		   struct nic_qp_info *at_receiver);

/**
 * Before the run: record the messages of all hosts. @return 0 or -ENOMEM.
 */
int net_record_messages(struct net *net);

/**
 * The messages recorded since the last call, in the order of their ends, and at equal times in the
 * order of flows and QPs. flow_id is the flow's index.
 *
 * @param messages  Valid until the next call.
 * @return          Their number, or -ENOMEM: some are lost.
 */
int64_t net_recorded_messages(struct net *net, const struct nic_message **messages);

/* Messages of open loops that may be recorded as not ended, divided equally among all QPs: an
 * overloaded loop has a backlog without a limit. */
#define NET_MAX_BACKLOG (1u << 20)

/**
 * At the end of the run: the next net_recorded_messages() has those that have not ended.
 * @return false: some QPs had a longer backlog, whose later messages are left out.
 */
bool net_record_not_ended(struct net *net, uint64_t now_ns);

/** When to call net_after_run() next; NEVER_NS: nobody waits for others. */
uint64_t net_after_next_ns(const struct net *net);
/** Let flows, rounds and messages begin that have waited for others. The fabric has run up to
 * now. */
void net_after_run(struct net *net, uint64_t now_ns);
/**
 * The first [flow NAME] that has not ended, of those for which this one waits; both by index in the
 * scenario. UINT32_MAX: it does not wait.
 */
uint32_t net_after_awaits(const struct net *net, uint32_t section);
/** Messages of a [flow NAME] with a trace that wait for earlier ones. */
uint32_t net_after_waiting_messages(const struct net *net, uint32_t section);

/** Before the run: record the operations of a job's ranks. @return 0 or -ENOMEM. */
int net_job_record(struct net *net, uint32_t job);
/** The operations of a rank in an iteration, as nic_job_ops(). */
const struct nic_job_op *net_job_ops(const struct net *net, uint32_t job, uint32_t rank,
				     uint32_t iteration);

/** The flow of the messages from one rank to another one, on another server. */
uint32_t net_job_flow(const struct net *net, uint32_t job, uint32_t from, uint32_t to);

/** A rank of a job of the scenario, by their numbers. Its times count up to the end of the run. */
void net_job_info(const struct net *net, uint32_t job, uint32_t rank, struct nic_job_info *out);
/** Where it runs. */
struct job_member net_job_member(const struct net *net, uint32_t job, uint32_t rank);

/** Message times of the flow, at its source; NULL: not measured. */
const struct nic_times *net_flow_times(const struct net *net, uint32_t index);

/** Pacing of the flow at both ends, added up in *sum. @return sum, or NULL: not measured. */
const struct nic_pacing *net_flow_pacing(const struct net *net, uint32_t index,
					 struct nic_pacing *sum);

/** Before the run: watch the pauses that a port sends. */
void net_watch_pauses(struct net *net, struct topology_end at, struct pfc_tx_watch watch);

/** Total time during which pauses stopped the flow's data at its sender. */
uint64_t net_flow_paused_ns(const struct net *net, uint32_t index, uint64_t now_ns);

#endif
