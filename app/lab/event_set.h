/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events with action = set: what they make of the scenario.
 *
 * Each time at which such an event begins or ends has a scenario of its own: the file, read once
 * more, with what is set then over it, the latest before all others. So it is read, checked and
 * refused as a whole file would be, before the run; and it may differ from the one before in live
 * keys alone.
 */
#ifndef QUENCH_APP_LAB_EVENT_SET_H
#define QUENCH_APP_LAB_EVENT_SET_H

#include "lab/scenario_file.h"

/** Fill in begin and end of each event of s, read from cfg. @return 0, or -EINVAL with err filled
 * in: "file: [event NAME] set: [section] key = value: expected ...". */
int event_set_read(struct config *cfg, const struct scenario_override *override, struct scenario *s,
		   struct config_error *err);

/** Free what it filled in. */
void event_set_release(struct event_params *e);

#endif
