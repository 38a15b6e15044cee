/* SPDX-License-Identifier: BSD-3-Clause */
/* Read keys through field tables, from a file and from the config_set() layers over it. */
#include "ctl/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/config/config_state.h"
#include "ctl/ini/nearest.h"

/* @return NULL: no table has read the section. */
static const struct read_section *
find_read(const struct config *cfg, const char *section)
{
	uint32_t i = names_find(&cfg->read_names, section);

	return i == NAMES_NONE ? NULL : cfg->read[i];
}

static struct read_section *
add_read(struct config *cfg, const char *section)
{
	struct read_section *read;

	if (cfg->read_names.n == cfg->read_capacity) {
		unsigned int capacity = cfg->read_capacity == 0 ? 16 : 2 * cfg->read_capacity;
		struct read_section **grown = realloc(cfg->read, capacity * sizeof(*grown));

		if (!grown)
			return NULL;
		cfg->read = grown;
		cfg->read_capacity = capacity;
	}
	read = calloc(1, sizeof(*read));
	if (!read)
		return NULL;
	snprintf(read->name, sizeof(read->name), "%s", section);
	cfg->read[cfg->read_names.n] = read;
	if (names_add(&cfg->read_names, read->name) == NAMES_NONE) {
		free(read);
		return NULL;
	}
	return read;
}

static int
remember_reader(struct config *cfg, const char *section, const struct field *fields, unsigned int n)
{
	struct read_section *read = (struct read_section *)find_read(cfg, section);
	struct reader *grown;

	if (!read)
		read = add_read(cfg, section);
	if (!read)
		return -ENOMEM;
	for (unsigned int i = 0; i < read->n; i++)
		if (read->readers[i].fields == fields && read->readers[i].n == n)
			return 0;
	grown = realloc(read->readers, (read->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	read->readers = grown;
	grown[read->n++] = (struct reader){fields, n};
	return 0;
}

/* The value given for a field, under its name or an alias. */
struct given {
	const char *name;
	const char *value;
	const struct field_alias *alias;
	const char *again; /* a second word for the same field */
	unsigned int line; /* of the file; 0: from a layer */
};

static struct given
given_in(const struct config_store *store, const char *section, const struct field *field)
{
	const struct config_part *part = config_store_find(store, section);
	const struct config_entry *entry;
	struct given g = {0};

	if (!part)
		return g;
	entry = config_part_find(part, field->name);
	if (entry)
		g = (struct given){.name = field->name, .value = entry->value, .line = entry->line};
	for (int a = 0; a < FIELD_ALIASES && field->aliases[a].name; a++) {
		const struct field_alias *alias = &field->aliases[a];

		entry = config_part_find(part, alias->name);
		if (entry && g.value)
			g.again = alias->name;
		else if (entry)
			g = (struct given){.name = alias->name,
					   .value = entry->value,
					   .alias = alias,
					   .line = entry->line};
	}
	return g;
}

/*
 * Find the value that config_set() has set in this layer or one under it. *last becomes the lowest
 * layer, which has the file.
 */
static struct given
given_set(const struct config *cfg, const char *section, const struct field *field,
	  const struct config **last)
{
	struct given g = given_in(&cfg->set, section, field);

	for (; !g.value && cfg->under; g = given_in(&cfg->set, section, field))
		cfg = cfg->under;
	*last = cfg;
	return g;
}

static struct given
find_given(const struct config *cfg, const char *section, const struct field *field)
{
	const struct config *last;
	struct given g = given_set(cfg, section, field, &last);

	return g.value ? g : given_in(&last->file, section, field);
}

/* A layer's errors begin with the layer's name, which has no lines. */
static unsigned int
line_of(const struct config *cfg, unsigned int line)
{
	return cfg->under ? 0 : line;
}

static unsigned int
section_line(const struct config *cfg, const char *section)
{
	const struct config_part *part = config_store_find(&cfg->file, section);

	return part ? part->line : 0;
}

/* Remember a line once. Without memory the line is lost. */
static void
add_doubt(struct config_doubts *doubts, const char *line)
{
	char **grown;

	for (unsigned int i = 0; i < doubts->n; i++)
		if (strcmp(doubts->lines[i], line) == 0)
			return;
	grown = realloc(doubts->lines, (doubts->n + 1) * sizeof(*grown));
	if (!grown)
		return;
	doubts->lines = grown;
	grown[doubts->n] = strdup(line);
	doubts->n += grown[doubts->n] != NULL;
}

static void
doubt_unit(struct config *cfg, const char *section, const struct field *field,
	   const struct given *g)
{
	struct config_error line;
	char doubt[96];

	/* A layer doubts only the values that it sets. */
	if ((cfg->under && !given_in(&cfg->set, section, field).value) ||
	    !field_lacks_unit(field, g->alias, g->value, doubt, sizeof(doubt)))
		return;
	config_error_at(&line, cfg->path, line_of(cfg, g->line), " [%s] %s = %s: %s", section,
			g->name, g->value, doubt);
	add_doubt(&cfg->doubts, line.text);
}

/*
 * Parse all that config_set() has set of a map, in its order. On failure *wrong is the value.
 * -EEXIST: the values of a default are not known here, so nothing can be changed over it.
 */
static int
change_map(const struct config *cfg, const char *section, const struct field *field, void *object,
	   const char **wrong)
{
	const struct given g = given_in(&cfg->set, section, field);
	const struct config_part *part = config_store_find(&cfg->set, section);
	int rc = 0;

	*wrong = NULL;
	for (unsigned int i = 0; rc == 0 && g.value && i < part->n; i++) {
		if (strcmp(part->entries[i].name, g.name) != 0)
			continue;
		if (*wrong && field->or_default && strcmp(*wrong, FIELD_DEFAULT) == 0)
			return -EEXIST;
		*wrong = part->entries[i].value;
		rc = field_parse_change(field, g.alias, *wrong, object, NULL, 0);
	}
	return rc;
}

/*
 * Parse the value of a map in each layer over that of the layer under it, or over the object's:
 * keys that a change does not name keep their values.
 */
static int
parse_map(const struct config *cfg, const char *section, const struct field *field, void *object,
	  const char **wrong)
{
	int rc = 0;

	if (cfg->under)
		rc = parse_map(cfg->under, section, field, object, wrong);
	if (cfg->under || cfg->changes)
		return rc == 0 ? change_map(cfg, section, field, object, wrong) : rc;

	const struct given g = find_given(cfg, section, field);

	*wrong = g.value;
	return g.value ? field_parse(field, g.alias, g.value, object, NULL, 0) : 0;
}

static int
read_field(struct config *cfg, const char *section, const struct field *field, void *object,
	   struct config_error *err)
{
	struct given g = find_given(cfg, section, field);
	char expected[FIELD_TEXT_SIZE];
	int rc;

	if (g.again) {
		config_error_at(err, cfg->path, line_of(cfg, g.line),
				" [%s] %s = %s: expected one of %s and %s, which "
				"are the same",
				section, g.name, g.value, g.name, g.again);
		return -EINVAL;
	}
	if (!g.value)
		return 0;
	if (field->type == FIELD_MAP)
		rc = parse_map(cfg, section, field, object, &g.value);
	else
		rc = (cfg->changes ? field_parse_change : field_parse)(field, g.alias, g.value,
								       object, NULL, 0);
	if (rc == 0) {
		doubt_unit(cfg, section, field, &g);
		return 0;
	}
	if (rc == -ENOMEM) {
		config_error_set(err, cfg->path, " out of memory");
		return rc;
	}
	if (rc == -EEXIST)
		snprintf(expected, sizeof(expected), "no other value of this key after it");
	else
		field_expected(field, g.alias, expected, sizeof(expected));
	config_error_at(err, cfg->path, line_of(cfg, g.line), " [%s] %s = %.200s: expected %s",
			section, g.name, g.value, expected);
	return -EINVAL;
}

int
config_read(struct config *cfg, const char *section, const struct field *fields, unsigned int n,
	    void *object, struct config_error *err)
{
	int rc = remember_reader(cfg, section, fields, n);

	if (rc != 0)
		config_error_set(err, cfg->path, " out of memory");
	for (unsigned int i = 0; rc == 0 && i < n; i++)
		rc = read_field(cfg, section, &fields[i], object, err);
	return rc;
}

static const struct field *
find_field(const struct config *cfg, const char *section, const char *key)
{
	const struct read_section *read = find_read(cfg, section);
	const struct field *field = NULL;

	for (unsigned int i = 0; field == NULL && read && i < read->n; i++) {
		const struct reader *r = &read->readers[i];
		const struct field_alias *alias;

		field = field_find(r->fields, r->n, key, &alias);
	}
	return field;
}

static struct given
find_key(const struct config *cfg, const char *section, const char *key)
{
	const struct field *field = find_field(cfg, section, key);

	return field != NULL ? find_given(cfg, section, field) : (struct given){0};
}

bool
config_gives(const struct config *cfg, const char *section, const char *key)
{
	return find_key(cfg, section, key).value != NULL;
}

bool
config_gives_set(const struct config *cfg, const char *section, const char *key)
{
	const struct field *field = find_field(cfg, section, key);

	return field != NULL && given_set(cfg, section, field, &cfg).value != NULL;
}

unsigned int
config_line(const struct config *cfg, const char *section, const char *key)
{
	struct given g = {0};

	if (key)
		g = find_key(cfg, section, key);
	return g.value ? line_of(cfg, g.line) : section_line(cfg, section);
}

int
config_refuse(const struct config *cfg, const char *section, const char *key, const char *expected,
	      struct config_error *err)
{
	unsigned int line = config_line(cfg, section, key);
	struct given g = {0};

	if (key)
		g = find_key(cfg, section, key);
	if (!key)
		config_error_at(err, cfg->path, line, " [%s]: expected %s", section, expected);
	else if (g.value)
		config_error_at(err, cfg->path, line, " [%s] %s = %.200s: expected %s", section,
				g.name, g.value, expected);
	else
		config_error_at(err, cfg->path, line, " [%s] %s: expected %s", section, key,
				expected);
	return -EINVAL;
}

int
config_refuse_given(const struct config *cfg, const char *section, const struct field *fields,
		    unsigned int n, const char *expected, struct config_error *err)
{
	for (unsigned int i = 0; i < n; i++) {
		struct given g = find_given(cfg, section, &fields[i]);

		if (!g.value)
			continue;
		config_error_at(err, cfg->path, line_of(cfg, g.line),
				" [%s] %s = %.200s: expected %s", section, g.name, g.value,
				expected);
		return -EINVAL;
	}
	return 0;
}

static void
nearest_key(struct nearest *best, const struct reader *r)
{
	for (unsigned int i = 0; i < r->n; i++) {
		nearest_try(best, r->fields[i].name);
		for (int a = 0; a < FIELD_ALIASES && r->fields[i].aliases[a].name; a++)
			nearest_try(best, r->fields[i].aliases[a].name);
	}
}

/*
 * The name of a section's node, of somebody who wrote what the node is: host = 4 for node = h4.
 * @return whether there is such a key.
 */
static bool
is_node(const struct read_section *read, const struct config_entry *entry, char *text, size_t size)
{
	const bool host = strcmp(entry->name, "host") == 0;
	const bool number = isdigit((unsigned char)entry->value[0]);
	const struct field_alias *alias;

	if (!host && strcmp(entry->name, "switch") != 0)
		return false;
	for (unsigned int i = 0; read && i < read->n; i++) {
		if (!field_find(read->readers[i].fields, read->readers[i].n, "node", &alias))
			continue;
		snprintf(text, size, "node = %s%s", !number ? "" : host ? "h" : "s", entry->value);
		return true;
	}
	return false;
}

static int
finish_key(const struct config *cfg, const char *section, const struct config_entry *entry,
	   struct config_error *err)
{
	const struct read_section *read = find_read(cfg, section);
	struct nearest best = {.wanted = entry->name};
	const struct field_alias *alias;
	char node[64];

	for (unsigned int i = 0; read && i < read->n; i++)
		if (field_find(read->readers[i].fields, read->readers[i].n, entry->name, &alias))
			return 0;
	if (is_node(read, entry, node, sizeof(node)))
		best.name = node;
	for (unsigned int i = 0; read && i < read->n && best.name == NULL; i++)
		nearest_key(&best, &read->readers[i]);
	config_error_at(err, cfg->path, line_of(cfg, entry->line),
			" [%s] %s = %s: expected a known key%s%s", section, entry->name,
			entry->value, best.name ? ", such as " : "", best.name ? best.name : "");
	return -EINVAL;
}

static int
finish_in(const struct config *cfg, const struct config_store *store, const char *section,
	  struct config_error *err)
{
	const struct config_part *part = config_store_find(store, section);
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && part && i < part->n; i++)
		rc = finish_key(cfg, section, &part->entries[i], err);
	return rc;
}

int
config_finish_section(const struct config *cfg, const char *section, struct config_error *err)
{
	const struct config *last = cfg;
	int rc = finish_in(cfg, &cfg->set, section, err);

	for (; rc == 0 && last->under; rc = finish_in(cfg, &last->set, section, err))
		last = last->under;
	return rc == 0 ? finish_in(cfg, &last->file, section, err) : rc;
}

/* If the file has a misspelt name of the key, the error line has that name. */
static int
refuse_missing(const struct config *cfg, const char *section, const struct field *field,
	       struct config_error *err)
{
	char expected[FIELD_TEXT_SIZE];

	if (config_finish_section(cfg, section, err) != 0)
		return -EINVAL;
	field_expected(field, NULL, expected, sizeof(expected));
	config_error_at(err, cfg->path, section_line(cfg, section),
			" [%s] %s is missing: expected %s", section, field->name, expected);
	return -EINVAL;
}

int
config_read_new(struct config *cfg, const char *section, const struct field *fields, unsigned int n,
		void *object, struct config_error *err)
{
	int rc;

	if (field_defaults(fields, n, object) != 0) {
		config_error_set(err, cfg->path, " [%s] a built-in default is wrong", section);
		return -EINVAL;
	}
	rc = config_read(cfg, section, fields, n, object, err);
	for (unsigned int i = 0; rc == 0 && config_has(cfg, section) && i < n; i++)
		if (!fields[i].def && !find_given(cfg, section, &fields[i]).value)
			rc = refuse_missing(cfg, section, &fields[i], err);
	return rc;
}

static int
finish_section(const struct config *cfg, const char *section, struct config_error *err)
{
	struct nearest best = {.wanted = section};

	if (find_read(cfg, section))
		return config_finish_section(cfg, section, err);
	for (uint32_t i = 0; i < cfg->read_names.n; i++)
		nearest_try(&best, cfg->read[i]->name);
	config_error_at(err, cfg->path, section_line(cfg, section),
			" [%s]: expected a known section%s%s%s", section,
			best.name ? ", such as [" : "", best.name ? best.name : "",
			best.name ? "]" : "");
	return -EINVAL;
}

int
config_finish(const struct config *cfg, struct config_error *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < cfg->n_sections; i++)
		rc = finish_section(cfg, cfg->sections[i], err);
	return rc;
}
