/* SPDX-License-Identifier: BSD-3-Clause */
/* What config.c (files, what is set over them) and config_read.c (tables over both) share. Private
 * to lib/ctl. */
#ifndef QUENCH_CTL_CONFIG_INTERNAL_H
#define QUENCH_CTL_CONFIG_INTERNAL_H

#include <rte_cfgfile.h>

#include "ctl/config.h"

/* A table that has read a section. What no table knows is refused in the end. */
struct reader {
	char section[CFG_NAME_LEN];
	const struct field *fields;
	unsigned int n;
};

struct config {
	char *path;                     /* what error lines call it */
	const struct config *under;     /* goes behind set; NULL: file does */
	struct rte_cfgfile *file;       /* NULL: there is one under */
	struct rte_cfgfile *set;        /* what config_set() says */
	char (*sections)[CFG_NAME_LEN]; /* in file order, then those that are only set */
	int n_sections;
	struct reader *readers;
	unsigned int n_readers;
};

#endif
