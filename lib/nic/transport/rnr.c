/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/transport/rnr.h"

#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "nic/place/place.h"
#include "nic/transport/requester.h"
#include "wire/roce/rnr_timer.h"

#define RNR_RETRY_INFINITE 7

bool
nic_recv_take(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	const struct nic_qp_params *p = &nic_flow_of(nic, &nic->qps[item])->params;
	uint64_t *full_ns, behind_ns;

	if (p->max_recv_wr == 0)
		return true;
	full_ns = &nic->recv_full_ns[item];
	behind_ns = sub_sat(*full_ns, now_ns);
	/* Not even one WQE is available. */
	if (behind_ns > (p->max_recv_wr - 1) * p->post_recv_ns)
		return false;
	*full_ns = max_u64(*full_ns, now_ns) + p->post_recv_ns;
	return true;
}

/* May the QP retry once more? nic_progress() resets the count. */
static bool
may_retry(const struct nic *nic, struct nic_qp *qp)
{
	if (nic->params.rnr_retry == RNR_RETRY_INFINITE)
		return true;
	if (qp->rnr_retries >= nic->params.rnr_retry)
		return false;
	qp->rnr_retries++;
	return true;
}

void
nic_on_rnr(struct nic *nic, uint32_t item, uint32_t seq, uint8_t code, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	counter_inc(&nic->stats.rnr_naks_received);
	if (qp->flags & QP_DONE)
		return;
	/* An RNR NAK acknowledges all packets before seq; READs are acknowledged by their data. */
	if (!(qp->flags & QP_READS) && seq != qp->acked_seq)
		nic_progress(nic, item, seq, now_ns);
	if (!may_retry(nic, qp)) {
		counter_inc(&nic->stats.rnr_nak_retry_err);
		nic_fail(nic, item, now_ns);
		return;
	}
	/*
	 * The packet at seq has arrived. The packets after it, which the responder does not take,
	 * may each be answered with a NAK of the same seq (Linux's soft-RoCE): these are no
	 * failures of the path, however often the packet at seq is refused.
	 */
	qp->retries = 0;
	nic_go_back(nic, item);
	qp_begin_rnr_wait(qp, now_ns + rnr_timer_us[code % RNR_TIMERS] * NS_PER_US);
	if (qp->place == QP_BLOCKED)
		nic_settle(nic, item, now_ns);
}
