/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must hold in the life of a pair, seen from outside: frames on the cable against what the
 * nodes say, and both against a model of each QP that needs no knowledge of how they work.
 *
 * - pace: a QP has a token bucket of its own here, with the rate that nic_qp_info() names and the
 *   burst in force. A frame that leaves while it is in debt was sent too early.
 * - rate: what is in force lies within the bounds in force; while a change is not, within those of
 *   both.
 * - arrivals: the messages of an open loop come when its parameters say, whatever else happens.
 * - late: a QP that says it waits for tokens, or for the next message, goes on when it is there.
 * - still: a QP that is held by its rate, the wire, its window or its next message goes on in time.
 * - count: what is read agrees with the cable, with itself, and never goes back.
 */
#include "pair.h"

#include <inttypes.h>

#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "nic/qp/qp.h"
#include "pacer/token_bucket.h"

#define LARGEST_WIRE_BYTES 4400u
/* How long a QP that has packets in flight may wait between two messages unlooked at. */
#define MOST_LOOK_AGAIN_NS (64 * NS_PER_US)

static struct pair_life *const p = &pair_now;

/*
 * A node is asked for nothing while its wire is busy, or another's turn; and the slots of the
 * pacing wheel round up.
 */
static uint64_t
slack_ns(void)
{
	return 2000 + 4 * p->n_nodes * serialization_ns(LARGEST_WIRE_BYTES, p->speed_bps);
}

/* @return false: it is not there yet, or no longer. */
static bool
read_qp(unsigned int h, uint32_t number, struct nic_qp_info *info)
{
	uint32_t item;
	struct node *node = pair_node(h, number, &item);

	return nic_qp_info(node, item, info);
}

static struct nic_qp_wait
wait_of(unsigned int h, uint32_t number)
{
	struct nic_qp_wait wait;
	uint32_t item;
	struct node *node = pair_node(h, number, &item);

	nic_qp_wait(node, item, &wait);
	return wait;
}

static struct pair_flow *
flow_of(const struct seen *q)
{
	return &p->flow[q->flow];
}

/* ---- pace ---- */

static __int128
burst_of(unsigned int h)
{
	return (__int128)p->host[h].burst_bytes * NANOBITS_PER_BYTE;
}

/* Earn at the rate in force since the last call. */
static void
earn(unsigned int h, struct seen *q)
{
	const struct pair_host *host = &p->host[h];
	uint32_t least_bytes = host->next.qp_burst_bytes;
	__int128 earned = 0;

	if (p->now_ns > q->updated_ns)
		earned = (__int128)q->rate_bps * (p->now_ns - q->updated_ns);
	q->credit_nanobits += earned;
	if (q->credit_nanobits > burst_of(h))
		q->credit_nanobits = burst_of(h);
	/* A change may concern it from its instant on before its rate shows it. */
	if (host->is_pending) {
		earned = 0;
		if (least_bytes > host->old.qp_burst_bytes)
			least_bytes = host->old.qp_burst_bytes;
	}
	q->least_nanobits += earned;
	if (q->least_nanobits > (__int128)least_bytes * NANOBITS_PER_BYTE)
		q->least_nanobits = (__int128)least_bytes * NANOBITS_PER_BYTE;
	q->updated_ns = p->now_ns;
}

static void
see_rate(unsigned int h, uint32_t number, struct seen *q, uint64_t rate_bps)
{
	const struct pair_host *host = &p->host[h];
	uint32_t k = pair_place(h, number).node;

	if (rate_bps == q->rate_bps)
		return;
	if (q->paces)
		earn(h, q);
	/* A change counts from its instant on, whenever the QP is looked at. */
	if (q->paces && host->is_pending && host->has_begun[k] && rate_bps > q->rate_bps)
		q->credit_nanobits +=
			(__int128)(rate_bps - q->rate_bps) * (p->now_ns - host->begun_ns[k]);
	/* These rise with an ACK, which shortens no wait that has begun. */
	if (cc_algorithms[host->first.cc]->ack != NULL && !host->is_pending &&
	    rate_bps > q->rate_bps && q->due_wait == NIC_WAIT_RATE && q->due_ns != NEVER_NS)
		q->looked_at_ns = max_u64(q->looked_at_ns, q->due_ns);
	q->rate_bps = rate_bps;
	q->still_rate_bps = min_u64(q->still_rate_bps, rate_bps);
}

/* ---- late ---- */

static bool
is_paused(unsigned int h)
{
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		if (p->host[h].paused_until_ns[i] + slack_ns() > p->now_ns)
			return true;
	return false;
}

/* What a QP waits for in the pacing wheel may end, and it leaves the wheel at its horizon. */
static uint64_t
horizon_ns(void)
{
	uint64_t frames_ns = p->max_qps * serialization_ns(1400, p->speed_bps);

	return 2 * max_u64(frames_ns, p->max_qps > 64 ? NS_PER_MS : 500 * p->max_qps);
}

/* Between two frames of a busy wire: nanoseconds are whole, and wheels have slots. */
#define LONGEST_GAP_NS 100u

/* Frames that go first, CNPs and ACKs, may take all of a wire. */
static uint64_t
wire_free_last_ns(const struct pair_host *host)
{
	return p->now_ns > host->busy_until_ns + LONGEST_GAP_NS ? p->now_ns : host->free_last_ns;
}

void
watch_wire(unsigned int h, uint32_t wire)
{
	struct pair_host *host = &p->host[h];

	host->free_last_ns = wire_free_last_ns(host);
	host->busy_until_ns =
		max_u64(host->busy_until_ns, p->now_ns) + serialization_ns(wire, p->speed_bps);
}

/* What it was seen to wait for was there, and the wire was free; still it waits, or goes on only
 * now. */
static void
must_not_be_late(unsigned int h, uint32_t number, const struct seen *q)
{
	const struct pair_host *host = &p->host[h];
	uint64_t since_ns = max_u64(q->due_ns, max_u64(host->paused_last_ns, p->down_last_ns));
	uint64_t free_ns = wire_free_last_ns(host);

	since_ns = max_u64(since_ns, host->poor_last_ns);
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		since_ns = max_u64(since_ns, host->paused_until_ns[i]);
	life_must("late",
		  p->down || p->now_ns <= since_ns || free_ns <= since_ns ||
			  free_ns - since_ns <= slack_ns() + horizon_ns(),
		  "QP %u of host %u (flow %u) is held by \"%s\", which was over at %" PRIu64
		  ", at %" PRIu64 " bit/s",
		  number, h, q->flow, nic_wait_words[q->due_wait], q->due_ns, q->rate_bps);
}

/* When what it says it waits for is there. */
static uint64_t
due_ns(unsigned int h, const struct seen *q, const struct nic_qp_wait *wait)
{
	const struct expected_loop *o = &q->arrivals;

	if (p->host[h].is_pending || p->down)
		return NEVER_NS;
	if ((wait->reason == NIC_WAIT_RATE || wait->reason == NIC_WAIT_WIRE) && q->paces) {
		__int128 debt = q->least_nanobits < 0 ? -q->least_nanobits : 0;

		return max_u64(q->looked_at_ns,
			       p->now_ns + (uint64_t)((debt + q->rate_bps - 1) / q->rate_bps));
	}
	/* One that goes back has packets to send first; one that leaves begins no message. */
	if (wait->reason == NIC_WAIT_MESSAGE && wait->unacked_packets == 0 && o->on && !o->leaves &&
	    o->begun <= o->next)
		return max_u64(p->now_ns, expected_loop_arrival_ns(o, o->begun));
	return NEVER_NS;
}

static void
look_at_wait(unsigned int h, uint32_t number, struct seen *q)
{
	struct nic_qp_wait wait = wait_of(h, number);
	uint64_t is_due_ns;

	if (q->paces)
		earn(h, q);
	/* It may go back while it waits for a message, and is looked at again in its turn. */
	if (wait.reason == NIC_WAIT_MESSAGE || wait.reason == NIC_WAIT_STOPPED)
		q->looked_at_ns = p->now_ns + MOST_LOOK_AGAIN_NS;
	is_due_ns = due_ns(h, q, &wait);
	if (is_due_ns <= p->now_ns && q->due_ns != NEVER_NS && q->due_wait == wait.reason) {
		must_not_be_late(h, number, q);
		is_due_ns = min_u64(is_due_ns, q->due_ns);
	}
	q->due_wait = wait.reason;
	q->due_ns = is_due_ns;
}

static void
charge(unsigned int h, uint32_t number, uint32_t wire)
{
	struct seen *q = &p->host[h].seen[number];
	struct nic_qp_info is;

	if (!q->paces) {
		/* It starts with a full bucket. */
		q->paces = true;
		q->credit_nanobits = burst_of(h);
		q->updated_ns = p->now_ns;
	}
	if (p->host[h].is_pending && read_qp(h, number, &is))
		see_rate(h, number, q, is.rate_bps);
	earn(h, q);
	must_not_be_late(h, number, q);
	q->is_new = p->host[h].is_pending;
	life_must("pace", q->credit_nanobits >= 0,
		  "QP %u of host %u (flow %u) sends a frame of %u bytes too early: at %" PRIu64
		  " bit/s its token bucket is %" PRId64 " bits short",
		  number, h, q->flow, wire, q->rate_bps,
		  (int64_t)(-q->credit_nanobits / (int64_t)NS_PER_SEC));
	q->credit_nanobits -= (__int128)wire * NANOBITS_PER_BYTE;
	q->least_nanobits -= (__int128)wire * NANOBITS_PER_BYTE;
	q->due_ns = NEVER_NS;
	q->looked_at_ns = 0;
	q->wire_bytes += wire;
	q->packets++;
	q->still_ns = p->now_ns;
	q->still_rate_bps = q->rate_bps;
}

/* ---- arrivals of open loops ---- */

static bool
is_stopped(unsigned int h, const struct seen *q)
{
	return p->host[h].live[q->flow].stopped;
}

static void
message_begun(unsigned int h, struct seen *q)
{
	struct expected_loop *o = &q->arrivals;

	o->begun++;
	expected_loop_advance(o, p->now_ns);
	if (!o->on)
		return;
	life_must("arrivals", o->begun <= o->next,
		  "QP %u of host %u (flow %u) begins message %" PRIu64 ", which comes at %" PRIu64
		  " ns",
		  flow_of(q)->first[h] + q->i, h, q->flow, o->begun - 1,
		  expected_loop_arrival_ns(o, o->begun - 1));
}

/* Messages were acknowledged in this call: their times count from their arrivals. */
static void
look_at_completions(unsigned int h, uint32_t number, struct seen *q, const struct nic_qp_info *is)
{
	const struct nic_qp_info *was = &q->last;
	struct expected_loop *o = &q->arrivals;
	uint64_t n = is->tx_messages - o->acked, took_ns, sum_ns;

	expected_loop_advance(o, p->now_ns);
	if (!o->on || n == 0)
		return;
	life_must("arrivals", is->tx_messages <= o->next,
		  "QP %u of host %u (flow %u) has %" PRIu64 " messages acknowledged, but %" PRIu64
		  " have come",
		  number, h, q->flow, is->tx_messages, o->next);
	took_ns = expected_loop_acked(o, is->tx_messages, p->now_ns);
	if (is->completions == was->completions)
		return; /* they are not timed */
	sum_ns = is->completion_sum_ns - was->completion_sum_ns;
	life_must("arrivals",
		  is->completions - was->completions == n &&
			  max_u64(sum_ns, took_ns) - min_u64(sum_ns, took_ns) <= n * o->slack_ns,
		  "QP %u of host %u (flow %u): %" PRIu64 " messages took %" PRIu64
		  " ns, but since their arrivals %" PRIu64 " have passed",
		  number, h, q->flow, n, sum_ns, took_ns);
}

static void make_seen(unsigned int h, uint32_t id, uint32_t i);

/* ---- frames ---- */

static bool
is_first(uint8_t opcode)
{
	switch (opcode) {
	case RC_SEND_FIRST:
	case RC_SEND_ONLY:
	case RC_SEND_ONLY_IMM:
	case RC_WRITE_FIRST:
	case RC_WRITE_ONLY:
	case RC_WRITE_ONLY_IMM:
	case RC_READ_REQUEST:
	case UD_SEND_ONLY:
	case UD_SEND_ONLY_IMM:
		return true;
	default:
		return false;
	}
}

void
watch_sent(unsigned int h, const struct rte_mbuf *m, const struct roce_view *v)
{
	uint32_t number = v->dest_qp - PAIR_QPN, mine, psns = 1;
	const struct pair_flow *f;
	struct seen *q;
	uint32_t flow;

	/* Whose is it? The other end has the number that it names. */
	for (flow = 0; flow < FLOWS; flow++) {
		f = &p->flow[flow];
		if (f->state[0] != ABSENT && number >= f->first[1 - h] &&
		    number < f->first[1 - h] + f->n_qps)
			break;
	}
	life_must("frame", flow < FLOWS, "host %u sends to QP %u, which no flow has", h,
		  v->dest_qp);
	if (v->opcode == RC_ACK || v->opcode == ROCE_CNP)
		return;
	mine = f->first[h] + number - f->first[1 - h];
	q = &p->host[h].seen[mine];
	life_must("frame", f->state[h] != WANTED || p->host[h].is_pending,
		  "flow %u sends from host %u before it came", flow, h);
	/* Others of its flow may not be made yet. */
	make_seen(h, flow, mine - f->first[h]);
	charge(h, mine, wire_bytes(m->pkt_len));
	if (h != f->from)
		return;
	if (v->opcode == RC_READ_REQUEST)
		psns = qp_message_packets(v->reth_dma_bytes, f->params[h].mtu_bytes);
	/* A packet ahead of all that were sent. */
	if ((int32_t)((v->psn - f->params[h].initial_psn - q->front) << 8) >= 0) {
		if (is_first(v->opcode))
			message_begun(h, q);
		q->front = v->psn - f->params[h].initial_psn + psns;
	}
}

void
watch_pause(unsigned int h, const struct rte_mbuf *m)
{
	struct pair_host *host = &p->host[h];
	struct mac_control mc;
	enum mac_control_kind kind =
		mac_control_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &mc);
	bool pfc = kind == MAC_CONTROL_PFC;

	host->paused_last_ns = p->now_ns;
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		uint16_t quanta = mc.quanta[pfc ? i : 0];

		if (!pfc || mc.enable >> i & 1)
			host->paused_until_ns[i] =
				p->now_ns + quanta * (512 * NS_PER_SEC / p->speed_bps + 1);
	}
}

/* ---- rates ---- */

struct bounds {
	uint64_t low_bps, high_bps;
};

static struct bounds
bounds_of(const struct nic_params *params)
{
	struct bounds b = {1, params->link_speed_bps};

	switch (params->cc) {
	case CC_NONE:
		b.low_bps = params->link_speed_bps;
		break;
	case CC_DCQCN:
		b.low_bps = params->rp.rp_min_rate_bps;
		if (params->rp.rp_max_rate_bps != 0)
			b.high_bps = params->rp.rp_max_rate_bps;
		break;
	default:
		b.low_bps = cc_min_rate_bps((enum cc_algorithm)params->cc, &params->cc_params);
	}
	return b;
}

static uint64_t
capped(uint64_t rate_bps, uint64_t cap_bps)
{
	return cap_bps > 0 ? min_u64(rate_bps, cap_bps) : rate_bps;
}

static void
look_at_rate(unsigned int h, uint32_t number, const struct seen *q, uint64_t rate_bps)
{
	const struct pair_host *host = &p->host[h];
	struct bounds b = bounds_of(&host->next), old = bounds_of(&host->old);
	uint64_t low = capped(b.low_bps, host->live[q->flow].rate_cap_bps);
	uint64_t high = capped(b.high_bps, host->live[q->flow].rate_cap_bps);
	enum nic_wait reason;

	/* A QP that has sent, or was cut, since the instant of the change is of the new version. */
	if (host->is_pending && !q->is_new) {
		low = min_u64(low, capped(old.low_bps, host->old_live[q->flow].rate_cap_bps));
		high = max_u64(high, capped(old.high_bps, host->old_live[q->flow].rate_cap_bps));
	}
	/* One that has left is as it was. */
	if ((rate_bps >= low && rate_bps <= high) || flow_of(q)->state[h] != THERE)
		return;
	/* Before its start it has no rate. */
	reason = wait_of(h, number).reason;
	life_must("rate",
		  q->packets == 0 && (reason == NIC_WAIT_START || reason == NIC_WAIT_NEIGHBOUR ||
				      reason == NIC_WAIT_RESPONDER),
		  "QP %u of host %u (flow %u) has %" PRIu64 " bit/s, not from %" PRIu64
		  " to %" PRIu64,
		  number, h, q->flow, rate_bps, low, high);
}

/* ---- what a QP says, after each call ---- */

static void
look_at_info(unsigned int h, uint32_t number, struct seen *q, const struct nic_qp_info *is)
{
	const struct nic_qp_info *was = &q->last;
	const struct pair_flow *f = flow_of(q);
	uint64_t life_ns = p->now_ns - min_u64(p->now_ns, f->added_ns) + 1;

#define NOT_BACK(member)                                                                           \
	life_must("count", !q->has_state || is->member >= was->member,                             \
		  "QP %u of host %u (flow %u): " #member " goes back from %" PRIu64                \
		  " to %" PRIu64,                                                                  \
		  number, h, q->flow, (uint64_t)was->member, (uint64_t)is->member)
	NOT_BACK(tx_wire_bytes);
	NOT_BACK(tx_packets);
	NOT_BACK(retransmitted_packets);
	NOT_BACK(tx_messages);
	NOT_BACK(tx_payload_bytes);
	NOT_BACK(rx_payload_bytes);
	NOT_BACK(rx_messages);
	NOT_BACK(rx_packets);
	NOT_BACK(rx_wire_bytes);
	NOT_BACK(cnps_handled);
	NOT_BACK(cnps_sent);
	NOT_BACK(rate_cuts);
	NOT_BACK(completions);
	NOT_BACK(completion_sum_ns);
	NOT_BACK(completion_max_ns);
	NOT_BACK(error);
#undef NOT_BACK
	life_must("count", is->tx_wire_bytes == q->wire_bytes,
		  "QP %u of host %u (flow %u): tx_wire_bytes is %" PRIu64
		  ", the cable has seen %" PRIu64,
		  number, h, q->flow, is->tx_wire_bytes, q->wire_bytes);
	life_must("times", is->completion_max_ns <= life_ns,
		  "QP %u of host %u (flow %u): a message took %" PRIu64
		  " ns, and the flow came %" PRIu64 " ns ago",
		  number, h, q->flow, is->completion_max_ns, life_ns);
	life_must("times", is->completion_sum_ns <= is->completions * is->completion_max_ns,
		  "QP %u of host %u (flow %u): %" PRIu64 " messages took %" PRIu64
		  " ns, none more than %" PRIu64,
		  number, h, q->flow, is->completions, is->completion_sum_ns,
		  is->completion_max_ns);
	life_must("times", is->completions <= is->tx_messages,
		  "QP %u of host %u (flow %u): %" PRIu64 " messages were timed, %" PRIu64
		  " completed",
		  number, h, q->flow, is->completions, is->tx_messages);
	life_must("count", is->local_qpn == PAIR_QPN + number, "QP %u of host %u says it is %u",
		  number, h, is->local_qpn);
	life_must("count", is->peer_qpn == PAIR_QPN + f->first[1 - h] + q->i,
		  "QP %u of host %u says that its peer is %u", number, h, is->peer_qpn);
	life_must("count", !(is->done && is->error), "QP %u of host %u is done and in error",
		  number, h);
	if (q->arrivals.on)
		look_at_completions(h, number, q, is);
	if (q->has_state && is->cnps_handled != was->cnps_handled)
		q->is_new = q->was_begun;
	q->was_begun = p->host[h].is_pending && p->host[h].has_begun[pair_place(h, number).node];
	p->errors |= is->error;
	q->last = *is;
	q->has_state = true;
}

static void
look(unsigned int h, uint32_t number, struct seen *q)
{
	struct nic_qp_info is;

	if (!read_qp(h, number, &is)) {
		life_must("count", flow_of(q)->state[h] == ENDING || flow_of(q)->state[h] == ENDED,
			  "QP %u of host %u (flow %u) is not there", number, h, q->flow);
		return;
	}
	see_rate(h, number, q, is.rate_bps);
	look_at_info(h, number, q, &is);
	look_at_rate(h, number, q, is.rate_bps);
	look_at_wait(h, number, q);
}

static void
look_at_all(unsigned int h)
{
	for (uint32_t id = 0; id < FLOWS; id++) {
		const struct pair_flow *f = &p->flow[id];

		if (f->state[h] == ABSENT)
			continue;
		for (uint32_t number = f->first[h]; number < f->first[h] + f->n_qps; number++)
			if (p->host[h].seen[number].made)
				look(h, number, &p->host[h].seen[number]);
	}
}

/* ---- changes ---- */

static void
make_seen(unsigned int h, uint32_t id, uint32_t i)
{
	struct pair_flow *f = &p->flow[id];
	struct seen *q = &p->host[h].seen[f->first[h] + i];
	const struct workload *w = &f->params[h].work;
	uint32_t k = pair_place(h, f->first[h] + i).node;
	struct nic_qp_info is;

	if (q->made)
		return;
	*q = (struct seen){
		.made = true, .flow = id, .i = i, .still_ns = p->now_ns, .due_ns = NEVER_NS};
	life_must("count", read_qp(h, f->first[h] + i, &is),
		  "QP %u of host %u (flow %u) has come, and is not there", f->first[h] + i, h, id);
	q->still_rate_bps = q->rate_bps = is.rate_bps;
	if (h != f->from)
		return;
	if (f->made_ns[k] == 0)
		f->made_ns[k] = p->now_ns + 1;
	if (workload_is_open(w) && !f->params[h].raw)
		expected_loop_begin(&q->arrivals, w, is.local_qpn,
				    max_u64(w->start_ns, f->made_ns[k] - 1), &p->host[h].live[id]);
}

void
watch_came(unsigned int h, uint32_t id)
{
	for (uint32_t i = 0; i < p->flow[id].n_qps; i++)
		make_seen(h, id, i);
}

void
watch_went(unsigned int h, uint32_t id)
{
	const struct pair_flow *f = &p->flow[id];

	for (uint32_t i = 0; i < f->n_qps; i++) {
		expected_loop_end(&p->host[h].seen[f->first[h] + i].arrivals);
		p->host[h].seen[f->first[h] + i] = (struct seen){0};
	}
}

void
watch_asked(unsigned int h)
{
	struct pair_host *host = &p->host[h];

	memcpy(host->old_live, host->live, sizeof(host->old_live));
	host->burst_bytes = host->burst_bytes > host->wanted.qp_burst_bytes
				    ? host->burst_bytes
				    : host->wanted.qp_burst_bytes;
	for (uint32_t number = 0; number < p->max_qps; number++) {
		struct seen *q = &host->seen[number];

		if (!q->made)
			continue;
		/* The burst is earned by who looks later. */
		if (q->paces && host->wanted.qp_burst_bytes > host->next.qp_burst_bytes)
			q->credit_nanobits = burst_of(h);
		q->is_new = q->was_begun = false;
		q->due_ns = NEVER_NS;
	}
}

void
watch_stepped(unsigned int h, uint32_t k)
{
	struct pair_host *host = &p->host[h];

	if (!host->is_pending || host->has_begun[k])
		return;
	host->has_begun[k] = true;
	host->begun_ns[k] = p->now_ns;
	for (uint32_t number = 0; number < p->max_qps; number++) {
		struct seen *q = &host->seen[number];

		if (!q->arrivals.on || pair_place(h, number).node != k)
			continue;
		for (uint32_t i = 0; i < host->reload.n_removed; i++)
			q->arrivals.leaves |= host->removed[i] == q->flow;
		expected_loop_change(&q->arrivals, &host->live[q->flow], p->now_ns);
	}
}

/* A flow comes: its QPs are made in some calls. */
static void
look_at_come(unsigned int h)
{
	const struct pair_host *host = &p->host[h];
	struct nic_qp_info is;

	for (uint32_t n = 0; host->is_pending && n < host->reload.n_added; n++) {
		const struct pair_flow *f = &p->flow[host->added[n]];

		for (uint32_t i = 0; i < f->n_qps; i++)
			if (read_qp(h, f->first[h] + i, &is))
				make_seen(h, host->added[n], i);
	}
}

void
watch_called(unsigned int h)
{
	look_at_come(h);
	look_at_all(h);
}

void
watch_in_force(unsigned int h)
{
	struct pair_host *host = &p->host[h];

	host->old = host->next;
	host->burst_bytes = host->next.qp_burst_bytes;
}

/* ---- who holds still ---- */

static uint64_t
timeout_ns(unsigned int h)
{
	return 4096ull << p->host[h].first.local_ack_timeout;
}

/* The longest that an RNR NAK may make it wait, IBTA table 46. */
#define MOST_RNR_NS (656 * NS_PER_MS)

static void
hold_still(unsigned int h, uint32_t number, struct seen *q)
{
	const struct pair_flow *f = flow_of(q);
	const struct workload *w = &f->params[h].work;
	struct nic_qp_wait wait;
	struct nic_qp_info is;
	uint64_t frame_ns = serialization_ns(LARGEST_WIRE_BYTES, p->speed_bps), most_ns;
	uint64_t since_ns;

	/* One that has left is held by nothing. */
	if (!read_qp(h, number, &is))
		return;
	wait = wait_of(h, number);
	if (wait.reason != q->reason)
		q->still_ns = p->now_ns;
	q->reason = wait.reason;
	since_ns = max_u64(q->still_ns, max_u64(p->host[h].paused_last_ns, p->down_last_ns));
	if (p->down || is_paused(h) || p->now_ns <= since_ns) {
		q->still_ns = p->now_ns;
		return;
	}
	most_ns = 2 * NS_PER_MS + 100 * p->max_qps * frame_ns;
	switch (wait.reason) {
	case NIC_WAIT_RATE:
	case NIC_WAIT_WIRE:
		most_ns += 2 * LARGEST_WIRE_BYTES * (8 * NS_PER_SEC / q->still_rate_bps + 1);
		break;
	case NIC_WAIT_WINDOW:
	case NIC_WAIT_DEPTH:
		/* The first is of all QPs of its flow. */
		if (w->arrival == WORKLOAD_INCAST || timeout_ns(h) == 4096 || f->cut_short)
			return;
		most_ns += 8 * timeout_ns(h) +
			   2 * LARGEST_WIRE_BYTES * (8 * NS_PER_SEC / q->still_rate_bps + 1);
		break;
	case NIC_WAIT_RNR:
		most_ns += MOST_RNR_NS;
		break;
	case NIC_WAIT_MESSAGE:
		if (w->arrival != WORKLOAD_ON_OFF)
			return;
		most_ns += w->off_ns;
		break;
	case NIC_WAIT_START:
		since_ns = max_u64(since_ns, f->params[h].start_ns);
		if (is_stopped(h, q) || p->host[h].is_pending)
			q->still_ns = p->now_ns;
		if (q->still_ns == p->now_ns || since_ns > p->now_ns)
			return;
		break;
	case NIC_WAIT_STOPPED:
		life_must("hold",
			  is_stopped(h, q) || p->host[h].is_pending ||
				  p->host[h].old_live[q->flow].stopped,
			  "QP %u of host %u (flow %u) is stopped, its flow is not", number, h,
			  q->flow);
		return;
	default:
		return;
	}
	life_must("still", p->now_ns - since_ns <= most_ns,
		  "QP %u of host %u (flow %u) is held by \"%s\" since %" PRIu64 " ns, at %" PRIu64
		  " bit/s, %" PRIu64 " packets sent",
		  number, h, q->flow, nic_wait_words[wait.reason], since_ns, q->rate_bps,
		  q->packets);
}

void
watch_still(void)
{
	static uint64_t last_calls;

	/* Not after each frame. */
	if (p->calls / 32 == last_calls)
		return;
	last_calls = p->calls / 32;
	for (unsigned int h = 0; h < HOSTS; h++) {
		if (is_paused(h))
			p->host[h].paused_last_ns = p->now_ns;
		for (uint32_t number = 0; number < p->max_qps; number++) {
			struct seen *q = &p->host[h].seen[number];

			if (q->made)
				hold_still(h, number, q);
		}
	}
	if (p->down)
		p->down_last_ns = p->now_ns;
}

/* ---- everything that can be read ---- */

static void
read_hist(const struct hist *hist, const char *name, unsigned int h, uint32_t id)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum += hist->weight[i];
	life_must("count", sum == hist->count,
		  "%s of flow %u at host %u counts %" PRIu64 ", its buckets have %" PRIu64, name,
		  id, h, hist->count, sum);
}

static void
read_flow(unsigned int h, uint32_t id)
{
	const struct pair_flow *f = &p->flow[id];
	uint64_t completions = 0, sum_ns = 0, wire_bytes_ = 0, tx_messages = 0, rx_messages = 0;
	uint64_t times_count = 0, times_sum_ns = 0, failed = 0;
	struct nic_flow_info info = {0};
	bool timed = false, all_there = true;

	for (uint32_t k = 0; k < p->n_nodes; k++) {
		struct node *node = p->host[h].node[k];
		const struct nic_times *times;
		const struct nic_pacing *pacing;

		nic_flow_info(node, id, &info);
		times = nic_flow_times(node, id);
		pacing = nic_flow_pacing(node, id);
		if (pacing != NULL) {
			nic_pacing_error_ppm(pacing);
			read_hist(&pacing->jitter_ns, "jitter", h, id);
		}
		life_must("times", nic_flow_paused_ns(node, id, p->now_ns) <= p->now_ns,
			  "flow %u of host %u was paused for longer than the run", id, h);
		if (times == NULL)
			continue;
		timed = true;
		read_hist(&times->completion_ns, "completion", h, id);
		read_hist(&times->slowdown_milli, "slowdown", h, id);
		read_hist(&times->rtt_ns, "rtt", h, id);
		times_count += times->completion_ns.count;
		times_sum_ns += times->completion_ns.sum;
		life_must("times",
			  times->rtt_ns.max <= p->now_ns && times->completion_ns.max <= p->now_ns,
			  "flow %u of host %u: a round trip of %" PRIu64
			  " ns, a completion of %" PRIu64 " ns",
			  id, h, times->rtt_ns.max, times->completion_ns.max);
	}
	for (uint32_t number = f->first[h]; number < f->first[h] + f->n_qps; number++) {
		struct nic_qp_wait wait = wait_of(h, number);
		struct nic_qp_info is;

		/* Telemetry reads it before its owner has made it, and after it has left. */
		if (!read_qp(h, number, &is) || !p->host[h].seen[number].made) {
			all_there = false;
			continue;
		}
		completions += is.completions;
		sum_ns += is.completion_sum_ns;
		wire_bytes_ += is.tx_wire_bytes;
		tx_messages += is.tx_messages;
		rx_messages += is.rx_messages;
		failed += is.error;
		life_must("hold",
			  wait.cap_bps == p->host[h].live[id].rate_cap_bps ||
				  p->host[h].is_pending || f->state[h] != THERE,
			  "QP %u of host %u says that its cap is %" PRIu64, number, h,
			  wait.cap_bps);
		life_must("hold", (wait.reason == NIC_WAIT_ERROR) == is.error,
			  "QP %u of host %u is held by \"%s\", error is %d", number, h,
			  nic_wait_words[wait.reason], is.error);
	}
	if (timed && f->state[h] != WANTED)
		life_must("count",
			  times_count == info.sum.completions &&
				  times_sum_ns == info.sum.completion_sum_ns,
			  "flow %u of host %u: completion times of %" PRIu64 " messages, %" PRIu64
			  " ns, but its QPs have %" PRIu64 ", %" PRIu64 " ns",
			  id, h, times_count, times_sum_ns, info.sum.completions,
			  info.sum.completion_sum_ns);
	if (!all_there)
		return;
	life_must("count",
		  info.qps == f->n_qps && info.sum.completions == completions &&
			  info.sum.completion_sum_ns == sum_ns &&
			  info.sum.tx_wire_bytes == wire_bytes_ &&
			  info.sum.tx_messages == tx_messages &&
			  info.sum.rx_messages == rx_messages && info.qps_failed == failed,
		  "flow %u of host %u says %u QPs, %u failed, %" PRIu64
		  " messages; its QPs say %u, %" PRIu64 ", %" PRIu64,
		  id, h, info.qps, info.qps_failed, info.sum.tx_messages, f->n_qps, failed,
		  tx_messages);
}

static void
read_traces(unsigned int h)
{
	struct pair_host *host = &p->host[h];

	for (uint32_t i = 0; i < TRACES; i++) {
		const struct nic_trace *trace = host->trace[i];
		uint64_t last_ns = 0;

		if (trace == NULL)
			continue;
		nic_trace_has_ended(trace);
		for (uint64_t n = 0; n < nic_trace_written(trace); n++) {
			struct nic_trace_row row;

			if (!nic_trace_read(trace, n, &row))
				continue;
			life_must("trace", row.at_ns >= last_ns && row.at_ns <= p->now_ns,
				  "row %" PRIu64 " of a trace is of %" PRIu64
				  " ns, behind one of %" PRIu64,
				  n, row.at_ns, last_ns);
			last_ns = row.at_ns;
		}
	}
}

static struct nic_stats
sum_stats(unsigned int h)
{
	struct nic_stats sum = {0};

	for (uint32_t k = 0; k < p->n_nodes; k++)
		counters_add(nic_stats(p->host[h].node[k]), &sum, sizeof(sum));
	return sum;
}

void
watch_read(unsigned int h)
{
	struct pair_host *host = &p->host[h];
	struct nic_stats s = sum_stats(h);

	for (uint32_t k = 0; k < p->n_nodes; k++) {
		uint32_t unresolved;

		nic_neighbours(host->node[k], &unresolved);
		nic_done(host->node[k]);
		nic_measures_times(host->node[k]);
		nic_reload_is_done(host->node[k]);
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
			life_must("times",
				  pfc_rx_read(nic_pfc_rx(host->node[k]), prio, p->now_ns)
						  .duration_ns <= p->now_ns,
				  "priority %u of host %u was paused for longer than the run", prio,
				  h);
	}
	for (uint32_t id = 0; id < FLOWS; id++)
		if (p->flow[id].state[h] != ABSENT)
			read_flow(h, id);
	read_traces(h);
	life_must("count", s.tx_packets == host->sent && s.tx_bytes == host->sent_bytes,
		  "host %u counts %" PRIu64 " frames and %" PRIu64 " bytes sent, the cable %" PRIu64
		  " and %" PRIu64,
		  h, s.tx_packets, s.tx_bytes, host->sent, host->sent_bytes);
	life_must("count", s.np.np_cnp_sent == host->cnps_sent,
		  "host %u counts %" PRIu64 " CNPs sent, the cable %" PRIu64, h, s.np.np_cnp_sent,
		  host->cnps_sent);
	life_must("count", s.tx_pause_frames == host->pauses_sent,
		  "host %u counts %" PRIu64 " pause frames sent, the cable %" PRIu64, h,
		  s.tx_pause_frames, host->pauses_sent);
}

/* ---- the ends ---- */

static struct nic_flow_info
flow_info(unsigned int h, uint32_t id)
{
	struct nic_flow_info info = {0};

	for (uint32_t k = 0; k < p->n_nodes; k++)
		nic_flow_info(p->host[h].node[k], id, &info);
	return info;
}

void
watch_ended(uint32_t id)
{
	const struct pair_flow *f = &p->flow[id];
	const struct nic_qp_params *qp = &f->params[f->from];
	struct nic_flow_info a = flow_info(f->from, id), b = flow_info(1 - f->from, id);
	const struct nic_qp_info *in = qp->verb == NIC_READ ? &a.sum : &b.sum;

	life_must("once",
		  a.qps == f->n_qps && b.qps == f->n_qps && a.qps_done + a.qps_failed == a.qps,
		  "flow %u has ended, with %u and %u QPs of %u, %u of them done, %u in error", id,
		  a.qps, b.qps, f->n_qps, a.qps_done, a.qps_failed);
	life_must("once", qp->messages == 0 || a.sum.tx_messages <= qp->messages * a.qps,
		  "flow %u: %" PRIu64 " messages of %" PRIu64, id, a.sum.tx_messages,
		  qp->messages * a.qps);
	if (workload_is_fixed(&qp->work))
		life_must("once", a.sum.tx_payload_bytes == a.sum.tx_messages * qp->message_bytes,
			  "flow %u: %" PRIu64 " messages have %" PRIu64 " bytes", id,
			  a.sum.tx_messages, a.sum.tx_payload_bytes);
	if (qp->raw || qp->verb == NIC_UD_SEND)
		return;
	if (a.qps_failed == 0)
		life_must("once",
			  in->rx_messages == a.sum.tx_messages &&
				  in->rx_payload_bytes == a.sum.tx_payload_bytes,
			  "flow %u: %" PRIu64 " messages of %" PRIu64
			  " bytes are acknowledged, %" PRIu64 " of %" PRIu64 " came",
			  id, a.sum.tx_messages, a.sum.tx_payload_bytes, in->rx_messages,
			  in->rx_payload_bytes);
	else
		life_must("once", in->rx_messages >= a.sum.tx_messages,
			  "flow %u: %" PRIu64 " messages are acknowledged, %" PRIu64 " came", id,
			  a.sum.tx_messages, in->rx_messages);
}

void
watch_end(void)
{
	for (unsigned int h = 0; h < HOSTS; h++) {
		struct nic_stats s = sum_stats(h);
		uint64_t heard = s.rp.rp_cnp_handled + s.rp.rp_cnp_ignored;
		uint32_t unresolved;

		for (uint32_t k = 0; k < p->n_nodes; k++) {
			life_must("rest", nic_done(p->host[h].node[k]),
				  "host %u has no flow, and is not done", h);
			life_must("rest",
				  nic_neighbours(p->host[h].node[k], &unresolved) == 0 &&
					  unresolved == 0,
				  "host %u has no flow, and neighbours", h);
		}
		life_must("count",
			  s.rx_packets == p->host[h].arrived &&
				  s.rx_bytes == p->host[h].arrived_bytes,
			  "host %u counts %" PRIu64 " frames and %" PRIu64
			  " bytes received, the cable %" PRIu64 " and %" PRIu64,
			  h, s.rx_packets, s.rx_bytes, p->host[h].arrived,
			  p->host[h].arrived_bytes);
		/* Dropped ones have a name, but not as CNPs. */
		life_must("count",
			  heard <= p->host[h].cnps_arrived &&
				  (heard == p->host[h].cnps_arrived ||
				   s.drops[NIC_DROP_UNKNOWN_QP] + s.drops[NIC_DROP_WRONG_PEER] +
						   s.drops[NIC_DROP_NO_BUFFER] >=
					   p->host[h].cnps_arrived - heard),
			  "host %u: %" PRIu64 " CNPs handled and ignored, %" PRIu64 " came", h,
			  heard, p->host[h].cnps_arrived);
	}
}
