/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctl/config.h"

void
config_print(FILE *out, const char *section, const struct field *fields, unsigned int n,
	     const void *object)
{
	fprintf(out, "[%s]\n", section);
	for (unsigned int i = 0; i < n; i++) {
		char text[FIELD_TEXT_SIZE];

		field_format(&fields[i], object, text, sizeof(text));
		fprintf(out, "%s = %s\n", fields[i].name, text);
	}
	fputc('\n', out);
}

/* What a key takes, without the example: the default stands in a column of its own. */
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

void
config_print_reference(FILE *out, const char *section, const struct field *fields, unsigned int n)
{
	fprintf(out, "## [%s]\n\n| key | values | default | also known as | meaning |\n", section);
	fputs("|---|---|---|---|---|\n", out);
	for (unsigned int i = 0; i < n; i++) {
		const struct field *f = &fields[i];

		fprintf(out, "| `%s` | ", f->name);
		print_values(out, f);
		if (!f->def)
			fputs(" | required | ", out);
		else if (*f->def == '\0')
			fputs(" | (empty) | ", out);
		else
			fprintf(out, " | %s | ", f->def);
		print_aliases(out, f);
		fprintf(out, " | %s |\n", f->help ? f->help : "");
	}
	fputc('\n', out);
}
