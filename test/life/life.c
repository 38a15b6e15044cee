/* SPDX-License-Identifier: BSD-3-Clause */
/* What lives have in common: words of a step, and the way in which one fails. */
#include "life.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers/array.h"
#include "base/field/field.h"

const char *life_line = "";
uint64_t life_now_ns;

void
life_take_steps(const struct script *script, void (*take)(const char *line))
{
	for (unsigned int i = 1; i < script->n; i++) {
		life_line = script->line[i];
		take(life_line);
	}
}

void
life_fail(const char *check, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "at %" PRIu64 " ns, in step \"%s\"\nbroken: %s: ", life_now_ns, life_line,
		check);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	fflush(stderr);
	_exit(1);
}

/* A word, or a part of one, with its blanks. */
static void
write_blanks(const char *text, FILE *out)
{
	for (; *text != '\0'; text++)
		fputc(*text == '+' ? ' ' : *text, out);
}

void
script_ini(const struct script *s, FILE *out)
{
	for (unsigned int i = 0; i < s->n; i++) {
		struct words w;

		words_of(s->line[i], &w);
		for (unsigned int k = 0; k < w.n; k++) {
			char *value = k > 0 ? strchr(w.word[k], '=') : NULL;

			fputs(k == 0 ? "[" : "", out);
			if (value != NULL)
				*value++ = '\0';
			write_blanks(w.word[k], out);
			if (value != NULL) {
				fputs(" = ", out);
				write_blanks(value, out);
			}
			fputs(k == 0 ? "]\n" : "\n", out);
		}
	}
}

void
words_of(const char *line, struct words *w)
{
	char *rest = NULL;

	snprintf(w->text, sizeof(w->text), "%s", line);
	w->n = 0;
	for (char *word = strtok_r(w->text, " \t", &rest); word != NULL && w->n < LIFE_MAX_WORDS;
	     word = strtok_r(NULL, " \t", &rest))
		w->word[w->n++] = word;
}

const char *
words_value(const struct words *w, const char *key)
{
	size_t n = strlen(key);

	for (unsigned int i = 1; i < w->n; i++)
		if (strncmp(w->word[i], key, n) == 0 && w->word[i][n] == '=')
			return w->word[i] + n + 1;
	return NULL;
}

uint64_t
life_number(const char *text)
{
	static const struct {
		const char *suffix;
		uint64_t scale;
	} units[] = {{"ns", 1},         {"us", 1000}, {"ms", 1000000},
		     {"s", 1000000000}, {"K", 1000},  {"M", 1000000},
		     {"G", 1000000000}, {"KB", 1000}, {"MB", 1000000}};
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	for (unsigned int i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(end, units[i].suffix) == 0)
			return n * units[i].scale;
	return n;
}

uint64_t
words_number(const struct words *w, const char *key, uint64_t def)
{
	const char *value = words_value(w, key);

	return value == NULL ? def : life_number(value);
}

uint64_t
words_at(const struct words *w, unsigned int i)
{
	return i < w->n ? life_number(w->word[i]) : 0;
}

/* ---- templates ---- */

#define TEMPLATE_BYTES 1024

/* Where a part ends: at a stop of its own level, or at the end. */
static const char *
part_end(const char *at, const char *end, char stop)
{
	for (unsigned int depth = 0; at < end; at++) {
		if (depth == 0 && *at == stop)
			break;
		depth += *at == '{';
		depth -= *at == '}';
	}
	return at;
}

static void write_choice(struct prng *r, FILE *out, const char *at, const char *end);

static void
write_part(struct prng *r, FILE *out, const char *at, const char *end)
{
	while (at < end) {
		const char *close;

		if (*at != '{') {
			fputc(*at++, out);
			continue;
		}
		close = part_end(at + 1, end, '}');
		write_choice(r, out, at + 1, close);
		at = close + 1;
	}
}

static void
write_one_of(struct prng *r, FILE *out, const char *at, const char *end)
{
	unsigned int n = 1;

	for (const char *bar = part_end(at, end, '|'); bar < end; bar = part_end(bar + 1, end, '|'))
		n++;
	for (uint64_t which = any(r, 0, n - 1); which > 0; which--)
		at = part_end(at, end, '|') + 1;
	write_part(r, out, at, part_end(at, end, '|'));
}

/* What stands in a pair of braces. */
static void
write_choice(struct prng *r, FILE *out, const char *at, const char *end)
{
	unsigned long long low, high;
	unsigned int pct;
	int n = 0;

	if (sscanf(at, "?%u:%n", &pct, &n) == 1 && n > 0) {
		const char *bar = part_end(at + n, end, '|');

		if (chance(r, pct))
			write_part(r, out, at + n, bar);
		else if (bar < end)
			write_part(r, out, bar + 1, end);
	} else if (sscanf(at, "%llu..%llu%n", &low, &high, &n) == 2 && at + n == end) {
		fprintf(out, "%" PRIu64, any(r, low, high));
	} else if (sscanf(at, "~%llu..%llu%n", &low, &high, &n) == 2 && at + n == end) {
		fprintf(out, "%" PRIu64, any_size(r, low, high));
	} else {
		write_one_of(r, out, at, end);
	}
}

void
life_write(struct prng *r, FILE *out, const char *format, ...)
{
	char text[TEMPLATE_BYTES];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	life_must("harness", n >= 0 && n < TEMPLATE_BYTES, "the template \"%s\" is too long",
		  format);
	write_part(r, out, text, text + n);
}

const char *
life_any_value(struct prng *r, const struct field *f, char *text, size_t size)
{
	uint64_t max = f->max, min = f->min > 0 ? (uint64_t)f->min : 0, n, def;
	const char *cut;

	switch (f->type) {
	case FIELD_BOOL:
		snprintf(text, size, "%s", chance(r, 50) ? "on" : "off");
		return text;
	case FIELD_ENUM: {
		unsigned int words = 0;

		while (f->choices[words] != NULL)
			words++;
		snprintf(text, size, "%s", f->choices[any(r, 0, words - 1)]);
		return text;
	}
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64:
		break;
	default:
		return NULL;
	}
	def = life_number(f->def == NULL ? "1" : f->def);
	cut = f->def != NULL && strpbrk(f->def, "%.") != NULL ? NULL : f->def;
	if (max > 1ull << 62)
		max = 1ull << 62;
	switch (any(r, 0, 9)) {
	case 0:
		n = min;
		break;
	case 1:
		n = max;
		break;
	case 2:
	case 3:
		if (cut != NULL) {
			snprintf(text, size, "%s", f->def);
			return text;
		}
		/* fall through */
	case 4:
	case 5:
		n = any_size(r, min, max);
		break;
	default:
		n = def / 16 + any_size(r, 0, def * 8);
		if (def == 0)
			n = any_size(r, min, max);
	}
	n = n < min ? min : n > max ? max : n;
	snprintf(text, size, "%" PRIu64, n);
	return text;
}
