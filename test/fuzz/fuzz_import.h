/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a file of another dialect: refused with one line, or taken whole. */
#ifndef QUENCH_TEST_FUZZ_FUZZ_IMPORT_H
#define QUENCH_TEST_FUZZ_FUZZ_IMPORT_H

#include <string.h>

#include "fuzz/fuzz.h"
#include "import/import.h"

/* One line, the file in front, nothing cut off. */
static inline void
fuzz_check_refusal(const struct import_log *log)
{
	FUZZ_CHECK(strncmp(log->error, "in:", 3) == 0);
	FUZZ_CHECK(strchr(log->error, '\n') == NULL);
	FUZZ_CHECK(strlen(log->error) < sizeof(log->error) - 1);
}

/* What an importer takes has been read back by the reader of quench-switch already. */
static inline void
fuzz_switch(int (*fn)(const char *text, size_t size, struct import_switch *out,
		      struct import_log *log),
	    const uint8_t *data, size_t len)
{
	static struct import_switch sw;
	char *text[2] = {NULL, NULL};

	for (unsigned int i = 0; i < 2; i++) {
		struct import_log log = {.file = "in"};
		size_t size;
		FILE *out;

		if (fn((const char *)data, len, &sw, &log) != 0) {
			fuzz_check_refusal(&log);
			import_log_free(&log);
			return;
		}
		out = open_memstream(&text[i], &size);
		import_switch_print(out, &sw, &log);
		if (export_sonic(&sw, out, &log) != 0)
			fuzz_check_refusal(&log);
		fclose(out);
		import_log_free(&log);
	}
	FUZZ_CHECK(strcmp(text[0], text[1]) == 0);
	free(text[0]);
	free(text[1]);
}

#endif
