/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributions of message sizes: those that the NIC knows by name, and files. Each line of a file
 * has a size in bytes and the percentage of messages up to that size, rising to 100; # begins a
 * comment.
 */
#ifndef QUENCH_CTL_NIC_CONFIG_WORKLOAD_FILE_H
#define QUENCH_CTL_NIC_CONFIG_WORKLOAD_FILE_H

#include "ctl/config/config.h"
#include "nic/workload/workload.h"

/**
 * Find the distribution that a flow with message_size = cdf names. A file without / at its start is
 * relative to the configuration file's folder. Frees nothing: see workload_release().
 *
 * @param known  Workload that may have read the same file. If it has, its distribution is shared
 *               instead of read again. May be NULL.
 * @return       0; or -EINVAL or -ENOMEM with err filled in.
 */
int workload_read_cdf(struct config *cfg, const char *section, struct workload *w,
		      const struct workload *known, struct config_error *err);

/**
 * Count one more user, after a copy of a workload that has read its file. The copy must be released
 * too.
 */
void workload_share(const struct workload *w);

/** Release the result of workload_read_cdf(); the last user frees it. From any thread. */
void workload_release(struct workload *w);

#endif
