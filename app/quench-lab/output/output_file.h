/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of results. Rows go to a file of another name until the run has succeeded, so that a failed
 * run leaves the complete results of the previous one.
 */
#ifndef QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_FILE_H
#define QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/** Open a file under its name with ".part" and write its heading (NULL: none). @return NULL after
 * an error line. */
FILE *output_open(const char *dir, const char *name, const char *columns);
/** Close f, which may be NULL. @return 0: all rows are written; or -EIO after an error line. */
int output_close(FILE *f, const char *dir, const char *name);
/** Give a closed file its name, or remove it (without keep). @return 0, or -EIO after an error. */
int output_keep(const char *dir, const char *name, bool keep);
/** As output_keep(), for a file that not every run writes: removes the file of an earlier run. */
int output_keep_optional(const char *dir, const char *name, bool keep);

#endif
