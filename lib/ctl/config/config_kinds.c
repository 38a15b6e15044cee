/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/config/config_kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The NAME of "word NAME", or NULL with err filled in. */
static const char *
name_of(const struct config *cfg, const struct config_kind *kind, const char *section,
	struct config_error *err)
{
	const char *name = strchr(section, ' ');
	const char *not = kind->not_in_name;
	char expected[128];

	if (name != NULL && strlen(name + 1) <= kind->name_chars &&
	    (not == NULL || strpbrk(name + 1, not ) == NULL))
		return name + 1;
	snprintf(expected, sizeof(expected), "[%s %s] with a name of 1 to %u characters%s%s%s",
		 kind->word, kind->name, kind->name_chars, not != NULL ? ", none of them '" : "",
		 not != NULL ? not : "", not != NULL ? "'" : "");
	config_refuse(cfg, section, NULL, expected, err);
	return NULL;
}

/* An owner's items of one kind. */
struct items {
	char **array;
	uint32_t *count;
	uint32_t n_before; /* number of items before the first section was read */
};

static struct items
items_of(const struct config_kind *kind, void *owner)
{
	uint32_t *count = (uint32_t *)((char *)owner + kind->count);

	return (struct items){(char **)((char *)owner + kind->items), count, *count};
}

static int
make_room(const struct config *cfg, const struct config_kind *kind, struct items *items,
	  struct config_error *err)
{
	size_t n = 0, used = *items->count * kind->item_bytes;
	char *grown;

	for (const char *s = NULL; (s = config_next(cfg, kind->word, s)) != NULL;)
		n++;
	if (n == 0)
		return 0;
	grown = realloc(*items->array, used + n * kind->item_bytes);
	if (grown == NULL) {
		config_refuse(cfg, kind->word, NULL, "fewer sections: out of memory", err);
		return -ENOMEM;
	}
	memset(grown + used, 0, n * kind->item_bytes);
	*items->array = grown;
	return 0;
}

/* Among the items of before, since sections have different names; not if a name has spellings. */
static char *
find(const struct config_kind *kind, const struct items *items, const char *name)
{
	uint32_t n = kind->spell != NULL ? *items->count : items->n_before;

	for (uint32_t i = 0; i < n; i++) {
		char *item = *items->array + i * kind->item_bytes;

		if (strcmp(item + kind->name_at, name) == 0)
			return item;
	}
	return NULL;
}

static int
refuse_unused(const struct config *cfg, const struct config_kind *kind, const char *section,
	      const void *item, struct config_error *err)
{
	for (unsigned int i = 0; kind->unused != NULL && i < *kind->n_fields; i++) {
		const char *expected = kind->unused(item, &kind->fields[i]);

		if (expected != NULL && config_gives(cfg, section, kind->fields[i].name))
			return config_refuse(cfg, section, kind->fields[i].name, expected, err);
	}
	return 0;
}

static int
read_item(struct config *cfg, const struct config_kind *kind, struct items *items,
	  const char *section, void *arg, struct config_error *err)
{
	const char *name = name_of(cfg, kind, section, err);
	char spelt[CONFIG_MAX_NAME + 1], *item;
	int rc;

	if (name == NULL)
		return -EINVAL;
	if (kind->spell != NULL) {
		kind->spell(arg, name, spelt, sizeof(spelt));
		name = spelt;
	}
	item = find(kind, items, name);
	if (item != NULL)
		return config_read(cfg, section, kind->fields, *kind->n_fields, item, err);
	item = *items->array + (*items->count)++ * kind->item_bytes;
	strcpy(item + kind->name_at, name);
	rc = config_read_new(cfg, section, kind->fields, *kind->n_fields, item, err);
	if (rc == 0)
		rc = refuse_unused(cfg, kind, section, item, err);
	return rc == 0 && kind->finish != NULL ? kind->finish(cfg, section, item, arg, err) : rc;
}

int
config_kinds_read(struct config *cfg, const struct config_kind *kinds, unsigned int n, void *owner,
		  void *arg, struct config_error *err)
{
	int rc = 0;

	for (unsigned int k = 0; rc == 0 && k < n; k++) {
		struct items items = items_of(&kinds[k], owner);

		rc = make_room(cfg, &kinds[k], &items, err);
		for (const char *s = NULL;
		     rc == 0 && (s = config_next(cfg, kinds[k].word, s)) != NULL;)
			rc = read_item(cfg, &kinds[k], &items, s, arg, err);
	}
	return rc;
}

/* Print the keys that have an effect. */
static void
print_used(struct config_rows *rows, const struct config_kind *kind, const char *section,
	   const char *item)
{
	for (unsigned int i = 0; i < *kind->n_fields; i++)
		if (kind->unused(item, &kind->fields[i]) == NULL)
			config_rows_add(rows, section, &kind->fields[i], 1, item, false);
}

void
config_kinds_rows(const struct config_kind *kinds, unsigned int n, const void *owner,
		  struct config_rows *rows)
{
	for (unsigned int k = 0; k < n; k++) {
		const struct items items = items_of(&kinds[k], (void *)(uintptr_t)owner);

		for (uint32_t i = 0; i < *items.count; i++) {
			const char *item = *items.array + i * kinds[k].item_bytes;
			char section[CONFIG_MAX_NAME + 1];

			snprintf(section, sizeof(section), "%s %s", kinds[k].word,
				 item + kinds[k].name_at);
			if (rows->out != NULL && kinds[k].unused != NULL)
				print_used(rows, &kinds[k], section, item);
			else
				config_rows_add(rows, section, kinds[k].fields, *kinds[k].n_fields,
						item, false);
			if (kinds[k].removable)
				config_rows_last_is_removable(rows);
		}
	}
}

void
config_kinds_print_reference(FILE *out, const struct config_kind *kinds, unsigned int n)
{
	for (unsigned int k = 0; k < n; k++) {
		char section[CONFIG_MAX_NAME + 1];

		snprintf(section, sizeof(section), "%s %s", kinds[k].word, kinds[k].name);
		config_print_reference(out, section, kinds[k].fields, *kinds[k].n_fields);
	}
}
