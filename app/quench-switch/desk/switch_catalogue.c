/* SPDX-License-Identifier: BSD-3-Clause */
/* Meanings of the keys in quench-switch's replies. */
#include "quench-switch/desk/switch_desk.h"

#include "base/numbers/array.h"
#include "runtime/report/catalogue.h"
#include "runtime/methods/methods.h"
#include "switch/params/sw_counters.h"
#include "switch/sw.h"

/* clang-format off */
static const struct meaning port_meanings[] = {
	{"shard", "shard that owns the port, counted from 1"},
	{"shaper_rate_bps", "rate limit of the port; 0: the link's rate"},
	{"learned_addresses", "addresses learned from the port"},
	{"tx_disabled", "whether the port sends no data"},
	{"pfc_delay_quanta", "delay with which the port obeys a pause, in quanta of 512 bit times"},
	{0},
};

static const struct meaning drop_meanings[] = {
	{"device_missed", "Lost before the switch received it: the receive ring of the device, or "
			  "of the kernel's socket, was full"},
	{"device_cut", "Longer than a slot (framesz) of net_af_packet's ring, so that the kernel "
		       "cut it"},
	{"device_mtu", "To be sent through net_af_packet, and longer than the MTU of its interface"},
	{0},
};

static const struct meaning queue_meanings[] = {
	{"queue_bytes", "charged bytes in the egress queue"},
	{"watermark_bytes", "most bytes in the queue since the last clear"},
	{"persistent_watermark_bytes", "most bytes in the queue since the start"},
	{0},
};

static const struct meaning pg_meanings[] = {
	{"reserved_bytes", "reserved bytes in use by the group"},
	{"shared_bytes", "bytes of the shared buffer in use by the group"},
	{"headroom_bytes", "bytes of the headroom in use by the group"},
	{"shared_limit_bytes", "current limit of shared_bytes; a lossless group that reaches the "
			       "limit sends XOFF"},
	{"shared_xon_bytes", "XON threshold: a lossless group sends XON when shared_bytes has "
			     "fallen to it"},
	{"watermark_bytes", "most bytes in use by the group since the last clear"},
	{"persistent_watermark_bytes", "most bytes in use by the group since the start"},
	{"shared_watermark_bytes", "most bytes of the shared buffer in use by the group since the last clear"},
	{"shared_persistent_watermark_bytes", "most bytes of the shared buffer in use by the group since the start"},
	{"headroom_watermark_bytes", "most bytes of the headroom in use by the group since the last clear"},
	{"headroom_persistent_watermark_bytes", "most bytes of the headroom in use by the group since the start"},
	{0},
};

static const struct meaning pool_meanings[] = {
	{"size_bytes", "size of the pool"},
	{"used_bytes", "bytes of the pool in use"},
	{"watermark_bytes", "most bytes of the pool in use since the last clear"},
	{"persistent_watermark_bytes", "most bytes of the pool in use since the start"},
	{0},
};

static const struct meaning buffer_meanings[] = {
	{"buffer_bytes", "size of the shared buffer"},
	{"buffer_used_bytes", "bytes charged on the ingress side, over all priority groups"},
	{"headroom_pool_watermark_bytes", "most bytes of headroom in use since the last clear"},
	{"headroom_pool_persistent_watermark_bytes", "most bytes of headroom in use since the start"},
	{0},
};

static const struct meaning ledger_meanings[] = {
	{"queued", "charged bytes in queues"},
	{0},
};

static const struct meaning fdb_meanings[] = {
	{"entries", "addresses in the forwarding table"},
	{0},
};

static const struct meaning pfcwd_meanings[] = {
	{"status", "whether the queue is in a storm"},
	{"big_red_switch", "whether all watched queues drop their frames (SONiC's Big Red Switch)"},
	{0},
};

static const struct meaning dcbx_meanings[] = {
	{"neighbour", "whether a neighbour sends LLDP"},
	{"pfc_agreed", "bit mask of priorities for which both ends run PFC"},
	{"pfc_ours", "bit mask of priorities for which the switch advertises PFC"},
	{"pfc_peer", "bit mask of priorities for which the peer advertises PFC"},
	{0},
};
/* clang-format on */

json_t *
switch_counters_reply(struct desk_call *call)
{
	const struct catalogue tables[] = {
		{"run", .meanings = run_counters},
		{"port", .fields = sw_port_counter_fields, .n_fields = sw_port_counter_fields_n},
		{"port", .meanings = port_counter_meanings},
		{"device", .meanings = device_meanings},
		{"drop", .fields = sw_drop_counter_fields, .n_fields = SW_DROPS},
		{"drop", .meanings = drop_meanings},
		{"malformed", .fields = sw_malformed_counter_fields,
		 .n_fields = sw_malformed_counter_fields_n},
		{"queue", .fields = sw_queue_counter_fields, .n_fields = sw_queue_counter_fields_n},
#define MARK(id, word) {"queue", .fields = word##_counters, .n_fields = word##_counters_n},
#include "tm/queue/mark_table.h"
#undef MARK
		{"pg", .fields = sw_pg_counter_fields, .n_fields = sw_pg_counter_fields_n},
		{"pfc", .meanings = pfc_meanings},
		{"pfcwd", .fields = pfcwd_counters, .n_fields = pfcwd_counters_n},
		{"router", .fields = sw_router_counter_fields,
		 .n_fields = sw_router_counter_fields_n},
		{"interface", .fields = sw_interface_counter_fields,
		 .n_fields = sw_interface_counter_fields_n},
		{"fdb", .fields = sw_fdb_counter_fields, .n_fields = sw_fdb_counter_fields_n},
		{"dcbx", .fields = dcbx_counters, .n_fields = dcbx_counters_n},
		{"ledger", .fields = sw_ledger_counter_fields,
		 .n_fields = sw_ledger_counter_fields_n},
	};

	(void)call;
	return catalogue_object(tables, ARRAY_LEN(tables));
}

json_t *
switch_gauges_reply(struct desk_call *call)
{
	const struct catalogue tables[] = {
		{"run", .meanings = run_meanings},
		{"port", .meanings = port_gauge_meanings},
		{"port", .meanings = port_meanings},
		{"queue", .meanings = queue_meanings},
		{"wred", .params = wred_fields, .n_params = wred_fields_n},
		{"pg", .meanings = pg_meanings},
		{"pool", .meanings = pool_meanings},
		{"buffer", .meanings = buffer_meanings},
		{"ledger", .meanings = ledger_meanings},
		{"mempool", .meanings = mempool_meanings},
		{"pfcwd", .meanings = pfcwd_meanings},
		{"pfcwd", .fields = pfcwd_last_counters, .n_fields = pfcwd_last_counters_n},
		{"fdb", .meanings = fdb_meanings},
		{"dcbx", .meanings = dcbx_meanings},
	};

	(void)call;
	return catalogue_object(tables, ARRAY_LEN(tables));
}
