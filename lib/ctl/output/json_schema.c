/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/output/json_schema.h"

#include <string.h>

#include "base/numbers/array.h"
#include "ctl/output/json.h"
#include "tm/classes/qos_map.h"

struct schema_walk {
	struct json_walk json;
	bool any_columns;
};

static json_t *
object_schema(void)
{
	return json_pack("{s:s, s:{}, s:[], s:b}", "type", "object", "properties", "required",
			 "additionalProperties", 0);
}

static void
require(const struct walk *w, json_t *object, const char *name)
{
	const struct schema_walk *s = (const struct schema_walk *)w;

	if (!w->optional && !(s->any_columns && w->n > 0))
		json_array_append_new(json_object_get(object, "required"), json_string(name));
}

/* Names end with their unit. @return NULL: it has none. */
static const char *
unit_of(const char *name)
{
	static const struct {
		const char *end, *unit;
	} units[] = {{"_ns", "ns"},   {"_us", "us"}, {"_bps", "bit/s"},   {"_bytes", "bytes"},
		     {"_ppm", "ppm"}, {"_hz", "Hz"}, {"_deg", "degrees"}, {"_seconds", "s"}};

	for (unsigned int i = 0; i < ARRAY_LEN(units); i++) {
		size_t n = strlen(name), end = strlen(units[i].end);

		if (n > end && strcmp(name + n - end, units[i].end) == 0)
			return units[i].unit;
	}
	return NULL;
}

static json_t *
row_schema(const struct walk *w, const struct walk_row *row, const char *name)
{
	static const char *const types[] = {
		[WALK_NUMBER] = "[\"integer\"]",
		[WALK_LIMIT] = "[\"integer\", \"string\"]",
		[WALK_MAYBE] = "[\"integer\", \"null\"]",
		[WALK_MAYBE_REAL] = "[\"number\", \"null\"]",
		[WALK_MAYBE_TEXT] = "[\"string\", \"null\"]",
		[WALK_REAL] = "[\"number\"]",
		[WALK_FLAG] = "[\"boolean\"]",
		[WALK_TEXT] = "[\"string\"]",
		[WALK_OBJECT] = "[\"object\"]",
		[WALK_TEXTS] = "[\"array\"]",
		[WALK_SIGNED] = "[\"integer\"]",
	};
	static const char *const kinds[] = {
		[WALK_COUNTER] = "counter of ", [WALK_GAUGE] = "gauge of ",
		[WALK_PEAK] = "gauge of ",      [WALK_KEY] = "key",
		[WALK_PARAM] = "parameter",
	};
	char of[WALK_NAME_CHARS];
	json_t *schema;

	snprintf(of, sizeof(of), "%s%s", kinds[row->kind], row->kind < WALK_KEY ? w->object : "");
	schema = json_pack("{s:o, s:s, s:s}", "type", json_loads(types[row->type], 0, NULL),
			   "description", row->help, "$comment", of);
	if (unit_of(name) != NULL)
		json_object_set_new(schema, "unit", json_string(unit_of(name)));
	if (row->type == WALK_TEXTS)
		json_object_set_new(schema, "items", json_pack("{s:s}", "type", "string"));
	return schema;
}

/* N in a name stands for each priority. */
static void
add_row(struct walk *w, const struct walk_row *row)
{
	json_t *object = ((struct schema_walk *)w)->json.at;
	json_t *properties = json_object_get(object, "properties");
	const char *n = strchr(row->name, 'N');

	if (row->type == WALK_NULL) {
		json_object_set_new(json_object_get(properties, row->name), "type",
				    json_pack("[s,s]", "object", "null"));
		return;
	}

	for (char prio = '0'; prio < '0' + (n == NULL ? 1 : TM_CLASSES); prio++) {
		char name[WALK_NAME_CHARS];

		snprintf(name, sizeof(name), "%s", row->name);
		if (n != NULL)
			name[n - row->name] = prio;
		if (json_object_get(properties, name) != NULL)
			continue;
		json_object_set_new(properties, name, row_schema(w, row, name));
		require(w, object, name);
	}
}

/* A new member for objects of this place. */
static json_t *
member_schema(enum walk_place place)
{
	switch (place) {
	case WALK_ITEM:
		return json_pack("{s:s, s:o}", "type", "array", "items", object_schema());
	case WALK_NAMED:
		return json_pack("{s:s, s:{s:[]}}", "type", "object", "additionalProperties",
				 "anyOf");
	case WALK_MEMBER:
		break;
	}
	return object_schema();
}

static void
enter(struct walk *w, const char *member, enum walk_place place)
{
	struct json_walk *j = &((struct schema_walk *)w)->json;
	json_t *properties = json_object_get(j->at, "properties");
	json_t *there = json_object_get(properties, member), *kinds;

	j->outer[--w->n] = j->at;
	if (there == NULL) {
		there = member_schema(place);
		json_object_set_new(properties, member, there);
		require(w, j->at, member);
	}
	w->n++;
	j->at = place == WALK_ITEM ? json_object_get(there, "items") : there;
	if (place == WALK_NAMED) {
		kinds = json_object_get(json_object_get(there, "additionalProperties"), "anyOf");
		j->at = object_schema();
		json_array_append_new(kinds, j->at);
	}
}

json_t *
json_schema(walk_names *names, bool any_columns)
{
	struct schema_walk s = {.json = json_walk(object_schema()), .any_columns = any_columns};

	s.json.walk.names_only = true;
	s.json.walk.row = add_row;
	s.json.walk.enter = enter;
	s.json.walk.list = NULL;
	names(&s.json.walk);
	return s.json.at;
}

void
json_schema_print(FILE *out, const char *title, walk_names *names)
{
	json_t *document =
		json_pack("{s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
			  "title", title);
	json_t *schema = json_schema(names, false);

	json_object_update(document, schema);
	json_dumpf(document, out, JSON_INDENT(1));
	fputc('\n', out);
	json_decref(schema);
	json_decref(document);
}
