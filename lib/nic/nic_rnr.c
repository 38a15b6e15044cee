/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiver not ready: receive WQEs that run out, and a requester that waits for them
 * (IBTA 9.7.5.2.8 and 9.9.2.1; codes of table 46).
 *
 * A SEND takes a receive WQE with its first packet, a WRITE with immediate with its last one. The
 * application posts them again one after the other, post_recv_ns each: so when the last one will be
 * posted tells how many are there now, and is all that a responder remembers.
 */
#include "nic/nic_internal.h"

#include "base/fixed.h"

/* What an RNR NAK's low five bits mean, in microseconds. */
static const uint32_t rnr_timer_us[32] = {
	655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
	480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
	20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};

/* The end of a wait is kept in 32 bits of 1.024 us, with no timer of another kind beside it. */
#define WAIT_SHIFT 10
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
	/* One is being posted, so this long before the end there is none. */
	if (behind_ns > (p->max_recv_wr - 1) * p->post_recv_ns)
		return false;
	*full_ns = max_u64(*full_ns, now_ns) + p->post_recv_ns;
	return true;
}

static void
begin_wait(struct nic_qp *qp, uint8_t code, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + rnr_timer_us[code & 31] * NS_PER_US;

	qp->flags |= QP_RNR;
	qp->progress_tick = (uint32_t)((until_ns + (1u << WAIT_SHIFT) - 1) >> WAIT_SHIFT);
}

bool
nic_rnr_waits(struct nic_qp *qp, uint64_t now_ns, uint64_t *until_ns)
{
	uint64_t now_tick = now_ns >> WAIT_SHIFT;
	int32_t left = (int32_t)(qp->progress_tick - (uint32_t)now_tick);

	if (left <= 0) {
		qp->flags &= (uint16_t)~QP_RNR;
		return false;
	}
	*until_ns = (now_tick + (uint32_t)left) << WAIT_SHIFT;
	return true;
}

/* May the QP ask once more? Progress, which is an answer to another packet, starts the count again.
 */
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
	/* It acknowledges all before, but for READ, whose data acknowledges itself. */
	if (!(qp->flags & QP_READS) && seq != qp->acked_seq)
		nic_progress(nic, item, seq, now_ns);
	if (!may_retry(nic, qp)) {
		counter_inc(&nic->stats.rnr_nak_retry_err);
		nic_fail(nic, item, now_ns);
		return;
	}
	nic_go_back(nic, item);
	begin_wait(qp, code, now_ns);
	if (qp->place == QP_BLOCKED)
		nic_settle(nic, item, now_ns);
}
