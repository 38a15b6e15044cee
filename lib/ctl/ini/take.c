/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ini/take.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
config_take_refuse(const struct config_taker *t, const char *format, ...)
{
	char text[sizeof(t->err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	config_error_at(t->err, t->path, t->line, " %s", text);
	return -EINVAL;
}

static int
no_memory(const struct config_taker *t)
{
	config_error_set(t->err, t->path, " out of memory");
	return -EINVAL;
}

char *
config_trim(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	for (n = strlen(text); n > 0 && strchr(" \t\r", text[n - 1]); n--)
		;
	text[n] = '\0';
	return text;
}

bool
config_is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

void
config_squeeze(char *name)
{
	char *to = name;

	for (const char *from = name; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = '\0';
}

char *
config_comment(char *line)
{
	for (char *c = line; *c; c++)
		if ((*c == '#' || *c == ';') && (c == line || c[-1] == ' ' || c[-1] == '\t'))
			return c;
	return NULL;
}

int
config_take_section(struct config_taker *t, char *name)
{
	name = config_trim(name);
	config_squeeze(name);
	if (*name == '\0')
		return config_take_refuse(t, "expected the name of a section");
	if (!config_is_printable(name) || strchr(name, ']') != NULL || config_comment(name) != NULL)
		return config_take_refuse(t,
					  "expected a section name of printable ASCII without ']' "
					  "and comments");
	if (strlen(name) > CONFIG_MAX_NAME)
		return config_take_refuse(t, "expected a section name of at most %u characters",
					  CONFIG_MAX_NAME);
	if (config_store_find(t->store, name) != NULL)
		return config_take_refuse(t, "section [%s] comes twice", name);
	if (t->sections++ == CONFIG_MAX_SECTIONS)
		return config_take_refuse(t, "expected at most %u sections", CONFIG_MAX_SECTIONS);
	t->section = config_store_add(t->store, name);
	if (t->section == NULL)
		return no_memory(t);
	t->section->line = t->line;
	return 0;
}

int
config_take_key(struct config_taker *t, char *key, char *value)
{
	key = config_trim(key);
	value = config_trim(value);
	if (*key == '\0' || strpbrk(key, " []=") || !config_is_printable(key) ||
	    config_comment(key) != NULL)
		return config_take_refuse(t, "expected a key of one word");
	if (strlen(key) > CONFIG_MAX_NAME)
		return config_take_refuse(t, "expected a key of at most %u characters",
					  CONFIG_MAX_NAME);
	if (strlen(value) > CONFIG_MAX_VALUE)
		return config_take_refuse(t, "expected a value of at most %u characters for %s",
					  CONFIG_MAX_VALUE, key);
	if (t->section == NULL)
		return config_take_refuse(t, "expected a [section] before the first key, %s", key);
	if (!config_is_printable(value) || config_comment(value) != NULL)
		return config_take_refuse(t,
					  "[%s] %s: expected one line of printable ASCII, without "
					  "'#' and ';' at its start or after a blank",
					  t->section->name, key);
	if (t->section->n == CONFIG_MAX_KEYS)
		return config_take_refuse(t, "expected at most %u keys in [%s]", CONFIG_MAX_KEYS,
					  t->section->name);
	if (config_part_find(t->section, key) != NULL)
		return config_take_refuse(t, "%s comes twice in [%s]", key, t->section->name);
	return config_part_add(t->section, key, value, t->line) == 0 ? 0 : no_memory(t);
}
