/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_report.h"

#include <stdio.h>

#include "base/numbers/array.h"
#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "runtime/report/report.h"
#include "runtime/notice/scaled.h"
#include "ctl/output/json.h"
#include "nic/nic_walk.h"
#include "nic/observe/wait.h"
#include "nic/port/share.h"
#include "quench-nic/nodes/nodes.h"
#include "tm/pfc/pfc_walk.h"
#include "wire/bytes/be.h"

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

void
nic_walk_qp_of(struct walk *w, const struct run_app *app, const struct nic_config *config,
	       const struct nic_flow *flow, uint32_t number, uint64_t elapsed_ns)
{
	uint64_t active_ns = 0;
	struct nic_qp_info i = {0};

	if (!w->names_only) {
		struct nic_location at = nic_share_find(app->share, number);

		/* All values are 0 if the data path has not created the QP yet. */
		nic_qp_info(app->nodes[at.node], at.item, &i);
		active_ns = flows_active_ns(flow, elapsed_ns);
	}
	w->object = "qp";
	WALK(number, w, KEY, "local_qpn", "number of the QP", config->nic.first_qpn + number);
	WALK(text, w, KEY, "flow", "name of its flow", flow->name);
	WALK(number, w, GAUGE, "wire_rate_bps", "mean rate on the wire since the flow's start",
	     flows_rate_bps(flows_sends_data(flow) ? i.tx_wire_bytes : i.rx_wire_bytes, active_ns));
	WALK(number, w, GAUGE, "goodput_bps", "mean payload rate since the flow's start",
	     flows_rate_bps(flows_sends_data(flow) ? i.tx_payload_bytes : i.rx_payload_bytes,
			    active_ns));
	nic_walk_qp(w, &i);
}

static void
walk_mac(struct walk *w, uint64_t mac)
{
	uint8_t bytes[6];
	char text[FIELD_MAC_CHARS];

	be48_store(bytes, mac);
	w->optional = true;
	if (w->names_only || mac != 0)
		walk_text(w, WALK_KEY, "peer_mac",
			  "MAC address of the peer or of the router to it; absent while it is "
			  "resolved",
			  field_mac_text(bytes, text));
	w->optional = false;
}

void
nic_walk_wait(struct walk *w, const struct run_app *app, const struct nic_config *config,
	      uint32_t number, uint64_t now_ns)
{
	struct nic_qp_wait h = {0};
	uint64_t paused_ns = 0;

	if (!w->names_only) {
		const struct nic_flow *flow = nic_config_flow_of(config, number, NULL);
		struct nic_location at = nic_share_find(app->share, number);

		nic_qp_wait(app->nodes[at.node], at.item, &h);
		paused_ns = nic_flow_paused_ns(app->nodes[at.node], flow->id, now_ns);
	}
	walk_text(w, WALK_KEY, "hold", "why the QP does not send now", nic_wait_words[h.reason]);
	walk_number(w, WALK_KEY, "cc_rate_bps",
		    "rate that congestion control allows, without the cap", h.cc_rate_bps);
	walk_number(w, WALK_KEY, "rate_cap_bps", "cap of the QP's rate; 0: none", h.cap_bps);
	walk_mac(w, h.next_mac);
	walk_number(w, WALK_KEY, "unacked_packets", "packets in flight", h.unacked_packets);
	walk_number(w, WALK_KEY, "window_packets", "limit of unacked_packets", h.window_packets);
	walk_number(w, WALK_KEY, "rx_pause_duration_us",
		    "time during which the priority of its flow was paused", paused_ns / NS_PER_US);
}

/* Lateness of paced packets, over all lcores. */
static void
walk_pacing_object(struct walk *w, const struct run_result *result)
{
	static const struct {
		const char *name, *help;
		double pct;
	} quantiles[] = {{"late_p50_ns", "median of the lateness of departures", 50},
			 {"late_p90_ns", "90th percentile of it", 90},
			 {"late_p99_ns", "99th percentile of it", 99},
			 {"late_p999_ns", "99.9th percentile of it", 99.9}};
	struct pace_meter total = {0};

	for (uint16_t i = 0; !w->names_only && i < result->n_loops; i++)
		pace_meter_add(&total, &result->paces[i]);
	w->object = "pacing";
	walk_enter(w, "pacing", "");
	walk_number(w, WALK_COUNTER, "departures", "paced packets whose lateness was measured",
		    total.late_ns.count);
	walk_number(w, WALK_COUNTER, "within_2us", "those of them that left at most 2 us late",
		    total.close);
	for (unsigned int i = 0; i < ARRAY_LEN(quantiles); i++)
		WALK(number, w, GAUGE, quantiles[i].name, quantiles[i].help,
		     hist_quantile(&total.late_ns, quantiles[i].pct));
	walk_number(w, WALK_GAUGE, "late_max_ns", "maximum of it", total.late_ns.max);
	walk_number(w, WALK_COUNTER, "not_paced", "frames that did not wait for tokens alone",
		    total.unknown);
	walk_number(w, WALK_COUNTER, "excluded",
		    "packets not measured: due before the end of an interruption", total.excluded);
	walk_number(w, WALK_COUNTER, "gaps", "interruptions of the poll loop, each above 10 us",
		    total.gaps);
	walk_number(w, WALK_COUNTER, "gap_ns", "sum of the interruptions", total.gap_ns);
	walk_number(w, WALK_GAUGE, "longest_gap_ns", "longest of them", total.longest_gap_ns);
	walk_leave(w);
}

/* The first json_qps QPs, flow by flow. @return how many are omitted. */
static uint64_t
walk_qps(struct walk *w, const struct run_app *app, const struct nic_config *config,
	 uint64_t elapsed_ns)
{
	uint64_t left = w->names_only ? 0 : app->opts->json_qps, omitted = 0;

	walk_list(w, "qps");
	if (w->names_only) {
		walk_item(w, "qps");
		nic_walk_qp_of(w, NULL, NULL, NULL, 0, 0);
		walk_leave(w);
	}
	for (unsigned int f = 0; !w->names_only && f < config->n_flows; f++) {
		const struct nic_flow *flow = &config->flows[f];
		uint32_t shown = (uint32_t)min_u64(flow->qp_count, left);

		for (uint32_t i = 0; i < shown; i++) {
			walk_item(w, "qps");
			nic_walk_qp_of(w, app, config, flow, flow->first_number + i, elapsed_ns);
			walk_leave(w);
		}
		omitted += flow->qp_count - shown;
		left -= shown;
	}
	return omitted;
}

static bool
is_true_of_all(const struct run_app *app, bool (*is_true)(const struct node *node))
{
	bool all = true;

	for (uint16_t i = 0; i < app->n_nodes; i++)
		all = all && is_true(app->nodes[i]);
	return all;
}

void
nic_walk_port(struct walk *w, const struct run_app *app, const struct run_result *result,
	      const struct nic_params *params, uint64_t now_ns)
{
	walk_number(w, WALK_KEY, "port", "0, the only port", 0);
	report_walk_port(w, result, 0, w->names_only ? 0 : params->link_speed_bps);
	walk_enter(w, "device_stats", "");
	report_walk_device_stats(w, result, 0);
	walk_leave(w);
	pfc_walk(w, w->names_only ? NULL : nic_pfc_rx(app->node),
		 w->names_only ? NULL : nic_pfc_tx(app->node), now_ns);
}

void
nic_walk_all_counters(struct walk *w, const struct run_app *app, const struct run_result *result)
{
	static const struct report_drop_words words = {
		"drop_device_missed",
		"Lost before the NIC received it: the receive ring of the device, or of the "
		"kernel's socket, was full",
		"drop_device_cut", "drop_device_mtu"};
	struct nic_stats total = {0};

	if (!w->names_only)
		total = nic_total_stats(app);
	nic_walk_counters(w, &total);
	report_walk_device_drops(w, &words, result, 0);
}

void
nic_walk_state(struct walk *w, const struct run_app *app, const struct nic_config *config)
{
	w->object = "nic";
	WALK(number, w, GAUGE, "lcores", "lcores that poll", app->n_nodes);
	WALK(text, w, KEY, "cc", "congestion control, a word of the key cc",
	     cc_words[config->nic.cc]);
	WALK(text, w, KEY, "icrc_check", "on or off", config->nic.icrc_check ? "on" : "off");
	WALK(text, w, KEY, "measure_times", "on or off, whatever the key: whether it measures",
	     is_true_of_all(app, nic_measures_times) ? "on" : "off");
	WALK(flag, w, GAUGE, "done",
	     "whether all requester QPs with a limit (messages, bytes) or a stop time have finished",
	     is_true_of_all(app, nic_done));
}

/* All is NULL with names_only. */
static void
walk_report(struct walk *w, const struct run_app *app, const struct run_result *result,
	    struct flows *flows, const struct jobs *jobs)
{
	const struct nic_config *config = w->names_only ? NULL : flows->config;
	uint64_t elapsed_ns = w->names_only ? 0 : result->elapsed_ns, omitted;

	report_walk_program(w, "quench-nic", elapsed_ns);
	walk_enter(w, "port", "");
	nic_walk_port(w, app, result, w->names_only ? NULL : &config->nic, elapsed_ns);
	walk_leave(w);
	nic_walk_state(w, app, config);
	walk_enter(w, "counters", "");
	nic_walk_all_counters(w, app, result);
	walk_leave(w);
	w->optional = true;
	if (w->names_only || result->paces != NULL)
		walk_pacing_object(w, result);
	w->optional = false;
	flows_walk_all(w, flows, elapsed_ns);
	w->optional = true;
	if (w->names_only || jobs->n > 0)
		jobs_walk_all(w, jobs, config);
	w->optional = false;
	omitted = walk_qps(w, app, config, elapsed_ns);
	walk_number(w, WALK_GAUGE, "qps_omitted", "QPs that the list does not have", omitted);
}

json_t *
nic_report(const struct run_app *app, const struct run_result *result, struct flows *flows,
	   const struct jobs *jobs)
{
	struct json_walk j = json_walk(json_object());

	walk_report(&j.walk, app, result, flows, jobs);
	return j.at;
}

void
nic_report_names(struct walk *w)
{
	walk_report(w, NULL, NULL, NULL, NULL);
}
