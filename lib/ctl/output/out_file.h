/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of results that is whole, or what it was before. */
#ifndef QUENCH_CTL_OUTPUT_OUT_FILE_H
#define QUENCH_CTL_OUTPUT_OUT_FILE_H

#include <stdio.h>

/** Prints into out. @return 0 or -errno; what stdio keeps in out is looked at afterwards. */
typedef int out_file_print(FILE *out, const void *arg);

/**
 * Write what print() prints. A regular file is written beside its place under a name of its own,
 * synced and renamed, so that path never holds half of it; a device or pipe is written as it is;
 * "-" is standard output.
 *
 * @return 0, or -errno; nothing is said.
 */
int out_file_write(const char *path, out_file_print *print, const void *arg);

#endif
