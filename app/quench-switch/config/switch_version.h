/* SPDX-License-Identifier: BSD-3-Clause */
/* The configurations of quench-switch, read at start-up and while it runs. */
#ifndef QUENCH_APP_QUENCH_SWITCH_CONFIG_SWITCH_VERSION_H
#define QUENCH_APP_QUENCH_SWITCH_CONFIG_SWITCH_VERSION_H

#include <stdio.h>

#include "runtime/desk/active_config.h"
#include "runtime/desk/desk.h"
#include "ctl/switch_config/switch_config.h"
#include "switch/sw.h"

/* Data for the desk's replies. */
struct switch_program {
	struct node *node;
	const struct sw_params *params;
};

struct switch_version {
	struct config_version version;
	struct sw_params params;
	struct switch_pool pool;
	struct sw_forwarding *next;  /* prepared forwarding tables, not in force yet */
	struct switch_program shown; /* node is NULL until it is built */
};

/** Data of the version that was active when the call arrived. */
const struct switch_program *switch_of(const struct desk_call *call);

/** Read a whole file. @return owned by the caller, or NULL with err filled in. */
struct switch_version *switch_version_read(struct config *cfg, struct config_error *err);

/** Print the configuration as a file that can be read again, with the same result. */
void switch_version_print(FILE *out, const struct switch_version *v);
/** Print every key. */
void switch_version_print_reference(FILE *out);

/* Operations for struct active_config, whose program is a struct switch_config_context. */
extern const struct active_config_ops switch_config_ops;

struct switch_config_context {
	struct node *node;
	const uint16_t *ethdevs;
	uint32_t burst_ns;             /* in place of a shaper_burst_ns of 0 */
	struct switch_version running; /* result of ops->running() */
};

#endif
