/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributions of message sizes in files: in each line the bytes of a message and the percentage
 * of messages that are not longer, rising to 100; what follows # is a comment.
 */
#ifndef QUENCH_CTL_NIC_CONFIG_WORKLOAD_FILE_H
#define QUENCH_CTL_NIC_CONFIG_WORKLOAD_FILE_H

#include "ctl/config/config.h"
#include "nic/workload/workload.h"

/**
 * Read the file that a flow with message_size = cdf names; a name without / at its start is beside
 * the configuration file. Frees nothing: see workload_release().
 *
 * @param known  One that may have read the same file: then that is shared, and not read again. May
 *               be NULL.
 * @return       0; or -EINVAL or -ENOMEM with err filled in.
 */
int workload_read_cdf(struct config *cfg, const char *section, struct workload *w,
		      const struct workload *known, struct config_error *err);

/** w is a copy of one that has read its file: it is released as well. */
void workload_share(const struct workload *w);

/** Free what workload_read_cdf() read when nobody shares it any more. From any thread. */
void workload_release(struct workload *w);

#endif
