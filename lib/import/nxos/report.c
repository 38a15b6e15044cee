// SPDX-License-Identifier: BSD-3-Clause
/* Reports the unused lines of a running-config, without secrets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/numbers/array.h"
#include "base/sets/names.h"
#include "import/conversion/import_log.h"
#include "import/conversion/import_memory.h"
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

/* More lines of one kind share an entry of the report. */
#define MANY 4
#define MOST_NUMBERS 20

/* Unused lines with the same first words, and the same reason. */
struct kind {
	char *id;
	unsigned int n; /* lines */
	char *numbers;  /* of the first lines after the first one */
};

struct kinds {
	struct names names; /* ids of the list */
	struct kind *list;
};

static const char *
reason(const struct nx_line *line)
{
	return line->why != NULL ? line->why : "no counterpart";
}

/* The kind of a line, which may be new. */
static struct kind *
kind_of(struct kinds *all, const struct nx_line *line)
{
	uint32_t number;
	char *id;

	if (asprintf(&id, "%.*s\n%d\n%s", word_length(line->text), line->text,
		     line->parent == NX_TOP, reason(line)) < 0)
		import_no_memory();
	number = names_find(&all->names, id);
	if (number != NAMES_NONE) {
		free(id);
		return &all->list[number];
	}
	all->list = import_grow(all->list, all->names.n + 1, sizeof(*all->list));
	all->list[all->names.n] = (struct kind){.id = id};
	number = names_add(&all->names, id);
	if (number == NAMES_NONE)
		import_no_memory();
	return &all->list[number];
}

static void
add_number(struct kind *kind, const struct nx_line *line)
{
	char *longer;

	if (kind->n++ == 0 || kind->n > MOST_NUMBERS)
		return;
	if (asprintf(&longer, "%s%s%u", kind->numbers != NULL ? kind->numbers : "",
		     kind->numbers != NULL ? ", " : "", line->number) < 0)
		import_no_memory();
	free(kind->numbers);
	kind->numbers = longer;
}

/* Omit hashes and keys of the device, because the list goes into a file that others may read. */
static void
lose(const struct nx_lines *nx, const struct nx_line *line, struct kind *kind)
{
	size_t n = open_part(line->text);
	char *more = NULL;

	if (kind->n == 0)
		return;
	if (kind->n > MANY && asprintf(&more, "; so are %u more lines like it: %s%s", kind->n - 1,
				       kind->numbers, kind->n > MOST_NUMBERS ? ", ..." : "") < 0)
		import_no_memory();
	import_lost(nx->log, "%u: %.*s%s: %s%s", line->number, (int)(n < 200 ? n : 200), line->text,
		    line->text[n] != '\0' ? " ..." : "", reason(line), more != NULL ? more : "");
	if (more != NULL)
		kind->n = 0;
	free(more);
}

void
nx_report(const struct nx_lines *nx)
{
	struct kinds all = {0};

	for (int i = 0; i < nx->n; i++) {
		const struct nx_line *line = &nx->lines[i], *word;

		if (line->used)
			continue;
		if (is_aside(nx, line, &word))
			import_aside(nx->log, "%.*s", word_length(word->text), word->text);
		else
			add_number(kind_of(&all, line), line);
	}
	for (int i = 0; i < nx->n; i++) {
		const struct nx_line *line = &nx->lines[i], *word;

		if (!line->used && !is_aside(nx, line, &word))
			lose(nx, line, kind_of(&all, line));
	}
	for (uint32_t i = 0; i < all.names.n; i++) {
		free(all.list[i].id);
		free(all.list[i].numbers);
	}
	free(all.list);
	names_free(&all.names);
}
