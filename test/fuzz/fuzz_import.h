/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a file of another dialect: refused with one line, or taken whole. */
#ifndef QUENCH_TEST_FUZZ_FUZZ_IMPORT_H
#define QUENCH_TEST_FUZZ_FUZZ_IMPORT_H

#include <string.h>

#include "fuzz/fuzz.h"
#include "import/conversion/import.h"
#include "import/export/export_sonic.h"
#include "import/mlx5/mlnx.h"
#include "import/nxos/nxos.h"
#include "import/sonic/sonic.h"

/* One line, the file in front, nothing cut off. */
static inline void
fuzz_check_refusal(const struct import_log *log)
{
	FUZZ_CHECK(strncmp(log->error, "in:", 3) == 0);
	FUZZ_CHECK(strchr(log->error, '\n') == NULL);
	FUZZ_CHECK(strlen(log->error) < sizeof(log->error) - 1);
}

/*
 * What an importer takes has been read back by the reader of quench-switch already, and found the
 * same. goes_back: it can be written as SONiC's tables, which are read back as well.
 */
static inline void
fuzz_switch(int (*fn)(const char *text, size_t size, struct import_switch *out,
		      struct import_log *log),
	    const uint8_t *data, size_t len, bool goes_back)
{
	static struct import_switch sw;
	struct import_log log = {.file = "in"};
	char *text = NULL;
	size_t size;
	FILE *out;

	if (fn((const char *)data, len, &sw, &log) != 0) {
		fuzz_check_refusal(&log);
	} else if (goes_back) {
		out = open_memstream(&text, &size);
		if (export_sonic(&sw, out, &log) != 0)
			fuzz_check_refusal(&log);
		fclose(out);
		free(text);
	}
	import_switch_free(&sw);
	import_log_free(&log);
}

#endif
