/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/measure/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "base/threads/seq.h"
#include "nic/core/core.h"
#include "nic/measure/ideal.h"
#include "nic/qp/qp_shared.h"
#include "wire/roce/int_hdr.h"

static bool
wants_times(const struct nic_params *p)
{
	return p->measure_times == NIC_MEASURE_ON ||
	       (p->measure_times == NIC_MEASURE_AUTO && p->max_qps <= NIC_TIMED_QPS);
}

int
nic_measure_init(struct nic *nic)
{
	struct nic_measure *m = nic->measure;
	size_t n = nic->params.max_qps;
	bool times = wants_times(&nic->params);
	bool rtts = times || nic->needs.hears_rtts;

	if (times)
		m->times = pages_alloc(n * sizeof(*m->times));
	if (times)
		m->answers = pages_alloc(n * sizeof(*m->answers));
	if (rtts)
		m->rtts = pages_alloc(n * sizeof(*m->rtts));
	if (nic->params.measure_pacing)
		m->departures = pages_alloc(n * sizeof(*m->departures));
	if ((times && (m->times == NULL || m->answers == NULL)) || (rtts && m->rtts == NULL) ||
	    (nic->params.measure_pacing && m->departures == NULL))
		return -ENOMEM;
	return 0;
}

void
nic_measure_free(struct nic *nic)
{
	struct nic_measure *m = nic->measure;

	pages_free(m->times, nic->params.max_qps * sizeof(*m->times));
	pages_free(m->answers, nic->params.max_qps * sizeof(*m->answers));
	pages_free(m->rtts, nic->params.max_qps * sizeof(*m->rtts));
	pages_free(m->departures, nic->params.max_qps * sizeof(*m->departures));
	free(m->paths);
	free(m->ends);
	if (m->log != NULL) {
		free(m->log->rows);
		free(m->log->resent);
		free(m->log);
	}
	/* The parts of a flow are adjacent and share their histograms. */
	for (uint32_t i = 0; i < nic->n_flows; i++) {
		const struct qp_flow *flow = &nic->flows[i], *last = i > 0 ? flow - 1 : NULL;

		if (last == NULL || flow->times != last->times)
			pages_free(flow->times, sizeof(*flow->times));
		if (last == NULL || flow->pacing != last->pacing)
			free(flow->pacing);
	}
}

/* What measure_pacing measures of a flow: mask of NIC_PACING_... */
static uint32_t
pacing_of(const struct nic_qp_params *p)
{
	bool reads = p->verb == NIC_READ;
	uint32_t has = p->requester || reads ? NIC_PACING_JITTER : 0;

	if (p->requester == reads)
		has |= NIC_PACING_BURSTS;
	if (!p->requester && p->imm_timestamp)
		has |= NIC_PACING_ONE_WAY;
	return has;
}

/* The largest gap within a burst: less than one more frame fits between two. */
static uint64_t
burst_ns(const struct nic *nic, const struct qp_flow *flow)
{
	uint32_t wire = wire_bytes(flow->template.hdr_bytes + flow->mtu_bytes + ICRC_BYTES);

	return mul_div(2 * (uint64_t)wire, 8 * NS_PER_SEC, nic->params.link_speed_bps);
}

int
nic_measure_add_flow(struct nic *nic, struct qp_flow *flow)
{
	const struct workload *w = &flow->params.work;
	const struct qp_flow *last = nic->n_flows > 0 ? &nic->flows[nic->n_flows - 1] : NULL;
	bool same = last != NULL && last->params.flow_id == flow->params.flow_id;
	bool times = nic->measure->times != NULL && flow->params.requester && !flow->params.raw;
	uint32_t pacing = nic->measure->departures != NULL ? pacing_of(&flow->params) : 0;

	flow->timed_mask = 0;
	while (!flow->in_rounds && w->arrival != WORKLOAD_OF_JOB &&
	       NIC_TIMED_MESSAGES * (uint64_t)(flow->timed_mask + 1) < w->depth)
		flow->timed_mask = 2 * flow->timed_mask + 1;
	flow->times = times && same ? last->times : NULL;
	if (times && flow->times == NULL)
		flow->times = pages_alloc(sizeof(*flow->times)); /* few pages are touched */
	if (flow->times != NULL && flow->params.base_rtt_ns != 0)
		flow->times->ideal_from = NIC_IDEAL_FROM_BASE_RTT;
	flow->pacing = pacing && same ? last->pacing : NULL;
	if (pacing && flow->pacing == NULL)
		flow->pacing = calloc(1, sizeof(*flow->pacing));
	if (flow->pacing != NULL)
		flow->pacing->has = pacing;
	flow->rx_pacing = pacing & ~NIC_PACING_JITTER ? flow->pacing : NULL;
	flow->burst_ns = burst_ns(nic, flow);
	if ((!times || flow->times != NULL) && (!pacing || flow->pacing != NULL))
		return 0;
	/* Do not free histograms that the last flow shares. */
	if (last == NULL || flow->times != last->times)
		pages_free(flow->times, sizeof(*flow->times));
	if (last == NULL || flow->pacing != last->pacing)
		free(flow->pacing);
	flow->times = NULL;
	flow->pacing = flow->rx_pacing = NULL;
	return -ENOMEM;
}

void
nic_measure_remove_flow(struct qp_flow *flow)
{
	pages_free(flow->times, sizeof(*flow->times));
	free(flow->pacing);
	flow->times = NULL;
	flow->pacing = flow->rx_pacing = NULL;
}

int
nic_set_path(struct node *node, uint32_t index, const struct ideal_path *path)
{
	struct nic *nic = nic_of(node);
	struct nic_measure *m = nic->measure;
	struct nic_times *times;

	assert(index < nic->n_qps);
	times = nic_flow_of(nic, &nic->qps[index])->times;
	if (m->paths == NULL)
		m->paths = calloc(nic->params.max_qps, sizeof(*m->paths));
	if (m->paths == NULL)
		return -ENOMEM;
	m->paths[index] = path;
	if (times != NULL)
		times->ideal_from = NIC_IDEAL_FROM_PATH;
	return 0;
}

int
nic_record_messages(struct node *node)
{
	struct nic *nic = nic_of(node);
	struct nic_message_log *log = calloc(1, sizeof(*log));

	assert(nic->measure->log == NULL);
	nic->measure->log = log;
	if (log != NULL)
		log->resent = calloc(nic->params.max_qps, sizeof(*log->resent));
	return log == NULL || log->resent == NULL ? -ENOMEM : 0;
}

int64_t
nic_recorded_messages(const struct node *node, const struct nic_message **messages)
{
	const struct nic_message_log *log = nic_of_const(node)->measure->log;

	*messages = log->rows;
	return log->no_memory ? -ENOMEM : (int64_t)log->n;
}

void
nic_clear_messages(struct node *node)
{
	nic_of(node)->measure->log->n = 0;
}

int
nic_record_ends(struct node *node)
{
	struct nic *nic = nic_of(node);
	struct nic_end_log *log = calloc(1, sizeof(*log) + nic->n_qps * sizeof(log->rows[0]));

	assert(nic->measure->ends == NULL);
	nic->measure->ends = log;
	return log == NULL ? -ENOMEM : 0;
}

uint32_t
nic_recorded_ends(const struct node *node, const struct nic_end **ends)
{
	const struct nic_end_log *log = nic_of_const(node)->measure->ends;

	*ends = log->rows;
	return log->n;
}

void
nic_clear_ends(struct node *node)
{
	nic_of(node)->measure->ends->n = 0;
}

void
nic_measure_end(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_end_log *log = nic->measure->ends;

	if (log != NULL)
		log->rows[log->n++] = (struct nic_end){.end_ns = now_ns, .item = item};
}

/* The entry with the start of a message; NULL: it is not timed. */
static uint64_t *
begun_of(const struct nic *nic, const struct qp_flow *flow, uint32_t item, uint64_t message)
{
	struct nic_qp_times *t = &nic->measure->times[item];

	if (workload_is_open(&flow->params.work))
		return &t->begun_ns[0];
	if (flow->params.arrival == WORKLOAD_OF_JOB)
		return &workload_post(&flow->params.work, nic_local_qpn(nic, item), message)
				->begun_ns;
	if (message & flow->timed_mask)
		return NULL;
	return &t->begun_ns[message / (flow->timed_mask + 1u) % NIC_TIMED_MESSAGES];
}

void
nic_measure_begun(struct nic *nic, uint32_t item, uint64_t message, uint64_t now_ns)
{
	const struct qp_flow *flow = nic_flow_of(nic, &nic->qps[item]);
	uint64_t *begun_ns = begun_of(nic, flow, item, message);

	if (workload_is_open(&flow->params.work)) {
		/*
		 * Store the arrival of the oldest unacknowledged message alone: later arrivals
		 * follow from it.
		 */
		if (message == nic->qps[item].acked_msg)
			*begun_ns = nic->arrivals[item].begun_ns + 1;
		return;
	}
	if (begun_ns == NULL || *begun_ns != 0)
		return;
	*begun_ns = now_ns + nic->skipped_ns + 1;
}

/* The message alone on the QP's path. */
static uint64_t
path_ns(const struct nic *nic, const struct qp_flow *flow, uint32_t item, uint64_t message,
	uint64_t begun_ns)
{
	uint32_t bytes = qp_bytes(flow, nic_local_qpn(nic, item), message);
	uint32_t packets = qp_message_packets(bytes, flow->mtu_bytes);
	const struct ideal_path *path = nic->measure->paths[item];
	bool reads = flow->params.verb == NIC_READ, has_int = flow->int_slots > 0 && !reads;
	/* Each switch of the way there adds a hop, and the ACK brings them all back. */
	uint32_t hops = (uint32_t)min_u64(flow->int_slots, path->n_there - 1);
	uint32_t headers = flow->template.hdr_bytes + ICRC_BYTES;
	uint32_t ack_len = headers + AETH_BYTES + (has_int ? int_hdr_bytes(hops) : 0);
	struct qp_frame_lens data =
		qp_frame_lens(flow, bytes, has_int ? int_hdr_bytes(flow->int_slots) : 0);
	uint64_t link_bps = nic->params.link_speed_bps, pace_bps = link_bps;

	if (flow->cc == CC_DCQCN)
		pace_bps = nic->params.rp.rp_max_rate_bps;
	if (flow->rate_cap_bps > 0)
		pace_bps = min_u64(pace_bps, flow->rate_cap_bps);
	const struct ideal_message m = {
		.packets = packets,
		.first_len = data.first,
		.middle_len = data.middle,
		.last_len = data.last,
		.request_len = reads ? headers + RETH_BYTES : 0,
		.ack_len = ack_len,
		.begun_ns = begun_ns,
		.slot_ns = timing_wheel_slot_ns(nic->wheel),
		.pace_bps = pace_bps < link_bps ? pace_bps : 0,
		/* nic_cc_start() gives none; an idle QP has saved as many as it may. */
		.tokens_nanobits = message == 0 ? 0 : nic->qp_burst_nanobits,
		.window_packets = nic_window_packets(nic, flow->mtu_bytes, pace_bps),
		.ack_every = nic->params.ack_every,
		.waits_for_slot = workload_is_open(&flow->params.work),
	};

	return ideal_ns(path, &m);
}

/* Without a path: the packets before the last at our link's speed, and the base round-trip time.
 * 0: that time is unknown. */
static uint64_t
rtt_based_ns(const struct nic *nic, const struct qp_flow *flow, uint32_t message_bytes)
{
	const struct nic_times *t = flow->times;
	uint64_t rtt_ns = flow->params.base_rtt_ns;
	uint64_t before_last = qp_message_packets(message_bytes, flow->mtu_bytes) - 1;
	uint64_t wire =
		before_last * wire_bytes(flow->template.hdr_bytes + flow->mtu_bytes + ICRC_BYTES);

	if (rtt_ns == 0 && t->rtt_ns.count >= NIC_LEAST_RTT_SAMPLES)
		rtt_ns = t->least_rtt_ns;
	if (before_last > 0 && flow->params.verb == NIC_READ)
		wire += AETH_BYTES;
	else if (before_last > 0 && flow->params.verb != NIC_SEND &&
		 flow->params.verb != NIC_SEND_IMM)
		wire += RETH_BYTES;
	return rtt_ns == 0 ? 0 : mul_div(wire, 8 * NS_PER_SEC, nic->params.link_speed_bps) + rtt_ns;
}

/* Completion time on an idle network; 0: unknown. */
static uint64_t
idle_ns(const struct nic *nic, const struct qp_flow *flow, uint32_t item, uint64_t message,
	uint64_t begun_ns)
{
	const struct ideal_path **paths = nic->measure->paths;

	if (paths != NULL && paths[item] != NULL)
		return path_ns(nic, flow, item, message, begun_ns);
	return rtt_based_ns(nic, flow, qp_bytes(flow, nic_local_qpn(nic, item), message));
}

static uint32_t
hops_of(const struct nic *nic, const struct qp_flow *flow, uint32_t item)
{
	const struct ideal_path *path =
		nic->measure->paths != NULL ? nic->measure->paths[item] : NULL;

	if (path == NULL)
		return 0;
	return flow->params.verb == NIC_READ ? path->n_back : path->n_there;
}

static __rte_noinline void
record(struct nic *nic, const struct qp_flow *flow, uint32_t item, struct nic_message message)
{
	struct nic_message_log *log = nic->measure->log;
	uint64_t resent = nic->qps[item].retransmitted_packets;

	if (log->n == log->size) {
		uint32_t size = log->size == 0 ? 64 : 2 * log->size;
		struct nic_message *rows = realloc(log->rows, size * sizeof(*rows));

		log->no_memory |= rows == NULL;
		if (rows == NULL)
			return;
		log->rows = rows;
		log->size = size;
	}
	message.flow_id = flow->params.flow_id;
	message.item = item;
	message.retransmitted_packets = (uint32_t)(resent - log->resent[item]);
	message.hops = hops_of(nic, flow, item);
	log->resent[item] = resent;
	log->rows[log->n++] = message;
}

static void
on_completion(struct nic *nic, const struct qp_flow *flow, uint32_t item, uint64_t message,
	      uint64_t begun_ns, uint64_t now_ns)
{
	struct nic_qp_times *t = &nic->measure->times[item];
	/* sub_sat(), because after a merge of spans an arrival may be computed too late. */
	uint64_t took_ns = sub_sat(now_ns, begun_ns);
	uint64_t alone_ns = idle_ns(nic, flow, item, message, begun_ns);

	seq_begin(&t->seq);
	counter_inc(&t->completions);
	counter_add(&t->sum_ns, took_ns);
	__atomic_store_n(&t->max_ns, max_u64(t->max_ns, took_ns), __ATOMIC_RELAXED);
	seq_end(&t->seq);
	hist_add(&flow->times->completion_ns, took_ns, 1);
	if (alone_ns > 0)
		hist_add(&flow->times->slowdown_milli, (mul_div(took_ns, 2000, alone_ns) + 1) / 2,
			 1);
	if (nic->measure->log != NULL)
		record(nic, flow, item,
		       (struct nic_message){
			       .bytes = qp_bytes(flow, nic_local_qpn(nic, item), message),
			       .begun_ns = begun_ns,
			       .end_ns = now_ns,
			       .ideal_ns = alone_ns,
			       .number = message});
}

void
nic_measure_completed(struct nic *nic, uint32_t item, uint64_t message, uint64_t now_ns)
{
	const struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct workload *w = &flow->params.work;

	for (; message < qp->acked_msg; message++) {
		uint64_t *begun_ns = begun_of(nic, flow, item, message);

		if (begun_ns == NULL || *begun_ns == 0)
			continue;
		on_completion(nic, flow, item, message, *begun_ns - 1, now_ns + nic->skipped_ns);
		if (workload_is_open(w))
			*begun_ns =
				1 + arrivals_next_ns(&flow->arrivals, w, nic_local_qpn(nic, item),
						     message + 1, *begun_ns - 1);
		else
			*begun_ns = 0;
	}
}

static void
record_not_ended(struct nic *nic, const struct qp_flow *flow, uint32_t item, uint64_t message,
		 uint64_t begun_ns)
{
	record(nic, flow, item,
	       (struct nic_message){.bytes = qp_bytes(flow, nic_local_qpn(nic, item), message),
				    .begun_ns = begun_ns,
				    .end_ns = NEVER_NS,
				    .number = message});
}

/* Messages that have arrived, or only those begun if the QP begins no further one: at most `most`.
 * @return false: there are more. */
static bool
record_backlog(struct nic *nic, const struct qp_flow *flow, uint32_t item, uint64_t most,
	       uint64_t now_ns)
{
	const struct nic_qp *qp = &nic->qps[item];
	const struct workload *w = &flow->params.work;
	uint64_t begun_ns = nic->measure->times[item].begun_ns[0];
	uint64_t at_ns = begun_ns != 0 ? begun_ns - 1 : nic->arrivals[item].next_ns;
	bool begins = now_ns < w->stop_ns && !(qp->flags & QP_LAST) && w->bytes == 0;

	for (uint64_t m = qp->acked_msg; at_ns <= now_ns; m++) {
		if ((w->messages > 0 && m >= w->messages) || (!begins && m >= qp_next_message(qp)))
			break;
		if (m - qp->acked_msg == most)
			return false;
		record_not_ended(nic, flow, item, m, at_ns);
		at_ns = arrivals_next_ns(&flow->arrivals, w, nic_local_qpn(nic, item), m + 1,
					 at_ns);
	}
	return true;
}

/* Of messages that QPs share: those that have arrived and that no QP has taken. */
static bool
record_shared(struct nic *nic, const struct qp_flow *flow, uint64_t most, uint64_t now_ns)
{
	const struct nic_shared *s = flow->shared;
	struct open_loop *loops = malloc(s->n_loops * sizeof(*loops));
	uint64_t n = 0;

	if (loops != NULL)
		memcpy(loops, s->loops, s->n_loops * sizeof(*loops));
	for (; loops != NULL && n < most; n++) {
		struct open_loop *next = shared_earliest(loops, s->n_loops);
		uint64_t at_ns = next->next_ns;

		if (at_ns > now_ns)
			break;
		record(nic, flow, s->first,
		       (struct nic_message){.bytes = open_loop_take(next),
					    .begun_ns = at_ns,
					    .end_ns = NEVER_NS,
					    .number = nic->qps[s->first].acked_msg + 1 + n});
	}
	free(loops);
	return loops != NULL && n < most;
}

bool
nic_record_not_ended(struct node *node, uint64_t most, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	bool all = true;

	for (uint32_t item = 0; nic->measure->times != NULL && item < nic->n_qps; item++) {
		const struct nic_qp *qp = &nic->qps[item];
		const struct qp_flow *flow = nic_flow_of(nic, qp);

		if (!(qp->flags & QP_REQUESTER) || flow->times == NULL)
			continue;
		if (workload_is_open(&flow->params.work)) {
			all &= record_backlog(nic, flow, item, most, now_ns);
			continue;
		}
		if (flow->shared != NULL && item == flow->shared->first)
			all &= record_shared(nic, flow, most * flow->n_qps, now_ns);
		/* The QP is due and still in the wheel. Before the start, updated_ns is the start
		 * time. */
		if (flow->shared == NULL && flow->params.arrival != WORKLOAD_OF_JOB &&
		    !(qp->flags & QP_STARTED) && qp->bucket.updated_ns <= now_ns && !flow->stopped)
			record_not_ended(nic, flow, item, 0, qp->bucket.updated_ns);
		for (uint64_t m = qp->acked_msg; m < qp_next_message(qp) + (qp->left_packets > 0);
		     m++) {
			const uint64_t *begun_ns = begun_of(nic, flow, item, m);

			if (begun_ns != NULL && *begun_ns != 0)
				record_not_ended(nic, flow, item, m, *begun_ns - 1);
		}
	}
	return all;
}

uint64_t
nic_measure_rtt(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns)
{
	struct nic_times *times = nic_flow_of(nic, &nic->qps[item])->times;
	uint64_t rtt_ns = rtt_on_ack(&nic->measure->rtts[item], seq, now_ns);

	if (rtt_ns != 0 && times != NULL) {
		struct nic_qp_answers *a = &nic->measure->answers[item];

		hist_add(&times->rtt_ns, rtt_ns, 1);
		counter_add(&a->rtt_sum_ns, rtt_ns);
		if (a->rtt_samples == 0 || rtt_ns < a->rtt_min_ns)
			__atomic_store_n(&a->rtt_min_ns, rtt_ns, __ATOMIC_RELAXED);
		if (rtt_ns > a->rtt_max_ns)
			__atomic_store_n(&a->rtt_max_ns, rtt_ns, __ATOMIC_RELAXED);
		counter_inc(&a->rtt_samples);
		if (times->least_rtt_ns == 0 || rtt_ns < times->least_rtt_ns)
			__atomic_store_n(&times->least_rtt_ns, rtt_ns, __ATOMIC_RELAXED);
	}
	return rtt_ns;
}

void
nic_measure_departure(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	const struct nic_qp *qp = &nic->qps[item];
	struct nic_departure *last = &nic->measure->departures[item];
	struct nic_pacing *pacing = nic_flow_of(nic, qp)->pacing;

	bool paced = nic->due_ns[item] != 0;

	if (last->paced && paced && qp->bucket.rate_bps > 0) {
		uint64_t gap_ns = now_ns - last->sent_ns;
		/* No overflow: 2^16 * 8000 * 10^9 < 2^59. */
		uint64_t expected_ps =
			(uint64_t)last->wire_bytes * 8000 * NS_PER_SEC / qp->bucket.rate_bps;
		uint64_t expected_ns = (expected_ps + 500) / 1000;

		uint64_t jitter_ns =
			gap_ns > expected_ns ? gap_ns - expected_ns : expected_ns - gap_ns;

		if (nic->measure->n_gaps == NIC_GAPS)
			nic_measure_gaps(nic);
		nic->measure->gaps[nic->measure->n_gaps++] =
			(struct nic_gap){pacing, gap_ns, expected_ps, jitter_ns};
		rte_prefetch0(pacing);
		rte_prefetch0(&pacing->jitter_ns.weight[hist_bucket(jitter_ns)]);
	}
	last->sent_ns = now_ns;
	last->paced = paced;
}

void
nic_measure_arrival(struct nic *nic, uint32_t item, const struct roce_view *v, uint64_t now_ns)
{
	const struct qp_flow *flow = nic_flow_of(nic, &nic->qps[item]);
	uint64_t *last_ns = &nic->measure->departures[item].arrived_ns;

	if (v->opcode == ROCE_CNP || v->opcode == RC_ACK)
		return;
	if (*last_ns != 0 && now_ns - *last_ns > flow->burst_ns)
		hist_add(&flow->rx_pacing->burst_gap_ns, now_ns - *last_ns, 1);
	*last_ns = now_ns;
	if (flow->rx_pacing->has & NIC_PACING_ONE_WAY &&
	    (v->opcode == RC_WRITE_LAST_IMM || v->opcode == RC_WRITE_ONLY_IMM))
		hist_add(&flow->rx_pacing->one_way_ns, (uint32_t)(now_ns + nic->epoch_ns) - v->imm,
			 1);
}

void
nic_set_epoch(struct node *node, uint64_t epoch_ns)
{
	nic_of(node)->epoch_ns = epoch_ns;
}

static void
add_wide(struct nic_wide *sum, uint64_t n)
{
	if (sum->low + n < n)
		counter_inc(&sum->high);
	counter_add(&sum->low, n);
}

void
nic_measure_gaps(struct nic *nic)
{
	for (uint32_t i = 0; i < nic->measure->n_gaps; i++) {
		const struct nic_gap *g = &nic->measure->gaps[i];

		hist_add(&g->pacing->jitter_ns, g->jitter_ns, 1);
		seq_begin(&g->pacing->seq);
		add_wide(&g->pacing->gap_ns, g->gap_ns);
		add_wide(&g->pacing->expected_ps, g->expected_ps);
		seq_end(&g->pacing->seq);
	}
	nic->measure->n_gaps = 0;
}

void
nic_measure_departed(struct nic *nic, uint32_t item, uint32_t wire_bytes)
{
	nic->measure->departures[item].wire_bytes = wire_bytes;
}

void
nic_measure_answer_sent(struct nic *nic, uint32_t item, bool ack)
{
	struct nic_qp_answers *a = nic->measure->answers;

	if (a == NULL)
		return;
	if (ack)
		counter_inc(&a[item].acks_sent);
	else
		counter_inc(&a[item].naks_sent);
}

void
nic_measure_answer(struct nic *nic, uint32_t item, bool ack)
{
	struct nic_qp_answers *a = nic->measure->answers;

	if (a == NULL)
		return;
	if (ack)
		counter_inc(&a[item].acks_received);
	else
		counter_inc(&a[item].naks_received);
}

void
nic_measure_gap_seen(struct nic *nic, uint32_t item)
{
	if (nic->measure->answers != NULL)
		counter_inc(&nic->measure->answers[item].out_of_sequence);
}

void
nic_measure_discarded(struct nic *nic, uint32_t item, uint32_t wire)
{
	if (nic->measure->answers == NULL)
		return;
	counter_inc(&nic->measure->answers[item].rx_discarded_packets);
	counter_add(&nic->measure->answers[item].rx_discarded_wire_bytes, wire);
}

void
nic_measure_ce(struct nic *nic, uint32_t item)
{
	counter_inc(&nic_flow_of(nic, &nic->qps[item])->ce_packets);
	if (nic->measure->answers != NULL)
		counter_inc(&nic->measure->answers[item].ce_packets);
}

void
nic_measure_cnp_ignored(struct nic *nic, uint32_t item)
{
	counter_inc(&nic_flow_of(nic, &nic->qps[item])->cnps_ignored);
	if (nic->measure->answers != NULL)
		counter_inc(&nic->measure->answers[item].cnps_ignored);
}

void
nic_measure_clear(struct nic *nic, uint32_t item)
{
	struct nic_measure *m = nic->measure;

	if (m->times != NULL)
		memset(&m->times[item], 0, sizeof(m->times[item]));
	if (m->answers != NULL)
		memset(&m->answers[item], 0, sizeof(m->answers[item]));
	if (m->rtts != NULL)
		memset(&m->rtts[item], 0, sizeof(m->rtts[item]));
	if (m->departures != NULL)
		memset(&m->departures[item], 0, sizeof(m->departures[item]));
	if (nic->due_ns != NULL)
		nic->due_ns[item] = 0;
}
