/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/run/program.h"

#include <errno.h>
#include <string.h>

#include "runtime/notice/say.h"
#include "runtime/run/run.h"

/* @return NULL after an error line. */
static struct config_version *
read_config(const struct program *program, const struct opts *opts)
{
	struct config_error err;
	struct config *cfg = config_open(opts->config, &err);
	struct config_version *v = cfg == NULL ? NULL : program->read(cfg, opts, &err);

	if (v == NULL)
		say_error("%s", err.text);
	else
		active_config_warn(program->config_ops, v, cfg);
	config_close(cfg);
	return v;
}

static int
start(const struct program *program, const struct opts *opts, struct active_config *active)
{
	int rc;

	active_config_block_signal();
	rc = run_start(opts, program->largest_frame(active->current));
	return rc == 0 ? program->run(opts, active) : rc;
}

/* Takes ownership of v. */
static int
run(const struct program *program, const struct opts *opts, struct config_version *v)
{
	struct active_config active;
	int rc = APP_FAILED;

	if (active_config_init(&active, program->config_ops, program->context, opts->config, v) ==
	    0)
		rc = start(program, opts, &active);
	else
		say_error("%s", strerror(ENOMEM));
	active_config_destroy(&active);
	return rc;
}

static int
act(const struct program *program, const struct opts *opts)
{
	struct config_version *v = read_config(program, opts);

	if (v == NULL)
		return APP_BAD_USAGE;
	if (opts->action == OPTS_RUN)
		return run(program, opts, v);
	program->print(v, opts);
	program->config_ops->free(v);
	return APP_DONE;
}

int
program_main(const struct program *program, int argc, char **argv)
{
	struct opts opts;
	int rc;

	say_as(program->command_line->name);
	rc = opts_parse(program->command_line, argc, argv, &opts);
	if (rc == 0 && !opts_answer(program->command_line, &opts))
		rc = act(program, &opts);
	opts_free(&opts);
	return say_end(rc);
}
