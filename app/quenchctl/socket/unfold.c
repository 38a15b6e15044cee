/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/socket/unfold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Keys whose text is a fraction. */
static bool
is_fraction(const char *key)
{
	return strcmp(key, "alpha") == 0 || strcmp(key, "measured") == 0 ||
	       strcmp(key, "expected") == 0 || strncmp(key, "slowdown_", 9) == 0;
}

static bool
is_number(const char *text)
{
	return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static json_t *
value_of(const char *key, json_t *v, bool numbers)
{
	const char *text = json_string_value(v);

	if (text != NULL && is_fraction(key) && *text != '\0')
		return json_real(strtod(text, NULL));
	if (text != NULL && numbers)
		return json_integer(strtoll(text, NULL, 10));
	return json_incref(v);
}

/* Is this a column of numbers with gaps? Telemetry sends such numbers as texts. */
static bool
has_gaps_in_numbers(const json_t *list)
{
	bool gaps = false, numbers = false;
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		const char *text = json_string_value(v);

		if (text == NULL || (*text != '\0' && !is_number(text)))
			return false;
		gaps = gaps || *text == '\0';
		numbers = numbers || *text != '\0';
	}
	return gaps && numbers;
}

static void
set_column(json_t *rows, const char *key, const json_t *list)
{
	bool numbers = has_gaps_in_numbers(list);
	size_t i;
	json_t *v;

	json_array_foreach (list, i, v) {
		const char *text = json_string_value(v);

		if (i == json_array_size(rows))
			json_array_append_new(rows, json_object());
		/* An empty text may be a missing member or an empty one. */
		if ((numbers || is_fraction(key)) && text != NULL && *text == '\0')
			continue;
		json_object_set_new(json_array_get(rows, i), key, value_of(key, v, numbers));
	}
}

static json_t *
child(json_t *object, const char *key, size_t n, bool list)
{
	char name[128];
	json_t *found;

	if (n >= sizeof(name))
		n = sizeof(name) - 1;
	memcpy(name, key, n);
	name[n] = '\0';
	found = json_object_get(object, name);
	if (found == NULL) {
		found = list ? json_array() : json_object();
		json_object_set_new(object, name, found);
	}
	return found;
}

/* Nested objects are freed recursively, so a path has at most this depth; the rest is a name. */
#define MOST_OBJECTS 8u

static void
set_path(json_t *object, const char *path, json_t *v)
{
	const char *leaf = path, *slash;

	for (unsigned int i = 0; i < MOST_OBJECTS && (slash = strchr(leaf, '/')) != NULL; i++) {
		bool list = json_is_array(v) && strchr(slash + 1, '/') == NULL;

		object = child(object, leaf, (size_t)(slash - leaf), list);
		leaf = slash + 1;
	}
	if (!json_is_array(v))
		json_object_set_new(object, leaf, value_of(leaf, v, false));
	else if (json_is_object(object))
		set_column(child(object, "rows", 4, true), leaf, v);
	else
		set_column(object, leaf, v);
}

json_t *
unfold(const json_t *reply)
{
	json_t *object = json_object(), *v;
	const char *path;

	json_object_foreach ((json_t *)reply, path, v)
		set_path(object, path, v);
	return object;
}
