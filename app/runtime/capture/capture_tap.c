/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/capture/capture_tap.h"

#include <sched.h>
#include <stdio.h>
#include <rte_mbuf.h>

/* @return NULL: the capture has just ended. */
static struct capture_lane *
enter(struct capture_tap *tap)
{
	struct capture_lane *lane;

	/* Sequentially consistent, as capture_tap_disconnect(): one of the two sees the other. */
	atomic_store(&tap->busy, true);
	lane = atomic_load(&tap->lane);
	if (lane == NULL)
		atomic_store_explicit(&tap->busy, false, memory_order_release);
	return lane;
}

static void
leave(struct capture_tap *tap)
{
	atomic_store_explicit(&tap->busy, false, memory_order_release);
}

/* @return NULL: the frame is not kept, or lost. */
static struct capture_record *
put(struct capture_lane *lane, const struct rte_mbuf *m, enum pcapng_way way, uint64_t now_ns)
{
	static const int directions[] = {
		[PCAPNG_RECEIVED] = CAPTURE_RECEIVED,
		[PCAPNG_SENT] = CAPTURE_SENT,
		[PCAPNG_LOST] = CAPTURE_BOTH,
	};

	if ((lane->filter.direction != CAPTURE_BOTH && lane->filter.direction != directions[way]) ||
	    !capture_filter_keeps(&lane->filter, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len))
		return NULL;
	return capture_ring_put(&lane->ring, m, lane->snap_bytes, way, now_ns);
}

void
capture_intake_dropped(struct node_drops *drops, uint16_t port, const struct rte_mbuf *m,
		       const char *reason)
{
	struct capture_intake *in = (struct capture_intake *)drops;

	(void)port; /* all of them are of one port */
	for (uint16_t i = 0; i < in->n; i++)
		if (in->pkts[i] == m)
			snprintf(in->records[i]->why, NODE_WHY_CHARS, "dropped: %s", reason);
}

void
capture_tap_lost(struct capture_tap *tap, const struct capture_intake *in,
		 const struct node_lost_frame *frame)
{
	/* The tap is in use already while the node gets frames of its port. */
	bool is_taking = in->tap == tap;
	struct capture_lane *lane = is_taking ? in->lane : enter(tap);
	struct capture_record *record;
	struct capture_mark all;

	if (lane == NULL)
		return;
	record = put(lane, frame->m, PCAPNG_LOST, frame->now_ns);
	if (record != NULL)
		node_say_lost(frame, record->why);
	/* Records of received frames are published when it is known which of them are dropped. */
	if (is_taking)
		return;
	all = capture_ring_mark(&lane->ring);
	capture_ring_publish(&lane->ring, &all);
	leave(tap);
}

void
capture_tap_received(struct capture_tap *tap, struct capture_intake *in,
		     struct rte_mbuf *const *pkts, uint16_t n, uint64_t now_ns)
{
	in->lane = enter(tap);
	in->tap = tap;
	in->n = 0;
	for (uint16_t i = 0; in->lane != NULL && i < n; i++) {
		struct capture_record *record = put(in->lane, pkts[i], PCAPNG_RECEIVED, now_ns);

		if (record == NULL)
			continue;
		in->pkts[in->n] = pkts[i];
		in->records[in->n++] = record;
	}
	in->drops.wanted = in->n > 0;
}

void
capture_tap_taken(struct capture_tap *tap, struct capture_intake *in)
{
	struct capture_mark all;

	in->drops.wanted = false;
	in->tap = NULL;
	if (in->lane == NULL)
		return;
	all = capture_ring_mark(&in->lane->ring);
	capture_ring_publish(&in->lane->ring, &all);
	leave(tap);
}

void
capture_tap_offer(struct capture_tap *tap, struct capture_offer *offer,
		  struct rte_mbuf *const *pkts, uint16_t n, struct capture_sender from,
		  uint64_t now_ns)
{
	struct capture_lane *lane = enter(tap);

	offer->lane = lane;
	if (lane == NULL)
		return;
	offer->after[0] = capture_ring_mark(&lane->ring);
	for (uint16_t i = 0; i < n; i++) {
		struct capture_record *record = put(lane, pkts[i], PCAPNG_SENT, now_ns);

		if (record != NULL && from.node->ops->why != NULL)
			from.node->ops->why(from.node, from.port, pkts[i], record->why,
					    sizeof(record->why));
		offer->after[i + 1] = capture_ring_mark(&lane->ring);
	}
}

void
capture_tap_sent(struct capture_tap *tap, const struct capture_offer *offer, uint16_t n)
{
	if (offer->lane == NULL)
		return;
	capture_ring_publish(&offer->lane->ring, &offer->after[n]);
	leave(tap);
}

void
capture_tap_connect(struct capture_tap *tap, struct capture_lane *lane)
{
	atomic_store(&tap->lane, lane);
	if (tap->drops != NULL)
		__atomic_fetch_add(&tap->drops->egress_wanted, 1, __ATOMIC_RELAXED);
}

void
capture_tap_disconnect(struct capture_tap *tap)
{
	if (tap->drops != NULL)
		__atomic_fetch_sub(&tap->drops->egress_wanted, 1, __ATOMIC_RELAXED);
	atomic_store(&tap->lane, NULL);
	while (atomic_load(&tap->busy))
		sched_yield();
}
