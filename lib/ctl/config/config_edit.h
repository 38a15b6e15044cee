/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a configuration file with other values: lines that need no change, their order and
 * all comments stay as they are.
 *
 * - A key that the file gives, under whatever name, gets its new value on its line, under its own
 *   name. Any other key is added after the last key of its section.
 * - A section that is missing is added at the end, with the keys that differ from their defaults.
 * - A section that is no longer wanted goes from its heading to its last key; comments after that
 *   key stay.
 *
 * Some files cannot be edited so: one section may give a key of several others. So the result is
 * to be read and compared before it is used.
 */
#ifndef QUENCH_CTL_CONFIG_CONFIG_EDIT_H
#define QUENCH_CTL_CONFIG_CONFIG_EDIT_H

#include "ctl/config/config_compare.h"

/**
 * @param cfg   The file, of which all sections have been read.
 * @param text  Its text.
 * @param from  Its rows.
 * @param to    Rows with the wanted values.
 * @return      Owned by the caller, or NULL: no memory.
 */
char *config_edit(const struct config *cfg, const char *text, struct config_rows *from,
		  struct config_rows *to);

/** Is a value, as field_format() writes it, the default of its key? False for a required key. */
bool config_is_default(const struct field *f, const char *value);

#endif
