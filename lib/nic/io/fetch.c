/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/io/nic_io.h"

#include "nic/change/flow_life.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/measure/trace.h"
#include "nic/np/nic_np.h"
#include "nic/port/nic_pause.h"
#include "nic/neighbour/nic_resolve.h"

/*
 * Up to this number of QPs, and of flows, are prefetched here. A node with more prefetches a QP
 * when its turn is known.
 */
#define FETCHED_QPS 4u

static inline void
fetch_bytes(const void *from, size_t n)
{
	const char *p = from;

	for (size_t at = 0; at < n; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(p + at);
	rte_prefetch0(p + n - 1);
}

/* Prefetch the members of a struct from first to last, which are adjacent. */
#define FETCH(part, first, last)                                                                   \
	fetch_bytes(&(part)->first, offsetof(typeof(*(part)), last) + sizeof((part)->last) -       \
					    offsetof(typeof(*(part)), first))

void
nic_fetch(const struct node *node)
{
	const struct nic *nic = nic_of_const(node);

	FETCH(nic, node, paced.n);
	FETCH(nic, timers.now_tick, timers.slot_log2);
	FETCH(nic, mbufs, stats.rx_write_requests);
	FETCH(nic, due_ns, max_wait_ns);
	FETCH(nic->np, interval_ns, gate_ns);
	FETCH(nic->measure, rtts, n_gaps);
	FETCH(nic->pause, paused_prios, xon_ns);
	FETCH(nic->removing, head, look_ns);
	FETCH(nic->neighbours, table, plain_queue);
	FETCH(nic->traces, n, n);
	for (uint32_t i = 0; i < nic->n_qps && i < FETCHED_QPS; i++) {
		const struct nic_qp *qp = &nic->qps[i];

		fetch_bytes(qp, sizeof(*qp));
		rte_prefetch0(&nic->tallies[i]);
		if (nic->measure->rtts != NULL)
			fetch_bytes(&nic->measure->rtts[i], sizeof(nic->measure->rtts[i]));
	}
	for (uint32_t i = 0; i < nic->n_flows && i < FETCHED_QPS; i++) {
		const struct qp_flow *flow = &nic->flows[i];

		fetch_bytes(&flow->middle, offsetof(struct qp_flow, template));
		fetch_bytes(&flow->ack, sizeof(flow->ack));
		rte_prefetch0(&flow->full);
	}
	fetch_bytes(nic->wheel, 2 * RTE_CACHE_LINE_SIZE);
	rte_prefetch0(nic->neighbours->table);
	rte_prefetch0(&nic->params.icrc_check);
	rte_prefetch0(&nic->params.ack_every);
	rte_prefetch0(&nic->params.first_qpn);
}
