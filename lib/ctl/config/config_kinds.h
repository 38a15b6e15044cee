/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of sections, such as [flow NAME]: a file may have any number of sections of a kind, each
 * with its own name. A kind says where the items of its sections are stored. The functions that
 * read, compare and print sections, or print the reference, are loops over kinds.
 */
#ifndef QUENCH_CTL_CONFIG_CONFIG_KINDS_H
#define QUENCH_CTL_CONFIG_CONFIG_KINDS_H

#include "ctl/config/config_compare.h"

struct config_kind {
	const char *word;
	const char *name; /* placeholder after the word in the reference */
	const struct field *fields;
	const unsigned int *n_fields;
	size_t item_bytes;
	size_t name_at; /* offset of the name (text) in an item; fields are relative to the item */
	size_t items;   /* offset in the owner of the array, which the owner frees */
	size_t count;   /* offset in the owner of a uint32_t: number of items */
	unsigned int name_chars;
	const char *not_in_name; /* characters not allowed in a name; NULL: none */
	bool removable;          /* as of struct config_row */
	/* Writes the one spelling of a name that may have several; NULL: names are as written. */
	void (*spell)(const void *arg, const char *name, char *out, size_t size);
	/* Reads and checks the parts of a new item that are not fields; may be NULL.
	 * @return 0, or -errno with err filled in. */
	int (*finish)(struct config *cfg, const char *section, void *item, void *arg,
		      struct config_error *err);
	/* A key that has no effect in this item: what is expected instead of it. NULL: it has one.
	 * Such a key is refused if it is given, and not printed. May be NULL. */
	const char *(*unused)(const void *item, const struct field *field);
};

/* clang-format off */
#define CONFIG_KIND(word_, name_, owner, item, table, array, chars)                                \
	.word = word_, .name = name_, .fields = table, .n_fields = &table##_n,                     \
	.item_bytes = sizeof(item), .name_at = offsetof(item, name),                               \
	.items = offsetof(owner, array),                                                           \
	.count = offsetof(owner, n_##array), .name_chars = chars
/* clang-format on */

/**
 * Read all sections of these kinds: into owner's item of that name, or into a new item at the end.
 * Owner keeps the items that were read, even after a failure.
 *
 * @param arg  Passed to spell() and finish().
 * @return     0, -EINVAL or -ENOMEM with err filled in.
 */
int config_kinds_read(struct config *cfg, const struct config_kind *kinds, unsigned int n,
		      void *owner, void *arg, struct config_error *err);

/** Rows of all items. */
void config_kinds_rows(const struct config_kind *kinds, unsigned int n, const void *owner,
		       struct config_rows *rows);

void config_kinds_print_reference(FILE *out, const struct config_kind *kinds, unsigned int n);

#endif
