/* SPDX-License-Identifier: BSD-3-Clause */
/* The configurations of quench-switch: read at the start, and again while it runs. */
#ifndef QUENCH_APP_QUENCH_SWITCH_SWITCH_VERSION_H
#define QUENCH_APP_QUENCH_SWITCH_SWITCH_VERSION_H

#include <stdio.h>

#include "runtime/telemetry/live.h"
#include "runtime/telemetry/telemetry.h"
#include "ctl/switch_config/switch_config.h"
#include "switch/sw.h"

/* What replies of telemetry need. */
struct switch_program {
	struct node *node;
	const struct sw_params *params;
};

struct switch_version {
	struct live_version live;
	struct sw_params params;
	struct switch_pool pool;
	struct sw_forwarding *next;  /* that was prepared, and is not in force yet */
	struct switch_program shown; /* node may be NULL: not built yet */
};

/** Of the configuration that was in force when the call came. */
const struct switch_program *switch_of(const struct telemetry_call *call);

/** Read all of a file. @return the caller's, or NULL with err filled in. */
struct switch_version *switch_version_read(struct config *cfg, struct config_error *err);
void switch_version_free(struct switch_version *v);

/** Print it as a file that reads back the same. */
void switch_version_print(FILE *out, const struct switch_version *v);
/** Print every key. */
void switch_version_print_reference(FILE *out);

/* Of struct live, whose program is the following. */
extern const struct live_ops switch_live_ops;

struct switch_live {
	struct node *node;
	const uint16_t *ethdevs;
	struct switch_version running; /* of ops->running */
};

#endif
