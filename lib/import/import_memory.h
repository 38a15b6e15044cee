/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the importers. A function that cannot give it does not return: import.h says why. */
#ifndef QUENCH_IMPORT_IMPORT_MEMORY_H
#define QUENCH_IMPORT_IMPORT_MEMORY_H

#include <stddef.h>
#include <stdio.h>

#include "ctl/ini/error.h"

/** Memory has run out. */
_Noreturn void import_no_memory(void);

/** A reader of ours has refused a text: was it for want of memory? */
void import_check_memory(const struct config_error *err);

/** @return n x bytes of zeros; the caller frees them. */
void *import_alloc(size_t n, size_t bytes);

/** @return p with room for n x bytes; n may only grow. */
void *import_grow(void *p, size_t n, size_t bytes);

/** @return size bytes of text, up to its first zero, and a zero; the caller frees it. */
char *import_copy(const char *text, size_t size);

/** A stream whose text is in *text after import_text_close(); the caller frees it. */
FILE *import_text_open(char **text, size_t *size);

void import_text_close(FILE *out, char **text);

/** From now on jansson takes its memory here too, in the whole process. */
void import_json_memory(void);

#endif
