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

/* Beginnings of lines of management and routing protocols. */
static const char *const aside_lines[] = {
	"aaa",
	"banner",
	"boot",
	"callhome",
	"cdp",
	"cfs",
	"cli",
	"clock",
	"control-plane",
	"copp",
	"crypto",
	"errdisable",
	"event",
	"feature",
	"feature-set",
	"flow",
	"hostname",
	"icam",
	"interface mgmt",
	"ip community-list",
	"ip domain",
	"ip domain-list",
	"ip domain-lookup",
	"ip domain-name",
	"ip ftp",
	"ip host",
	"ip http",
	"ip name-server",
	"ip prefix-list",
	"ip ssh",
	"ip tftp",
	"ipv6 prefix-list",
	"key",
	"license",
	"line",
	"logging",
	"ntp",
	"nv",
	"nxapi",
	"password",
	"poap",
	"power",
	"radius",
	"radius-server",
	"rmon",
	"role",
	"route-map",
	"router",
	"scheduler",
	"sflow",
	"snmp-server",
	"ssh",
	"switchname",
	"tacacs",
	"tacacs-server",
	"telemetry",
	"telnet",
	"tftp-server",
	"udld",
	"username",
	"vdc",
	"version",
};

/* The same for lines of an interface. */
static const char *const aside_settings[] = {
	"beacon",        "bfd",     "cdp",          "description", "duplex",         "fec",
	"ip ospf",       "ip pim",  "ip redirects", "ip router",   "ipv6 redirects", "isis",
	"load-interval", "logging", "negotiate",    "snmp",        "udld",
};

/* The line that opens the outermost block of a line. */
static const struct nx_line *
top_of(const struct nx_lines *nx, const struct nx_line *line)
{
	while (line->parent != NX_TOP)
		line = &nx->lines[line->parent];
	return line;
}

/* Does a line begin with one of these words? "interface mgmt" also begins "interface mgmt0". */
static bool
begins_with(const char *text, const char *const *list, size_t n)
{
	if (strncasecmp(text, "no ", 3) == 0)
		text += 3;
	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(list[i]);

		if (strncasecmp(text, list[i], length) == 0 &&
		    (text[length] == '\0' || text[length] == ' ' ||
		     strcmp(list[i], "interface mgmt") == 0))
			return true;
	}
	return false;
}

static bool
is_aside(const struct nx_lines *nx, const struct nx_line *line, const struct nx_line **word)
{
	const struct nx_line *top = top_of(nx, line);

	*word = top;
	if (begins_with(top->text, aside_lines, ARRAY_LEN(aside_lines)))
		return true;
	*word = line;
	return (line->why == NULL || strncasecmp(line->text, "no ", 3) == 0) &&
	       strncasecmp(top->text, "interface ", 10) == 0 && top != line &&
	       begins_with(line->text, aside_settings, ARRAY_LEN(aside_settings));
}

/* The first word; of "ip", "no" and "interface" the first two. */
static int
word_length(const char *text)
{
	size_t n = strcspn(text, " ");

	if (strncasecmp(text, "no ", 3) == 0 || strncasecmp(text, "ip ", 3) == 0 ||
	    strncasecmp(text, "ipv6 ", 5) == 0 || strncasecmp(text, "interface ", 10) == 0)
		n += 1 + strcspn(text + n + 1, " ");
	return (int)(n < 60 ? n : 60);
}

/* Omit hashes and keys of the device, because the list goes into a file that others may read. */
static void
lose(const struct nx_lines *nx, const struct nx_line *line)
{
	size_t n = open_part(line->text);
	const char *why = line->why != NULL ? line->why : "no counterpart";
	struct import_log *log = nx->log;
	const struct nx_line *word;

	if (is_aside(nx, line, &word)) {
		import_aside(log, "%.*s", word_length(word->text), word->text);
		return;
	}
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
			lose(nx, &nx->lines[i]);
}
