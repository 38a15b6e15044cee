/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings without a counterpart in SONiC are found by reading the exported tables back: a key that
 * comes back with another value is lost. So that nothing else differs, the switch is first
 * normalised to the importer's form. Private to lib/import.
 *
 * Invariant: every key that differs after the way to SONiC and back is in the log's lost list.
 */
#ifndef QUENCH_IMPORT_EXPORT_FORM_H
#define QUENCH_IMPORT_EXPORT_FORM_H

#include "import/import.h"

/** Normalise a switch: a name for each curve, and the first watched port's times in [pfcwd]. */
void export_form(struct sw_params *sw, const struct sw_params *defaults);

/**
 * Read the tables of a switch back, and add every changed key to the lost list.
 *
 * @param sw  After export_form().
 * @return    0, or -EINVAL with log->error filled in: they cannot be read.
 */
int export_find_lost(const char *json, const struct import_switch *sw, struct import_log *log);

#endif
