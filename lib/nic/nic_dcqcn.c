/* SPDX-License-Identifier: BSD-3-Clause */
/* The glue between QPs and the DCQCN end points of cc/: rates into buckets, marks into CNPs. */
#include "nic/nic_internal.h"

#include "base/fixed.h"

static uint64_t
capped(const struct nic *nic, const struct nic_qp *qp, uint64_t rate_bps)
{
	uint64_t cap_bps = nic_flow_of(nic, qp)->params.rate_cap_bps;

	return cap_bps > 0 ? min_u64(rate_bps, cap_bps) : rate_bps;
}

/* Rounded up; 32 bits are 4 Tb/s. */
static uint64_t
kbps(uint64_t rate_bps)
{
	return (rate_bps + KBPS - 1) / KBPS;
}

/*
 * After the RP was called: let the QP's bucket follow its rate. Debt already there is paid off at
 * the new rate. Called when the rate has changed or a cut was made: both are rare, and what they
 * touch is not in the lines of a packet sent.
 */
static void
follow(struct nic *nic, struct nic_qp *qp, uint64_t cuts_before, uint64_t now_ns)
{
	uint64_t rate_bps = capped(nic, qp, qp->rp.current_rate_bps);
	uint64_t before_bps = qp->bucket.rate_bps, cuts = nic->stats.rp.rp_cuts - cuts_before;

	/* A packet that waits is due at another time now. */
	if (unlikely(nic->due_ns != NULL) && rate_bps != before_bps)
		nic->due_ns[qp - nic->qps] = 0;
	token_account_set_rate(&qp->bucket, nic->qp_burst_nanobits, rate_bps, now_ns);
	/* A rise, or nothing behind a cap, is no news for the tally, which would be a cache miss.
	 */
	if (rate_bps < before_bps || cuts > 0) {
		struct qp_tally *tally = nic_tally_of(nic, qp);

		tally->min_rate_kbps = (uint32_t)min_u64(tally->min_rate_kbps, kbps(rate_bps));
		tally->rate_cuts += (uint32_t)cuts;
	}
}

/* SIGCOMM15 section 3.1: line rate if the host has no other active flow, else local policy. */
static uint64_t
first_rate_bps(const struct nic *nic)
{
	const struct nic_params *p = &nic->params;

	if (nic->active == 0 || p->initial_rate == NIC_INITIAL_LINE || !p->dcqcn)
		return p->link_speed_bps;
	if (p->initial_rate == NIC_INITIAL_FAIR)
		return p->link_speed_bps / (nic->active + 1);
	return p->initial_rate_bps;
}

void
nic_start_rate(struct nic *nic, struct nic_qp *qp, uint64_t now_ns)
{
	uint64_t rate_bps = first_rate_bps(nic);

	rp_init(&qp->rp, &nic->params.rp, rate_bps, now_ns);
	if (nic->params.dcqcn)
		rate_bps = qp->rp.current_rate_bps;
	rate_bps = capped(nic, qp, rate_bps);
	token_account_init(&qp->bucket, rate_bps, nic->qp_burst_nanobits, now_ns);
	nic_tally_of(nic, qp)->min_rate_kbps = (uint32_t)kbps(rate_bps);
}

void
nic_rp_sent(struct nic *nic, struct nic_qp *qp, uint32_t bytes, uint64_t now_ns)
{
	uint64_t cuts = nic->stats.rp.rp_cuts, rate_bps = qp->rp.current_rate_bps;

	if (!nic->params.dcqcn)
		return;
	if (rp_on_sent(&qp->rp, &nic->params.rp, &nic->stats.rp, bytes, now_ns) != rate_bps ||
	    nic->stats.rp.rp_cuts != cuts)
		follow(nic, qp, cuts, now_ns);
}

void
nic_rp_catch_up(struct nic *nic, struct nic_qp *qp, uint64_t now_ns)
{
	uint64_t cuts = nic->stats.rp.rp_cuts;

	if (!nic->params.dcqcn)
		return;
	rp_update(&qp->rp, &nic->params.rp, &nic->stats.rp, now_ns);
	follow(nic, qp, cuts, now_ns);
}

void
nic_on_cnp(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t cuts = nic->stats.rp.rp_cuts;

	if (!nic->params.dcqcn || !(qp->flags & QP_STARTED)) {
		counter_inc(&nic->stats.rp.rp_cnp_ignored);
		return;
	}
	rp_on_cnp(&qp->rp, &nic->params.rp, &nic->stats.rp, now_ns);
	/* A wait that has begun gets longer: the QP is still in debt when the wheel releases it. */
	follow(nic, qp, cuts, now_ns);
	nic_tally_of(nic, qp)->cnps_handled++;
}

static void
owe_cnp(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];

	if (qp->rx_flags & QP_RX_OWES_CNP)
		return;
	qp->rx_flags |= QP_RX_OWES_CNP;
	nic_queues_push(nic, &nic->cnps, nic_flow_of(nic, qp)->cnp_queue, item,
			offsetof(struct nic_qp, cnp_link));
}

/* A window that runs is in the FIFO; all windows last N, so the FIFO is in order of their ends. */
static void
track_window(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];

	if (np_next_ns(&nic->tallies[item].np) == NEVER_NS || qp->rx_flags & QP_RX_WINDOW)
		return;
	qp->rx_flags |= QP_RX_WINDOW;
	qp_list_push(&nic->windows, nic->qps, item, offsetof(struct nic_qp, window_link));
	node_wake(&nic->node, 0);
}

void
nic_end_windows(struct nic *nic, uint64_t now_ns)
{
	while (nic->windows.head != QP_NONE) {
		uint32_t item = nic->windows.head;
		struct nic_qp *qp = &nic->qps[item];
		struct np *np = &nic->tallies[item].np;

		if (np_next_ns(np) > now_ns)
			return;
		qp_list_pop(&nic->windows, nic->qps, offsetof(struct nic_qp, window_link));
		qp->rx_flags &= (uint8_t)~QP_RX_WINDOW;
		if (np_on_window_end(np, &nic->params.np, now_ns))
			owe_cnp(nic, item);
		track_window(nic, item);
	}
}

void
nic_on_ce(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct np *np = &nic->tallies[item].np;

	counter_inc(&nic->stats.np.np_ecn_marked_roce_packets);
	/* A window that is over and not yet looked at must end before this mark is judged. */
	nic_end_windows(nic, now_ns);
	if (np_on_ce(np, &nic->params.np, now_ns))
		owe_cnp(nic, item);
	track_window(nic, item);
}
