/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by the files of a net. Private to lib/fabric. */
#ifndef QUENCH_FABRIC_NET_NET_STATE_H
#define QUENCH_FABRIC_NET_NET_STATE_H

#include "fabric/net/net.h"
#include "fabric/server/server.h"

struct rte_mempool;

struct net {
	const struct scenario *scenario; /* as the run began */
	const struct scenario *in_force; /* after the changes of events */
	struct fabric *fabric;
	uint32_t threads;
	struct node **switches, **hosts; /* NULL: not here (net_has()) */
	struct net_flow *flows;
	uint32_t n_flows;
	uint32_t *qps_of_host;        /* by host number: QPs that have been added */
	uint32_t *message_bytes;      /* of large traces, by flow and QP */
	struct workload_by_qp *by_qp; /* per flow; NULL: no large trace */
	struct rte_mempool *data, *control, *frames, *clones;
	struct nic_payloads *payloads;
	struct node **testers; /* by host number - 1; NULL: the host is its NIC */
	struct node **servers; /* NULL: hosts are nodes of their own */
	struct net_paths *paths;
	struct net_jobs *jobs;        /* NULL: there are none */
	struct nic_message *messages; /* the last net_recorded_messages() */
	uint32_t messages_size;
	struct net_after *after;
	struct net_rounds *rounds;
	struct net_memory memory;
	struct ranks *ranks;            /* NULL: the net has one process */
	struct rte_mempool *from_ranks; /* frames of other ranks without a payload of ours */
	uint64_t skipped_ns;            /* as net_skipped_ns() */
	uint8_t *down; /* per link, 1: excluded from routes; NULL: no link has changed */
};

/** When the cables are connected: divide the nodes among the ranks. @return 0 or -ENOMEM. */
int net_divide(struct net *net);

/** As net_end_at(): with servers, a host is one of the ports of its server. */
static inline struct fabric_end
end_at(const struct scenario *s, struct topology_end at)
{
	uint32_t n_switches = s->topology->n_switches, host;

	if (!scenario_has_servers(s) || at.node < n_switches)
		return (struct fabric_end){.node = at.node, .port = at.port};
	host = at.node - n_switches + 1;
	return (struct fabric_end){.node = n_switches + scenario_server_of(s, host),
				   .port = scenario_nic_of(s, host)};
}

/** A pool for frames of other ranks. @return 0 or -ENOMEM. */
int net_create_pool_of_ranks(struct net *net);

/** How frames cross between ranks. */
extern const struct fabric_carrier net_carrier;

/** As net_owns(). */
static inline bool
net_owns_host(const struct net *net, uint32_t host)
{
	return net_owns(net, topology_host_node(net->scenario->topology, host));
}

/** As net_has(). */
static inline bool
net_has_host(const struct net *net, uint32_t host)
{
	return net_has(net, topology_host_node(net->scenario->topology, host));
}

/** Recompute the routes of all routers, over the links that are up. @return 0, -ENOSPC, -ENOMEM. */
int net_reroute(struct net *net, const uint8_t *down);

/**
 * Apply the parameters of another scenario with the same nodes and flows, for the nodes that the
 * change names. @return 0, or -ENOMEM.
 */
int net_change(struct net *net, const struct scenario_change *change, uint64_t now_ns);

/** As fabric_poke(), of a host whose NIC was called. */
void net_poke_host(struct net *net, uint32_t host, uint64_t now_ns);

/** The params of a host, except its number of QPs. */
struct nic_params net_host_params(const struct scenario *s, uint32_t host);

/** Drain rate of a host from [receiver]; 0: it is not slow. */
uint64_t net_drain_rate(const struct scenario *s, uint32_t host);

/** Add the QPs of all flows, in the order of the file. @return 0, or -1 with why. */
int net_create_flows(struct net *net, char *why, unsigned int why_size);

/** Before the flows: room for the jobs. @return 0 or -ENOMEM. */
int net_jobs_begin(struct net *net);
/** A pair of a job, before its QPs: room for the messages of a rank. @return 0 or -ENOMEM. */
int net_job_prepare(struct net *net, uint32_t flow);
struct workload_posts *net_job_posts(const struct net *net, uint32_t flow);
/** After the hosts and testers: servers around them, if there are any. @return 0 or -ENOMEM. */
int net_create_servers(struct net *net);
void net_free_servers(struct net *net);

/** Let ranks of jobs that stop or go on in the next scenario do so inside servers. */
void net_change_jobs(struct net *net, const struct scenario *next, uint64_t now_ns);

/** After the flows: ranks on their hosts. @return 0 or -ENOMEM. */
int net_add_ranks(struct net *net);
void net_free_jobs(struct net *net);

/* The first turn of a requester: QP i of a flow. */
struct net_turn {
	uint32_t flow, qp;
};

/** When a QP starts; of a flow with `after`, counted from where that is. */
uint64_t net_qp_start_ns(const struct net_flow *flow, const struct flow_pair *pair,
			 uint32_t number);

/** After the flows: which of them wait for others. @return 0 or -ENOMEM. */
int net_create_after(struct net *net);
void net_free_after(struct net *net);
/** Add a turn, in the order of the turns of its host. Keeps those of QPs that wait. */
void net_after_keep(struct net *net, struct net_turn turn);

/* The same of flows with a barrier. */
int net_create_rounds(struct net *net);
void net_free_rounds(struct net *net);
void net_rounds_keep(struct net *net, struct net_turn turn);
/** When to call net_rounds_run() next; NEVER_NS: no barrier is left. */
uint64_t net_rounds_next_ns(const struct net *net);
/** Let the next rounds begin of barriers whose flows have all ended one. */
void net_rounds_run(struct net *net, uint64_t now_ns);

/** Let the QPs take their turns, in an order drawn by the seed. @return 0 or -ENOMEM. */
int net_give_turns(struct net *net);

/** Give the QPs their paths, after all of them are added. @return 0 or -ENOMEM. */
int net_set_paths(struct net *net);
void net_free_paths(struct net *net);

/** Write into why, in one line, why the net cannot be built. @return -1. */
__attribute__((format(printf, 3, 4))) int net_fail(char *why, unsigned int why_size,
						   const char *format, ...);

#endif
