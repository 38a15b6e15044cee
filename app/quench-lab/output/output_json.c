/* SPDX-License-Identifier: BSD-3-Clause */
/* results.json and fluid.json: their values, and the names of all that they may have. */
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

static const struct topology *
topology_of(const struct lab_run *run)
{
	return run->scenario->topology;
}

static const char *
on_off(bool on)
{
	return on ? "on" : "off";
}

static const char *
host_name(uint32_t host, char text[16])
{
	snprintf(text, 16, "h%u", host);
	return text;
}

static void
walk_flow(struct walk *w, const struct lab_run *run, uint32_t index)
{
	const struct flow_result *r = w->names_only ? NULL : &run->result.flows[index];
	struct nic_pacing pacing;
	char name[16];

	w->object = "flow";
	WALK(text, w, KEY, "name", "name of the flow", r->flow->name);
	WALK(text, w, KEY, "src", "the sending host", host_name(r->flow->src, name));
	WALK(text, w, KEY, "dst", "the receiving host", host_name(r->flow->dst, name));
	WALK(text, w, KEY, "cc", "congestion control of the flow", cc_words[r->flow->cc]);
	WALK(number, w, GAUGE, "qps", "QPs of the flow", r->flow->qps);
	WALK(number, w, GAUGE, "wire_rate_bps",
	     "mean rate on the wire in the measured window, with headers, preamble and gap",
	     r->wire_rate_bps);
	WALK(number, w, GAUGE, "goodput_bps", "mean payload rate in the measured window",
	     r->goodput_bps);
	WALK(number, w, GAUGE, "min_rate_bps",
	     "sum over the QPs of the lowest rate that each was allowed", r->src.min_rate_bps);
	WALK(number, w, GAUGE, "messages_wanted", "messages of all QPs; 0: without an end",
	     r->flow->messages * r->flow->qps);
	WALK(number, w, COUNTER, "messages_completed", "messages completed", r->messages_completed);
	WALK(number, w, COUNTER, "cnp_sent", "CNPs sent by the receiver", r->dst.cnps_sent);
	WALK(number, w, COUNTER, "rp_cnp_handled", "CNPs handled by the sender",
	     r->src.cnps_handled);
	WALK(number, w, COUNTER, "rp_cnp_ignored", "CNPs without effect", r->src.cnps_ignored);
	WALK(number, w, COUNTER, "ce_packets", "data packets received with CE", r->dst.ce_packets);
	WALK(number, w, COUNTER, "rate_cuts", "rate cuts", r->src.rate_cuts);
	WALK(number, w, GAUGE, "rtt_ns",
	     "largest of the QPs' last measured round-trip times; 0: none", r->src.rtt_ns);
	WALK(number, w, COUNTER, "retransmitted_packets", "data packets retransmitted",
	     r->src.retransmitted_packets);
	WALK(number, w, COUNTER, "rx_pause_duration_us",
	     "time during which the flow's priority was paused",
	     net_flow_paused_ns(run->net, index,
				net_clock_ns(run->net, run->scenario->fabric.duration_ns)) /
		     NS_PER_US);
	walk_times(w, w->names_only ? NULL : net_flow_times(run->net, index));
	walk_pacing(w, w->names_only ? NULL : net_flow_pacing(run->net, index, &pacing));
	WALK(flag, w, GAUGE, "error", "whether a QP of the flow gave up", r->error);
}

static void
walk_flows(struct walk *w, const struct lab_run *run)
{
	uint32_t n = w->names_only ? 1 : run->result.n_flows;
	uint64_t silent = 0, listed = 0, unlisted = 0;

	walk_list(w, "flows");
	for (uint32_t i = 0; i < n; i++) {
		if (!w->names_only && run->result.flows[i].silent) {
			silent++;
			continue;
		}
		if (!w->names_only && listed == run->scenario->fabric.flow_rows) {
			unlisted++;
			continue;
		}
		listed++;
		walk_item(w, "flows");
		walk_flow(w, run, i);
		walk_leave(w);
	}
	w->object = "run";
	walk_number(w, WALK_GAUGE, "silent_flows",
		    "pairs of hosts that sent nothing, which flows omits", silent);
	walk_number(w, WALK_GAUGE, "unlisted_flows",
		    "flows beyond the first flow_rows, which flows omits", unlisted);
}

/* What the flows of each algorithm got. */
static void
walk_algorithms(struct walk *w, const struct run_result *r)
{
	walk_list(w, "algorithms");
	for (int i = 0; i < CC_ALGORITHMS; i++) {
		const struct cc_result *c = w->names_only ? NULL : &r->cc[i];

		if (c != NULL && c->flows == 0)
			continue;
		walk_item(w, "algorithms");
		w->object = "algorithm";
		WALK(text, w, KEY, "cc", "the algorithm, a word of the key cc", cc_words[i]);
		WALK(number, w, GAUGE, "flows", "flows that have it", c->flows);
		WALK(number, w, GAUGE, "wire_rate_bps", "sum of their mean rates on the wire",
		     c->wire_rate_bps);
		WALK(number, w, GAUGE, "lowest_rate_bps", "lowest of these rates", c->lowest_bps);
		WALK(number, w, GAUGE, "highest_rate_bps", "highest of these rates",
		     c->highest_bps);
		WALK(real, w, GAUGE, "jain_index", "Jain's index of fairness over these rates",
		     c->jain_ppm / 1e6);
		walk_leave(w);
	}
}

/* NULL with names_only. */
static void
walk_slowdown(struct walk *w, const char *name, const char *help, const uint32_t *slowdown)
{
	bool none = slowdown == NULL || *slowdown == SLOWDOWN_NONE;

	walk_maybe_real(w, WALK_GAUGE, name, help, none ? 0 : (double)*slowdown / SLOWDOWN_UNIT,
			none);
}

static void
walk_bucket(struct walk *w, const struct slowdown_bucket *b)
{
	static const struct {
		const char *name, *help;
	} percentiles[SLOWDOWN_PERCENTILES] = {
		{"p50", "median of their slowdown; null: there is none"},
		{"p95", "95th percentile"},
		{"p99", "99th percentile"},
		{"p999", "99.9th percentile"},
	};

	w->object = "slowdown";
	WALK(number, w, KEY, "from_bytes", "smallest message", b->from_bytes);
	WALK(number, w, KEY, "to_bytes", "largest message", b->to_bytes);
	WALK(number, w, COUNTER, "messages", "messages that ended", b->messages);
	WALK(number, w, COUNTER, "not_ended",
	     "messages that began, or arrived in an open loop, and did not end", b->not_ended);
	for (unsigned int i = 0; i < SLOWDOWN_PERCENTILES; i++)
		walk_slowdown(w, percentiles[i].name, percentiles[i].help,
			      w->names_only ? NULL : &b->percentile[i]);
	walk_slowdown(w, "p99_bound",
		      "upper bound of p99, with the messages that did not end; null: there is none",
		      w->names_only ? NULL : &b->p99_bound);
	WALK(flag, w, GAUGE, "p99_may_rise", "whether these may raise p99", slowdown_may_rise(b));
}

static void
walk_slowdowns(struct walk *w, const struct slowdown_summary *s)
{
	walk_enter(w, "slowdown_by_size", "");
	walk_enter(w, "all", "");
	walk_bucket(w, s == NULL ? NULL : &s->all);
	walk_leave(w);
	walk_list(w, "sizes");
	for (uint32_t i = 0; i < (s == NULL ? 1 : s->n_buckets); i++) {
		walk_item(w, "sizes");
		walk_bucket(w, s == NULL ? NULL : &s->buckets[i]);
		walk_leave(w);
	}
	walk_maybe_real(
		w, WALK_GAUGE, "p99_low",
		"lower end of the 95 % confidence interval of the p99 of all messages; null: "
		"too few messages",
		s == NULL ? 0 : s->p99_low, s == NULL || !s->has_interval);
	walk_maybe_real(w, WALK_GAUGE, "p99_high", "its upper end", s == NULL ? 0 : s->p99_high,
			s == NULL || !s->has_interval);
	WALK(number, w, GAUGE, "one_message_of", "one message of so many is timed", s->every);
	WALK(flag, w, GAUGE, "backlog_is_cut",
	     "whether more messages waited at a QP than not_ended counts", s->backlog_is_cut);
	walk_leave(w);
}

static void
walk_bottleneck(struct walk *w, const struct lab_run *run)
{
	const struct queue_result *q = w->names_only ? NULL : &run->result.bottleneck;
	const struct node *sw = w->names_only ? NULL : net_switch(run->net, q->sw);

	walk_enter(w, "bottleneck", "");
	w->object = "queue";
	WALK(text, w, KEY, "node", "the switch", topology_of(run)->switches[q->sw].name);
	WALK(number, w, KEY, "port", "number of the port", q->port);
	WALK(number, w, KEY, "queue", "number of the queue", q->queue);
	WALK(real, w, GAUGE, "link_use", "use of the link in the measured window, up to 1",
	     q->link_use_ppm / 1e6);
	output_walk_lengths(w, q, true);
	output_walk_curve(w, w->names_only ? NULL : sw_mark_curve(sw, q->port, q->queue));
	WALK(number, w, COUNTER, "ecn_marked_packets", "packets marked in the queue",
	     q->ecn_marked_packets);
	w->optional = true;
	report_walk_mark_accuracy(w, sw, w->names_only ? 0 : q->port, w->names_only ? 0 : q->queue);
	w->optional = false;
	walk_leave(w);
}

/* tx and rx are NULL with names_only. */
static void
walk_pfc(struct walk *w, const char *node, uint16_t port, const struct pfc_tx *tx,
	 const struct pfc_rx *rx, uint64_t end_ns)
{
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		if (!w->names_only && tx->stats.tx_pause[prio] == 0 &&
		    rx->stats.rx_pause[prio] == 0)
			continue;
		walk_item(w, "pfc_counters");
		w->object = "pfc";
		walk_text(w, WALK_KEY, "node", "the switch or host", node);
		walk_number(w, WALK_KEY, "port", "number of the port", port);
		walk_number(w, WALK_KEY, "prio", "the priority", prio);
		WALK(number, w, COUNTER, "tx_pause", "PFC frames sent with the priority's bit",
		     tx->stats.tx_pause[prio]);
		WALK(number, w, COUNTER, "rx_pause", "PFC frames received with the priority's bit",
		     rx->stats.rx_pause[prio]);
		WALK(number, w, COUNTER, "tx_pause_duration_us",
		     "time during which the port paused its peer",
		     pfc_tx_duration_ns(tx, prio, end_ns) / NS_PER_US);
		WALK(number, w, COUNTER, "rx_pause_duration_us",
		     "time during which the peer paused the port",
		     pfc_rx_duration_ns(rx, prio, end_ns) / NS_PER_US);
		WALK(number, w, COUNTER, "tx_pause_transition", "pauses sent that have ended",
		     tx->stats.tx_pause_transition[prio]);
		WALK(number, w, COUNTER, "rx_pause_transition", "pauses received that have ended",
		     rx->stats.rx_pause_transition[prio]);
		walk_leave(w);
	}
}

static void
walk_pfcs(struct walk *w, const struct lab_run *run)
{
	const struct topology *t;
	uint64_t end_ns;

	walk_list(w, "pfc_counters");
	if (w->names_only) {
		walk_pfc(w, NULL, 0, NULL, NULL, 0);
		return;
	}
	t = topology_of(run);
	end_ns = net_clock_ns(run->net, run->scenario->fabric.duration_ns);
	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++)
			walk_pfc(w, t->switches[i].name, port,
				 sw_pfc_tx(net_switch(run->net, i), port),
				 sw_pfc_rx(net_switch(run->net, i), port), end_ns);
	for (uint32_t h = 1; h <= t->n_hosts; h++) {
		char name[16];

		walk_pfc(w, host_name(h, name), 0, nic_pfc_tx(net_host(run->net, h)),
			 nic_pfc_rx(net_host(run->net, h)), end_ns);
	}
}

static uint64_t
marked_packets(const struct lab_run *run)
{
	const struct topology *t = topology_of(run);
	uint64_t marked = 0;

	for (uint32_t i = 0; i < t->n_switches; i++)
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++)
			for (unsigned int q = 0; q < TM_CLASSES; q++)
				marked += sw_port_stats(net_switch(run->net, i), port)
						  ->queue[q]
						  .ecn_marked_packets;
	return marked;
}

/* Sums over all hosts. */
static void
walk_all_counters(struct walk *w, const struct lab_run *run)
{
	walk_enter(w, "counters", "");
	if (w->names_only) {
		nic_walk_counters(w, NULL);
	} else {
		struct json_walk sum = json_walk_sum(((struct json_walk *)w)->at);

		for (uint32_t h = 1; h <= topology_of(run)->n_hosts; h++)
			nic_walk_counters(&sum.walk, nic_stats(net_host(run->net, h)));
	}
	w->object = "queue";
	WALK(number, w, COUNTER, "ecn_marked_packets", "packets marked by all switches",
	     marked_packets(run));
	walk_leave(w);
}

/* Ask every host: measure_times = auto depends on its number of QPs. */
static bool
measures_times(const struct lab_run *run)
{
	bool all = true;

	for (uint32_t h = 1; h <= topology_of(run)->n_hosts; h++)
		all = all && nic_measures_times(net_host(run->net, h));
	return all;
}

static void
walk_event(struct walk *w, const char *node, const struct sw_event *e)
{
	walk_item(w, "events");
	WALK(number, w, KEY, "at_ns", "time of the event", e->at_ns);
	walk_text(w, WALK_KEY, "node", "the switch", node);
	WALK(text, w, KEY, "event", "what happened", sw_event_name(e->kind));
	WALK(number, w, KEY, "port", "number of the port", e->port);
	WALK(number, w, KEY, "queue", "number of the queue", e->queue);
	walk_leave(w);
}

static uint64_t
events_lost(const struct lab_run *run)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < topology_of(run)->n_switches; i++)
		lost += sw_events_lost(net_switch(run->net, i));
	return lost;
}

/* Events of the switches. */
static void
walk_events(struct walk *w, const struct lab_run *run)
{
	uint32_t n_switches = w->names_only ? 0 : topology_of(run)->n_switches;
	struct sw_event e;

	walk_list(w, "events");
	if (w->names_only)
		walk_event(w, NULL, NULL);
	for (uint32_t i = 0; i < n_switches; i++)
		for (uint32_t k = 0; sw_event_peek(net_switch(run->net, i), k, &e); k++)
			walk_event(w, topology_of(run)->switches[i].name, &e);
	w->object = "run";
	w->optional = true;
	if (w->names_only || events_lost(run) > 0)
		WALK(number, w, COUNTER, "events_lost", "events that the list omits",
		     events_lost(run));
	w->optional = false;
}

/* Events of the file. */
static void
walk_scheduled(struct walk *w, const struct lab_run *run)
{
	uint32_t n = w->names_only ? 1 : run->scenario->n_events;

	walk_list(w, "scheduled_events");
	for (uint32_t i = 0; i < n; i++) {
		const struct event_params *e = w->names_only ? NULL : &run->scenario->events[i];

		walk_item(w, "scheduled_events");
		w->object = "event";
		WALK(text, w, KEY, "name", "name of the event", e->name);
		WALK(number, w, KEY, "at_ns", "its time", e->at_ns);
		WALK(text, w, KEY, "action", "its action", event_action_words[e->action]);
		w->optional = true;
		if (w->names_only || e->action == EVENT_SET)
			WALK(text, w, KEY, "set", "action set: the changed keys and values",
			     e->set);
		if (w->names_only || e->action == EVENT_SEND) {
			WALK(number, w, COUNTER, "frames_sent", "action send: frames sent",
			     run->result.events[i].frames_sent);
			WALK(number, w, COUNTER, "no_mbuf",
			     "action send: frames not sent because no mbuf was free",
			     run->result.events[i].no_mbuf);
		}
		w->optional = false;
		walk_leave(w);
	}
}

static void
walk_settings(struct walk *w, const struct lab_run *run)
{
	const struct scenario *s = w->names_only ? NULL : run->scenario;

	w->object = "run";
	walk_number(w, WALK_KEY, "format", "format of the keys", FORMAT);
	walk_text(w, WALK_KEY, "program", "name of the program", "quench-lab");
	walk_text(w, WALK_KEY, "version", "version of the program", release_version);
	walk_text(w, WALK_KEY, "commit", "commit of the program's build", release_commit);
	WALK(text, w, KEY, "scenario", "name of the scenario", run->scenario_name);
	walk_maybe_text(w, WALK_KEY, "switch_file",
			"name of the file of --switch; null: none beside a scenario",
			w->names_only ? NULL : run->switch_name);
	walk_texts(w, "changes", "values of --set, in their order");
	for (unsigned int i = 0; !w->names_only && i < run->n_changes; i++)
		walk_add_text(w, "changes", run->changes[i]);
	WALK(text, w, KEY, "topology", "key of [fabric]", topology_words[s->fabric.topology]);
	WALK(text, w, KEY, "forwarding", "l2: bridges; l3: routers",
	     s->routes != NULL ? "l3" : "l2");
	WALK(number, w, KEY, "seed", "seed of all random choices", s->fabric.seed);
	WALK(number, w, KEY, "duration_ns", "simulated time", s->fabric.duration_ns);
	WALK(number, w, KEY, "measure_from_ns", "start of the measured window",
	     s->fabric.measure_from_ns);
}

static void
walk_in_force(struct walk *w, const struct lab_run *run)
{
	/* At the end of the run, as the values of queues. */
	const struct scenario *s = w->names_only ? NULL : net_in_force(run->net);

	WALK(text, w, KEY, "icrc_check", "on or off", on_off(s->nic.icrc_check));
	WALK(text, w, KEY, "measure_times",
	     "on or off, whatever the key: whether all hosts measure", on_off(measures_times(run)));
	WALK(text, w, KEY, "cc", "congestion control of [nic]", cc_words[s->nic.cc]);
	WALK(text, w, KEY, "pfc", "on or off", on_off(s->sw.pfc_generate));
	WALK(number, w, KEY, "link_speed_bps", "link_rate_bps of [fabric]",
	     s->fabric.link_rate_bps);
	w->optional = true;
	if (w->names_only || (s->sw.pfc_generate && !s->sw.mmu.lossless.dynamic))
		WALK(number, w, KEY, "xoff_limit_bytes",
		     "shared bytes at which a lossless priority group sends XOFF; absent if the "
		     "limit is dynamic",
		     s->sw.mmu.lossless.static_th_bytes);
	w->optional = false;
}

static uint64_t
used_bytes(const struct lab_run *run)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < topology_of(run)->n_switches; i++)
		sum += mmu_used_bytes(sw_mmu(net_switch(run->net, i)));
	return sum;
}

/* Sums over all switches. */
static void
walk_ledger(struct walk *w, const struct lab_run *run)
{
	const struct sw_view none = {0};

	walk_enter(w, "ledger", "");
	if (w->names_only) {
		sw_walk_ledger(w, &none);
	} else {
		struct json_walk sum = json_walk_sum(((struct json_walk *)w)->at);

		for (uint32_t i = 0; i < topology_of(run)->n_switches; i++)
			sw_walk_ledger(&sum.walk, &(struct sw_view){.sw = net_switch(run->net, i)});
	}
	walk_leave(w);
	w->object = "run";
	WALK(number, w, GAUGE, "buffer_used_bytes",
	     "bytes in the buffers of all switches at the end", used_bytes(run));
}

static void
walk_speed(struct walk *w, const struct lab_run *run)
{
	char digest[17];

	if (!w->names_only)
		snprintf(digest, sizeof(digest), "%016" PRIx64, run->result.digest);
	WALK(number, w, COUNTER, "frames", "frames sent by hosts, and PFC frames sent by switches",
	     run->result.frames);
	WALK(number, w, COUNTER, "packet_hops", "links that each frame crossed, over all frames",
	     run->result.packet_hops);
	WALK(real, w, GAUGE, "wall_seconds", "real time of the run", run->wall_seconds);
	WALK(real, w, GAUGE, "packet_hops_per_second", "speed of the run",
	     run->wall_seconds > 0 ? (double)run->result.packet_hops / run->wall_seconds : 0);
	WALK(text, w, KEY, "digest", "64 bits over all results, in hexadecimal", digest);
}

static void
walk_memory(struct walk *w, const struct lab_run *run)
{
	const struct net_memory m = w->names_only ? (struct net_memory){0} : net_memory(run->net);

	walk_enter(w, "memory", "");
	w->object = "memory";
	walk_number(w, WALK_GAUGE, "switches_bytes", "physical memory of all switches at the start",
		    m.switches_bytes);
	walk_number(w, WALK_GAUGE, "hosts_bytes", "of all hosts, without their QPs", m.hosts_bytes);
	walk_number(w, WALK_GAUGE, "cables_bytes", "of cables, and of the event loop",
		    m.cables_bytes);
	walk_number(w, WALK_GAUGE, "flows_bytes", "of the QPs of all flows, and their paths",
		    m.flows_bytes);
	WALK(number, w, PEAK, "most_bytes", "most memory of the program until the end of the run",
	     output_most_bytes());
	walk_leave(w);
}

/* run is NULL with names_only. */
static void
walk_results(struct walk *w, const struct lab_run *run)
{
	const struct run_result *r = w->names_only ? NULL : &run->result;

	walk_settings(w, run);
	walk_in_force(w, run);
	walk_flows(w, run);
	output_walk_servers(w, run);
	walk_algorithms(w, r);
	output_walk_streams(w, run);
	output_walk_jobs(w, run);
	w->optional = true;
	if (w->names_only || run->explain_job != NULL)
		explain_job_walk(w, w->names_only ? NULL : run->explain_job);
	w->optional = false;
	walk_slowdowns(w, w->names_only ? NULL : &r->slowdown);
	w->object = "run";
	WALK(real, w, GAUGE, "jain_index", "Jain's index of fairness over the flows' wire rates",
	     r->jain_ppm / 1e6);
	walk_bottleneck(w, run);
	output_walk_ports(w, run);
	walk_pfcs(w, run);
	output_walk_pauses(w, run);
	w->object = "run";
	WALK(number, w, COUNTER, "pause_frames_after_measure",
	     "PFC frames that switches sent in the measured window", r->pause_frames_after_measure);
	walk_maybe(w, WALK_GAUGE, "last_pause_ns",
		   "time of the last PFC frame that a switch sent; null: none",
		   w->names_only ? 0 : r->last_pause_ns,
		   w->names_only || r->last_pause_ns == NEVER_NS);
	output_walk_drops(w, run);
	output_walk_warnings(w, run);
	output_walk_cable_faults(w, run);
	walk_ledger(w, run);
	walk_events(w, run);
	walk_scheduled(w, run);
	dumps_walk(w, w->names_only ? NULL : &run->dumps);
	walk_all_counters(w, run);
	lab_fluid_walk(w, w->names_only ? NULL : &run->fluid);
	w->object = "run";
	w->optional = true;
	if (w->names_only || r->has_fast_forward)
		output_walk_fast_forward(w, w->names_only ? NULL : &r->fast_forward);
	w->optional = false;
	w->object = "run";
	walk_speed(w, run);
	walk_memory(w, run);
}

json_t *
output_json(const struct lab_run *run)
{
	struct json_walk j = json_walk(json_object());

	walk_results(&j.walk, run);
	return j.at;
}

void
output_names(struct walk *w)
{
	walk_results(w, NULL);
}

json_t *
output_fluid_json(const struct lab_run *run)
{
	struct json_walk j = json_walk(json_object());

	walk_settings(&j.walk, run);
	lab_fluid_walk(&j.walk, &run->fluid);
	return j.at;
}
