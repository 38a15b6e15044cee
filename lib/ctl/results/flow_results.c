/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/results/flow_results.h"

#include <inttypes.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"

static const char *const ideal_words[] = {
	[NIC_IDEAL_FROM_LEAST_RTT] = "rtt_min_ns",
	[NIC_IDEAL_FROM_BASE_RTT] = "base_rtt_ns",
	[NIC_IDEAL_FROM_PATH] = "path",
};

/* Used for flows without measurements. */
static const struct nic_times no_times;

void
flow_csv_head(FILE *out)
{
	fputs("time_ns,flow,wire_rate_bps,goodput_bps,rp_rate_bps,rp_target_rate_bps,"
	      "cnp_handled,cnp_sent,messages,retransmitted_packets,rate_cuts,cnp_ignored,"
	      "ce_packets,rx_pause_duration_us,completions,completion_p50_ns,completion_p99_ns,"
	      "completion_max_ns,slowdown_p50,slowdown_p99,slowdown_max,rtt_samples,rtt_p50_ns,"
	      "rtt_p99_ns,rtt_max_ns\n",
	      out);
}

static void
put(FILE *out, const uint64_t *values, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, ",%" PRIu64, values[i]);
}

void
flow_csv_row(FILE *out, const struct flow_row *row)
{
	const struct nic_times *t = row->times != NULL ? row->times : &no_times;
	const struct hist *done = &t->completion_ns, *slow = &t->slowdown_milli, *rtt = &t->rtt_ns;
	const uint64_t counts[] = {
		row->wire_rate_bps,
		row->goodput_bps,
		row->rp_rate_bps,
		row->rp_target_rate_bps,
		row->cnps_handled,
		row->cnps_sent,
		row->messages,
		row->retransmitted_packets,
		row->rate_cuts,
		row->cnps_ignored,
		row->ce_packets,
		row->paused_ns / NS_PER_US,
		done->count,
		hist_quantile(done, 50),
		hist_quantile(done, 99),
		done->max,
	};
	const uint64_t rtts[] = {
		rtt->count,
		hist_quantile(rtt, 50),
		hist_quantile(rtt, 99),
		rtt->max,
	};

	fprintf(out, "%" PRIu64 ",%s", row->time_ns, row->flow);
	put(out, counts, ARRAY_LEN(counts));
	fprintf(out, ",%.3f,%.3f,%.3f", (double)hist_quantile(slow, 50) / 1000,
		(double)hist_quantile(slow, 99) / 1000, (double)slow->max / 1000);
	put(out, rtts, ARRAY_LEN(rtts));
	fputc('\n', out);
}

void
times_csv_head(FILE *out)
{
	fputs("flow,measure,at_most,count\n", out);
}

static void
hist_rows(FILE *out, const char *flow, const char *measure, const struct hist *h)
{
	for (unsigned int b = 0; b <= hist_bucket(h->max); b++) {
		uint64_t top = hist_bucket_top(b) < h->max ? hist_bucket_top(b) : h->max;

		if (h->weight[b] > 0)
			fprintf(out, "%s,%s,%" PRIu64 ",%" PRIu64 "\n", flow, measure, top,
				h->weight[b]);
	}
}

void
times_csv_rows(FILE *out, const char *flow, const struct nic_times *times,
	       const struct nic_pacing *pacing)
{
	if (times != NULL) {
		hist_rows(out, flow, "completion_ns", &times->completion_ns);
		hist_rows(out, flow, "slowdown_milli", &times->slowdown_milli);
		hist_rows(out, flow, "rtt_ns", &times->rtt_ns);
	}
	if (pacing == NULL)
		return;
	hist_rows(out, flow, "jitter_ns", &pacing->jitter_ns);
	hist_rows(out, flow, "burst_gap_ns", &pacing->burst_gap_ns);
	hist_rows(out, flow, "one_way_ns", &pacing->one_way_ns);
}

/*
 * One histogram: PREFIX_mean SUFFIX and so on; values are divided by scale if that is not 1, and
 * are of the text.
 */
static void
walk_hist(struct walk *w, const char *prefix, const char *suffix, const char *of,
	  const struct hist *h, double scale)
{
	const struct {
		const char *name, *help;
		uint64_t value;
	} rows[] = {
		{"mean", "mean", hist_mean(h)},
		{"p50", "median", hist_quantile(h, 50)},
		{"p95", "95th percentile", hist_quantile(h, 95)},
		{"p99", "99th percentile", hist_quantile(h, 99)},
		{"p999", "99.9th percentile", hist_quantile(h, 99.9)},
		{"max", "maximum", h->max},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char key[64], help[160] = "";

		snprintf(key, sizeof(key), "%s_%s%s", prefix, rows[i].name, suffix);
		if (w->names_only)
			snprintf(help, sizeof(help), "%s, %s since the start", of, rows[i].help);
		if (scale > 1)
			walk_real(w, WALK_GAUGE, key, help, (double)rows[i].value / scale);
		else
			walk_number(w, WALK_GAUGE, key, help, rows[i].value);
	}
}

void
walk_times(struct walk *w, const struct nic_times *times)
{
	const struct nic_times *t = times != NULL ? times : &no_times;

	walk_number(w, WALK_COUNTER, "completions", "messages whose completion time was measured",
		    t->completion_ns.count);
	walk_hist(w, "completion", "_ns", "time from a message's start to its completion",
		  &t->completion_ns, 1);
	walk_number(w, WALK_COUNTER, "waited_messages",
		    "messages of an open loop that found the previous one of their QP unsent",
		    t->waited);
	walk_number(w, WALK_COUNTER, "slowdowns", "messages whose slowdown is known",
		    t->slowdown_milli.count);
	walk_text(w, WALK_KEY, "ideal_from",
		  "source of the ideal time: path, base_rtt_ns or rtt_min_ns",
		  ideal_words[t->ideal_from]);
	walk_hist(w, "slowdown", "", "completion time divided by the ideal time (of ideal_from)",
		  &t->slowdown_milli, 1000);
	walk_number(w, WALK_COUNTER, "rtt_samples", "round-trip times measured", t->rtt_ns.count);
	walk_number(w, WALK_GAUGE, "rtt_min_ns", "shortest round-trip time measured",
		    t->least_rtt_ns);
	walk_hist(w, "rtt", "_ns", "round-trip time", &t->rtt_ns, 1);
}

const char *
slowdown_text(const struct nic_times *times, double pct, char text[SLOWDOWN_CHARS])
{
	const struct hist *h = &times->slowdown_milli;

	if (h->count == 0)
		snprintf(text, SLOWDOWN_CHARS, "-");
	else
		snprintf(text, SLOWDOWN_CHARS, "%.2f", (double)hist_quantile(h, pct) / 1000);
	return text;
}

const char *
slowdown_base(const struct nic_times *times)
{
	return ideal_words[times->ideal_from];
}

void
walk_pacing(struct walk *w, const struct nic_pacing *pacing)
{
	static const struct nic_pacing none;
	const struct nic_pacing *p = pacing != NULL ? pacing : &none;
	const uint32_t has = w->names_only ? UINT32_MAX : p->has;

	w->optional = true;
	if (has & NIC_PACING_JITTER) {
		walk_number(w, WALK_GAUGE, "paced_gaps", "gaps measured between paced packets",
			    p->jitter_ns.count);
		WALK(signed, w, GAUGE, "paced_rate_error_ppm",
		     "relative error of the rate over the measured gaps", nic_pacing_error_ppm(p));
		walk_hist(w, "jitter", "_ns", "difference between a gap and its nominal length",
			  &p->jitter_ns, 1);
	}
	if (has & NIC_PACING_BURSTS) {
		walk_number(w, WALK_GAUGE, "burst_gaps",
			    "gaps measured between bursts that arrived", p->burst_gap_ns.count);
		walk_hist(w, "burst_gap", "_ns", "gap between two bursts of a QP that arrived",
			  &p->burst_gap_ns, 1);
	}
	if (has & NIC_PACING_ONE_WAY) {
		walk_number(w, WALK_GAUGE, "one_way_samples", "one-way times measured",
			    p->one_way_ns.count);
		walk_hist(w, "one_way", "_ns",
			  "time from the sender to the receiver of a message's last packet",
			  &p->one_way_ns, 1);
	}
	w->optional = false;
}
