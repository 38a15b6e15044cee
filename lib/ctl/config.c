/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cfgfile.h>

#include "ctl/config_file.h"
#include "ctl/nearest.h"

/* A table that has read a section. What no table knows is refused in the end. */
struct reader {
	char section[CFG_NAME_LEN];
	const struct field *fields;
	unsigned int n;
};

struct config {
	char *path;
	struct rte_cfgfile *file;
	struct rte_cfgfile *set;        /* what config_set() says; goes before file */
	char (*sections)[CFG_NAME_LEN]; /* in file order, then those of set alone */
	int n_sections;
	struct reader *readers;
	unsigned int n_readers;
};

static int
list_sections(struct config *cfg)
{
	char **names;
	int n = rte_cfgfile_num_sections(cfg->file, NULL, 0);

	if (n <= 0)
		return 0;
	cfg->sections = calloc((size_t)n, sizeof(cfg->sections[0]));
	names = calloc((size_t)n, sizeof(names[0]));
	if (!cfg->sections || !names) {
		free(names);
		return -ENOMEM;
	}
	for (int i = 0; i < n; i++)
		names[i] = cfg->sections[i];
	cfg->n_sections = rte_cfgfile_sections(cfg->file, names, n);
	free(names);
	return 0;
}

/* text: NULL for what stands in the file. */
static struct config *
open_config(const char *path, const char *text, size_t size, struct config_error *err)
{
	struct config *cfg = calloc(1, sizeof(*cfg));

	if (cfg)
		cfg->path = strdup(path);
	if (!cfg || !cfg->path) {
		config_error_set(err, path, " out of memory");
		config_close(cfg);
		return NULL;
	}
	cfg->file = text ? config_file_parse(path, text, size, err) : config_file_load(path, err);
	if (cfg->file)
		cfg->set = rte_cfgfile_create(0);
	if (cfg->set && list_sections(cfg) == 0)
		return cfg;
	if (cfg->file)
		config_error_set(err, path, " out of memory");
	config_close(cfg);
	return NULL;
}

struct config *
config_open(const char *path, struct config_error *err)
{
	return open_config(path, NULL, 0, err);
}

struct config *
config_open_text(const char *path, const char *text, size_t size, struct config_error *err)
{
	return open_config(path, text, size, err);
}

void
config_close(struct config *cfg)
{
	if (!cfg)
		return;
	if (cfg->file)
		rte_cfgfile_close(cfg->file);
	if (cfg->set)
		rte_cfgfile_close(cfg->set);
	free(cfg->readers);
	free(cfg->sections);
	free(cfg->path);
	free(cfg);
}

static int
refuse_set(const char *text, const char *expected, struct config_error *err)
{
	snprintf(err->text, sizeof(err->text), "--set %.400s: expected %s", text, expected);
	return -EINVAL;
}

static int
add_section(struct config *cfg, const char *name)
{
	char(*grown)[CFG_NAME_LEN];

	if (rte_cfgfile_has_section(cfg->set, name))
		return 0;
	if (rte_cfgfile_add_section(cfg->set, name) != 0)
		return -ENOMEM;
	if (rte_cfgfile_has_section(cfg->file, name))
		return 0;
	grown = realloc(cfg->sections, ((size_t)cfg->n_sections + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	cfg->sections = grown;
	strcpy(grown[cfg->n_sections++], name);
	return 0;
}

int
config_set(struct config *cfg, const char *text, struct config_error *err)
{
	char section[CFG_NAME_LEN], key[CFG_NAME_LEN], value[CFG_VALUE_LEN];
	enum config_set_fault fault = config_split_set(text, section, key, value);

	if (fault == CONFIG_SET_FORM)
		return refuse_set(text, "SECTION.KEY=VALUE, such as wred.Kmax=400KB", err);
	if (fault == CONFIG_SET_LENGTH)
		return refuse_set(text, "shorter names or a shorter value", err);
	if (rte_cfgfile_has_entry(cfg->set, section, key))
		return refuse_set(text, "each key once", err);
	if (add_section(cfg, section) != 0 ||
	    rte_cfgfile_add_entry(cfg->set, section, key, value) != 0) {
		config_error_set(err, cfg->path, " out of memory");
		return -ENOMEM;
	}
	return 0;
}

const char *
config_path(const struct config *cfg)
{
	return cfg->path;
}

void
config_beside(const struct config *cfg, const char *name, char *path, size_t size)
{
	const char *own = config_path(cfg), *slash = strrchr(own, '/');

	if (name[0] == '/' || slash == NULL)
		snprintf(path, size, "%s", name);
	else
		snprintf(path, size, "%.*s/%s", (int)(slash - own), own, name);
}

bool
config_has(const struct config *cfg, const char *section)
{
	return rte_cfgfile_has_section(cfg->file, section) ||
	       rte_cfgfile_has_section(cfg->set, section);
}

const char *
config_next(const struct config *cfg, const char *word, const char *previous)
{
	size_t n = strlen(word);
	int i = 0;

	if (previous)
		i = (int)((previous - cfg->sections[0]) / CFG_NAME_LEN) + 1;
	for (; i < cfg->n_sections; i++)
		if (strncmp(cfg->sections[i], word, n) == 0 &&
		    (cfg->sections[i][n] == '\0' || cfg->sections[i][n] == ' '))
			return cfg->sections[i];
	return NULL;
}

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
	int rc = finish_in(cfg, cfg->set, section, err);

	return rc == 0 ? finish_in(cfg, cfg->file, section, err) : rc;
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
