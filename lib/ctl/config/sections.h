/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a role as a list of sections, each with its table and its place in the
 * role's params: reading, printing and the reference are loops over it. Two rows with one section
 * name in a row share that section.
 */
#ifndef QUENCH_CTL_CONFIG_SECTIONS_H
#define QUENCH_CTL_CONFIG_SECTIONS_H

#include "ctl/config/config.h"

struct config_section {
	const char *name;
	const struct field *fields;
	const unsigned int *n;
	size_t offset; /* of the table's object in the role's params */
};

/** Every section over what params holds: all defaults. @return as config_read(). */
int config_sections_read(struct config *cfg, const struct config_section *sections, unsigned int n,
			 void *params, struct config_error *err);

void config_sections_print(FILE *out, const struct config_section *sections, unsigned int n,
			   const void *params);

/** fixed: as config_row.fixed, of all of them. */
void config_sections_print_reference(FILE *out, const struct config_section *sections,
				     unsigned int n, bool fixed);

/**
 * Refuse for a rule across keys, as x_params_check() states it: the line blames the first key that
 * why names, one that the file gives if there is such. A why that begins "lossy: " or "port 1: "
 * speaks of the section whose name, or last word of it, that is.
 * @return -EINVAL with err filled in: "file: [section] key = value: why".
 */
int config_sections_refuse(const struct config *cfg, const struct config_section *sections,
			   unsigned int n, const void *params, const char *why,
			   struct config_error *err);

#endif
