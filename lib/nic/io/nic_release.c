/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that becomes due at a time: QPs in the wheel, retransmission timers, windows of the
 * notification point.
 *
 * Invariant: if nic_release() returns false, nothing is due at now_ns any more.
 */
#include "nic/io/nic_io.h"

#include <string.h>

#include "base/numbers/array.h"
#include "nic/core/core.h"
#include "nic/np/nic_np.h"
#include "nic/rate/nic_cc.h"
#include "nic/place/place.h"
#include "nic/rate/version.h"
#include "nic/transport/requester.h"

/* Prefetch distance: at least a few times the latency of memory, and four times the time between
 * two calls. */
#define AHEAD_MIN_NS NS_PER_US
#define AHEAD_MAX_NS (16 * NS_PER_US)

/* May a QP start now? If not, the QP is put back into the wheel. */
static bool
may_start(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	const struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);

	/* A QP of a flow that is being removed must start, because only a started QP can end. */
	if (flow->life == FLOW_REMOVING)
		return true;
	if (qp->bucket.updated_ns > now_ns) {
		nic_settle(nic, item, now_ns);
		return false;
	}
	/* The QP starts after its flow has resumed, with the initial rate of that time. */
	if (flow->stopped && qp->flags & QP_REQUESTER) {
		nic_make_paced(nic, item, nic_stopped_look_ns(nic, now_ns));
		return false;
	}
	return true;
}

/* Release a QP, in the general case. */
static __rte_noinline void
release_other(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (!(qp->flags & QP_STARTED)) {
		if (!may_start(nic, item, now_ns))
			return;
		nic_start(nic, item, now_ns);
	} else if (now_ns >= qp->cc.head.next_event_ns)
		nic_cc_catch_up(nic, item, now_ns);
	token_account_update(&qp->bucket, nic->qp_burst_nanobits, now_ns);
	if (nic_has_packet(qp) && token_account_can_send(&qp->bucket))
		nic_make_ready(nic, item, qp);
	else
		nic_settle(nic, item, now_ns);
}

/* Run the events of a QP's congestion control. Has it still the tokens for which it waited? */
static inline bool
can_send_after_events(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	nic_cc_catch_up(nic, item, now_ns);
	token_account_update(&qp->bucket, nic->qp_burst_nanobits, now_ns);
	return token_account_can_send(&qp->bucket);
}

/*
 * A QP that has a packet was released for an event, and has still to wait for tokens: put it back.
 * As nic_settle(), without what release_run() has checked. @return false: it has not to wait.
 */
static inline bool
wait_on(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t deadline_ns;

	/* A cut may have made the window smaller. */
	if (unlikely(!qp_in_window(qp)) ||
	    !nic_must_wait(qp, nic_flow_of(nic, qp), nic_wire_free_ns(nic, now_ns), &deadline_ns))
		return false;
	qp->place = QP_PACED;
	nic_make_paced(nic, item, deadline_ns);
	return true;
}

/*
 * Append the first QPs of a list that waited for tokens only, and have one queue, to its ready
 * ring. If a cut has made a wait longer, send_queue() notices it.
 * @return their number, with those that wait on.
 */
static inline uint32_t
release_run(struct nic *nic, const uint32_t *items, uint32_t n, uint64_t now_ns)
{
	const uint16_t states = QP_STARTED | QP_ERROR | QP_DONE | QP_UNRESOLVED | QP_RNR;
	const struct nic_qp *const qps = nic->qps;
	const struct qp_flow *const flows = nic->flows;
	const uint8_t version = nic->version;
	uint32_t flow = qps[items[0]].flow, done;
	const uint8_t queue = flows[flow].data_queue;
	struct qp_ring *ring = &nic->ready.ring[queue];
	uint32_t *const ring_items = ring->items;
	const uint32_t mask = ring->mask;
	uint32_t tail = ring->tail;

	for (done = 0; done < n; done++) {
		const struct nic_qp *qp = &qps[items[done]];

		if (unlikely(qp->flow != flow)) {
			flow = qp->flow;
			if (flows[flow].data_queue != queue)
				break;
		}
		if (unlikely(qp->version != version) ||
		    unlikely((qp->flags & states) != QP_STARTED) ||
		    unlikely(qp->left_packets == 0) || unlikely(!qp_in_window(qp)))
			break;
		if (now_ns >= qp->cc.head.next_event_ns &&
		    !can_send_after_events(nic, items[done], now_ns)) {
			if (!wait_on(nic, items[done], now_ns))
				break;
			continue;
		}
		ring_items[tail++ & mask] = items[done];
	}
	if (tail == ring->tail)
		return done;
	ring->tail = tail;
	nic->ready.backlogged |= (uint8_t)(1u << queue);
	node_wake(&nic->node, 0);
	return done;
}

static void
release(struct nic *nic, const uint32_t *items, uint32_t n, uint64_t now_ns)
{
	for (uint32_t i = 0; i < n; i++) {
		i += release_run(nic, items + i, n - i, now_ns);
		if (i == n)
			return;
		nic_touch(nic, items[i], &nic->qps[items[i]]);
		release_other(nic, items[i], now_ns);
	}
}

/* List the QPs of the next calls. send_queue() prefetches them. */
static void
list_upcoming(struct nic *nic, uint64_t now_ns)
{
	struct nic_upcoming *u = &nic->upcoming;
	uint64_t ahead_ns =
		min_u64(max_u64(4 * (now_ns - u->listed_ns), AHEAD_MIN_NS), AHEAD_MAX_NS);
	uint32_t left = u->n - u->next;

	memmove(u->item, u->item + u->next, left * sizeof(u->item[0]));
	u->next = 0;
	u->n = left + timing_wheel_upcoming(nic->wheel, u->item + left, ARRAY_LEN(u->item) - left,
					    now_ns + ahead_ns);
	u->listed_ns = now_ns;
}

/* @return as nic_release(). */
static __rte_noinline bool
fire_timers(struct nic *nic, uint64_t now_ns)
{
	uint32_t items[NIC_BURST];
	uint32_t n = nic_timers_advance(&nic->timers, nic->qps, items, NIC_BURST, now_ns);

	for (uint32_t i = 0; i < n; i++)
		nic_on_timer(nic, items[i], now_ns);
	return n == NIC_BURST;
}

bool
nic_release(struct nic *nic, uint64_t now_ns)
{
	uint32_t items[NIC_BURST];
	uint32_t n = timing_wheel_advance(nic->wheel, items, NIC_BURST, now_ns);
	bool more = n == NIC_BURST, cached = nic->n_qps <= NIC_CACHED_QPS;

	for (uint32_t i = 0; i < n && !cached; i++)
		nic_prefetch(nic, items[i]);
	release(nic, items, n, now_ns);
	if (n > 0 && !cached)
		list_upcoming(nic, now_ns);
	if (nic->timers.busy != 0 && unlikely(nic_timers_may_be_due(&nic->timers, now_ns)))
		more |= fire_timers(nic, now_ns);
	if (nic_np_next_ns(nic->np) <= now_ns)
		nic_np_run(nic, now_ns);
	return more;
}
