/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/telemetry/nic_telemetry.h"

#include <inttypes.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "runtime/report/telemetry_capture.h"
#include "runtime/report/telemetry_config.h"
#include "runtime/telemetry/mempools.h"
#include "runtime/report/report.h"
#include "runtime/notice/say.h"
#include "ctl/output/json.h"
#include "quench-nic/telemetry/nic_catalogue.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/flows/flows.h"
#include "quench-nic/telemetry/nic_report.h"
#include "quench-nic/telemetry/nic_telemetry_flows.h"
#include "quench-nic/telemetry/nic_telemetry_reset.h"
#include "quench-nic/telemetry/nic_telemetry_times.h"
#include "quench-nic/nodes/totals.h"
#include "quench-nic/telemetry/nic_telemetry_trace.h"

static const struct nic_config *
config_of(const struct telemetry_call *call)
{
	return nic_config_of(call->version);
}

static json_t *
info_reply(struct telemetry_call *call)
{
	const struct run_app *app = call->telemetry->app;
	const struct nic_config *config = config_of(call);
	json_t *o = report_program("quench-nic", telemetry_now_ns(call));

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
port_reply(struct telemetry_call *call)
{
	uint64_t port = 0;
	json_t *o;

	if (!telemetry_optional_number(call, 0, "PORT", 0, 0, &port))
		return NULL;
	o = nic_port_object(call->telemetry->app, call->telemetry->result, &config_of(call)->nic,
			    telemetry_now_ns(call));
	json_object_set_new(o, "link", json_string(report_link_word(call->telemetry->result, 0)));
	return o;
}

static json_t *
pauses_reply(struct telemetry_call *call)
{
	const struct run_app *app = call->telemetry->app;
	uint64_t port = 0;
	json_t *o;

	if (!telemetry_optional_number(call, 0, "PORT", 0, 0, &port))
		return NULL;
	o = json_object();
	report_set_u64(o, "port", port);
	json_object_set_new(o, "pauses",
			    report_pauses(nic_pfc_rx(app->node), nic_pfc_tx(app->node), false,
					  telemetry_now_ns(call)));
	return o;
}

static json_t *
nic_reply(struct telemetry_call *call)
{
	return nic_counters_object(call->telemetry->app, call->telemetry->result);
}

static json_t *
np_reply(struct telemetry_call *call)
{
	const struct nic_stats total = nic_total_stats(call->telemetry->app);
	json_t *o = json_object();

	json_set_counters(o, np_counters, np_counters_n, &total.np);
	json_set_fields(o, np_fields, np_fields_n, &config_of(call)->nic.np);
	return o;
}

/* The algorithm in force, its counters and its parameters; those of dcqcn with none. */
static json_t *
rp_reply(struct telemetry_call *call)
{
	const struct nic_stats total = nic_total_stats(call->telemetry->app);
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
flows_row(struct telemetry_call *call, void *flows, uint64_t i)
{
	return flows_object(flows, (unsigned int)i, telemetry_now_ns(call));
}

/* Flows of the configuration, then removed ones. */
static json_t *
flows_page(struct telemetry_call *call, struct flows *flows)
{
	uint64_t total = flows_list(flows);

	return telemetry_list_reply(call, &(struct telemetry_list){.end = total,
								   .max_first = total - 1,
								   .row = flows_row,
								   .arg = flows});
}

static json_t *
flows_reply(struct telemetry_call *call)
{
	struct flow_registry *registry = ((const struct nic_version *)call->version)->registry;
	struct flows flows;
	json_t *o;

	/* Do not use the main lcore's struct flows: only one thread at a time may use it. */
	if (flows_open(&flows, config_of(call), registry, NULL) != 0) {
		flows_close(&flows);
		return telemetry_refuse(call, "more memory", "out of memory");
	}
	flow_registry_read_begin(registry);
	o = flows_page(call, &flows);
	flow_registry_read_end(registry);
	flows_close(&flows);
	return o;
}

static json_t *
streams_row(struct telemetry_call *call, void *arg, uint64_t i)
{
	const struct nic_frames_info info =
		nic_frames_info(call->telemetry->app->node, (uint32_t)i);
	json_t *row = json_object();

	(void)arg;
	json_object_set_new(row, "name", json_string(config_of(call)->streams[i].name));
	report_set_u64(row, "tx_packets", info.tx_packets);
	report_set_u64(row, "tx_bytes", info.tx_bytes);
	json_object_set_new(row, "started", json_boolean(info.started));
	return row;
}

static json_t *
frames_reply(struct telemetry_call *call)
{
	uint64_t total = config_of(call)->n_streams;

	return telemetry_list_reply(
		call,
		&(struct telemetry_list){.end = total, .max_first = total - 1, .row = streams_row});
}

/* A position in the list of QPs: a flow, and the number of QPs of all flows before it. */
struct qp_cursor {
	uint64_t before;
	unsigned int flow;
};

static json_t *
qps_row(struct telemetry_call *call, void *arg, uint64_t i)
{
	const struct nic_config *config = config_of(call);
	struct qp_cursor *at = arg;

	while (i - at->before >= config->flows[at->flow].qp_count)
		at->before += config->flows[at->flow++].qp_count;
	return nic_qp_object(call->telemetry->app, config, &config->flows[at->flow],
			     config->flows[at->flow].first_number + (uint32_t)(i - at->before),
			     telemetry_now_ns(call));
}

static json_t *
qps_reply(struct telemetry_call *call)
{
	uint64_t total = nic_config_qps(config_of(call));
	struct qp_cursor first = {0};

	return telemetry_list_reply(
		call, &(struct telemetry_list){
			      .end = total, .max_first = total - 1, .row = qps_row, .arg = &first});
}

static json_t *
qp_reply(struct telemetry_call *call)
{
	const struct nic_config *config = config_of(call);
	uint32_t first = config->nic.first_qpn, number;
	const struct nic_flow *flow;
	uint64_t qpn;
	json_t *o;

	if (!telemetry_number(call, 0, "QPN", first, (uint64_t)first + config->nic.max_qps - 1,
			      &qpn))
		return NULL;
	number = (uint32_t)qpn - first;
	flow = nic_config_flow_of(config, number, NULL);
	if (flow == NULL)
		return telemetry_refuse(call, "a QPN of /quench/qps", "no flow has QP %" PRIu64,
					qpn);
	o = nic_qp_object(call->telemetry->app, config, flow, number, telemetry_now_ns(call));
	nic_add_wait(o, call->telemetry->app, config, number, telemetry_now_ns(call));
	return o;
}

/* clang-format off */
const struct telemetry_endpoint nic_endpoints[] = {
	{"/quench/info", "", "Returns program, version, run time", 0, info_reply},
	{"/quench/counters", "[,FIRST]", "Returns names and meanings of counters", 1, nic_counters_reply},
	{"/quench/gauges", "[,FIRST]", "Returns names and meanings of gauges", 1, nic_gauges_reply},
	{"/quench/port", "[,PORT]", "Returns the port and its pauses", 1, port_reply},
	{"/quench/pauses", "[,PORT]", "Returns the latest pauses of the port", 1, pauses_reply},
	{"/quench/mempools", "", "Returns mbuf pools", 0, mempools_reply},
	{"/quench/nic", "", "Returns all counters, drops included", 0, nic_reply},
	{"/quench/np", "", "Returns counters and keys of the notification point", 0, np_reply},
	{"/quench/rp", "", "Returns counters and keys of congestion control", 0, rp_reply},
	{"/quench/flows", "[,FIRST[,COUNT[,COLUMNS]]]", "Returns flows", 3, flows_reply},
	{"/quench/times", ",FLOW[,FIRST[,COUNT]]", "Returns histograms of a flow's times", 3, times_reply},
	{"/quench/frames", "[,FIRST]", "Returns streams of frames", 1, frames_reply},
	{"/quench/qps", "[,FIRST[,COUNT[,COLUMNS]]]", "Returns QPs", 3, qps_reply},
	{"/quench/qp", ",QPN", "Returns the QP with this local number", 1, qp_reply},
	{"/quench/traces", "[,FIRST]", "Returns QPs that are traced", 1, traces_reply},
	{"/quench/trace", ",ID[,FIRST]", "Returns rows of a QP's trace", 2, trace_reply},
	{"/quench/set/trace", ",ID,start|stop|on|off", "Sets whether a QP is traced", 2, set_trace_reply},
	{"/quench/reset", ",FLOW", "Sets the QPs of a flow to their initial PSN", TELEMETRY_WHOLE, reset_reply},
	{"/quench/connections", "[,FIRST[,COUNT]]", "Returns connections by RDMA CM", 2, connections_reply},
	{"/quench/remove", ",FLOW", "Sets the configuration to one without this flow", TELEMETRY_WHOLE, remove_reply},
	{"/quench/free_qpns", "[,COUNT]", "Returns the first of COUNT free consecutive QP numbers", 1, free_qpns_reply},
	CAPTURE_ENDPOINT,
	CONFIG_ENDPOINTS,
};
/* clang-format on */

const unsigned int nic_endpoints_n = ARRAY_LEN(nic_endpoints);
