/* SPDX-License-Identifier: BSD-3-Clause */
/* Field tables over what a file says and what is set over it. */
#include "ctl/config_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/config_file.h"
#include "ctl/nearest.h"

static int
remember_reader(struct config *cfg, const char *section, const struct field *fields, unsigned int n)
{
	struct reader *grown;

	for (unsigned int i = 0; i < cfg->n_readers; i++)
		if (cfg->readers[i].fields == fields && cfg->readers[i].n == n &&
		    strcmp(cfg->readers[i].section, section) == 0)
			return 0;
	grown = realloc(cfg->readers, (cfg->n_readers + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	cfg->readers = grown;
	grown += cfg->n_readers++;
	snprintf(grown->section, sizeof(grown->section), "%s", section);
	grown->fields = fields;
	grown->n = n;
	return 0;
}

/* What the file says about a field, under its name or an alias. */
struct given {
	const char *name;
	const char *value;
	const struct field_alias *alias;
	const char *again; /* a second word for the same field */
};

static struct given
given_in(struct rte_cfgfile *file, const char *section, const struct field *field)
{
	struct given g = {0};

	if (!rte_cfgfile_has_section(file, section))
		return g;
	g.value = rte_cfgfile_get_entry(file, section, field->name);
	g.name = field->name;
	for (int a = 0; a < FIELD_ALIASES && field->aliases[a].name; a++) {
		const char *name = field->aliases[a].name;
		const char *value = rte_cfgfile_get_entry(file, section, name);

		if (value && g.value) {
			g.again = name;
		} else if (value) {
			g.name = name;
			g.value = value;
			g.alias = &field->aliases[a];
		}
	}
	return g;
}

static struct given
find_given(const struct config *cfg, const char *section, const struct field *field)
{
	struct given g = given_in(cfg->set, section, field);

	for (; !g.value && cfg->under; g = given_in(cfg->set, section, field))
		cfg = cfg->under;
	return g.value ? g : given_in(cfg->file, section, field);
}

static int
read_field(const struct config *cfg, const char *section, const struct field *field, void *object,
	   struct config_error *err)
{
	struct given g = find_given(cfg, section, field);
	char expected[FIELD_TEXT_SIZE];

	if (g.again) {
		config_error_set(err, cfg->path,
				 " [%s] %s = %s: expected one of %s and %s, which "
				 "are the same",
				 section, g.name, g.value, g.name, g.again);
		return -EINVAL;
	}
	if (!g.value ||
	    field_parse(field, g.alias, g.value, object, expected, sizeof(expected)) == 0)
		return 0;
	config_error_set(err, cfg->path, " [%s] %s = %s: expected %s", section, g.name, g.value,
			 expected);
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

static struct given
find_key(const struct config *cfg, const char *section, const char *key)
{
	for (unsigned int i = 0; i < cfg->n_readers; i++) {
		const struct reader *r = &cfg->readers[i];
		const struct field_alias *alias;
		const struct field *field;

		if (strcmp(r->section, section) != 0)
			continue;
		field = field_find(r->fields, r->n, key, &alias);
		if (field)
			return find_given(cfg, section, field);
	}
	return (struct given){0};
}

bool
config_gives(const struct config *cfg, const char *section, const char *key)
{
	return find_key(cfg, section, key).value != NULL;
}

int
config_refuse(const struct config *cfg, const char *section, const char *key, const char *expected,
	      struct config_error *err)
{
	struct given g = {0};

	if (key)
		g = find_key(cfg, section, key);
	if (!key)
		config_error_set(err, cfg->path, " [%s]: expected %s", section, expected);
	else if (g.value)
		config_error_set(err, cfg->path, " [%s] %s = %s: expected %s", section, g.name,
				 g.value, expected);
	else
		config_error_set(err, cfg->path, " [%s] %s: expected %s", section, key, expected);
	return -EINVAL;
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

static int
finish_key(const struct config *cfg, const char *section, const struct rte_cfgfile_entry *entry,
	   struct config_error *err)
{
	struct nearest best = {.wanted = entry->name};
	const struct field_alias *alias;

	for (unsigned int i = 0; i < cfg->n_readers; i++) {
		const struct reader *r = &cfg->readers[i];

		if (strcmp(r->section, section) != 0)
			continue;
		if (field_find(r->fields, r->n, entry->name, &alias))
			return 0;
		nearest_key(&best, r);
	}
	if (best.name)
		config_error_set(err, cfg->path, " [%s] %s = %s: expected a known key, such as %s",
				 section, entry->name, entry->value, best.name);
	else
		config_error_set(err, cfg->path, " [%s] %s = %s: expected a known key", section,
				 entry->name, entry->value);
	return -EINVAL;
}

static int
finish_in(const struct config *cfg, struct rte_cfgfile *file, const char *section,
	  struct config_error *err)
{
	int n = rte_cfgfile_section_num_entries(file, section), rc = 0;
	struct rte_cfgfile_entry *entries;

	if (n <= 0)
		return 0;
	entries = calloc((size_t)n, sizeof(*entries));
	if (!entries) {
		config_error_set(err, cfg->path, " out of memory");
		return -ENOMEM;
	}
	n = rte_cfgfile_section_entries(file, section, entries, n);
	for (int i = 0; rc == 0 && i < n; i++)
		rc = finish_key(cfg, section, &entries[i], err);
	free(entries);
	return rc;
}

int
config_finish_section(const struct config *cfg, const char *section, struct config_error *err)
{
	const struct config *last = cfg;
	int rc = finish_in(cfg, cfg->set, section, err);

	for (; rc == 0 && last->under; rc = finish_in(cfg, last->set, section, err))
		last = last->under;
	return rc == 0 ? finish_in(cfg, last->file, section, err) : rc;
}

/* A key that is missing may stand there misspelt: then that is the better thing to say. */
static int
refuse_missing(const struct config *cfg, const char *section, const struct field *field,
	       struct config_error *err)
{
	char expected[FIELD_TEXT_SIZE];

	if (config_finish_section(cfg, section, err) != 0)
		return -EINVAL;
	field_expected(field, NULL, expected, sizeof(expected));
	config_error_set(err, cfg->path, " [%s] %s is missing: expected %s", section, field->name,
			 expected);
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

	for (unsigned int i = 0; i < cfg->n_readers; i++) {
		if (strcmp(cfg->readers[i].section, section) == 0)
			return config_finish_section(cfg, section, err);
		nearest_try(&best, cfg->readers[i].section);
	}
	config_error_set(err, cfg->path, " [%s]: expected a known section%s%s%s", section,
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
