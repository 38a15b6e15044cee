/* SPDX-License-Identifier: BSD-3-Clause */
/* The way in, burst by burst: MAC control, parse, forward, admit. */
#include <string.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "switch/sw_rx.h"
#include "wire/frame_plain.h"

/* Frames of a burst whose headers are on their way into the cache. */
#define PREFETCH 4

static bool
is_mac_control(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	return m->data_len >= ETH_HDR_BYTES && frame[12] == ETHERTYPE_MAC_CONTROL >> 8 &&
	       frame[13] == (ETHERTYPE_MAC_CONTROL & 0xFF);
}

/* MAC control ends here: it is not learned from, not forwarded, and no received frame to the
 * counters. */
static void
rx_mac_control(struct sw *sw, const struct arrival *a)
{
	enum sw_drop reason = sw_pfc_rx_frame(sw, a->in_port, a->m, a->now_ns);

	if (reason == SW_CONSUMED)
		counter_add(&sw->ledger.consumed, a->charged_bytes);
	else
		sw_count_drop(sw, a->in_port, reason, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

/* A frame with nothing to find fault with: no MAC control, no LLDP. */
static bool
is_plain(const struct sw *sw, struct arrival *a)
{
	return a->m->nb_segs == 1 && a->frame_bytes <= sw->max_frame_bytes &&
	       frame_parse_plain(rte_pktmbuf_mtod(a->m, const uint8_t *), a->m->data_len, &a->view);
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
	if (unlikely(a->view.ethertype == ETHERTYPE_LLDP && !a->view.tagged)) {
		enum sw_drop reason = sw_dcbx_rx(sw, a);

		if (reason != SW_PASS)
			return reason;
	}
	return sw_l2_classify(sw, a);
}

/* A frame ends here, dropped or consumed. */
static void
end(struct sw *sw, const struct arrival *a, enum sw_drop reason)
{
	if (reason == SW_CONSUMED)
		counter_add(&sw->ledger.consumed, a->charged_bytes);
	else
		sw_count_drop(sw, a->in_port, reason, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

/* What a burst adds to counters of every frame: one addition each, not one for each frame. */
struct sums {
	uint64_t in, packets, bytes;
};

static void
count(struct sw *sw, uint16_t port, const struct sums *sums)
{
	struct sw_port_stats *stats = &sw->ports[port].stats;

	counter_add(&sw->ledger.in, sums->in);
	counter_add(&stats->rx_packets, sums->packets);
	counter_add(&stats->rx_bytes, sums->bytes);
}

/* @return false when the frame ended here. */
static bool
parse(struct sw *sw, struct arrival *a, uint16_t port, struct rte_mbuf *m, uint64_t now_ns,
      struct sums *sums)
{
	enum sw_drop reason;

	a->m = m;
	a->now_ns = now_ns;
	a->in_port = port;
	a->frame_bytes = frame_bytes(m->pkt_len);
	a->charged_bytes = mmu_charge_bytes(sw->mmu, a->frame_bytes);
	sums->in += a->charged_bytes;
	if (likely(is_plain(sw, a))) {
		sums->packets++;
		sums->bytes += a->frame_bytes;
		reason = sw_l2_classify(sw, a);
		if (likely(reason == SW_PASS))
			return true;
		end(sw, a, reason);
		return false;
	}
	if (unlikely(is_mac_control(m))) {
		rx_mac_control(sw, a);
		return false;
	}
	sums->packets++;
	sums->bytes += a->frame_bytes;
	reason = inspect(sw, a);
	if (likely(reason == SW_PASS))
		return true;
	end(sw, a, reason);
	return false;
}

/* Frames of one group that come after each other. */
struct run {
	uint8_t pg;
	uint64_t packets, bytes;
};

static void
count_run(struct sw *sw, uint16_t port, const struct run *run)
{
	struct sw_pg_stats *stats = &sw->ports[port].stats.pg[run->pg];

	counter_add(&stats->rx_packets, run->packets);
	counter_add(&stats->rx_bytes, run->bytes);
}

/*
 * Admission of what is left of a burst. XOFF is asked for once per group: a group's use only grows
 * while frames are admitted.
 */
static void
admit(struct sw *sw, uint16_t port, struct arrival *arrivals, unsigned int n,
      const enum sw_drop reasons[], uint64_t now_ns)
{
	struct run run = {0};
	unsigned int pgs = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint8_t pg;

		if (unlikely(reasons[i] != SW_PASS)) {
			end(sw, &arrivals[i], reasons[i]);
			continue;
		}
		pg = sw_admit(sw, &arrivals[i]);
		pgs |= 1u << pg;
		if (unlikely(pg != run.pg)) {
			count_run(sw, port, &run);
			run = (struct run){.pg = pg};
		}
		run.packets++;
		run.bytes += arrivals[i].frame_bytes;
	}
	count_run(sw, port, &run);
	/* After refusals too: under a dynamic threshold the limit moves without this group. */
	for (; pgs != 0; pgs &= pgs - 1)
		sw_update_xoff(sw, port, (uint8_t)__builtin_ctz(pgs), now_ns);
}

static void
rx_burst(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, unsigned int n, uint64_t now_ns)
{
	struct arrival arrivals[SW_BURST];
	enum sw_drop reasons[SW_BURST];
	struct sums sums = {0};
	unsigned int whole = 0;

	for (unsigned int i = 0; i < n && i < PREFETCH; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	for (unsigned int i = 0; i < n; i++) {
		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + PREFETCH], void *));
		whole += parse(sw, &arrivals[whole], port, pkts[i], now_ns, &sums);
	}
	count(sw, port, &sums);
	if (sw_l2_forward(sw, arrivals, whole, reasons))
		sw_route(sw, arrivals, whole, reasons);
	if (whole <= 1 || !sw_admit_burst(sw, arrivals, whole, reasons))
		admit(sw, port, arrivals, whole, reasons, now_ns);
}

void
sw_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);

	assert(port < sw->n_ports);
	sw_do_if_wanted(sw, now_ns);
	if (unlikely(sw->down_ports >> port & 1) && n > 0)
		sw_hear(sw, port, now_ns);
	for (unsigned int i = 0; i < n; i += SW_BURST)
		rx_burst(sw, port, pkts + i, RTE_MIN(n - i, (unsigned int)SW_BURST), now_ns);
}
