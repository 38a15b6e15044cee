/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A matrix of sizes, such as of the messages of an all-to-all-v: n lines of n numbers of bytes,
 * between blanks or commas. Line i, column k: from rank i - 1 to rank k - 1. Numbers of the
 * diagonal do not matter: a rank keeps those bytes. A comment begins with "#" and ends with the
 * line.
 */
#ifndef QUENCH_JOB_MATRIX_H
#define QUENCH_JOB_MATRIX_H

#include <stddef.h>

#include "job/job_graph.h"

#define MATRIX_MAX_RANKS 4096u

struct job_matrix {
	uint64_t *bytes; /* n * n: by sender and receiver */
	uint32_t n;
};

/** @return 0, -EINVAL with fault filled in, or -ENOMEM. Release it with matrix_free(). */
int matrix_read(const char *text, size_t size, struct job_matrix *out, struct job_fault *fault);
void matrix_free(struct job_matrix *m);

/** The sum that ranks first to end - 1 send to all others, or receive, whichever is larger. */
uint64_t matrix_load_between(const struct job_matrix *m, uint32_t first, uint32_t end);
/** The same of one rank. */
uint64_t matrix_load_of(const struct job_matrix *m, uint32_t rank);
/** The largest of them. */
uint64_t matrix_load(const struct job_matrix *m);

#endif
