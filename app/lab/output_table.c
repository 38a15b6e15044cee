/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/output.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

static void
flow_table(FILE *out, const struct run_result *r)
{
	fprintf(out, "\n%-20s %9s %9s %9s %9s %9s %8s %8s %9s\n", "flow", "wire", "goodput",
		"lowest", "messages", "messages", "cnp", "rate", "retrans-");
	fprintf(out, "%-20s %9s %9s %9s %9s %9s %8s %8s %9s\n", "", "Gb/s", "Gb/s", "Gb/s",
		"complete", "wanted", "handled", "cuts", "mitted");
	for (uint32_t i = 0; i < r->n_flows; i++) {
		const struct flow_result *f = &r->flows[i];
		uint64_t wanted = f->flow->params->messages * f->flow->qps;
		char limit[24];

		if (wanted > 0)
			snprintf(limit, sizeof(limit), "%" PRIu64, wanted);
		else
			snprintf(limit, sizeof(limit), "-");
		fprintf(out,
			"%-20s %9.3f %9.3f %9.3f %9" PRIu64 " %9s %8" PRIu64 " %8" PRIu64
			" %9" PRIu64 "%s\n",
			f->flow->name, (double)f->wire_rate_bps / 1e9, (double)f->goodput_bps / 1e9,
			(double)f->src.min_rate_bps / 1e9, f->messages_completed, limit,
			f->src.cnps_handled, f->src.rate_cuts, f->src.retransmitted_packets,
			f->error ? "  error" : "");
	}
}

static double
us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static void
times_table(FILE *out, const struct lab_run *run)
{
	fprintf(out, "\n%-20s %9s %9s %9s %9s %9s %9s %9s %9s\n", "flow", "complet.", "p99", "max",
		"slowdown", "p99", "rtt", "p99", "ce");
	fprintf(out, "%-20s %9s %9s %9s %9s %9s %9s %9s %9s\n", "", "p50 us", "us", "us", "p50", "",
		"p50 us", "us", "packets");
	for (uint32_t i = 0; i < run->result.n_flows; i++) {
		const struct nic_times *t = net_flow_times(run->net, i);

		if (t == NULL)
			continue;
		fprintf(out, "%-20s %9.1f %9.1f %9.1f %9.2f %9.2f %9.1f %9.1f %9" PRIu64 "\n",
			net_flow(run->net, i)->name, us(hist_quantile(&t->completion_ns, 50)),
			us(hist_quantile(&t->completion_ns, 99)), us(t->completion_ns.max),
			(double)hist_quantile(&t->slowdown_milli, 50) / 1000,
			(double)hist_quantile(&t->slowdown_milli, 99) / 1000,
			us(hist_quantile(&t->rtt_ns, 50)), us(hist_quantile(&t->rtt_ns, 99)),
			run->result.flows[i].dst.ce_packets);
	}
}

static void
bottleneck_table(FILE *out, const struct lab_run *run)
{
	const struct run_result *r = &run->result;
	const struct queue_result *q = &r->bottleneck;

	fprintf(out, "\n%-26s %.4f\n", "jain_index", r->jain_ppm / 1e6);
	fprintf(out, "%-26s " OUTPUT_SWITCH_NAME " port %u queue %u\n", "bottleneck", q->port,
		q->queue);
	fprintf(out, "%-26s %.2f %%\n", "link_use", q->link_use_ppm / 1e4);
	fprintf(out, "%-26s mean %" PRIu64 "  p50 %" PRIu64 "  p99 %" PRIu64 "  max %" PRIu64 "\n",
		"queue_bytes", q->mean_bytes, q->p50_bytes, q->p99_bytes, q->max_bytes);
	fprintf(out, "%-26s %" PRIu64 "\n", "ecn_marked_packets", q->ecn_marked_packets);
}

static uint64_t
cnps_sent(const struct lab_run *run)
{
	uint64_t n = 0;

	for (uint16_t h = 1; h <= run->scenario->fabric.hosts; h++)
		n += nic_stats(net_host(run->net, h))->np.np_cnp_sent;
	return n;
}

static void
pause_table(FILE *out, const struct lab_run *run)
{
	const struct node *sw = net_switch(run->net);
	uint64_t end_ns = run->scenario->fabric.duration_ns;
	bool any = false;

	for (uint16_t port = 0; port < run->scenario->sw.n_ports; port++) {
		for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
			const struct pfc_tx *tx = sw_pfc_tx(sw, port);

			if (tx->stats.tx_pause[prio] == 0)
				continue;
			any = true;
			fprintf(out,
				"%-26s " OUTPUT_SWITCH_NAME " port %u prio %u: %" PRIu64
				" frames, %" PRIu64 " us paused\n",
				"tx_pause", port, prio, tx->stats.tx_pause[prio],
				pfc_tx_duration_ns(tx, prio, end_ns) / NS_PER_US);
		}
	}
	if (!any)
		fprintf(out, "%-26s none\n", "tx_pause");
}

static void
drop_table(FILE *out, const struct lab_run *run)
{
	const struct node *sw = net_switch(run->net);
	bool any = false;

	for (unsigned int d = 0; d < SW_DROPS; d++) {
		uint64_t n = 0;

		for (uint16_t port = 0; port < run->scenario->sw.n_ports; port++)
			n += sw_port_stats(sw, port)->drops[d];
		if (n > 0)
			fprintf(out, "%-26s " OUTPUT_SWITCH_NAME " %s: %" PRIu64 "\n", "drops",
				sw_drop_name(d), n);
		any |= n > 0;
	}
	for (unsigned int d = 0; d < NIC_DROPS; d++) {
		uint64_t n = 0;

		for (uint16_t h = 1; h <= run->scenario->fabric.hosts; h++)
			n += nic_stats(net_host(run->net, h))->drops[d];
		if (n > 0)
			fprintf(out, "%-26s hosts %s: %" PRIu64 "\n", "drops", nic_drop_name(d), n);
		any |= n > 0;
	}
	if (!any)
		fprintf(out, "%-26s none\n", "drops");
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
	flow_table(out, r);
	times_table(out, run);
	bottleneck_table(out, run);
	fprintf(out, "%-26s %" PRIu64 "\n", "np_cnp_sent", cnps_sent(run));
	pause_table(out, run);
	drop_table(out, run);
	fprintf(out, "%-26s %" PRIu64 "\n", "frames", r->frames);
	fprintf(out, "%-26s %" PRIu64 " in %.2f s: %.2f M/s\n", "packet_hops", r->packet_hops,
		run->wall_seconds,
		run->wall_seconds > 0 ? (double)r->packet_hops / run->wall_seconds / 1e6 : 0);
	fprintf(out, "%-26s %016" PRIx64 "\n", "digest", r->digest);
}
