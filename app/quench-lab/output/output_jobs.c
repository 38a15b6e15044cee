/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs in results.json and on the terminal. */

#include "ctl/output/json.h"
#include "fabric/results/job_path.h"
#include "runtime/report/job_report.h"
#include "runtime/report/report.h"
#include "quench-lab/output/output.h"

static json_t *
rank_object(const struct lab_run *run, uint32_t job, uint32_t rank)
{
	struct json_walk j = json_walk(json_object());
	struct nic_job_info info;

	net_job_info(run->net, job, rank, &info);
	report_set_u64(j.at, "rank", rank);
	report_set_u64(j.at, "host", run->scenario->jobs[job].hosts[rank]);
	job_walk_rank(&j.walk, &info);
	return j.at;
}

/* Times by kind on the critical path, which add up to the completion time. */
static json_t *
path_object(const struct lab_run *run, uint32_t job, uint32_t number)
{
	uint64_t times_ns[JOB_PATH_KINDS] = {0};
	struct job_path path = {0};
	json_t *o;

	if (!run->records_jobs ||
	    job_path_find(run->net, job, &run->result.jobs[job].iterations[number], number, &path) <
		    0) {
		job_path_free(&path);
		return json_null();
	}
	for (uint32_t i = 0; i < path.n; i++)
		times_ns[path.parts[i].kind] += path.parts[i].to_ns - path.parts[i].from_ns;
	o = json_object();
	report_set_u64(o, "parts", path.n);
	report_set_u64(o, "compute_ns", times_ns[JOB_PATH_COMPUTE]);
	report_set_u64(o, "message_ns", times_ns[JOB_PATH_MESSAGE]);
	report_set_u64(o, "inside_ns", times_ns[JOB_PATH_INSIDE]);
	report_set_u64(o, "send_ns", times_ns[JOB_PATH_SEND]);
	job_path_free(&path);
	return o;
}

/* Mean completion time of the same iterations of the job alone; 0: unknown. */
static uint64_t
alone_ns(const struct lab_run *run, uint32_t job)
{
	return run->alone == NULL ? 0 : job_mean_ns(&run->alone[job], run->result.jobs[job].ended);
}

/* A completion time beside that of the job alone; null: unknown. */
static void
set_alone(json_t *o, uint64_t jct_ns, uint64_t alone)
{
	json_object_set_new(o, "jct_alone_ns",
			    alone > 0 ? json_integer((json_int_t)alone) : json_null());
	json_object_set_new(o, "jct_ratio_alone",
			    alone > 0 ? json_real((double)jct_ns / (double)alone) : json_null());
}

static json_t *
iteration_object(const struct lab_run *run, uint32_t job, uint32_t number)
{
	struct json_walk j = json_walk(json_object());
	const struct job_iteration *it = &run->result.jobs[job].iterations[number];
	uint64_t alone = 0;

	if (run->alone != NULL && number < run->alone[job].ended)
		alone = run->alone[job].iterations[number].end_ns -
			run->alone[job].iterations[number].begin_ns;
	job_walk_iteration(&j.walk, it, number);
	set_alone(j.at, it->end_ns - it->begin_ns, alone);
	json_object_set_new(j.at, "critical_path", path_object(run, job, number));
	return j.at;
}

static json_t *
job_object(const struct lab_run *run, uint32_t number)
{
	const struct job_section *job = &run->scenario->jobs[number];
	const struct job_result *r = &run->result.jobs[number];
	struct json_walk j = json_walk(json_object());
	json_t *ranks = json_array(), *iterations = json_array();

	json_object_set_new(j.at, "name", json_string(job->name));
	job_walk_keys(&j.walk, &job->keys);
	job_walk_result(&j.walk, r);
	job_set_nulls(j.at);
	set_alone(j.at, r->mean_ns, alone_ns(run, number));
	for (uint32_t i = 0; i < job->graph.n_ranks; i++)
		json_array_append_new(ranks, rank_object(run, number, i));
	json_object_set_new(j.at, "ranks", ranks);
	for (uint32_t i = 0; i < r->ended; i++)
		json_array_append_new(iterations, iteration_object(run, number, i));
	json_object_set_new(j.at, "per_iteration", iterations);
	return j.at;
}

json_t *
output_jobs(const struct lab_run *run)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < run->result.n_jobs; i++)
		json_array_append_new(list, job_object(run, i));
	return list;
}

void
output_jobs_table(FILE *out, const struct lab_run *run)
{
	const struct job_section *jobs = run->scenario->jobs;

	if (run->result.n_jobs == 0)
		return;
	job_table_head(out, "");
	for (uint32_t i = 0; i < run->result.n_jobs; i++)
		job_table_line(out, jobs[i].name, jobs[i].graph.n_ranks, &run->result.jobs[i]);
	for (uint32_t i = 0; i < run->result.n_jobs; i++)
		if (alone_ns(run, i) > 0)
			fprintf(out, "job %s: mean JCT %.3f times that alone, %.1f us\n",
				jobs[i].name,
				(double)run->result.jobs[i].mean_ns / (double)alone_ns(run, i),
				(double)alone_ns(run, i) / 1e3);
	for (uint32_t i = 0; i < run->result.n_jobs; i++)
		job_table_waits(out, jobs[i].name, &run->result.jobs[i]);
}
