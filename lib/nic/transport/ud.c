/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/transport/ud.h"

#include "nic/core/core.h"
#include "nic/np/nic_np.h"
#include "nic/transport/rnr.h"
#include "nic/transport/stamp.h"

void
nic_ud_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m)
{
	const struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	uint32_t bytes = qp_bytes(flow, nic_qpn(nic, qp), qp_next_message(qp));
	const struct roce_fields fields = {
		.opcode = UD_SEND_ONLY,
		.migreq = true,
		.psn = qp->next_seq & PSN_MASK,
		.deth_qkey = flow->params.qkey,
		.deth_src_qp = nic_qpn(nic, qp),
	};

	nic_stamp(nic, item, m, nic->mbufs.payloads->by_length[bytes], &fields);
}

enum nic_drop
nic_on_ud(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	struct qp_tally *tally = nic_tally_of(nic, qp);
	int32_t ahead = psn_diff(v->psn, (uint32_t)qp->rx_seq & PSN_MASK);

	if (!(qp->flags & QP_UD))
		return NIC_DROP_WRONG_TRANSPORT;
	if (v->deth_qkey != flow->params.qkey)
		return NIC_DROP_BAD_QKEY;
	if (v->deth_src_qp != qp->dest_qp)
		return NIC_DROP_WRONG_PEER;
	if (v->ecn == ECN_CE)
		nic_np_on_ce(nic, item, now_ns);
	if (v->payload_bytes > flow->mtu_bytes)
		return NIC_DROP_UNEXPECTED_OPCODE;
	if (ahead >= 0) {
		counter_add(&nic->stats.rx_ud_missed_packets, (uint32_t)ahead);
		qp->rx_seq += (uint32_t)ahead + 1;
	} else {
		counter_inc(&nic->stats.rx_ud_late_packets);
	}
	if (!nic_recv_take(nic, item, now_ns))
		return NIC_DROP_OUT_OF_BUFFER;
	counter_inc(&nic->stats.rx_send_requests);
	tally->rx_messages++;
	tally->rx_payload_bytes += v->payload_bytes;
	tally->rx_wire_bytes += wire;
	return NIC_USED;
}
