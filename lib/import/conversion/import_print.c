// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "import/conversion/import_log.h"

/* Sections that are printed with all keys, because readers look for them first. */
static const char *const whole_sections[] = {"qos_map", "scheduler", "rp", "np"};

struct line {
	const char *at;
	size_t n; /* without the newline and the comment */
};

static struct line
line_at(const char *text)
{
	struct line l = {text, strcspn(text, "\n")};
	const char *comment = memmem(text, l.n, "  # ", 4);

	if (comment != NULL)
		l.n = (size_t)(comment - text);
	return l;
}

static const char *
next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end != NULL ? end + 1 : text + strlen(text);
}

static bool
same(struct line a, struct line b)
{
	return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

/* The first line of the section [name], or NULL. */
static const char *
find_section(const char *text, const char *name, size_t n)
{
	for (; *text != '\0'; text = next_line(text))
		if (*text == '[' && strncmp(text + 1, name, n) == 0 && text[1 + n] == ']')
			return next_line(text);
	return NULL;
}

/* The keys of "queue 3" or "pg 3", which "queue 1|3" overrides; or NULL. */
static const char *
of_every_port(const char *text, struct line head)
{
	const char *name = head.at + 1, *bar = memchr(name, '|', head.n - 2);
	char every[16];

	if (bar == NULL || (strncmp(name, "queue ", 6) != 0 && strncmp(name, "pg ", 3) != 0))
		return NULL;
	snprintf(every, sizeof(every), "%.*s %c", *name == 'q' ? 5 : 2, name, bar[1]);
	return find_section(text, every, strlen(every));
}

/*
 * Find the lines that a section is compared with: the section of text that it overrides, else the
 * section of the same name in base, else the section of its kind in base.
 */
static const char *
base_of(const char *text, const char *base, struct line head)
{
	const char *name = head.at + 1, *blank = memchr(name, ' ', head.n - 2);
	const char *keys = of_every_port(text, head);
	bool is_port = strncmp(name, "port ", 5) == 0;

	if (keys == NULL && !is_port)
		keys = find_section(base, name, head.n - 2);
	if (keys == NULL && blank != NULL)
		keys = find_section(base, name, (size_t)(blank - name));
	return keys;
}

static bool
has_line(const char *keys, struct line line)
{
	for (; keys != NULL && *keys != '\0' && *keys != '[' && *keys != '\n';
	     keys = next_line(keys))
		if (same(line_at(keys), line))
			return true;
	return false;
}

static bool
is_whole(struct line head)
{
	for (unsigned int i = 0; i < ARRAY_LEN(whole_sections); i++) {
		size_t n = strlen(whole_sections[i]);

		if (head.n == n + 2 && memcmp(head.at + 1, whole_sections[i], n) == 0)
			return true;
	}
	return false;
}

/* Other sections may refer to this one, so it is printed even without keys. */
static bool
is_named(struct line head)
{
	return strncmp(head.at, "[port ", 6) == 0 || strncmp(head.at, "[wred ", 6) == 0 ||
	       strncmp(head.at, "[buffer_profile ", 16) == 0;
}

static void
print_line(FILE *out, struct line l)
{
	fwrite(l.at, 1, l.n, out);
	fputc('\n', out);
}

/* @return the first line after the section. */
static const char *
print_section(FILE *out, const char *whole, const char *text, const char *base)
{
	struct line head = line_at(text);
	const char *keys = base_of(whole, base, head);
	bool known = find_section(base, head.at + 1, head.n - 2) != NULL;
	bool begun = is_named(head) && (!known || strncmp(head.at, "[port ", 6) == 0);

	if (begun) {
		fputc('\n', out);
		print_line(out, head);
	}
	for (text = next_line(text); *text != '\0' && *text != '['; text = next_line(text)) {
		struct line l = line_at(text);

		if (l.n == 0 || *text == '#' || (!is_whole(head) && has_line(keys, l)))
			continue;
		if (!begun) {
			fputc('\n', out);
			print_line(out, head);
		}
		begun = true;
		print_line(out, l);
	}
	return text;
}

void
import_print_changed(FILE *out, const char *text, const char *base)
{
	for (const char *at = text; *at != '\0';)
		at = *at == '[' ? print_section(out, text, at, base) : next_line(at);
}

void
import_lose_changed(struct import_log *log, const char *text, const char *is, const char *why)
{
	const char *keys = NULL;
	struct line head = {text, 0};

	for (; *text != '\0'; text = next_line(text)) {
		struct line l = line_at(text);

		if (*text == '[') {
			head = l;
			keys = find_section(is, l.at + 1, l.n - 2);
		} else if (l.n > 0 && *text != '#' && !has_line(keys, l)) {
			import_lost(log, " %.*s %.*s: %s", (int)head.n, head.at, (int)l.n, l.at,
				    why);
		}
	}
}
