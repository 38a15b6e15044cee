/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files read through field tables: INI, or YAML or JSON of the same sections and keys. All programs
 * share the keys; a file is accepted or refused as a whole.
 *
 *   file    = { "[" section "]" | key "=" value | blank line }
 *   comment = "#" or ";" at the start of a line or after a blank, to the end of the line
 *
 * Outside comments a file is printable ASCII. A section or key that appears twice, a line of
 * another form, and a name or value that is too long are errors.
 *
 * An error is one line: "file:line: what" for a malformed line, and for a value
 * "file:line: [section] key = value: expected what". The line is missing if the file has neither
 * the key nor the section, or if config_set() has set the value. Sections and keys that no table
 * knows are errors too, so that a misspelt key is always reported.
 */
#ifndef QUENCH_CTL_CONFIG_CONFIG_H
#define QUENCH_CTL_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdio.h>

#include "base/field/field_table.h"
#include "ctl/ini/config_error.h"

struct config;

/**
 * Read a file: YAML or JSON if its name ends so (ctl/yaml/yaml_file.h), else INI.
 * @return owned by the caller, or NULL with err filled in (missing, unreadable, line N malformed).
 */
struct config *config_open(const char *path, struct config_error *err);
/** As config_open(), for a text of INI without a zero byte; error lines show path. */
struct config *config_open_text(const char *path, const char *text, size_t size,
				struct config_error *err);
/**
 * Create a layer over another configuration. config_set() of the layer overrides the keys of
 * `under`. The layer can be read into other objects even if `under` has been read before. Layers
 * may be stacked to any depth.
 *
 * @param under  Not changed; must be closed after the returned layer.
 * @param name   Shown in error lines in place of a path.
 * @return       Owned by the caller, or NULL with err filled in.
 */
struct config *config_over(const struct config *under, const char *name, struct config_error *err);
/** NULL is allowed. */
void config_close(struct config *cfg);

/**
 * Override a key of the file, before anything is read: "section.key=value". The key may be an alias
 * of the one in the file. The file need not have the section. A later call for a key overrides an
 * earlier one; of a map that is changed (config_changes(), config_over()) it overrides the map's
 * keys that it names.
 * @return 0, or -EINVAL (malformed) or -ENOMEM with err filled in.
 */
int config_set(struct config *cfg, const char *text, struct config_error *err);

/* A key and its value, as a file writes them. Key "": a section without keys. */
struct config_pair {
	char section[CONFIG_MAX_NAME + 1], key[CONFIG_MAX_NAME + 1], value[CONFIG_MAX_VALUE + 1];
};

/**
 * Set the keys that the file of `from` gives, as config_set() does, in its order.
 *
 * @param take  May change the pair; false: leave this key out.
 * @return      0, or -ENOMEM with err filled in.
 */
int config_copy(struct config *cfg, const struct config *from,
		bool (*take)(void *arg, struct config_pair *pair), void *arg,
		struct config_error *err);

/**
 * Remove from the file, before anything is read, the sections that config_next() finds for this
 * word. Not of a layer. @return their number.
 */
unsigned int config_forget(struct config *cfg, const char *word);

/** Values are changes of objects that have valid ones: field_parse_change(). */
void config_changes(struct config *cfg);

const char *config_path(const struct config *cfg);
/**
 * Write the path of a file whose name is the value of a key. A relative name is relative to the
 * folder of cfg's file.
 */
void config_beside(const struct config *cfg, const char *name, char *path, size_t size);
bool config_has(const struct config *cfg, const char *section);

/**
 * Section names that are word, or word followed by a space and a name ("flow", "flow incast"), in
 * file order.
 * @param previous  Result of the last call; NULL: return the first.
 * @return          The next such section, valid until config_close(), or NULL.
 */
const char *config_next(const struct config *cfg, const char *word, const char *previous);

/**
 * Read the keys of one section that fields knows into object; other members keep their values. A
 * section that is missing changes nothing. Several calls with different tables may read one
 * section; each key is used by the tables that know it. A key that is given under two of its names
 * is refused.
 *
 * @param fields  Must outlive cfg.
 * @return        0, -EINVAL or -ENOMEM with err filled in.
 */
int config_read(struct config *cfg, const char *section, const struct field *fields, unsigned int n,
		void *object, struct config_error *err);

/**
 * field_defaults(), then config_read(); keys without default that are missing are an error if the
 * section exists.
 */
int config_read_new(struct config *cfg, const char *section, const struct field *fields,
		    unsigned int n, void *object, struct config_error *err);

/** Refuse keys of one section that no table so far knows. @return as config_finish(). */
int config_finish_section(const struct config *cfg, const char *section, struct config_error *err);

/** Refuse sections and keys that no table knows; suggest the nearest known name.
 * @return 0, -EINVAL or -ENOMEM. */
int config_finish(const struct config *cfg, struct config_error *err);

/**
 * For rules across keys: fill err with "file:line: [section] key = value: expected ..." (without
 * the value if the file does not give the key) and return -EINVAL. key NULL: blame the section.
 */
int config_refuse(const struct config *cfg, const char *section, const char *key,
		  const char *expected, struct config_error *err);

/** Refuse the first key of fields that the section gives; expected says why.
 * @return 0, or -EINVAL with err filled in. */
int config_refuse_given(const struct config *cfg, const char *section, const struct field *fields,
			unsigned int n, const char *expected, struct config_error *err);

/**
 * Values that were read and are probably mistakes: "file:line: [section] key = value: 5 bytes,
 * since no unit such as KB follows". A layer has none.
 * @return line number i from 0 on, or NULL: no more.
 */
const char *config_doubt(const struct config *cfg, unsigned int i);

/** Line of a key, or of its section if key is NULL or not given; 0: none. For error lines. */
unsigned int config_line(const struct config *cfg, const char *section, const char *key);

/** Does the file contain this key, under its name or an alias? The section must have been read. */
bool config_gives(const struct config *cfg, const char *section, const char *key);

/** Did config_set() set this key, under its name or an alias? */
bool config_gives_set(const struct config *cfg, const char *section, const char *key);

/** Print one section with the values in force, in the form of a file. */
void config_print(FILE *out, const char *section, const struct field *fields, unsigned int n,
		  const void *object);

/** As config_print(), without the section's heading and the blank line after it. */
void config_print_keys(FILE *out, const struct field *fields, unsigned int n, const void *object);

/**
 * Print the reference of a table in Markdown: name, values, default, aliases, help. For
 * doc/parameters.md and --help-config.
 */
void config_print_reference(FILE *out, const char *section, const struct field *fields,
			    unsigned int n);
/**
 * As config_print_reference(), for several tables; adjacent ones with the same name share a
 * section. fixed: no key may change while the program runs, whatever its flag.
 */
void config_sections_print_reference(FILE *out, const struct field_section *sections,
				     unsigned int n, bool fixed);

#endif
