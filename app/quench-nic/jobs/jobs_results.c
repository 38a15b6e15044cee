/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/field/field.h"
#include "nic/jobs/job_results.h"
#include "quench-nic/jobs/jobs.h"
#include "runtime/notice/say.h"
#include "runtime/report/job_report.h"

static struct job_result
result_of(const struct jobs *jobs, const struct job_here *here)
{
	const struct nic_job_plan *plan = here->job.plan;
	struct job_member *of = malloc(here->n_ranks * sizeof(*of));
	struct job_result r = {.waits_rank = JOB_NONE};
	const struct job_members members = {
		.keys = &here->job.keys,
		.graph = &plan->graph,
		.of = of,
		.n = here->n_ranks,
		.link_bps = jobs->link_bps,
		.ipv6 = plan->ips[0].version == 6,
		.now_ns = __atomic_load_n(&jobs->now_ns, __ATOMIC_RELAXED),
	};

	for (uint32_t k = 0; of != NULL && k < here->n_ranks; k++)
		of[k] = (struct job_member){here->ranks[k].rank, jobs->nodes->node[0],
					    here->ranks[k].index};
	if (of == NULL || job_result(&members, &r) < 0) {
		job_result_free(&r);
		r = (struct job_result){.waits_rank = JOB_NONE};
	}
	free(of);
	return r;
}

static const char *
state_of(const struct job_here *here, const struct job_result *r, bool stopped)
{
	if (job_has_failed(here))
		return "failed";
	if (r->begun && r->ended == here->job.iterations)
		return "ended";
	return stopped ? "stopped" : r->begun ? "running" : "waiting";
}

void
jobs_walk(struct walk *w, const struct jobs *jobs, uint32_t i, const struct nic_config *config)
{
	const struct job_here *here = jobs == NULL ? NULL : &jobs->of[i];
	struct job_result r = {0};

	if (here != NULL)
		r = result_of(jobs, here);
	w->object = "job";
	WALK(text, w, KEY, "name", "name of the job", here->job.name);
	WALK(text, w, KEY, "state",
	     "waiting for its start, running, stopped, ended, or failed: of the ranks here",
	     state_of(here, &r, config->jobs[here->number - 1].stopped));
	walk_maybe_text(w, WALK_KEY, "why", "why it has failed; null: it has not",
			here != NULL && job_has_failed(here) ? here->why : NULL);
	WALK(number, w, GAUGE, "failed", "1: it has failed", job_has_failed(here));
	job_walk_keys(w, here == NULL ? NULL : &here->job.keys);
	WALK(number, w, GAUGE, "ranks_of_all", "ranks of the job, here or elsewhere",
	     here->job.plan->graph.n_ranks);
	WALK(number, w, GAUGE, "ranks_here", "ranks that run here", here->n_ranks);
	job_walk_result(w, here == NULL ? NULL : &r);
	WALK(number, w, KEY, "epoch_ns",
	     "time 0 of jobs.csv, by a clock that all programs of a machine share", jobs->epoch_ns);
	job_result_free(&r);
}

static void
walk_rank(struct walk *w, const struct jobs *jobs, const struct job_here *here, uint32_t k)
{
	struct nic_job_info info = {0};
	char ip[FIELD_IP_CHARS];

	if (!w->names_only)
		nic_job_info(jobs->nodes->node[0], here->ranks[k].index,
			     __atomic_load_n(&jobs->now_ns, __ATOMIC_RELAXED), &info);
	WALK(number, w, KEY, "rank", "number of the rank", here->ranks[k].rank);
	WALK(text, w, KEY, "address", "its address",
	     field_ip_text(&here->job.plan->ips[here->ranks[k].rank], ip));
	job_walk_rank(w, &info);
}

void
jobs_walk_all(struct walk *w, const struct jobs *jobs, const struct nic_config *config)
{
	walk_list(w, "jobs");
	for (uint32_t i = 0; i < (jobs == NULL ? 1 : jobs->n); i++) {
		const struct job_here *here = jobs == NULL ? NULL : &jobs->of[i];

		walk_item(w, "jobs");
		jobs_walk(w, jobs, i, config);
		walk_list(w, "ranks");
		for (uint32_t k = 0; k < (here == NULL ? 1 : here->n_ranks); k++) {
			walk_item(w, "ranks");
			walk_rank(w, jobs, here, k);
			walk_leave(w);
		}
		walk_leave(w);
	}
}

void
jobs_table(const struct jobs *jobs, FILE *out)
{
	if (jobs->n == 0)
		return;
	job_table_head(out, "here");
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct job_here *here = &jobs->of[i];
		struct job_result r = result_of(jobs, here);

		job_table_line(out, here->job.name, here->n_ranks, &r);
		job_table_waits(out, here->job.name, &r);
		job_result_free(&r);
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
		fputs(JOB_CSV_COLUMNS "\n", out);
	for (uint32_t i = 0; out != NULL && i < jobs->n; i++) {
		struct job_result r = result_of(jobs, &jobs->of[i]);

		job_csv_iterations(out, jobs->of[i].job.name, &r);
		job_result_free(&r);
	}
	failed = failed || ferror(out);
	if ((out != NULL && fclose(out) != 0) || failed) {
		say_error("%s: %s", path, strerror(errno));
		return APP_FAILED;
	}
	return 0;
}
