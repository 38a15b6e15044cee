/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/io/nic_tx.h"

#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "nic/change/requests.h"
#include "nic/core/core.h"
#include "nic/frames/frames.h"
#include "nic/io/nic_io.h"
#include "nic/jobs/job_ranks.h"
#include "nic/measure/measure.h"
#include "nic/np/echo.h"
#include "nic/np/nic_np.h"
#include "nic/place/place.h"
#include "nic/port/nic_pause.h"
#include "nic/port/share.h"
#include "nic/neighbour/nic_resolve.h"
#include "node/pkt_meta.h"

/*
 * Control mbufs of one call: taken in bulk when one is needed; the rest is put back. Like data
 * mbufs, they have one segment and one owner.
 */
struct stock {
	struct rte_mbuf *m[NIC_BURST];
	uint16_t next, end;
	/* number to take next; grows, so that a call with one frame takes only one */
	uint16_t batch;
};

static inline void
stock_init(struct stock *stock)
{
	stock->next = stock->end = 0;
	stock->batch = 1;
}

static struct rte_mbuf *
take_control_mbuf(struct nic *nic, struct stock *stock, uint64_t now_ns)
{
	if (unlikely(stock->next == stock->end)) {
		void **to = (void **)stock->m;
		unsigned int n = stock->batch;

		if (rte_mempool_get_bulk(nic->mbufs.control, to, n) != 0 &&
		    rte_mempool_get_bulk(nic->mbufs.control, to, n = 1) != 0) {
			nic_no_mbuf(nic, now_ns);
			return NULL;
		}
		stock->next = 0;
		stock->end = (uint16_t)n;
		stock->batch = (uint16_t)RTE_MIN(8 * n, (unsigned int)NIC_BURST);
	}
	return stock->m[stock->next++];
}

static void
stock_give_back(const struct nic *nic, const struct stock *stock)
{
	if (stock->next < stock->end)
		rte_mempool_put_bulk(nic->mbufs.control, (void *const *)&stock->m[stock->next],
				     stock->end - stock->next);
}

/* Count and charge a frame other than data. */
static void
charge(struct nic *nic, struct rte_mbuf *m, uint64_t now_ns)
{
	if (unlikely(nic->due_ns != NULL))
		pkt_meta(m)->due_ns = 0;
	counter_inc(&nic->stats.tx_packets);
	counter_add(&nic->stats.tx_bytes, frame_bytes(m->pkt_len));
	nic_charge(nic, wire_bytes(m->pkt_len), now_ns);
}

/*
 * Offset of the ICRC of a CNP, ACK or NAK. The ICRC ends a cache line, so that an ACK over IPv4 is
 * in one line. The headers are before it; the longest ones leave 90 bytes of headroom.
 */
#define CONTROL_ICRC_OFFSET                                                                        \
	(RTE_ALIGN_FLOOR(RTE_PKTMBUF_HEADROOM + ROCE_MAX_HDR_BYTES + ICRC_BYTES,                   \
			 RTE_CACHE_LINE_SIZE) -                                                    \
	 ICRC_BYTES)
static_assert(CONTROL_ICRC_OFFSET >= ROCE_MAX_HDR_BYTES + 64, "there is headroom left");
static_assert(CONTROL_ICRC_OFFSET >= 14 + 4 + 40 + 8 + BTH_BYTES + AETH_BYTES + INT_MAX_BYTES,
	      "an ACK has room for an INT header");

static inline uint8_t *
icrc_of(struct rte_mbuf *m)
{
	return (uint8_t *)m->buf_addr + CONTROL_ICRC_OFFSET;
}

/* Send a frame that has been written, with hdr_bytes before the ICRC. */
static inline void
send_control(struct nic *nic, struct rte_mbuf *m, unsigned int hdr_bytes, uint64_t now_ns)
{
	/* The shortest frame, an ACK over IPv4, has 62 bytes, so no frame must be padded to 60. */
	assert(hdr_bytes + ICRC_BYTES >= MIN_FRAME_BYTES - FCS_BYTES);
	m->data_off = (uint16_t)(CONTROL_ICRC_OFFSET - hdr_bytes);
	m->ol_flags = 0;
	m->data_len = (uint16_t)(hdr_bytes + ICRC_BYTES);
	m->pkt_len = m->data_len;
	charge(nic, m, now_ns);
}

static struct rte_mbuf *
send_cnp(struct nic *nic, struct stock *stock, uint8_t queue, uint64_t now_ns)
{
	uint32_t item = nic->cnps.list[queue].head;
	struct nic_qp *qp = &nic->qps[item];
	struct roce_ends ends = nic_ends(nic, item, qp);
	struct rte_mbuf *m = take_control_mbuf(nic, stock, now_ns);
	unsigned int hdr_bytes;
	uint8_t *body;

	if (m == NULL)
		return NULL;
	nic_queues_pop(nic, &nic->cnps, queue, offsetof(struct nic_qp, cnp_link));
	nic_prefetch_control(nic, nic->cnps.list[queue].head);
	ends.dest_qp |= ROCE_SHAPE_BECN;
	body = icrc_of(m) - CNP_BODY_BYTES;
	hdr_bytes = roce_shape_stamp_cnp(&nic_flow_of(nic, qp)->cnp, &ends,
					 nic_np_value(nic->np, item), body);
	send_control(nic, m, hdr_bytes + CNP_BODY_BYTES, now_ns);
	qp->rx_flags &= (uint8_t)~QP_RX_OWES_CNP;
	nic->tallies[item].cnps_sent++;
	counter_inc(&nic->stats.np.np_cnp_sent);
	return m;
}

/* Add echoes to an ACK or NAK with this AETH. @return bytes by which it became longer. */
static __rte_noinline unsigned int
add_echo(struct nic_echo *echo, uint8_t *aeth, unsigned int hdr_bytes)
{
	unsigned int bytes = 0;

	if (echo->ce)
		roce_shape_set_becn(aeth);
	if (echo->has_int)
		bytes = nic_echo_insert(echo, aeth - hdr_bytes);
	echo->ce = echo->has_int = false;
	return bytes;
}

/* Send the ACK or NAK that is owed. It acknowledges all packets received so far. */
static struct rte_mbuf *
send_ack(struct nic *nic, struct stock *stock, uint8_t queue, uint64_t now_ns)
{
	static const uint8_t syndromes[] = {
		[QP_OWES_ACK] = AETH_ACK,
		[QP_OWES_NAK_SEQ] = AETH_NAK_PSN_SEQ,
		[QP_OWES_NAK_INVALID] = AETH_NAK_INVALID_REQUEST,
		[QP_OWES_NAK_ACCESS] = AETH_NAK_REMOTE_ACCESS,
		[QP_OWES_RNR_NAK] = AETH_RNR_NAK,
	};
	uint32_t item = nic->acks.list[queue].head;
	struct nic_qp *qp = &nic->qps[item];
	/* Do not acknowledge READs that are not answered yet. */
	uint32_t seq = qp->flags & QP_SERVES ? qp->next_seq : (uint32_t)qp->rx_seq;
	bool rnr = qp->owed == QP_OWES_RNR_NAK;
	uint32_t syndrome = syndromes[qp->owed] | (rnr ? nic->params.min_rnr_timer : 0u);
	uint32_t msn = (uint32_t)nic->tallies[item].rx_messages & 0xFFFFFFu;
	struct roce_ends ends = nic_ends(nic, item, qp);
	struct rte_mbuf *m = take_control_mbuf(nic, stock, now_ns);
	unsigned int hdr_bytes;

	if (m == NULL)
		return NULL;
	nic_queues_pop(nic, &nic->acks, queue, offsetof(struct nic_qp, ack_link));
	nic_prefetch_control(nic, nic->acks.list[queue].head);
	hdr_bytes = roce_shape_stamp_ack(&nic_flow_of(nic, qp)->ack, &ends,
					 seq - (qp->owed == QP_OWES_ACK), syndrome << 24 | msn,
					 icrc_of(m) - AETH_BYTES);
	if (unlikely(nic->echoes != NULL))
		hdr_bytes += add_echo(&nic->echoes[item], icrc_of(m) - AETH_BYTES, hdr_bytes);
	send_control(nic, m, hdr_bytes + AETH_BYTES, now_ns);
	counter_inc(qp->owed == QP_OWES_ACK ? &nic->stats.acks_sent : &nic->stats.naks_sent);
	nic_measure_answer_sent(nic, item, qp->owed == QP_OWES_ACK);
	if (rnr)
		counter_inc(&nic->stats.rnr_naks_sent);
	qp->owed = QP_OWES_NOTHING;
	return m;
}

static struct rte_mbuf *
send_pause(struct nic *nic, uint64_t now_ns)
{
	/* Allocate first: nic_pause_build() counts the frame as sent. */
	struct rte_mbuf *m = nic_take_mbuf(nic, nic->mbufs.control, now_ns);

	if (m == NULL)
		return NULL;
	nic_pause_build(nic, m, now_ns);
	charge(nic, m, now_ns);
	return m;
}

static struct rte_mbuf *
next_control(struct nic *nic, struct stock *stock, uint64_t now_ns)
{
	uint8_t open_queues = (uint8_t)~nic->pause->paused_queues;
	uint8_t cnps = nic->cnps.backlogged & open_queues;
	uint8_t acks = nic->acks.backlogged & open_queues;
	struct rte_mbuf *m = NULL;

	if (unlikely(nic->pause->sends_pause) && nic_pause_due(nic, now_ns))
		m = send_pause(nic, now_ns);
	if (m == NULL && cnps != 0 && nic_np_may_leave(nic, now_ns))
		m = send_cnp(nic, stock, (uint8_t)__builtin_ctz(cnps), now_ns);
	if (m == NULL && acks != 0)
		m = send_ack(nic, stock, (uint8_t)__builtin_ctz(acks), now_ns);
	return m;
}

/* May next_control() return a frame? */
static bool
owes_control(const struct nic *nic)
{
	return nic->cnps.backlogged != 0 || nic->acks.backlogged != 0 || nic->pause->sends_pause;
}

/* The next frame that leaves before data. */
static struct rte_mbuf *
next_before_data(struct nic *nic, struct stock *stock, uint8_t open_queues, uint64_t now_ns)
{
	struct rte_mbuf *m = NULL;

	if (likely(!nic->control_apart) && owes_control(nic))
		m = next_control(nic, stock, now_ns);
	if (m == NULL && unlikely(nic_resolve_has_frame(nic)) &&
	    open_queues >> nic->neighbours->plain_queue & 1) {
		m = nic_resolve_frame(nic, now_ns);
		if (m != NULL)
			charge(nic, m, now_ns);
	}
	if (m == NULL && unlikely(nic->frames != NULL)) {
		m = nic_frames_next(nic, open_queues, now_ns);
		if (m != NULL)
			charge(nic, m, now_ns);
	}
	return m;
}

/*
 * Send the frames that the wire can take now, at most max_pkts. Control frames come first: sending
 * data makes none due.
 */
static __rte_always_inline uint16_t
give(struct nic *nic, struct rte_mbuf **pkts, uint16_t max_pkts, uint64_t now_ns)
{
	uint8_t open_queues = (uint8_t)~nic->pause->paused_queues;
	struct stock stock;
	uint16_t n = 0;

	stock_init(&stock);
	while (n < max_pkts && nic_wire_is_free(nic, now_ns)) {
		struct rte_mbuf *m = next_before_data(nic, &stock, open_queues, now_ns);

		if (m == NULL) {
			n += nic_send_data(nic, open_queues, pkts + n, (uint16_t)(max_pkts - n),
					   now_ns);
			break;
		}
		pkts[n++] = m;
	}
	stock_give_back(nic, &stock);
	return n;
}

uint16_t
nic_tx_control(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	       uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	struct stock stock;
	struct rte_mbuf *m;
	uint16_t n = 0;

	assert(port == 0 && nic->control_apart);
	(void)port;
	if (nic->share != NULL)
		nic_rx_crossed(nic, now_ns);
	if (nic_np_next_ns(nic->np) <= now_ns)
		nic_np_run(nic, now_ns);
	if (!owes_control(nic))
		return 0;
	token_bucket_update(&nic->wire.shaper, now_ns);
	if (nic->pause->paused_prios != 0)
		nic_pause_update(nic, now_ns);
	nic_reserve_turn(nic, now_ns);
	stock_init(&stock);
	while (n < max_pkts && nic_wire_is_free(nic, now_ns)) {
		m = next_control(nic, &stock, now_ns);
		if (m == NULL)
			break;
		pkts[n++] = m;
	}
	stock_give_back(nic, &stock);
	return n;
}

void
nic_send_control_apart(struct node *node)
{
	nic_of(node)->control_apart = true;
}

uint16_t
nic_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	uint16_t n;
	bool more_due;

	assert(port == 0);
	(void)port;
	if (nic->share != NULL)
		nic_rx_crossed(nic, now_ns);
	if (unlikely(nic->measure->n_gaps > 0))
		nic_measure_gaps(nic);
	token_bucket_update(&nic->wire.shaper, now_ns);
	if (!token_bucket_can_send(&nic->wire.shaper))
		return 0;
	nic->mbufs.retry_ns = 0;
	/* Before nic_resolve_run(): a new flow may add a neighbour to resolve. */
	nic_do_requests(nic, now_ns);
	if (unlikely(nic_resolve_run_ns(nic) <= now_ns))
		nic_resolve_run(nic, now_ns);
	if (unlikely(nic->job_next_ns <= now_ns))
		nic_job_run(nic, now_ns);
	nic_flush(nic);
	if (nic->pause->paused_prios != 0)
		nic_pause_update(nic, now_ns);
	nic_reserve_turn(nic, now_ns);
	/* A call that returns nothing must have processed all due work, so that next_ns() > now. */
	do {
		more_due = nic_release(nic, now_ns);
		n = give(nic, pkts, max_pkts, now_ns);
	} while (n == 0 && more_due);
	nic_flush(nic);
	return n;
}

/* Time of the next work of address resolution. */
static uint64_t
resolve_next_ns(const struct nic *nic)
{
	const struct nic_neighbours *n = nic->neighbours;

	if (unlikely(n->scan_left > 0))
		return 0;
	if (likely(!nic_resolve_has_frame(nic)))
		return neigh_next_ns(n->table);
	if (nic->pause->paused_queues >> n->plain_queue & 1)
		return pfc_rx_next_ns(&nic->pause->pfc_rx);
	return nic->mbufs.retry_ns;
}

uint64_t
nic_next_ns(const struct node *node, uint16_t port)
{
	const struct nic *nic = nic_of_const(node);
	uint8_t frames = nic->acks.backlogged | nic->ready.backlogged;
	uint8_t open_queues = (uint8_t)~nic->pause->paused_queues;
	uint64_t next_ns = min_u64(timing_wheel_next_ns(nic->wheel), nic_np_next_ns(nic->np));

	assert(port == 0);
	(void)port;
	next_ns = min_u64(next_ns, resolve_next_ns(nic));
	if (unlikely(nic_has_requests(nic)))
		next_ns = min_u64(next_ns, nic_requests_next_ns(nic));
	if (unlikely(nic->removing->head != FLOW_NONE))
		next_ns = min_u64(next_ns, nic->removing->look_ns);
	if (frames & open_queues)
		next_ns = min_u64(next_ns, nic->mbufs.retry_ns);
	else if (unlikely(frames | nic->cnps.backlogged))
		next_ns = min_u64(next_ns, pfc_rx_next_ns(&nic->pause->pfc_rx));
	if (nic->cnps.backlogged & open_queues)
		next_ns = min_u64(next_ns, max_u64(nic->mbufs.retry_ns, nic->np->gate_ns));
	if (nic->timers.busy != 0)
		next_ns = min_u64(next_ns, nic_timers_next_ns(&nic->timers));
	if (unlikely(nic->pause->sends_pause))
		next_ns = min_u64(next_ns, nic_pause_next_ns(nic));
	if (unlikely(nic->frames != NULL))
		next_ns = min_u64(next_ns, nic_frames_next_ns(nic));
	next_ns = min_u64(next_ns, nic->job_next_ns);
	if (unlikely(nic->share != NULL) && nic_share_waits(nic))
		return 0;
	if (next_ns == NEVER_NS)
		return NEVER_NS;
	next_ns = max_u64(next_ns, nic->wire.from_ns);
	/* tx() does nothing before the wire is free. */
	return max_u64(next_ns, token_bucket_next_ns(&nic->wire.shaper));
}
