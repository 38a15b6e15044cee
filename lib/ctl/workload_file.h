/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributions of message sizes in files: in each line the bytes of a message and the percentage
 * of messages that are not longer, rising to 100; what follows # is a comment.
 */
#ifndef QUENCH_CTL_WORKLOAD_FILE_H
#define QUENCH_CTL_WORKLOAD_FILE_H

#include "ctl/config.h"
#include "nic/workload.h"

/**
 * Read the file that a flow with message_size = cdf names; a name without / at its start is beside
 * the configuration file. Frees nothing: see workload_release().
 * @return 0; or -EINVAL or -ENOMEM with err filled in.
 */
int workload_read_cdf(struct config *cfg, const char *section, struct workload *w,
		      struct config_error *err);

/** Free what workload_read_cdf() read. */
void workload_release(struct workload *w);

#endif
