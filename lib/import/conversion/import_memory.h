/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the importers. Without memory these functions do not return (import.h says why). */
#ifndef QUENCH_IMPORT_CONVERSION_IMPORT_MEMORY_H
#define QUENCH_IMPORT_CONVERSION_IMPORT_MEMORY_H

#include <stddef.h>
#include <stdio.h>

#include "ctl/ini/error.h"

/** End the conversion because memory ran out. */
_Noreturn void import_no_memory(void);

/** If a reader of ours refused a text for lack of memory, call import_no_memory(). */
void import_check_memory(const struct config_error *err);

/** @return n x bytes of zeros; the caller frees them. */
void *import_alloc(size_t n, size_t bytes);

/** @return p resized to n x bytes; n may only grow. */
void *import_grow(void *p, size_t n, size_t bytes);

/** @return a copy of text, up to size bytes or its first zero, terminated; the caller frees it. */
char *import_copy(const char *text, size_t size);

/** Open a stream whose text is in *text after import_text_close(); the caller frees the text. */
FILE *import_text_open(char **text, size_t *size);

void import_text_close(FILE *out, char **text);

/** Make jansson allocate by these functions too, in the whole process. */
void import_json_memory(void);

#endif
