/* SPDX-License-Identifier: BSD-3-Clause */
/* Parse an INI file into sections and keys, checked line by line. */
#ifndef QUENCH_CTL_INI_FILE_H
#define QUENCH_CTL_INI_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "ctl/ini/config_error.h"
#include "ctl/ini/store.h"

/**
 * The text of a regular file, with a zero after it.
 * @return owned by the caller, or NULL with err filled in.
 */
char *config_file_text(const char *path, size_t *size, struct config_error *err);

/**
 * Open a regular file, to which a configuration refers. A FIFO would block the program.
 * @return owned by the caller, or NULL with *fault the reason.
 */
FILE *config_file_stream(const char *path, const char **fault);

/**
 * Read a file into an empty store.
 * @return 0, or -EINVAL with err filled in. config_store_free() in both cases.
 */
int config_file_load(const char *path, struct config_store *out, struct config_error *err);

/** The same for a text, which is copied; error lines show path. */
int config_file_parse(const char *path, const char *text, size_t size, struct config_store *out,
		      struct config_error *err);

enum config_set_fault { CONFIG_SET_OK, CONFIG_SET_FORM, CONFIG_SET_LENGTH };

/**
 * Split "section.key=value": the key follows the last dot before the '='. section and key have
 * room for CONFIG_MAX_NAME characters and a zero, value for CONFIG_MAX_VALUE.
 */
enum config_set_fault config_split_set(const char *text, char *section, char *key, char *value);

#endif
