/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "import/export/tables.h"

json_t *
export_entry(struct export_tables *t, const char *table, const char *key)
{
	json_t *entries = json_object_get(t->root, table), *entry;

	if (entries == NULL) {
		entries = json_object();
		json_object_set_new(t->root, table, entries);
	}
	entry = json_object_get(entries, key);
	if (entry == NULL) {
		entry = json_object();
		json_object_set_new(entries, key, entry);
	}
	return entry;
}

void
export_set(struct export_tables *t, const char *table, const char *key, const char *field,
	   const char *format, ...)
{
	char text[SW_NEXTHOP_CHARS + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_object_set_new(export_entry(t, table, key), field, json_string(text));
}
