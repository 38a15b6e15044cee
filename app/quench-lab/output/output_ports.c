/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches of a run, port by port. */
#include "base/numbers/units.h"
#include "runtime/report/report.h"
#include "quench-lab/output/output.h"
#include "tm/buffer/mmu.h"

static void
set_name(json_t *o, const char *key, const char *name)
{
	json_object_set_new(o, key, json_string(name));
}

static json_t *
queue_list(const struct node *sw, uint16_t port, const struct queue_result *data)
{
	json_t *list = json_array();

	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		const struct sw_queue_stats *q = &sw_port_stats(sw, port)->queue[i];
		const struct wred_curve *curve = sw_mark_curve(sw, port, i);
		json_t *o;

		if (q->tx_packets == 0 && q->drop_packets == 0)
			continue;
		o = json_object();
		report_set_u64(o, "queue", i);
		report_set_u64(o, "tx_packets", q->tx_packets);
		report_set_u64(o, "tx_bytes", q->tx_bytes);
		report_set_u64(o, "ecn_marked_packets", q->ecn_marked_packets);
		report_set_u64(o, "drop_packets", q->drop_packets);
		/* Both are 0 if the queue has no curve. */
		report_set_u64(o, "wred_min_bytes", curve->min_bytes);
		report_set_u64(o, "wred_max_bytes", curve->max_bytes);
		report_set_u64(o, "watermark_bytes",
			       mmu_watermark_bytes(sw_mmu(sw), MMU_WATERMARK_QUEUE, port, i));
		if (i == data->queue && data->watched) {
			report_set_u64(o, "queue_mean_bytes", data->mean_bytes);
			report_set_u64(o, "queue_p99_bytes", data->p99_bytes);
			report_set_u64(o, "queue_max_bytes", data->max_bytes);
		}
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
port_object(const struct lab_run *run, const struct queue_result *r)
{
	const struct topology *t = run->scenario->topology;
	const struct topology_link *link = &t->links[t->switches[r->sw].link[r->port]];
	const struct topology_end peer = topology_peer(t, r->sw, r->port);
	const struct node *sw = net_switch(run->net, r->sw);
	const struct sw_port_stats *stats = sw_port_stats(sw, r->port);
	char name[TOPOLOGY_NODE_CHARS + 1];
	json_t *o = json_object();

	set_name(o, "node", t->switches[r->sw].name);
	report_set_u64(o, "port", r->port);
	set_name(o, "peer", topology_node_name(t, peer.node, name));
	report_set_u64(o, "peer_port", peer.port);
	report_set_u64(o, "link_speed_bps", link->cable.rate_bps);
	report_set_u64(o, "link_delay_ns", link->cable.delay_ns);
	json_object_set_new(o, "link_use", json_real(r->link_use_ppm / 1e6));
	json_object_set_new(o, "rx_link_use", json_real(r->rx_link_use_ppm / 1e6));
	report_set_u64(o, "rx_packets", stats->rx_packets);
	report_set_u64(o, "rx_bytes", stats->rx_bytes);
	report_set_u64(o, "tx_packets", stats->tx_packets);
	report_set_u64(o, "tx_bytes", stats->tx_bytes);
	json_object_set_new(o, "queues", queue_list(sw, r->port, r));
	return o;
}

json_t *
output_ports(const struct lab_run *run)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < run->result.n_queues; i++)
		json_array_append_new(list, port_object(run, &run->result.queues[i]));
	return list;
}
