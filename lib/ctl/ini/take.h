/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections and keys of a file, taken into a store one after the other. They are checked as if they
 * stood in an INI file, whatever the format of the file, so that all that is taken can be written
 * as INI. Private to lib/ctl.
 */
#ifndef QUENCH_CTL_INI_TAKE_H
#define QUENCH_CTL_INI_TAKE_H

#include "ctl/ini/config_error.h"
#include "ctl/ini/store.h"

struct config_taker {
	const char *path; /* for error lines */
	struct config_store *store;
	struct config_error *err;
	unsigned int line; /* of what is taken next */
	unsigned int sections;
	struct config_part *section; /* NULL: before the first */
};

/** Fill err with "path:line: what". @return -EINVAL */
__attribute__((format(printf, 2, 3))) int config_take_refuse(const struct config_taker *t,
							     const char *format, ...);

/** Begin a section. Changes name. @return 0, or -EINVAL with err filled in. */
int config_take_section(struct config_taker *t, char *name);

/** Take a key of the section. Changes both texts. @return as config_take_section(). */
int config_take_key(struct config_taker *t, char *key, char *value);

/** Cut blanks off both ends, in place. @return the rest. */
char *config_trim(char *text);
/** Is it printable ASCII? */
bool config_is_printable(const char *text);
/** Replace several blanks by one: "port  0" becomes "port 0". */
void config_squeeze(char *name);
/** Where a comment of an INI line begins, or NULL. */
char *config_comment(char *line);

#endif
