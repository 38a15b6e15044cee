/* SPDX-License-Identifier: BSD-3-Clause */
/* The CSV files of jobs: iterations, ranks, critical paths, and what the ranks did when. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "fabric/results/job_path.h"
#include "runtime/notice/say.h"
#include "runtime/report/job_report.h"
#include "quench-lab/output/output.h"

static int
print_iterations(FILE *out, const struct lab_run *run, uint32_t job)
{
	job_csv_iterations(out, run->scenario->jobs[job].name, &run->result.jobs[job]);
	return 0;
}

static int
print_ranks(FILE *out, const struct lab_run *run, uint32_t job)
{
	const struct job_section *section = &run->scenario->jobs[job];
	const struct job_result *r = &run->result.jobs[job];

	for (uint32_t k = 0; k < r->ended; k++) {
		for (uint32_t rank = 0; rank < section->graph.n_ranks; rank++) {
			const struct nic_job_span *span;
			struct nic_job_info info;

			net_job_info(run->net, job, rank, &info);
			span = &info.spans[k];
			fprintf(out, "%s,%u,%u,%u,%" PRIu64 ",%" PRIu64, section->name, k + 1, rank,
				section->hosts[rank], span->begin_ns, span->end_ns);
			for (int i = 0; i < NIC_JOB_TIMES; i++)
				fprintf(out, ",%" PRIu64, span->time_ns[i]);
			job_csv_counts(out, &span->counts);
		}
	}
	return 0;
}

static int
print_paths(FILE *out, const struct lab_run *run, uint32_t job)
{
	const struct job_section *section = &run->scenario->jobs[job];
	const struct job_result *r = &run->result.jobs[job];
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && k < r->ended; k++) {
		struct job_path path;

		rc = job_path_find(run->net, job, &r->iterations[k], k, &path);
		for (uint32_t i = 0; rc == 0 && i < path.n; i++) {
			const struct job_path_part *p = &path.parts[i];
			const struct job_op *op = &section->graph.ranks[p->from_rank].ops[p->send];

			fprintf(out, "%s,%u,%u,%s,%u,%" PRIu64 ",%" PRIu64, section->name, k + 1,
				i + 1, job_path_words[p->kind], p->rank, p->from_ns, p->to_ns);
			if (p->kind == JOB_PATH_COMPUTE)
				fputs(",,,\n", out);
			else
				fprintf(out, ",%u,%" PRIu64 ",%u\n", p->from_rank,
					(uint64_t)op->amount, op->tag);
		}
		job_path_free(&path);
	}
	return rc;
}

/* A computation or a send begins or ends. */
struct change {
	uint64_t at_ns;
	int computing, sending;
};

static int
by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static uint32_t
list_changes(const struct job_rank *rank, const struct nic_job_op *ops, struct change *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rank->n_ops; i++) {
		const struct job_op *op = &rank->ops[i];
		int calc = op->kind == JOB_CALC && op->amount > 0, send = op->kind == JOB_SEND;

		if (!calc && !send)
			continue;
		out[n++] = (struct change){calc ? ops[i].run_ns : ops[i].begin_ns, calc, send};
		out[n++] = (struct change){ops[i].end_ns, -calc, -send};
	}
	qsort(out, n, sizeof(*out), by_time);
	return n;
}

static void
print_state(FILE *out, const char *head, const char *state, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns < to_ns)
		fprintf(out, "%s,%s,%" PRIu64 ",%" PRIu64 "\n", head, state, from_ns, to_ns);
}

/* In an iteration, as the times of a rank: it computes; else it sends; else it waits. */
static int
print_rank_states(FILE *out, const char *head, const struct job_rank *rank,
		  const struct nic_job_op *ops, const struct nic_job_span *span)
{
	struct change *changes = malloc((2 * (size_t)rank->n_ops + 1) * sizeof(*changes));
	const char *state = "wait";
	uint64_t since_ns = span->begin_ns;
	int computing = 0, sending = 0;
	uint32_t n;

	if (changes == NULL)
		return -ENOMEM;
	n = list_changes(rank, ops, changes);
	for (uint32_t i = 0; i < n; i++) {
		const char *next;

		computing += changes[i].computing;
		sending += changes[i].sending;
		if (i + 1 < n && changes[i + 1].at_ns == changes[i].at_ns)
			continue;
		next = computing > 0 ? "compute" : sending > 0 ? "send" : "wait";
		if (next == state)
			continue;
		print_state(out, head, state, since_ns, changes[i].at_ns);
		since_ns = changes[i].at_ns;
		state = next;
	}
	print_state(out, head, state, since_ns, span->end_ns);
	free(changes);
	return 0;
}

static int
print_states(FILE *out, const struct lab_run *run, uint32_t job)
{
	const struct job_section *section = &run->scenario->jobs[job];
	const struct job_result *r = &run->result.jobs[job];
	uint32_t slowest = job_slowest(r);
	int rc = 0;

	for (uint32_t rank = 0; rc == 0 && r->ended > 0 && rank < section->graph.n_ranks; rank++) {
		struct nic_job_info info;
		char head[96];

		net_job_info(run->net, job, rank, &info);
		snprintf(head, sizeof(head), "%s,%u,%u", section->name, slowest + 1, rank);
		rc = print_rank_states(out, head, &section->graph.ranks[rank],
				       net_job_ops(run->net, job, rank, slowest),
				       &info.spans[slowest]);
	}
	return rc;
}

static int
print_alone(FILE *out, const struct lab_run *run, uint32_t job)
{
	const struct job_result *r = &run->result.jobs[job];

	for (uint32_t k = 0; run->alone != NULL && k < min_u64(r->ended, run->alone[job].ended);
	     k++) {
		const struct job_iteration *it = &r->iterations[k];
		const struct job_iteration *alone = &run->alone[job].iterations[k];
		uint64_t jct_ns = it->end_ns - it->begin_ns;
		uint64_t alone_ns = alone->end_ns - alone->begin_ns;

		fprintf(out, "%s,%u,%" PRIu64 ",%" PRIu64 ",%.6f\n", run->scenario->jobs[job].name,
			k + 1, jct_ns, alone_ns, (double)jct_ns / (double)alone_ns);
	}
	return 0;
}

static const struct job_file {
	const char *name, *columns;
	int (*print)(FILE *out, const struct lab_run *run, uint32_t job);
	bool recorded; /* only if the operations of the jobs are */
} files[] = {
	{"jobs.csv", JOB_CSV_COLUMNS, print_iterations, false},
	{"job_ranks.csv",
	 "job,iteration,rank,host,begin_ns,end_ns,compute_ns,send_ns,wait_ns," JOB_COUNT_COLUMNS,
	 print_ranks, false},
	{"critical_path.csv", "job,iteration,part,kind,rank,from_ns,to_ns,from_rank,bytes,tag",
	 print_paths, true},
	{"job_states.csv", "job,iteration,rank,state,from_ns,to_ns", print_states, true},
	{"jobs_alone.csv", "job,iteration,jct_ns,jct_alone_ns,jct_ratio_alone", print_alone, false},
};

static int
write_file(const struct lab_run *run, const char *dir, const struct job_file *f)
{
	FILE *out = output_open(dir, f->name, f->columns);
	int rc = 0;

	if (out == NULL)
		return -EIO;
	for (uint32_t i = 0; rc == 0 && i < run->result.n_jobs; i++)
		rc = f->print(out, run, i);
	if (rc < 0)
		say_error("%s/%s: no memory", dir, f->name);
	return output_close(out, dir, f->name) < 0 ? -EIO : rc;
}

int
output_jobs_csv(const struct lab_run *run, const char *dir)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && run->result.n_jobs > 0 && i < ARRAY_LEN(files); i++)
		if ((!files[i].recorded || run->records_jobs) &&
		    (files[i].print != print_alone || run->alone != NULL))
			rc = write_file(run, dir, &files[i]);
	return rc;
}

int
output_jobs_keep(const char *dir, bool keep)
{
	int rc = 0;

	for (unsigned int i = 0; i < ARRAY_LEN(files); i++)
		if (output_keep_optional(dir, files[i].name, keep) < 0)
			rc = -EIO;
	return rc;
}
