/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/config/config_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
print_row(struct config_rows *rows, const char *section, const struct field *fields, unsigned int n,
	  const void *object)
{
	if (strcmp(section, rows->last) != 0) {
		config_rows_end(rows);
		fprintf(rows->out, "[%s]\n", section);
		snprintf(rows->last, sizeof(rows->last), "%s", section);
	}
	config_print_keys(rows->out, fields, n, object);
}

void
config_rows_end(struct config_rows *rows)
{
	if (rows->last[0] != '\0')
		fputc('\n', rows->out);
}

void
config_rows_add(struct config_rows *rows, const char *section, const struct field *fields,
		unsigned int n, const void *object, bool fixed)
{
	struct config_row *row;

	if (rows->out != NULL) {
		print_row(rows, section, fields, n, object);
		return;
	}
	if (rows->n == rows->capacity) {
		unsigned int capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
		struct config_row *grown = realloc(rows->rows, capacity * sizeof(*grown));

		rows->no_memory |= grown == NULL;
		if (grown == NULL)
			return;
		rows->rows = grown;
		rows->capacity = capacity;
	}
	row = &rows->rows[rows->n++];
	*row = (struct config_row){.fields = fields, .n = n, .object = object, .fixed = fixed};
	snprintf(row->section, sizeof(row->section), "%s", section);
}

void
config_rows_last_is_removable(struct config_rows *rows)
{
	if (rows->n > 0)
		rows->rows[rows->n - 1].removable = true;
}

void
config_rows_free(struct config_rows *rows)
{
	free(rows->rows);
	free(rows->first);
	names_free(&rows->sections);
	*rows = (struct config_rows){0};
}

/* Find the row of the same section and table. The tables of one section have adjacent rows. */
static const struct config_row *
find(const struct config_rows *in, const struct config_row *row)
{
	uint32_t section = names_find(&in->sections, row->section);

	for (unsigned int i = section == NAMES_NONE ? in->n : in->first[section];
	     i < in->n && strcmp(in->rows[i].section, row->section) == 0; i++)
		if (in->rows[i].fields == row->fields)
			return &in->rows[i];
	return NULL;
}

/* Sections in the order of the rows. @return false: no memory. */
static bool
index_rows(struct config_rows *rows)
{
	if (rows->first != NULL)
		return true;
	rows->first = calloc(rows->n + 1, sizeof(*rows->first));
	for (unsigned int i = 0; rows->first != NULL && i < rows->n; i++) {
		if (i > 0 && strcmp(rows->rows[i].section, rows->rows[i - 1].section) == 0)
			continue;
		rows->first[rows->sections.n] = i;
		rows->no_memory |= names_add(&rows->sections, rows->rows[i].section) == NAMES_NONE;
	}
	rows->no_memory |= rows->first == NULL;
	return !rows->no_memory;
}

struct visitor {
	void (*visit)(void *arg, const struct config_change *change);
	void *arg;
};

/*
 * Are the members equal byte by byte? Then their texts are equal too. Comparing the texts would
 * cost much more.
 */
static bool
same_bytes(const struct field *f, const void *a, const void *b)
{
	const char *from = (const char *)a + f->offset, *to = (const char *)b + f->offset;

	if (f->type == FIELD_STR || f->type == FIELD_TEXT)
		return strcmp(field_text(f, a), field_text(f, b)) == 0;
	return memcmp(from, to, field_bytes(f)) == 0;
}

static void
compare_row(const struct config_row *from, const struct config_row *to, const struct visitor *v)
{
	for (unsigned int i = 0; i < from->n; i++) {
		const struct field *f = &from->fields[i];
		char before[FIELD_VALUE_SIZE], after[FIELD_VALUE_SIZE];
		struct config_change change = {.section = from->section,
					       .field = f,
					       .from = before,
					       .to = after,
					       .live = f->live && !from->fixed};

		if (same_bytes(f, from->object, to->object))
			continue;
		field_format(f, from->object, before, sizeof(before));
		field_format(f, to->object, after, sizeof(after));
		if (strcmp(before, after) != 0)
			v->visit(v->arg, &change);
	}
}

static void
count(void *arg, const struct config_change *change)
{
	(void)change;
	++*(unsigned int *)arg;
}

bool
config_objects_differ(const struct field *fields, unsigned int n, const void *a, const void *b)
{
	const struct config_row from = {.fields = fields, .n = n, .object = a}, to = {.object = b};
	unsigned int changes = 0;
	const struct visitor v = {count, &changes};

	compare_row(&from, &to, &v);
	return changes > 0;
}

bool
config_rows_differ(struct config_rows *a, struct config_rows *b)
{
	unsigned int n = 0;

	config_rows_compare(a, b, count, &n);
	return n > 0 || a->no_memory || b->no_memory;
}

/* A section may be added or removed if all of its keys may change. */
static bool
is_live(const struct config_row *row)
{
	bool live = !row->fixed;

	if (row->removable)
		return true;

	for (unsigned int i = 0; i < row->n; i++)
		live = live && row->fields[i].live;
	return live;
}

static void
only_in_one(const struct config_row *row, const char *from, const char *to, const struct visitor *v)
{
	struct config_change change = {
		.section = row->section, .from = from, .to = to, .live = is_live(row)};

	v->visit(v->arg, &change);
}

void
config_rows_compare(struct config_rows *from, struct config_rows *to,
		    void (*visit)(void *arg, const struct config_change *change), void *arg)
{
	const struct visitor v = {visit, arg};

	if (!index_rows(from) || !index_rows(to))
		return;
	for (unsigned int i = 0; i < from->n; i++) {
		const struct config_row *other = find(to, &from->rows[i]);

		if (other != NULL)
			compare_row(&from->rows[i], other, &v);
		else
			only_in_one(&from->rows[i], "there", "", &v);
	}
	for (unsigned int i = 0; i < to->n; i++) {
		if (find(from, &to->rows[i]) == NULL)
			only_in_one(&to->rows[i], "", "there", &v);
	}
}

struct refusal {
	const struct config *cfg;
	struct config_error *err;
	bool made, of_given;
};

static void
refuse_fixed(void *arg, const struct config_change *c)
{
	struct refusal *r = arg;
	bool given;

	if (c->live || r->of_given)
		return;
	given = c->field == NULL ? config_has(r->cfg, c->section)
				 : config_gives(r->cfg, c->section, c->field->name);
	if (r->made && !given)
		return;
	r->made = true;
	r->of_given = given;
	if (c->field == NULL)
		config_error_set(r->err, config_path(r->cfg),
				 " [%s]: this section cannot %s while the program runs", c->section,
				 *c->to == '\0' ? "go" : "come");
	else
		config_error_set(r->err, config_path(r->cfg),
				 " [%s] %s = %s: cannot change while the program runs; it is %s",
				 c->section, c->field->name, c->to, c->from);
}

int
config_rows_refuse_fixed(const struct config *cfg, struct config_rows *from, struct config_rows *to,
			 struct config_error *err)
{
	struct refusal r = {.cfg = cfg, .err = err};

	config_rows_compare(from, to, refuse_fixed, &r);
	if (from->no_memory || to->no_memory) {
		config_error_set(err, config_path(cfg), " out of memory");
		return -ENOMEM;
	}
	return r.made ? -EINVAL : 0;
}
