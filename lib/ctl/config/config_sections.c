/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/config/config_sections.h"

#include <errno.h>
#include <string.h>

int
config_sections_read(struct config *cfg, const struct field_section *sections, unsigned int n,
		     void *params, struct config_error *err)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < n; i++)
		rc = config_read(cfg, sections[i].name, sections[i].fields, *sections[i].n,
				 (char *)params + sections[i].offset, err);
	return rc;
}

int
config_sections_refuse(const struct config *cfg, const struct field_section *sections,
		       unsigned int n, const char *expected, struct config_error *err)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < n; i++)
		rc = config_refuse_given(cfg, sections[i].name, sections[i].fields, *sections[i].n,
					 expected, err);
	return rc;
}

void
config_sections_rows(const struct field_section *sections, unsigned int n, const void *params,
		     bool fixed, struct config_rows *rows)
{
	for (unsigned int i = 0; i < n; i++)
		config_rows_add(rows, sections[i].name, sections[i].fields, *sections[i].n,
				(const char *)params + sections[i].offset, fixed);
}

int
config_rows_read(struct config *cfg, const struct config_rows *rows, struct config_error *err)
{
	int rc = 0;

	if (rows->no_memory) {
		config_error_set(err, config_path(cfg), " out of memory");
		return -ENOMEM;
	}
	for (unsigned int i = 0; rc == 0 && i < rows->n; i++)
		rc = config_read(cfg, rows->rows[i].section, rows->rows[i].fields, rows->rows[i].n,
				 (void *)(uintptr_t)rows->rows[i].object, err);
	return rc;
}

/* The key to which a clause refers. */
struct blame {
	const struct config_row *row;
	const struct field *field;
};

/* Is prefix the section's name, or its last word ("lossy" of "buffer_profile lossy")? */
static bool
names_section(const char *prefix, size_t length, const char *section)
{
	const char *space = strrchr(section, ' ');

	if (strlen(section) == length && strncmp(prefix, section, length) == 0)
		return true;
	return space && strlen(space + 1) == length && strncmp(prefix, space + 1, length) == 0;
}

/* A clause that begins "lossy: " refers to that section, any other clause to all sections. */
static bool
speaks_of(const struct config_rows *rows, const char *why, const char *section)
{
	const char *colon = strstr(why, ": ");
	size_t length = colon ? (size_t)(colon - why) : 0;
	bool some = false;

	for (unsigned int i = 0; i < rows->n && !some; i++)
		some = names_section(why, length, rows->rows[i].section);
	return !some || names_section(why, length, section);
}

static bool
try_word(const struct config *cfg, const struct config_rows *rows, const char *why,
	 const char *word, struct blame *blame)
{
	for (unsigned int i = 0; i < rows->n; i++) {
		const struct config_row *row = &rows->rows[i];
		const struct field_alias *alias;
		const struct field *field;

		if (!speaks_of(rows, why, row->section))
			continue;
		field = field_find(row->fields, row->n, word, &alias);
		if (!field)
			continue;
		if (!blame->field)
			*blame = (struct blame){row, field};
		if (config_gives(cfg, row->section, field->name)) {
			*blame = (struct blame){row, field};
			return true;
		}
	}
	return false;
}

static struct blame
find_blame(const struct config *cfg, const struct config_rows *rows, const char *why)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
	struct blame blame = {0};

	for (const char *p = why; *p;) {
		char word[CONFIG_MAX_NAME + 1];
		size_t length = strspn(p, letters);

		snprintf(word, sizeof(word), "%.*s", (int)length, p);
		if (length > 0 && length < sizeof(word) && try_word(cfg, rows, why, word, &blame))
			break;
		p += length > 0 ? length : 1;
	}
	return blame;
}

int
config_rows_refuse(const struct config *cfg, const struct config_rows *rows, const char *why,
		   struct config_error *err)
{
	struct blame b = find_blame(cfg, rows, why);
	char value[FIELD_VALUE_SIZE];

	/*
	 * Report misspelt keys first: the default of the intended key is in force instead, and may
	 * break the rule.
	 */
	for (unsigned int i = 0; i < rows->n; i++)
		if (config_has(cfg, rows->rows[i].section) &&
		    config_finish_section(cfg, rows->rows[i].section, err) != 0)
			return -EINVAL;
	if (!b.field) {
		config_error_set(err, config_path(cfg), " %s", why);
		return -EINVAL;
	}
	field_format(b.field, b.row->object, value, sizeof(value));
	config_error_at(err, config_path(cfg), config_line(cfg, b.row->section, b.field->name),
			" [%s] %s = %s: %s", b.row->section, b.field->name, value, why);
	return -EINVAL;
}
