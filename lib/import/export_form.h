/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What SONiC has no words for is found by reading exported tables back: a key that does not come
 * out as it went in is lost. So that nothing else differs, a switch is put into the form that the
 * importer gives. Private to lib/import.
 */
#ifndef QUENCH_IMPORT_EXPORT_FORM_H
#define QUENCH_IMPORT_EXPORT_FORM_H

#include "import/import.h"

/** The same switch, with a name for each curve and the first watched port's times in [pfcwd]. */
void export_form(struct sw_params *sw, const struct sw_params *defaults);

/**
 * Read the tables of a switch back, and lose what is not as it was.
 *
 * @param sw  After export_form().
 * @return    0, or -EINVAL with log->error filled in: they cannot be read.
 */
int export_find_lost(const char *json, const struct import_switch *sw, struct import_log *log);

#endif
