/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the bytes of an INI file to sections and keys, checked line by line. Private to lib/ctl.
 *
 * rte_cfgfile keeps the sections and keys, but its own loader does not see the file: it skips lines
 * without '=', cuts long names and values, and takes the first of two equal keys, all in silence.
 */
#ifndef QUENCH_CTL_CONFIG_FILE_H
#define QUENCH_CTL_CONFIG_FILE_H

#include "ctl/config.h"

struct rte_cfgfile;

/** @return to be closed with rte_cfgfile_close(), or NULL with err filled in. */
struct rte_cfgfile *config_file_load(const char *path, struct config_error *err);

/** The same of a text, which is copied; path is what error lines call it. */
struct rte_cfgfile *config_file_parse(const char *path, const char *text, size_t size,
				      struct config_error *err);

enum config_set_fault { CONFIG_SET_OK, CONFIG_SET_FORM, CONFIG_SET_LENGTH };

/**
 * Take "section.key=value" apart: the key is behind the last dot before the '='. Arrays are of
 * rte_cfgfile's sizes.
 */
enum config_set_fault config_split_set(const char *text, char *section, char *key, char *value);

/** Fill err like printf, with the path in front (its end, when it is long). */
__attribute__((format(printf, 3, 4))) void
config_error_set(struct config_error *err, const char *path, const char *format, ...);

#endif
