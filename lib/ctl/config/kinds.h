/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections that come in any number, each with a name after its word, such as [flow NAME]: a kind
 * says where their items are. Reading, comparing, printing and the reference are loops over kinds.
 */
#ifndef QUENCH_CTL_CONFIG_KINDS_H
#define QUENCH_CTL_CONFIG_KINDS_H

#include "ctl/config/compare.h"

struct config_kind {
	const char *word;
	const char *name; /* of the reference: what follows the word */
	const struct field *fields;
	const unsigned int *n_fields;
	size_t item_bytes;
	size_t name_at; /* of the text with the name in an item, whose fields are of the item */
	size_t items;   /* in the owner: of the array, which the owner frees */
	size_t count;   /* in the owner: of a uint32_t */
	unsigned int name_chars;
	const char *not_in_name; /* characters that no name has; NULL: all may be */
	bool may_go;             /* as of struct config_row */
	/* What is to be read and checked of a new item beside its fields; may be NULL.
	 * @return 0, or -errno with err filled in. */
	int (*finish)(struct config *cfg, const char *section, void *item, void *arg,
		      struct config_error *err);
};

/* clang-format off */
#define CONFIG_KIND(word_, name_, owner, item, table, array, chars)                                \
	.word = word_, .name = name_, .fields = table, .n_fields = &table##_n,                     \
	.item_bytes = sizeof(item), .name_at = offsetof(item, name),                               \
	.items = offsetof(owner, array),                                                           \
	.count = offsetof(owner, n_##array), .name_chars = chars
/* clang-format on */

/**
 * Read what cfg has of kinds: into the item of that name that owner has already, or into a new one
 * after those. Items that were read are owner's after a failure too.
 *
 * @param arg  Of finish().
 * @return     0, -EINVAL or -ENOMEM with err filled in.
 */
int config_kinds_read(struct config *cfg, const struct config_kind *kinds, unsigned int n,
		      void *owner, void *arg, struct config_error *err);

/** Rows of all items. */
void config_kinds_rows(const struct config_kind *kinds, unsigned int n, const void *owner,
		       struct config_rows *rows);

void config_kinds_print_reference(FILE *out, const struct config_kind *kinds, unsigned int n);

#endif
