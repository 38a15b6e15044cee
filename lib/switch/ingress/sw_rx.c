/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ingress, burst by burst: MAC control, parse, forward, admit.
 *
 * Invariant (tested): each received frame is queued, dropped under a reason, or consumed.
 */
#include "switch/ingress/ingress.h"

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "switch/egress/egress.h"
#include "switch/egress/pfc.h"
#include "switch/forward/bridge.h"
#include "switch/forward/known.h"
#include "switch/forward/route_burst.h"
#include "switch/forward/router.h"
#include "switch/ingress/admit.h"
#include "switch/ingress/generated.h"
#include "wire/frame/frame_plain.h"

static bool
is_mac_control(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	return m->data_len >= ETH_HDR_BYTES && frame[12] == ETHERTYPE_MAC_CONTROL >> 8 &&
	       frame[13] == (ETHERTYPE_MAC_CONTROL & 0xFF);
}

/* MAC control ends here: its source is not learned, and rx_packets does not count it. */
static void
rx_mac_control(struct sw *sw, const struct arrival *a)
{
	sw_end(sw, a, sw_pfc_rx_frame(sw, a->in_port, a->m, a->now_ns));
}

/* May a bridge forward this frame? */
static __rte_noinline enum sw_drop
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
		enum sw_drop reason = sw_lldp_rx(sw, a);

		if (reason != SW_PASS)
			return reason;
	}
	return SW_PASS;
}

/*
 * Parse a burst. Nearly all frames are plain: valid, and neither MAC control nor LLDP.
 *
 * @return how many frames to forward, in arrivals.
 */
static __rte_always_inline unsigned int
parse(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, unsigned int n,
      struct arrival arrivals[], uint64_t now_ns)
{
	struct sw_port_stats *stats = &sw->ports[port].stats;
	uint32_t max_frame_bytes = sw->max_frame_bytes;
	/* Sums of the burst, to add to the counters once. */
	uint64_t in = 0, packets = 0, bytes = 0;
	struct arrival *a = arrivals;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
		enum sw_drop reason = SW_PASS;

		a->m = m;
		a->now_ns = now_ns;
		a->in_port = port;
		a->frame_bytes = frame_bytes(m->pkt_len);
		a->charged_bytes = mmu_charge_bytes(sw->mmu, a->frame_bytes);
		in += a->charged_bytes;
		if (unlikely(m->nb_segs != 1 || a->frame_bytes > max_frame_bytes ||
			     !frame_parse_plain(frame, m->data_len, &a->view))) {
			if (is_mac_control(m)) {
				rx_mac_control(sw, a);
				continue;
			}
			reason = inspect(sw, a);
		}
		packets++;
		bytes += a->frame_bytes;
		if (likely(reason == SW_PASS))
			reason = sw_bridge_classify(&sw->forward, a);
		if (likely(reason == SW_PASS))
			a++;
		else
			sw_end(sw, a, reason);
	}
	counter_add(&sw->ledger.in, in);
	counter_add(&stats->rx_packets, packets);
	counter_add(&stats->rx_bytes, bytes);
	return (unsigned int)(a - arrivals);
}

static void
rx_burst(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, unsigned int n, uint64_t now_ns)
{
	struct arrival arrivals[SW_BURST];
	enum sw_drop reasons[SW_BURST];
	bool to_router;

	/* All headers first: a cache miss takes longer than the work of several frames. */
	for (unsigned int i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	n = parse(sw, port, pkts, n, arrivals, now_ns);
	to_router = sw_bridge_forward(&sw->forward, &sw->memo, arrivals, n, reasons);
	if (to_router) {
		sw_route_burst(&sw->forward, arrivals, n, reasons);
		if (unlikely(neigh_has_ask(sw->forward.router->neighs)))
			sw_neigh_ask(sw, now_ns);
	}
	if (n > 0)
		sw_admit_burst(sw, arrivals, n, reasons);
	if (to_router && unlikely(sw->forward.router->n_errors > 0))
		sw_own_send(sw, now_ns);
}

/*
 * A frame that arrives alone, a run of one, if nothing but look-ups stands between it and its
 * queue: it is untagged IPv4, its way is known, and both sides certainly take it. All of this is
 * checked before anything is written, so that all other frames take the stages of a burst from the
 * beginning.
 *
 * @return false: nothing was done.
 */
static __rte_always_inline bool
rx_known(struct sw *sw, uint16_t port, struct rte_mbuf *m, bool routed, uint64_t now_ns)
{
	struct sw_port *in = &sw->ports[port];
	struct sw_port_stats *stats = &in->stats;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct sw_class *c;
	struct mmu_frames frames;
	struct sw_known way;
	struct sw_run run;
	/* No function that is called gets its address, so it is in registers. */
	struct arrival a = {.m = m,
			    .now_ns = now_ns,
			    .frame_bytes = frame_bytes(m->pkt_len),
			    .in_port = port,
			    .pcp = -1};

	if (unlikely(m->nb_segs != 1 || a.frame_bytes > sw->max_frame_bytes ||
		     !frame_parse_plain(frame, m->data_len, &a.view)))
		return false;
	way = routed ? sw_known_routed(&sw->forward, &sw->memo, &a)
		     : sw_known_bridged(&sw->forward, &sw->memo, &a);
	a.out_port = way.port;
	if (unlikely(a.out_port == FDB_UNKNOWN || !sw_owns(&sw->shard, a.out_port)))
		return false;
	a.charged_bytes = mmu_charge_bytes(sw->mmu, a.frame_bytes);
	c = sw_classify(sw_classes_of(sw, port), &a);
	sw_choose_queue(sw, &a);
	frames = (struct mmu_frames){.bytes = a.charged_bytes, .packets = 1};
	run = (struct sw_run){.a = &a, .n = 1, .bytes = a.charged_bytes};
	if (unlikely(sw_above_mtu(c, &a) || (in->storm_pgs | in->xoff_pgs) >> a.class.pg & 1) ||
	    !mmu_ingress_in_bounds(sw->mmu, port, a.class.pg, frames, frames) ||
	    !sw_egress_fits(sw, run))
		return false;
	mmu_ingress_charge(sw->mmu, port, a.class.pg, frames);
	sw_take_run(sw, run);
	if (routed)
		sw_known_leave(sw->forward.router, &way, &a);
	counter_add(&sw->ledger.in, a.charged_bytes);
	counter_inc(&stats->rx_packets);
	counter_add(&stats->rx_bytes, a.frame_bytes);
	counter_inc(&stats->pg[a.class.pg].rx_packets);
	counter_add(&stats->pg[a.class.pg].rx_bytes, a.frame_bytes);
	return true;
}

/* Out of line, so that bridged frames keep the registers. */
static __rte_noinline bool
rx_known_routed(struct sw *sw, uint16_t port, struct rte_mbuf *m, uint64_t now_ns)
{
	return rx_known(sw, port, m, true, now_ns);
}

static __rte_always_inline bool
is_to_router(const struct sw *sw, const struct rte_mbuf *m)
{
	return sw_router_is_at(sw->forward.router,
			       fdb_key_in_header(0, rte_pktmbuf_mtod(m, const uint8_t *)));
}

/* Out of line, so that sw_rx() keeps its registers for frames of ports with a link. */
static __rte_noinline bool
is_shut(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	if (!sw_is_down(&sw->forward, port))
		return false;
	if (!sw->ports[port].now.shutdown) {
		sw_port_hear(sw, port, now_ns);
		return false;
	}
	/* They were never in the switch, so the ledger has no bytes of them. */
	for (unsigned int i = 0; i < n; i++) {
		sw_name_drop(sw, port, pkts[i], SW_DROP_SHUTDOWN);
		sw_count_drop(sw, port, SW_DROP_SHUTDOWN, 0);
	}
	rte_pktmbuf_free_bulk(pkts, n);
	return true;
}

void
sw_rx(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	assert(port < sw->n_ports);
	if (unlikely(sw_may_be_down(&sw->forward, port)) && n > 0 &&
	    is_shut(sw, port, pkts, n, now_ns))
		return;
	if (n == 1 &&
	    likely(is_to_router(sw, pkts[0]) ? rx_known_routed(sw, port, pkts[0], now_ns)
					     : rx_known(sw, port, pkts[0], false, now_ns)))
		return;
	for (unsigned int i = 0; i < n; i += SW_BURST)
		rx_burst(sw, port, pkts + i, RTE_MIN(n - i, (unsigned int)SW_BURST), now_ns);
}
