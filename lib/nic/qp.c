/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/qp.h"

#include <string.h>

#include "base/fixed.h"

uint32_t
qp_message_packets(uint64_t message_bytes, uint16_t mtu_bytes)
{
	return message_bytes == 0 ? 1 : (uint32_t)((message_bytes + mtu_bytes - 1) / mtu_bytes);
}

uint16_t
qp_last_bytes(uint64_t message_bytes, uint16_t mtu_bytes)
{
	uint64_t full = qp_message_packets(message_bytes, mtu_bytes) - 1;

	return (uint16_t)(message_bytes - full * mtu_bytes);
}

void
qp_init(struct nic_qp *qp, const struct nic_qp_params *params, const struct roce_payload *full,
	const struct roce_payload *last)
{
	memset(qp, 0, sizeof(*qp));
	qp->place = QP_IDLE;
	qp->initial_psn = params->initial_psn;
	qp->expected_psn = params->initial_psn;
	qp->mtu_bytes = params->mtu_bytes;
	qp->message_bytes = (uint32_t)params->message_bytes;
	qp->message_packets = qp_message_packets(params->message_bytes, params->mtu_bytes);
	qp->full = full;
	qp->last = last;
	qp->depth_packets = (uint64_t)params->depth * qp->message_packets;
	qp->start_ns = params->start_ns;
	qp->stop_ns = params->stop_ns;
	qp->rate_cap_bps = params->rate_cap_bps;
	qp->end_seq = UINT64_MAX;
	if (params->messages > 0 && params->messages < UINT64_MAX / qp->message_packets)
		qp->end_seq = params->messages * qp->message_packets;
	if (params->requester) {
		qp->flags = QP_REQUESTER;
		if (params->stop_ns != NEVER_NS)
			qp->flags |= QP_STOPS | QP_ENDS;
		if (params->messages > 0)
			qp->flags |= QP_ENDS;
	}
}

void
qp_update_limit(struct nic_qp *qp, uint32_t window_packets)
{
	uint64_t limit = qp->acked_seq + window_packets;

	limit = min_u64(limit, qp->acked_seq - qp->acked_pos + qp->depth_packets);
	qp->limit_seq = min_u64(limit, qp->end_seq);
}

void
qp_acknowledge(struct nic_qp *qp, uint64_t seq)
{
	uint64_t pos = qp->acked_pos + (seq - qp->acked_seq);

	assert(qp->acked_seq <= seq && seq <= qp->sent_seq);
	/* The division is paid once per message, not once per ACK. */
	qp->acked_pos = (uint32_t)(pos < qp->message_packets ? pos : pos % qp->message_packets);
	qp->acked_seq = seq;
	if (qp->next_seq < seq) {
		/* What was about to be sent again has arrived after all. */
		qp->next_seq = seq;
		qp->next_pos = qp->acked_pos;
	}
}

void
qp_go_back(struct nic_qp *qp)
{
	qp->next_seq = qp->acked_seq;
	qp->next_pos = qp->acked_pos;
}
