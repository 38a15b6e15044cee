/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_report.h"

#include <stdio.h>

#include "base/numbers/array.h"
#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "runtime/report/report.h"
#include "runtime/notice/scaled.h"
#include "ctl/output/json.h"
#include "nic/observe/wait.h"
#include "nic/port/share.h"
#include "quench-nic/nodes/nodes.h"

void
nic_stats_line(const struct run_app *app, struct run_traffic *traffic, char *text,
	       unsigned int text_size)
{
	const struct nic_stats total = nic_total_stats(app), *s = &total;
	char n[6][SCALED_CHARS];
	uint64_t drops = 0;

	for (unsigned int d = 0; d < NIC_DROPS; d++)
		drops += counter_read(&s->drops[d]);
	*traffic = (struct run_traffic){
		.rx_packets = counter_read(&s->rx_packets),
		.rx_bytes = counter_read(&s->rx_bytes),
		.tx_packets = counter_read(&s->tx_packets),
		.tx_bytes = counter_read(&s->tx_bytes),
	};
	snprintf(text, text_size, "drops %s ce %s cnp %s/%s resent %s pause rx %s",
		 scaled_count(n[0], drops),
		 scaled_count(n[1], counter_read(&s->np.np_ecn_marked_roce_packets)),
		 scaled_count(n[2], counter_read(&s->np.np_cnp_sent)),
		 scaled_count(n[3], counter_read(&s->rp.rp_cnp_handled)),
		 scaled_count(n[4], counter_read(&s->retransmitted_packets)),
		 scaled_count(n[5], counter_read(&s->rx_pause_frames)));
}

static json_t *
info_object(const struct node *node, uint32_t index, uint32_t local_qpn,
	    const struct nic_flow *flow, uint64_t active_ns)
{
	struct nic_qp_info i;
	json_t *o = json_object();

	/* All values are 0 if the data path has not created the QP yet. */
	nic_qp_info(node, index, &i);
	report_set_u64(o, "local_qpn", local_qpn);
	report_set_u64(o, "peer_qpn", i.peer_qpn);
	json_object_set_new(o, "flow", json_string(flow->name));
	report_set_u64(o, "wire_rate_bps",
		       flows_rate_bps(flows_sends_data(flow) ? i.tx_wire_bytes : i.rx_wire_bytes,
				      active_ns));
	report_set_u64(
		o, "goodput_bps",
		flows_rate_bps(flows_sends_data(flow) ? i.tx_payload_bytes : i.rx_payload_bytes,
			       active_ns));
	report_set_u64(o, "rate_bps", i.rate_bps);
	report_set_u64(o, "target_rate_bps", i.target_rate_bps);
	report_set_u64(o, "min_rate_bps", i.min_rate_bps);
	json_object_set_new(o, "alpha", json_real((double)i.alpha_q32 / (double)Q32_ONE));
	report_set_u64(o, "rtt_ns", i.rtt_ns);
	report_set_u64(o, "tx_packets", i.tx_packets);
	report_set_u64(o, "tx_wire_bytes", i.tx_wire_bytes);
	report_set_u64(o, "tx_messages", i.tx_messages);
	report_set_u64(o, "tx_payload_bytes", i.tx_payload_bytes);
	report_set_u64(o, "retransmitted_packets", i.retransmitted_packets);
	report_set_u64(o, "rx_packets", i.rx_packets);
	report_set_u64(o, "rx_wire_bytes", i.rx_wire_bytes);
	report_set_u64(o, "rx_payload_bytes", i.rx_payload_bytes);
	report_set_u64(o, "rx_messages", i.rx_messages);
	report_set_u64(o, "cnps_sent", i.cnps_sent);
	report_set_u64(o, "cnps_handled", i.cnps_handled);
	report_set_u64(o, "cnps_ignored", i.cnps_ignored);
	report_set_u64(o, "ce_packets", i.ce_packets);
	report_set_u64(o, "acks_sent", i.acks_sent);
	report_set_u64(o, "acks_received", i.acks_received);
	report_set_u64(o, "naks_sent", i.naks_sent);
	report_set_u64(o, "naks_received", i.naks_received);
	report_set_u64(o, "out_of_sequence", i.out_of_sequence);
	report_set_u64(o, "completions", i.completions);
	report_set_u64(o, "completion_mean_ns",
		       i.completions > 0 ? i.completion_sum_ns / i.completions : 0);
	report_set_u64(o, "completion_max_ns", i.completion_max_ns);
	report_set_u64(o, "rate_cuts", i.rate_cuts);
	json_object_set_new(o, "error", json_boolean(i.error));
	json_object_set_new(o, "done", json_boolean(i.done));
	return o;
}

json_t *
nic_qp_object(const struct run_app *app, const struct nic_config *config,
	      const struct nic_flow *flow, uint32_t number, uint64_t elapsed_ns)
{
	struct nic_location at = nic_share_find(app->share, number);

	return info_object(app->nodes[at.node], at.item, config->nic.first_qpn + number, flow,
			   flows_active_ns(flow, elapsed_ns));
}

static json_t *
mac_text(uint64_t mac)
{
	return json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", (unsigned int)(mac >> 40) & 0xFF,
			    (unsigned int)(mac >> 32) & 0xFF, (unsigned int)(mac >> 24) & 0xFF,
			    (unsigned int)(mac >> 16) & 0xFF, (unsigned int)(mac >> 8) & 0xFF,
			    (unsigned int)mac & 0xFF);
}

void
nic_add_wait(json_t *o, const struct run_app *app, const struct nic_config *config, uint32_t number,
	     uint64_t now_ns)
{
	const struct nic_flow *flow = nic_config_flow_of(config, number, NULL);
	struct nic_location at = nic_share_find(app->share, number);
	struct nic_qp_wait h;

	nic_qp_wait(app->nodes[at.node], at.item, &h);
	json_object_set_new(o, "hold", json_string(nic_wait_words[h.reason]));
	report_set_u64(o, "cc_rate_bps", h.cc_rate_bps);
	report_set_u64(o, "rate_cap_bps", h.cap_bps);
	if (h.next_mac != 0)
		json_object_set_new(o, "peer_mac", mac_text(h.next_mac));
	report_set_u64(o, "unacked_packets", h.unacked_packets);
	report_set_u64(o, "window_packets", h.window_packets);
	report_set_u64(o, "rx_pause_duration_us",
		       nic_flow_paused_ns(app->nodes[at.node], flow->id, now_ns) / NS_PER_US);
}

/* Lateness of paced packets, over all lcores. */
static json_t *
pacing_object(const struct run_result *result)
{
	static const struct {
		const char *name;
		double pct;
	} quantiles[] = {{"late_p50_ns", 50},
			 {"late_p90_ns", 90},
			 {"late_p99_ns", 99},
			 {"late_p999_ns", 99.9}};
	struct pace_meter total = {0};
	json_t *o = json_object();

	for (uint16_t i = 0; i < result->n_loops; i++)
		pace_meter_add(&total, &result->paces[i]);
	report_set_u64(o, "departures", total.late_ns.count);
	report_set_u64(o, "within_2us", total.close);
	for (unsigned int i = 0; i < ARRAY_LEN(quantiles); i++)
		report_set_u64(o, quantiles[i].name,
			       hist_quantile(&total.late_ns, quantiles[i].pct));
	report_set_u64(o, "late_max_ns", total.late_ns.max);
	report_set_u64(o, "not_paced", total.unknown);
	report_set_u64(o, "excluded", total.excluded);
	report_set_u64(o, "gaps", total.gaps);
	report_set_u64(o, "gap_ns", total.gap_ns);
	report_set_u64(o, "longest_gap_ns", total.longest_gap_ns);
	return o;
}

/* The first json_qps QPs, flow by flow. */
static json_t *
qp_list(const struct run_app *app, const struct nic_config *config, uint64_t elapsed_ns,
	uint64_t *omitted)
{
	json_t *list = json_array();
	uint64_t left = app->opts->json_qps;

	*omitted = 0;
	for (unsigned int f = 0; f < config->n_flows; f++) {
		const struct nic_flow *flow = &config->flows[f];
		uint32_t shown = (uint32_t)min_u64(flow->qp_count, left);

		for (uint32_t i = 0; i < shown; i++)
			json_array_append_new(list,
					      nic_qp_object(app, config, flow,
							    flow->first_number + i, elapsed_ns));
		*omitted += flow->qp_count - shown;
		left -= shown;
	}
	return list;
}

static bool
is_true_of_all(const struct run_app *app, bool (*is_true)(const struct node *node))
{
	bool all = true;

	for (uint16_t i = 0; i < app->n_nodes; i++)
		all = all && is_true(app->nodes[i]);
	return all;
}

bool
nic_measures_all_times(const struct run_app *app)
{
	return is_true_of_all(app, nic_measures_times);
}

bool
nic_all_done(const struct run_app *app)
{
	return is_true_of_all(app, nic_done);
}

json_t *
nic_port_object(const struct run_app *app, const struct run_result *result,
		const struct nic_params *params, uint64_t now_ns)
{
	json_t *o = report_port(result, 0, params->link_speed_bps);

	report_set_pfc_rx(o, nic_pfc_rx(app->node), now_ns);
	report_set_pfc_tx(o, nic_pfc_tx(app->node), now_ns);
	return o;
}

json_t *
nic_counters_object(const struct run_app *app, const struct run_result *result)
{
	const struct nic_stats total = nic_total_stats(app);
	json_t *o = json_object();

	json_set_counters(o, nic_counters, nic_counters_n, &total);
	report_set_device_drops(o, "drop_", result, 0);
	for (int i = CC_NONE + 1; i < CC_ALGORITHMS; i++)
		json_set_counters(o, cc_algorithms[i]->counters, *cc_algorithms[i]->n_counters,
				  &total.cc.of[CC_SLOT(i)]);
	json_set_counters(o, np_counters, np_counters_n, &total.np);
	return o;
}

json_t *
nic_report(const struct run_app *app, const struct run_result *result, struct flows *flows)
{
	const struct nic_config *config = flows->config;
	const struct nic_params *params = &config->nic;
	json_t *o = report_program("quench-nic", result->elapsed_ns);
	uint64_t omitted;
	json_t *qps = qp_list(app, config, result->elapsed_ns, &omitted);

	json_object_set_new(o, "port", nic_port_object(app, result, params, result->elapsed_ns));
	report_set_u64(o, "lcores", app->n_nodes);
	json_object_set_new(o, "icrc_check", json_string(params->icrc_check ? "on" : "off"));
	json_object_set_new(o, "cc", json_string(cc_words[params->cc]));
	json_object_set_new(o, "measure_times",
			    json_string(nic_measures_all_times(app) ? "on" : "off"));
	json_object_set_new(o, "done", json_boolean(nic_all_done(app)));
	json_object_set_new(o, "counters", nic_counters_object(app, result));
	if (result->paces != NULL)
		json_object_set_new(o, "pacing", pacing_object(result));
	json_object_set_new(o, "flows", flows_report(flows, result->elapsed_ns));
	report_set_u64(o, "qps_omitted", omitted);
	json_object_set_new(o, "qps", qps);
	return o;
}
