/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_desk.h"

#include <inttypes.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "runtime/methods/methods.h"
#include "runtime/report/report.h"
#include "runtime/notice/say.h"
#include "ctl/output/json.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/flows/flows.h"
#include "quench-nic/desk/nic_report.h"
#include "quench-nic/nodes/nodes.h"

static const struct nic_config *
config_of(const struct desk_call *call)
{
	return nic_config_of(call->version);
}

static json_t *
info_reply(struct desk_call *call)
{
	const struct run_app *app = call->desk->app;
	const struct nic_config *config = config_of(call);
	json_t *o = report_program("quench-nic", desk_now_ns(call));

	report_set_u64(o, "lcores", app->n_nodes);
	json_object_set_new(o, "cc", json_string(cc_words[config->nic.cc]));
	json_object_set_new(o, "icrc_check", json_string(config->nic.icrc_check ? "on" : "off"));
	json_object_set_new(o, "measure_times",
			    json_string(nic_measures_all_times(app) ? "on" : "off"));
	json_object_set_new(o, "done", json_boolean(nic_all_done(app)));
	report_set_u64(o, "flows", config->n_flows);
	report_set_u64(o, "qps", nic_config_qps(config));
	report_set_u64(o, "suppressed_lines", say_suppressed());
	return o;
}

static json_t *
port_reply(struct desk_call *call)
{
	uint64_t port = 0;
	json_t *o;

	if (!desk_number(call, "port", 0, 0, &port))
		return NULL;
	o = nic_port_object(call->desk->app, call->desk->result, &config_of(call)->nic,
			    desk_now_ns(call));
	json_object_set_new(o, "link", json_string(report_link_word(call->desk->result, 0)));
	return o;
}

static json_t *
pauses_reply(struct desk_call *call)
{
	const struct run_app *app = call->desk->app;
	uint64_t port = 0;
	json_t *o;

	if (!desk_number(call, "port", 0, 0, &port))
		return NULL;
	o = json_object();
	report_set_u64(o, "port", port);
	json_object_set_new(o, "pauses",
			    report_pauses(nic_pfc_rx(app->node), nic_pfc_tx(app->node), false,
					  desk_now_ns(call)));
	return o;
}

static json_t *
nic_reply(struct desk_call *call)
{
	return nic_counters_object(call->desk->app, call->desk->result);
}

static json_t *
np_reply(struct desk_call *call)
{
	const struct nic_stats total = nic_total_stats(call->desk->app);
	json_t *o = json_object();

	json_set_counters(o, np_counters, np_counters_n, &total.np);
	json_set_fields(o, np_fields, np_fields_n, &config_of(call)->nic.np);
	return o;
}

/* The algorithm in force, its counters and its parameters; those of dcqcn with none. */
static json_t *
rp_reply(struct desk_call *call)
{
	const struct nic_stats total = nic_total_stats(call->desk->app);
	const struct nic_params *nic = &config_of(call)->nic;
	const int algorithm = nic->cc == CC_NONE ? CC_DCQCN : nic->cc;
	const struct cc_ops *ops = cc_algorithms[algorithm];
	json_t *o = json_object();

	json_object_set_new(o, "cc", json_string(cc_words[nic->cc]));
	json_set_counters(o, rp_counters, rp_counters_n, &total.rp);
	if (algorithm != CC_DCQCN)
		json_set_counters(o, ops->counters, *ops->n_counters,
				  &total.cc.of[CC_SLOT(algorithm)]);
	json_set_fields(o, ops->fields, *ops->n_fields, &nic->cc_params.of[CC_SLOT(algorithm)]);
	return o;
}

static json_t *
flows_row(struct desk_call *call, void *flows, uint64_t i)
{
	return flows_object(flows, (unsigned int)i, desk_now_ns(call));
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

static json_t *
streams_row(struct desk_call *call, void *arg, uint64_t i)
{
	const struct nic_frames_info info = nic_frames_info(call->desk->app->node, (uint32_t)i);
	json_t *row = json_object();

	(void)arg;
	json_object_set_new(row, "name", json_string(config_of(call)->streams[i].name));
	report_set_u64(row, "tx_packets", info.tx_packets);
	report_set_u64(row, "tx_bytes", info.tx_bytes);
	json_object_set_new(row, "started", json_boolean(info.started));
	return row;
}

static json_t *
frames_reply(struct desk_call *call)
{
	uint64_t total = config_of(call)->n_streams;

	return desk_list_reply(call, &(struct desk_list){.end = total, .row = streams_row});
}

/* A position in the list of QPs: a flow, and the number of QPs of all flows before it. */
struct qp_cursor {
	uint64_t before;
	unsigned int flow;
};

static json_t *
qps_row(struct desk_call *call, void *arg, uint64_t i)
{
	const struct nic_config *config = config_of(call);
	struct qp_cursor *at = arg;

	while (i - at->before >= config->flows[at->flow].qp_count)
		at->before += config->flows[at->flow++].qp_count;
	return nic_qp_object(call->desk->app, config, &config->flows[at->flow],
			     config->flows[at->flow].first_number + (uint32_t)(i - at->before),
			     desk_now_ns(call));
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
	uint64_t qpn;
	json_t *o;

	if (!desk_number(call, "qpn", first, (uint64_t)first + config->nic.max_qps - 1, &qpn))
		return NULL;
	number = (uint32_t)qpn - first;
	flow = nic_config_flow_of(config, number, NULL);
	if (flow == NULL)
		return desk_refuse(call, "a QPN of show qps", "no flow has QP %" PRIu64, qpn);
	o = nic_qp_object(call->desk->app, config, flow, number, desk_now_ns(call));
	nic_add_wait(o, call->desk->app, config, number, desk_now_ns(call));
	return o;
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
	{"info", NULL, "Returns program, version, run time", info_reply},
	{"counters", NULL, "Returns names and meanings of counters", nic_counters_reply},
	{"gauges", NULL, "Returns names and meanings of gauges", nic_gauges_reply},
	{"port", port_params, "Returns the port and its pauses", port_reply},
	{"pauses", port_params, "Returns the latest pauses of the port", pauses_reply},
	{"mempools", NULL, "Returns mbuf pools", mempools_reply},
	{"nic", NULL, "Returns all counters, drops included", nic_reply},
	{"np", NULL, "Returns counters and keys of the notification point", np_reply},
	{"rp", NULL, "Returns counters and keys of congestion control", rp_reply},
	{"flows", column_params, "Returns flows", flows_reply},
	{"times", flow_params, "Returns histograms of a flow's times", times_reply},
	{"frames", NULL, "Returns streams of frames", frames_reply},
	{"qps", column_params, "Returns QPs", qps_reply},
	{"qp", qpn_params, "Returns the QP with this local number", qp_reply},
	{"traces", NULL, "Returns QPs that are traced", traces_reply},
	{"trace", trace_params, "Returns rows of a QP's trace", trace_reply},
	{"set_trace", set_trace_params, "Sets whether a QP is traced", set_trace_reply},
	{"reset", flow_params, "Sets the QPs of a flow to their initial PSN", reset_reply},
	{"connections", list_params, "Returns connections by RDMA CM", connections_reply},
	{"remove", remove_params, "Sets the configuration to one without these flows", remove_reply},
	{"free_qpns", count_params, "Returns the first of COUNT free consecutive QP numbers", free_qpns_reply},
	CAPTURE_METHOD,
	CONFIG_METHODS,
};
/* clang-format on */

const unsigned int nic_methods_n = ARRAY_LEN(nic_methods);
