/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/report/switch_json.h"

#include <stdio.h>

#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "runtime/report/report.h"
#include "ctl/output/json.h"
#include "switch/params/sw_counters.h"
#include "switch/params/port_names.h"
#include "tm/buffer/mmu.h"

void
switch_set_port(json_t *o, const struct sw_params *params, uint16_t port)
{
	report_set_u64(o, "port", port);
	if (sw_port_has_name(&params->ports[port]))
		json_object_set_new(o, "port_name", json_string(params->ports[port].name));
}

/* The watermarks since the last clear and since the start (SONiC's persistent watermark). */
static void
set_watermark(json_t *o, const char *what, const struct node *node, enum mmu_watermark kind,
	      uint16_t port, uint8_t index)
{
	char key[64];

	snprintf(key, sizeof(key), "%swatermark_bytes", what);
	report_set_u64(o, key, mmu_watermark_bytes(sw_mmu(node), kind, port, index));
	snprintf(key, sizeof(key), "%spersistent_watermark_bytes", what);
	report_set_u64(o, key, mmu_persistent_watermark_bytes(sw_mmu(node), kind, port, index));
}

json_t *
switch_queue_object(const struct node *node, uint16_t port, uint8_t queue)
{
	const struct mark_queue *scheme = sw_mark_scheme(node, port, queue);
	json_t *o = json_object();

	report_set_u64(o, "queue", queue);
	report_set_u64(o, "queue_bytes", sw_queue_bytes(node, port, queue));
	json_set_counters(o, sw_queue_counter_fields, sw_queue_counter_fields_n,
			  &sw_port_stats(node, port)->queue[queue]);
	if (scheme != NULL)
		json_set_counters(o, scheme->ops->counters, *scheme->ops->n_counters,
				  &scheme->counts);
	set_watermark(o, "", node, MMU_WATERMARK_QUEUE, port, queue);
	return o;
}

json_t *
switch_pg_object(const struct node *node, uint16_t port, uint8_t pg)
{
	struct mmu_pg_state now = mmu_pg_state(sw_mmu(node), port, pg);
	json_t *o = json_object();

	report_set_u64(o, "pg", pg);
	report_set_u64(o, "reserved_bytes", now.reserved_bytes);
	report_set_u64(o, "shared_bytes", now.shared_bytes);
	report_set_u64(o, "headroom_bytes", now.headroom_bytes);
	/* The limit of a group without one is the pool's size. */
	report_set_u64(o, "shared_limit_bytes",
		       min_u64(mmu_pg_limit_bytes(sw_mmu(node), port, pg),
			       mmu_pool_size_bytes(sw_mmu(node), MMU_INGRESS_LOSSLESS)));
	report_set_u64(o, "shared_xon_bytes",
		       min_u64(mmu_pg_xon_mark_bytes(sw_mmu(node), port, pg),
			       mmu_pool_size_bytes(sw_mmu(node), MMU_INGRESS_LOSSLESS)));
	json_set_counters(o, sw_pg_counter_fields, sw_pg_counter_fields_n,
			  &sw_port_stats(node, port)->pg[pg]);
	set_watermark(o, "", node, MMU_WATERMARK_PG, port, pg);
	set_watermark(o, "shared_", node, MMU_WATERMARK_PG_SHARED, port, pg);
	set_watermark(o, "headroom_", node, MMU_WATERMARK_PG_HEADROOM, port, pg);
	return o;
}

json_t *
switch_drops_object(const struct node *node, uint16_t port)
{
	json_t *o = json_object();

	json_set_counters(o, sw_drop_counter_fields, SW_DROPS, sw_port_stats(node, port));
	return o;
}

json_t *
switch_malformed_object(const struct node *node, uint16_t port)
{
	json_t *o = json_object();

	json_set_counters(o, sw_malformed_counter_fields, sw_malformed_counter_fields_n,
			  sw_port_stats(node, port));
	return o;
}

/* Names as in ethtool. A port with link pause counts it as priority 0. */
void
switch_set_pause(json_t *o, const struct node *node, const struct sw_port_params *params,
		 uint16_t port, uint64_t now_ns)
{
	const struct pfc_rx *rx = sw_pfc_rx(node, port);
	const struct pfc_tx *tx = sw_pfc_tx(node, port);

	if (params->flow_control != SW_FLOW_PAUSE) {
		report_set_pfc_rx(o, rx, now_ns);
		report_set_pfc_tx(o, tx, now_ns);
		return;
	}
	report_set_u64(o, "rx_global_pause_transition",
		       counter_read(&rx->stats.rx_pause_transition[0]));
	report_set_u64(o, "rx_global_pause_duration_us",
		       pfc_rx_duration_ns(rx, 0, now_ns) / NS_PER_US);
	report_set_u64(o, "tx_global_pause_transition",
		       counter_read(&tx->stats.tx_pause_transition[0]));
	report_set_u64(o, "tx_global_pause_duration_us",
		       pfc_tx_duration_ns(tx, 0, now_ns) / NS_PER_US);
}

json_t *
switch_pfcwd_object(const struct node *node, const struct sw_params *params, uint16_t port,
		    uint8_t prio)
{
	const struct pfcwd *w = sw_pfcwd(node, port, prio);
	json_t *o = json_object();

	report_set_u64(o, "prio", prio);
	report_set_u64(o, "queue", sw_port_qos(params, port).pfc_priority_to_queue_map[prio]);
	json_object_set_new(o, "status",
			    json_string(w->state == PFCWD_STORMED ? "stormed" : "operational"));
	json_set_counters(o, pfcwd_counters, pfcwd_counters_n, &w->stats);
	json_set_counters(o, pfcwd_last_counters, pfcwd_last_counters_n, &w->stats);
	return o;
}

json_t *
switch_dcbx_object(const struct node *node, uint16_t port)
{
	const struct dcbx_port *d = sw_dcbx(node, port);
	json_t *o = json_object();

	json_object_set_new(o, "pfc_state", json_string(dcbx_pfc_state_name(d->pfc_state)));
	report_set_u64(o, "pfc_agreed", d->pfc_prios);
	report_set_u64(o, "pfc_ours", d->local.dcbx.pfc.enable);
	report_set_u64(o, "pfc_peer", d->has_peer ? d->peer.dcbx.pfc.enable : 0);
	json_set_counters(o, dcbx_counters, dcbx_counters_n, &d->stats);
	return o;
}

json_t *
switch_port_object(const struct run_result *result, const struct node *node,
		   const struct sw_params *params, uint16_t port)
{
	json_t *o = report_port(result, port, params->ports[port].link_speed_bps);
	uint8_t shard_of_port[SW_DEVICE_PORTS];

	switch_set_port(o, params, port);
	sw_shards_deal(params, shard_of_port);
	report_set_u64(o, "shard", shard_of_port[port] + 1u);
	report_set_u64(o, "shaper_rate_bps", params->ports[port].shaper_rate_bps);
	json_set_counters(o, sw_port_counter_fields, sw_port_counter_fields_n,
			  sw_port_stats(node, port));
	report_set_u64(o, "learned_addresses", sw_fdb_port_entries(node, port));
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
		set_watermark(o, "", node, MMU_WATERMARK_POOL, 0, (uint8_t)i);
		json_array_append_new(pools, o);
	}
	return pools;
}

json_t *
switch_fdb_object(const struct node *node)
{
	const struct fdb_stats stats = sw_fdb_stats(node);
	json_t *o = json_object();

	report_set_u64(o, "entries", sw_fdb_entries(node));
	json_set_counters(o, sw_fdb_counter_fields, sw_fdb_counter_fields_n, &stats);
	return o;
}

json_t *
switch_router_object(const struct node *node)
{
	struct sw_router_stats stats = sw_router_stats(node);
	json_t *o = json_object();

	json_set_counters(o, sw_router_counter_fields, sw_router_counter_fields_n, &stats);
	return o;
}

json_t *
switch_interface_object(const struct node *node, const struct sw_params *params, uint32_t i)
{
	const struct sw_interface *interface = &params->tables.interfaces[i];
	struct sw_interface_stats stats =
		sw_interface_stats(node, (uint16_t)sw_interface_domain(interface->name));
	json_t *o = json_object();

	json_object_set_new(o, "interface", json_string(interface->name));
	json_object_set_new(o, "ip", json_string(interface->ip));
	json_object_set_new(o, "ip6", json_string(interface->ip6));
	json_set_counters(o, sw_interface_counter_fields, sw_interface_counter_fields_n, &stats);
	return o;
}

void
switch_set_buffer(json_t *o, const struct node *node, const struct sw_params *params)
{
	const struct sw_ledger ledger = sw_ledger(node);

	report_set_u64(o, "buffer_bytes", params->mmu.buffer_bytes);
	report_set_u64(o, "buffer_used_bytes", mmu_used_bytes(sw_mmu(node)));
	json_object_set_new(o, "pools", pools_array(node));
	set_watermark(o, "headroom_pool_", node, MMU_WATERMARK_HEADROOM_POOL, 0, 0);
	report_set_ledger(o, &ledger);
}
