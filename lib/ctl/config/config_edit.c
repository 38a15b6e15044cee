/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/config/config_edit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Room for the largest members, a FIELD_STR or a map. */
#define MEMBER_BYTES 256

struct line {
	const char *text; /* of the file, without its end */
	size_t n;
	char *now;   /* instead of text; NULL: unchanged */
	char *after; /* lines added after this one, each with its end; NULL: none */
	bool is_gone;
};

struct edit {
	const struct config *cfg;
	const struct config_rows *to;
	struct line *lines; /* [0] is not of the file: lines are counted from 1 */
	unsigned int n;
	char *end;                         /* lines added after the last one; NULL: none */
	char section[CONFIG_MAX_NAME + 1]; /* of the last lines in end */
	bool no_memory;
};

bool
config_is_default(const struct field *f, const char *value)
{
	char member[MEMBER_BYTES] = {0}, text[FIELD_TEXT_SIZE];
	struct field alone = *f;

	if (f->type == FIELD_STR || f->type == FIELD_TEXT)
		return f->def != NULL && strcmp(f->def, value) == 0;
	alone.offset = 0;
	if (f->def == NULL || field_parse(&alone, NULL, f->def, member, NULL, 0) != 0)
		return false;
	field_format(&alone, member, text, sizeof(text));
	return strcmp(text, value) == 0;
}

/* Append a formatted text to *to, which is owned and may be NULL. */
static void __attribute__((format(printf, 3, 4)))
append(struct edit *e, char **to, const char *format, ...)
{
	char *more = NULL, *whole = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&more, format, args) < 0)
		more = NULL;
	va_end(args);
	if (more == NULL || asprintf(&whole, "%s%s", *to == NULL ? "" : *to, more) < 0) {
		e->no_memory = true;
		whole = NULL;
	}
	free(more);
	if (whole != NULL) {
		free(*to);
		*to = whole;
	}
}

static bool
split_lines(struct edit *e, const char *text)
{
	unsigned int n = 1;

	for (const char *c = text; *c != '\0'; c++)
		n += *c == '\n';
	e->lines = calloc(n + 1, sizeof(*e->lines));
	for (const char *c = text; e->lines != NULL && *c != '\0'; c += *c == '\n') {
		struct line *l = &e->lines[++e->n];

		l->text = c;
		l->n = strcspn(c, "\n");
		c += l->n;
	}
	return e->lines != NULL;
}

/* The first character that is no blank; '\n': there is none. */
static char
first_of(const struct line *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (strchr(" \t\r", l->text[i]) == NULL)
			return l->text[i];
	return '\n';
}

/* The last line of a section that is its heading or has a key. */
static unsigned int
last_key(const struct edit *e, unsigned int heading)
{
	unsigned int last = heading;

	for (unsigned int i = heading + 1; i <= e->n && first_of(&e->lines[i]) != '['; i++)
		if (strchr("#;\n", first_of(&e->lines[i])) == NULL)
			last = i;
	return last;
}

/* Where the comment of a line begins, with the blanks before it; l->n: it has none. */
static size_t
comment_of(const struct line *l)
{
	size_t at = 0;

	while (at < l->n && !((l->text[at] == '#' || l->text[at] == ';') && at > 0 &&
			      strchr(" \t", l->text[at - 1]) != NULL))
		at++;
	while (at > 0 && at < l->n && strchr(" \t", l->text[at - 1]) != NULL)
		at--;
	return at;
}

static void
replace(struct edit *e, struct line *l, const char *key, const char *value)
{
	size_t indent = 0, comment = comment_of(l);

	while (indent < l->n && strchr(" \t", l->text[indent]) != NULL)
		indent++;
	append(e, &l->now, "%.*s%s = %s%.*s", (int)indent, l->text, key, value,
	       (int)(l->n - comment), l->text + comment);
}

/* Begin a section at the end of the file, unless it is the one that was begun last. */
static void
begin_section(struct edit *e, const char *section)
{
	if (strcmp(e->section, section) == 0)
		return;
	append(e, &e->end, "\n[%s]\n", section);
	snprintf(e->section, sizeof(e->section), "%s", section);
}

static void
set_key(struct edit *e, const struct config_change *c)
{
	unsigned int heading = config_line(e->cfg, c->section, NULL);

	if (config_gives(e->cfg, c->section, c->field->name)) {
		replace(e, &e->lines[config_line(e->cfg, c->section, c->field->name)],
			c->field->name, c->to);
	} else if (heading > 0) {
		append(e, &e->lines[last_key(e, heading)].after, "%s = %s\n", c->field->name,
		       c->to);
	} else {
		begin_section(e, c->section);
		append(e, &e->end, "%s = %s\n", c->field->name, c->to);
	}
}

static void
remove_section(struct edit *e, const char *section)
{
	unsigned int heading = config_line(e->cfg, section, NULL);

	for (unsigned int i = heading; i > 0 && i <= last_key(e, heading); i++)
		e->lines[i].is_gone = true;
}

static void
add_section(struct edit *e, const char *section)
{
	begin_section(e, section);
	for (unsigned int i = 0; i < e->to->n; i++) {
		const struct config_row *row = &e->to->rows[i];

		for (unsigned int k = 0; strcmp(row->section, section) == 0 && k < row->n; k++) {
			char value[FIELD_VALUE_SIZE];

			field_format(&row->fields[k], row->object, value, sizeof(value));
			if (!config_is_default(&row->fields[k], value))
				append(e, &e->end, "%s = %s\n", row->fields[k].name, value);
		}
	}
}

static void
make_change(void *arg, const struct config_change *c)
{
	struct edit *e = arg;

	if (c->field != NULL)
		set_key(e, c);
	else if (*c->to == '\0')
		remove_section(e, c->section);
	/* A section of several tables has several rows. */
	else if (strcmp(e->section, c->section) != 0)
		add_section(e, c->section);
}

static void
print_lines(const struct edit *e, FILE *out)
{
	for (unsigned int i = 1; i <= e->n; i++) {
		const struct line *l = &e->lines[i];

		if (l->now != NULL)
			fprintf(out, "%s\n", l->now);
		else if (!l->is_gone)
			fprintf(out, "%.*s\n", (int)l->n, l->text);
		if (l->after != NULL && !l->is_gone)
			fputs(l->after, out);
	}
	if (e->end != NULL)
		fputs(e->end, out);
}

char *
config_edit(const struct config *cfg, const char *text, struct config_rows *from,
	    struct config_rows *to)
{
	struct edit e = {.cfg = cfg, .to = to};
	char *made = NULL;
	size_t size;
	FILE *out;

	if (!split_lines(&e, text))
		return NULL;
	config_rows_compare(from, to, make_change, &e);
	out = open_memstream(&made, &size);
	if (out != NULL)
		print_lines(&e, out);
	if (out == NULL || ferror(out))
		e.no_memory = true;
	if (out != NULL && fclose(out) != 0)
		e.no_memory = true;
	for (unsigned int i = 0; i <= e.n; i++) {
		free(e.lines[i].now);
		free(e.lines[i].after);
	}
	free(e.lines);
	free(e.end);
	if (e.no_memory || from->no_memory || to->no_memory) {
		free(made);
		made = NULL;
	}
	return made;
}
