/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole scenario: the file, and what its events with action = set make of it.
 *
 * Each time at which such an event begins or ends has a scenario of its own: the file, read once
 * more, with what is set then over it, the latest before all others. So it is read, checked and
 * refused as a whole file would be, before the run; and it may differ from the one before in live
 * keys alone.
 */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_EVENT_SET_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_EVENT_SET_H

#include "quench-lab/scenario/scenario_file.h"

/**
 * scenario_file_read(), and begin and end of each event filled in, which scenario_free() frees too.
 * @return 0, or -EINVAL with err filled in: of an event "file: [event NAME] set: [section] key =
 *         value: expected ...".
 */
int scenario_read(struct config *cfg, const struct scenario_override *override, struct scenario *s,
		  struct config_error *err);

#endif
