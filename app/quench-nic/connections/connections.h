/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections of quench-nic by RDMA CM: between the connection manager, which runs on the main
 * lcore (nic/gsi), and the configuration. A section [flow NAME] with connect is a pattern; each
 * connection becomes a flow NAME@N, added and removed like any other flow of a running program.
 *
 *   connect = cm       Open qp_count connections: send a REQ; after the REP, add the flow, answer
 *                      with an RTU, and start the flow. Disconnect when all its messages are
 *                      complete and the peer is quiet. Open a connection again that ends earlier.
 *   connect = listen   After a REQ to cm_port, add the flow and answer with a REP. Start the flow
 *                      at the RTU.
 *
 * This runs in a thread of its own, because a change of the configuration waits for the lcores.
 *
 * Invariant: a flow NAME@N exists as long as its connection; the end of either ends the other.
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

/* The thread's state of a connection. */
struct connection {
	bool known;
	uint32_t id;
	char pattern[NIC_FLOW_NAME_CHARS + 1], flow[NIC_FLOW_NAME_CHARS + 1];
	bool has_flow;  /* it was added */
	bool may_start; /* the pattern is not stopped */
	bool is_ending; /* the connection manager has the order to end it */
	uint32_t qpn;
	uint32_t place; /* last known index of its flow in the configuration */
	/* If the peer has ended it: the end of the wait for its last ACKs; else 0. */
	uint64_t ended_ns;
	uint64_t rx_packets; /* at the last check */
	uint64_t quiet_ns;   /* time of the last check that found it active: quiet since then */
	struct cm_view view;
};

/* One pattern with connect = cm. */
struct connecting {
	char name[NIC_FLOW_NAME_CHARS + 1];
	uint32_t open, completed; /* connections */
	unsigned int failures;    /* in a row, up to a limit */
	uint64_t retry_ns;        /* earliest time of the next attempt */
};

/* Number of QP numbers that are offered in turn during a flood of REQs. */
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
	uint64_t leave_by_ns; /* end of the wait for peers at the program's end; 0: it runs on */
	pthread_mutex_t lock; /* protects the spares, and all[] while others read it */
	bool spares_are_used;
	uint32_t next_spare, n_spares, spares[CONNECTIONS_SPARES]; /* free QP numbers, for offers */
	struct connection *all; /* by slot of the connection manager */
	struct say_limit limit;
};

/** Call on the main lcore, when active has its mailbox. @return 0 or -errno. */
int connections_start(struct connections *c, struct active_config *active,
		      struct flow_registry *registry);
/** Call after the main lcore has stopped serving the mailbox. Does nothing if not started. */
void connections_stop(struct connections *c);

/**
 * The program ends: disconnect all, so that no peer waits for it in vain. Call again on the main
 * lcore until it returns false: all peers have answered, or their time is over.
 */
bool connections_leave(struct connections *c, uint64_t now_ns);

/** Have all patterns sent everything? Call on the main lcore. */
bool connections_are_done(const struct connections *c);

/** Visit the connections under a lock. */
void connections_visit(struct connections *c,
		       void (*visit)(void *arg, const struct connection *one), void *arg);

#endif
