/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sets/names.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16u

/* FNV-1a, 32 bits. */
static uint32_t
hash_of(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name != '\0'; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	return h;
}

/* The slot of the name, or the free slot where it belongs. At least half of the slots are free. */
static uint32_t *
slot_of(const struct names *names, const char *name)
{
	uint32_t mask = 2 * names->capacity - 1;
	uint32_t at = hash_of(name) & mask;

	while (names->slots[at] != 0 && strcmp(names->names[names->slots[at] - 1], name) != 0)
		at = (at + 1) & mask;
	return &names->slots[at];
}

static int
grow(struct names *names)
{
	struct names grown = {.n = names->n,
			      .capacity = names->capacity == 0 ? FIRST_ROOM : 2 * names->capacity};

	grown.slots = calloc(2 * (size_t)grown.capacity, sizeof(*grown.slots));
	grown.names = grown.slots == NULL
			      ? NULL
			      : realloc(names->names, grown.capacity * sizeof(*grown.names));
	if (grown.names == NULL) {
		free(grown.slots);
		return -1;
	}
	for (uint32_t i = 0; i < names->n; i++)
		*slot_of(&grown, grown.names[i]) = i + 1;
	free(names->slots);
	*names = grown;
	return 0;
}

void
names_free(struct names *names)
{
	free(names->names);
	free(names->slots);
	*names = (struct names){0};
}

uint32_t
names_add(struct names *names, const char *name)
{
	if (names->n == names->capacity && grow(names) != 0)
		return NAMES_NONE;
	names->names[names->n] = name;
	*slot_of(names, name) = names->n + 1;
	return names->n++;
}

uint32_t
names_find(const struct names *names, const char *name)
{
	return names->n == 0 ? NAMES_NONE : *slot_of(names, name) - 1;
}
