/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/lab_opts.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/decimal.h"
#include "base/numbers/units.h"
#include "ctl/output/json_schema.h"
#include "quench-lab/output/output.h"
#include "runtime/notice/say.h"
#include "runtime/release/release.h"

static const char usage_text[] =
	"usage: quench-lab [options] SCENARIO.ini\n"
	"       quench-lab [options] --switch SWITCH.ini [SCENARIO.ini]\n"
	"\n"
	"Run a fabric of RoCEv2 NICs and switches in virtual time.\n"
	"\n"
	"  --switch FILE     try the configuration of a quench-switch as it is, with a host at each\n"
	"                    port: with the traffic of the scenario, whose sections of switches do\n"
	"                    not apply; without a scenario, an incast over the lossless class\n"
	"  --set S.K=VALUE   set key K of section S, such as wred.Kmax=400KB or\n"
	"                    \"flow incast.src=1-8\", instead of the file's value; repeatable\n"
	"  --seed N          seed of all random choices, instead of the file's value\n"
	"  --duration T      simulated time, such as 20ms, instead of the file's value\n"
	"  --json FILE       write the results as JSON; -: to standard output, without the table\n"
	"  --out DIR         write results.json and time series (CSV) into DIR\n"
	"  --trace FLOW      write each rate change of the QPs of a [flow FLOW] to trace.csv in "
	"DIR;\n"
	"                    repeatable\n"
	"  --explain FLOW    instead of the table, print the causes of a flow's rate changes: "
	"marks,\n"
	"                    pauses, congestion control; FLOW as in the table, FLOW#3: its QP 3\n"
	"  --explain \"job NAME 3\"  print the critical path of iteration 3 of a job, and what its\n"
	"                    parts waited for; without a number, of the slowest iteration\n"
	"  --explain pauses  print who paused whom, from which root, and which flows waited for it\n"
	"  --explain hot     print the longest queues and the flows that fill them\n"
	"  --all             with --explain: every line, not a summary in 30\n"
	"  --alone           run each job alone first, without other jobs, flows, streams and events:\n"
	"                    its completion times are divided by those alone\n"
	"  --fluid           compute the fluid model of the scenario instead of simulating packets:\n"
	"                    its fixed point; with --out also fluid.json, fluid_flows.csv and\n"
	"                    fluid_queues.csv\n"
	"  --threads N       default: one thread for each core that the process may use, or fewer if\n"
	"                    the fabric is too small to gain. The results do not depend on N\n"
	"  --fast-forward    leave out the periods of a steady fabric, and report the error. Most\n"
	"                    scenarios with congestion have none, and become no faster\n"
	"  --goal JOB        print the operations of a [job JOB] in GOAL, do not run\n"
	"  --check-config    check the scenario, print the resulting configuration, do not run\n"
	"  --quiet           print no table on standard output\n"
	"  --no-progress     no progress bar\n"
	"  --help-config     print every key with unit, range, default and meaning\n"
	"  --help-results    print the JSON Schema of the results\n"
	"  --help, --version\n"
	"\n"
	"Exit code 0: done; 1: failed while running; 2: bad usage or configuration.\n";

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

static enum lab_explains
what_of(const char *text)
{
	if (strcmp(text, "pauses") == 0)
		return LAB_EXPLAINS_PAUSES;
	if (strcmp(text, "hot") == 0)
		return LAB_EXPLAINS_HOT;
	return strncmp(text, "job ", 4) == 0 ? LAB_EXPLAINS_JOB : LAB_EXPLAINS_FLOW;
}

/* An option that --fast-forward excludes; NULL: there is none. */
static const char *
not_forward(const struct lab_opts *o)
{
	if (o->fluid)
		return "--fluid, which has no packets";
	if (o->threads > 1)
		return "--threads: it runs on one thread";
	if (o->override.n_traces > 0)
		return "--trace: it leaves packets out";
	if (o->explains == LAB_EXPLAINS_FLOW || o->explains == LAB_EXPLAINS_JOB)
		return "--explain of a flow or a job: it leaves packets out";
	return o->alone ? "--alone" : NULL;
}

/* Are the options compatible? */
static bool
fits(const struct lab_opts *o)
{
	const char *trace = o->override.n_traces > 0 ? o->override.traces[0] : NULL;

	if (trace != NULL && o->out_dir == NULL)
		say_error("--trace %s: needs --out DIR", trace);
	else if (trace != NULL && o->fluid)
		say_error("--trace %s: needs packets, not --fluid", trace);
	else if (o->alone && o->fluid)
		say_error("--alone: needs packets, not --fluid");
	else if (o->explain != NULL && o->fluid)
		say_error("--explain %s: needs packets, not --fluid", o->explain);
	else if (o->explain != NULL && o->json != NULL && strcmp(o->json, "-") == 0)
		say_error("--explain %s: needs standard output, which --json - has", o->explain);
	else if (o->fast_forward && not_forward(o) != NULL)
		say_error("--fast-forward: not with %s", not_forward(o));
	else if (o->explain_all && o->explain == NULL)
		say_error("--all: needs --explain FLOW");
	else
		return true;
	return false;
}

int
lab_opts_parse(int argc, char **argv, struct lab_opts *o)
{
	enum {
		SEED = 256,
		SWITCH,
		SET,
		DURATION,
		JSON,
		OUT,
		TRACE,
		EXPLAIN,
		ALL,
		GOAL,
		CHECK,
		FLUID,
		THREADS,
		ALONE,
		FAST_FORWARD,
		QUIET,
		NO_PROGRESS,
		HELP,
		HELP_CONFIG,
		HELP_RESULTS,
		VERSION
	};
	static const struct option options[] = {
		{"seed", required_argument, NULL, SEED},
		{"switch", required_argument, NULL, SWITCH},
		{"set", required_argument, NULL, SET},
		{"duration", required_argument, NULL, DURATION},
		{"json", required_argument, NULL, JSON},
		{"out", required_argument, NULL, OUT},
		{"trace", required_argument, NULL, TRACE},
		{"explain", required_argument, NULL, EXPLAIN},
		{"all", no_argument, NULL, ALL},
		{"goal", required_argument, NULL, GOAL},
		{"check-config", no_argument, NULL, CHECK},
		{"fluid", no_argument, NULL, FLUID},
		{"threads", required_argument, NULL, THREADS},
		{"alone", no_argument, NULL, ALONE},
		{"fast-forward", no_argument, NULL, FAST_FORWARD},
		{"quiet", no_argument, NULL, QUIET},
		{"no-progress", no_argument, NULL, NO_PROGRESS},
		{"help", no_argument, NULL, HELP},
		{"help-config", no_argument, NULL, HELP_CONFIG},
		{"help-results", no_argument, NULL, HELP_RESULTS},
		{"version", no_argument, NULL, VERSION},
		{NULL, 0, NULL, 0},
	};
	uint64_t number;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case SEED:
			o->override.has_seed = true;
			if (!decimal_parse(optarg, 0, INT64_MAX, &o->override.seed)) {
				say_error("--seed %s: expected a whole number", optarg);
				return APP_BAD_USAGE;
			}
			break;
		case SWITCH:
			o->switch_file = optarg;
			break;
		case SET:
			if (o->n_sets == LAB_MAX_SETS) {
				say_error("--set %s: at most %u keys", optarg, LAB_MAX_SETS);
				return APP_BAD_USAGE;
			}
			o->sets[o->n_sets++] = optarg;
			break;
		case DURATION:
			if (!parse_duration(optarg, &o->override.duration_ns)) {
				say_error("--duration %s: expected a time such as 20ms", optarg);
				return APP_BAD_USAGE;
			}
			break;
		case JSON:
			o->json = optarg;
			/* A program reads the JSON: print nothing after it. */
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
		case EXPLAIN:
			o->explain = optarg;
			o->explains = what_of(optarg);
			break;
		case ALL:
			o->explain_all = true;
			break;
		case GOAL:
			o->goal = optarg;
			break;
		case CHECK:
			o->check_config = true;
			break;
		case FLUID:
			o->fluid = true;
			break;
		case THREADS:
			if (!decimal_parse(optarg, 1, FABRIC_MAX_THREADS, &number)) {
				say_error("--threads %s: expected 1 to %u", optarg,
					  FABRIC_MAX_THREADS);
				return APP_BAD_USAGE;
			}
			o->threads = (uint32_t)number;
			break;
		case ALONE:
			o->alone = true;
			break;
		case FAST_FORWARD:
			o->fast_forward = true;
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
		case HELP_RESULTS:
			json_schema_print(stdout, "results of quench-lab", output_names);
			return APP_DONE;
		case VERSION:
			release_print(stdout, "quench-lab");
			return APP_DONE;
		default:
			say_error("%s: expected an option of --help, with its value",
				  argv[optind - 1]);
			return APP_BAD_USAGE;
		}
	}
	if (optind + 1 != argc && (optind != argc || o->switch_file == NULL)) {
		say_error("expected one scenario file; try quench-lab --help");
		return APP_BAD_USAGE;
	}
	if (!fits(o))
		return APP_BAD_USAGE;
	o->scenario = optind < argc ? argv[optind] : o->switch_file;
	return -1;
}
