/* SPDX-License-Identifier: BSD-3-Clause */
/* What a NIC of few QPs reads and writes for nearly every frame, fetched when its turn comes. */
#include "nic/nic_internal.h"

/* With more, what each has is fetched when it is known whose turn it is. */
#define FETCHED_QPS 4u

static inline void
fetch_bytes(const void *from, size_t n)
{
	const char *p = from;

	for (size_t at = 0; at < n; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(p + at);
	rte_prefetch0(p + n - 1);
}

#define FETCH(nic, first, last)                                                                    \
	fetch_bytes(&(nic)->first, offsetof(struct nic, last) + sizeof((nic)->last) -              \
					   offsetof(struct nic, first))

void
nic_fetch(const struct node *node)
{
	const struct nic *nic = nic_of_const(node);

	FETCH(nic, node, n_paced);
	FETCH(nic, timers.now_tick, timers.slot_log2);
	FETCH(nic, measure.rtts, measure.n_gaps);
	FETCH(nic, retry_ns, pause.xon_ns);
	FETCH(nic, stats.rx_packets, stats.rx_write_requests);
	FETCH(nic, traces.n, traces.n);
	FETCH(nic, traces_asked, scan_left);
	FETCH(nic, payloads, own_payloads);
	for (uint32_t i = 0; i < nic->n_qps && i < FETCHED_QPS; i++) {
		const struct nic_qp *qp = &nic->qps[i];

		fetch_bytes(qp, sizeof(*qp));
		rte_prefetch0(&nic->tallies[i]);
		if (nic->measure.rtts != NULL)
			fetch_bytes(&nic->measure.rtts[i], sizeof(nic->measure.rtts[i]));
	}
	for (uint32_t i = 0; i < nic->n_flows && i < FETCHED_QPS; i++) {
		const struct qp_flow *flow = &nic->flows[i];

		fetch_bytes(&flow->middle, offsetof(struct qp_flow, template));
		fetch_bytes(&flow->ack, sizeof(flow->ack));
		rte_prefetch0(&flow->full);
	}
	fetch_bytes(nic->wheel, 2 * RTE_CACHE_LINE_SIZE);
	rte_prefetch0(nic->neighs);
	rte_prefetch0(&nic->params.icrc_check);
	rte_prefetch0(&nic->params.ack_every);
	rte_prefetch0(&nic->params.first_qpn);
}
