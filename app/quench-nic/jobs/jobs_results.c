/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "ctl/output/json.h"
#include "job/job_check.h"
#include "nic/jobs/job_spread.h"
#include "nic/nic.h"
#include "quench-nic/jobs/jobs.h"
#include "runtime/notice/say.h"
#include "runtime/report/job_table.h"
#include "runtime/report/report.h"

/* Of the ranks here: the iterations that all of them have ended. */
struct result {
	uint32_t ended;
	struct job_spread spread;            /* of their completion times */
	uint64_t mean_ns;                    /* 0: none has ended */
	uint64_t bound_ns, alg_bps, bus_bps; /* 0: of a GOAL file */
	uint64_t unknown;
	uint32_t waits_rank; /* JOB_NONE: no rank waits */
	char waits_for[96];
	bool begun;
};

static struct nic_job_info
info_of(const struct jobs *jobs, const struct job_here *here, uint32_t k)
{
	struct nic_job_info info;

	nic_job_info(jobs->nodes->node[0], here->ranks[k].index,
		     __atomic_load_n(&jobs->now_ns, __ATOMIC_RELAXED), &info);
	return info;
}

static bool
has_operations(const struct job_here *here, uint32_t k)
{
	return here->job.plan->graph.ranks[here->ranks[k].rank].n_ops > 0;
}

struct iteration {
	uint64_t begin_ns, end_ns;
	uint32_t last_rank;
};

static struct iteration
iteration_of(const struct jobs *jobs, const struct job_here *here, uint32_t number)
{
	struct iteration it = {.begin_ns = NEVER_NS};

	for (uint32_t k = 0; k < here->n_ranks; k++) {
		const struct nic_job_info info = info_of(jobs, here, k);

		if (!has_operations(here, k))
			continue;
		it.begin_ns = min_u64(it.begin_ns, info.spans[number].begin_ns);
		if (info.spans[number].end_ns > it.end_ns) {
			it.end_ns = info.spans[number].end_ns;
			it.last_rank = here->ranks[k].rank;
		}
	}
	if (it.begin_ns == NEVER_NS)
		it.begin_ns = it.end_ns;
	return it;
}

static void
summarise(const struct jobs *jobs, const struct job_here *here, struct result *out)
{
	const struct nic_job *job = &here->job;
	uint64_t *times = malloc((out->ended + 1) * sizeof(*times)), sum = 0;

	for (uint32_t i = 0; times != NULL && i < out->ended; i++) {
		const struct iteration it = iteration_of(jobs, here, i);

		times[i] = it.end_ns - it.begin_ns;
		sum += times[i];
	}
	if (times != NULL && out->ended > 0) {
		out->spread = job_spread_of(times, out->ended);
		out->mean_ns = sum / out->ended;
	}
	free(times);
	if (job_keys_has_file(&job->keys))
		return;
	out->bound_ns = job_keys_bound_ns(&job->keys, job->plan->graph.n_ranks, jobs->link_bps,
					  job->plan->ips[0].version == 6);
	if (out->mean_ns > 0) {
		double alg = 8e9 * (double)job_keys_bytes(&job->keys) / (double)out->mean_ns;

		out->alg_bps = (uint64_t)alg;
		out->bus_bps = (uint64_t)(alg * collective_bus_factor(job->collective,
								      job->plan->graph.n_ranks));
	}
}

static struct result
result_of(const struct jobs *jobs, const struct job_here *here)
{
	struct result r = {.ended = here->job.iterations, .waits_rank = JOB_NONE};

	for (uint32_t k = 0; k < here->n_ranks; k++) {
		const struct nic_job_info info = info_of(jobs, here, k);
		const struct job_rank *rank = &here->job.plan->graph.ranks[here->ranks[k].rank];
		uint32_t op = JOB_NONE;

		r.begun = r.begun || info.begun > 0;
		r.unknown += info.unknown;
		if (info.ended < r.ended || r.waits_rank == JOB_NONE)
			op = nic_job_waits(jobs->nodes->node[0], here->ranks[k].index);
		r.ended = (uint32_t)min_u64(r.ended, info.ended);
		if (op == JOB_NONE)
			continue;
		r.waits_rank = here->ranks[k].rank;
		job_op_why(rank, op, r.waits_for, sizeof(r.waits_for));
	}
	summarise(jobs, here, &r);
	return r;
}

static const char *
state_of(const struct job_here *here, const struct result *r, bool stopped)
{
	if (job_has_failed(here))
		return "failed";
	if (r->begun && r->ended == here->job.iterations)
		return "ended";
	return stopped ? "stopped" : r->begun ? "running" : "waiting";
}

/* A text that not every job has. */
static void
maybe_text(struct walk *w, const char *name, const char *help, const char *text)
{
	w->optional = true;
	if (w->names_only || text != NULL)
		walk_text(w, WALK_KEY, name, help, text);
	w->optional = false;
}

void
jobs_walk(struct walk *w, const struct jobs *jobs, uint32_t i, const struct nic_config *config)
{
	static const struct job_here none;
	const struct job_here *here = jobs == NULL ? &none : &jobs->of[i];
	const struct nic_job *job = &here->job;
	const struct result r =
		jobs == NULL ? (struct result){.waits_rank = JOB_NONE} : result_of(jobs, here);
	bool file = jobs != NULL && job_keys_has_file(&job->keys),
	     stages = jobs != NULL && !file && job_keys_has_stages(&job->keys),
	     one = !file && !stages;

	w->object = "job";
	walk_text(w, WALK_KEY, "name", "name of the job", job->name);
	WALK(text, w, KEY, "state",
	     "waiting for its start, running, stopped, ended, or failed: of the ranks here",
	     state_of(here, &r, config->jobs[here->number - 1].stopped));
	maybe_text(w, "why", "why it has failed; absent: it has not",
		   job_has_failed(here) ? here->why : NULL);
	maybe_text(w, "goal", "its GOAL file; absent: it has none", file ? job->goal : NULL);
	maybe_text(w, "stages", "key of [job NAME]; absent: it has none",
		   stages ? job->stages : NULL);
	maybe_text(w, "collective", "key of [job NAME]; absent with a GOAL file or stages",
		   one ? collective_words[job->collective] : NULL);
	maybe_text(w, "algorithm", "algorithm in use; absent with a GOAL file or stages",
		   one ? job_keys_algorithm(&job->keys) : NULL);
	walk_maybe(w, WALK_GAUGE, "bytes",
		   "size of the collective; null with a GOAL file or stages",
		   jobs != NULL ? job_keys_bytes(&job->keys) : 0, !one);
	WALK(number, w, GAUGE, "ranks_of_all", "ranks of the job, here or elsewhere",
	     job->plan->graph.n_ranks);
	walk_number(w, WALK_GAUGE, "ranks_here", "ranks that run here", here->n_ranks);
	walk_number(w, WALK_GAUGE, "iterations", "iterations that each rank takes",
		    job->iterations);
	walk_number(w, WALK_GAUGE, "iterations_ended", "iterations that all ranks here have ended",
		    r.ended);
	walk_number(w, WALK_GAUGE, "jct_min_ns",
		    "shortest completion time of an iteration: from the begin of the first rank "
		    "here to the end of the last one",
		    r.spread.min_ns);
	walk_number(w, WALK_GAUGE, "jct_p50_ns", "median of these times", r.spread.p50_ns);
	walk_number(w, WALK_GAUGE, "jct_p99_ns", "99th percentile of these times", r.spread.p99_ns);
	walk_number(w, WALK_GAUGE, "jct_max_ns", "longest of these times", r.spread.max_ns);
	walk_number(w, WALK_GAUGE, "jct_mean_ns", "mean of these times", r.mean_ns);
	walk_number(w, WALK_GAUGE, "bound_ns",
		    "lower bound of jct_mean_ns for links of this speed; 0 with a GOAL file",
		    r.bound_ns);
	walk_number(w, WALK_GAUGE, "algorithm_bandwidth_bps", "bytes / jct_mean_ns", r.alg_bps);
	walk_number(w, WALK_GAUGE, "bus_bandwidth_bps",
		    "algorithm_bandwidth_bps x the factor of nccl-tests", r.bus_bps);
	walk_number(w, WALK_COUNTER, "unknown_messages",
		    "messages with a tag that nothing receives", r.unknown);
	walk_maybe(w, WALK_KEY, "waits_rank", "number of a rank here that is behind; null: none is",
		   r.waits_rank, r.waits_rank == JOB_NONE);
	maybe_text(w, "waits_for", "the operation that it waits for; absent: none",
		   r.waits_rank == JOB_NONE ? NULL : r.waits_for);
	WALK(number, w, KEY, "epoch_ns",
	     "time 0 of jobs.csv, by a clock that all programs of a machine share", jobs->epoch_ns);
}

static json_t *
rank_object(const struct jobs *jobs, const struct job_here *here, uint32_t k)
{
	const struct nic_job_info info = info_of(jobs, here, k);
	char ip[FIELD_IP_CHARS];
	json_t *o = json_object();

	report_set_u64(o, "rank", here->ranks[k].rank);
	json_object_set_new(
		o, "address",
		json_string(field_ip_text(&here->job.plan->ips[here->ranks[k].rank], ip)));
	report_set_u64(o, "iterations_ended", info.ended);
	report_set_u64(o, "compute_ns", info.time_ns[NIC_JOB_COMPUTES]);
	report_set_u64(o, "send_ns", info.time_ns[NIC_JOB_SENDS]);
	report_set_u64(o, "wait_ns", info.time_ns[NIC_JOB_WAITS]);
	report_set_u64(o, "messages_sent", info.sent);
	report_set_u64(o, "messages_received", info.received);
	return o;
}

json_t *
jobs_report(const struct jobs *jobs, const struct nic_config *config)
{
	static const char *const texts[] = {"why",        "goal",      "stages",
					    "collective", "algorithm", "waits_for"};
	json_t *list = json_array();

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct job_here *here = &jobs->of[i];
		struct json_walk j = json_walk(json_object());
		json_t *ranks = json_array();

		jobs_walk(&j.walk, jobs, i, config);
		for (unsigned int k = 0; k < ARRAY_LEN(texts); k++)
			if (json_object_get(j.at, texts[k]) == NULL)
				json_object_set_new(j.at, texts[k], json_null());
		for (uint32_t k = 0; k < here->n_ranks; k++)
			json_array_append_new(ranks, rank_object(jobs, here, k));
		json_object_set_new(j.at, "ranks", ranks);
		json_array_append_new(list, j.at);
	}
	return list;
}

void
jobs_table(const struct jobs *jobs, FILE *out)
{
	if (jobs->n == 0)
		return;
	job_table_head(out, "here");
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct job_here *here = &jobs->of[i];
		const struct result r = result_of(jobs, here);
		const struct job_line line = {
			.name = here->job.name,
			.n_ranks = here->n_ranks,
			.ended = r.ended,
			.jct = r.spread,
			.mean_ns = r.mean_ns,
			.bound_ns = r.bound_ns,
			.alg_bps = r.alg_bps,
			.bus_bps = r.bus_bps,
			.waits_rank = r.waits_rank,
			.waits_for = r.waits_for,
		};

		job_table_line(out, &line);
		job_table_waits(out, &line);
	}
}

int
jobs_csv(const struct jobs *jobs, const char *dir)
{
	char path[4096];
	FILE *out;
	bool failed;

	if (jobs->n == 0)
		return 0;
	snprintf(path, sizeof(path), "%s/jobs.csv", dir);
	out = fopen(path, "w");
	failed = out == NULL;
	if (out != NULL)
		fprintf(out, "job,iteration,begin_ns,end_ns,jct_ns,last_rank\n");
	for (uint32_t i = 0; out != NULL && i < jobs->n; i++) {
		const struct job_here *here = &jobs->of[i];
		const uint32_t ended = result_of(jobs, here).ended;

		for (uint32_t k = 0; k < ended; k++) {
			const struct iteration it = iteration_of(jobs, here, k);

			fprintf(out, "%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u\n",
				here->job.name, k + 1, it.begin_ns, it.end_ns,
				it.end_ns - it.begin_ns, it.last_rank);
		}
	}
	failed = failed || ferror(out);
	if ((out != NULL && fclose(out) != 0) || failed) {
		say_error("%s: %s", path, strerror(errno));
		return APP_FAILED;
	}
	return 0;
}
