/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/show/port_texts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "quenchctl/show/rows.h"

/* Room for a list of 64 names. */
#define TEXT_CHARS 4096

static const char *
name_of(const json_t *ports, unsigned long port)
{
	json_t *row;
	size_t i;

	json_array_foreach (ports, i, row)
		if (json_integer_value(json_object_get(row, "port")) == (json_int_t)port)
			return rows_port_name(row);
	return NULL;
}

/* "port 3" and "queue 3|1". @return false: the text is no such name of a section. */
static bool
name_section(const json_t *ports, const char *text, char out[TEXT_CHARS])
{
	static const struct {
		const char *word;
		char after;
	} sections[] = {{"port ", '\0'}, {"interface port ", '\0'}, {"queue ", '|'}, {"pg ", '|'}};

	for (unsigned int i = 0; i < ARRAY_LEN(sections); i++) {
		size_t n = strlen(sections[i].word);
		const char *name;
		char *end;
		unsigned long port;

		if (strncmp(text, sections[i].word, n) != 0 || !isdigit((unsigned char)text[n]))
			continue;
		port = strtoul(text + n, &end, 10);
		name = name_of(ports, port);
		if (*end == sections[i].after && name != NULL) {
			snprintf(out, TEXT_CHARS, "%s%s%s", sections[i].word, name, end);
			return true;
		}
	}
	return false;
}

static void
append(char out[TEXT_CHARS], const char *text)
{
	size_t used = strlen(out);

	snprintf(out + used, TEXT_CHARS - used, "%s%s", used > 0 ? "," : "", text);
}

/* The ports from first to last, which have consecutive numbers. */
static void
append_range(const json_t *ports, unsigned long first, unsigned long last, char out[TEXT_CHARS])
{
	while (first <= last) {
		const char *name = name_of(ports, first);
		unsigned long end = first;
		char range[48];

		if (name != NULL) {
			append(out, name);
			first++;
			continue;
		}
		while (end < last && name_of(ports, end + 1) == NULL)
			end++;
		snprintf(range, sizeof(range), end > first ? "%lu-%lu" : "%lu", first, end);
		append(out, range);
		first = end + 1;
	}
}

/* "0-3,7". @return false: the text is no such list. */
static bool
name_list(const json_t *ports, const char *text, char out[TEXT_CHARS])
{
	if (*text == '\0' || text[strspn(text, "0123456789-,")] != '\0')
		return false;
	for (const char *at = text; *at != '\0'; at += *at == ',') {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (end == at || (*end != ',' && *end != '\0') || last - first >= 1024)
			return false;
		append_range(ports, first, last, out);
		at = end;
	}
	return true;
}

static void
name_row(const json_t *ports, const char *keys, json_t *row)
{
	for (const char *at = keys; *at != '\0'; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");
		const json_t *value = json_object_getn(row, at, n);
		const char *text = json_string_value(value);
		char out[TEXT_CHARS] = "", one[24];

		/* A list of one port may have become a number. */
		if (json_is_integer(value)) {
			snprintf(one, sizeof(one), "%" JSON_INTEGER_FORMAT,
				 json_integer_value(value));
			text = one;
		}
		if (text != NULL && (name_section(ports, text, out) || name_list(ports, text, out)))
			json_object_setn_new(row, at, n, json_string(out));
		at += n;
	}
}

int
port_texts_name(struct client *c, const char *keys, json_t *rows)
{
	json_t *reply, *row;
	size_t i;
	int rc;

	if (strcmp(c->program, "quench-switch") != 0 || json_array_size(rows) == 0)
		return 0;
	rc = client_ask(c, "/quench/ports", &reply);
	json_array_foreach (rows, i, row)
		if (rc == 0)
			name_row(json_object_get(reply, "rows"), keys, row);
	json_decref(reply);
	return rc;
}
