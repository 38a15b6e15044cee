/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A complete scenario: the file and the changes of its events with action = set.
 *
 * Each time at which such an event begins or ends has its own scenario: the file is read again,
 * with the changes that are active at that time. If several change one key, the latest counts. So
 * every change is checked like a whole file before the run.
 *
 * Invariant: consecutive scenarios differ in live keys only.
 */
#ifndef QUENCH_APP_QUENCH_LAB_SCENARIO_EVENT_SET_H
#define QUENCH_APP_QUENCH_LAB_SCENARIO_EVENT_SET_H

#include "quench-lab/scenario/scenario_file.h"

/**
 * scenario_file_read(), then fill in begin and end of each event; scenario_free() frees them too.
 *
 * @param s  All zero.
 * @return 0, or -EINVAL with err filled in, for an event "file: [event NAME] set: [section] key =
 *         value: expected ...".
 */
int scenario_read(struct config *cfg, const struct scenario_override *override, struct scenario *s,
		  struct config_error *err);

#endif
