/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches of a run, port by port. */
#include "base/numbers/units.h"
#include "runtime/report/report.h"
#include "quench-lab/output/output.h"
#include "tm/buffer/mmu.h"

void
output_walk_lengths(struct walk *w, const struct queue_result *q, bool median)
{
	WALK(number, w, GAUGE, "queue_mean_bytes", "mean length in the measured window",
	     q->mean_bytes);
	if (median)
		WALK(number, w, GAUGE, "queue_p50_bytes", "median length", q->p50_bytes);
	WALK(number, w, GAUGE, "queue_p99_bytes", "99th percentile of the length", q->p99_bytes);
	WALK(number, w, GAUGE, "queue_max_bytes", "maximum length", q->max_bytes);
}

void
output_walk_curve(struct walk *w, const struct wred_curve *curve)
{
	WALK(number, w, GAUGE, "wred_min_bytes", "Kmin of the queue; 0: it has no curve",
	     curve->min_bytes);
	WALK(number, w, GAUGE, "wred_max_bytes", "Kmax of the queue; 0: it has no curve",
	     curve->max_bytes);
}

/* sw and data are NULL with names_only. */
static void
walk_queue(struct walk *w, const struct node *sw, uint16_t port, uint8_t i,
	   const struct queue_result *data)
{
	const struct sw_queue_stats *q = w->names_only ? NULL : &sw_port_stats(sw, port)->queue[i];

	w->object = "queue";
	walk_number(w, WALK_KEY, "queue", "number of the queue", i);
	WALK(number, w, COUNTER, "tx_packets", "packets sent", q->tx_packets);
	WALK(number, w, COUNTER, "tx_bytes", "bytes sent, with FCS", q->tx_bytes);
	WALK(number, w, COUNTER, "ecn_marked_packets", "packets marked", q->ecn_marked_packets);
	WALK(number, w, COUNTER, "drop_packets", "packets that the queue refused", q->drop_packets);
	output_walk_curve(w, w->names_only ? NULL : sw_mark_curve(sw, port, i));
	WALK(number, w, GAUGE, "watermark_bytes", "most bytes in the queue, in the whole run",
	     mmu_watermark_bytes(sw_mmu(sw), MMU_WATERMARK_QUEUE, port, i));
	w->optional = true;
	if (w->names_only || (i == data->queue && data->watched))
		output_walk_lengths(w, data, false);
	w->optional = false;
}

static void
walk_queues(struct walk *w, const struct node *sw, uint16_t port, const struct queue_result *data)
{
	walk_list(w, "queues");
	for (uint8_t i = 0; i < (w->names_only ? 1 : TM_CLASSES); i++) {
		if (!w->names_only && sw_port_stats(sw, port)->queue[i].tx_packets == 0 &&
		    sw_port_stats(sw, port)->queue[i].drop_packets == 0)
			continue;
		walk_item(w, "queues");
		walk_queue(w, sw, port, i, data);
		walk_leave(w);
	}
}

static void
walk_traffic(struct walk *w, const struct sw_port_stats *stats)
{
	WALK(number, w, COUNTER, "rx_packets", "frames received, without MAC control frames",
	     stats->rx_packets);
	WALK(number, w, COUNTER, "rx_bytes", "their bytes, with FCS", stats->rx_bytes);
	WALK(number, w, COUNTER, "tx_packets", "frames sent, without MAC control frames",
	     stats->tx_packets);
	WALK(number, w, COUNTER, "tx_bytes", "their bytes, with FCS", stats->tx_bytes);
}

static void
walk_port(struct walk *w, const struct lab_run *run, const struct queue_result *r)
{
	const struct topology *t = w->names_only ? NULL : run->scenario->topology;
	const struct topology_link *link =
		w->names_only ? NULL : &t->links[t->switches[r->sw].link[r->port]];
	const struct node *sw = w->names_only ? NULL : net_switch(run->net, r->sw);
	struct topology_end peer = {0};
	char name[TOPOLOGY_NODE_CHARS + 1];

	if (!w->names_only)
		peer = topology_peer(t, r->sw, r->port);
	w->object = "port";
	WALK(text, w, KEY, "node", "the switch", t->switches[r->sw].name);
	WALK(number, w, KEY, "port", "number of the port", r->port);
	WALK(text, w, KEY, "peer", "the other end of its cable",
	     topology_node_name(t, peer.node, name));
	WALK(number, w, KEY, "peer_port", "port of that node", peer.port);
	WALK(number, w, GAUGE, "link_speed_bps", "speed of the cable", link->cable.rate_bps);
	WALK(number, w, GAUGE, "link_delay_ns", "delay of the cable", link->cable.delay_ns);
	WALK(real, w, GAUGE, "link_use",
	     "use of the link by sent frames in the measured window, up to 1",
	     r->link_use_ppm / 1e6);
	WALK(real, w, GAUGE, "rx_link_use", "the same of received frames",
	     r->rx_link_use_ppm / 1e6);
	walk_traffic(w, w->names_only ? NULL : sw_port_stats(sw, r->port));
	walk_queues(w, sw, w->names_only ? 0 : r->port, r);
}

void
output_walk_ports(struct walk *w, const struct lab_run *run)
{
	uint32_t n = w->names_only ? 1 : run->result.n_queues;

	walk_list(w, "ports");
	for (uint32_t i = 0; i < n; i++) {
		walk_item(w, "ports");
		walk_port(w, run, w->names_only ? NULL : &run->result.queues[i]);
		walk_leave(w);
	}
}
