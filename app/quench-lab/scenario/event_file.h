/* SPDX-License-Identifier: BSD-3-Clause */
/* The [event NAME] and [record NAME] sections of a scenario file, and the frames that events
 * send. */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_EVENT_FILE_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_EVENT_FILE_H

#include "ctl/config/config.h"
#include "fabric/scenario/scenario.h"

/** @return 0, or -EINVAL with err filled in; capture_release() of each event after both. */
int event_file_read(struct config *cfg, struct scenario *s, struct config_error *err);

#endif
