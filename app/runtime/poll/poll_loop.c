/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/poll/poll_loop.h"

#include <assert.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include "base/numbers/fixed.h"
#include "base/threads/counter.h"
#include "node/pkt_meta.h"

static_assert(POLL_BURST <= CAPTURE_BURST, "a capture takes a whole burst");

/* Idle time before the first sleep, so that the loop spins between the frames of a busy port. */
#define IDLE_BEFORE_SLEEP_NS (20 * NS_PER_US)
/* Shorter sleeps cost more in system calls and late wake-ups than they save. */
#define SHORTEST_SLEEP_NS (5 * NS_PER_US)
/* Time that frames held by the loop get to leave when it stops. */
#define DRAIN_NS (20 * NS_PER_MS)

static void
on_lost(struct node_drops *drops, const struct node_lost_frame *frame)
{
	struct poll_loop *loop = (void *)((char *)drops - offsetof(struct poll_loop, intake.drops));
	struct capture_tap *tap = &loop->ports[frame->port].tap;

	if (capture_tap_is_on(tap))
		capture_tap_lost(tap, &loop->intake, frame);
}

void
poll_loop_init(struct poll_loop *loop, struct node *node, const uint16_t *ethdevs, uint16_t n_ports,
	       const struct tsc_clock *clock, const atomic_bool *stop)
{
	memset(loop, 0, sizeof(*loop));
	loop->node = node;
	loop->clock = clock;
	loop->stop = stop;
	loop->idle_since_ns = NEVER_NS;
	loop->slow_next_ns = NEVER_NS;
	loop->n_ports = n_ports;
	loop->n_polled = n_ports;
	loop->intake.drops.dropped = capture_intake_dropped;
	loop->intake.drops.lost = on_lost;
	if (node->ops->watch_drops != NULL)
		node->ops->watch_drops(node, &loop->intake.drops);
	for (uint16_t i = 0; i < n_ports; i++) {
		loop->ports[i].ethdev = ethdevs[i];
		loop->ports[i].tap.drops = &loop->intake.drops;
		loop->polled[i] = i;
	}
	poll_loop_use_queues(loop, &(struct poll_queues){.rx_step = 1, .rx_end = 1});
}

void
poll_loop_use_queues(struct poll_loop *loop, const struct poll_queues *queues)
{
	for (uint16_t i = 0; i < loop->n_ports; i++) {
		struct poll_port *p = &loop->ports[i];

		p->queues = *queues;
		p->data.queue = queues->data;
		p->control.queue = queues->control;
	}
}

void
poll_loop_use_ports(struct poll_loop *loop, uint64_t ports)
{
	loop->n_polled = 0;
	for (; ports != 0; ports &= ports - 1)
		loop->polled[loop->n_polled++] = (uint16_t)__builtin_ctzll(ports);
}

/* The capture has the frames only after the node has said which of them it drops. */
static __rte_noinline void
give_and_capture(struct poll_loop *loop, uint16_t port, struct rte_mbuf **pkts, uint16_t n,
		 uint64_t now_ns)
{
	struct capture_tap *tap = &loop->ports[port].tap;

	capture_tap_received(tap, &loop->intake, pkts, n, now_ns);
	loop->node->ops->rx(loop->node, port, pkts, n, now_ns);
	capture_tap_taken(tap, &loop->intake);
}

static uint16_t
receive_from(struct poll_loop *loop, uint16_t port, uint16_t queue, uint64_t *now_ns)
{
	struct rte_mbuf *pkts[POLL_BURST];
	struct poll_port *p = &loop->ports[port];
	uint16_t n = rte_eth_rx_burst(p->ethdev, queue, pkts, POLL_BURST);

	/* Read the clock after the burst, so that no frame has a time before its arrival. */
	*now_ns = tsc_clock_now(loop->clock);
	if (n == 0)
		return 0;
	if (capture_tap_is_on(&p->tap))
		give_and_capture(loop, port, pkts, n, *now_ns);
	else
		loop->node->ops->rx(loop->node, port, pkts, n, *now_ns);
	return n;
}

static uint32_t
receive(struct poll_loop *loop, uint16_t port, uint64_t *now_ns)
{
	const struct poll_queues *q = &loop->ports[port].queues;
	uint32_t n = 0;

	if (unlikely(q->rx_first >= q->rx_end))
		*now_ns = tsc_clock_now(loop->clock);
	for (uint16_t queue = q->rx_first; queue < q->rx_end; queue += q->rx_step)
		n += receive_from(loop, port, queue, now_ns);
	return n;
}

/* Reads the due times before it offers the frames, because the device may free them at any time. */
static uint16_t
offer_and_measure(struct poll_loop *loop, uint16_t ethdev, struct poll_txq *q)
{
	uint64_t due_ns[POLL_BURST];
	uint16_t held = poll_txq_held(q), n;
	uint64_t now_ns;

	for (uint16_t i = 0; i < held; i++)
		due_ns[i] = pkt_meta(q->held[q->first + i])->due_ns;
	n = rte_eth_tx_burst(ethdev, q->queue, q->held + q->first, held);
	now_ns = tsc_clock_now(loop->clock);
	for (uint16_t i = 0; i < n; i++)
		pace_meter_departure(loop->pace, due_ns[i], now_ns);
	return n;
}

static uint16_t
offer(struct poll_loop *loop, uint16_t ethdev, struct poll_txq *q)
{
	if (loop->pace != NULL)
		return offer_and_measure(loop, ethdev, q);
	return rte_eth_tx_burst(ethdev, q->queue, q->held + q->first, poll_txq_held(q));
}

/* Copies the frames before it offers them, because the device may free them at any time. */
static uint16_t
offer_and_capture(struct poll_loop *loop, struct poll_port *p, struct poll_txq *q)
{
	struct capture_offer offered;
	uint16_t n;

	capture_tap_offer(&p->tap, &offered, q->held + q->first, poll_txq_held(q),
			  (struct capture_sender){loop->node, (uint16_t)(p - loop->ports)},
			  tsc_clock_now(loop->clock));
	n = offer(loop, p->ethdev, q);
	capture_tap_sent(&p->tap, &offered, n);
	return n;
}

static uint16_t
offer_held(struct poll_loop *loop, struct poll_port *p, struct poll_txq *q)
{
	uint16_t n = capture_tap_is_on(&p->tap) ? offer_and_capture(loop, p, q)
						: offer(loop, p->ethdev, q);

	q->first += n;
	if (q->first == q->end)
		q->first = q->end = 0;
	else
		q->refusals++;
	return n;
}

static bool
is_tagged(const struct rte_mbuf *m)
{
	const struct rte_ether_hdr *h = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);

	return h->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
}

/* Drop the new frames that the kernel would drop in silence. */
static __rte_noinline void
drop_long(struct poll_port *p, struct poll_txq *q, uint32_t most_bytes)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < q->end; i++) {
		struct rte_mbuf *m = q->held[i];

		if (m->pkt_len <= most_bytes + (is_tagged(m) ? RTE_VLAN_HLEN : 0)) {
			q->held[kept++] = m;
			continue;
		}
		counter_inc(&p->mtu_drops);
		rte_pktmbuf_free(m);
	}
	q->end = kept;
}

/* Offer a queue the frames that it refused before, then new ones from the node. */
static uint16_t
transmit_to(struct poll_loop *loop, uint16_t port, struct poll_txq *q, uint64_t now_ns)
{
	const struct node_ops *ops = loop->node->ops;
	struct poll_port *p = &loop->ports[port];
	uint32_t most_bytes;
	uint16_t n = 0;

	if (poll_txq_held(q) > 0)
		n = offer_held(loop, p, q);
	if (poll_txq_held(q) > 0) {
		/*
		 * Do not call tx(), but serve the requests of other threads to the node: a device
		 * without a link may never take a frame again.
		 */
		ops->rx(loop->node, port, NULL, 0, now_ns);
		return n;
	}
	q->end = q == &p->data ? ops->tx(loop->node, port, q->held, POLL_BURST, now_ns)
			       : ops->tx_control(loop->node, port, q->held, POLL_BURST, now_ns);
	most_bytes = p->limit == NULL ? 0 : port_link_most_bytes(p->limit);
	if (unlikely(most_bytes != 0))
		drop_long(p, q, most_bytes);
	if (q->end > 0)
		n += offer_held(loop, p, q);
	return n;
}

static uint32_t
transmit(struct poll_loop *loop, uint16_t port, uint64_t now_ns)
{
	struct poll_port *p = &loop->ports[port];
	uint32_t n = 0;

	if (unlikely(p->link != NULL && port_link_is_down(p->link))) {
		/* Also while the link is down, serve the requests of other threads to the node. */
		loop->node->ops->rx(loop->node, port, NULL, 0, now_ns);
		return 0;
	}
	if (p->queues.control_apart)
		n = transmit_to(loop, port, &p->control, now_ns);
	return n + transmit_to(loop, port, &p->data, now_ns);
}

/* May gated ports be used in this round? */
static bool
pass_gate(struct poll_loop *loop)
{
	return loop->gate == NULL || intr_gate_pass(loop->gate, loop->gate_poller);
}

static void
drop_held(struct poll_port *p, struct poll_txq *q)
{
	counter_add(&p->removal_drops, poll_txq_held(q));
	rte_pktmbuf_free_bulk(q->held + q->first, poll_txq_held(q));
	q->first = q->end = 0;
}

/* Devices of these ports were removed: use them no longer, and say so to the control thread. */
static void
let_go(struct poll_loop *loop, uint64_t removed)
{
	for (uint64_t ports = removed; ports != 0; ports &= ports - 1) {
		struct poll_port *p = &loop->ports[__builtin_ctzll(ports)];

		p->gone = true;
		drop_held(p, &p->control);
		drop_held(p, &p->data);
	}
	atomic_store_explicit(&loop->let_go, removed, memory_order_release);
}

static void
look_for_removals(struct poll_loop *loop)
{
	uint64_t removed;

	if (loop->removed == NULL)
		return;
	removed = atomic_load_explicit(loop->removed, memory_order_relaxed);
	if (unlikely(removed != atomic_load_explicit(&loop->let_go, memory_order_relaxed)))
		let_go(loop, removed);
}

uint32_t
poll_loop_round(struct poll_loop *loop)
{
	bool gate_is_open = pass_gate(loop);
	uint32_t moved = 0;

	look_for_removals(loop);

	if (loop->pace != NULL)
		pace_meter_round(loop->pace, tsc_clock_now(loop->clock));
	for (uint16_t i = 0; i < loop->n_polled; i++) {
		uint16_t port = loop->polled[i];
		uint64_t now_ns;

		if (unlikely((!gate_is_open && loop->ports[port].gated) ||
			     loop->ports[port].gone)) {
			/* Treat this port like one whose link is down. */
			loop->node->ops->rx(loop->node, port, NULL, 0, tsc_clock_now(loop->clock));
			continue;
		}
		moved += receive(loop, port, &now_ns);
		moved += transmit(loop, port, now_ns);
	}
	return moved;
}

static void
sleep_ns(uint64_t ns)
{
	struct timespec t = {
		.tv_sec = (time_t)(ns / NS_PER_SEC),
		.tv_nsec = (long)(ns % NS_PER_SEC),
	};

	/* A signal may end the sleep early. */
	(void)nanosleep(&t, NULL);
}

/* Earliest time at which there is work without an arriving frame. A port with refused frames does
 * not count: they wait for the device, and the next round offers them again. Nor does a port whose
 * device was removed. */
static uint64_t
next_work_ns(const struct poll_loop *loop)
{
	uint64_t next = loop->slow_next_ns;

	for (uint16_t i = 0; i < loop->n_polled; i++) {
		uint16_t port = loop->polled[i];

		if (poll_port_held(&loop->ports[port]) == 0 && !loop->ports[port].gone)
			next = min_u64(next, loop->node->ops->next_ns(loop->node, port));
	}
	return next;
}

static void
rest(struct poll_loop *loop, uint64_t now_ns)
{
	uint64_t due_ns, wait;

	if (loop->idle_since_ns == NEVER_NS)
		loop->idle_since_ns = now_ns;
	if (now_ns - loop->idle_since_ns < IDLE_BEFORE_SLEEP_NS) {
		rte_pause();
		return;
	}
	due_ns = next_work_ns(loop);
	wait = poll_wake_sleep_ns(&loop->wake, due_ns, loop->idle_sleep_ns, now_ns);
	if (wait < SHORTEST_SLEEP_NS) {
		rte_pause();
		return;
	}
	loop->sleeps++;
	loop->due_ns = due_ns;
	sleep_ns(wait);
	poll_wake_woke(&loop->wake, sub_sat(tsc_clock_now(loop->clock), now_ns + wait));
}

static void
drain_queue(struct poll_loop *loop, struct poll_port *p, struct poll_txq *q, uint64_t end_ns)
{
	while (poll_txq_held(q) > 0 && tsc_clock_now(loop->clock) < end_ns) {
		if (pass_gate(loop) || !p->gated)
			offer_held(loop, p, q);
		rte_pause();
	}
	rte_pktmbuf_free_bulk(q->held + q->first, poll_txq_held(q));
}

/* The loop has stopped: offer the frames already taken from the node to the device. */
static void
drain(struct poll_loop *loop)
{
	uint64_t end_ns = tsc_clock_now(loop->clock) + DRAIN_NS;

	for (uint16_t port = 0; port < loop->n_ports; port++) {
		struct poll_port *p = &loop->ports[port];

		drain_queue(loop, p, &p->control, end_ns);
		drain_queue(loop, p, &p->data, end_ns);
	}
}

void
poll_loop_run(struct poll_loop *loop)
{
	/* The kernel rounds sleeps up by its timer slack, 50 us by default. */
	if (loop->idle_sleep_ns > 0)
		prctl(PR_SET_TIMERSLACK, 1ul);
	if (loop->gate != NULL)
		intr_gate_join(loop->gate, loop->gate_poller);
	while (!atomic_load_explicit(loop->stop, memory_order_relaxed)) {
		uint32_t moved = poll_loop_round(loop);
		uint64_t now_ns = tsc_clock_now(loop->clock);

		poll_gap_add(&loop->gap, moved > 0, loop->due_ns, now_ns);
		loop->due_ns = 0;
		if (now_ns >= loop->slow_next_ns)
			loop->slow_next_ns = loop->slow(loop->slow_arg, now_ns);
		if (moved > 0)
			loop->idle_since_ns = NEVER_NS;
		else if (loop->idle_sleep_ns > 0)
			rest(loop, now_ns);
	}
	drain(loop);
	if (loop->gate != NULL)
		intr_gate_leave(loop->gate, loop->gate_poller);
}
