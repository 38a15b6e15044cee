/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of a role as a list of sections (base/field_table.h), each with its table and
 * its place in the role's params: reading, comparing, printing and the reference are loops over it.
 */
#ifndef QUENCH_CTL_CONFIG_SECTIONS_H
#define QUENCH_CTL_CONFIG_SECTIONS_H

#include "ctl/config/compare.h"

/** Every section over what params holds: all defaults. @return as config_read(). */
int config_sections_read(struct config *cfg, const struct field_section *sections, unsigned int n,
			 void *params, struct config_error *err);

/** A row for each. fixed: as config_row.fixed, of all of them. */
void config_sections_rows(const struct field_section *sections, unsigned int n, const void *params,
			  bool fixed, struct config_rows *rows);

/** config_read() of each row, whose objects are the caller's to change. */
int config_rows_read(struct config *cfg, const struct config_rows *rows, struct config_error *err);

/**
 * Refuse for a rule across keys, as x_params_check() states it: the line blames the first key that
 * why names, one that cfg gives if there is such. A why that begins "lossy: " or "port 1: " speaks
 * of the section whose name, or last word of it, that is.
 * @param rows  Of the params that were checked.
 * @return      -EINVAL with err filled in: "file: [section] key = value: why".
 */
int config_rows_refuse(const struct config *cfg, const struct config_rows *rows, const char *why,
		       struct config_error *err);

#endif
