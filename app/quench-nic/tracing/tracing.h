/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces of QPs of a running quench-nic: those of trace_qps, and those started at the front desk.
 *
 * A trace started at the front desk has clients and ends with the last of them, or it is turned on
 * and ends when it is turned off. A client may die without ending its trace. Therefore a trace that
 * is not turned on also ends when nobody has read its rows for TRACING_LEASE_NS.
 *
 * The main thread calls tracing_open() and tracing_close(), and during the run tracing_tend(),
 * which neither waits nor frees. The desk's thread calls the other functions during the run.
 * The desk's thread allocates and frees the rings; the QP's lcore starts and stops writing between
 * two bursts.
 *
 * Invariant: a ring is freed only after its lcore has adopted a set of traces without it.
 */
#ifndef QUENCH_APP_QUENCH_NIC_TRACING_TRACING_H
#define QUENCH_APP_QUENCH_NIC_TRACING_TRACING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/units.h"
#include "nic/measure/trace.h"
#include "quench-nic/nodes/nodes.h"
#include "nic/port/share.h"
#include "ctl/nic_config/nic_config.h"

#define TRACING_LEASE_NS (10 * NS_PER_SEC)

struct traced {
	struct nic_trace *trace;
	uint32_t number; /* of the QP, counted from first_qpn; reused once the QP is removed */
	struct nic_location at;
	uint32_t serial; /* number of this trace; the QP may have had earlier ones */
	uint32_t clients;
	bool configured; /* by trace_qps: until the program ends */
	bool on;         /* turned on: until it is turned off */
	uint64_t began_ns;
	uint64_t read_ns; /* last request for its rows */
};

struct tracing {
	const struct nic_nodes *nodes;
	pthread_mutex_t lock; /* protects the members below */
	struct traced traced[NIC_MAX_TRACES];
	uint32_t n;
	uint32_t serials;
	uint64_t tend_ns; /* next time that tracing_tend() does its work */
	struct nic_traces told[NIC_SHARE_MAX_NODES]; /* the last set given to each node */
	/* Freed once all nodes have adopted sets without them. */
	struct nic_trace *old[NIC_MAX_TRACES];
	uint32_t n_old;
};

/** Begin the traces of trace_qps. share maps QPs to nodes. @return 0, or an exit code after an
 * error line. */
int trace_start(struct node *const *nodes, const struct nic_share *share,
		const struct nic_config *config);
/** Write the traces of trace_qps as CSV. @return 0, or an exit code after an error line. */
int trace_write(struct node *const *nodes, uint16_t n_nodes, const char *path);

/** Call after trace_start(), before the run. @return 0 or -errno. */
int tracing_open(struct tracing *t, const struct nic_nodes *nodes);
/** Call after the nodes are destroyed. Does nothing on a zero-initialised struct. */
void tracing_close(struct tracing *t);

enum tracing_word { TRACING_START, TRACING_STOP, TRACING_ON, TRACING_OFF, TRACING_WORDS };
/** The enum's words in commands. */
extern const char *const tracing_words[];

/**
 * Add (start) or remove (stop) a client, or turn a trace on or off. off ends it for all clients.
 * @param stop  True: the data path is ending, and adopts no more changes.
 * @return 0, or -ENOSPC (all traces are taken), -ENOMEM, -ENOENT (the QP is not traced), -EPERM
 *         (trace_qps keeps it until the end), -EBUSY (the data path has not adopted a change).
 */
int tracing_set(struct tracing *t, uint32_t number, enum tracing_word word, const atomic_bool *stop,
		uint64_t now_ns);

/** The trace of a QP, or NULL. Locks until tracing_release(), which must follow in both cases. */
struct traced *tracing_hold(struct tracing *t, uint32_t number);
void tracing_release(struct tracing *t);

/** Called regularly on the main lcore: end traces that nobody reads. */
void tracing_tend(struct tracing *t, uint64_t now_ns);

#endif
