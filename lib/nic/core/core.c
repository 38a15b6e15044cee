/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/core/core.h"

#include <rte_mbuf.h>

/* Time from a failed allocation to the next attempt, so that an event loop does not spin. */
#define NO_MBUF_RETRY_NS 1000ull
void
nic_reserve_next_turn(struct nic *nic, uint64_t now_ns)
{
	uint32_t bytes = nic->wire.turn_bytes;

	nic->wire.left_bytes += bytes;
	nic->wire.from_ns = wire_share_reserve(nic->wire.share, bytes, now_ns);
}

void
nic_no_mbuf(struct nic *nic, uint64_t now_ns)
{
	counter_inc(&nic->stats.no_mbuf);
	nic->mbufs.retry_ns = now_ns + NO_MBUF_RETRY_NS;
}

struct rte_mbuf *
nic_take_mbuf(struct nic *nic, struct rte_mempool *pool, uint64_t now_ns)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (unlikely(m == NULL))
		nic_no_mbuf(nic, now_ns);
	return m;
}

uint32_t
nic_first_part(const struct nic *nic, uint32_t flow_id)
{
	uint32_t low = 0, high = __atomic_load_n(&nic->n_flows, __ATOMIC_RELAXED);

	if (nic->flows_by_id)
		return flow_id;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (nic->flows[middle].params.flow_id < flow_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct qp_flow *
nic_find_flow(const struct nic *nic, uint32_t flow_id)
{
	uint32_t f = nic_first_part(nic, flow_id);

	return f < nic->n_flows && nic->flows[f].params.flow_id == flow_id ? &nic->flows[f] : NULL;
}
