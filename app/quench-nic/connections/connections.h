/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections of quench-nic by RDMA CM: between the connection manager, which runs on the main
 * lcore (nic/gsi), and the configuration. A section [flow NAME] with connect is a pattern; each
 * connection becomes a flow NAME@N, added and removed like any other flow of a running program.
 *
 *   connect = cm       qp_count times: REQ; after the REP add the flow, answer RTU, and start it.
 *                      When all its messages are complete, and the peer is quiet, disconnect. A
 *                      connection that ends before is opened again.
 *   connect = listen   after a REQ to cm_port add the flow, and answer REP; start it at the RTU
 *
 * A thread of its own does this, because a change of the configuration waits for the lcores.
 *
 * Invariant: a flow NAME@N exists while its connection does: whichever goes first ends the other.
 */
#ifndef QUENCH_APP_QUENCH_NIC_CONNECTIONS_CONNECTIONS_H
#define QUENCH_APP_QUENCH_NIC_CONNECTIONS_CONNECTIONS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "quench-nic/connections/cm_orders.h"
#include "quench-nic/flows/flow_registry.h"
#include "runtime/notice/say.h"
#include "runtime/desk/active_config.h"

/* What the thread knows of one of the connection manager's connections. */
struct connection {
	bool known;
	uint32_t id;
	char pattern[NIC_FLOW_NAME_CHARS + 1], flow[NIC_FLOW_NAME_CHARS + 1];
	bool has_flow;  /* it was added */
	bool may_start; /* the pattern is not stopped */
	bool is_ending; /* the connection manager was told to end it */
	uint32_t qpn;
	uint32_t place; /* of its flow in the configuration, when it was last seen */
	/* The peer has ended it: until when ACKs may still come; 0: it has not. */
	uint64_t ended_ns;
	uint64_t rx_packets, quiet_ns; /* at the last look, and since when they are as many */
	struct cm_view view;
};

/* One pattern with connect = cm. */
struct connecting {
	char name[NIC_FLOW_NAME_CHARS + 1];
	uint32_t open, completed; /* connections */
	unsigned int failures;    /* in a row, up to a limit */
	uint64_t retry_ns;        /* not before */
};

/* QP numbers that are offered in turn while a flood of REQs lasts. */
#define CONNECTIONS_SPARES 64u

struct connections {
	struct active_config *active;
	struct flow_registry *registry;
	struct cm_orders orders;
	struct control_thread thread;
	bool has_thread;
	atomic_bool stop;
	atomic_bool pending; /* a pattern has more to send */
	struct connecting *connecting;
	unsigned int n_connecting;
	uint64_t leave_by_ns; /* 0: the program goes on */
	pthread_mutex_t lock; /* of all[], for readers; and of the spares */
	bool spares_are_used;
	uint32_t next_spare, n_spares, spares[CONNECTIONS_SPARES]; /* free QP numbers, for offers */
	struct connection *all; /* by slot of the connection manager */
	struct say_limit limit;
};

/** @return 0 or -errno. Call when active has its mailbox, on the main lcore. */
int connections_start(struct connections *c, struct active_config *active,
		      struct flow_registry *registry);
/** Call when the main lcore serves no mailbox any more. Does nothing if it was not started. */
void connections_stop(struct connections *c);

/**
 * The program ends: disconnect all, so that no peer waits for a program that is no more. Call again
 * until it returns false: all peers have answered, or have had their time. Main lcore.
 */
bool connections_leave(struct connections *c, uint64_t now_ns);

/** Has no pattern more to send? Main lcore. */
bool connections_are_done(const struct connections *c);

/** Visit the connections under a lock. */
void connections_visit(struct connections *c,
		       void (*visit)(void *arg, const struct connection *one), void *arg);

#endif
