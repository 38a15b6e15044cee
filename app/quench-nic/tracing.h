/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a running quench-nic traces: the QPs of trace_qps, and those that people ask for meanwhile.
 *
 * A trace that somebody asked for has clients, and ends with the last of them; or it was turned on,
 * and stays until it is turned off. A client that dies says no good-bye: a trace that was not
 * turned on, and whose rows nobody has read for TRACING_LEASE_NS, ends as well.
 *
 * Threads of telemetry call all of it, and the main lcore tracing_tend(), which neither waits nor
 * frees. Rings are allocated and freed by threads of telemetry; the QP's lcore begins and ends to
 * write between two bursts.
 */
#ifndef QUENCH_APP_QUENCH_NIC_TRACING_H
#define QUENCH_APP_QUENCH_NIC_TRACING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "nic/measure/trace.h"
#include "quench-nic/nodes.h"
#include "nic/port/share.h"

#define TRACING_LEASE_NS (10 * NS_PER_SEC)

struct traced {
	struct nic_trace *trace;
	uint32_t number; /* of the QP, from first_qpn on; when it has left it may be another's */
	struct nic_home at;
	uint32_t serial; /* of this trace: the QP may have had others */
	uint32_t clients;
	bool configured; /* by trace_qps: until the end */
	bool on;         /* until it is turned off */
	uint64_t began_ns;
	uint64_t read_ns; /* when somebody asked last */
};

struct tracing {
	const struct nic_nodes *nodes;
	pthread_mutex_t lock; /* of what follows */
	struct traced traced[NIC_MAX_TRACES];
	uint32_t n;
	uint32_t serials;
	uint64_t tend_ns; /* the main lcore looks again then */
	struct nic_traces told[NIC_SHARE_MAX_NODES];
	/* Traced no longer, once all is taken over. */
	struct nic_trace *old[NIC_MAX_TRACES];
	uint32_t n_old;
};

/** Before the run, after trace_start(). @return 0 or -errno. */
int tracing_open(struct tracing *t, const struct nic_nodes *nodes);
/** After the nodes have been destroyed. Of a zero-initialised one: nothing. */
void tracing_close(struct tracing *t);

enum tracing_word { TRACING_START, TRACING_STOP, TRACING_ON, TRACING_OFF, TRACING_WORDS };
/** Their words. */
extern const char *const tracing_words[];

/**
 * A client comes or goes; or a trace is turned on, or off whoever has it.
 * @param stop  True: the data path is about to end, and takes nothing over any more.
 * @return 0, or -ENOSPC (all traces are taken), -ENOMEM, -ENOENT (the QP is not traced), -EPERM
 *         (trace_qps has it until the end), -EBUSY (the data path has not come to it).
 */
int tracing_set(struct tracing *t, uint32_t number, enum tracing_word word, const atomic_bool *stop,
		uint64_t now_ns);

/** The trace of a QP, or NULL; it stays until tracing_release(), which follows in any case. */
struct traced *tracing_hold(struct tracing *t, uint32_t number);
void tracing_release(struct tracing *t);

/** On the main lcore, now and then. */
void tracing_tend(struct tracing *t, uint64_t now_ns);

#endif
