/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on whole tables of fields: range checks of a struct that was not read from a file, and
 * the tables that together describe the params of a role.
 */
#ifndef QUENCH_BASE_FIELD_FIELD_TABLE_H
#define QUENCH_BASE_FIELD_FIELD_TABLE_H

#include "base/field/field.h"

/**
 * Refuse params in a check: write a clause that names the key and the rule. @return -EINVAL.
 */
__attribute__((format(printf, 3, 4))) int params_refuse(char *why, unsigned int why_size,
							const char *format, ...);

/**
 * Check that every number, word, address and map of object is in the range of its row. Strings are
 * not checked, because an empty one may stand for the default.
 * @return 0, or as params_refuse(): "rp_gd must be a number from 0 to 15".
 */
int fields_check(const struct field *fields, unsigned int n, const void *object, char *why,
		 unsigned int why_size);

/*
 * A section of a role's configuration: its table, and the offset of the table's object in the
 * role's params. Adjacent rows with one name share that section.
 */
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

/** Size of the row's member in an object, with the bool of or_default. */
size_t field_bytes(const struct field *field);

/** Copy the members of live rows that differ; nothing else of `to` is written. */
void field_sections_copy_live(const struct field_section *sections, unsigned int n,
			      const void *from, void *to);

/** field_defaults() and fields_check() for all sections. */
int field_sections_defaults(const struct field_section *sections, unsigned int n, void *params);
int field_sections_check(const struct field_section *sections, unsigned int n, const void *params,
			 char *why, unsigned int why_size);

#endif
