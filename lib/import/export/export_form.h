/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the settings without a counterpart in SONiC: the exported tables are imported again, and a
 * key whose value then differs is lost. Before the export, the switch is normalised to the
 * importer's form, so that there are no other differences. Private to lib/import.
 *
 * Invariant: every key that differs after an export and an import is in the log's lost list.
 */
#ifndef QUENCH_IMPORT_EXPORT_EXPORT_FORM_H
#define QUENCH_IMPORT_EXPORT_EXPORT_FORM_H

#include "import/conversion/import.h"

/**
 * Normalise a switch: give each port a name of SONiC's, let [qos_map] and [scheduler] be
 * those of most ports, name each curve, and move the times of the
 * first watched port to [pfcwd].
 */
void export_form(struct sw_params *sw, const struct sw_params *defaults, struct import_log *log);

/**
 * Read the tables of a switch back, and add every changed key to the lost list.
 *
 * @param sw  After export_form().
 * @return    0, or -EINVAL with log->error filled in: they cannot be read.
 */
int export_find_lost(const char *json, const struct import_switch *sw, struct import_log *log);

#endif
