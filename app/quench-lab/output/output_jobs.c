/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs in results.json and on the terminal. */

#include "fabric/results/job_path.h"
#include "runtime/report/job_table.h"
#include "runtime/report/report.h"
#include "quench-lab/output/output.h"

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

static void
set_real(json_t *o, const char *prefix, const char *key, uint32_t ppm)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%s", prefix, key);
	json_object_set_new(o, name, json_real(ppm / 1e6));
}

static void
set_spread(json_t *o, const char *prefix, const struct job_spread *s)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_p50_ns", prefix);
	report_set_u64(o, name, s->p50_ns);
	snprintf(name, sizeof(name), "%s_p99_ns", prefix);
	report_set_u64(o, name, s->p99_ns);
	snprintf(name, sizeof(name), "%s_max_ns", prefix);
	report_set_u64(o, name, s->max_ns);
	set_real(o, prefix, "cv", s->cv_ppm);
}

static void
set_counts(json_t *o, const struct nic_job_counts *c)
{
	report_set_u64(o, "rp_cnp_handled", c->cnps);
	report_set_u64(o, "ce_packets", c->ce_packets);
	report_set_u64(o, "retransmitted_packets", c->retransmitted_packets);
	report_set_u64(o, "out_of_sequence", c->out_of_sequence);
	report_set_u64(o, "paused_ns", c->paused_ns);
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
	report_set_u64(o, "send_ns", times_ns[JOB_PATH_SEND]);
	job_path_free(&path);
	return o;
}

static json_t *
iteration_object(const struct lab_run *run, uint32_t job, uint32_t number)
{
	const struct job_iteration *it = &run->result.jobs[job].iterations[number];
	json_t *o = json_object();

	report_set_u64(o, "iteration", number + 1);
	report_set_u64(o, "begin_ns", it->begin_ns);
	report_set_u64(o, "jct_ns", it->end_ns - it->begin_ns);
	report_set_u64(o, "last_rank", it->last_rank);
	set_spread(o, "rank", &it->ranks);
	set_real(o, "rank", "jain", it->ranks.jain_ppm);
	set_counts(o, &it->counts);
	json_object_set_new(o, "critical_path", path_object(run, job, number));
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
	json_t *o = json_object(), *ranks = json_array(), *iterations = json_array();
	bool file = job_keys_has_file(&job->keys),
	     stages = !file && job_keys_has_stages(&job->keys), one = !file && !stages;

	json_object_set_new(o, "name", json_string(job->name));
	json_object_set_new(o, "goal", text_or_null(file, job->goal));
	json_object_set_new(o, "stages", text_or_null(stages, job->stages));
	json_object_set_new(o, "collective", text_or_null(one, collective_words[job->collective]));
	json_object_set_new(o, "algorithm", text_or_null(one, job_keys_algorithm(&job->keys)));
	json_object_set_new(o, "bytes",
			    one ? json_integer((json_int_t)job_keys_bytes(&job->keys))
				: json_null());
	report_set_u64(o, "iterations", job->iterations);
	report_set_u64(o, "iterations_ended", r->ended);
	report_set_u64(o, "jct_min_ns", r->spread.min_ns);
	report_set_u64(o, "jct_mean_ns", r->mean_ns);
	set_spread(o, "jct", &r->spread);
	set_spread(o, "rank", &r->ranks);
	set_real(o, "rank", "jain", r->ranks.jain_ppm);
	set_counts(o, &r->counts);
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
	for (uint32_t i = 0; i < r->ended; i++)
		json_array_append_new(iterations, iteration_object(run, number, i));
	json_object_set_new(o, "per_iteration", iterations);
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

static struct job_line
line_of(const struct job_result *r)
{
	return (struct job_line){
		.name = r->job->name,
		.n_ranks = r->job->graph.n_ranks,
		.ended = r->ended,
		.jct = r->spread,
		.mean_ns = r->mean_ns,
		.bound_ns = r->bound_ns,
		.alg_bps = r->alg_bps,
		.bus_bps = r->bus_bps,
		.waits_rank = r->stalled_rank,
		.waits_for = r->stalled,
	};
}

void
output_jobs_table(FILE *out, const struct lab_run *run)
{
	if (run->result.n_jobs == 0)
		return;
	job_table_head(out, "");
	for (uint32_t i = 0; i < run->result.n_jobs; i++) {
		const struct job_line line = line_of(&run->result.jobs[i]);

		job_table_line(out, &line);
	}
	for (uint32_t i = 0; i < run->result.n_jobs; i++) {
		const struct job_line line = line_of(&run->result.jobs[i]);

		job_table_waits(out, &line);
	}
}
