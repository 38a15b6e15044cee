/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/nic_flow.h"

#include "base/counter.h"
#include "base/fixed.h"
#include "base/seq.h"
#include "nic/nic_internal.h"

bool
nic_measures_times(const struct node *node)
{
	return nic_of_const(node)->measure.times != NULL;
}

/* The first of a flow's parts, which stand side by side in the order of their numbers. */
static uint32_t
first_part(const struct nic *nic, uint32_t flow_id)
{
	uint32_t low = 0, high = __atomic_load_n(&nic->n_flows, __ATOMIC_RELAXED);

	if (nic->comes_and_goes)
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

static void
add_qp(struct nic_qp_info *sum, const struct nic_qp_info *one)
{
	sum->rate_bps += one->rate_bps;
	sum->target_rate_bps += one->target_rate_bps;
	sum->min_rate_bps += one->min_rate_bps;
	sum->rtt_ns = max_u64(sum->rtt_ns, one->rtt_ns);
	sum->tx_wire_bytes += one->tx_wire_bytes;
	sum->tx_packets += one->tx_packets;
	sum->retransmitted_packets += one->retransmitted_packets;
	sum->tx_messages += one->tx_messages;
	sum->tx_payload_bytes += one->tx_payload_bytes;
	sum->rx_payload_bytes += one->rx_payload_bytes;
	sum->rx_messages += one->rx_messages;
	sum->rx_packets += one->rx_packets;
	sum->rx_wire_bytes += one->rx_wire_bytes;
	sum->cnps_handled += one->cnps_handled;
	sum->cnps_sent += one->cnps_sent;
	sum->rate_cuts += one->rate_cuts;
	sum->completions += one->completions;
	sum->completion_sum_ns += one->completion_sum_ns;
	sum->completion_max_ns = max_u64(sum->completion_max_ns, one->completion_max_ns);
}

void
nic_flow_info(const struct node *node, uint32_t flow_id, struct nic_flow_info *out)
{
	const struct nic *nic = nic_of_const(node);

	for (uint32_t f = first_part(nic, flow_id);
	     f < nic->n_flows && nic->flows[f].params.flow_id == flow_id; f++) {
		const struct qp_flow *flow = &nic->flows[f];
		/* With it, all that the QPs began with. */
		uint32_t n_qps = __atomic_load_n(&flow->n_qps, __ATOMIC_ACQUIRE);

		for (uint32_t i = 0; i < n_qps; i++) {
			struct nic_qp_info one;

			nic_qp_read(nic, flow->first_item + i, &one);
			add_qp(&out->sum, &one);
			out->qps_done += one.done;
			out->qps_failed += one.error;
		}
		out->qps += n_qps;
		/* Counted by flow: a QP has room for it only where times are measured. */
		out->sum.ce_packets += counter_read(&flow->ce_packets);
		out->sum.cnps_ignored += counter_read(&flow->cnps_ignored);
	}
	out->sum.error = out->qps_failed > 0;
	out->sum.done = out->qps_done == out->qps;
}

struct qp_flow *
nic_find_flow(const struct nic *nic, uint32_t flow_id)
{
	uint32_t f = first_part(nic, flow_id);

	return f < nic->n_flows && nic->flows[f].params.flow_id == flow_id ? &nic->flows[f] : NULL;
}

const struct nic_times *
nic_flow_times(const struct node *node, uint32_t flow_id)
{
	const struct qp_flow *flow = nic_find_flow(nic_of_const(node), flow_id);

	return flow != NULL ? flow->times : NULL;
}

const struct nic_pacing *
nic_flow_pacing(const struct node *node, uint32_t flow_id)
{
	const struct qp_flow *flow = nic_find_flow(nic_of_const(node), flow_id);

	return flow != NULL ? flow->pacing : NULL;
}

void
nic_pacing_merge(struct nic_pacing *to, const struct nic_pacing *from)
{
	uint64_t gap_ns, expected_ps;
	uint32_t before;

	hist_merge(&to->jitter_ns, &from->jitter_ns);
	do {
		before = seq_read(&from->seq);
		gap_ns = counter_read(&from->gap_ns);
		expected_ps = counter_read(&from->expected_ps);
	} while (seq_changed(&from->seq, before));
	to->gap_ns += gap_ns;
	to->expected_ps += expected_ps;
}

int64_t
nic_pacing_error_ppm(const struct nic_pacing *pacing)
{
	__int128 gap_ps = (__int128)pacing->gap_ns * 1000;

	return gap_ps == 0 ? 0 : (int64_t)((pacing->expected_ps - gap_ps) * 1000000 / gap_ps);
}

uint64_t
nic_flow_paused_ns(const struct node *node, uint32_t flow_id, uint64_t now_ns)
{
	const struct nic *nic = nic_of_const(node);
	const struct pfc_rx *pfc = &nic->pause.pfc_rx;
	const struct qp_flow *flow = nic_find_flow(nic, flow_id);
	uint64_t longest_ns = 0;

	if (flow == NULL)
		return 0;
	if (nic->params.flow_control == NIC_FLOW_PAUSE)
		return pfc_rx_duration_ns(pfc, 0, now_ns);
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		uint8_t held = qos_map_paused_queues(&nic->params.qos, (uint8_t)(1u << prio));

		if (held >> flow->data_queue & 1)
			longest_ns = max_u64(longest_ns, pfc_rx_duration_ns(pfc, prio, now_ns));
	}
	return longest_ns;
}

void
nic_times_merge(struct nic_times *to, const struct nic_times *from)
{
	uint64_t least_ns = counter_read(&from->least_rtt_ns);

	hist_merge(&to->completion_ns, &from->completion_ns);
	hist_merge(&to->slowdown_milli, &from->slowdown_milli);
	hist_merge(&to->rtt_ns, &from->rtt_ns);
	if (to->least_rtt_ns == 0 || (least_ns != 0 && least_ns < to->least_rtt_ns))
		to->least_rtt_ns = least_ns;
}

void
nic_times_since(const struct nic_times *times, struct nic_times *earlier, struct nic_times *out)
{
	hist_since(&times->completion_ns, &earlier->completion_ns, &out->completion_ns);
	hist_since(&times->slowdown_milli, &earlier->slowdown_milli, &out->slowdown_milli);
	hist_since(&times->rtt_ns, &earlier->rtt_ns, &out->rtt_ns);
	out->least_rtt_ns = times->least_rtt_ns;
}
