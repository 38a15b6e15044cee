/* SPDX-License-Identifier: BSD-3-Clause */
/* The way in, burst by burst: MAC control, parse, forward, admit. */
#include <string.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "switch/sw_rx.h"
#include "wire/pfc_frame.h"

/* Frames of a burst whose headers are on their way into the cache. */
#define PREFETCH 4

static bool
is_mac_control(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	return m->data_len >= ETH_HDR_BYTES && frame[12] == ETHERTYPE_MAC_CONTROL >> 8 &&
	       frame[13] == (ETHERTYPE_MAC_CONTROL & 0xFF);
}

static void
on_pfc(struct sw *sw, uint16_t port, const struct mac_control *mc, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct pfc_vector v = {.enable = mc->enable};

	static_assert(sizeof(v.quanta) == sizeof(mc->quanta), "eight priorities");
	memcpy(v.quanta, mc->quanta, sizeof(v.quanta));
	p->paused_queues = qos_map_paused_queues(&sw->qos, pfc_rx_on_frame(&p->pfc_rx, &v, now_ns));
	counter_inc(&p->stats.rx_pause_frames);
	node_wake(&sw->node, port);
}

/* MAC control ends here: it is not learned from, not forwarded, and no received frame to the
 * counters. */
static void
rx_mac_control(struct sw *sw, const struct arrival *a)
{
	struct mac_control mc;
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);

	switch (mac_control_parse(frame, a->m->data_len, &mc)) {
	case MAC_CONTROL_PFC:
		on_pfc(sw, a->in_port, &mc, a->now_ns);
		counter_add(&sw->ledger.consumed, a->charged_bytes);
		break;
	case MAC_CONTROL_PAUSE:
		counter_inc(&sw->ports[a->in_port].stats.rx_global_pause_frames);
		counter_add(&sw->ledger.consumed, a->charged_bytes);
		break;
	case MAC_CONTROL_UNKNOWN:
		sw_count_drop(sw, a->in_port, SW_DROP_MAC_CONTROL_UNKNOWN, a->charged_bytes);
		break;
	case MAC_CONTROL_MALFORMED:
		sw_count_drop(sw, a->in_port, SW_DROP_MAC_CONTROL_MALFORMED, a->charged_bytes);
		break;
	}
	rte_pktmbuf_free(a->m);
}

/* Is this a frame that a bridge may forward? */
static enum sw_drop
inspect(struct sw *sw, struct arrival *a)
{
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);
	enum frame_verdict verdict;

	if (a->m->nb_segs != 1 || a->frame_bytes > sw->max_frame_bytes)
		return SW_DROP_OVERSIZE;
	verdict = frame_parse(frame, a->m->data_len, &a->view);
	if (verdict != FRAME_OK) {
		counter_inc(&sw->ports[a->in_port].stats.malformed[verdict]);
		return SW_DROP_MALFORMED;
	}
	if (a->view.ethertype == ETHERTYPE_MAC_CONTROL)
		return SW_DROP_MAC_CONTROL_UNKNOWN;
	return sw_l2_classify(sw, a);
}

static void
drop(struct sw *sw, const struct arrival *a, enum sw_drop reason)
{
	sw_count_drop(sw, a->in_port, reason, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

/* @return false when the frame ended here. */
static bool
parse(struct sw *sw, struct arrival *a, uint16_t port, struct rte_mbuf *m, uint64_t now_ns)
{
	struct sw_port_stats *stats = &sw->ports[port].stats;
	enum sw_drop reason;

	a->m = m;
	a->now_ns = now_ns;
	a->in_port = port;
	a->frame_bytes = frame_bytes(m->pkt_len);
	a->charged_bytes = mmu_charge_bytes(sw->mmu, a->frame_bytes);
	counter_add(&sw->ledger.in, a->charged_bytes);
	if (unlikely(is_mac_control(m))) {
		rx_mac_control(sw, a);
		return false;
	}
	counter_inc(&stats->rx_packets);
	counter_add(&stats->rx_bytes, a->frame_bytes);
	reason = inspect(sw, a);
	if (likely(reason == SW_PASS))
		return true;
	drop(sw, a, reason);
	return false;
}

static void
rx_burst(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, unsigned int n, uint64_t now_ns)
{
	struct arrival arrivals[SW_BURST];
	enum sw_drop reasons[SW_BURST];
	unsigned int whole = 0;

	for (unsigned int i = 0; i < n && i < PREFETCH; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	for (unsigned int i = 0; i < n; i++) {
		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + PREFETCH], void *));
		whole += parse(sw, &arrivals[whole], port, pkts[i], now_ns);
	}
	sw_l2_forward(sw, arrivals, whole, reasons);
	for (unsigned int i = 0; i < whole; i++) {
		if (likely(reasons[i] == SW_PASS))
			sw_admit(sw, &arrivals[i]);
		else
			drop(sw, &arrivals[i], reasons[i]);
	}
}

void
sw_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);

	assert(port < sw->n_ports);
	sw_sweep_if_wanted(sw, now_ns);
	for (unsigned int i = 0; i < n; i += SW_BURST)
		rx_burst(sw, port, pkts + i, RTE_MIN(n - i, (unsigned int)SW_BURST), now_ns);
}
