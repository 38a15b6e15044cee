/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_desk.h"

#include <inttypes.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "runtime/methods/methods.h"
#include "runtime/report/report.h"
#include "ctl/output/json.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/flows/flows.h"
#include "quench-nic/desk/nic_report.h"
#include "quench-nic/nodes/nodes.h"
#include "wire/bytes/be.h"

static const struct nic_config *
config_of(const struct desk_call *call)
{
	return nic_config_of(call->version);
}

static void
walk_info(struct walk *w, const struct desk_call *call)
{
	const struct run_app *app = call == NULL ? NULL : call->desk->app;
	const struct nic_config *config = call == NULL ? NULL : config_of(call);

	report_walk_program(w, "quench-nic", call == NULL ? 0 : desk_now_ns(call));
	report_walk_started(w, call == NULL ? 0 : desk_now_ns(call));
	nic_walk_state(w, app, config);
	WALK(number, w, GAUGE, "flows", "flows", config->n_flows);
	WALK(number, w, GAUGE, "qps", "QPs", nic_config_qps(config));
	report_walk_suppressed(w);
}

static void
walk_port(struct walk *w, const struct desk_call *call)
{
	const struct run_result *result = call == NULL ? NULL : call->desk->result;

	nic_walk_port(w, call == NULL ? NULL : call->desk->app, result,
		      call == NULL ? NULL : &config_of(call)->nic,
		      call == NULL ? 0 : desk_now_ns(call));
	report_walk_link(w, result, 0);
}

static void
walk_latest_pauses(struct walk *w, const struct desk_call *call)
{
	const struct node *node = call == NULL ? NULL : call->desk->app->node;

	walk_number(w, WALK_KEY, "port", "0, the only port", 0);
	report_walk_macs(w, node == NULL ? 0 : be48_load(config_of(call)->nic.mac),
			 node == NULL ? 0 : nic_pause_source(node));
	report_walk_pauses(w, node == NULL ? NULL : nic_pfc_rx(node),
			   node == NULL ? NULL : nic_pfc_tx(node), false,
			   node == NULL ? 0 : desk_now_ns(call));
}

static void
walk_nic(struct walk *w, const struct desk_call *call)
{
	nic_walk_all_counters(w, call == NULL ? NULL : call->desk->app,
			      call == NULL ? NULL : call->desk->result);
}

static void
walk_np(struct walk *w, const struct desk_call *call)
{
	struct nic_stats total = {0};

	if (call != NULL)
		total = nic_total_stats(call->desk->app);
	w->object = "np";
	walk_counters(w, WALK_COUNTER, np_counters, np_counters_n, &total.np);
	walk_fields(w, WALK_PARAM, np_fields, np_fields_n,
		    call == NULL ? NULL : &config_of(call)->nic.np);
}

/*
 * The algorithms in force, their counters and parameters; those of dcqcn if there is only none. The
 * names of all are those that the reply may have.
 */
static void
walk_rp(struct walk *w, const struct desk_call *call)
{
	static const char *const objects[] = {
#define CC(id, word, section) [CC_##id] = #section,
#include "cc/cc_table.h"
#undef CC
	};
	const struct nic_params *nic = call == NULL ? NULL : &config_of(call)->nic;
	uint32_t algorithms = call == NULL ? 0 : nic_cc_mask(nic) & ~(1u << CC_NONE);
	struct nic_stats total = {0};

	if (call != NULL)
		total = nic_total_stats(call->desk->app);
	if (algorithms == 0)
		algorithms = 1u << CC_DCQCN;
	w->object = "rp";
	WALK(text, w, KEY, "cc", "congestion control, a word of the key cc", cc_words[nic->cc]);
	walk_counters(w, WALK_COUNTER, rp_counters, rp_counters_n, &total.rp);
	w->optional = true;
	for (int i = CC_NONE + 1; i < CC_ALGORITHMS; i++) {
		const struct cc_ops *ops = cc_algorithms[i];

		if (call != NULL && !(algorithms >> i & 1))
			continue;
		w->object = objects[i];
		if (i != CC_DCQCN)
			walk_counters(w, WALK_COUNTER, ops->counters, *ops->n_counters,
				      &total.cc.of[CC_SLOT(i)]);
		walk_fields(w, WALK_PARAM, ops->fields, *ops->n_fields,
			    call == NULL ? NULL : &nic->cc_params.of[CC_SLOT(i)]);
	}
	w->optional = false;
}

static json_t *
of_nic(const struct desk_call *call, void (*walk)(struct walk *w, const struct desk_call *call))
{
	struct json_walk j = json_walk(json_object());

	walk(&j.walk, call);
	return j.at;
}

/* The method NAME, by its walk. */
#define OF_NIC(name, walk_of)                                                                      \
	static json_t *name##_reply(struct desk_call *call)                                        \
	{                                                                                          \
		return of_nic(call, walk_of);                                                      \
	}                                                                                          \
	static void name##_result(struct walk *w)                                                  \
	{                                                                                          \
		walk_of(w, NULL);                                                                  \
	}

OF_NIC(info, walk_info)
OF_NIC(nic, walk_nic)
OF_NIC(np, walk_np)
OF_NIC(rp, walk_rp)
OF_NIC(port_0, walk_port)
OF_NIC(pauses_0, walk_latest_pauses)

static json_t *
port_reply(struct desk_call *call)
{
	uint64_t port = 0;

	return desk_number(call, "port", 0, 0, &port) ? port_0_reply(call) : NULL;
}

static json_t *
pauses_reply(struct desk_call *call)
{
	uint64_t port = 0;

	return desk_number(call, "port", 0, 0, &port) ? pauses_0_reply(call) : NULL;
}

static bool
flows_row(struct walk *w, struct desk_call *call, void *flows, uint64_t i)
{
	flows_walk(w, flows, (unsigned int)i, call == NULL ? 0 : desk_now_ns(call));
	return true;
}

static void
flows_result(struct walk *w)
{
	desk_list_result(w, flows_row);
}

/* Flows of the configuration, then removed ones. */
static json_t *
flows_reply(struct desk_call *call)
{
	struct flow_registry *registry = ((const struct nic_version *)call->version)->registry;
	struct flows flows;
	json_t *o;

	/* Do not use the main lcore's struct flows: only one thread at a time may use it. */
	if (flows_open(&flows, config_of(call), registry, NULL) != 0) {
		flows_close(&flows);
		return desk_refuse(call, "more memory", "out of memory");
	}
	flow_registry_read_begin(registry);
	o = desk_list_reply(
		call,
		&(struct desk_list){.end = flows_list(&flows), .row = flows_row, .arg = &flows});
	flow_registry_read_end(registry);
	flows_close(&flows);
	return o;
}

static bool
streams_row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	struct nic_frames_info info = {0};

	(void)arg;
	if (call != NULL)
		info = nic_frames_info(call->desk->app->node, (uint32_t)i);
	WALK(text, w, KEY, "name", "name of the stream", config_of(call)->streams[i].name);
	walk_number(w, WALK_KEY, "tx_packets", "frames sent, of all starts", info.tx_packets);
	walk_number(w, WALK_KEY, "tx_bytes", "bytes of tx_packets, with FCS", info.tx_bytes);
	walk_number(w, WALK_KEY, "missed_bytes",
		    "wire bytes that were due by the rate and are never sent, because polls were "
		    "late, or the device or port had no room",
		    info.missed_bytes);
	walk_flag(w, WALK_KEY, "started", "whether frames are left of the last start",
		  info.started);
	walk_flag(w, WALK_KEY, "paused", "whether it keeps its place, and sends nothing",
		  info.paused);
	return true;
}

static void
frames_result(struct walk *w)
{
	desk_list_result(w, streams_row);
}

static json_t *
frames_reply(struct desk_call *call)
{
	uint64_t total = config_of(call)->n_streams;

	return desk_list_reply(call, &(struct desk_list){.end = total, .row = streams_row});
}

/* The id that a slot has on most recent frames, counted on all lcores. */
static struct nic_tracked_info
tracked_total(const struct run_app *app, uint32_t slot)
{
	struct nic_tracked_info total = {0};

	for (uint16_t i = 0; i < app->n_nodes; i++) {
		const struct nic_tracked_info part = nic_tracked_info(app->nodes[i], slot);
		const struct nic_tracked_info before = total;

		if (part.rx_packets == 0 || (before.rx_packets > 0 && part.id != before.id &&
					     part.last_ns < before.last_ns))
			continue;
		total = part;
		if (before.rx_packets == 0 || before.id != part.id)
			continue;
		total.rx_packets += before.rx_packets;
		total.rx_bytes += before.rx_bytes;
		total.timed += before.timed;
		total.latency_sum_ns += before.latency_sum_ns;
		total.latency_min_ns = RTE_MIN(part.latency_min_ns, before.latency_min_ns);
		total.latency_max_ns = RTE_MAX(part.latency_max_ns, before.latency_max_ns);
		total.first_ns = RTE_MIN(part.first_ns, before.first_ns);
		total.last_ns = RTE_MAX(part.last_ns, before.last_ns);
		/* Each lcore has seen a part of the numbers. */
		total.numbered = 0;
	}
	return total;
}

static bool
signature_row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	struct nic_tracked_info t = {0};

	if (call != NULL)
		t = tracked_total(call->desk->app, ((uint32_t *)arg)[i]);
	walk_number(w, WALK_KEY, "signature", "number of the stream", t.id);
	walk_number(w, WALK_KEY, "rx_packets", "frames received", t.rx_packets);
	walk_number(w, WALK_KEY, "rx_bytes", "bytes of rx_packets, with FCS", t.rx_bytes);
	walk_number(w, WALK_KEY, "first_ns",
		    "arrival of the first frame, by a clock that all programs of a machine share",
		    t.first_ns);
	walk_number(w, WALK_KEY, "last_ns", "arrival of the last frame", t.last_ns);
	w->optional = true;
	if (w->names_only || t.timed > 0) {
		walk_number(w, WALK_KEY, "latency_min_ns",
			    "shortest latency; absent for signatures without a time",
			    t.latency_min_ns);
		walk_number(w, WALK_KEY, "latency_max_ns", "longest latency", t.latency_max_ns);
		walk_number(w, WALK_KEY, "latency_avg_ns", "mean latency",
			    t.timed > 0 ? t.latency_sum_ns / t.timed : 0);
	}
	if (w->names_only || t.numbered) {
		walk_number(w, WALK_KEY, "lost",
			    "frames before later ones that did not come; absent for signatures "
			    "without a number, and if several lcores received them",
			    t.lost);
		walk_number(w, WALK_KEY, "reordered", "frames that came after later ones",
			    t.reordered);
		walk_number(w, WALK_KEY, "duplicates", "frames that came again", t.duplicates);
		walk_number(w, WALK_KEY, "old",
			    "frames older than the last 256, or of an earlier start: late, or "
			    "again",
			    t.old);
	}
	w->optional = false;
	return true;
}

static void
signatures_result(struct walk *w)
{
	desk_list_result(w, signature_row);
}

/* Only slots of streams that have arrived. */
static json_t *
signatures_reply(struct desk_call *call)
{
	uint32_t n = config_of(call)->nic.signatures;
	uint32_t *slots = calloc(n + 1, sizeof(*slots));
	uint64_t total = 0;
	json_t *o;

	if (slots == NULL)
		return desk_refuse(call, "more memory", "out of memory");
	for (uint32_t i = 0; i < n; i++)
		if (tracked_total(call->desk->app, i).rx_packets > 0)
			slots[total++] = i;
	o = desk_list_reply(call,
			    &(struct desk_list){.end = total, .row = signature_row, .arg = slots});
	free(slots);
	return o;
}

/* A position in the list of QPs: a flow, and the number of QPs of all flows before it. */
struct qp_cursor {
	uint64_t before;
	unsigned int flow;
};

static bool
qps_row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	const struct nic_config *config = call == NULL ? NULL : config_of(call);
	struct qp_cursor *at = arg;

	if (call == NULL) {
		nic_walk_qp_of(w, NULL, NULL, NULL, 0, 0);
		return true;
	}
	while (i - at->before >= config->flows[at->flow].qp_count)
		at->before += config->flows[at->flow++].qp_count;
	nic_walk_qp_of(w, call->desk->app, config, &config->flows[at->flow],
		       config->flows[at->flow].first_number + (uint32_t)(i - at->before),
		       desk_now_ns(call));
	return true;
}

static void
qps_result(struct walk *w)
{
	desk_list_result(w, qps_row);
}

static void
qp_result(struct walk *w)
{
	nic_walk_qp_of(w, NULL, NULL, NULL, 0, 0);
	nic_walk_wait(w, NULL, NULL, 0, 0);
}

static json_t *
qps_reply(struct desk_call *call)
{
	uint64_t total = nic_config_qps(config_of(call));
	struct qp_cursor first = {0};

	return desk_list_reply(call,
			       &(struct desk_list){.end = total, .row = qps_row, .arg = &first});
}

static json_t *
qp_reply(struct desk_call *call)
{
	const struct nic_config *config = config_of(call);
	uint32_t first = config->nic.first_qpn, number;
	const struct nic_flow *flow;
	struct json_walk j;
	uint64_t qpn;

	if (!desk_number(call, "qpn", first, (uint64_t)first + config->nic.max_qps - 1, &qpn))
		return NULL;
	number = (uint32_t)qpn - first;
	flow = nic_config_flow_of(config, number, NULL);
	if (flow == NULL)
		return desk_refuse(call, "a QPN of show qps", "no flow has QP %" PRIu64, qpn);
	j = json_walk(json_object());
	nic_walk_qp_of(&j.walk, call->desk->app, config, flow, number, desk_now_ns(call));
	nic_walk_wait(&j.walk, call->desk->app, config, number, desk_now_ns(call));
	return j.at;
}

static const struct desk_param port_params[] = {
	{"port", DESK_NUMBER, false, "0, the only port"},
	{0},
};

static const struct desk_param list_params[] = {DESK_LIST_PARAMS, {0}};
static const struct desk_param column_params[] = {DESK_LIST_PARAMS, DESK_COLUMNS_PARAM, {0}};

static const struct desk_param flow_params[] = {
	{"flow", DESK_WORD, true, "the name of a flow"},
	{0},
};

static const struct desk_param qpn_params[] = {
	{"qpn", DESK_NUMBER, true, "a QPN of show qps"},
	{0},
};

#define ID_PARAM                                                                                   \
	{                                                                                          \
		"id", DESK_WORD, true, "a local QPN, FLOW for its first QP, or FLOW#I"             \
	}

static const struct desk_param trace_params[] = {
	ID_PARAM,
	{"first", DESK_NUMBER, false,
	 "number of the first row, counted from the start of the trace"},
	{0},
};

static const struct desk_param story_params[] = {
	ID_PARAM,
	{"lines", DESK_NUMBER, false, "largest number of lines, from 1 to 1000; 24 without it"},
	{0},
};

static const struct desk_param set_trace_params[] = {
	ID_PARAM,
	{"action", DESK_WORD, true, "start, stop, on or off"},
	{0},
};

static const struct desk_param remove_params[] = {
	{"flows", DESK_WORDS, true, "names of flows"},
	{0},
};

static const struct desk_param count_params[] = {
	{"count", DESK_NUMBER, false, "QP numbers wanted; 1 without it"},
	{0},
};

/* clang-format off */
const struct desk_method nic_methods[] = {
	{"info", NULL, "Returns program, version, run time", info_reply, info_result},
	{"port", port_params, "Returns the port and its pauses", port_reply, port_0_result},
	{"pauses", port_params, "Returns the latest pauses of the port", pauses_reply, pauses_0_result},
	{"mempools", NULL, "Returns mbuf pools", mempools_reply, mempools_result},
	{"nic", NULL, "Returns all counters, drops included", nic_reply, nic_result},
	{"np", NULL, "Returns counters and keys of the notification point", np_reply, np_result},
	{"rp", NULL, "Returns counters and keys of congestion control", rp_reply, rp_result},
	{"flows", column_params, "Returns flows", flows_reply, flows_result},
	{"times", flow_params, "Returns histograms of a flow's times", times_reply, times_result},
	{"jobs", list_params, "Returns jobs whose ranks run here", jobs_reply, jobs_result},
	{"frames", NULL, "Returns streams of frames", frames_reply, frames_result},
	{"signatures", NULL, "Returns signed frames that were received", signatures_reply, signatures_result},
	{"qps", column_params, "Returns QPs", qps_reply, qps_result},
	{"qp", qpn_params, "Returns the QP with this local number", qp_reply, qp_result},
	{"traces", NULL, "Returns QPs that are traced", traces_reply, traces_result},
	{"trace", trace_params, "Returns rows of a QP's trace", trace_reply, trace_result},
	{"story", story_params, "Returns a QP's trace in words, in a few lines", story_reply, story_result},
	{"set_trace", set_trace_params, "Sets whether a QP is traced", set_trace_reply, set_trace_result},
	{"reset", flow_params, "Sets the QPs of a flow to their initial PSN, or a job to its start", reset_reply, reset_result},
	{"connections", list_params, "Returns connections by RDMA CM", connections_reply, connections_result},
	{"remove", remove_params, "Sets the configuration to one without these flows", remove_reply, config_change_result},
	{"free_qpns", count_params, "Returns the first of COUNT free consecutive QP numbers", free_qpns_reply, free_qpns_result},
	CAPTURE_METHOD,
	CONFIG_METHODS,
};
/* clang-format on */

const unsigned int nic_methods_n = ARRAY_LEN(nic_methods);
