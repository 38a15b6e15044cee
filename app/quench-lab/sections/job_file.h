/* SPDX-License-Identifier: BSD-3-Clause */
/* The GOAL file of a [job NAME] (job/goal.h). */
#ifndef QUENCH_APP_QUENCH_LAB_SECTIONS_JOB_FILE_H
#define QUENCH_APP_QUENCH_LAB_SECTIONS_JOB_FILE_H

#include "ctl/config/config.h"
#include "fabric/scenario/scenario.h"

/** Read the graph of a job, if it has a file. As config_kind.finish, of a struct job_section. */
int job_file_finish(struct config *cfg, const char *section, void *item, void *arg,
		    struct config_error *err);

#endif
