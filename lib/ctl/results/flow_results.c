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

/* Keys of one histogram: PREFIX_mean SUFFIX and so on, values divided by scale if that is not 1. */
static void
set_hist(json_t *o, const char *prefix, const char *suffix, const struct hist *h, double scale)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{"mean", hist_mean(h)},           {"p50", hist_quantile(h, 50)},
		{"p95", hist_quantile(h, 95)},    {"p99", hist_quantile(h, 99)},
		{"p999", hist_quantile(h, 99.9)}, {"max", h->max},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char key[64];

		snprintf(key, sizeof(key), "%s_%s%s", prefix, rows[i].name, suffix);
		json_object_set_new(o, key,
				    scale > 1 ? json_real((double)rows[i].value / scale)
					      : json_integer((json_int_t)rows[i].value));
	}
}

void
json_set_times(json_t *o, const struct nic_times *times)
{
	const struct nic_times *t = times != NULL ? times : &no_times;

	json_object_set_new(o, "completions", json_integer((json_int_t)t->completion_ns.count));
	set_hist(o, "completion", "_ns", &t->completion_ns, 1);
	json_object_set_new(o, "waited_messages", json_integer((json_int_t)t->waited));
	json_object_set_new(o, "slowdowns", json_integer((json_int_t)t->slowdown_milli.count));
	json_object_set_new(o, "ideal_from", json_string(ideal_words[t->ideal_from]));
	set_hist(o, "slowdown", "", &t->slowdown_milli, 1000);
	json_object_set_new(o, "rtt_samples", json_integer((json_int_t)t->rtt_ns.count));
	json_object_set_new(o, "rtt_min_ns", json_integer((json_int_t)t->least_rtt_ns));
	set_hist(o, "rtt", "_ns", &t->rtt_ns, 1);
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

static void
set_count(json_t *o, const char *key, const struct hist *h)
{
	json_object_set_new(o, key, json_integer((json_int_t)h->count));
}

void
json_set_pacing(json_t *o, const struct nic_pacing *pacing)
{
	uint32_t has = pacing != NULL ? pacing->has : 0;

	if (has & NIC_PACING_JITTER) {
		set_count(o, "paced_gaps", &pacing->jitter_ns);
		json_object_set_new(o, "paced_rate_error_ppm",
				    json_integer(nic_pacing_error_ppm(pacing)));
		set_hist(o, "jitter", "_ns", &pacing->jitter_ns, 1);
	}
	if (has & NIC_PACING_BURSTS) {
		set_count(o, "burst_gaps", &pacing->burst_gap_ns);
		set_hist(o, "burst_gap", "_ns", &pacing->burst_gap_ns, 1);
	}
	if (has & NIC_PACING_ONE_WAY) {
		set_count(o, "one_way_samples", &pacing->one_way_ns);
		set_hist(o, "one_way", "_ns", &pacing->one_way_ns, 1);
	}
}
