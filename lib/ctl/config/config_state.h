/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A configuration: a file, the keys that config_set() has set over it, and the tables that have
 * read them. Private to lib/ctl.
 */
#ifndef QUENCH_CTL_CONFIG_CONFIG_STATE_H
#define QUENCH_CTL_CONFIG_CONFIG_STATE_H

#include "ctl/ini/store.h"

/* A table that has read a section. config_finish() refuses keys that no table knows. */
struct reader {
	const struct field *fields;
	unsigned int n;
};

struct read_section {
	char name[CONFIG_MAX_NAME + 1];
	struct reader *readers;
	unsigned int n;
};

/* Values that are probably mistakes, each a line like an error's. */
struct config_doubts {
	char **lines;
	unsigned int n;
};

struct config {
	char *path;   /* shown in error lines */
	bool changes; /* config_changes() */
	/* looked up after set; NULL: `file` is looked up instead */
	const struct config *under;
	struct config_store file;              /* empty if under is not NULL */
	struct config_store set;               /* from config_set() */
	char (*sections)[CONFIG_MAX_NAME + 1]; /* in file order, then those that are only set */
	int n_sections;
	struct names read_names; /* of read[] */
	struct read_section **read;
	unsigned int read_capacity;
	struct config_doubts doubts;
};

#endif
