/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/yaml/yaml_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "ctl/ini/file.h"
#include "ctl/ini/take.h"

#define PLACE_CHARS (2 * CONFIG_MAX_NAME + 8)

static bool
ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && strcmp(path + n - m, end) == 0;
}

bool
yaml_file_is(const char *path)
{
	return ends_with(path, ".yaml") || ends_with(path, ".yml") || ends_with(path, ".json");
}

/* The next event, for yaml_event_delete(). @return false: refused. */
static bool
next_event(yaml_parser_t *parser, struct config_taker *t, yaml_event_t *event)
{
	if (yaml_parser_parse(parser, event)) {
		t->line = (unsigned int)event->start_mark.line + 1;
		return true;
	}
	t->line = (unsigned int)parser->problem_mark.line + 1;
	if (parser->error == YAML_MEMORY_ERROR)
		config_error_set(t->err, t->path, " out of memory");
	else
		config_take_refuse(t, "expected YAML: %s",
				   parser->problem != NULL ? parser->problem : "malformed");
	return false;
}

/* In words of YAML, with what it is of. */
static int
refuse_kind(struct config_taker *t, const yaml_event_t *event, const char *of, const char *expected)
{
	const char *found = event->type == YAML_SEQUENCE_START_EVENT  ? "a list"
			    : event->type == YAML_MAPPING_START_EVENT ? "a mapping"
			    : event->type == YAML_ALIAS_EVENT         ? "an alias"
			    : event->type == YAML_SCALAR_EVENT        ? "a text"
								      : "the end";

	return config_take_refuse(t, "%s%sexpected %s, found %s", of, *of == '\0' ? "" : ": ",
				  expected, found);
}

/* @return the text of a scalar, for free(); NULL: refused, of says what is. */
static char *
scalar(struct config_taker *t, const yaml_event_t *event, const char *of, const char *expected)
{
	const char *text = (const char *)event->data.scalar.value;
	char *copy;

	if (event->type != YAML_SCALAR_EVENT) {
		refuse_kind(t, event, of, expected);
		return NULL;
	}
	if (event->data.scalar.tag != NULL) {
		config_take_refuse(t, "%s%sexpected no tag", of, *of == '\0' ? "" : ": ");
		return NULL;
	}
	/* A zero byte would hide what is after it. */
	if (strlen(text) != event->data.scalar.length) {
		config_take_refuse(t, "expected text, found a zero byte");
		return NULL;
	}
	copy = strdup(text);
	if (copy == NULL)
		config_error_set(t->err, t->path, " out of memory");
	return copy;
}

/* "[section]" or "[section] key", for error lines; a long key is cut. */
static const char *
place(const struct config_taker *t, const char *key, char text[PLACE_CHARS])
{
	snprintf(text, PLACE_CHARS, "[%s]%s%.*s", t->section->name, *key == '\0' ? "" : " ",
		 CONFIG_MAX_NAME, key);
	return text;
}

static bool
is_empty(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
	       event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static int
take_value(yaml_parser_t *parser, struct config_taker *t, char *key)
{
	unsigned int line = t->line;
	yaml_event_t event;
	char *value, of[PLACE_CHARS];
	int rc = -EINVAL;

	if (!next_event(parser, t, &event))
		return -EINVAL;
	value = scalar(t, &event, place(t, key, of), "a text or a number");
	t->line = line;
	if (value != NULL)
		rc = config_take_key(t, key, value);
	free(value);
	yaml_event_delete(&event);
	return rc;
}

/* The keys of a section, up to the end of its mapping. */
static int
take_keys(yaml_parser_t *parser, struct config_taker *t)
{
	char of[PLACE_CHARS];
	yaml_event_t event;
	bool ends = false;
	int rc = 0;

	while (rc == 0 && !ends) {
		char *key;

		if (!next_event(parser, t, &event))
			return -EINVAL;
		ends = event.type == YAML_MAPPING_END_EVENT;
		key = ends ? NULL : scalar(t, &event, place(t, "", of), "the name of a key");
		if (!ends)
			rc = key != NULL ? take_value(parser, t, key) : -EINVAL;
		free(key);
		yaml_event_delete(&event);
	}
	return rc;
}

static int
take_section(yaml_parser_t *parser, struct config_taker *t, char *name)
{
	char of[PLACE_CHARS];
	yaml_event_t event;
	int rc = config_take_section(t, name);

	if (rc != 0 || !next_event(parser, t, &event))
		return -EINVAL;
	if (event.type == YAML_MAPPING_START_EVENT)
		rc = take_keys(parser, t);
	else if (!is_empty(&event)) /* a section without keys */
		rc = refuse_kind(t, &event, place(t, "", of), "a mapping of keys");
	yaml_event_delete(&event);
	return rc;
}

static int
take_sections(yaml_parser_t *parser, struct config_taker *t)
{
	yaml_event_t event;
	bool ends = false;
	int rc = 0;

	while (rc == 0 && !ends) {
		char *name;

		if (!next_event(parser, t, &event))
			return -EINVAL;
		ends = event.type == YAML_MAPPING_END_EVENT;
		name = ends ? NULL : scalar(t, &event, "", "the name of a section");
		if (!ends)
			rc = name != NULL ? take_section(parser, t, name) : -EINVAL;
		free(name);
		yaml_event_delete(&event);
	}
	return rc;
}

static int
take_stream(yaml_parser_t *parser, struct config_taker *t)
{
	yaml_event_type_t type;
	unsigned int mappings = 0;
	yaml_event_t event;
	int rc = 0;

	do {
		if (!next_event(parser, t, &event))
			return -EINVAL;
		type = event.type;
		if (type == YAML_MAPPING_START_EVENT && mappings++ == 0)
			rc = take_sections(parser, t);
		else if (type == YAML_MAPPING_START_EVENT)
			rc = config_take_refuse(t, "expected one document");
		else if (type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT ||
			 (type == YAML_SCALAR_EVENT && !is_empty(&event)))
			rc = refuse_kind(t, &event, "", "a mapping of sections");
		yaml_event_delete(&event);
	} while (rc == 0 && type != YAML_STREAM_END_EVENT);
	return rc;
}

/* YAML knows no tabs between words; JSON has tabs only there. */
static int
prepare_json(const char *path, char *text, size_t size, struct config_error *err)
{
	json_error_t fault;
	json_t *json = json_loadb(text, size, 0, &fault);

	if (json == NULL) {
		config_error_at(err, path, fault.line > 0 ? (unsigned int)fault.line : 1,
				" expected JSON: %.200s", fault.text);
		return -EINVAL;
	}
	json_decref(json);
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\t')
			text[i] = ' ';
	return 0;
}

int
yaml_file_parse(const char *path, char *text, size_t size, struct config_store *out,
		struct config_error *err)
{
	struct config_taker t = {.path = path, .store = out, .err = err};
	yaml_parser_t parser;
	int rc;

	if (ends_with(path, ".json") && prepare_json(path, text, size, err) != 0)
		return -EINVAL;
	if (!yaml_parser_initialize(&parser)) {
		config_error_set(err, path, " out of memory");
		return -EINVAL;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	rc = take_stream(&parser, &t);
	yaml_parser_delete(&parser);
	return rc;
}

int
yaml_file_load(const char *path, struct config_store *out, struct config_error *err)
{
	size_t size = 0;
	char *text = config_file_text(path, &size, err);
	int rc = text != NULL ? yaml_file_parse(path, text, size, out, err) : -EINVAL;

	free(text);
	return rc;
}
