/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/observe/nic_pieces.h"

#include "base/numbers/fixed.h"
#include "nic/answers/reads.h"
#include "nic/core/core.h"
#include "nic/core/skipped.h"
#include "nic/jobs/job_ranks.h"
#include "nic/measure/measure.h"
#include "nic/measure/trace.h"
#include "nic/port/nic_pause.h"

static void
add_qps(struct nic *nic, struct node_pieces *to)
{
	const struct nic_measure *m = nic->measure;
	size_t n = nic->n_qps;

	node_piece(to, nic->qps, n * sizeof(*nic->qps));
	node_piece(to, nic->tallies, n * sizeof(*nic->tallies));
	node_piece(to, nic->acked_bytes, n * sizeof(*nic->acked_bytes));
	node_piece(to, nic->reads, n * sizeof(*nic->reads));
	node_piece(to, nic->skipped, n * sizeof(*nic->skipped));
	node_piece(to, m->rtts, n * sizeof(*m->rtts));
	node_piece(to, m->times, n * sizeof(*m->times));
	node_piece(to, m->answers, n * sizeof(*m->answers));
}

static void
add_times(struct nic_times *t, struct node_pieces *to)
{
	node_piece_hist(to, &t->completion_ns);
	node_piece_hist(to, &t->slowdown_milli);
	node_piece_hist(to, &t->rtt_ns);
	NODE_PIECE_REST(to, t, least_rtt_ns);
}

static void
add_pacing(struct nic_pacing *p, struct node_pieces *to)
{
	NODE_PIECE_FROM(to, p, gap_ns, jitter_ns);
	node_piece_hist(to, &p->jitter_ns);
	node_piece_hist(to, &p->burst_gap_ns);
	node_piece_hist(to, &p->one_way_ns);
}

static void
add_flow(struct qp_flow *flow, const struct qp_flow *before, struct node_pieces *to)
{
	NODE_PIECE_FROM(to, flow, ce_packets, rx_pacing);
	NODE_PIECE_FROM(to, flow, started_ns, awaits);
	/* The parts of a flow share them. */
	if (flow->times != NULL && (before == NULL || before->times != flow->times))
		add_times(flow->times, to);
	if (to->all && flow->pacing != NULL && (before == NULL || before->pacing != flow->pacing))
		add_pacing(flow->pacing, to);
}

static void
add_traces(const struct nic_traces *traces, struct node_pieces *to)
{
	for (uint32_t i = 0; i < traces->n; i++) {
		struct nic_trace *t = traces->trace[i];

		NODE_PIECE_FROM(to, t, wants_state, rows);
		node_piece(to, t->rows, min_u64(t->written, t->capacity) * sizeof(*t->rows));
	}
}

void
nic_pieces(struct node *node, struct node_pieces *to)
{
	struct nic *nic = nic_of(node);

	node_piece(to, &nic->stats, sizeof(nic->stats));
	node_piece(to, &nic->pause->pfc_rx, sizeof(nic->pause->pfc_rx));
	NODE_PIECE_FROM(to, &nic->pause->pfc_tx, xoff, watch);
	add_qps(nic, to);
	for (uint32_t i = 0; i < nic->n_flows; i++)
		add_flow(&nic->flows[i], i == 0 ? NULL : &nic->flows[i - 1], to);
	if (to->all && nic->jobs != NULL)
		nic_job_pieces(nic, to);
	if (to->all)
		add_traces(nic->traces, to);
}
