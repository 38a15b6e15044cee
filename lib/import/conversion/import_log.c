// SPDX-License-Identifier: BSD-3-Clause
#include "import/conversion/import_log.h"
#include "import/conversion/import_memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/*
 * Limit of each of the two lists of comments in a file, in bytes, because the INI reader refuses
 * files above 1 MiB.
 */
#define MAX_COMMENT_BYTES (256u << 10)

#define MAX_ASIDES 64 /* words in the report */

/*
 * Replace line ends and control characters of the input, so that a terminal does not execute them.
 */
static void
make_printable(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

static void
add(char ***list, unsigned int *n, const char *format, va_list args)
{
	char **grown = *list, *text;

	/* The list has room up to the next power of two. */
	if ((*n & (*n - 1)) == 0)
		grown = import_grow(*list, *n == 0 ? 1 : 2 * (size_t)*n, sizeof(*grown));
	if (vasprintf(&text, format, args) < 0)
		import_no_memory();
	make_printable(text);
	*list = grown;
	grown[(*n)++] = text;
}

void
import_lost(struct import_log *log, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(&log->lost, &log->n_lost, format, args);
	va_end(args);
}

void
import_aside(struct import_log *log, const char *format, ...)
{
	unsigned int i = 0;
	va_list args;
	char *word;

	va_start(args, format);
	if (vasprintf(&word, format, args) < 0)
		import_no_memory();
	va_end(args);
	make_printable(word);
	while (i < log->n_asides && strcmp(log->asides[i].word, word) != 0)
		i++;
	if (i < log->n_asides) {
		log->asides[i].n++;
		free(word);
		return;
	}
	log->asides = import_grow(log->asides, log->n_asides + 1, sizeof(*log->asides));
	log->asides[log->n_asides++] = (struct import_aside){word, 1};
}

char *
import_aside_text(const struct import_log *log)
{
	char *text;
	size_t size;
	FILE *out = import_text_open(&text, &size);

	for (unsigned int i = 0; i < log->n_asides && i < MAX_ASIDES; i++) {
		fprintf(out, "%s%.80s", i > 0 ? ", " : "", log->asides[i].word);
		if (log->asides[i].n > 1)
			fprintf(out, " (%u)", log->asides[i].n);
	}
	if (log->n_asides > MAX_ASIDES)
		fprintf(out, " and %u more", log->n_asides - MAX_ASIDES);
	import_text_close(out, &text);
	return text;
}

void
import_note(struct import_log *log, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(&log->notes, &log->n_notes, format, args);
	va_end(args);
}

int
import_refuse(struct import_log *log, const char *format, ...)
{
	va_list args;
	int used;

	used = snprintf(log->error, sizeof(log->error), "%.256s:", log->file);
	va_start(args, format);
	vsnprintf(log->error + used, sizeof(log->error) - (size_t)used, format, args);
	va_end(args);
	make_printable(log->error);
	return -EINVAL;
}

void
import_log_free(struct import_log *log)
{
	for (unsigned int i = 0; i < log->n_lost; i++)
		free(log->lost[i]);
	for (unsigned int i = 0; i < log->n_notes; i++)
		free(log->notes[i]);
	for (unsigned int i = 0; i < log->n_asides; i++)
		free(log->asides[i].word);
	free(log->lost);
	free(log->notes);
	free(log->asides);
	log->lost = log->notes = NULL;
	log->asides = NULL;
	log->n_lost = log->n_notes = log->n_asides = 0;
}

static void
print_list(FILE *out, const char *title, char *const *list, unsigned int n)
{
	size_t bytes = 0;

	if (n == 0)
		return;
	fprintf(out, "#\n# %s:\n", title);
	for (unsigned int i = 0; i < n; i++) {
		const char *text = list[i] + (list[i][0] == ' ');

		bytes += strlen(text) + 5;
		if (bytes > MAX_COMMENT_BYTES) {
			fprintf(out, "#   and %u more, which quenchctl prints on standard error\n",
				n - i);
			return;
		}
		fprintf(out, "#   %s\n", text);
	}
}

void
import_print_head(FILE *out, const char *program, const struct import_log *log)
{
	const char *slash = strrchr(log->file, '/');

	fprintf(out, "# SPDX-License-Identifier: BSD-3-Clause\n# A %s made by quenchctl import of ",
		program);
	for (const char *c = slash != NULL ? slash + 1 : log->file; *c != '\0'; c++)
		fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, out);
	fprintf(out, ".\n# Keys that are missing here have the defaults of %s --help-config.\n",
		program);
	print_list(out, "Not carried over", log->lost, log->n_lost);
	print_list(out, "Changed or assumed", log->notes, log->n_notes);
	if (log->n_asides > 0) {
		char *asides = import_aside_text(log);

		fprintf(out,
			"#\n# Not about forwarding or buffering, and not carried over:\n#   %s\n",
			asides);
		free(asides);
	}
}
