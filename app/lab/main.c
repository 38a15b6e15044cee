/* SPDX-License-Identifier: BSD-3-Clause */
/* quench-lab: a whole fabric of NICs and switches in one process, in virtual time. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <rte_eal.h>

#include "base/units.h"
#include "common/say.h"
#include "ctl/json.h"
#include "lab/output.h"
#include "lab/scenario_file.h"

/* Rings and tables only: packets live in regions of their own. */
#define EAL_MEGABYTES "256"

struct lab_opts {
	const char *scenario, *json, *out_dir;
	struct scenario_override override;
	bool check_config, quiet, no_progress;
};

static const char usage_text[] =
	"quench-lab: run a fabric of RoCEv2 NICs and switches in virtual time\n"
	"\n"
	"  quench-lab [options] SCENARIO.ini\n"
	"\n"
	"  --seed N          seed of all random choices, instead of the file's\n"
	"  --duration T      simulated time, such as 20ms, instead of the file's\n"
	"  --json FILE       write the results as JSON; - is standard output, without the table\n"
	"  --out DIR         write results.json, flows.csv, queues.csv and pfc.csv into DIR\n"
	"  --trace FLOW      write each change of rate of the QPs of a [flow FLOW] to trace.csv in "
	"DIR;\n"
	"                    may be given again\n"
	"  --check-config    check the scenario, print the configuration in force, do not run\n"
	"  --quiet           no table on standard output\n"
	"  --no-progress     no progress bar\n"
	"  --help-config     print every key with unit, range, default and meaning\n"
	"  --help, --version\n"
	"\n"
	"Exit code 0: done; 1: failed while running; 2: bad usage or configuration.\n";

static volatile sig_atomic_t stop_asked;

static void
on_signal(int number)
{
	(void)number;
	stop_asked = 1;
}

static bool
parse_u64(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *out <= INT64_MAX;
}

static bool
parse_duration(const char *text, uint64_t *out_ns)
{
	const struct field field = {.name = "duration",
				    .type = FIELD_U64,
				    .unit = UNIT_NS,
				    .min = NS_PER_US,
				    .max = 3600 * NS_PER_SEC};
	char expected[128];

	return field_parse(&field, NULL, text, out_ns, expected, sizeof(expected)) == 0;
}

/* @return -1 to run, else the exit code. */
static int
parse_opts(int argc, char **argv, struct lab_opts *o)
{
	enum {
		SEED = 256,
		DURATION,
		JSON,
		OUT,
		TRACE,
		CHECK,
		QUIET,
		NO_PROGRESS,
		HELP,
		HELP_CONFIG,
		VERSION
	};
	static const struct option options[] = {
		{"seed", required_argument, NULL, SEED},
		{"duration", required_argument, NULL, DURATION},
		{"json", required_argument, NULL, JSON},
		{"out", required_argument, NULL, OUT},
		{"trace", required_argument, NULL, TRACE},
		{"check-config", no_argument, NULL, CHECK},
		{"quiet", no_argument, NULL, QUIET},
		{"no-progress", no_argument, NULL, NO_PROGRESS},
		{"help", no_argument, NULL, HELP},
		{"help-config", no_argument, NULL, HELP_CONFIG},
		{"version", no_argument, NULL, VERSION},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case SEED:
			o->override.has_seed = true;
			if (!parse_u64(optarg, &o->override.seed)) {
				say_error("--seed %s: expected a whole number", optarg);
				return APP_BAD_USAGE;
			}
			break;
		case DURATION:
			if (!parse_duration(optarg, &o->override.duration_ns)) {
				say_error("--duration %s: expected a time such as 20ms", optarg);
				return APP_BAD_USAGE;
			}
			break;
		case JSON:
			o->json = optarg;
			/* For a program, which wants nothing behind it. */
			o->quiet |= strcmp(optarg, "-") == 0;
			break;
		case OUT:
			o->out_dir = optarg;
			break;
		case TRACE:
			if (o->override.n_traces == SCENARIO_MAX_TRACES) {
				say_error("--trace %s: at most %u flows", optarg,
					  SCENARIO_MAX_TRACES);
				return APP_BAD_USAGE;
			}
			o->override.traces[o->override.n_traces++] = optarg;
			break;
		case CHECK:
			o->check_config = true;
			break;
		case QUIET:
			o->quiet = true;
			break;
		case NO_PROGRESS:
			o->no_progress = true;
			break;
		case HELP:
			fputs(usage_text, stdout);
			return APP_DONE;
		case HELP_CONFIG:
			scenario_print_reference(stdout);
			return APP_DONE;
		case VERSION:
			puts("quench-lab " QUENCH_VERSION);
			return APP_DONE;
		default:
			fputs("try quench-lab --help\n", stderr);
			return APP_BAD_USAGE;
		}
	}
	if (optind + 1 != argc) {
		say_error("expected one scenario file; try quench-lab --help");
		return APP_BAD_USAGE;
	}
	if (o->override.n_traces > 0 && o->out_dir == NULL) {
		say_error("--trace %s: needs --out DIR", o->override.traces[0]);
		return APP_BAD_USAGE;
	}
	o->scenario = argv[optind];
	return -1;
}

/* A process of its own that shares nothing and touches no device. */
static int
start_eal(void)
{
	static char words[] = "quench-lab\0--no-huge\0--no-shconf\0--no-pci\0--no-telemetry\0"
			      "--log-level=error\0-m\0" EAL_MEGABYTES;
	char *argv[16];
	int argc = 0;

	for (char *w = words; w < words + sizeof(words); w += strlen(w) + 1)
		argv[argc++] = w;
	argv[argc] = NULL;
	return rte_eal_init(argc, argv);
}

static void
show_progress(uint64_t now_ns, uint64_t duration_ns)
{
	int percent = (int)(now_ns * 100 / duration_ns);
	int filled = percent * 40 / 100;

	fprintf(stderr, "\r[%.*s%*s] %3d %%  %.1f of %.1f ms", filled,
		"########################################", 40 - filled, "", percent,
		(double)now_ns / NS_PER_MS, (double)duration_ns / NS_PER_MS);
	if (now_ns >= duration_ns)
		fputc('\n', stderr);
	fflush(stderr);
}

struct run_context {
	struct output_csv *csv; /* NULL: none */
	bool progress;
};

static bool
on_sample(void *arg, const struct probe *p, uint64_t now_ns)
{
	struct run_context *ctx = arg;

	if (ctx->csv != NULL)
		output_csv_sample(ctx->csv, p, now_ns);
	return !stop_asked;
}

static bool
on_progress(void *arg, const struct probe *p, uint64_t now_ns)
{
	struct run_context *ctx = arg;

	if (ctx->progress)
		show_progress(now_ns, net_scenario(probe_net(p))->fabric.duration_ns);
	return !stop_asked;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int
write_outputs(const struct lab_opts *o, const struct lab_run *run)
{
	json_t *json = output_json(run);
	char path[4096];
	int rc = 0;

	if (json == NULL) {
		say_error("no memory for the results");
		return APP_FAILED;
	}
	if (o->json != NULL)
		rc = json_write(json, o->json);
	if (rc == 0 && o->out_dir != NULL) {
		snprintf(path, sizeof(path), "%s/results.json", o->out_dir);
		rc = json_write(json, path);
	}
	json_decref(json);
	return rc < 0 ? APP_FAILED : APP_DONE;
}

static int
run_probe(const struct lab_opts *o, struct lab_run *run, struct output_csv *csv)
{
	struct probe *probe = probe_create(run->net);
	struct run_context ctx = {
		.csv = csv,
		.progress = !o->no_progress && isatty(STDERR_FILENO),
	};
	double start = seconds();
	bool whole;

	if (probe == NULL) {
		say_error("no memory");
		return APP_FAILED;
	}
	whole = probe_run(probe, on_sample, on_progress, &ctx);
	run->wall_seconds = seconds() - start;
	if (!whole) {
		if (ctx.progress)
			fputc('\n', stderr);
		say_error("stopped by a signal: no results are written");
		probe_destroy(probe);
		return APP_FAILED;
	}
	if (probe_result(probe, &run->result) < 0) {
		say_error("no memory");
		probe_destroy(probe);
		return APP_FAILED;
	}
	probe_destroy(probe);
	return APP_DONE;
}

static int
run_net(const struct lab_opts *o, struct lab_run *run)
{
	struct output_csv csv;
	int rc;

	if (o->out_dir != NULL) {
		if (mkdir(o->out_dir, 0777) < 0 && errno != EEXIST) {
			say_error("%s: %s", o->out_dir, strerror(errno));
			return APP_FAILED;
		}
		if (output_csv_open(&csv, o->out_dir, run->net) < 0) {
			output_csv_close(&csv, o->out_dir, run->net);
			output_csv_keep(o->out_dir, false);
			return APP_FAILED;
		}
	}
	rc = run_probe(o, run, o->out_dir != NULL ? &csv : NULL);
	if (o->out_dir != NULL && output_csv_close(&csv, o->out_dir, run->net) < 0)
		rc = APP_FAILED;
	if (rc == APP_DONE && o->out_dir != NULL && output_times(run, o->out_dir) < 0)
		rc = APP_FAILED;
	if (rc == APP_DONE && o->out_dir != NULL && output_trace(run, o->out_dir) < 0)
		rc = APP_FAILED;
	if (rc == APP_DONE)
		rc = write_outputs(o, run);
	if (o->out_dir != NULL && output_csv_keep(o->out_dir, rc == APP_DONE) < 0)
		rc = APP_FAILED;
	if (rc == APP_DONE && !o->quiet)
		output_table(stdout, run);
	run_result_free(&run->result);
	return rc;
}

/* File name without folder and ".ini". */
static void
scenario_name(const char *path, char *name, size_t size)
{
	const char *base = strrchr(path, '/');
	size_t n;

	snprintf(name, size, "%s", base ? base + 1 : path);
	n = strlen(name);
	if (n > 4 && strcmp(name + n - 4, ".ini") == 0)
		name[n - 4] = '\0';
}

static int
run_scenario(const struct lab_opts *o, const struct scenario *s)
{
	struct lab_run run = {.scenario = s};
	char name[256], why[256];
	int rc;

	scenario_name(o->scenario, name, sizeof(name));
	run.scenario_name = name;
	if (start_eal() < 0) {
		say_error("EAL does not start");
		return APP_FAILED;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	run.net = net_create(s, why, sizeof(why));
	if (run.net == NULL) {
		say_error("%s", why);
		rc = APP_FAILED;
	} else {
		rc = run_net(o, &run);
	}
	net_destroy(run.net);
	rte_eal_cleanup();
	return rc;
}

int
main(int argc, char **argv)
{
	struct lab_opts o = {0};
	struct config_error err;
	struct scenario s;
	struct config *cfg;
	int rc;

	say_as("quench-lab");
	rc = parse_opts(argc, argv, &o);
	if (rc >= 0)
		return say_end(rc);
	cfg = config_open(o.scenario, &err);
	if (cfg == NULL || scenario_read(cfg, &o.override, &s, &err) < 0) {
		say_error("%s", err.text);
		config_close(cfg);
		return APP_BAD_USAGE;
	}
	config_close(cfg);
	if (o.check_config) {
		scenario_print(stdout, &s);
		rc = APP_DONE;
	} else {
		rc = run_scenario(&o, &s);
	}
	scenario_free(&s);
	return say_end(rc);
}
