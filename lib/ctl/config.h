/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * INI files read through field tables. One vocabulary for all programs; a file is taken whole or refused whole.
 *
 * An error is one line: file, section, key, value and what was expected. Sections and keys that nobody read
 * are errors too, so that a misspelt key never passes in silence.
 */
#ifndef QUENCH_CTL_CONFIG_H
#define QUENCH_CTL_CONFIG_H

#include <stdbool.h>
#include <stdio.h>

#include "base/field.h"

struct config;

struct config_error {
	char text[512];
};

/** Read a file. @return owned by the caller, or NULL with err filled in (missing, unreadable, line N malformed). */
struct config *config_open(const char *path, struct config_error *err);
void config_close(struct config *cfg);

const char *config_path(const struct config *cfg);
bool config_has(const struct config *cfg, const char *section);

/**
 * Section names that are word, or word followed by a space and a name ("flow", "flow incast"), in file order.
 * @return the next such section after previous (NULL: the first), or NULL.
 */
const char *config_next(const struct config *cfg, const char *word, const char *previous);

/**
 * Read the keys of one section that fields knows into object, over what object holds. A section that is absent
 * changes nothing. Several calls with different tables may read one section; each key is used by the tables that know it.
 *
 * @return 0, or -EINVAL with err filled in.
 */
int config_read(struct config *cfg, const char *section, const struct field *fields, unsigned int n, void *object,
		struct config_error *err);

/** field_defaults(), then config_read(); keys without default that are missing are an error if the section exists. */
int config_read_new(struct config *cfg, const char *section, const struct field *fields, unsigned int n,
		    void *object, struct config_error *err);

/** Refuse what nobody has read. @return 0 or -EINVAL. */
int config_finish(const struct config *cfg, struct config_error *err);

/** For rules across keys: fill err with "file: [section] key = value: expected ..." and return -EINVAL. */
int config_refuse(const struct config *cfg, const char *section, const char *key, const char *expected,
		  struct config_error *err);

/** Print one section with its effective values, as a file that can be read back. */
void config_print(FILE *out, const char *section, const struct field *fields, unsigned int n, const void *object);

/** Print the reference of a table: name, unit, range, default, aliases, help. For doc/parameters.md and --help-config. */
void config_print_reference(FILE *out, const char *section, const struct field *fields, unsigned int n);

#endif
