/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames that the [event NAME] sections of a scenario file send. */
#ifndef QUENCH_APP_QUENCH_LAB_SECTIONS_EVENT_FILE_H
#define QUENCH_APP_QUENCH_LAB_SECTIONS_EVENT_FILE_H

#include "ctl/config/config.h"
#include "fabric/scenario/scenario.h"

/** finish() of struct config_kind, for events. Call capture_release() whatever the result. */
int event_file_finish(struct config *cfg, const char *section, void *item, void *arg,
		      struct config_error *err);

#endif
