/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections and their keys, in the order of the text. A section is found by a hash, since a
 * file may have thousands. Private to lib/ctl.
 */
#ifndef QUENCH_CTL_INI_STORE_H
#define QUENCH_CTL_INI_STORE_H

#include <stdbool.h>

#include "base/sets/names.h"
#include "ctl/ini/config_error.h"

struct config_entry {
	char name[CONFIG_MAX_NAME + 1];
	char *value;       /* owned */
	unsigned int line; /* of the file; 0: set otherwise */
};

struct config_part {
	char name[CONFIG_MAX_NAME + 1];
	struct config_entry *entries;
	unsigned int n, capacity;
	unsigned int line; /* of the heading; 0: not of a file */
	bool removed;      /* no longer found */
};

/* Zero-initialised: empty. */
struct config_store {
	struct names names;         /* of parts */
	struct config_part **parts; /* by number */
	uint32_t capacity;
};

void config_store_free(struct config_store *s);

/** @return the section, or NULL. */
struct config_part *config_store_find(const struct config_store *s, const char *section);

/** Add a section, which must not exist yet. @return it, or NULL: no memory. */
struct config_part *config_store_add(struct config_store *s, const char *section);

/** Key of a section; the last entry of that name. @return NULL: it has none. */
const struct config_entry *config_part_find(const struct config_part *part, const char *key);

/** Add a key. @return 0 or -ENOMEM. */
int config_part_add(struct config_part *part, const char *key, const char *value,
		    unsigned int line);

#endif
