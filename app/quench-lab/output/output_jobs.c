/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs in results.json, in jobs.csv and on the terminal. */
#include <errno.h>
#include <inttypes.h>

#include "runtime/report/report.h"
#include "quench-lab/output/output.h"

/* The algorithm in words, auto by its meaning. */
static const char *
algorithm_of(const struct job_section *job)
{
	int algorithm = job->algorithm;

	if (algorithm == COLLECTIVE_AUTO)
		algorithm = job->collective == COLLECTIVE_ALL_TO_ALL ? COLLECTIVE_STAGGERED
								     : COLLECTIVE_RING;
	return collective_algorithm_words[algorithm];
}

static json_t *
rank_object(const struct lab_run *run, uint32_t job, uint32_t rank)
{
	struct nic_job_info info;
	json_t *o = json_object();

	net_job_info(run->net, job, rank, &info);
	report_set_u64(o, "rank", rank);
	report_set_u64(o, "host", run->scenario->jobs[job].hosts[rank]);
	report_set_u64(o, "iterations_ended", info.ended);
	report_set_u64(o, "compute_ns", info.time_ns[NIC_JOB_COMPUTES]);
	report_set_u64(o, "send_ns", info.time_ns[NIC_JOB_SENDS]);
	report_set_u64(o, "wait_ns", info.time_ns[NIC_JOB_WAITS]);
	report_set_u64(o, "messages_sent", info.sent);
	report_set_u64(o, "messages_received", info.received);
	return o;
}

static json_t *
text_or_null(bool is, const char *text)
{
	return is ? json_string(text) : json_null();
}

static json_t *
job_object(const struct lab_run *run, uint32_t number)
{
	const struct job_result *r = &run->result.jobs[number];
	const struct job_section *job = r->job;
	json_t *o = json_object(), *ranks = json_array();
	bool file = job_keys_has_file(&job->keys);

	json_object_set_new(o, "name", json_string(job->name));
	json_object_set_new(o, "goal", text_or_null(file, job->goal));
	json_object_set_new(o, "collective",
			    text_or_null(!file, collective_words[job->collective]));
	json_object_set_new(o, "algorithm", text_or_null(!file, algorithm_of(job)));
	json_object_set_new(o, "bytes", file ? json_null() : json_integer((json_int_t)job->bytes));
	report_set_u64(o, "iterations", job->iterations);
	report_set_u64(o, "iterations_ended", r->ended);
	report_set_u64(o, "jct_min_ns", r->min_ns);
	report_set_u64(o, "jct_p50_ns", r->p50_ns);
	report_set_u64(o, "jct_p99_ns", r->p99_ns);
	report_set_u64(o, "jct_max_ns", r->max_ns);
	report_set_u64(o, "jct_mean_ns", r->mean_ns);
	report_set_u64(o, "bound_ns", r->bound_ns);
	report_set_u64(o, "algorithm_bandwidth_bps", r->alg_bps);
	report_set_u64(o, "bus_bandwidth_bps", r->bus_bps);
	report_set_u64(o, "unknown_messages", r->unknown);
	json_object_set_new(o, "waits_rank",
			    r->stalled_rank == JOB_NONE ? json_null()
							: json_integer(r->stalled_rank));
	json_object_set_new(o, "waits_for", text_or_null(r->stalled_rank != JOB_NONE, r->stalled));
	for (uint32_t i = 0; i < job->graph.n_ranks; i++)
		json_array_append_new(ranks, rank_object(run, number, i));
	json_object_set_new(o, "ranks", ranks);
	return o;
}

json_t *
output_jobs(const struct lab_run *run)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < run->result.n_jobs; i++)
		json_array_append_new(list, job_object(run, i));
	return list;
}

static double
us(uint64_t ns)
{
	return (double)ns / 1e3;
}

void
output_jobs_table(FILE *out, const struct lab_run *run)
{
	if (run->result.n_jobs == 0)
		return;
	fprintf(out, "\n%-20s %6s %9s %10s %10s %10s %9s %9s %8s\n", "job", "ranks", "iterat.",
		"mean", "p99", "max", "of bound", "alg.", "bus");
	fprintf(out, "%-20s %6s %9s %10s %10s %10s %9s %9s %8s\n", "", "", "ended", "us", "us",
		"us", "", "Gb/s", "Gb/s");
	for (uint32_t i = 0; i < run->result.n_jobs; i++) {
		const struct job_result *r = &run->result.jobs[i];
		bool bound = r->bound_ns > 0 && r->ended > 0;
		char of_bound[16] = "-";

		if (bound)
			snprintf(of_bound, sizeof(of_bound), "%.3f",
				 (double)r->mean_ns / (double)r->bound_ns);
		fprintf(out, "%-20s %6u %9u %10.1f %10.1f %10.1f %9s %9.2f %8.2f\n", r->job->name,
			r->job->graph.n_ranks, r->ended, us(r->mean_ns), us(r->p99_ns),
			us(r->max_ns), of_bound, (double)r->alg_bps / 1e9,
			(double)r->bus_bps / 1e9);
	}
	for (uint32_t i = 0; i < run->result.n_jobs; i++) {
		const struct job_result *r = &run->result.jobs[i];

		if (r->stalled_rank != JOB_NONE)
			fprintf(out, "job %s: iteration %u has not ended: rank %u: %s\n",
				r->job->name, r->ended + 1, r->stalled_rank, r->stalled);
	}
}

int
output_jobs_csv(const struct lab_run *run, const char *dir)
{
	FILE *out;

	if (run->result.n_jobs == 0)
		return 0;
	out = output_open(dir, "jobs.csv", "job,iteration,begin_ns,end_ns,jct_ns,last_rank");
	if (out == NULL)
		return -EIO;
	for (uint32_t i = 0; i < run->result.n_jobs; i++) {
		const struct job_result *r = &run->result.jobs[i];

		for (uint32_t k = 0; k < r->ended; k++) {
			const struct job_iteration *it = &r->iterations[k];

			fprintf(out, "%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u\n", r->job->name,
				k + 1, it->begin_ns, it->end_ns, it->end_ns - it->begin_ns,
				it->last_rank);
		}
	}
	return output_close(out, dir, "jobs.csv");
}
