/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/desk/nic_methods_times.h"

#include <stdlib.h>

#include "base/sets/hist.h"
#include "runtime/report/report.h"
#include "quench-nic/config/nic_version.h"
#include "quench-nic/flows/flows.h"

/* Rows of all histograms in one list: bucket b of histogram h is number h * HIST_BUCKETS + b. */
struct histograms {
	struct {
		const char *measure; /* as in times.csv */
		const struct hist *hist;
	} of[6];
	unsigned int n;
};

static void
add(struct histograms *all, const char *measure, const struct hist *hist)
{
	all->of[all->n].measure = measure;
	all->of[all->n++].hist = hist;
}

static json_t *
bucket_row(struct desk_call *call, void *arg, uint64_t number)
{
	const struct histograms *all = arg;
	const struct hist *hist = all->of[number / HIST_BUCKETS].hist;
	unsigned int bucket = number % HIST_BUCKETS;
	json_t *row;

	(void)call;
	if (hist->weight[bucket] == 0)
		return NULL;
	row = json_object();
	json_object_set_new(row, "measure", json_string(all->of[number / HIST_BUCKETS].measure));
	report_set_u64(row, "at_most", hist_bucket_top(bucket));
	report_set_u64(row, "count", hist->weight[bucket]);
	return row;
}

static json_t *
times_of(struct desk_call *call, struct flows *flows, struct nic_pacing *sum)
{
	const struct nic_times *times;
	const struct nic_pacing *pacing;
	struct histograms all = {0};
	char digits[DESK_DIGITS];
	const char *name = desk_word(call, "flow", digits);
	unsigned int i;
	json_t *o;

	flows_list(flows);
	i = flows_find(flows, name);
	if (i == flows->n_shown)
		return desk_refuse_param(call, "a flow of show flows", "FLOW = %s", name);
	times = flows_times(flows, i);
	pacing = flows_pacing(flows, i, sum);
	if (times != NULL) {
		add(&all, "completion_ns", &times->completion_ns);
		add(&all, "slowdown_milli", &times->slowdown_milli);
		add(&all, "rtt_ns", &times->rtt_ns);
	}
	if (pacing != NULL && pacing->has & NIC_PACING_JITTER)
		add(&all, "jitter_ns", &pacing->jitter_ns);
	if (pacing != NULL && pacing->has & NIC_PACING_BURSTS)
		add(&all, "burst_gap_ns", &pacing->burst_gap_ns);
	if (pacing != NULL && pacing->has & NIC_PACING_ONE_WAY)
		add(&all, "one_way_ns", &pacing->one_way_ns);
	if (all.n == 0)
		return desk_refuse_param(call, "a requester with measure_times, or measure_pacing",
					 "FLOW = %s: it has no times", name);
	o = json_object();
	json_object_set_new(o, "flow", json_string(flows->shown[i].flow->name));
	return desk_list_add(call,
			     &(struct desk_list){.end = (uint64_t)all.n * HIST_BUCKETS,
						 .row = bucket_row,
						 .arg = &all},
			     o);
}

json_t *
times_reply(struct desk_call *call)
{
	const struct nic_version *version = (const struct nic_version *)call->version;
	struct nic_pacing *pacing = malloc(sizeof(*pacing));
	struct flows flows = {0};
	json_t *o = NULL;

	if (pacing == NULL ||
	    flows_open(&flows, nic_config_of(call->version), version->registry, NULL) != 0) {
		desk_refuse(call, "more memory", "out of memory");
	} else {
		flow_registry_read_begin(version->registry);
		o = times_of(call, &flows, pacing);
		flow_registry_read_end(version->registry);
	}
	flows_close(&flows);
	free(pacing);
	return o;
}
