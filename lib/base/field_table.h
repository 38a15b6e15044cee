/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is done to whole tables of fields: the ranges of a struct that no file was read into, and
 * the list of tables that a role's params are made of.
 */
#ifndef QUENCH_BASE_FIELD_TABLE_H
#define QUENCH_BASE_FIELD_TABLE_H

#include "base/field.h"

/**
 * What a check of params does when it refuses them: write a clause that names the key and the rule.
 * @return -EINVAL.
 */
__attribute__((format(printf, 3, 4))) int params_refuse(char *why, unsigned int why_size,
							const char *format, ...);

/**
 * Is every number, word, address and map of object in the range of its row? Texts are not looked
 * at: an empty one may stand for the default.
 * @return 0, or as params_refuse(): "rp_gd must be a number from 0 to 15".
 */
int fields_check(const struct field *fields, unsigned int n, const void *object, char *why,
		 unsigned int why_size);

/* A section of a role's configuration: its table, and where the table's object is in the role's
 * params. Rows of one name in a row share that section. */
struct field_section {
	const char *name;
	const struct field *fields;
	const unsigned int *n;
	size_t offset;
};

#define FIELD_SECTION(name, table, owner, member)                                                  \
	{                                                                                          \
		name, table, &table##_n, offsetof(owner, member)                                   \
	}

/** field_defaults(), fields_check() of all of them. */
int field_sections_defaults(const struct field_section *sections, unsigned int n, void *params);
int field_sections_check(const struct field_section *sections, unsigned int n, const void *params,
			 char *why, unsigned int why_size);

#endif
