/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A running-config of NX-OS as lines: each belongs to the line above it that is indented less. A
 * block that is opened again goes on; "no ..." takes back what stood in its block before.
 *
 * A line that nobody uses is lost, with a reason: nx_report() says all of them. Private to
 * lib/import.
 */
#ifndef QUENCH_IMPORT_NXOS_LINES_H
#define QUENCH_IMPORT_NXOS_LINES_H

#include "import/import_log.h"

#define NX_MAX_WORDS 24
#define NX_TOP -1

struct nx_line {
	char *text; /* words, a blank between them */
	unsigned int number;
	unsigned int indent;
	int parent; /* index of its block's line, NX_TOP outside of blocks */
	/* Lines of its block, and the next line of the block that it is in; -1: none. */
	int first, last, next;
	bool used;
	const char *why; /* if it stays unused; NULL: no counterpart */
};

struct nx_lines {
	struct nx_line *lines;
	int n;
	int first, last; /* lines outside of blocks */
	char *text;      /* that the lines point into */
	struct import_log *log;
};

/* What the places of a pattern were. */
struct nx_args {
	unsigned int n;
	char word[NX_MAX_WORDS][64];
	char rest[256]; /* of "..." */
};

/** @return 0 or -EINVAL (not a running-config). Free with nx_lines_free() in any case. */
int nx_lines_read(struct nx_lines *nx, const char *text, size_t size, struct import_log *log);
void nx_lines_free(struct nx_lines *nx);

/**
 * Do the words of a line fit? In pattern % stands for any word, "..." at the end for the rest of
 * the line, which may be empty.
 */
bool nx_is(const struct nx_line *line, const char *pattern, struct nx_args *args);

/** The next line of a block after line i of it (-1: from its beginning), or -1. */
int nx_next_of(const struct nx_lines *nx, int parent, int i);
/** The same, of those that are not used yet. */
int nx_next(const struct nx_lines *nx, int parent, int i);

/** Mark a line as carried over, or give the reason why it is not. */
void nx_use(struct nx_lines *nx, int i);
void nx_lose(struct nx_lines *nx, int i, const char *why);
/** The same for a block whose lines all share one reason; lines that have one keep it. */
void nx_lose_block(struct nx_lines *nx, int i, const char *why);

/** A whole number of a line, in [min, max]. @return 0, or -EINVAL after a refusal. */
int nx_number(const struct nx_lines *nx, int i, const char *text, uint64_t min, uint64_t max,
	      uint64_t *out);

/** Refuse because of a line. @return -EINVAL. */
int nx_refuse(const struct nx_lines *nx, int i, const char *expected);

/** Every line that was not used goes to the log's lost list. */
void nx_report(const struct nx_lines *nx);

#endif
