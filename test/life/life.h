/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Life in virtual time: a random life of some nodes, as a script of steps, and what must hold after
 * each of them.
 *
 * A script is text, a step on each line, so that a person can read it, change it and run it again.
 * A seed makes a script; all that is random in a life is in its script, and what a step needs by
 * chance (which frames are lost) is drawn from a number that the step names. So a script does the
 * same each time, also after other steps were deleted: the shrinker only deletes lines and words
 * and makes numbers smaller, and a step that makes no sense any more does nothing.
 *
 * A script of the fabric is a scenario file, where a section is a step: here it is one line, as
 * "event+cut at_ns=5 action=link_down", with + for a blank.
 *
 * A kind of life is a pair of functions: one writes a script, one lives it and calls life_fail()
 * when something does not hold. Each life is lived in a process that may crash.
 */
#ifndef QUENCH_TEST_LIFE_LIFE_H
#define QUENCH_TEST_LIFE_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/numbers/prng.h"
#include "unit/chance.h"

#define LIFE_MAX_WORDS 48

/* Lines, without their newlines. Empty lines and those that begin with # are left out. */
struct script {
	char **line;
	unsigned int n;
};

struct life_kind {
	const char *name; /* the first word of its scripts */
	const char *help;
	void (*make)(struct prng *r, FILE *script);
	/* Live a script. @return a digest of all that happened. */
	uint64_t (*live)(const struct script *script);
	bool is_ini; /* people read and write its scripts as INI files */
};

extern const struct life_kind life_pair;
extern const struct life_kind life_switch;
extern const struct life_kind life_fabric;

/** Write a script of sections as an INI file. */
void script_ini(const struct script *s, FILE *out);

/* Where a life is: named when it fails. */
extern const char *life_line;
extern uint64_t life_now_ns;

/** Take all steps of a script; its first line is its kind. */
void life_take_steps(const struct script *script, void (*take)(const char *line));

/** Something does not hold. @param check  One word that names the invariant. */
void life_fail(const char *check, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#define life_must(check, condition, ...)                                                           \
	do {                                                                                       \
		if (__builtin_expect(!(condition), 0))                                             \
			life_fail(check, __VA_ARGS__);                                             \
	} while (0)

/* A step's words. */
struct words {
	char text[1024];
	char *word[LIFE_MAX_WORDS];
	unsigned int n;
};

void words_of(const char *line, struct words *w);
/** What stands after "key=", or NULL. */
const char *words_value(const struct words *w, const char *key);
/** A number after "key=", with the suffix of a time or a rate (ns us ms s K M G); or def. */
uint64_t words_number(const struct words *w, const char *key, uint64_t def);
/** A word at a place as a number; 0 if there is none. */
uint64_t words_at(const struct words *w, unsigned int i);
uint64_t life_number(const char *text);

/*
 * What makers draw. C leaves the order of the operands of an expression and of the arguments of a
 * call open, and a seed makes one life on all compilers: an expression draws once at most, and a
 * line of several choices is written with life_write().
 */
/** A number from low to high, each power of two as likely as the next. */
static inline uint64_t
any_size(struct prng *r, uint64_t low, uint64_t high)
{
	unsigned int bits = 64 - (unsigned int)__builtin_clzll((high - low) | 1);
	uint64_t shift = 64 - any(r, 1, bits);
	uint64_t n = prng_u64(r) >> shift;

	return low + (n > high - low ? high - low : n);
}

/**
 * Write a template: printf() fills it in first, then its braces are drawn from left to right.
 *
 *   {a|b|c}       one of these
 *   {3..9}        a number from 3 to 9
 *   {~3..9}       the same by any_size()
 *   {?40:a}       a, 40 times of 100
 *   {?40:a|b}     a, 40 times of 100, b otherwise
 *
 * Braces may stand within braces.
 */
void life_write(struct prng *r, FILE *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct field;
/** A value of a number, a switch or a word: often a bound or the default. NULL: not of these. */
const char *life_any_value(struct prng *r, const struct field *f, char *text, size_t size);

/** What a number says by chance: equal numbers say the same. */
static inline uint64_t
draw(uint64_t salt, uint64_t n)
{
	uint64_t z = salt * 0x9e3779b97f4a7c15ull + n;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/** Add bytes to a digest. */
static inline uint64_t
digest_add(uint64_t digest, uint64_t value)
{
	return draw(digest, value);
}

#endif
