/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a [job NAME]: GOAL (job/goal.h), and the matrix of sizes (job/matrix.h). */
#ifndef QUENCH_CTL_NIC_CONFIG_JOB_FILE_H
#define QUENCH_CTL_NIC_CONFIG_JOB_FILE_H

#include "ctl/config/config.h"
#include "nic/jobs/job_keys.h"

/**
 * Read the graph of a job, if it has a file, and the matrix of its sizes, if it has one: call
 * job_keys_release() in any case.
 * @param out  Unchanged without a GOAL file. On success, release it with job_graph_free().
 * @return     0; -EINVAL or -ENOMEM with err filled in.
 */
int job_file_read(const struct config *cfg, const char *section, struct job_keys *keys,
		  struct job_graph *out, struct config_error *err);

#endif
