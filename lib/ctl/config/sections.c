/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/config/sections.h"

#include <errno.h>
#include <string.h>

#include "ctl/config/rows.h"

int
config_sections_read(struct config *cfg, const struct config_section *sections, unsigned int n,
		     void *params, struct config_error *err)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < n; i++)
		rc = config_read(cfg, sections[i].name, sections[i].fields, *sections[i].n,
				 (char *)params + sections[i].offset, err);
	return rc;
}

/* Is row i the first, or the last, of its section? */
static bool
opens(const struct config_section *sections, unsigned int i)
{
	return i == 0 || strcmp(sections[i].name, sections[i - 1].name) != 0;
}

static bool
closes(const struct config_section *sections, unsigned int n, unsigned int i)
{
	return i + 1 == n || strcmp(sections[i].name, sections[i + 1].name) != 0;
}

void
config_sections_print(FILE *out, const struct config_section *sections, unsigned int n,
		      const void *params)
{
	for (unsigned int i = 0; i < n; i++) {
		if (opens(sections, i))
			config_print_head(out, sections[i].name);
		config_print_rows(out, sections[i].fields, *sections[i].n,
				  (const char *)params + sections[i].offset);
		if (closes(sections, n, i))
			fputc('\n', out);
	}
}

void
config_sections_print_reference(FILE *out, const struct config_section *sections, unsigned int n,
				bool fixed)
{
	for (unsigned int i = 0; i < n; i++) {
		if (opens(sections, i))
			config_print_reference_head(out, sections[i].name);
		config_print_reference_rows(out, sections[i].fields, *sections[i].n, fixed);
		if (closes(sections, n, i))
			fputc('\n', out);
	}
}

/* Which key a clause speaks of. */
struct blame {
	const struct config_section *section;
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

/* A clause that begins "lossy: " speaks of that section, any other of all sections. */
static bool
speaks_of(const struct config_section *sections, unsigned int n, const char *why,
	  const char *section)
{
	const char *colon = strstr(why, ": ");
	size_t length = colon ? (size_t)(colon - why) : 0;
	bool some = false;

	for (unsigned int i = 0; i < n && !some; i++)
		some = names_section(why, length, sections[i].name);
	return !some || names_section(why, length, section);
}

static bool
try_word(const struct config *cfg, const struct config_section *sections, unsigned int n,
	 const char *why, const char *word, struct blame *blame)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct field_alias *alias;
		const struct field *field;

		if (!speaks_of(sections, n, why, sections[i].name))
			continue;
		field = field_find(sections[i].fields, *sections[i].n, word, &alias);
		if (!field)
			continue;
		if (!blame->field)
			*blame = (struct blame){&sections[i], field};
		if (config_gives(cfg, sections[i].name, field->name)) {
			*blame = (struct blame){&sections[i], field};
			return true;
		}
	}
	return false;
}

static struct blame
find_blame(const struct config *cfg, const struct config_section *sections, unsigned int n,
	   const char *why)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
	struct blame blame = {0};

	for (const char *p = why; *p;) {
		char word[CONFIG_MAX_NAME + 1];
		size_t length = strspn(p, letters);

		snprintf(word, sizeof(word), "%.*s", (int)length, p);
		if (length > 0 && length < sizeof(word) &&
		    try_word(cfg, sections, n, why, word, &blame))
			break;
		p += length > 0 ? length : 1;
	}
	return blame;
}

int
config_sections_refuse(const struct config *cfg, const struct config_section *sections,
		       unsigned int n, const void *params, const char *why,
		       struct config_error *err)
{
	struct blame b = find_blame(cfg, sections, n, why);
	char value[FIELD_TEXT_SIZE];

	/* A misspelt key leaves its default in force, which may be what breaks the rule. */
	for (unsigned int i = 0; i < n; i++)
		if (config_has(cfg, sections[i].name) &&
		    config_finish_section(cfg, sections[i].name, err) != 0)
			return -EINVAL;
	if (!b.field) {
		config_error_set(err, config_path(cfg), " %s", why);
		return -EINVAL;
	}
	field_format(b.field, (const char *)params + b.section->offset, value, sizeof(value));
	config_error_set(err, config_path(cfg), " [%s] %s = %s: %s", b.section->name, b.field->name,
			 value, why);
	return -EINVAL;
}
