// SPDX-License-Identifier: BSD-3-Clause
#include "import/conversion/import_memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "import/conversion/import.h"

static void (*handler)(void);

void
import_on_no_memory(void (*end)(void))
{
	handler = end;
}

void
import_no_memory(void)
{
	if (handler != NULL)
		handler();
	abort();
}

void
import_check_memory(const struct config_error *err)
{
	static const char words[] = "out of memory";
	size_t n = strlen(err->text);

	if (n >= strlen(words) && strcmp(err->text + n - strlen(words), words) == 0)
		import_no_memory();
}

static void *
given(void *p)
{
	if (p == NULL)
		import_no_memory();
	return p;
}

void *
import_alloc(size_t n, size_t bytes)
{
	return given(calloc(n, bytes));
}

void *
import_grow(void *p, size_t n, size_t bytes)
{
	return given(realloc(p, n * bytes));
}

char *
import_copy(const char *text, size_t size)
{
	return given(strndup(text, size));
}

FILE *
import_text_open(char **text, size_t *size)
{
	*text = NULL;
	return given(open_memstream(text, size));
}

void
import_text_close(FILE *out, char **text)
{
	int failed = ferror(out);

	/* Out of memory may be reported only here. */
	if (fclose(out) != 0 || failed || *text == NULL)
		import_no_memory();
}

static void *
json_alloc(size_t bytes)
{
	return given(malloc(bytes));
}

void
import_json_memory(void)
{
	json_set_alloc_funcs(json_alloc, free);
}
