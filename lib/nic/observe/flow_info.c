/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/observe/flow_info.h"

#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/port/nic_pause.h"

bool
nic_measures_times(const struct node *node)
{
	return nic_of_const(node)->measure->times != NULL;
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

static void
add_span(struct nic_flow_info *out, const struct qp_flow *flow)
{
	uint64_t started_ns = __atomic_load_n(&flow->started_ns, __ATOMIC_RELAXED);

	out->ended_ns = max_u64(out->ended_ns, __atomic_load_n(&flow->ended_ns, __ATOMIC_RELAXED));
	if (started_ns == NEVER_NS)
		return;
	out->started_ns = out->started ? min_u64(out->started_ns, started_ns) : started_ns;
	out->started = true;
}

void
nic_flow_info(const struct node *node, uint32_t flow_id, struct nic_flow_info *out)
{
	const struct nic *nic = nic_of_const(node);

	for (uint32_t f = nic_first_part(nic, flow_id);
	     f < nic->n_flows && nic->flows[f].params.flow_id == flow_id; f++) {
		const struct qp_flow *flow = &nic->flows[f];
		/* Acquire the initial state of these QPs. */
		uint32_t n_qps = __atomic_load_n(&flow->n_qps, __ATOMIC_ACQUIRE);

		for (uint32_t i = 0; i < n_qps; i++) {
			struct nic_qp_info one;

			nic_qp_read(nic, flow->first_item + i, &one);
			add_qp(&out->sum, &one);
			out->qps_done += one.done;
			out->qps_failed += one.error;
		}
		out->qps += n_qps;
		if (n_qps > 0 && flow->params.requester)
			add_span(out, flow);
		/* Always counted per flow, and per QP only if times are measured. */
		out->sum.ce_packets += counter_read(&flow->ce_packets);
		out->sum.cnps_ignored += counter_read(&flow->cnps_ignored);
	}
	out->sum.error = out->qps_failed > 0;
	out->sum.done = out->qps_done == out->qps;
}

uint64_t
nic_flow_started_ns(const struct node *node, uint32_t flow_id)
{
	const struct nic *nic = nic_of_const(node);
	uint64_t first_ns = NEVER_NS;

	for (uint32_t f = nic_first_part(nic, flow_id);
	     f < nic->n_flows && nic->flows[f].params.flow_id == flow_id; f++)
		if (__atomic_load_n(&nic->flows[f].n_qps, __ATOMIC_ACQUIRE) > 0)
			first_ns = min_u64(first_ns, __atomic_load_n(&nic->flows[f].started_ns,
								     __ATOMIC_RELAXED));
	return first_ns;
}

struct nic_rounds
nic_flow_rounds(const struct node *node, uint32_t flow_id)
{
	const struct nic *nic = nic_of_const(node);
	struct nic_rounds out = {.ended = NEVER_NS};

	for (uint32_t f = nic_first_part(nic, flow_id);
	     f < nic->n_flows && nic->flows[f].params.flow_id == flow_id; f++) {
		out.ended = min_u64(out.ended, qp_flow_rounds(&nic->flows[f]));
		out.ended_ns = max_u64(out.ended_ns, nic->flows[f].round_ended_ns);
	}
	return out;
}

bool
nic_flow_has_ended(const struct node *node, uint32_t flow_id)
{
	const struct qp_flow *flow = nic_find_flow(nic_of_const(node), flow_id);

	return flow == NULL || qp_flow_has_ended(flow);
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

uint64_t
nic_flow_paused_ns(const struct node *node, uint32_t flow_id, uint64_t now_ns)
{
	const struct nic *nic = nic_of_const(node);
	const struct pfc_rx *pfc = &nic->pause->pfc_rx;
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
