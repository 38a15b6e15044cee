/* SPDX-License-Identifier: BSD-3-Clause */
/* quench-lab: a whole fabric of NICs and switches in one process, in virtual time. */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rte_cycles.h>
#include <rte_eal.h>

#include "base/numbers/units.h"
#include "runtime/eal/eal_start.h"
#include "runtime/eal/eal_end.h"
#include "runtime/notice/doubts.h"
#include "runtime/notice/say.h"
#include "ctl/output/json.h"
#include "ctl/yaml/yaml_file.h"
#include "fabric/results/job_path.h"
#include "job/goal.h"
#include "quench-lab/scenario/scenario_notes.h"
#include "quench-lab/scenario/event_set.h"
#include "quench-lab/sections/switch_file.h"
#include "quench-lab/recording/explain_flow.h"
#include "quench-lab/recording/explain_job.h"
#include "quench-lab/eal_clock.h"
#include "quench-lab/eal_cores.h"
#include "quench-lab/eal_memory.h"
#include "quench-lab/lab_opts.h"
#include "quench-lab/output/output.h"
#include "quench-lab/progress.h"
#include "quench-lab/ranks/lab_ranks.h"
#include "quench-lab/same_start.h"
#include "quench-lab/recording/recording.h"

/*
 * EAL's memory, for the fabric and for each switch. It contains only rings and tables: packets have
 * their own regions.
 */
#define EAL_MEGABYTES 256u
#define EAL_MEGABYTES_PER_SWITCH 2u
/*
 * 16 are enough for a small fabric without routes of its file. EAL clears its table of pages, of
 * which fewer are faster.
 */
#define EAL_MEGABYTES_SMALL 32u
#define SMALL_HOSTS 64u
#define SMALL_SWITCHES 8u

static volatile sig_atomic_t stop_asked;

static void
on_signal(int number)
{
	(void)number;
	stop_asked = 1;
}

/* Start EAL without devices, shared memory and threads of its own: a team has others. */
static int
start_eal(const struct scenario *s)
{
	const struct topology *t = s->topology;
	bool small = t->n_hosts <= SMALL_HOSTS && t->n_switches <= SMALL_SWITCHES &&
		     s->n_static_routes == 0 && s->sw.tables.n_routes == 0;
	char megabytes[16];
	static char words[] = "quench-lab\0--no-huge\0--no-shconf\0--no-pci\0--no-telemetry\0"
			      "--log-level=error\0--lcores=0@0";
	char *argv[16];
	int argc = 0, rc;

	if (!eal_has_files(1))
		return -1;
	for (char *w = words; w < words + sizeof(words); w += strlen(w) + 1)
		argv[argc++] = w;
	snprintf(megabytes, sizeof(megabytes), "-m%u",
		 small ? EAL_MEGABYTES_SMALL
		       : EAL_MEGABYTES + t->n_switches * EAL_MEGABYTES_PER_SWITCH);
	argv[argc++] = megabytes;
	argv[argc] = NULL;
	eal_clock_hurry(true);
	eal_cores_keep(true);
	eal_memory_private(true);
	rc = eal_init(argc, argv);
	eal_memory_private(false);
	eal_cores_keep(false);
	eal_clock_hurry(false);
	if (rc < 0) {
		say_error("EAL does not start");
		return -1;
	}
	eal_memory_use_huge_pages();
	return 0;
}

/* This process is one of several; NULL: it is alone. */
static struct ranks *ranks;
/* All ranks have ended the run, or given it up together: none waits for another. */
static bool ranks_ended;

static bool
is_first(void)
{
	return ranks == NULL || ranks->self == 0;
}

/* All ranks end, unless an exchange has failed here: then the others do not know. */
static void
end_of_ranks(void)
{
	if (ranks->error != 0)
		say_error("process %u: %s", ranks->self, strerror(-ranks->error));
	ranks_ended = ranks->error == 0;
}

struct run_context {
	struct lab_run *run;
	struct output_csv *csv;        /* NULL: none */
	struct recordings *recordings; /* NULL: none */
	struct lab_explain *explain;   /* NULL: none */
	struct progress progress;
};

static void
show_progress(struct run_context *ctx, const struct probe *p, uint64_t now_ns)
{
	const struct progress_state state = {
		.now_ns = now_ns,
		.duration_ns = net_scenario(probe_net(p))->fabric.duration_ns,
		.packet_hops = fabric_stats(net_fabric(probe_net(p))).packet_hops,
		.wall_seconds = progress_clock() - ctx->progress.started_s,
	};

	progress_show(&ctx->progress, &state);
}

static bool
on_progress(void *arg, const struct probe *p, uint64_t now_ns)
{
	struct run_context *ctx = arg;

	recordings_flush(ctx->recordings, now_ns);
	lab_explain_take(ctx->explain, now_ns);
	if (ctx->progress.enabled)
		show_progress(ctx, p, now_ns);
	return !stop_asked;
}

static bool
on_sample(void *arg, const struct probe *p, uint64_t now_ns)
{
	const struct run_context *ctx = arg;

	if (ctx->csv != NULL)
		output_csv_sample(ctx->csv, p, now_ns);
	return on_progress(arg, p, now_ns);
}

static void
on_messages(void *arg, const struct net *net, const struct nic_message *messages, uint32_t n)
{
	const struct run_context *ctx = arg;

	output_csv_messages(ctx->csv, net, messages, n);
}

static void
on_event(void *arg, const struct event_params *e, uint64_t now_ns)
{
	struct run_context *ctx = arg;

	if (!is_first())
		return;
	if (e->action == EVENT_SET) {
		lab_explain_set(ctx->explain, e, now_ns);
		return;
	}
	/* If there is no memory for a dump, the list omits it. */
	(void)dumps_take(&ctx->run->dumps, ctx->run->net, e, now_ns);
}

/* Takes the reference. part: name in DIR until the run has succeeded. */
static int
write_json(const struct lab_opts *o, json_t *json, const char *part)
{
	char path[4096];
	int rc = 0;

	if (json == NULL) {
		say_error("no memory for the results");
		return APP_FAILED;
	}
	if (o->json != NULL) {
		snprintf(path, sizeof(path), "%s", o->json);
		rc = json_write(json, path);
	}
	if (rc == 0 && o->out_dir != NULL) {
		snprintf(path, sizeof(path), "%s/%s", o->out_dir, part);
		rc = json_write(json, path);
	}
	json_decref(json);
	if (rc == 0)
		return APP_DONE;
	say_unwritten(path, -rc);
	return APP_FAILED;
}

static uint32_t
threads_of(const struct lab_opts *o, const struct scenario *s)
{
	if (o->fast_forward)
		return 1;
	/* Ranks are started one for each core, or with a number of threads. */
	if (ranks != NULL && o->threads == 0)
		return 1;
	return o->threads > 0 ? o->threads : net_threads_that_pay(s);
}

/* All ranks: how the work was divided, and what crossed, in a line of rank 0. */
static void
say_ranks(const struct lab_opts *o, const struct lab_run *run)
{
	const struct ranks_counts counts = ranks->counts;
	const struct fabric_stats stats = fabric_stats(net_fabric(run->net));
	uint64_t most = UINT64_MAX - ranks_min(ranks, UINT64_MAX - stats.calls);
	uint64_t calls = ranks_sum(ranks, stats.calls), bytes = ranks_sum(ranks, counts.bytes);
	uint64_t messages = ranks_sum(ranks, counts.messages);
	double windows = (double)(stats.windows > 0 ? stats.windows : 1);

	if (!is_first() || o->quiet)
		return;
	say("%u processes: %" PRIu64 " windows, with %.1f messages and %.0f bytes each; the one "
	    "with the most work had %.0f %% of all",
	    ranks->n, stats.windows, (double)messages / windows, (double)bytes / windows,
	    calls > 0 ? 100.0 * (double)most / (double)calls : 0);
}

static int
run_probe(const struct lab_opts *o, struct lab_run *run, struct output_csv *csv,
	  struct recordings *recordings, struct lab_explain *explain)
{
	struct probe *probe = probe_create(run->net);
	struct run_context ctx = {
		.run = run,
		.csv = csv,
		.recordings = recordings,
		.explain = explain,
		.progress = {.enabled = is_first() && !o->no_progress && isatty(STDERR_FILENO),
			     .started_s = progress_clock()},
	};
	bool whole;
	int error;

	ranks_ended = false;
	if (probe == NULL) {
		say_error("no memory");
		return APP_FAILED;
	}
	if (o->fast_forward && probe_fast_forward(probe) < 0) {
		say_error("no memory");
		probe_destroy(probe);
		return APP_FAILED;
	}
	if (csv != NULL && csv->messages != NULL)
		probe_on_messages(probe, on_messages, &ctx);
	errno = 0;
	whole = probe_run(probe, on_sample, on_progress, on_event, &ctx);
	error = whole ? 0 : errno;
	ranks_ended = !whole && error == 0;
	run->wall_seconds = progress_clock() - ctx.progress.started_s;
	if (!whole) {
		if (ctx.progress.enabled)
			fputc('\n', stderr);
		if (!is_first() && error == 0)
			; /* the first one says it */
		else if (stop_asked || (ranks != NULL && error == 0))
			say_error("stopped by a signal: no results are written");
		else if (error == EAGAIN)
			say_error(
				"the system has no threads left: expected room for %u, or --threads 1",
				threads_of(o, run->scenario));
		else if (!is_first())
			say_error("process %u: %s", ranks->self, strerror(error));
		else if (error == EIO)
			say_error(
				"what another process has measured does not fit into the results: "
				"expected the same quench-lab and scenario everywhere");
		else
			say_error("no memory");
		probe_destroy(probe);
		return APP_FAILED;
	}
	if (ranks != NULL)
		say_ranks(o, run);
	if (is_first() && probe_result(probe, &run->result) < 0) {
		say_error("no memory");
		probe_destroy(probe);
		return APP_FAILED;
	}
	probe_destroy(probe);
	return APP_DONE;
}

/* The model runs after the packets, as fast as it can; the terminal shows how far it is. */
static bool
on_fluid(void *arg, uint64_t now_ns, uint64_t end_ns)
{
	struct progress *p = arg;

	progress_show_fluid(p, now_ns, end_ns);
	return !stop_asked;
}

static int
run_model(const struct lab_opts *o, struct lab_fluid *fluid)
{
	struct progress progress = {.enabled = !o->no_progress && isatty(STDERR_FILENO)};
	int rc = lab_fluid_run(fluid, o->out_dir, on_fluid, &progress);

	if (rc == -EINTR)
		say_error("stopped by a signal: no results are written");
	return rc < 0 ? APP_FAILED : APP_DONE;
}

static int
make_out_dir(const struct lab_opts *o)
{
	if (mkdir(o->out_dir, 0777) == 0 || errno == EEXIST)
		return 0;
	say_error("%s: %s", o->out_dir, strerror(errno));
	return -errno;
}

/* Write the active configuration, as a file that reads back the same. */
static int
write_effective(const struct lab_opts *o, const struct lab_run *run)
{
	FILE *out = output_open(o->out_dir, "effective.ini", NULL);

	if (out == NULL)
		return -EIO;
	scenario_print(out, run->scenario);
	scenario_print_headroom(out, run->scenario);
	scenario_print_addresses(out, run->scenario);
	return output_close(out, o->out_dir, "effective.ini");
}

/* Those who look at frames. */
struct watchers {
	struct recordings *recordings; /* NULL: none */
	struct lab_explain *explain;   /* NULL: none */
};

/* All ranks: does none of them fail? Otherwise all end. */
static int
agree(int rc)
{
	if (ranks == NULL || ranks_min(ranks, rc == APP_DONE) > 0)
		return rc;
	end_of_ranks();
	return rc == APP_DONE ? APP_FAILED : rc;
}

/* All ranks, before the run. Rank 0 writes the recordings. */
static int
watch(const struct lab_opts *o, struct lab_run *run, struct watchers *w)
{
	int rc = APP_DONE;

	if (run->scenario->n_records > 0 && o->out_dir != NULL) {
		w->recordings =
			recordings_open(run->scenario, run->net, is_first() ? o->out_dir : NULL);
		rc = w->recordings != NULL ? APP_DONE : APP_FAILED;
	}
	if (rc == APP_DONE && o->explains == LAB_EXPLAINS_FLOW)
		w->explain = lab_explain_open(o->explain, run->net, w->recordings, &rc);
	if (rc == APP_DONE && run->explain_job != NULL &&
	    explain_job_observe(run->explain_job, run->net, w->recordings) < 0)
		rc = APP_FAILED;
	return agree(rc);
}

/* All ranks: the run, and what was seen in it. csv: NULL: none. */
static int
run_watched(const struct lab_opts *o, struct lab_run *run, struct output_csv *csv,
	    struct watchers *w)
{
	int rc = watch(o, run, w);

	if (rc == APP_DONE)
		rc = run_probe(o, run, csv, w->recordings, w->explain);
	if (rc != APP_DONE)
		return rc;
	lab_explain_take(w->explain, NEVER_NS);
	if (run->explain_job != NULL && explain_job_solve(run->explain_job) < 0)
		return APP_FAILED;
	ranks_ended = true;
	return APP_DONE;
}

static int
run_net(const struct lab_opts *o, struct lab_run *run)
{
	struct watchers w = {0};
	struct output_csv csv;
	int rc;

	if (!is_first()) {
		rc = run_watched(o, run, NULL, &w);
		recordings_close(w.recordings, false);
		lab_explain_close(w.explain);
		dumps_free(&run->dumps, run->net);
		return rc;
	}
	if (o->out_dir != NULL) {
		if (make_out_dir(o) < 0)
			return APP_FAILED;
		/* Of a run that was killed. */
		output_csv_keep(o->out_dir, false);
		recordings_remove_parts(o->out_dir);
		if (output_csv_open(&csv, o->out_dir, run->net) < 0) {
			output_csv_close(&csv, o->out_dir, run->net);
			output_csv_keep(o->out_dir, false);
			return APP_FAILED;
		}
	}
	rc = run_watched(o, run, o->out_dir != NULL ? &csv : NULL, &w);
	if (o->out_dir != NULL && output_csv_close(&csv, o->out_dir, run->net) < 0)
		rc = APP_FAILED;
	if (rc == APP_DONE && o->out_dir != NULL && output_times(run, o->out_dir) < 0)
		rc = APP_FAILED;
	if (rc == APP_DONE && o->out_dir != NULL &&
	    (output_counters(run, o->out_dir) < 0 || output_jobs_csv(run, o->out_dir) < 0 ||
	     output_servers_csv(run, o->out_dir) < 0 || write_effective(o, run) < 0))
		rc = APP_FAILED;
	if (rc == APP_DONE && o->out_dir != NULL && output_trace(run, o->out_dir) < 0)
		rc = APP_FAILED;
	if (rc == APP_DONE && o->out_dir != NULL)
		rc = run_model(o, &run->fluid);
	/* A flow takes 7 KB of the object: flow_rows bounds them. */
	if (rc == APP_DONE && (o->json != NULL || o->out_dir != NULL))
		rc = write_json(o, output_json(run), "results.json.part");
	if (recordings_close(w.recordings, rc == APP_DONE) < 0)
		rc = APP_FAILED;
	if (o->out_dir != NULL && output_csv_keep(o->out_dir, rc == APP_DONE) < 0)
		rc = APP_FAILED;
	if (rc == APP_DONE && w.explain != NULL)
		rc = lab_explain_print(stdout, w.explain, o->explain_all);
	else if (rc == APP_DONE && run->explain_job != NULL)
		explain_job_print(stdout, run->explain_job, o->explain_all);
	else if (rc == APP_DONE && o->explains == LAB_EXPLAINS_PAUSES)
		output_explain_pauses(stdout, run, o->explain_all);
	else if (rc == APP_DONE && o->explains == LAB_EXPLAINS_HOT)
		output_explain_hot(stdout, run, o->explain_all);
	else if (rc == APP_DONE && !o->quiet)
		output_table(stdout, run);
	lab_explain_close(w.explain);
	run_result_free(&run->result);
	dumps_free(&run->dumps, run->net);
	return rc;
}

/* File name without folder, and without the end that says its format. */
static void
scenario_name(const char *path, char *name, size_t size)
{
	const char *base = strrchr(path, '/');
	char *end;

	snprintf(name, size, "%s", base ? base + 1 : path);
	end = strrchr(name, '.');
	if (end > name && (strcmp(end, ".ini") == 0 || yaml_file_is(name)))
		*end = '\0';
}

/* The fluid model alone, without DPDK. */
static int
run_fluid(const struct lab_opts *o, struct lab_run *run)
{
	int rc;

	if (o->out_dir != NULL && make_out_dir(o) < 0)
		return APP_FAILED;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	rc = run_model(o, &run->fluid);
	if (rc == APP_DONE)
		rc = write_json(o, output_fluid_json(run), "fluid.json");
	if (o->out_dir != NULL && output_fluid_keep(o->out_dir, rc == APP_DONE) < 0)
		rc = APP_FAILED;
	if (rc == APP_DONE && !o->quiet)
		lab_fluid_table(stdout, &run->fluid);
	return rc;
}

/* Results that are written have the critical paths of jobs. @return 0 or -ENOMEM. */
static int
record_jobs(const struct lab_opts *o, struct lab_run *run)
{
	int rc = 0;

	run->records_jobs =
		(o->out_dir != NULL || o->json != NULL) && !job_path_too_many(run->scenario);
	for (uint32_t i = 0; rc == 0 && run->records_jobs && i < run->scenario->n_jobs; i++)
		rc = net_job_record(run->net, i);
	return rc;
}

/* @return NULL after an error line. */
static struct net *
create_net(const struct lab_opts *o, const struct scenario *s)
{
	char why[256];
	struct net *net = net_create(s, threads_of(o, s), ranks, why, sizeof(why));

	if (net != NULL)
		fabric_share_by(net_fabric(net), rte_rdtsc);
	else
		say_error("%s", why);
	return net;
}

/*
 * --explain "job NAME": a run that only finds the critical path, whose messages the next run
 * observes.
 */
static int
find_path(const struct lab_opts *o, struct lab_run *run, uint32_t job, uint32_t iteration)
{
	const struct job_result *result;
	int rc = APP_FAILED;

	run->net = create_net(o, run->scenario);
	if (run->net == NULL)
		return APP_FAILED;
	if (net_job_record(run->net, job) < 0)
		say_error("no memory");
	else
		rc = run_probe(o, run, NULL, NULL, NULL);
	if (rc == APP_DONE) {
		result = is_first() ? &run->result.jobs[job] : NULL;
		run->explain_job = explain_job_create(run->net, result, job, iteration);
		rc = agree(run->explain_job != NULL ? APP_DONE : APP_FAILED);
		run_result_free(&run->result);
	}
	dumps_free(&run->dumps, run->net);
	net_destroy(run->net);
	run->net = NULL;
	return rc;
}

static int
run_once(const struct lab_opts *o, struct lab_run *run)
{
	int rc = APP_FAILED;

	run->net = create_net(o, run->scenario);
	if (run->net == NULL)
		; /* said */
	else if (record_jobs(o, run) < 0)
		say_error("no memory");
	else
		rc = run_net(o, run);
	explain_job_free(run->explain_job);
	net_destroy(run->net);
	return rc;
}

/* --alone: a run for each job, in which only this one sends. */
static int
run_alone(const struct lab_opts *o, struct lab_run *run, uint32_t job)
{
	struct lab_run one = {.scenario_name = run->scenario_name,
			      .switch_name = run->switch_name,
			      .changes = run->changes,
			      .n_changes = run->n_changes};
	struct scenario scenario;
	int rc = APP_FAILED;

	if (scenario_alone(run->scenario, job, &scenario) < 0) {
		say_error("no memory");
		scenario_alone_free(&scenario);
		return APP_FAILED;
	}
	one.scenario = &scenario;
	one.net = create_net(o, &scenario);
	if (one.net != NULL)
		rc = run_probe(o, &one, NULL, NULL, NULL);
	if (rc == APP_DONE && is_first()) {
		run->alone[job] = one.result.jobs[job];
		one.result.jobs[job] = (struct job_result){0};
	}
	run_result_free(&one.result);
	net_destroy(one.net);
	scenario_alone_free(&scenario);
	return rc;
}

static int
run_all_alone(const struct lab_opts *o, struct lab_run *run)
{
	int rc = APP_DONE;

	run->alone = calloc(run->scenario->n_jobs, sizeof(*run->alone));
	if (run->alone == NULL) {
		say_error("no memory");
		return APP_FAILED;
	}
	for (uint32_t i = 0; rc == APP_DONE && i < run->scenario->n_jobs; i++)
		rc = run_alone(o, run, i);
	return rc;
}

static void
free_alone(struct lab_run *run)
{
	for (uint32_t i = 0; run->alone != NULL && i < run->scenario->n_jobs; i++)
		job_result_free(&run->alone[i]);
	free(run->alone);
}

static int
run_packets(const struct lab_opts *o, struct lab_run *run)
{
	uint32_t job, iteration;
	int rc = APP_DONE;

	/* All ranks refuse the same. */
	ranks_ended = true;
	if (o->explains == LAB_EXPLAINS_JOB &&
	    !explain_job_named(o->explain, run->scenario, is_first(), &job, &iteration))
		return APP_BAD_USAGE;
	if (o->alone && run->scenario->n_jobs == 0) {
		if (is_first())
			say_error("--alone: expected a scenario with a [job NAME]");
		return APP_BAD_USAGE;
	}
	ranks_ended = false;
	if (start_eal(run->scenario) < 0)
		return APP_FAILED;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (o->alone)
		rc = run_all_alone(o, run);
	if (rc == APP_DONE && o->explains == LAB_EXPLAINS_JOB)
		rc = find_path(o, run, job, iteration);
	if (rc == APP_DONE)
		rc = run_once(o, run);
	free_alone(run);
	eal_quiet(rc);
	eal_end();
	return rc;
}

static int
run_scenario(const struct lab_opts *o, const struct config *cfg, const struct scenario *s)
{
	struct lab_run run = {.scenario = s, .changes = o->sets, .n_changes = o->n_sets};
	const struct scenario_fault *fault = &run.fluid.fault;
	struct config_error err;
	char name[256], switch_name[256];
	int rc;

	scenario_name(o->scenario, name, sizeof(name));
	run.scenario_name = name;
	if (o->switch_file != NULL && o->switch_file != o->scenario) {
		scenario_name(o->switch_file, switch_name, sizeof(switch_name));
		run.switch_name = switch_name;
	}
	if (lab_fluid_open(&run.fluid, s, o->fluid) < 0)
		return APP_FAILED;
	if (!o->fluid) {
		rc = run_packets(o, &run);
	} else if (run.fluid.net != NULL) {
		rc = run_fluid(o, &run);
	} else {
		config_refuse(cfg, fault->section, fault->key, fault->expected, &err);
		say_error("%s", err.text);
		rc = APP_BAD_USAGE;
	}
	lab_fluid_close(&run.fluid);
	return rc;
}

static void
warn_unrecorded(const struct lab_opts *o, const struct scenario *s)
{
	if (s->n_records == 0 || (o->out_dir != NULL && !o->fluid))
		return;
	say_warning("%s: [record %s]: not written, since %s", o->scenario, s->records[0].name,
		    o->fluid ? "--fluid has no frames" : "recordings need --out DIR");
}

/* @return NULL, with err filled in. */
static struct config *
open_scenario(const struct lab_opts *o, struct config_error *err)
{
	bool alone = o->scenario == o->switch_file;
	struct config *cfg = alone ? config_open_text(o->scenario, SWITCH_FILE_ALONE,
						      strlen(SWITCH_FILE_ALONE), err)
				   : config_open(o->scenario, err);

	if (cfg == NULL || o->switch_file == NULL ||
	    switch_file_take(cfg, o->switch_file, alone, err) == 0)
		return cfg;
	config_close(cfg);
	return NULL;
}

static int
set_keys(struct config *cfg, const struct lab_opts *o, struct config_error *err)
{
	for (unsigned int i = 0; i < o->n_sets; i++)
		if (config_set(cfg, o->sets[i], err) < 0)
			return -EINVAL;
	return 0;
}

/* @return the exit code */
static int
print_goal(const struct scenario *s, const char *name)
{
	uint32_t i = 0;

	while (i < s->n_jobs && strcmp(s->jobs[i].name, name) != 0)
		i++;
	if (i == s->n_jobs) {
		say_error("--goal %s: expected NAME of a section [job NAME]", name);
		return APP_BAD_USAGE;
	}
	goal_write(stdout, &s->jobs[i].graph);
	return APP_DONE;
}

static void
forget(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

/*
 * All ranks: can each read its scenario, and is it the same everywhere? Ranks with different ones
 * would wait for each other, or take bytes of one thing for those of another.
 *
 * @param s  NULL: it cannot be read, for the reason in err.
 * @return   The exit code after an error line of one rank, or APP_DONE.
 */
static int
begin_together(const struct lab_opts *o, const struct scenario *s, const struct config_error *err)
{
	uint64_t who, number, first;
	bool same;

	if (ranks == NULL && s == NULL)
		say_error("%s", err->text);
	if (ranks == NULL)
		return s != NULL ? APP_DONE : APP_BAD_USAGE;
	who = ranks_min(ranks, s != NULL ? RANKS_MOST : ranks->self);
	if (who == ranks->self && who > 0)
		say_error("process %u: %s", ranks->self, err->text);
	else if (who == ranks->self && s == NULL)
		say_error("%s", err->text);
	if (ranks->error == 0 && who == RANKS_MOST) {
		number = same_start_number(o, s);
		same = ranks_min(ranks, number) ==
		       UINT64_MAX - ranks_min(ranks, UINT64_MAX - number);
		first = same ? number : ranks_min(ranks, is_first() ? number : UINT64_MAX);
		if (!same)
			who = ranks_min(ranks, number == first ? RANKS_MOST : ranks->self);
		if (is_first() && ranks->error == 0 && who < RANKS_MOST)
			say_error("process %u has another scenario, other options or another "
				  "quench-lab than process 0: expected the same everywhere",
				  (unsigned int)who);
	}
	end_of_ranks();
	if (ranks->error != 0)
		return APP_FAILED;
	return who == RANKS_MOST ? APP_DONE : APP_BAD_USAGE;
}

int
main(int argc, char **argv)
{
	const struct say_keeper nobody = {.keep = forget, .only = true};
	struct lab_opts o = {0};
	static struct scenario s;
	struct config_error err;
	struct config *cfg;
	bool whole;
	int rc;

	say_as("quench-lab");
	rc = lab_opts_parse(argc, argv, &o);
	if (rc >= 0)
		return say_end(rc);
	rc = lab_ranks_open(&ranks);
	if (rc != APP_DONE)
		return say_end(rc);
	/* Each would warn of the same. */
	if (!is_first())
		say_keep_warnings(&nobody, NULL);
	cfg = open_scenario(&o, &err);
	whole = cfg != NULL && set_keys(cfg, &o, &err) == 0 &&
		scenario_read(cfg, &o.override, &s, &err) == 0;
	rc = begin_together(&o, whole ? &s : NULL, &err);
	if (rc != APP_DONE) {
		lab_ranks_close(ranks, !ranks_ended);
		config_close(cfg);
		if (whole)
			scenario_free(&s);
		return say_end(rc);
	}
	if (is_first()) {
		say_doubts(cfg);
		scenario_warn(cfg, &s);
	}
	/* The first one does it alone. */
	ranks_ended = o.goal != NULL || o.check_config || o.fluid;
	if (ranks_ended && !is_first()) {
		rc = APP_DONE;
	} else if (o.goal != NULL) {
		rc = print_goal(&s, o.goal);
	} else if (o.check_config) {
		scenario_print(stdout, &s);
		scenario_print_headroom(stdout, &s);
		scenario_print_addresses(stdout, &s);
		rc = APP_DONE;
	} else if (o.fast_forward && (ranks != NULL || s.n_records > 0)) {
		if (ranks != NULL && is_first())
			say_error("--fast-forward: not with several processes; expected one");
		else if (is_first())
			say_error("%s: [record %s]: not with --fast-forward, which leaves frames "
				  "out",
				  o.scenario, s.records[0].name);
		rc = APP_BAD_USAGE;
		ranks_ended = true;
	} else {
		if (is_first())
			warn_unrecorded(&o, &s);
		rc = run_scenario(&o, cfg, &s);
	}
	lab_ranks_close(ranks, rc != APP_DONE && !ranks_ended);
	config_close(cfg);
	scenario_free(&s);
	return say_end(rc);
}
