/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs in results.json and on the terminal. */

#include "fabric/results/job_path.h"
#include "runtime/report/job_report.h"
#include "quench-lab/output/output.h"

static void
walk_rank(struct walk *w, const struct lab_run *run, uint32_t job, uint32_t rank)
{
	struct nic_job_info info;

	if (!w->names_only)
		net_job_info(run->net, job, rank, &info);
	walk_number(w, WALK_KEY, "rank", "number of the rank", rank);
	WALK(number, w, KEY, "host", "number of its host", run->scenario->jobs[job].hosts[rank]);
	job_walk_rank(w, &info);
}

/* Times by kind on the critical path, which add up to the completion time. */
static void
walk_path_times(struct walk *w, const struct job_path *path)
{
	uint64_t times_ns[JOB_PATH_KINDS] = {0};

	for (uint32_t i = 0; i < path->n; i++)
		times_ns[path->parts[i].kind] += path->parts[i].to_ns - path->parts[i].from_ns;
	w->object = "job";
	walk_enter(w, "critical_path", "");
	walk_number(w, WALK_GAUGE, "parts", "parts of the path", path->n);
	walk_number(w, WALK_GAUGE, "compute_ns", "computations", times_ns[JOB_PATH_COMPUTE]);
	walk_number(w, WALK_GAUGE, "message_ns", "messages between servers",
		    times_ns[JOB_PATH_MESSAGE]);
	walk_number(w, WALK_GAUGE, "inside_ns", "messages inside servers",
		    times_ns[JOB_PATH_INSIDE]);
	walk_number(w, WALK_GAUGE, "send_ns", "until messages that nothing waits for were sent",
		    times_ns[JOB_PATH_SEND]);
	walk_leave(w);
}

static void
walk_path(struct walk *w, const struct lab_run *run, uint32_t job, uint32_t number)
{
	struct job_path path = {0};

	bool found = !w->names_only && run->records_jobs &&
		     job_path_find(run->net, job, &run->result.jobs[job].iterations[number], number,
				   &path) >= 0;

	if (w->names_only || found)
		walk_path_times(w, &path);
	if (!found)
		walk_null(w, "critical_path");
	job_path_free(&path);
}

/* Mean completion time of the same iterations of the job alone; 0: unknown. */
static uint64_t
alone_ns(const struct lab_run *run, uint32_t job)
{
	return run->alone == NULL ? 0 : job_mean_ns(&run->alone[job], run->result.jobs[job].ended);
}

/* A completion time beside that of the job alone; alone is 0 if that is unknown. */
static void
walk_alone(struct walk *w, uint64_t jct_ns, uint64_t alone)
{
	walk_maybe(w, WALK_GAUGE, "jct_alone_ns",
		   "completion time without other traffic; null without --alone", alone,
		   alone == 0);
	walk_maybe_real(w, WALK_GAUGE, "jct_ratio_alone", "completion time divided by it",
			alone == 0 ? 0 : (double)jct_ns / (double)alone, alone == 0);
}

static void
walk_iteration(struct walk *w, const struct lab_run *run, uint32_t job, uint32_t number)
{
	const struct job_iteration *it =
		w->names_only ? NULL : &run->result.jobs[job].iterations[number];
	uint64_t alone = 0;

	if (!w->names_only && run->alone != NULL && number < run->alone[job].ended)
		alone = run->alone[job].iterations[number].end_ns -
			run->alone[job].iterations[number].begin_ns;
	job_walk_iteration(w, it, number);
	walk_alone(w, w->names_only ? 0 : it->end_ns - it->begin_ns, alone);
	walk_path(w, run, job, number);
}

static void
walk_job(struct walk *w, const struct lab_run *run, uint32_t number)
{
	const struct job_section *job = w->names_only ? NULL : &run->scenario->jobs[number];
	const struct job_result *r = w->names_only ? NULL : &run->result.jobs[number];

	w->object = "job";
	WALK(text, w, KEY, "name", "name of the job", job->name);
	job_walk_keys(w, w->names_only ? NULL : &job->keys);
	job_walk_result(w, r);
	walk_alone(w, w->names_only ? 0 : r->mean_ns, w->names_only ? 0 : alone_ns(run, number));
	walk_list(w, "ranks");
	for (uint32_t i = 0; i < (w->names_only ? 1 : job->graph.n_ranks); i++) {
		walk_item(w, "ranks");
		walk_rank(w, run, number, i);
		walk_leave(w);
	}
	walk_list(w, "per_iteration");
	for (uint32_t i = 0; i < (w->names_only ? 1 : r->ended); i++) {
		walk_item(w, "per_iteration");
		walk_iteration(w, run, number, i);
		walk_leave(w);
	}
}

void
output_walk_jobs(struct walk *w, const struct lab_run *run)
{
	walk_list(w, "jobs");
	for (uint32_t i = 0; i < (w->names_only ? 1 : run->result.n_jobs); i++) {
		walk_item(w, "jobs");
		walk_job(w, run, i);
		walk_leave(w);
	}
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
