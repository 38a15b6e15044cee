/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/config_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/config_file.h"

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

struct config *
config_over(const struct config *under, const char *name, struct config_error *err)
{
	size_t bytes = (size_t)under->n_sections * sizeof(under->sections[0]);
	struct config *cfg = calloc(1, sizeof(*cfg));

	if (cfg) {
		cfg->under = under;
		cfg->path = strdup(name);
		cfg->set = rte_cfgfile_create(0);
		cfg->sections = malloc(bytes + 1);
	}
	if (!cfg || !cfg->path || !cfg->set || !cfg->sections) {
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

static int
add_section(struct config *cfg, const char *name)
{
	char(*grown)[CFG_NAME_LEN];

	bool known = config_has(cfg, name);

	if (rte_cfgfile_has_section(cfg->set, name))
		return 0;
	if (rte_cfgfile_add_section(cfg->set, name) != 0)
		return -ENOMEM;
	if (known)
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
		return refuse_set(cfg, text, "SECTION.KEY=VALUE, such as wred.Kmax=400KB", err);
	if (fault == CONFIG_SET_LENGTH)
		return refuse_set(cfg, text, "shorter names or a shorter value", err);
	if (rte_cfgfile_has_entry(cfg->set, section, key))
		return refuse_set(cfg, text, "each key once", err);
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
		if (rte_cfgfile_has_section(cfg->set, section))
			return true;
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
