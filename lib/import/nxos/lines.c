// SPDX-License-Identifier: BSD-3-Clause
#include "base/numbers/array.h"
#include "base/numbers/decimal.h"
#include "import/conversion/import_memory.h"
#include "import/nxos/lines.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More than any switch has. */
#define MAX_LINES 65536u

/* Lines that identify a file of NX-OS. */
static const char *const openings[] = {
	"class-map ...",
	"policy-map ...",
	"system qos",
	"interface ...",
	"priority-flow-control ...",
};

/* Squeeze the blanks of a line, in place. */
static void
squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		char c = *from == '\t' ? ' ' : *from;

		if (c != ' ' || (to > text && to[-1] != ' '))
			*to++ = c;
	}
	while (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

/* A tab ends at the next multiple of eight. */
static unsigned int
indent_of(const char *text)
{
	unsigned int indent = 0;

	for (; *text == ' ' || *text == '\t'; text++)
		indent = *text == ' ' ? indent + 1 : (indent / 8 + 1) * 8;
	return indent;
}

/* Remove a remark after " !", except in free text. */
static void
cut_remark(char *text)
{
	char *remark = strstr(text, " !");

	if (remark != NULL && strncasecmp(text + strspn(text, " \t"), "description ", 12) != 0)
		*remark = '\0';
}

/* Lines without a setting: remarks, and commands of a script that leave a block. */
static bool
is_empty(const char *line)
{
	line += strspn(line, " \t");
	return *line == '\0' || *line == '!' || strcasecmp(line, "exit") == 0 ||
	       strcasecmp(line, "end") == 0;
}

static int
parent_of(const struct nx_lines *nx, unsigned int indent)
{
	int i = nx->n - 1;

	while (i >= 0 && nx->lines[i].indent >= indent)
		i = nx->lines[i].parent;
	return i;
}

static bool
has_lines(const struct nx_lines *nx, int i)
{
	return i + 1 < nx->n && nx->lines[i + 1].parent == i;
}

/* Hash table of blocks by their words, because a file may have thousands of them. */
struct blocks {
	int *slots; /* lines; -1: free */
	uint32_t mask;
};

static void
blocks_create(struct blocks *b, int n_lines)
{
	uint32_t n = 64;

	while (n < 2u * (uint32_t)n_lines)
		n *= 2;
	b->mask = n - 1;
	b->slots = import_alloc(n, sizeof(*b->slots));
	memset(b->slots, 0xff, n * sizeof(*b->slots));
}

/* FNV-1a, of lower case. */
static uint32_t
hash(const struct nx_line *line)
{
	uint32_t h = 0x811c9dc5u ^ (uint32_t)line->parent;

	for (const char *c = line->text; *c != '\0'; c++)
		h = (h ^ (uint8_t)tolower((unsigned char)*c)) * 0x01000193u;
	return h ^ h >> 15;
}

/*
 * The line that first opened this block (same parent, same words). -1: this line is the first, and
 * is added to the table.
 */
static int
opened_before(const struct nx_lines *nx, struct blocks *b, int block)
{
	const struct nx_line *line = &nx->lines[block];
	uint32_t slot = hash(line) & b->mask;

	for (; b->slots[slot] >= 0; slot = (slot + 1) & b->mask) {
		const struct nx_line *other = &nx->lines[b->slots[slot]];

		if (other->parent == line->parent && strcasecmp(other->text, line->text) == 0)
			return b->slots[slot];
	}
	b->slots[slot] = block;
	return -1;
}

static void
add_line(struct nx_lines *nx, char *text, unsigned int number)
{
	struct nx_line *line = &nx->lines[nx->n];

	line->indent = indent_of(text);
	line->number = number;
	line->parent = parent_of(nx, line->indent);
	squeeze(text);
	line->text = text;
	nx->n++;
}

/* Move the lines of a reopened block to its first opening. */
static void
join_blocks(struct nx_lines *nx)
{
	struct blocks blocks;

	blocks_create(&blocks, nx->n);
	for (int i = 0; i < nx->n; i++) {
		int first = has_lines(nx, i) ? opened_before(nx, &blocks, i) : -1;

		if (first < 0)
			continue;
		nx->lines[i].used = true;
		for (int k = i + 1; k < nx->n && nx->lines[k].indent > nx->lines[i].indent; k++)
			if (nx->lines[k].parent == i)
				nx->lines[k].parent = first;
	}
	free(blocks.slots);
}

/* Chain the lines of each block, so that a walk does not visit other lines. */
static void
chain_lines(struct nx_lines *nx)
{
	nx->first = nx->last = -1;
	for (int i = 0; i < nx->n; i++)
		nx->lines[i].first = nx->lines[i].last = nx->lines[i].next = -1;
	for (int i = 0; i < nx->n; i++) {
		int parent = nx->lines[i].parent;
		int *first = parent == NX_TOP ? &nx->first : &nx->lines[parent].first;
		int *last = parent == NX_TOP ? &nx->last : &nx->lines[parent].last;

		if (*last < 0)
			*first = i;
		else
			nx->lines[*last].next = i;
		*last = i;
	}
}

void
nx_use_block(struct nx_lines *nx, int i)
{
	nx->lines[i].used = true;
	for (int k = nx->lines[i].first; k >= 0; k = nx->lines[k].next)
		nx_use_block(nx, k);
}

/* Does b begin with the words of a? */
static bool
begins(const char *b, const char *a)
{
	size_t n = strlen(a);

	return strncasecmp(b, a, n) == 0 && (b[n] == '\0' || b[n] == ' ');
}

/* "no X" cancels earlier lines of its block that begin with X. */
static void
take_back(struct nx_lines *nx)
{
	for (int i = 0; i < nx->n; i++) {
		struct nx_line *line = &nx->lines[i];

		if (line->used || strncasecmp(line->text, "no ", 3) != 0)
			continue;
		line->why = "removes no line before it";
		for (int k = nx_next_of(nx, line->parent, -1); k < i; k = nx->lines[k].next) {
			if (nx->lines[k].used || !begins(nx->lines[k].text, line->text + 3))
				continue;
			nx_use_block(nx, k);
			line->used = true;
		}
	}
}

static bool
is_known(const struct nx_lines *nx)
{
	for (int i = 0; i < nx->n; i++) {
		for (unsigned int k = 0; k < ARRAY_LEN(openings); k++)
			if (nx_is(&nx->lines[i], openings[k], NULL))
				return true;
	}
	return false;
}

int
nx_lines_read(struct nx_lines *nx, const char *text, size_t size, struct import_log *log)
{
	unsigned int number = 0, most = 1;
	char *next;

	*nx = (struct nx_lines){.log = log};
	if (memchr(text, '\0', size) != NULL)
		return import_refuse(log, " a zero byte: expected the text of a running-config");
	for (size_t i = 0; i < size; i++)
		most += text[i] == '\n';
	if (most > MAX_LINES)
		return import_refuse(log, " expected at most %u lines", MAX_LINES);
	nx->text = import_copy(text, size);
	nx->lines = import_alloc(most, sizeof(*nx->lines));
	for (char *line = nx->text; line != NULL; line = next) {
		size_t n = strcspn(line, "\r\n");

		next = strchr(line, '\n');
		next = next != NULL ? next + 1 : NULL;
		line[n] = '\0';
		number++;
		cut_remark(line);
		if (!is_empty(line))
			add_line(nx, line, number);
	}
	if (!is_known(nx))
		return import_refuse(
			log,
			"%u: '%.40s': expected a running-config of NX-OS with class-map, "
			"policy-map, system qos, interface or priority-flow-control",
			nx->n > 0 ? nx->lines[0].number : 1, nx->n > 0 ? nx->lines[0].text : "");
	join_blocks(nx);
	chain_lines(nx);
	take_back(nx);
	return 0;
}

void
nx_lines_free(struct nx_lines *nx)
{
	free(nx->text);
	free(nx->lines);
}

static const char *
next_word(const char *text, size_t *n)
{
	text += *text == ' ';
	*n = strcspn(text, " ");
	return text;
}

static bool
keep_word(struct nx_args *args, const char *word, size_t n)
{
	if (args == NULL)
		return true;
	if (args->n == NX_MAX_WORDS || n >= sizeof(args->word[0]))
		return false;
	snprintf(args->word[args->n++], sizeof(args->word[0]), "%.*s", (int)n, word);
	return true;
}

bool
nx_is(const struct nx_line *line, const char *pattern, struct nx_args *args)
{
	const char *text = line->text;

	if (args != NULL)
		args->n = 0;
	while (*pattern != '\0') {
		size_t n_want, n_word;
		const char *want = next_word(pattern, &n_want);
		const char *word = next_word(text, &n_word);

		if (n_want == 3 && strncmp(want, "...", 3) == 0) {
			if (args == NULL)
				return true;
			snprintf(args->rest, sizeof(args->rest), "%s", word);
			return strlen(word) < sizeof(args->rest);
		}
		if (n_word == 0)
			return false;
		if (n_want == 1 && *want == '%') {
			if (!keep_word(args, word, n_word))
				return false;
		} else if (n_want != n_word || strncasecmp(want, word, n_want) != 0) {
			return false;
		}
		pattern = want + n_want;
		text = word + n_word;
	}
	return *text == '\0';
}

int
nx_next_of(const struct nx_lines *nx, int parent, int i)
{
	if (i >= 0)
		return nx->lines[i].next;
	return parent == NX_TOP ? nx->first : nx->lines[parent].first;
}

int
nx_next(const struct nx_lines *nx, int parent, int i)
{
	do {
		i = nx_next_of(nx, parent, i);
	} while (i >= 0 && nx->lines[i].used);
	return i;
}

void
nx_use(struct nx_lines *nx, int i)
{
	nx->lines[i].used = true;
}

void
nx_lose(struct nx_lines *nx, int i, const char *why)
{
	nx->lines[i].used = false;
	nx->lines[i].why = why;
}

void
nx_lose_block(struct nx_lines *nx, int i, const char *why)
{
	nx->lines[i].used = false;
	if (nx->lines[i].why == NULL)
		nx->lines[i].why = why;
	for (int k = nx->lines[i].first; k >= 0; k = nx->lines[k].next)
		if (!nx->lines[k].used)
			nx_lose_block(nx, k, why);
}

int
nx_refuse(const struct nx_lines *nx, int i, const char *expected)
{
	return import_refuse(nx->log, "%u: %.200s: expected %s", nx->lines[i].number,
			     nx->lines[i].text, expected);
}

int
nx_number(const struct nx_lines *nx, int i, const char *text, uint64_t min, uint64_t max,
	  uint64_t *out)
{
	char expected[128];

	if (decimal_parse(text, min, max, out))
		return 0;
	snprintf(expected, sizeof(expected),
		 "a whole number from %" PRIu64 " to %" PRIu64 " in place of %.40s", min, max,
		 text);
	return nx_refuse(nx, i, expected);
}
