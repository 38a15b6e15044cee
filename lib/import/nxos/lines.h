/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A running-config of NX-OS as lines: each belongs to the nearest line above it with less
 * indentation. A reopened block continues; "no ..." cancels earlier lines of its block.
 *
 * Invariant: after nx_report(), every line was used or is in the log's lost list, with a reason.
 * Private to lib/import.
 */
#ifndef QUENCH_IMPORT_NXOS_LINES_H
#define QUENCH_IMPORT_NXOS_LINES_H

#include "import/conversion/import_log.h"

#define NX_MAX_WORDS 24
#define NX_TOP -1

struct nx_line {
	char *text; /* words, separated by one blank */
	unsigned int number;
	unsigned int indent;
	int parent; /* index of its block's line; NX_TOP: outside of blocks */
	/*
	 * First and last line of the block that this line opens, and the next line of the block
	 * that it is in; -1: none.
	 */
	int first, last, next;
	bool used;
	const char *why; /* reason if it stays unused; NULL: no counterpart */
};

struct nx_lines {
	struct nx_line *lines;
	int n;
	int first, last; /* lines outside of blocks */
	char *text;      /* that lines point into */
	struct import_log *log;
};

/* Values of the placeholders of a pattern. */
struct nx_args {
	unsigned int n;
	char word[NX_MAX_WORDS][64];
	char rest[256]; /* of "..." */
};

/** @return 0 or -EINVAL (not a running-config). Call nx_lines_free() in both cases. */
int nx_lines_read(struct nx_lines *nx, const char *text, size_t size, struct import_log *log);
void nx_lines_free(struct nx_lines *nx);

/**
 * Does a line match a pattern? In a pattern % matches any word, and "..." at the end the rest of
 * the line, which may be empty.
 */
bool nx_is(const struct nx_line *line, const char *pattern, struct nx_args *args);

/** The next line of a block after its line i (-1: the first line), or -1. */
int nx_next_of(const struct nx_lines *nx, int parent, int i);
/** The same for lines that are not used yet. */
int nx_next(const struct nx_lines *nx, int parent, int i);

/** Mark a line as carried over, or record the reason why it is not. */
void nx_use(struct nx_lines *nx, int i);
/** Mark all lines of a block as carried over. */
void nx_use_block(struct nx_lines *nx, int i);
void nx_lose(struct nx_lines *nx, int i, const char *why);
/** The same for all lines of a block; lines that have a reason keep it. */
void nx_lose_block(struct nx_lines *nx, int i, const char *why);

/** Parse a whole number of a line, in [min, max]. @return 0, or -EINVAL after a refusal. */
int nx_number(const struct nx_lines *nx, int i, const char *text, uint64_t min, uint64_t max,
	      uint64_t *out);

/** Refuse the input because of a line. @return -EINVAL. */
int nx_refuse(const struct nx_lines *nx, int i, const char *expected);

/** Add every unused line to the log's lost list. */
void nx_report(const struct nx_lines *nx);

#endif
