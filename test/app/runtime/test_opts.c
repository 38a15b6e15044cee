/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "runtime/run/opts.h"
#include "runtime/notice/say.h"

static const struct opts_program stays = {.name = "prog",
					  .purpose = "does things",
					  .stay_help = "go on",
					  .trace_help = "tell",
					  .json_qps_help = "most"};
static const struct opts_program leaves = {.name = "prog", .purpose = "does things"};

static int
parse(const struct opts_program *program, char **argv, struct opts *opts)
{
	int argc = 0;
	int rc;

	while (argv[argc] != NULL)
		argc++;
	rc = opts_parse(program, argc, argv, opts);
	opts_free(opts);
	return rc;
}

/* getopt permutes the list, and leaves the words alone. */
#define ARGS(...) ((char **)(uintptr_t)(const char *[]){"prog", __VA_ARGS__, NULL})

TEST(eal_options_end_at_the_double_dash)
{
	char **argv = ARGS("-l", "0", "--vdev", "net_null0", "--", "--config", "x");
	struct opts opts;

	assert_int_equal(opts_parse(&stays, 8, argv, &opts), 0);
	assert_int_equal(opts.eal_argc, 5);
	assert_string_equal(opts.eal_argv[0], "prog");
	assert_string_equal(opts.eal_argv[4], "net_null0");
	assert_null(opts.eal_argv[5]);
	assert_string_equal(opts.config, "x");
	opts_free(&opts);
}

TEST(defaults_run_until_a_signal_and_never_sleep)
{
	struct opts opts;

	assert_int_equal(parse(&stays, ARGS("--config", "x"), &opts), 0);
	assert_int_equal(opts.action, OPTS_RUN);
	assert_int_equal(opts.eal_argc, 1);
	assert_int_equal(opts.stats_interval_ns, NS_PER_SEC);
	assert_int_equal(opts.duration_ns, NEVER_NS);
	assert_int_equal(opts.idle_sleep_ns, 0);
	assert_null(opts.json);
	assert_false(opts.stay);
}

TEST(times_take_units)
{
	struct opts opts;

	assert_int_equal(parse(&stays,
			       ARGS("--config=x", "--duration", "20s", "--idle-sleep", "0.5ms",
				    "--stats-interval", "250ms"),
			       &opts),
			 0);
	assert_int_equal(opts.duration_ns, 20 * NS_PER_SEC);
	assert_int_equal(opts.idle_sleep_ns, 500 * NS_PER_US);
	assert_int_equal(opts.stats_interval_ns, 250 * NS_PER_MS);
}

TEST(times_are_seconds_and_microseconds)
{
	struct opts opts;

	assert_int_equal(
		parse(&stays,
		      ARGS("--config=x", "--duration", "0.25", "--idle-sleep", "100",
			   "--stats-interval", "0", "--stay", "-j", "-", "--trace", "t.csv"),
		      &opts),
		0);
	assert_int_equal(opts.duration_ns, 250 * NS_PER_MS);
	assert_int_equal(opts.idle_sleep_ns, 100 * NS_PER_US);
	assert_int_equal(opts.stats_interval_ns, 0);
	assert_string_equal(opts.json, "-");
	assert_string_equal(opts.trace, "t.csv");
	assert_true(opts.stay);
	assert_int_equal(opts.json_qps, OPTS_JSON_QPS);
	assert_int_equal(parse(&stays, ARGS("--config=x", "--json-qps", "0"), &opts), 0);
	assert_int_equal(opts.json_qps, 0);
	assert_int_equal(parse(&stays, ARGS("--config=x", "--json-qps", "-1"), &opts),
			 APP_BAD_USAGE);
	assert_int_equal(parse(&stays, ARGS("--config=x", "--json-qps", "7x"), &opts),
			 APP_BAD_USAGE);
	assert_int_equal(parse(&stays, ARGS("--config=x", "--json-qps", "4294967296"), &opts),
			 APP_BAD_USAGE);
}

TEST(help_and_version_need_no_config)
{
	struct opts opts;

	assert_int_equal(parse(&leaves, ARGS("--help"), &opts), 0);
	assert_int_equal(opts.action, OPTS_HELP);
	assert_int_equal(parse(&leaves, ARGS("--help-config"), &opts), 0);
	assert_int_equal(opts.action, OPTS_HELP_CONFIG);
	assert_int_equal(parse(&leaves, ARGS("--version"), &opts), 0);
	assert_int_equal(opts.action, OPTS_VERSION);
	assert_int_equal(parse(&leaves, ARGS("--check-config", "--config", "x"), &opts), 0);
	assert_int_equal(opts.action, OPTS_CHECK_CONFIG);
}

TEST(bad_usage_is_refused)
{
	char **const bad[] = {
		ARGS("--check-config"),
		ARGS("--config"),
		ARGS("--config", "x", "y"),
		ARGS("--config", "x", "--nonsense"),
		ARGS("--config", "x", "-l", "0"),
		ARGS("--config", "x", "--csv", "dir"),
		ARGS("--config", "x", "--stay"),
		ARGS("--config", "x", "--json-qps", "1"),
		ARGS("--config", "x", "--trace", "t.csv"),
		ARGS("--config", "x", "--duration", "-1"),
		ARGS("--config", "x", "--duration", "nan"),
		ARGS("--config", "x", "--duration", "1m"),
		ARGS("--config", "x", "--duration", "1 s"),
		ARGS("--config", "x", "--duration", "ms"),
		ARGS("--config", "x", "--idle-sleep", "2s"),
		ARGS("--config", "x", "--idle-sleep", ""),
		ARGS("--config", "x", "--idle-sleep", "1000001"),
		ARGS("--config", "x", "--stats-interval", "1e9"),
	};
	struct opts opts;

	for (unsigned int i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(parse(&leaves, bad[i], &opts), APP_BAD_USAGE);
}

static int
speak_as_prog(void **state)
{
	(void)state;
	say_as("prog");
	return 0;
}

TEST_MAIN(.begin = speak_as_prog)
