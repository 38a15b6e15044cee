/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_APP_RUNTIME_RELEASE_RELEASE_H
#define QUENCH_APP_RUNTIME_RELEASE_RELEASE_H

#include <stdio.h>

/* The version of quench, such as "0.2.0". */
extern const char release_version[];
/*
 * The commit of this build: its first eight digits, and "+" after them if the tree was changed.
 * "unknown" without a repository, as in a tree that was unpacked from an archive.
 */
extern const char release_commit[];

/* Print the answer to --version: one line with the program's name, the version and the commit. */
void release_print(FILE *out, const char *program);

#endif
