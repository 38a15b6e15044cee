/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/rate/nic_cc.h"

#include <rte_branch_prediction.h>

#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/measure/trace.h"
#include "nic/np/echo.h"
#include "pacer/first_wait.h"
#include "wire/roce/int_hdr.h"

/*
 * How long rate increases above the flow's cap may wait. They change no rate in force, but the QP's
 * target rate and the counters of increases, which users see.
 */
#define REST_NS (100 * NS_PER_MS)

static void
nodes_init(struct nic *nic, struct cc_node nodes[CC_ALGORITHMS], const struct cc_params *params)
{
	const uint32_t mask = nic_cc_mask(&nic->params);

	for (int i = 0; i < CC_ALGORITHMS; i++) {
		const struct cc_setup setup = {
			.algorithm = (enum cc_algorithm)i,
			.max_rate_bps = nic->params.link_speed_bps,
			.params = params,
			.stats = &nic->stats.cc,
		};

		if (mask >> i & 1)
			cc_init(&nodes[i], &setup);
	}
}

void
nic_cc_init(struct nic *nic)
{
	nodes_init(nic, nic->cc, &nic->params.cc_params);
	nic->needs = cc_needs_of(nic_cc_mask(&nic->params));
}

void
nic_cc_take_params(struct nic *nic)
{
	for (int i = 0; i < CC_ALGORITHMS; i++)
		if (nic->cc[i].ops != NULL)
			cc_take_params(&nic->cc[i]);
}

void
nic_cc_keep_before(struct nic *nic, uint64_t now_ns)
{
	struct nic_before *b = nic->before;

	b->until_ns = now_ns;
	b->qp_burst_nanobits = nic->qp_burst_nanobits;
	b->cc_params = nic->params.cc_params;
	nodes_init(nic, b->cc, &b->cc_params);
}

static uint64_t
capped_at(const struct nic_qp *qp, uint64_t cap_bps)
{
	uint64_t rate_bps = qp->cc.head.rate_bps;

	return cap_bps > 0 ? min_u64(rate_bps, cap_bps) : rate_bps;
}

static uint64_t
capped(const struct nic *nic, const struct nic_qp *qp)
{
	return capped_at(qp, nic_flow_of(nic, qp)->rate_cap_bps);
}

/* The QP's rate in force has been set: increases above the cap can wait. */
static inline void
rest_if_capped(const struct nic *nic, struct nic_qp *qp, uint64_t now_ns)
{
	if (qp->cc.head.rate_bps > qp->bucket.rate_bps)
		cc_rest(&qp->cc, nic_cc_of(nic, qp), now_ns + REST_NS);
}

/*
 * Update the rate of the QP's bucket. Existing debt is paid off at the new rate. A cut lengthens a
 * wait in the wheel: when the wheel releases the QP it is still in debt, and waits again. That is
 * rare, and cheaper than moving it within the wheel.
 */
static inline void
follow(struct nic *nic, uint32_t item, uint32_t did, uint64_t rate_bps, int64_t burst_nanobits,
       uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t before_bps = qp->bucket.rate_bps;

	/*
	 * The bucket's rate does not change at the minimum rate, or while the algorithm's rate is
	 * above the cap.
	 */
	if (rate_bps != before_bps) {
		/* The due time of a waiting packet has changed. */
		if (unlikely(nic->due_ns != NULL))
			nic->due_ns[item] = 0;
		token_account_set_rate(&qp->bucket, burst_nanobits, rate_bps, now_ns);
	}
	/* Only a cut touches the tally, which may be a cache miss. */
	if (rate_bps < before_bps && rate_bps < nic->tallies[item].min_rate_bps)
		nic->tallies[item].min_rate_bps = rate_bps;
	if (did & CC_DID_CUT)
		nic->tallies[item].rate_cuts++;
	if (unlikely(nic->traces->n > 0))
		nic_trace_add(nic, item, did, now_ns);
}

/* Update the bucket's rate after an action of the algorithm (did: mask of enum cc_did). */
static void
cc_follow(struct nic *nic, uint32_t item, uint32_t did, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	follow(nic, item, did, capped(nic, qp), nic->qp_burst_nanobits, now_ns);
	rest_if_capped(nic, qp, now_ns);
	if (nic->params.rate_window_bytes > 0 && !nic_cc_of(nic, qp)->has_window)
		nic_cc_apply_window(nic, item);
}

void
nic_cc_change(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct nic_before *b = nic->before;
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	uint64_t cap_bps = flow->cap_before_bps;
	uint32_t did = cc_catch_up(&qp->cc, &b->cc[flow->cc], b->until_ns);

	if (did)
		follow(nic, item, did, capped_at(qp, cap_bps), b->qp_burst_nanobits, b->until_ns);
	token_account_update(&qp->bucket, b->qp_burst_nanobits, b->until_ns);
	token_account_clamp(&qp->bucket, nic->qp_burst_nanobits);
	did = cc_on_params(&qp->cc, &nic->cc[flow->cc]);
	if (did || capped(nic, qp) != qp->bucket.rate_bps)
		cc_follow(nic, item, did | CC_DID_RELOAD, b->until_ns);
}

/*
 * SIGCOMM15 section 3.1: line rate if the host has no other active flow; else a local policy, here
 * initial_rate.
 */
static uint64_t
first_rate_bps(const struct nic *nic, const struct nic_qp *qp, uint32_t others)
{
	const struct nic_params *p = &nic->params;

	if (others == 0 || p->initial_rate == NIC_INITIAL_LINE ||
	    nic_flow_of(nic, qp)->cc == CC_NONE)
		return p->link_speed_bps;
	if (p->initial_rate == NIC_INITIAL_FAIR)
		return p->link_speed_bps / (others + 1);
	return p->initial_rate_bps;
}

/* Bytes of the INT header of the flow's packets. */
static uint32_t
int_bytes_of(const struct qp_flow *flow)
{
	return flow->int_slots > 0 ? int_hdr_bytes(flow->int_slots) : 0;
}

/* Wire bytes of a packet with a full MTU. */
static uint32_t
full_packet_bytes(const struct nic *nic, const struct nic_qp *qp)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);

	return wire_bytes(flow->middle.frame_bytes + int_bytes_of(flow));
}

/* Is the QP limited by a window that changes? READs, UD and raw packets get no ACKs. */
static bool
is_in_window(const struct nic *nic, const struct nic_qp *qp)
{
	return (nic_cc_of(nic, qp)->has_window || nic->params.rate_window_bytes > 0) &&
	       !(qp->flags & QP_SPECIAL) && !nic_flow_of(nic, qp)->raw;
}

/* A packet may begin while there is any room: the window is rounded up to packets. */
void
nic_cc_apply_window(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct cc_node *cc = nic_cc_of(nic, qp);
	uint64_t packets = nic->window_packets;

	if (!is_in_window(nic, qp))
		return;
	if (!cc->has_window) {
		packets = nic_window_packets(nic, nic_flow_of(nic, qp)->mtu_bytes,
					     qp->cc.head.rate_bps);
	} else if (cc->counts_packets) {
		uint32_t full = full_packet_bytes(nic, qp);

		packets = ((uint64_t)qp->cc.head.window_bytes + full - 1) / full;
		packets = min_u64(max_u64(packets, 1), nic->window_packets);
	} else if (nic->in_flight_bytes[item] > 0 &&
		   nic->in_flight_bytes[item] >= qp->cc.head.window_bytes) {
		qp->limit_seq = qp->next_seq;
		return;
	}
	qp->limit_seq = qp->acked_seq + (uint32_t)packets;
}

void
nic_cc_sent_in_window(struct nic *nic, uint32_t item, uint32_t wire)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct cc_node *cc = nic_cc_of(nic, qp);
	uint32_t full;

	if (!cc->counts_packets) {
		nic->in_flight_bytes[item] += wire;
		if (nic->in_flight_bytes[item] >= qp->cc.head.window_bytes)
			qp->limit_seq = qp->next_seq;
		return;
	}
	/* A pace of packets: a short one takes the time of a full one. A cap limits bytes. */
	full = full_packet_bytes(nic, qp);
	if (qp->bucket.rate_bps == qp->cc.head.rate_bps &&
	    qp->cc.head.rate_bps < cc->max_rate_bps && wire < full)
		token_account_charge(&qp->bucket, full - wire);
}

/* Wire bytes of the packets [from, to) of a message of `packets`. */
static uint64_t
message_wire_bytes(const struct qp_frame_lens *l, uint32_t packets, uint32_t from, uint32_t to)
{
	uint64_t bytes = (uint64_t)(to - from) * wire_bytes(l->middle);

	if (from == 0)
		bytes += wire_bytes(l->first) - wire_bytes(l->middle);
	if (to == packets && packets > 1)
		bytes -= wire_bytes(l->middle) - wire_bytes(l->last);
	return bytes;
}

void
nic_cc_before_acked(struct nic *nic, uint32_t item, uint32_t seq)
{
	const struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct cc_node *cc = nic_cc_of(nic, qp);
	uint32_t int_bytes = int_bytes_of(flow);
	uint32_t at = qp->acked_seq, end = qp->acked_end;

	if (!is_in_window(nic, qp) || !cc->has_window || cc->counts_packets)
		return;
	/* The packets to send again have arrived, and with them all that are in flight. */
	if ((int32_t)(qp->next_seq - seq) <= 0) {
		nic->in_flight_bytes[item] = 0;
		return;
	}
	for (uint64_t m = qp->acked_msg; at != seq; m++) {
		uint32_t message_bytes = qp_bytes(flow, nic_qpn(nic, qp), m);
		uint32_t packets = qp_message_packets(message_bytes, flow->mtu_bytes);
		const struct qp_frame_lens l = qp_frame_lens(flow, message_bytes, int_bytes);
		uint32_t to;

		if (m > qp->acked_msg)
			end += packets;
		to = (int32_t)(seq - end) < 0 ? seq : end;
		nic->in_flight_bytes[item] -= (uint32_t)message_wire_bytes(
			&l, packets, at - (end - packets), to - (end - packets));
		at = to;
	}
}

void
nic_cc_went_back(struct nic *nic, uint32_t item)
{
	if (nic->in_flight_bytes != NULL)
		nic->in_flight_bytes[item] = 0;
	nic_cc_apply_window(nic, item);
}

/*
 * Initial debt of a QP that starts, so that QPs with equal caps do not send together. A QP of a
 * flow with shared messages starts with each of its messages, at a time of its own.
 */
static int64_t
first_debt_nanobits(const struct nic *nic, uint32_t item, uint64_t rate_bps)
{
	const struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	uint32_t bytes = full_packet_bytes(nic, qp);

	if (!nic->params.spread_starts || flow->shared != NULL || rate_bps != flow->rate_cap_bps ||
	    rate_bps >= nic->params.link_speed_bps)
		return 0;
	if (workload_is_fixed(&flow->params.work)) {
		bytes = wire_bytes(
			qp_frame_lens(flow, flow->message_bytes, int_bytes_of(flow)).first);
	}
	return first_wait_nanobits(nic_local_qpn(nic, item),
				   (uint32_t)mac_number(flow->path.src_mac), bytes);
}

void
nic_cc_spread(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	int64_t debt = first_debt_nanobits(nic, item, qp->bucket.rate_bps);

	/* In the middle of a message, it goes on. */
	if (qp->left_packets == 0)
		token_account_clamp(&qp->bucket, -debt);
}

void
nic_cc_start(struct nic *nic, uint32_t item, uint32_t others, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct cc_begin start = {
		.rate_bps = first_rate_bps(nic, qp, others),
		.packet_bytes = full_packet_bytes(nic, qp),
		.more = nic->cc_more == NULL ? NULL
					     : nic->cc_more + (size_t)item * nic->needs.more_bytes,
	};
	uint32_t did = cc_on_start(&qp->cc, nic_cc_of(nic, qp), &start, now_ns);
	uint64_t rate_bps = capped(nic, qp);

	/*
	 * Start with an empty bucket: the first packet may leave at once, the next one when its
	 * rate allows. At the speed of the link, the wire paces the packets.
	 */
	token_account_init(&qp->bucket, rate_bps,
			   rate_bps < nic->params.link_speed_bps
				   ? -first_debt_nanobits(nic, item, rate_bps)
				   : nic->qp_burst_nanobits,
			   now_ns);
	/* A QP of a flow with shared messages starts once per message: keep the lowest rate. */
	if (nic->tallies[item].min_rate_bps == 0 || nic_flow_of(nic, qp)->shared == NULL ||
	    rate_bps < nic->tallies[item].min_rate_bps)
		nic->tallies[item].min_rate_bps = rate_bps;
	rest_if_capped(nic, qp, now_ns);
	nic_cc_went_back(nic, item);
	if (unlikely(nic->traces->n > 0))
		nic_trace_add(nic, item, did, now_ns);
}

static inline void
follow_if_any(struct nic *nic, uint32_t item, uint32_t did, uint64_t now_ns)
{
	if (did)
		cc_follow(nic, item, did, now_ns);
}

void
nic_cc_pass(struct nic *nic, uint32_t item, uint64_t ns, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	follow_if_any(nic, item, cc_pass(&qp->cc, nic_cc_of(nic, qp), ns, now_ns), now_ns);
}

void
nic_cc_catch_up(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	follow_if_any(nic, item, cc_on_timer(&qp->cc, nic_cc_of(nic, qp), now_ns), now_ns);
}

void
nic_cc_sent(struct nic *nic, uint32_t item, uint32_t wire, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	follow_if_any(nic, item, cc_on_sent(&qp->cc, nic_cc_of(nic, qp), wire, now_ns), now_ns);
}

void
nic_on_cnp(struct nic *nic, uint32_t item, uint32_t value, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct cc_cnp cnp = {.next_seq = qp->next_seq, .value = value};
	uint32_t did;

	if (!(qp->flags & QP_STARTED)) {
		counter_inc(&nic->stats.rp.rp_cnp_ignored);
		nic_measure_cnp_ignored(nic, item);
		return;
	}
	did = cc_on_cnp(&qp->cc, nic_cc_of(nic, qp), &cnp, now_ns);
	if (!did) {
		nic_measure_cnp_ignored(nic, item);
		return;
	}
	cc_follow(nic, item, did, now_ns);
	nic->tallies[item].cnps_handled++;
}

static void
read_path(const uint8_t *hdr, struct cc_hop *hops, struct cc_ack *ack)
{
	ack->n_hops = nic_read_hops(hdr, hops);
	ack->path_id = int_hdr_path_id(hdr);
	ack->is_full = int_hdr_is_full(hdr);
	ack->hops = hops;
}

void
nic_cc_acked(struct nic *nic, uint32_t item, struct cc_ack *ack, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	struct cc_hop hops[CC_MAX_HOPS];

	if (ack->packets > 0) {
		ack->next_seq = qp->next_seq;
		if (nic->heard->becn)
			ack->ce_packets = ack->packets;
		if (nic->heard_int != NULL)
			read_path(nic->heard_int, hops, ack);
		follow_if_any(nic, item, cc_on_ack(&qp->cc, nic_cc_of(nic, qp), ack, now_ns),
			      now_ns);
	}
	nic_cc_apply_window(nic, item);
}

void
nic_cc_lost(struct nic *nic, uint32_t item, enum cc_loss by, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	follow_if_any(nic, item, cc_on_loss(&qp->cc, nic_cc_of(nic, qp), qp->next_seq, by, now_ns),
		      now_ns);
	nic_cc_apply_window(nic, item);
}
