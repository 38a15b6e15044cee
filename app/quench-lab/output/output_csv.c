/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/output/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rte_common.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "base/threads/pages.h"
#include "runtime/notice/say.h"
#include "ctl/results/flow_results.h"
#include "tm/buffer/mmu.h"

int
output_csv_open(struct output_csv *csv, const char *dir, const struct net *net)
{
	*csv = (struct output_csv){
		.earlier = calloc(net_flow_count(net), sizeof(csv->earlier[0])),
		.interval = malloc(sizeof(*csv->interval)),
		.listed = {.has = calloc(net_flow_count(net), sizeof(csv->listed.has[0])),
			   .most = net_scenario(net)->fabric.flow_rows},
		.ended = calloc(net_flow_count(net), sizeof(csv->ended[0])),
	};
	if (csv->earlier == NULL || csv->interval == NULL || csv->listed.has == NULL ||
	    csv->ended == NULL) {
		say_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	csv->flows = output_open(dir, "flows.csv", NULL);
	if (csv->flows != NULL)
		flow_csv_head(csv->flows);
	if (csv->flows != NULL)
		csv->queues = output_open(dir, "queues.csv",
					  "time_ns,node,port,queue,queue_bytes,queue_max_bytes,"
					  "ecn_marked_packets,tx_bytes");
	if (csv->queues != NULL)
		csv->pfc =
			output_open(dir, "pfc.csv",
				    "time_ns,node,port,prio,tx_pause,rx_pause,tx_pause_duration_us,"
				    "rx_pause_duration_us,rx_paused,tx_paused");
	if (csv->pfc != NULL)
		csv->pgs =
			output_open(dir, "pgs.csv",
				    "time_ns,node,port,pg,shared_bytes,headroom_bytes,limit_bytes");
	if (csv->pgs == NULL)
		return -EIO;
	if (!net_scenario(net)->fabric.messages_csv)
		return 0;
	csv->messages = output_open(dir, "messages.csv",
				    "flow,src,dst,bytes,start_ns,end_ns,ideal_ns,slowdown,"
				    "retransmitted_packets,hops");
	return csv->messages != NULL ? 0 : -EIO;
}

/* The flow's times in the interval that ends; NULL: not measured. */
static const struct nic_times *
interval_times(struct output_csv *csv, const struct net *net, uint32_t flow)
{
	const struct nic_times *times = net_flow_times(net, flow);

	if (times == NULL)
		return NULL;
	if (csv->earlier[flow] == NULL)
		csv->earlier[flow] = pages_alloc_sparse(sizeof(*csv->earlier[flow]));
	if (csv->earlier[flow] == NULL)
		return NULL;
	nic_times_since(times, csv->earlier[flow], csv->interval);
	return csv->interval;
}

/* Has a flow sent its last message before this interval? Thousands of flows of a trace have. */
static bool
has_ended(const struct net_flow *flow, const struct flow_sample *s)
{
	return flow->messages > 0 && s->src.tx_messages >= flow->messages * flow->qps &&
	       s->wire_rate_bps == 0 && s->goodput_bps == 0;
}

/* Of a flow that sends: those that were first have rows. */
static bool
is_listed(struct output_listed *l, uint32_t flow)
{
	if (!l->has[flow] && l->n < l->most) {
		l->has[flow] = true;
		l->n++;
	}
	return l->has[flow];
}

static void
flow_rows(struct output_csv *csv, const struct probe *p, uint64_t now_ns)
{
	const struct net *net = probe_net(p);
	uint64_t clock_ns = net_clock_ns(net, now_ns);

	for (uint32_t i = 0; i < net_flow_count(net); i++) {
		const struct flow_sample *s = probe_flow_sample(p, i);

		if (csv->ended[i] || net_flow_is_silent(net_flow(net, i), &s->src, &s->dst) ||
		    !is_listed(&csv->listed, i))
			continue;
		csv->ended[i] = has_ended(net_flow(net, i), s);
		const struct flow_row row = {
			.time_ns = now_ns,
			.flow = net_flow(net, i)->name,
			.wire_rate_bps = s->wire_rate_bps,
			.goodput_bps = s->goodput_bps,
			.times = interval_times(csv, net, i),
			.rp_rate_bps = s->src.rate_bps,
			.rp_target_rate_bps = s->src.target_rate_bps,
			.cnps_handled = s->src.cnps_handled,
			.cnps_sent = s->dst.cnps_sent,
			.cnps_ignored = s->src.cnps_ignored,
			.ce_packets = s->dst.ce_packets,
			.messages = s->src.tx_messages,
			.retransmitted_packets = s->src.retransmitted_packets,
			.rate_cuts = s->src.rate_cuts,
			.paused_ns = net_flow_paused_ns(net, i, clock_ns),
		};

		flow_csv_row(csv->flows, &row);
	}
}

static void
queue_rows_of(FILE *out, const struct probe *p, uint32_t i, uint64_t now_ns)
{
	const struct topology_switch *t = &net_scenario(probe_net(p))->topology->switches[i];
	const struct node *sw = net_switch(probe_net(p), i);

	for (uint16_t port = 0; port < t->n_ports; port++) {
		for (uint8_t queue = 0; queue < TM_CLASSES; queue++) {
			const struct sw_queue_stats *s = &sw_port_stats(sw, port)->queue[queue];
			uint64_t bytes = sw_queue_bytes(sw, port, queue);

			if (s->tx_packets == 0 && bytes == 0)
				continue;
			fprintf(out,
				"%" PRIu64 ",%s,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
				"\n",
				now_ns, t->name, port, queue, bytes,
				probe_queue_peak_bytes(p, i, port, queue), s->ecn_marked_packets,
				s->tx_bytes);
		}
	}
}

static void
queue_rows(FILE *out, const struct probe *p, uint64_t now_ns)
{
	for (uint32_t i = 0; i < net_scenario(probe_net(p))->topology->n_switches; i++)
		queue_rows_of(out, p, i, now_ns);
}

/* When a row is, by the run and by the clock of its node. */
struct row_time {
	uint64_t ns, clock_ns;
};

static void
pfc_row(FILE *out, struct row_time at, const char *node, uint16_t port, uint8_t prio,
	const struct pfc_tx *tx, const struct pfc_rx *rx)
{
	uint64_t sent = tx->stats.tx_pause[prio];
	uint64_t received = rx->stats.rx_pause[prio];

	if (sent == 0 && received == 0)
		return;
	fprintf(out, "%" PRIu64 ",%s,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,%u\n",
		at.ns, node, port, prio, sent, received,
		pfc_tx_duration_ns(tx, prio, at.clock_ns) / NS_PER_US,
		pfc_rx_duration_ns(rx, prio, at.clock_ns) / NS_PER_US,
		rx->until_ns[prio] > at.clock_ns, tx->sent >> prio & 1);
}

static void
pfc_rows(FILE *out, const struct probe *p, uint64_t now_ns)
{
	const struct net *net = probe_net(p);
	const struct topology *t = net_scenario(net)->topology;
	struct row_time at = {.ns = now_ns, .clock_ns = net_clock_ns(net, now_ns)};

	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		for (uint32_t i = 0; i < t->n_switches; i++)
			for (uint16_t port = 0; port < t->switches[i].n_ports; port++)
				pfc_row(out, at, t->switches[i].name, port, prio,
					sw_pfc_tx(net_switch(net, i), port),
					sw_pfc_rx(net_switch(net, i), port));
		for (uint32_t h = 1; h <= t->n_hosts; h++) {
			char name[TOPOLOGY_NODE_CHARS + 1];

			topology_node_name(t, topology_host_node(t, h), name);
			pfc_row(out, at, name, 0, prio, nic_pfc_tx(net_host(net, h)),
				nic_pfc_rx(net_host(net, h)));
		}
	}
}

/* Lossless groups with their limit, which shows how close they are to a pause. */
static void
pg_rows_of(FILE *out, const struct node *sw, const struct topology_switch *t,
	   const struct sw_params *params, uint64_t now_ns)
{
	const struct mmu *mmu = sw_mmu(sw);
	for (uint16_t port = 0; port < t->n_ports; port++) {
		for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
			struct mmu_pg_state state;

			if (!(params->mmu.lossless_pgs[port] >> pg & 1) ||
			    sw_port_stats(sw, port)->pg[pg].rx_packets == 0)
				continue;
			state = mmu_pg_state(mmu, port, pg);
			fprintf(out, "%" PRIu64 ",%s,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
				now_ns, t->name, port, pg, state.shared_bytes, state.headroom_bytes,
				min_u64(mmu_pg_limit_bytes(mmu, port, pg),
					params->mmu.buffer_bytes));
		}
	}
}

static void
pg_rows(FILE *out, const struct net *net, uint64_t now_ns)
{
	const struct scenario *s = net_scenario(net);

	for (uint32_t i = 0; i < s->topology->n_switches; i++)
		pg_rows_of(out, net_switch(net, i), &s->topology->switches[i],
			   scenario_switch_params(s, i), now_ns);
}

void
output_csv_messages(struct output_csv *csv, const struct net *net,
		    const struct nic_message *messages, uint32_t n)
{
	FILE *out = csv->messages;

	for (uint32_t i = 0; i < n; i++) {
		const struct nic_message *m = &messages[i];
		const struct net_flow *flow = net_flow(net, m->flow_id);

		fprintf(out, "%s,h%u,h%u,%u,%" PRIu64 ",%" PRIu64, flow->name, flow->src, flow->dst,
			m->bytes, m->begun_ns, m->end_ns);
		if (m->ideal_ns > 0)
			fprintf(out, ",%" PRIu64 ",%.4f,%u,%u\n", m->ideal_ns,
				(double)(m->end_ns - m->begun_ns) / (double)m->ideal_ns,
				m->retransmitted_packets, m->hops);
		else
			fprintf(out, ",,,%u,\n", m->retransmitted_packets);
	}
}

void
output_csv_sample(struct output_csv *csv, const struct probe *p, uint64_t now_ns)
{
	flow_rows(csv, p, now_ns);
	queue_rows(csv->queues, p, now_ns);
	pfc_rows(csv->pfc, p, now_ns);
	pg_rows(csv->pgs, probe_net(p), now_ns);
}

int
output_csv_close(struct output_csv *csv, const char *dir, const struct net *net)
{
	int flows = output_close(csv->flows, dir, "flows.csv");
	int queues = output_close(csv->queues, dir, "queues.csv");
	int pfc = output_close(csv->pfc, dir, "pfc.csv");
	int pgs = output_close(csv->pgs, dir, "pgs.csv");
	int messages = output_close(csv->messages, dir, "messages.csv");

	for (uint32_t i = 0; csv->earlier != NULL && i < net_flow_count(net); i++)
		pages_free_sparse(csv->earlier[i], sizeof(*csv->earlier[i]));
	free(csv->earlier);
	free(csv->interval);
	free(csv->listed.has);
	free(csv->ended);
	return flows < 0 || queues < 0 || pfc < 0 || pgs < 0 || messages < 0 ? -EIO : 0;
}

int
output_times(const struct lab_run *run, const char *dir)
{
	FILE *out = output_open(dir, "times.csv", NULL);
	uint32_t left = run->scenario->fabric.flow_rows;
	struct nic_pacing pacing;

	if (out == NULL)
		return -EIO;
	times_csv_head(out);
	for (uint32_t i = 0; i < run->result.n_flows && left > 0; i++) {
		if (run->result.flows[i].silent)
			continue;
		left--;
		times_csv_rows(out, net_flow(run->net, i)->name, net_flow_times(run->net, i),
			       net_flow_pacing(run->net, i, &pacing));
	}
	return output_close(out, dir, "times.csv");
}

int
output_fluid_keep(const char *dir, bool keep)
{
	int flows = output_keep_optional(dir, "fluid_flows.csv", keep);
	int queues = output_keep_optional(dir, "fluid_queues.csv", keep);

	return flows < 0 || queues < 0 ? -EIO : 0;
}

int
output_csv_keep(const char *dir, bool keep)
{
	static const char *const names[] = {"flows.csv", "queues.csv",   "pfc.csv",      "pgs.csv",
					    "times.csv", "counters.csv", "effective.ini"};
	int rc = 0;

	for (unsigned int i = 0; i < ARRAY_LEN(names); i++)
		if (output_keep(dir, names[i], keep) < 0)
			rc = -EIO;
	if (output_keep_optional(dir, "messages.csv", keep) < 0 ||
	    output_keep_optional(dir, "trace.csv", keep) < 0 ||
	    output_keep_optional(dir, "servers.csv", keep) < 0 || output_jobs_keep(dir, keep) < 0 ||
	    output_fluid_keep(dir, keep) < 0)
		rc = -EIO;
	/* Last: a run that is killed before that leaves a file with ".part". */
	if (output_keep(dir, "results.json", keep && rc == 0) < 0)
		rc = -EIO;
	return rc;
}
