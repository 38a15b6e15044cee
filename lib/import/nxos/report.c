// SPDX-License-Identifier: BSD-3-Clause
/* Reports the unused lines of a running-config, without secrets. */
#include <string.h>
#include <strings.h>

#include "base/numbers/array.h"
#include "import/conversion/import_log.h"
#include "import/nxos/lines.h"

/* @return length of the part of a line before a secret; the whole length if it has none. */
static size_t
open_part(const char *text)
{
	static const char *const before_secrets[] = {
		"password", "passphrase", "secret", "key",  "key-string",   "community",
		"auth",     "priv",       "md5",    "sha1", "localizedkey", "wpa-psk",
	};
	size_t at = 0;

	while (text[at] != '\0') {
		const char *word = text + at + (text[at] == ' ');
		size_t n = strcspn(word, " ");

		at = (size_t)(word - text) + n;
		for (size_t i = 0; i < ARRAY_LEN(before_secrets); i++)
			if (n == strlen(before_secrets[i]) &&
			    strncasecmp(word, before_secrets[i], n) == 0)
				return at;
	}
	return at;
}

/* Omit hashes and keys of the device, because the list goes into a file that others may read. */
static void
lose(struct import_log *log, const struct nx_line *line)
{
	size_t n = open_part(line->text);
	const char *why = line->why != NULL ? line->why : "no counterpart";

	if (line->text[n] != '\0')
		import_lost(log, "%u: %.*s ...: %s", line->number, (int)(n < 200 ? n : 200),
			    line->text, why);
	else
		import_lost(log, "%u: %.200s: %s", line->number, line->text, why);
}

void
nx_report(const struct nx_lines *nx)
{
	for (int i = 0; i < nx->n; i++)
		if (!nx->lines[i].used)
			lose(nx->log, &nx->lines[i]);
}
