/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/config/config_state.h"
#include "ctl/ini/file.h"
#include "ctl/yaml/yaml_file.h"

static int
list_sections(struct config *cfg)
{
	uint32_t n = cfg->file.names.n;

	cfg->sections = calloc((size_t)n + 1, sizeof(cfg->sections[0]));
	if (!cfg->sections)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		strcpy(cfg->sections[i], cfg->file.parts[i]->name);
	cfg->n_sections = (int)n;
	return 0;
}

/* text: NULL to read the file. */
static struct config *
open_config(const char *path, const char *text, size_t size, struct config_error *err)
{
	struct config *cfg = calloc(1, sizeof(*cfg));
	int rc;

	if (cfg)
		cfg->path = strdup(path);
	if (!cfg || !cfg->path) {
		config_error_set(err, path, " out of memory");
		config_close(cfg);
		return NULL;
	}
	if (text)
		rc = config_file_parse(path, text, size, &cfg->file, err);
	else if (yaml_file_is(path))
		rc = yaml_file_load(path, &cfg->file, err);
	else
		rc = config_file_load(path, &cfg->file, err);
	if (rc == 0 && list_sections(cfg) == 0)
		return cfg;
	if (rc == 0)
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
	config_store_free(&cfg->file);
	config_store_free(&cfg->set);
	for (uint32_t i = 0; i < cfg->read_names.n; i++) {
		free(cfg->read[i]->readers);
		free(cfg->read[i]);
	}
	free(cfg->read);
	names_free(&cfg->read_names);
	for (unsigned int i = 0; i < cfg->doubts.n; i++)
		free(cfg->doubts.lines[i]);
	free(cfg->doubts.lines);
	free(cfg->sections);
	free(cfg->path);
	free(cfg);
}

struct config *
config_over(const struct config *under, const char *name, struct config_error *err)
{
	size_t bytes = (size_t)under->n_sections * sizeof(under->sections[0]);
	struct config *cfg = calloc(1, sizeof(*cfg));

	if (cfg) {
		cfg->under = under;
		cfg->path = strdup(name);
		cfg->sections = malloc(bytes + 1);
	}
	if (!cfg || !cfg->path || !cfg->sections) {
		config_error_set(err, name, " out of memory");
		config_close(cfg);
		return NULL;
	}
	memcpy(cfg->sections, under->sections, bytes);
	cfg->n_sections = under->n_sections;
	return cfg;
}

static int
refuse_set(const struct config *cfg, const char *text, const char *expected,
	   struct config_error *err)
{
	if (cfg->under)
		config_error_set(err, cfg->path, " %.400s: expected %s", text, expected);
	else
		snprintf(err->text, sizeof(err->text), "--set %.400s: expected %s", text, expected);
	return -EINVAL;
}

/* A section of cfg->set. @return NULL: no memory. */
static struct config_part *
section_to_set(struct config *cfg, const char *name)
{
	struct config_part *part = config_store_find(&cfg->set, name);
	bool known = config_has(cfg, name);
	char(*grown)[CONFIG_MAX_NAME + 1];

	if (!part)
		part = config_store_add(&cfg->set, name);
	if (!part || known)
		return part;
	grown = realloc(cfg->sections, ((size_t)cfg->n_sections + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	cfg->sections = grown;
	strcpy(grown[cfg->n_sections++], name);
	return part;
}

static int
set_pair(struct config *cfg, const struct config_pair *pair, struct config_error *err)
{
	struct config_part *part = section_to_set(cfg, pair->section);

	if (part && (pair->key[0] == '\0' || config_part_add(part, pair->key, pair->value, 0) == 0))
		return 0;
	config_error_set(err, cfg->path, " out of memory");
	return -ENOMEM;
}

int
config_set(struct config *cfg, const char *text, struct config_error *err)
{
	struct config_pair pair;
	enum config_set_fault fault = config_split_set(text, pair.section, pair.key, pair.value);

	if (fault == CONFIG_SET_FORM)
		return refuse_set(cfg, text, "SECTION.KEY=VALUE, such as wred.Kmax=400KB", err);
	if (fault == CONFIG_SET_LENGTH)
		return refuse_set(cfg, text, "shorter names or a shorter value", err);
	return set_pair(cfg, &pair, err);
}

int
config_copy(struct config *cfg, const struct config *from,
	    bool (*take)(void *arg, struct config_pair *pair), void *arg, struct config_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < from->file.names.n; i++) {
		const struct config_part *part = from->file.parts[i];

		for (unsigned int k = 0; rc == 0 && k < part->n + (part->n == 0); k++) {
			struct config_pair pair = {.key = ""};

			strcpy(pair.section, part->name);
			if (part->n > 0) {
				strcpy(pair.key, part->entries[k].name);
				strcpy(pair.value, part->entries[k].value);
			}
			if (take(arg, &pair))
				rc = set_pair(cfg, &pair, err);
		}
	}
	return rc;
}

unsigned int
config_forget(struct config *cfg, const char *word)
{
	unsigned int n = 0;
	const char *at;

	for (; (at = config_next(cfg, word, NULL)) != NULL; n++) {
		int i = (int)((at - cfg->sections[0]) / (CONFIG_MAX_NAME + 1));

		config_store_find(&cfg->file, at)->removed = true;
		cfg->n_sections--;
		memmove(cfg->sections + i, cfg->sections + i + 1,
			(size_t)(cfg->n_sections - i) * sizeof(cfg->sections[0]));
	}
	return n;
}

const char *
config_doubt(const struct config *cfg, unsigned int i)
{
	return i < cfg->doubts.n ? cfg->doubts.lines[i] : NULL;
}

void
config_changes(struct config *cfg)
{
	cfg->changes = true;
}

const char *
config_path(const struct config *cfg)
{
	return cfg->path;
}

void
config_beside(const struct config *cfg, const char *name, char *path, size_t size)
{
	const char *own, *slash;

	while (cfg->under)
		cfg = cfg->under;
	own = cfg->path;
	slash = strrchr(own, '/');
	if (name[0] == '/' || slash == NULL)
		snprintf(path, size, "%s", name);
	else
		snprintf(path, size, "%.*s/%s", (int)(slash - own), own, name);
}

bool
config_has(const struct config *cfg, const char *section)
{
	for (; cfg->under; cfg = cfg->under)
		if (config_store_find(&cfg->set, section))
			return true;
	return config_store_find(&cfg->file, section) || config_store_find(&cfg->set, section);
}

const char *
config_next(const struct config *cfg, const char *word, const char *previous)
{
	size_t n = strlen(word);
	int i = 0;

	if (previous)
		i = (int)((previous - cfg->sections[0]) / (CONFIG_MAX_NAME + 1)) + 1;
	for (; i < cfg->n_sections; i++)
		if (strncmp(cfg->sections[i], word, n) == 0 &&
		    (cfg->sections[i][n] == '\0' || cfg->sections[i][n] == ' '))
			return cfg->sections[i];
	return NULL;
}
