/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace of messages, one per line: "src dst bytes start after", as host numbers (3 or h3),
 * payload bytes, ns and the number of an earlier message or 0, separated by blanks or commas. The
 * last one may be missing in any line. A line that begins with # is a comment. Before the
 * first message, a line is a heading if each of its fields begins with a letter and none is a host
 * such as h3.
 */
#ifndef QUENCH_APP_QUENCH_LAB_SECTIONS_TRACE_FILE_H
#define QUENCH_APP_QUENCH_LAB_SECTIONS_TRACE_FILE_H

#include "ctl/config/config.h"
#include "fabric/scenario/scenario.h"

/** Read the trace of a flow, if it has one. @return 0, or -EINVAL with err filled in. */
int trace_file_read(struct config *cfg, const char *section, struct flow_params *flow,
		    struct config_error *err);

#endif
