/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/report.h"

#include <stdio.h>

#include "base/counter.h"
#include "common/report.h"

void
switch_stats(const struct run_app *app, struct run_traffic *traffic, char *text,
	     unsigned int text_size)
{
	uint64_t drops = 0, marked = 0, tx_pause = 0, rx_pause = 0, buffer_bytes = 0;

	*traffic = (struct run_traffic){0};
	for (uint16_t port = 0; port < app->n_ports; port++) {
		const struct sw_port_stats *s = sw_port_stats(app->node, port);

		traffic->rx_packets += counter_read(&s->rx_packets);
		traffic->rx_bytes += counter_read(&s->rx_bytes);
		traffic->tx_packets += counter_read(&s->tx_packets);
		traffic->tx_bytes += counter_read(&s->tx_bytes);
		tx_pause += counter_read(&s->tx_pause_frames);
		rx_pause += counter_read(&s->rx_pause_frames);
		for (unsigned int d = 0; d < SW_DROPS; d++)
			drops += counter_read(&s->drops[d]);
		for (uint8_t q = 0; q < TM_CLASSES; q++) {
			marked += counter_read(&s->queue[q].ecn_marked_packets);
			buffer_bytes += sw_queue_bytes(app->node, port, q);
		}
	}
	snprintf(text, text_size,
		 "drops %" PRIu64 " marked %" PRIu64 " pause tx %" PRIu64 " rx %" PRIu64
		 " queued %" PRIu64 " B",
		 drops, marked, tx_pause, rx_pause, buffer_bytes);
}

static void
set_watermark(json_t *o, const char *key, const struct node *node, enum mmu_watermark kind,
	      uint16_t port, uint8_t index)
{
	report_set_u64(o, key, mmu_watermark_bytes(sw_mmu(node), kind, port, index));
}

static json_t *
queue_object(const struct run_app *app, uint16_t port, uint8_t queue)
{
	const struct sw_queue_stats *s = &sw_port_stats(app->node, port)->queue[queue];
	json_t *o = json_object();

	report_set_u64(o, "queue", queue);
	report_set_u64(o, "tx_packets", s->tx_packets);
	report_set_u64(o, "tx_bytes", s->tx_bytes);
	report_set_u64(o, "ecn_marked_packets", s->ecn_marked_packets);
	report_set_u64(o, "ecn_mark_no_mbuf_packets", s->ecn_mark_no_mbuf_packets);
	report_set_u64(o, "drop_packets", s->drop_packets);
	set_watermark(o, "watermark_bytes", app->node, MMU_WATERMARK_QUEUE, port, queue);
	report_set_mark_accuracy(o, sw_mark_accuracy(app->node, port, queue),
				 sw_mark_curve(app->node, port, queue));
	return o;
}

static json_t *
pg_object(const struct run_app *app, uint16_t port, uint8_t pg)
{
	const struct sw_pg_stats *stats = &sw_port_stats(app->node, port)->pg[pg];
	json_t *o = json_object();

	report_set_u64(o, "pg", pg);
	report_set_u64(o, "rx_packets", counter_read(&stats->rx_packets));
	report_set_u64(o, "rx_bytes", counter_read(&stats->rx_bytes));
	report_set_u64(o, "drop_packets", counter_read(&stats->drop_packets));
	set_watermark(o, "watermark_bytes", app->node, MMU_WATERMARK_PG, port, pg);
	set_watermark(o, "shared_watermark_bytes", app->node, MMU_WATERMARK_PG_SHARED, port, pg);
	set_watermark(o, "headroom_watermark_bytes", app->node, MMU_WATERMARK_PG_HEADROOM, port,
		      pg);
	return o;
}

static void
set_drops(json_t *port, const struct sw_port_stats *s)
{
	json_t *drops = json_object();
	json_t *malformed = json_object();

	for (unsigned int d = 0; d < SW_DROPS; d++)
		report_set_u64(drops, sw_drop_name((enum sw_drop)d), s->drops[d]);
	for (unsigned int v = FRAME_OK + 1; v < FRAME_VERDICTS; v++)
		report_set_u64(malformed, frame_verdict_name((enum frame_verdict)v),
			       s->malformed[v]);
	json_object_set_new(port, "drops", drops);
	json_object_set_new(port, "malformed", malformed);
}

/* ethtool's names. Link pause is kept as priority 0 of a port that runs no PFC. */
static void
set_pause(json_t *o, const struct run_app *app, int flow_control, uint16_t port, uint64_t now_ns)
{
	const struct pfc_rx *rx = sw_pfc_rx(app->node, port);
	const struct pfc_tx *tx = sw_pfc_tx(app->node, port);

	if (flow_control != SW_FLOW_PAUSE) {
		report_set_pfc_rx(o, rx, now_ns);
		report_set_pfc_tx(o, tx, now_ns);
		return;
	}
	report_set_u64(o, "rx_global_pause_transition", rx->stats.rx_pause_transition[0]);
	report_set_u64(o, "rx_global_pause_duration_us",
		       pfc_rx_duration_ns(rx, 0, now_ns) / NS_PER_US);
	report_set_u64(o, "tx_global_pause_transition", tx->stats.tx_pause_transition[0]);
	report_set_u64(o, "tx_global_pause_duration_us",
		       pfc_tx_duration_ns(tx, 0, now_ns) / NS_PER_US);
}

/* SONiC's PFC_WD_QUEUE_STATS_* and PFC_WD_STATUS of a port. */
static json_t *
pfcwd_list(const struct run_app *app, const struct sw_params *params, uint16_t port)
{
	json_t *list = json_array();

	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		const struct pfcwd *w = sw_pfcwd(app->node, port, prio);
		json_t *o;

		if (!(params->qos.pfc_enable & params->pfcwd.pfcwd_sw_enable & 1u << prio))
			continue;
		o = json_object();
		report_set_u64(o, "prio", prio);
		report_set_u64(o, "queue", params->qos.pfc_priority_to_queue_map[prio]);
		json_object_set_new(
			o, "status",
			json_string(w->state == PFCWD_STORMED ? "stormed" : "operational"));
		for (unsigned int i = 0; i < pfcwd_counters_n; i++)
			report_set_u64(o, pfcwd_counters[i].name,
				       *(const uint64_t *)(const void *)((const char *)&w->stats +
									 pfcwd_counters[i].offset));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
dcbx_object(const struct run_app *app, uint16_t port)
{
	const struct dcbx_port *d = sw_dcbx(app->node, port);
	json_t *o = json_object();

	json_object_set_new(o, "pfc_state", json_string(dcbx_pfc_state_name(d->pfc_state)));
	report_set_u64(o, "pfc_agreed", d->pfc_prios);
	report_set_u64(o, "pfc_ours", d->local.dcbx.pfc.enable);
	report_set_u64(o, "pfc_peer", d->has_peer ? d->peer.dcbx.pfc.enable : 0);
	for (unsigned int i = 0; i < dcbx_counters_n; i++)
		report_set_u64(o, dcbx_counters[i].name,
			       *(const uint64_t *)(const void *)((const char *)&d->stats +
								 dcbx_counters[i].offset));
	return o;
}

static json_t *
port_object(const struct run_app *app, const struct sw_params *params,
	    const struct run_result *result, uint16_t port)
{
	const struct sw_port_stats *s = sw_port_stats(app->node, port);
	json_t *o = report_port(result, port, params->ports[port].link_speed_bps);
	json_t *queues = json_array();
	json_t *pgs = json_array();

	report_set_u64(o, "shaper_rate_bps", params->ports[port].shaper_rate_bps);
	report_set_u64(o, "rx_packets", s->rx_packets);
	report_set_u64(o, "rx_bytes", s->rx_bytes);
	report_set_u64(o, "tx_packets", s->tx_packets);
	report_set_u64(o, "tx_bytes", s->tx_bytes);
	report_set_u64(o, "rx_pause_frames", s->rx_pause_frames);
	report_set_u64(o, "tx_pause_frames", s->tx_pause_frames);
	report_set_u64(o, "rx_global_pause_frames", s->rx_global_pause_frames);
	report_set_u64(o, "tx_global_pause_frames", s->tx_global_pause_frames);
	report_set_u64(o, "pause_no_mbuf", s->pause_no_mbuf);
	report_set_u64(o, "learned_addresses", sw_fdb_port_entries(app->node, port));
	set_drops(o, s);
	set_pause(o, app, params->ports[port].flow_control, port, result->elapsed_ns);
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		json_array_append_new(queues, queue_object(app, port, i));
		json_array_append_new(pgs, pg_object(app, port, i));
	}
	if (params->lldp.lldp)
		json_object_set_new(o, "dcbx", dcbx_object(app, port));
	if (params->pfcwd.pfcwd != PFCWD_OFF)
		json_object_set_new(o, "pfcwd", pfcwd_list(app, params, port));
	json_object_set_new(o, "queues", queues);
	json_object_set_new(o, "pgs", pgs);
	return o;
}

static json_t *
pools_array(const struct node *node)
{
	const struct mmu *mmu = sw_mmu(node);
	json_t *pools = json_array();

	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "pool", json_string(mmu_pool_name((enum mmu_pool_id)i)));
		report_set_u64(o, "size_bytes", mmu_pool_size_bytes(mmu, (enum mmu_pool_id)i));
		report_set_u64(o, "used_bytes", mmu_pool_used_bytes(mmu, (enum mmu_pool_id)i));
		set_watermark(o, "watermark_bytes", node, MMU_WATERMARK_POOL, 0, (uint8_t)i);
		json_array_append_new(pools, o);
	}
	return pools;
}

static json_t *
fdb_object(const struct node *node)
{
	const struct fdb_stats *s = sw_fdb_stats(node);
	json_t *o = json_object();

	report_set_u64(o, "entries", sw_fdb_entries(node));
	report_set_u64(o, "learned", counter_read(&s->learned));
	report_set_u64(o, "moved", counter_read(&s->moved));
	report_set_u64(o, "aged", counter_read(&s->aged));
	report_set_u64(o, "learn_failures", counter_read(&s->learn_failures));
	report_set_u64(o, "learn_limited", counter_read(&s->learn_limited));
	report_set_u64(o, "learn_busy", counter_read(&s->learn_busy));
	report_set_u64(o, "static_kept", counter_read(&s->static_kept));
	return o;
}

static json_t *
router_object(const struct node *node)
{
	const struct sw_router_stats *s = sw_router_stats(node);
	json_t *o = json_object();

	report_set_u64(o, "routed_packets", counter_read(&s->routed_packets));
	report_set_u64(o, "neigh_requests_sent", counter_read(&s->neigh_requests_sent));
	report_set_u64(o, "neigh_requests_answered", counter_read(&s->neigh_requests_answered));
	report_set_u64(o, "echo_requests_answered", counter_read(&s->echo_requests_answered));
	report_set_u64(o, "neigh_learnt", counter_read(&s->neigh.neigh_learnt));
	report_set_u64(o, "neigh_changed", counter_read(&s->neigh.neigh_changed));
	report_set_u64(o, "neigh_failed", counter_read(&s->neigh.neigh_failed));
	report_set_u64(o, "neigh_table_full", counter_read(&s->neigh_table_full));
	report_set_u64(o, "neigh_no_mbuf", counter_read(&s->neigh_no_mbuf));
	return o;
}

json_t *
switch_report(const struct run_app *app, const struct sw_params *params,
	      const struct run_result *result)
{
	const struct sw_ledger ledger = sw_ledger(app->node);
	json_t *o = report_program("quench-switch", result->elapsed_ns);
	json_t *ports = json_array();

	for (uint16_t port = 0; port < app->n_ports; port++)
		json_array_append_new(ports, port_object(app, params, result, port));
	json_object_set_new(o, "ports", ports);
	report_set_u64(o, "fdb_entries", sw_fdb_entries(app->node));
	json_object_set_new(o, "fdb", fdb_object(app->node));
	json_object_set_new(o, "router", router_object(app->node));
	report_set_u64(o, "buffer_bytes", params->mmu.buffer_bytes);
	report_set_u64(o, "buffer_used_bytes", mmu_used_bytes(sw_mmu(app->node)));
	json_object_set_new(o, "pools", pools_array(app->node));
	set_watermark(o, "headroom_pool_watermark_bytes", app->node, MMU_WATERMARK_HEADROOM_POOL, 0,
		      0);
	report_set_ledger(o, &ledger);
	return o;
}
