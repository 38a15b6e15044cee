/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/output/output.h"
#include "switch/control/event_log.h"

#include <inttypes.h>

#include "base/numbers/units.h"
#include "runtime/release/release.h"
#include "runtime/report/report.h"
#include "ctl/output/json.h"
#include "ctl/results/flow_results.h"
#include "nic/nic_walk.h"
#include "quench-lab/recording/explain_job.h"
#include "switch/sw_walk.h"
#include "tm/buffer/mmu.h"

#define FORMAT 2

static void
set_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, json_string(value));
}

static void
set_switch(json_t *object, const char *key, bool on)
{
	set_text(object, key, on ? "on" : "off");
}

static const struct topology *
topology_of(const struct lab_run *run)
{
	return run->scenario->topology;
}

static void
set_host(json_t *object, const char *key, uint16_t host)
{
	char name[16];

	snprintf(name, sizeof(name), "h%u", host);
	set_text(object, key, name);
}

static json_t *
flow_object(const struct lab_run *run, uint32_t index)
{
	const struct flow_result *r = &run->result.flows[index];
	json_t *o = json_object();
	struct json_walk j = json_walk(o);
	struct nic_pacing pacing;

	set_text(o, "name", r->flow->name);
	set_host(o, "src", r->flow->src);
	set_host(o, "dst", r->flow->dst);
	set_text(o, "cc", cc_words[r->flow->cc]);
	report_set_u64(o, "qps", r->flow->qps);
	report_set_u64(o, "wire_rate_bps", r->wire_rate_bps);
	report_set_u64(o, "goodput_bps", r->goodput_bps);
	report_set_u64(o, "min_rate_bps", r->src.min_rate_bps);
	report_set_u64(o, "messages_wanted", r->flow->messages * r->flow->qps);
	report_set_u64(o, "messages_completed", r->messages_completed);
	report_set_u64(o, "cnp_sent", r->dst.cnps_sent);
	report_set_u64(o, "rp_cnp_handled", r->src.cnps_handled);
	report_set_u64(o, "rp_cnp_ignored", r->src.cnps_ignored);
	report_set_u64(o, "ce_packets", r->dst.ce_packets);
	report_set_u64(o, "rate_cuts", r->src.rate_cuts);
	report_set_u64(o, "rtt_ns", r->src.rtt_ns);
	report_set_u64(o, "retransmitted_packets", r->src.retransmitted_packets);
	report_set_u64(o, "rx_pause_duration_us",
		       net_flow_paused_ns(run->net, index, run->scenario->fabric.duration_ns) /
			       NS_PER_US);
	walk_times(&j.walk, net_flow_times(run->net, index));
	walk_pacing(&j.walk, net_flow_pacing(run->net, index, &pacing));
	json_object_set_new(o, "error", json_boolean(r->error));
	return o;
}

/* What the flows of each algorithm got. */
static json_t *
algorithm_list(const struct run_result *r)
{
	json_t *list = json_array();

	for (int i = 0; i < CC_ALGORITHMS; i++) {
		const struct cc_result *c = &r->cc[i];
		json_t *o;

		if (c->flows == 0)
			continue;
		o = json_object();
		set_text(o, "cc", cc_words[i]);
		report_set_u64(o, "flows", c->flows);
		report_set_u64(o, "wire_rate_bps", c->wire_rate_bps);
		report_set_u64(o, "lowest_rate_bps", c->lowest_bps);
		report_set_u64(o, "highest_rate_bps", c->highest_bps);
		json_object_set_new(o, "jain_index", json_real(c->jain_ppm / 1e6));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
slowdown_real(uint32_t slowdown)
{
	return slowdown == SLOWDOWN_NONE ? json_null()
					 : json_real((double)slowdown / SLOWDOWN_UNIT);
}

static json_t *
bucket_object(const struct slowdown_bucket *b)
{
	static const char *const names[SLOWDOWN_PERCENTILES] = {"p50", "p95", "p99", "p999"};
	json_t *o = json_object();

	report_set_u64(o, "from_bytes", b->from_bytes);
	report_set_u64(o, "to_bytes", b->to_bytes);
	report_set_u64(o, "messages", b->messages);
	report_set_u64(o, "not_ended", b->not_ended);
	for (unsigned int i = 0; i < SLOWDOWN_PERCENTILES; i++)
		json_object_set_new(o, names[i], slowdown_real(b->percentile[i]));
	json_object_set_new(o, "p99_bound", slowdown_real(b->p99_bound));
	json_object_set_new(o, "p99_may_rise", json_boolean(slowdown_may_rise(b)));
	return o;
}

static json_t *
slowdown_object(const struct slowdown_summary *s)
{
	json_t *o = json_object(), *sizes = json_array();

	for (uint32_t i = 0; i < s->n_buckets; i++)
		json_array_append_new(sizes, bucket_object(&s->buckets[i]));
	json_object_set_new(o, "all", bucket_object(&s->all));
	json_object_set_new(o, "sizes", sizes);
	json_object_set_new(o, "p99_low", s->has_interval ? json_real(s->p99_low) : json_null());
	json_object_set_new(o, "p99_high", s->has_interval ? json_real(s->p99_high) : json_null());
	report_set_u64(o, "one_message_of", s->every);
	json_object_set_new(o, "backlog_is_cut", json_boolean(s->backlog_is_cut));
	return o;
}

static json_t *
bottleneck_object(const struct lab_run *run)
{
	const struct queue_result *q = &run->result.bottleneck;
	const struct node *sw = net_switch(run->net, q->sw);
	const struct wred_curve *curve = sw_mark_curve(sw, q->port, q->queue);
	json_t *o = json_object();

	set_text(o, "node", topology_of(run)->switches[q->sw].name);
	report_set_u64(o, "port", q->port);
	report_set_u64(o, "queue", q->queue);
	json_object_set_new(o, "link_use", json_real(q->link_use_ppm / 1e6));
	report_set_u64(o, "queue_mean_bytes", q->mean_bytes);
	report_set_u64(o, "queue_p50_bytes", q->p50_bytes);
	report_set_u64(o, "queue_p99_bytes", q->p99_bytes);
	report_set_u64(o, "queue_max_bytes", q->max_bytes);
	/* Both are 0 if the queue has no curve. */
	report_set_u64(o, "wred_min_bytes", curve->min_bytes);
	report_set_u64(o, "wred_max_bytes", curve->max_bytes);
	report_set_u64(o, "ecn_marked_packets", q->ecn_marked_packets);
	report_set_mark_accuracy(o, sw_mark_accuracy(sw, q->port, q->queue), curve);
	return o;
}

static void
add_pfc(json_t *list, const char *node, uint16_t port, const struct pfc_tx *tx,
	const struct pfc_rx *rx, uint64_t end_ns)
{
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		uint64_t sent = tx->stats.tx_pause[prio];
		json_t *o;

		if (sent == 0 && rx->stats.rx_pause[prio] == 0)
			continue;
		o = json_object();
		set_text(o, "node", node);
		report_set_u64(o, "port", port);
		report_set_u64(o, "prio", prio);
		report_set_u64(o, "tx_pause", sent);
		report_set_u64(o, "rx_pause", rx->stats.rx_pause[prio]);
		report_set_u64(o, "tx_pause_duration_us",
			       pfc_tx_duration_ns(tx, prio, end_ns) / NS_PER_US);
		report_set_u64(o, "rx_pause_duration_us",
			       pfc_rx_duration_ns(rx, prio, end_ns) / NS_PER_US);
		report_set_u64(o, "tx_pause_transition", tx->stats.tx_pause_transition[prio]);
		report_set_u64(o, "rx_pause_transition", rx->stats.rx_pause_transition[prio]);
		json_array_append_new(list, o);
	}
}

static json_t *
pfc_list(const struct lab_run *run)
{
	const struct topology *t = topology_of(run);
	uint64_t end_ns = run->scenario->fabric.duration_ns;
	json_t *list = json_array();

	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++)
			add_pfc(list, t->switches[i].name, port,
				sw_pfc_tx(net_switch(run->net, i), port),
				sw_pfc_rx(net_switch(run->net, i), port), end_ns);
	for (uint16_t h = 1; h <= t->n_hosts; h++) {
		char name[16];

		snprintf(name, sizeof(name), "h%u", h);
		add_pfc(list, name, 0, nic_pfc_tx(net_host(run->net, h)),
			nic_pfc_rx(net_host(run->net, h)), end_ns);
	}
	return list;
}

static json_t *
counters_object(const struct lab_run *run)
{
	const struct topology *t = topology_of(run);
	json_t *o = json_object();
	struct json_walk sum = json_walk_sum(o);
	uint64_t marked = 0;

	for (uint16_t h = 1; h <= t->n_hosts; h++)
		nic_walk_counters(&sum.walk, nic_stats(net_host(run->net, h)));
	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++)
			for (unsigned int q = 0; q < TM_CLASSES; q++)
				marked += sw_port_stats(net_switch(run->net, i), port)
						  ->queue[q]
						  .ecn_marked_packets;
	report_set_u64(o, "ecn_marked_packets", marked);
	return o;
}

/* Ask every host: measure_times = auto depends on its number of QPs. */
static bool
measures_times(const struct lab_run *run)
{
	bool all = true;

	for (uint16_t h = 1; h <= topology_of(run)->n_hosts; h++)
		all = all && nic_measures_times(net_host(run->net, h));
	return all;
}

static void
add_events(json_t *list, const char *name, const struct node *sw)
{
	struct sw_event e;

	for (uint32_t i = 0; sw_event_peek(sw, i, &e); i++) {
		json_t *o = json_object();

		report_set_u64(o, "at_ns", e.at_ns);
		set_text(o, "node", name);
		set_text(o, "event", sw_event_name(e.kind));
		report_set_u64(o, "port", e.port);
		report_set_u64(o, "queue", e.queue);
		json_array_append_new(list, o);
	}
}

static json_t *
event_list(const struct lab_run *run)
{
	const struct topology *t = topology_of(run);
	json_t *list = json_array();

	for (uint32_t i = 0; i < t->n_switches; i++)
		add_events(list, t->switches[i].name, net_switch(run->net, i));
	return list;
}

static uint64_t
events_lost(const struct lab_run *run)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < topology_of(run)->n_switches; i++)
		lost += sw_events_lost(net_switch(run->net, i));
	return lost;
}

static json_t *
scheduled_list(const struct lab_run *run)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < run->scenario->n_events; i++) {
		const struct event_params *e = &run->scenario->events[i];
		json_t *o = json_object();

		set_text(o, "name", e->name);
		report_set_u64(o, "at_ns", e->at_ns);
		set_text(o, "action", event_action_words[e->action]);
		if (e->action == EVENT_SET)
			set_text(o, "set", e->set);
		if (e->action == EVENT_SEND) {
			report_set_u64(o, "frames_sent", run->result.events[i].frames_sent);
			report_set_u64(o, "no_mbuf", run->result.events[i].no_mbuf);
		}
		json_array_append_new(list, o);
	}
	return list;
}

json_t *
output_settings(const char *scenario_name, const struct scenario *s)
{
	json_t *o = json_object();

	report_set_u64(o, "format", FORMAT);
	set_text(o, "program", "quench-lab");
	set_text(o, "version", release_version);
	set_text(o, "commit", release_commit);
	set_text(o, "scenario", scenario_name);
	set_text(o, "topology", topology_words[s->fabric.topology]);
	set_text(o, "forwarding", s->routes != NULL ? "l3" : "l2");
	report_set_u64(o, "seed", s->fabric.seed);
	report_set_u64(o, "duration_ns", s->fabric.duration_ns);
	report_set_u64(o, "measure_from_ns", s->fabric.measure_from_ns);
	return o;
}

static void
set_settings(json_t *o, const struct lab_run *run)
{
	/* At the end of the run, as the values of queues. */
	const struct scenario *s = net_in_force(run->net);

	set_switch(o, "icrc_check", s->nic.icrc_check);
	set_switch(o, "measure_times", measures_times(run));
	set_text(o, "cc", cc_words[s->nic.cc]);
	set_switch(o, "pfc", s->sw.pfc_generate);
	report_set_u64(o, "link_speed_bps", s->fabric.link_rate_bps);
	if (s->sw.pfc_generate && !s->sw.mmu.lossless.dynamic)
		report_set_u64(o, "xoff_limit_bytes", s->sw.mmu.lossless.static_th_bytes);
}

/* Sums over all switches. */
static void
set_ledger(json_t *o, const struct lab_run *run)
{
	json_t *ledger = json_object();
	struct json_walk sum = json_walk_sum(ledger);
	uint64_t used_bytes = 0;

	for (uint32_t i = 0; i < topology_of(run)->n_switches; i++) {
		const struct node *sw = net_switch(run->net, i);

		sw_walk_ledger(&sum.walk, &(struct sw_view){.sw = sw});
		used_bytes += mmu_used_bytes(sw_mmu(sw));
	}
	json_object_set_new(o, "ledger", ledger);
	report_set_u64(o, "buffer_used_bytes", used_bytes);
}

json_t *
output_json(const struct lab_run *run)
{
	const struct run_result *r = &run->result;
	json_t *o = output_settings(run->scenario_name, run->scenario), *flows = json_array();
	uint64_t silent = 0;
	char digest[17];

	set_settings(o, run);
	for (uint32_t i = 0; i < r->n_flows; i++) {
		if (r->flows[i].silent)
			silent++;
		else
			json_array_append_new(flows, flow_object(run, i));
	}
	json_object_set_new(o, "flows", flows);
	report_set_u64(o, "silent_flows", silent);
	json_object_set_new(o, "servers", output_servers(run));
	json_object_set_new(o, "algorithms", algorithm_list(r));
	json_object_set_new(o, "streams", output_streams(run));
	json_object_set_new(o, "jobs", output_jobs(run));
	if (run->explain_job != NULL)
		json_object_set_new(o, "explained_job", explain_job_json(run->explain_job));
	json_object_set_new(o, "slowdown_by_size", slowdown_object(&r->slowdown));
	json_object_set_new(o, "jain_index", json_real(r->jain_ppm / 1e6));
	json_object_set_new(o, "bottleneck", bottleneck_object(run));
	json_object_set_new(o, "ports", output_ports(run));
	json_object_set_new(o, "pfc_counters", pfc_list(run));
	output_set_pauses(o, run);
	report_set_u64(o, "pause_frames_after_measure", r->pause_frames_after_measure);
	json_object_set_new(o, "last_pause_ns",
			    r->last_pause_ns == NEVER_NS
				    ? json_null()
				    : json_integer((json_int_t)r->last_pause_ns));
	json_object_set_new(o, "drops", output_drops(run));
	json_object_set_new(o, "warnings", output_warnings(run));
	json_object_set_new(o, "cable_faults", output_cable_faults(run));
	set_ledger(o, run);
	json_object_set_new(o, "events", event_list(run));
	if (events_lost(run) > 0)
		report_set_u64(o, "events_lost", events_lost(run));
	json_object_set_new(o, "scheduled_events", scheduled_list(run));
	json_object_set_new(o, "dumps", dumps_list(&run->dumps));
	json_object_set_new(o, "counters", counters_object(run));
	json_object_set_new(o, "fluid", lab_fluid_json(&run->fluid));
	report_set_u64(o, "frames", r->frames);
	report_set_u64(o, "packet_hops", r->packet_hops);
	json_object_set_new(o, "wall_seconds", json_real(run->wall_seconds));
	json_object_set_new(
		o, "packet_hops_per_second",
		json_real(run->wall_seconds > 0 ? (double)r->packet_hops / run->wall_seconds : 0));
	snprintf(digest, sizeof(digest), "%016" PRIx64, r->digest);
	set_text(o, "digest", digest);
	return o;
}
