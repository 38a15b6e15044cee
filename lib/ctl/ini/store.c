/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ini/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
config_store_free(struct config_store *s)
{
	for (uint32_t i = 0; i < s->names.n; i++) {
		struct config_part *part = s->parts[i];

		for (unsigned int k = 0; k < part->n; k++)
			free(part->entries[k].value);
		free(part->entries);
		free(part);
	}
	free(s->parts);
	names_free(&s->names);
	*s = (struct config_store){0};
}

struct config_part *
config_store_find(const struct config_store *s, const char *section)
{
	uint32_t i = names_find(&s->names, section);

	return i == NAMES_NONE || s->parts[i]->removed ? NULL : s->parts[i];
}

struct config_part *
config_store_add(struct config_store *s, const char *section)
{
	struct config_part *part;

	if (s->names.n == s->capacity) {
		uint32_t capacity = s->capacity == 0 ? 16 : 2 * s->capacity;
		struct config_part **parts = realloc(s->parts, capacity * sizeof(*parts));

		if (parts == NULL)
			return NULL;
		s->parts = parts;
		s->capacity = capacity;
	}
	part = calloc(1, sizeof(*part));
	if (part == NULL)
		return NULL;
	strcpy(part->name, section);
	/* Until its name is in the index, the section is not part of the store. */
	s->parts[s->names.n] = part;
	if (names_add(&s->names, part->name) == NAMES_NONE) {
		free(part);
		return NULL;
	}
	return part;
}

const struct config_entry *
config_part_find(const struct config_part *part, const char *key)
{
	for (unsigned int i = part->n; i-- > 0;)
		if (strcmp(part->entries[i].name, key) == 0)
			return &part->entries[i];
	return NULL;
}

int
config_part_add(struct config_part *part, const char *key, const char *value, unsigned int line)
{
	struct config_entry *entry;

	if (part->n == part->capacity) {
		unsigned int capacity = part->capacity == 0 ? 8 : 2 * part->capacity;
		struct config_entry *entries = realloc(part->entries, capacity * sizeof(*entries));

		if (entries == NULL)
			return -ENOMEM;
		part->entries = entries;
		part->capacity = capacity;
	}
	entry = &part->entries[part->n];
	strcpy(entry->name, key);
	entry->line = line;
	entry->value = strdup(value);
	if (entry->value == NULL)
		return -ENOMEM;
	part->n++;
	return 0;
}
