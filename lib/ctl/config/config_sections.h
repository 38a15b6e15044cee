/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a role as a list of sections (base/field/field_table.h), each with its table
 * and its place in the role's params: reading, comparing, printing and the reference are loops over
 * it.
 */
#ifndef QUENCH_CTL_CONFIG_CONFIG_SECTIONS_H
#define QUENCH_CTL_CONFIG_CONFIG_SECTIONS_H

#include "ctl/config/config_compare.h"

/** Read every section into params; keys not given keep their values. @return as config_read(). */
int config_sections_read(struct config *cfg, const struct field_section *sections, unsigned int n,
			 void *params, struct config_error *err);

/** config_refuse_given() of the keys of all sections. */
int config_sections_refuse(const struct config *cfg, const struct field_section *sections,
			   unsigned int n, const char *expected, struct config_error *err);

/** Add a row for each section. fixed: config_row.fixed of all these rows. */
void config_sections_rows(const struct field_section *sections, unsigned int n, const void *params,
			  bool fixed, struct config_rows *rows);

/** config_read() of each row; writes to the rows' objects. */
int config_rows_read(struct config *cfg, const struct config_rows *rows, struct config_error *err);

/**
 * Refuse params that break a rule across keys, with the clause (why) of x_params_check(). The line
 * blames the first key that why names, preferably one that cfg gives. A why that begins "lossy: "
 * or "port 1: " is about the section with that name, or with that last word in its name.
 * @param rows  Rows of the params that were checked.
 * @return      -EINVAL with err filled in: "file:line: [section] key = value: why".
 */
int config_rows_refuse(const struct config *cfg, const struct config_rows *rows, const char *why,
		       struct config_error *err);

#endif
