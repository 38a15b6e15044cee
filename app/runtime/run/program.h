/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main() of a program with nodes: the command line, the configuration of start-up, EAL, and then
 * the program's own run.
 */
#ifndef QUENCH_APP_RUNTIME_RUN_PROGRAM_H
#define QUENCH_APP_RUNTIME_RUN_PROGRAM_H

#include "runtime/run/opts.h"
#include "runtime/desk/active_config.h"

struct program {
	const struct opts_program *command_line;
	/* Read a whole file, and warn about it. @return owned by the caller, or NULL with err. */
	struct config_version *(*read)(struct config *cfg, const struct opts *opts,
				       struct config_error *err);
	/* Largest frame of a configuration, without FCS, for which devices need room. */
	uint32_t (*largest_frame)(const struct config_version *v);
	/* For OPTS_CHECK_CONFIG and OPTS_THRESHOLDS. */
	void (*print)(const struct config_version *v, const struct opts *opts);
	/* of struct active_config; context is their program */
	const struct active_config_ops *config_ops;
	void *context;
	/*
	 * After EAL has started: build the nodes, run them, and end EAL. May destroy active.
	 * @return an exit code.
	 */
	int (*run)(const struct opts *opts, struct active_config *active);
};

int program_main(const struct program *program, int argc, char **argv);

#endif
