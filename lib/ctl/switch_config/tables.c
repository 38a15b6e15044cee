/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/switch_config/tables.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One kind of section: its first word, its keys, and the array that it fills. */
struct kind {
	const char *word;
	const char *name; /* of the reference: what follows the word */
	const struct field *fields;
	const unsigned int *n_fields;
	size_t item_bytes;
	size_t items, count; /* offsets in struct sw_tables */
};

#define KIND(word, name, type, fields, items)                                                      \
	{                                                                                          \
		word, name, fields, &fields##_n, sizeof(struct type),                              \
			offsetof(struct sw_tables, items), offsetof(struct sw_tables, n_##items)   \
	}

static const struct kind kinds[] = {
	KIND("fdb", "NAME", sw_static_mac, sw_static_mac_fields, static_macs),
	KIND("interface", "vlan N", sw_interface, sw_interface_fields, interfaces),
	KIND("route", "PREFIX", sw_static_route, sw_static_route_fields, routes),
	KIND("neighbor", "ADDRESS", sw_neighbor, sw_neighbor_fields, neighbors),
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Every item begins with its name. */
static_assert(offsetof(struct sw_static_mac, name) == 0 &&
		      offsetof(struct sw_interface, name) == 0 &&
		      offsetof(struct sw_static_route, name) == 0 &&
		      offsetof(struct sw_neighbor, name) == 0,
	      "the name comes first");

static uint32_t
count_sections(const struct config *cfg, const char *word)
{
	uint32_t n = 0;

	for (const char *s = NULL; (s = config_next(cfg, word, s));)
		n++;
	return n;
}

static int
read_item(struct config *cfg, const struct kind *kind, const char *section, void *item,
	  struct config_error *err)
{
	const char *name = strchr(section, ' ');
	char expected[64];

	if (name == NULL || strlen(name + 1) > SW_NAME_CHARS) {
		snprintf(expected, sizeof(expected), "[%s %s], of at most %d characters",
			 kind->word, kind->name, SW_NAME_CHARS);
		return config_refuse(cfg, section, NULL, expected, err);
	}
	if (config_read_new(cfg, section, kind->fields, *kind->n_fields, item, err) != 0)
		return -EINVAL;
	snprintf(item, SW_NAME_CHARS + 1, "%s", name + 1);
	return 0;
}

static int
read_kind(struct config *cfg, const struct kind *kind, struct sw_tables *out,
	  struct config_error *err)
{
	void **items = (void **)((char *)out + kind->items);
	uint32_t *count = (uint32_t *)((char *)out + kind->count);
	uint32_t n = count_sections(cfg, kind->word);
	int rc = 0;

	if (n == 0)
		return 0;
	*items = calloc(n, kind->item_bytes);
	if (*items == NULL)
		return config_refuse(cfg, kind->word, NULL, "fewer sections: out of memory", err);
	for (const char *s = NULL; rc == 0 && (s = config_next(cfg, kind->word, s));) {
		void *item = (char *)*items + *count * kind->item_bytes;

		rc = read_item(cfg, kind, s, item, err);
		if (rc == 0)
			++*count;
	}
	return rc;
}

int
switch_tables_read(struct config *cfg, struct sw_tables *out, struct config_error *err)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < N_KINDS; i++)
		rc = read_kind(cfg, &kinds[i], out, err);
	return rc;
}

bool
switch_tables_refuse(const struct config *cfg, const char *why, struct config_error *err)
{
	static const char verb[] = ": expected ";
	const char *expected = strstr(why, verb);
	char section[CONFIG_MAX_NAME + 1], key[CONFIG_MAX_NAME + 1];
	const char *colon = strstr(why, ": ");

	if (expected == NULL || colon == expected)
		return false;
	snprintf(section, sizeof(section), "%.*s", (int)(colon - why), why);
	colon += strlen(": ");
	snprintf(key, sizeof(key), "%.*s", (int)(expected - colon), colon);
	config_refuse(cfg, section, *key == '\0' ? NULL : key, expected + strlen(verb), err);
	return true;
}

void
switch_tables_rows(const struct sw_tables *tables, struct config_rows *rows)
{
	for (unsigned int k = 0; k < N_KINDS; k++) {
		const char *const *items = (const void *)((const char *)tables + kinds[k].items);
		const uint32_t *count = (const void *)((const char *)tables + kinds[k].count);

		for (uint32_t i = 0; i < *count; i++) {
			const char *item = *items + i * kinds[k].item_bytes;
			char section[CONFIG_MAX_NAME + 1];

			snprintf(section, sizeof(section), "%s %s", kinds[k].word, item);
			config_rows_add(rows, section, kinds[k].fields, *kinds[k].n_fields, item,
					false);
		}
	}
}

void
switch_tables_print(FILE *out, const struct sw_tables *tables)
{
	struct config_rows rows = {0};

	switch_tables_rows(tables, &rows);
	for (unsigned int i = 0; i < rows.n; i++)
		config_print(out, rows.rows[i].section, rows.rows[i].fields, rows.rows[i].n,
			     rows.rows[i].object);
	config_rows_free(&rows);
}

void
switch_tables_print_reference(FILE *out)
{
	for (unsigned int k = 0; k < N_KINDS; k++) {
		char section[CONFIG_MAX_NAME + 1];

		snprintf(section, sizeof(section), "%s %s", kinds[k].word, kinds[k].name);
		config_print_reference(out, section, kinds[k].fields, *kinds[k].n_fields);
	}
}
