/* SPDX-License-Identifier: BSD-3-Clause */
/* Write a file of results completely, or leave the previous one unchanged. */
#ifndef QUENCH_CTL_OUTPUT_OUT_FILE_H
#define QUENCH_CTL_OUTPUT_OUT_FILE_H

#include <stdio.h>

/** Prints into out. @return 0 or -errno; the caller flushes out and checks its error flag. */
typedef int out_file_print(FILE *out, const void *arg);

/**
 * Write the output of print(). A regular file is written under a temporary name in the same folder,
 * synced and renamed, so that path never holds half of it. A device or pipe is written directly.
 * "-" is standard output.
 *
 * @return 0, or -errno without a message.
 */
int out_file_write(const char *path, out_file_print *print, const void *arg);

#endif
