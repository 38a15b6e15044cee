/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/field/walk.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/field/field_table.h"
#include "base/threads/counter.h"

static void
enter(struct walk *w, const char *member, enum walk_place place)
{
	assert(w->n < WALK_DEPTH);
	w->outer_optional[w->n] = w->optional;
	w->cut[w->n++] = (unsigned int)strlen(w->group);
	if (w->enter != NULL)
		w->enter(w, member, place);
	w->optional = false;
}

void
walk_enter(struct walk *w, const char *member, const char *group)
{
	enter(w, member, WALK_MEMBER);
	snprintf(w->group + w->cut[w->n - 1], sizeof(w->group) - w->cut[w->n - 1], "%s", group);
}

void
walk_list(struct walk *w, const char *list)
{
	if (w->list != NULL)
		w->list(w, list);
}

void
walk_item(struct walk *w, const char *list)
{
	enter(w, list, WALK_ITEM);
}

void
walk_enter_item(struct walk *w, const char *list, const char *group, ...)
{
	va_list args;

	enter(w, list, WALK_ITEM);
	va_start(args, group);
	vsnprintf(w->group + w->cut[w->n - 1], sizeof(w->group) - w->cut[w->n - 1], group, args);
	va_end(args);
}

void
walk_enter_named(struct walk *w, const char *member)
{
	assert(w->names_only);
	enter(w, member, WALK_NAMED);
}

void
walk_leave(struct walk *w)
{
	w->group[w->cut[--w->n]] = '\0';
	w->optional = w->outer_optional[w->n];
	if (w->leave != NULL)
		w->leave(w);
}

static void
visit(struct walk *w, struct walk_row row)
{
	row.optional = w->optional;
	w->row(w, &row);
}

#define ROW(t, ...)                                                                                \
	visit(w,                                                                                   \
	      (struct walk_row){.name = name, .help = help, .kind = kind, .type = t, __VA_ARGS__})

void
walk_number(struct walk *w, enum walk_kind kind, const char *name, const char *help, uint64_t value)
{
	ROW(WALK_NUMBER, .number = value);
}

void
walk_signed(struct walk *w, enum walk_kind kind, const char *name, const char *help, int64_t value)
{
	ROW(WALK_SIGNED, .number = (uint64_t)value);
}

void
walk_real(struct walk *w, enum walk_kind kind, const char *name, const char *help, double value)
{
	ROW(WALK_REAL, .real = value);
}

void
walk_flag(struct walk *w, enum walk_kind kind, const char *name, const char *help, bool value)
{
	ROW(WALK_FLAG, .number = value);
}

void
walk_text(struct walk *w, enum walk_kind kind, const char *name, const char *help,
	  const char *value)
{
	ROW(WALK_TEXT, .text = value);
}

void
walk_limit(struct walk *w, enum walk_kind kind, const char *name, const char *help, uint64_t value,
	   const char *text)
{
	ROW(WALK_LIMIT, .number = value, .text = text);
}

void
walk_maybe(struct walk *w, enum walk_kind kind, const char *name, const char *help, uint64_t value,
	   bool is_null)
{
	ROW(WALK_MAYBE, .number = value, .is_null = is_null);
}

void
walk_maybe_real(struct walk *w, enum walk_kind kind, const char *name, const char *help,
		double value, bool is_null)
{
	ROW(WALK_MAYBE_REAL, .real = value, .is_null = is_null);
}

void
walk_maybe_text(struct walk *w, enum walk_kind kind, const char *name, const char *help,
		const char *value)
{
	ROW(WALK_MAYBE_TEXT, .text = value, .is_null = value == NULL);
}

void
walk_null(struct walk *w, const char *member)
{
	const char *name = member, *help = "";
	const enum walk_kind kind = WALK_KEY;

	ROW(WALK_NULL, .is_null = true);
}

void
walk_object(struct walk *w, const char *name, const char *help)
{
	const enum walk_kind kind = WALK_KEY;

	ROW(WALK_OBJECT);
}

void
walk_texts(struct walk *w, const char *name, const char *help)
{
	const enum walk_kind kind = WALK_KEY;

	ROW(WALK_TEXTS);
}

void
walk_add_text(struct walk *w, const char *list, const char *text)
{
	const char *name = list, *help = "";
	const enum walk_kind kind = WALK_KEY;

	ROW(WALK_ADDED, .text = text);
}

void
walk_counters(struct walk *w, enum walk_kind kind, const struct counter_field *fields,
	      unsigned int n, const void *stats)
{
	for (unsigned int i = 0; i < n; i++) {
		const void *counter = (const char *)stats + (w->names_only ? 0 : fields[i].offset);

		walk_number(w, kind, fields[i].name, fields[i].help,
			    w->names_only ? 0 : counter_read(counter));
	}
}

static void
walk_field(struct walk *w, enum walk_kind kind, const struct field *f, const void *params)
{
	struct walk_row row = {.name = f->name, .help = f->help, .kind = kind};
	char text[FIELD_VALUE_SIZE];

	if (f->type == FIELD_BOOL)
		row.type = WALK_FLAG;
	else if (f->type == FIELD_U64 && f->max > INT64_MAX)
		row.type = WALK_LIMIT;
	else if (f->type < FIELD_U8 || f->type > FIELD_U64)
		row.type = WALK_TEXT;
	if (row.type == WALK_TEXT)
		row.kind = WALK_PARAM;
	if (!w->names_only && row.type == WALK_FLAG)
		row.number = *(const bool *)((const char *)params + f->offset);
	else if (!w->names_only && row.type != WALK_TEXT)
		row.number = field_number(f, params);
	if (!w->names_only && (row.type == WALK_TEXT || row.number > INT64_MAX)) {
		field_format(f, params, text, sizeof(text));
		row.text = text;
	}
	visit(w, row);
}

void
walk_fields(struct walk *w, enum walk_kind kind, const struct field *fields, unsigned int n,
	    const void *params)
{
	for (unsigned int i = 0; i < n; i++)
		walk_field(w, kind, &fields[i], params);
}
