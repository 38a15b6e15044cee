/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/answers/reads.h"

#include <errno.h>

#include "base/threads/pages.h"
#include "nic/answers/owed.h"
#include "nic/port/port_state.h"

bool
nic_read_may_ask(const struct nic *nic, const struct nic_qp *qp)
{
	uint64_t message = qp_next_message(qp);
	uint64_t outstanding = message - qp->acked_msg;
	uint32_t psns;

	if (outstanding == 0)
		return true;
	if (outstanding >= nic->params.max_rd_atomic)
		return false;
	/* The outstanding responses may use at most half of the PSN space. */
	psns = qp->next_seq - qp->acked_seq;
	return psns + qp_packets(nic_flow_of(nic, qp), nic_qpn(nic, qp), message) <= NIC_MAX_WINDOW;
}

static size_t
ring_bytes(const struct nic *nic)
{
	return (size_t)nic->params.max_qps * nic_read_places(nic) * sizeof(*nic->read_ring);
}

int
nic_reads_prepare(struct nic *nic)
{
	if (nic->reads == NULL)
		nic->reads = pages_alloc(nic->params.max_qps * sizeof(*nic->reads));
	if (nic->read_ring == NULL)
		nic->read_ring = pages_alloc(ring_bytes(nic));
	return nic->reads == NULL || nic->read_ring == NULL ? -ENOMEM : 0;
}

void
nic_reads_free(struct nic *nic)
{
	pages_free(nic->reads, nic->params.max_qps * sizeof(*nic->reads));
	pages_free(nic->read_ring, ring_bytes(nic));
}

void
nic_read_next(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct nic_read *read;

	if (qp->next_msg == (uint32_t)nic->reads[item].received) {
		if (qp->flags & QP_SERVES)
			nic_becomes_idle(nic->port);
		qp->flags &= (uint16_t)~QP_SERVES;
		nic_release_answer(nic, item);
		return;
	}
	read = nic_read_at(nic, item, qp->next_msg);
	qp->next_seq = read->start_seq;
	qp->left_packets = qp_message_packets(read->bytes, nic_flow_of(nic, qp)->mtu_bytes);
	qp->flags |= QP_FIRST;
}
