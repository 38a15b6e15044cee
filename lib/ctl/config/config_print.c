/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctl/config/config.h"

/* Aliases of a key, as a comment: mlx5's names, symbols of papers. */
static void
print_other_names(FILE *out, const struct field *field, const void *object)
{
	const char *joint = "  # ";

	for (int a = 0; a < FIELD_ALIASES && field->aliases[a].name; a++) {
		char text[FIELD_TEXT_SIZE];

		if (field->type > FIELD_ENUM)
			break;
		field_format_alias(field, &field->aliases[a], object, text, sizeof(text));
		fprintf(out, "%s%s = %s", joint, field->aliases[a].name, text);
		joint = ", ";
	}
}

void
config_print_keys(FILE *out, const struct field *fields, unsigned int n, const void *object)
{
	for (unsigned int i = 0; i < n; i++) {
		char text[FIELD_VALUE_SIZE];

		field_format(&fields[i], object, text, sizeof(text));
		fprintf(out, "%s = %s", fields[i].name, text);
		print_other_names(out, &fields[i], object);
		fputc('\n', out);
	}
}

void
config_print(FILE *out, const char *section, const struct field *fields, unsigned int n,
	     const void *object)
{
	fprintf(out, "[%s]\n", section);
	config_print_keys(out, fields, n, object);
	fputc('\n', out);
}

/* Values that a key accepts, without an example: the default has its own column. */
static void
print_values(FILE *out, const struct field *field)
{
	struct field bare = *field;
	char text[FIELD_TEXT_SIZE];

	bare.def = NULL;
	field_expected(&bare, NULL, text, sizeof(text));
	fputs(text, out);
}

static void
print_aliases(FILE *out, const struct field *field)
{
	for (int a = 0; a < FIELD_ALIASES && field->aliases[a].name; a++) {
		const struct field_alias *alias = &field->aliases[a];

		fprintf(out, "%s`%s`", a ? ", " : "", alias->name);
		if (alias->one_minus)
			fputs(" (one minus)", out);
		else if (alias->scale > 1)
			fprintf(out, " (x %llu)", (unsigned long long)alias->scale);
	}
}

static void
print_reference_rows(FILE *out, const struct field *fields, unsigned int n, bool fixed)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct field *f = &fields[i];

		fprintf(out, "| `%s` | ", f->name);
		print_values(out, f);
		fprintf(out, " | %s | %s | ",
			!f->def   ? "required"
			: *f->def ? f->def
				  : "(empty)",
			f->live && !fixed ? "yes" : "");
		print_aliases(out, f);
		fprintf(out, " | %s |\n", f->help ? f->help : "");
	}
}

void
config_sections_print_reference(FILE *out, const struct field_section *sections, unsigned int n,
				bool fixed)
{
	for (unsigned int i = 0; i < n; i++) {
		if (i == 0 || strcmp(sections[i].name, sections[i - 1].name) != 0)
			fprintf(out,
				"%s## [%s]\n\n"
				"| key | values | default | live | also known as | meaning |\n"
				"|---|---|---|---|---|---|\n",
				i == 0 ? "" : "\n", sections[i].name);
		print_reference_rows(out, sections[i].fields, *sections[i].n, fixed);
	}
	fputc('\n', out);
}

void
config_print_reference(FILE *out, const char *section, const struct field *fields, unsigned int n)
{
	const struct field_section alone = {section, fields, &n, 0};

	config_sections_print_reference(out, &alone, 1, false);
}
