/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A configuration as YAML or JSON: a mapping of sections, each a mapping of keys to texts or
 * numbers as an INI file has them.
 *
 *   switch:
 *     buffer_bytes: 4MB
 *   port 0:
 *     link_speed_bps: 100G
 *
 * Lists, tags, aliases and further documents are errors.
 */
#ifndef QUENCH_CTL_YAML_YAML_FILE_H
#define QUENCH_CTL_YAML_YAML_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "ctl/ini/config_error.h"
#include "ctl/ini/store.h"

/** Does the name of the file end in .yaml, .yml or .json? */
bool yaml_file_is(const char *path);

/**
 * Read a file into an empty store; one that ends in .json must be JSON.
 * @return 0, or -EINVAL with err filled in. config_store_free() in both cases.
 */
int yaml_file_load(const char *path, struct config_store *out, struct config_error *err);

/** The same for a text, which may be changed; error lines show path. */
int yaml_file_parse(const char *path, char *text, size_t size, struct config_store *out,
		    struct config_error *err);

#endif
