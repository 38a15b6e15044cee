/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/output/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "ctl/results/flow_results.h"

/*
 * Largest number of rows, which fits on a screen. With more flows the table shows quantiles; the
 * files have all rows.
 */
#define MAX_ROWS 40u

static const struct topology *
topology_of(const struct lab_run *run)
{
	return run->scenario->topology;
}

static int
compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
quantile_row(FILE *out, const char *what, uint64_t *values, uint32_t n, double unit)
{
	static const unsigned int percent[] = {0, 10, 50, 90, 100};

	qsort(values, n, sizeof(*values), compare_u64);
	fprintf(out, "%-20s", what);
	for (unsigned int i = 0; i < ARRAY_LEN(percent); i++)
		fprintf(out, " %9.3f", (double)values[(uint64_t)(n - 1) * percent[i] / 100] / unit);
	fputc('\n', out);
}

static void
flow_quantiles(FILE *out, const struct run_result *r)
{
	uint64_t *values = calloc(r->n_flows, sizeof(*values));
	uint64_t completed = 0, errors = 0;

	if (values == NULL)
		return;
	fprintf(out, "\n%-20s %9s %9s %9s %9s %9s\n", "flows", "lowest", "p10", "p50", "p90",
		"highest");
	for (uint32_t i = 0; i < r->n_flows; i++)
		values[i] = r->flows[i].wire_rate_bps;
	quantile_row(out, "wire Gb/s", values, r->n_flows, 1e9);
	for (uint32_t i = 0; i < r->n_flows; i++)
		values[i] = r->flows[i].goodput_bps;
	quantile_row(out, "goodput Gb/s", values, r->n_flows, 1e9);
	for (uint32_t i = 0; i < r->n_flows; i++) {
		values[i] = r->flows[i].src.cnps_handled;
		completed += r->flows[i].messages_completed;
		errors += r->flows[i].error;
	}
	quantile_row(out, "cnp handled", values, r->n_flows, 1);
	for (uint32_t i = 0; i < r->n_flows; i++)
		values[i] = r->flows[i].src.retransmitted_packets;
	quantile_row(out, "retransmitted", values, r->n_flows, 1);
	fprintf(out, "%-26s %u, %" PRIu64 " messages complete, %" PRIu64 " with an error\n",
		"flows", r->n_flows, completed, errors);
	free(values);
}

static unsigned int
n_algorithms(const struct run_result *r)
{
	unsigned int n = 0;

	for (int i = 0; i < CC_ALGORITHMS; i++)
		n += r->cc[i].flows > 0;
	return n;
}

/* What each algorithm got, if there are several. */
static void
cc_table(FILE *out, const struct run_result *r)
{
	uint64_t all_bps = 0;

	if (n_algorithms(r) < 2)
		return;
	for (int i = 0; i < CC_ALGORITHMS; i++)
		all_bps += r->cc[i].wire_rate_bps;
	fprintf(out, "\n%-20s %9s %9s %9s %9s %9s %9s\n", "cc", "flows", "wire", "share", "lowest",
		"highest", "jain");
	fprintf(out, "%-20s %9s %9s %9s %9s %9s %9s\n", "", "", "Gb/s", "%", "Gb/s", "Gb/s",
		"index");
	for (int i = 0; i < CC_ALGORITHMS; i++) {
		const struct cc_result *c = &r->cc[i];

		if (c->flows > 0)
			fprintf(out, "%-20s %9u %9.3f %9.1f %9.3f %9.3f %9.4f\n", cc_words[i],
				c->flows, (double)c->wire_rate_bps / 1e9,
				all_bps > 0 ? 100.0 * (double)c->wire_rate_bps / (double)all_bps
					    : 0,
				(double)c->lowest_bps / 1e9, (double)c->highest_bps / 1e9,
				c->jain_ppm / 1e6);
	}
}

static void
flow_table(FILE *out, const struct run_result *r)
{
	bool mixed = n_algorithms(r) > 1;

	fprintf(out, "\n%-20s %9s %9s %9s %9s %9s %8s %8s %9s%s\n", "flow", "wire", "goodput",
		"lowest", "messages", "messages", "cnp", "rate", "retrans-", mixed ? "  cc" : "");
	fprintf(out, "%-20s %9s %9s %9s %9s %9s %8s %8s %9s\n", "", "Gb/s", "Gb/s", "Gb/s",
		"complete", "wanted", "handled", "cuts", "mitted");
	for (uint32_t i = 0; i < r->n_flows; i++) {
		const struct flow_result *f = &r->flows[i];
		uint64_t wanted = f->flow->messages * f->flow->qps;
		char limit[24];

		if (wanted > 0)
			snprintf(limit, sizeof(limit), "%" PRIu64, wanted);
		else
			snprintf(limit, sizeof(limit), "-");
		fprintf(out,
			"%-20s %9.3f %9.3f %9.3f %9" PRIu64 " %9s %8" PRIu64 " %8" PRIu64
			" %9" PRIu64 "%s%s%s\n",
			f->flow->name, (double)f->wire_rate_bps / 1e9, (double)f->goodput_bps / 1e9,
			(double)f->src.min_rate_bps / 1e9, f->messages_completed, limit,
			f->src.cnps_handled, f->src.rate_cuts, f->src.retransmitted_packets,
			mixed ? "  " : "", mixed ? cc_words[f->flow->cc] : "",
			f->error ? "  error" : "");
	}
}

static double
us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static void
times_row(FILE *out, const char *name, const struct nic_times *t, uint64_t ce_packets)
{
	char slowdown[2][SLOWDOWN_CHARS];

	fprintf(out, "%-20s %9.1f %9.1f %9.1f %9s %9s %9.1f %9.1f %9" PRIu64 "\n", name,
		us(hist_quantile(&t->completion_ns, 50)), us(hist_quantile(&t->completion_ns, 99)),
		us(t->completion_ns.max), slowdown_text(t, 50, slowdown[0]),
		slowdown_text(t, 99, slowdown[1]), us(hist_quantile(&t->rtt_ns, 50)),
		us(hist_quantile(&t->rtt_ns, 99)), ce_packets);
}

/* A row for each flow, unless there are too many, and one for all flows. */
static void
times_table(FILE *out, const struct lab_run *run)
{
	const struct run_result *r = &run->result;
	struct nic_times *all = calloc(1, sizeof(*all));
	uint64_t ce_packets = 0;

	fprintf(out, "\n%-20s %9s %9s %9s %9s %9s %9s %9s %9s\n", "flow", "complet.", "p99", "max",
		"slowdown", "p99", "rtt", "p99", "ce");
	fprintf(out, "%-20s %9s %9s %9s %9s %9s %9s %9s %9s\n", "", "p50 us", "us", "us", "p50", "",
		"p50 us", "us", "packets");
	for (uint32_t i = 0; i < r->n_flows; i++) {
		const struct nic_times *t = net_flow_times(run->net, i);

		ce_packets += r->flows[i].dst.ce_packets;
		if (t == NULL)
			continue;
		if (r->n_flows <= MAX_ROWS)
			times_row(out, net_flow(run->net, i)->name, t, r->flows[i].dst.ce_packets);
		if (all != NULL && (t->completion_ns.count > 0 || t->rtt_ns.count > 0))
			nic_times_merge(all, t);
	}
	if (all != NULL && r->n_flows > 1)
		times_row(out, "all flows", all, ce_packets);
	free(all);
}

/* A size in three digits, such as 1.02 KB. @return text. */
static const char *
size_text(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = {"B", "KB", "MB", "GB"};
	double value = (double)bytes;
	unsigned int unit = 0;

	for (; value >= 1000 && unit + 1 < ARRAY_LEN(units); unit++)
		value /= 1000;
	snprintf(text, size, "%.3g %s", value, units[unit]);
	return text;
}

static void
slowdown_row(FILE *out, const char *name, const struct slowdown_bucket *b)
{
	fprintf(out, "%-20s %9" PRIu64 " %9" PRIu64, name, b->messages, b->not_ended);
	for (unsigned int i = 0; i < SLOWDOWN_PERCENTILES; i++) {
		if (b->percentile[i] == SLOWDOWN_NONE)
			fprintf(out, " %9s", "-");
		else
			fprintf(out, " %9.3f", (double)b->percentile[i] / SLOWDOWN_UNIT);
	}
	fputc('\n', out);
}

/* Number of buckets of which the question is true. */
static uint32_t
count_buckets(const struct slowdown_summary *s, bool (*is)(const struct slowdown_bucket *))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_buckets; i++)
		n += is(&s->buckets[i]);
	return n;
}

/* Messages that waited for the previous message of their QP. */
static uint64_t
waited_messages(const struct lab_run *run)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < run->result.n_flows; i++) {
		const struct nic_times *t = net_flow_times(run->net, i);

		n += t != NULL ? t->waited : 0;
	}
	return n;
}

/* Is the run long enough for its tail, and is the tail that of the network? */
static void
slowdown_notes(FILE *out, const struct slowdown_summary *s, uint64_t waited)
{
	const struct slowdown_bucket *all = &s->all;
	uint32_t scarce = count_buckets(s, slowdown_is_scarce);
	uint32_t rising = count_buckets(s, slowdown_may_rise);
	char of[40] = "";

	if (s->has_interval)
		fprintf(out, "%-26s %.3f to %.3f (95 %% confidence, batch means)\n",
			"slowdown p99, all sizes", s->p99_low, s->p99_high);
	if (all->not_ended > 0)
		fprintf(out, "%-26s %.3g %% of the messages\n", "not ended",
			100 * (double)all->not_ended / (double)(all->messages + all->not_ended));
	if (waited > 0)
		fprintf(out,
			"%-26s %" PRIu64 " of %" PRIu64 " messages waited for the previous message "
			"of their QP, which their slowdown includes (qp_per_message)\n",
			"waited", waited, all->messages + all->not_ended);
	if (s->backlog_is_cut)
		fprintf(out,
			"%-26s an open loop offers more than it can send: %" PRIu64
			" messages have not ended, later ones are not counted\n",
			"warning", all->not_ended);
	if (rising > 0 && s->n_buckets > 1)
		snprintf(of, sizeof(of), " of %u of %u sizes", rising, s->n_buckets);
	if (slowdown_may_rise(all) || rising > 0)
		fprintf(out,
			"%-26s messages that have not ended may raise the p99%s: run longer, or "
			"set stop_ns before the end\n",
			"warning", of);
	if (scarce > 0)
		fprintf(out,
			"%-26s the p99 of fewer than %u messages is their largest slowdown: "
			"%u of %u sizes\n",
			"warning", SLOWDOWN_FEWEST, scarce, s->n_buckets);
}

/* Slowdown by message size; only the sum if all messages have one size. */
static void
slowdown_table(FILE *out, const struct slowdown_summary *s, uint64_t waited)
{
	if (s->all.messages + s->all.not_ended == 0)
		return;
	fprintf(out, "\n%-20s %9s %9s %9s %9s %9s %9s\n", "slowdown by size", "messages",
		"not ended", "p50", "p95", "p99", "p99.9");
	for (uint32_t i = 0; s->n_buckets > 1 && i < s->n_buckets; i++) {
		char from[16], to[16], name[48];

		snprintf(name, sizeof(name), "%s to %s",
			 size_text(s->buckets[i].from_bytes, from, sizeof(from)),
			 size_text(s->buckets[i].to_bytes, to, sizeof(to)));
		slowdown_row(out, name, &s->buckets[i]);
	}
	slowdown_row(out, "all sizes", &s->all);
	slowdown_notes(out, s, waited);
}

static const char *
peer_name(const struct lab_run *run, uint32_t sw, uint16_t port, char name[TOPOLOGY_NODE_CHARS + 1])
{
	const struct topology *t = topology_of(run);

	return topology_node_name(t, topology_peer(t, sw, port).node, name);
}

static void
bottleneck_table(FILE *out, const struct lab_run *run)
{
	const struct run_result *r = &run->result;
	const struct queue_result *q = &r->bottleneck;
	char peer[TOPOLOGY_NODE_CHARS + 1];

	fprintf(out, "\n%-26s %.4f\n", "jain_index", r->jain_ppm / 1e6);
	fprintf(out, "%-26s %s port %u queue %u, to %s\n", "bottleneck",
		topology_of(run)->switches[q->sw].name, q->port, q->queue,
		peer_name(run, q->sw, q->port, peer));
	fprintf(out, "%-26s %.2f %%\n", "link_use", q->link_use_ppm / 1e4);
	fprintf(out, "%-26s mean %" PRIu64 "  p50 %" PRIu64 "  p99 %" PRIu64 "  max %" PRIu64 "\n",
		"queue_bytes", q->mean_bytes, q->p50_bytes, q->p99_bytes, q->max_bytes);
	fprintf(out, "%-26s %" PRIu64 "\n", "ecn_marked_packets", q->ecn_marked_packets);
}

static uint64_t
cnps_sent(const struct lab_run *run)
{
	uint64_t n = 0;

	for (uint32_t h = 1; h <= topology_of(run)->n_hosts; h++)
		n += nic_stats(net_host(run->net, h))->np.np_cnp_sent;
	return n;
}

/* Print rows up to MAX_ROWS. @return row plus the number of rows, printed or not. */
static uint32_t
pause_rows(FILE *out, const struct lab_run *run, uint32_t i, uint32_t row)
{
	const struct topology_switch *t = &topology_of(run)->switches[i];
	uint64_t end_ns = net_clock_ns(run->net, run->scenario->fabric.duration_ns);
	char peer[TOPOLOGY_NODE_CHARS + 1];

	for (uint16_t port = 0; port < t->n_ports; port++) {
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
			const struct pfc_tx *tx = sw_pfc_tx(net_switch(run->net, i), port);

			if (tx->stats.tx_pause[prio] == 0 || ++row > MAX_ROWS)
				continue;
			fprintf(out,
				"%-26s %s port %u prio %u, to %s: %" PRIu64 " frames, %" PRIu64
				" us paused\n",
				"tx_pause", t->name, port, prio, peer_name(run, i, port, peer),
				tx->stats.tx_pause[prio],
				pfc_tx_duration_ns(tx, prio, end_ns) / NS_PER_US);
		}
	}
	return row;
}

static void
pause_table(FILE *out, const struct lab_run *run)
{
	uint32_t rows = 0;

	for (uint32_t i = 0; i < topology_of(run)->n_switches; i++)
		rows = pause_rows(out, run, i, rows);
	if (rows == 0)
		fprintf(out, "%-26s none\n", "tx_pause");
	if (rows > MAX_ROWS)
		fprintf(out, "%-26s %u more ports and priorities\n", "tx_pause", rows - MAX_ROWS);
}

static uint64_t
switch_drops(const struct lab_run *run, uint32_t i, enum sw_drop reason)
{
	uint64_t n = 0;

	for (uint16_t port = 0; port < topology_of(run)->switches[i].n_ports; port++)
		n += sw_port_stats(net_switch(run->net, i), port)->drops[reason];
	return n;
}

static void
warning_rows(FILE *out, const struct lab_run *run)
{
	json_t *list = output_warnings(run), *text;
	size_t i;

	json_array_foreach (list, i, text)
		fprintf(out, "%-26s %s\n", "warning", json_string_value(text));
	json_decref(list);
}

static void
drop_table(FILE *out, const struct lab_run *run)
{
	uint32_t rows = 0;

	for (uint32_t i = 0; i < topology_of(run)->n_switches; i++) {
		for (unsigned int d = 0; d < SW_DROPS; d++) {
			uint64_t n = switch_drops(run, i, d);

			if (n > 0 && ++rows <= MAX_ROWS)
				fprintf(out, "%-26s %s %s: %" PRIu64 "\n", "drops",
					topology_of(run)->switches[i].name, sw_drop_name(d), n);
		}
	}
	for (unsigned int d = 0; d < NIC_DROPS; d++) {
		uint64_t n = 0;

		for (uint32_t h = 1; h <= topology_of(run)->n_hosts; h++)
			n += nic_stats(net_host(run->net, h))->drops[d];
		if (n > 0 && ++rows <= MAX_ROWS)
			fprintf(out, "%-26s hosts %s: %" PRIu64 "\n", "drops", nic_drop_name(d), n);
	}
	if (rows == 0)
		fprintf(out, "%-26s none\n", "drops");
	if (rows > MAX_ROWS)
		fprintf(out, "%-26s %u more\n", "drops", rows - MAX_ROWS);
	warning_rows(out, run);
}

uint64_t
output_most_bytes(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (uint64_t)usage.ru_maxrss : 0;
}

static void
memory_row(FILE *out, const struct lab_run *run)
{
	const struct net_memory m = net_memory(run->net);
	char all[16], sw[16], host[16], flow[16];

	size_text(output_most_bytes(), all, sizeof(all));
	size_text(m.switches_bytes / topology_of(run)->n_switches, sw, sizeof(sw));
	size_text(m.hosts_bytes / topology_of(run)->n_hosts, host, sizeof(host));
	size_text(run->result.n_flows > 0 ? m.flows_bytes / run->result.n_flows : 0, flow,
		  sizeof(flow));
	fprintf(out, "%-26s %s; at the start a switch %s, a host %s, a flow %s\n", "memory", all,
		sw, host, flow);
}

void
output_table(FILE *out, const struct lab_run *run)
{
	const struct scenario *s = run->scenario;
	const struct run_result *r = &run->result;

	fprintf(out,
		"%s: seed %" PRIu64 ", %.3f ms simulated, measured from %.3f ms; cc %s, pfc %s, "
		"icrc_check %s\n",
		run->scenario_name, s->fabric.seed, (double)s->fabric.duration_ns / NS_PER_MS,
		(double)s->fabric.measure_from_ns / NS_PER_MS, cc_words[s->nic.cc],
		s->sw.pfc_generate ? "on" : "off", s->nic.icrc_check ? "on" : "off");
	if (r->n_flows > MAX_ROWS)
		flow_quantiles(out, r);
	else
		flow_table(out, r);
	cc_table(out, r);
	times_table(out, run);
	slowdown_table(out, &r->slowdown, waited_messages(run));
	bottleneck_table(out, run);
	fprintf(out, "%-26s %" PRIu64 "\n", "np_cnp_sent", cnps_sent(run));
	pause_table(out, run);
	drop_table(out, run);
	output_jobs_table(out, run);
	output_servers_table(out, run);
	output_streams_table(out, run);
	if (r->has_fast_forward)
		output_fast_forward_table(out, &r->fast_forward);
	fprintf(out, "%-26s %" PRIu64 "\n", "frames", r->frames);
	fprintf(out, "%-26s %" PRIu64 " in %.2f s: %.2f M/s\n", "packet_hops", r->packet_hops,
		run->wall_seconds,
		run->wall_seconds > 0 ? (double)r->packet_hops / run->wall_seconds / 1e6 : 0);
	memory_row(out, run);
	fprintf(out, "%-26s %016" PRIx64 "\n", "digest", r->digest);
}
