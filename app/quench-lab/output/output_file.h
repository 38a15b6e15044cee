/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of results. Rows go to a file of another name until a run has ended well, so that one that
 * fails leaves the whole results of the one before.
 */
#ifndef QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_FILE_H
#define QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/** Open a series under its name with ".part" and write its columns (NULL: none). @return
 * NULL after an error line. */
FILE *output_open(const char *dir, const char *name, const char *columns);
/** NULL is closed already. @return 0 when all rows are on the disk, or -EIO after an error line. */
int output_close(FILE *f, const char *dir, const char *name);
/** Give a closed file its name, or without keep remove it. @return 0, or -EIO after an error
 * line. */
int output_keep(const char *dir, const char *name, bool keep);
/** The same of one that a run may not make: that of a run before does not belong to its results. */
int output_keep_optional(const char *dir, const char *name, bool keep);

#endif
