/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of the QPs selected by trace_qps of [flow NAME]. */
#ifndef QUENCH_APP_QUENCH_NIC_TRACING_TRACE_QPS_H
#define QUENCH_APP_QUENCH_NIC_TRACING_TRACE_QPS_H

#include "ctl/nic_config/nic_config.h"
#include "nic/port/share.h"

/** Begin tracing. share maps QPs to nodes. @return 0, or an exit code after an error line. */
int trace_start(struct node *const *nodes, const struct nic_share *share,
		const struct nic_config *config);

/** Write the traces as CSV. @return 0, or an exit code after an error line. */
int trace_write(struct node *const *nodes, uint16_t n_nodes, const char *path);

#endif
