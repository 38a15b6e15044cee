/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/run/opts.h"

#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/decimal.h"
#include "base/numbers/units.h"
#include "runtime/notice/say.h"
#include "runtime/release/release.h"

enum {
	OPT_CONFIG = 'c',
	OPT_JSON = 'j',
	OPT_HELP = 'h',
	OPT_THRESHOLDS,
	OPT_CHECK_CONFIG = 256,
	OPT_STATS_INTERVAL,
	OPT_DURATION,
	OPT_IDLE_SLEEP,
	OPT_STAY,
	OPT_TRACE,
	OPT_CSV,
	OPT_JSON_QPS,
	OPT_HELP_CONFIG,
	OPT_HELP_RESULTS,
	OPT_VERSION,
	OPT_READ_GROUP,
	OPT_CHANGE_GROUP,
};

static const struct option options[] = {
	{"config", required_argument, NULL, OPT_CONFIG},
	{"check-config", no_argument, NULL, OPT_CHECK_CONFIG},
	{"thresholds", no_argument, NULL, OPT_THRESHOLDS},
	{"json", required_argument, NULL, OPT_JSON},
	{"stats-interval", required_argument, NULL, OPT_STATS_INTERVAL},
	{"duration", required_argument, NULL, OPT_DURATION},
	{"idle-sleep", required_argument, NULL, OPT_IDLE_SLEEP},
	{"stay", no_argument, NULL, OPT_STAY},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"csv", required_argument, NULL, OPT_CSV},
	{"json-qps", required_argument, NULL, OPT_JSON_QPS},
	{"help", no_argument, NULL, OPT_HELP},
	{"help-config", no_argument, NULL, OPT_HELP_CONFIG},
	{"help-results", no_argument, NULL, OPT_HELP_RESULTS},
	{"version", no_argument, NULL, OPT_VERSION},
	{"read-group", required_argument, NULL, OPT_READ_GROUP},
	{"change-group", required_argument, NULL, OPT_CHANGE_GROUP},
	{NULL, 0, NULL, 0},
};

/* Length in ns of the unit that stands after a number, or of the option's if there is none; 0: no
 * unit. */
static double
unit_of(const char *text, double option_ns)
{
	static const struct {
		const char *word;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

	for (unsigned int i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(text, units[i].word) == 0)
			return units[i].ns;
	return *text == '\0' ? option_ns : 0;
}

/* A decimal number of the option's units, or with a unit; 0 means off. @return 0, or APP_BAD_USAGE
 * after an error line. */
static int
parse_time(const char *option, const char *text, double unit_ns, double max, const char *expected,
	   uint64_t *out_ns)
{
	char *end;
	double value = strtod(text, &end), given_ns = unit_of(end, unit_ns);

	if (end == text || given_ns <= 0 || !(value >= 0 && value * given_ns <= max * unit_ns)) {
		say_error("--%s %s: expected %s", option, text, expected);
		return APP_BAD_USAGE;
	}
	*out_ns = (uint64_t)(value * given_ns + 0.5);
	return 0;
}

static int
parse_count(const char *option, const char *text, uint32_t *out)
{
	uint64_t value;

	if (!decimal_parse(text, 0, UINT32_MAX, &value)) {
		say_error("--%s %s: expected a number from 0 to %u", option, text, UINT32_MAX);
		return APP_BAD_USAGE;
	}
	*out = (uint32_t)value;
	return 0;
}

static int
parse_group(const char *option, const char *text, gid_t *out)
{
	const struct group *group = getgrnam(text);

	if (group == NULL) {
		say_error("--%s %s: expected the name of a group", option, text);
		return APP_BAD_USAGE;
	}
	*out = group->gr_gid;
	return 0;
}

static int
take_option(const struct opts_program *program, int option, struct opts *opts)
{
	switch (option) {
	case OPT_CONFIG:
		opts->config = optarg;
		return 0;
	case OPT_JSON:
		opts->json = optarg;
		return 0;
	case OPT_CHECK_CONFIG:
		opts->action = OPTS_CHECK_CONFIG;
		return 0;
	case OPT_THRESHOLDS:
		opts->action = OPTS_THRESHOLDS;
		return 0;
	case OPT_HELP:
		opts->action = OPTS_HELP;
		return 0;
	case OPT_HELP_CONFIG:
		opts->action = OPTS_HELP_CONFIG;
		return 0;
	case OPT_HELP_RESULTS:
		opts->action = OPTS_HELP_RESULTS;
		return 0;
	case OPT_VERSION:
		opts->action = OPTS_VERSION;
		return 0;
	case OPT_STATS_INTERVAL:
		return parse_time("stats-interval", optarg, 1e9, 1e6,
				  "seconds, 0 (off) to 1000000, or a time such as 500ms",
				  &opts->stats_interval_ns);
	case OPT_DURATION:
		return parse_time(
			"duration", optarg, 1e9, 1e9,
			"seconds, 0 (until a signal) to 1000000000, or a time such as 500ms",
			&opts->duration_ns);
	case OPT_IDLE_SLEEP:
		return parse_time("idle-sleep", optarg, 1e3, 1e6,
				  "microseconds, 0 (never sleep) to 1000000, or a time such as 1ms",
				  &opts->idle_sleep_ns);
	case OPT_READ_GROUP:
		return parse_group("read-group", optarg, &opts->groups.read);
	case OPT_CHANGE_GROUP:
		return parse_group("change-group", optarg, &opts->groups.change);
	case OPT_CSV:
		opts->csv = optarg;
		return 0;
	case OPT_JSON_QPS:
		return parse_count("json-qps", optarg, &opts->json_qps);
	case OPT_STAY:
		if (program->stay_help == NULL)
			break;
		opts->stay = true;
		return 0;
	case OPT_TRACE:
		if (program->trace_help == NULL)
			break;
		opts->trace = optarg;
		return 0;
	default:
		break;
	}
	return APP_BAD_USAGE;
}

static int
parse_program_options(const struct opts_program *program, int argc, char **argv, struct opts *opts)
{
	int option;

	optind = 1;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":c:j:h", options, NULL)) != -1) {
		const char *text = argv[optind - 1];
		int rc;

		if (option == ':') {
			say_error("%s: a value is missing (see --help)", text);
			return APP_BAD_USAGE;
		}
		if (option == '?' || (option == OPT_STAY && program->stay_help == NULL) ||
		    (option == OPT_TRACE && program->trace_help == NULL) ||
		    (option == OPT_THRESHOLDS && program->thresholds_help == NULL) ||
		    (option == OPT_CSV && program->csv_help == NULL) ||
		    (option == OPT_HELP_RESULTS && program->results == NULL) ||
		    (option == OPT_JSON_QPS && program->json_qps_help == NULL) ||
		    (program->is_fixed &&
		     (option == OPT_READ_GROUP || option == OPT_CHANGE_GROUP))) {
			say_error("%s: unknown option (see --help; EAL options come before \"--\")",
				  text);
			return APP_BAD_USAGE;
		}
		rc = take_option(program, option, opts);
		if (rc != 0)
			return rc;
	}
	if (optind < argc) {
		say_error("%s: unexpected argument (see --help)", argv[optind]);
		return APP_BAD_USAGE;
	}
	return 0;
}

/* EAL permutes its arguments, so it gets a copy. */
static char **
copy_arguments(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	if (copy != NULL)
		memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	return copy;
}

int
opts_parse(const struct opts_program *program, int argc, char **argv, struct opts *opts)
{
	int split = 0;
	int rc;

	*opts = (struct opts){.stats_interval_ns = NS_PER_SEC,
			      .json_qps = OPTS_JSON_QPS,
			      .groups = {DESK_NO_GROUP, DESK_NO_GROUP}};
	for (int i = 1; i < argc && split == 0; i++)
		if (strcmp(argv[i], "--") == 0)
			split = i;
	opts->eal_argc = split > 0 ? split : 1;
	opts->eal_argv = copy_arguments(opts->eal_argc, argv);
	if (opts->eal_argv == NULL) {
		say_error("%s", strerror(ENOMEM));
		return APP_FAILED;
	}
	rc = parse_program_options(program, argc - split, argv + split, opts);
	if (rc != 0)
		return rc;
	if (opts->duration_ns == 0)
		opts->duration_ns = NEVER_NS;
	if (opts->csv != NULL && opts->stats_interval_ns == 0) {
		say_error("--csv has a row for each --stats-interval, which must not be 0");
		return APP_BAD_USAGE;
	}
	if (opts->config == NULL &&
	    (opts->action == OPTS_RUN || opts->action == OPTS_CHECK_CONFIG ||
	     opts->action == OPTS_THRESHOLDS)) {
		say_error("--config FILE is missing (see --help)");
		return APP_BAD_USAGE;
	}
	return 0;
}

void
opts_free(struct opts *opts)
{
	free(opts->eal_argv);
}

static void
print_help(const struct opts_program *program)
{
	printf("usage: %s [EAL options] -- --config FILE [options]\n"
	       "       %s --config FILE --check-config\n"
	       "\n"
	       "%s\n"
	       "\n"
	       "  -c, --config FILE       configuration file (INI, YAML or JSON); --help-config lists its\n"
	       "                          keys\n"
	       "      --check-config      check the file, print the resulting configuration, do "
	       "not run\n"
	       "  -j, --json FILE         %s\n"
	       "      --stats-interval S  seconds between statistics lines, or a time such as 500ms;\n"
	       "                          0: none (default 1)\n"
	       "      --duration S        stop after S seconds, or a time such as 500ms; 0: on a signal\n"
	       "                          (default 0)\n"
	       "      --idle-sleep US     sleep up to US microseconds, or a time such as 1ms, when idle; "
	       "0: never (default 0)\n",
	       program->name, program->name, program->purpose,
	       program->json_help != NULL
		       ? program->json_help
		       : "write all counters to FILE at the end; -: to standard output");
	if (program->thresholds_help != NULL)
		printf("      --thresholds        %s\n", program->thresholds_help);
	if (program->json_qps_help != NULL)
		printf("      --json-qps N        %s (default %u)\n", program->json_qps_help,
		       OPTS_JSON_QPS);
	if (program->csv_help != NULL)
		printf("      --csv DIR           %s\n", program->csv_help);
	if (program->stay_help != NULL)
		printf("      --stay              %s\n", program->stay_help);
	if (program->trace_help != NULL)
		printf("      --trace FILE        %s\n", program->trace_help);
	if (!program->is_fixed)
		printf("      --read-group GROUP  let members of GROUP read counters and configuration\n"
		       "      --change-group GROUP  let members of GROUP read, and change the program\n");
	printf("  -h, --help              this text\n"
	       "      --help-config       all keys with unit, range, default and meaning\n"
	       "%s"
	       "      --version           version\n"
	       "\n"
	       "EAL options are those of DPDK. Without hugepages, add --no-huge --no-shconf -m 256.\n"
	       "%sSIGINT and SIGTERM stop the program cleanly.\n"
	       "Exit code 0: done; 1: failed while running; 2: bad usage or configuration.\n",
	       program->results != NULL
		       ? "      --help-results      JSON Schema of what --json writes\n"
		       : "",
	       program->is_fixed ? "" : "SIGHUP reloads the configuration file. ");
}

bool
opts_answer(const struct opts_program *program, const struct opts *opts)
{
	char title[64];

	switch (opts->action) {
	case OPTS_HELP:
		print_help(program);
		return true;
	case OPTS_HELP_CONFIG:
		program->help_config(stdout);
		return true;
	case OPTS_HELP_RESULTS:
		snprintf(title, sizeof(title), "results of %s", program->name);
		json_schema_print(stdout, title, program->results);
		return true;
	case OPTS_VERSION:
		release_print(stdout, program->name);
		return true;
	default:
		return false;
	}
}
