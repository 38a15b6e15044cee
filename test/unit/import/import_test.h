/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of importers share: a text in, a switch or a refusal out. */
#ifndef QUENCH_TEST_UNIT_IMPORT_IMPORT_TEST_H
#define QUENCH_TEST_UNIT_IMPORT_IMPORT_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "import/conversion/import.h"
#include "import/export/export_sonic.h"
#include "import/mlx5/mlnx.h"
#include "import/nxos/nxos.h"
#include "import/sonic/sonic.h"

typedef int import_fn(const char *text, size_t size, struct import_switch *out,
		      struct import_log *log);

static struct import_switch imported;
static struct import_log log_of;

static const char *ports_of; /* --ports of the next input */

static inline int
take(import_fn *fn, const char *text)
{
	import_log_free(&log_of);
	import_switch_free(&imported);
	log_of = (struct import_log){.file = "in", .ports = ports_of};
	return fn(text, strlen(text), &imported, &log_of);
}

/* Taken, with so many things left behind. */
static inline void
taken(import_fn *fn, const char *text, unsigned int n_lost)
{
	if (take(fn, text) != 0)
		fail_msg("refused: %s", log_of.error);
	if (log_of.n_lost == n_lost)
		return;
	for (unsigned int i = 0; i < log_of.n_lost; i++)
		print_message("lost: %s\n", log_of.lost[i]);
	fail_msg("%u lost, expected %u", log_of.n_lost, n_lost);
}

static inline void
refused(import_fn *fn, const char *text, const char *words)
{
	if (take(fn, text) == 0)
		fail_msg("taken, expected '%s'", words);
	if (strstr(log_of.error, words) == NULL || strncmp(log_of.error, "in:", 3) != 0)
		fail_msg("%s: expected '%s'", log_of.error, words);
}

/* An input, and words of the error with which it is refused. */
struct refusal {
	const char *text, *words;
};

static inline void
refused_each(import_fn *fn, const struct refusal *table, size_t n)
{
	for (size_t i = 0; i < n; i++)
		refused(fn, table[i].text, table[i].words);
}

static inline bool
in_list(char *const *list, unsigned int n, const char *words)
{
	for (unsigned int i = 0; i < n; i++)
		if (strstr(list[i], words) != NULL)
			return true;
	return false;
}

static inline void
lost(const char *words)
{
	if (!in_list(log_of.lost, log_of.n_lost, words))
		fail_msg("nothing lost with '%s'", words);
}

/* Lines or fields that are neither carried over nor lost, because they concern neither. */
static inline void
aside(const char *text)
{
	char *is = import_aside_text(&log_of);

	assert_string_equal(is, text);
	free(is);
}

static inline void
noted(const char *words)
{
	if (!in_list(log_of.notes, log_of.n_notes, words))
		fail_msg("no note with '%s'", words);
}

static inline char *
printed(void)
{
	/* gcc 12 takes locals for gone once a caller prints twice. */
	static char *text;
	static size_t size;
	FILE *out = open_memstream(&text, &size);

	import_switch_print(out, &imported, &log_of);
	fclose(out);
	return text;
}

/* A file of test/imports. */
static inline char *
fixture(const char *name)
{
	const char *folder = getenv("QUENCH_IMPORTS_DIR");
	static char text[1 << 16];
	char path[4096];
	FILE *in;

	if (folder == NULL) {
		print_message("QUENCH_IMPORTS_DIR is not set: no %s\n", name);
		skip();
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	in = fopen(path, "r");
	assert_non_null(in);
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	return text;
}

/*
 * A file prints as the same text again after another one was taken, and the text holds a part.
 * n_lost: what is left behind of each.
 */
static inline void
printed_again_the_same(import_fn *fn, const char *file, unsigned int n_lost, const char *other,
		       unsigned int other_n_lost, const char *part)
{
	char *first, *second;

	taken(fn, fixture(file), n_lost);
	first = printed();
	taken(fn, fixture(other), other_n_lost);
	taken(fn, fixture(file), n_lost);
	second = printed();
	assert_string_equal(first, second);
	assert_non_null(strstr(first, part));
	free(first);
	free(second);
	import_log_free(&log_of);
}

#endif
