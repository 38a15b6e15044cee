/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of all programs of ours that run here, or of one, as one text. Reading a program
 * costs its control threads some work, so it is read no more than four times a second, and its
 * reader rests nine times as long as the last reading took: whoever asks in between is given the
 * last reading. A program that ended stays in the text as quench_up 0.
 */
#ifndef QUENCH_APP_CTL_EXPORTER_H
#define QUENCH_APP_CTL_EXPORTER_H

#include "ctl/http.h"
#include "ctl/metrics.h"

struct exporter;

/**
 * @param path, prefix  As for client_open(); with neither, every program that runs, as they come
 *                      and go.
 * @return              NULL after an error line.
 */
struct exporter *exporter_new(const char *path, const char *prefix,
			      const struct metrics_bounds *bounds);
void exporter_free(struct exporter *e);

/** Add what a server has counted to the text from now on. */
void exporter_add_server(struct exporter *e, const struct http_server *server);

/**
 * Read, unless the last reading is young enough. Any thread.
 *
 * @param up  Set to the number of programs that were read; may be NULL.
 * @return    The text, malloc()ed, of bytes; NULL without memory.
 */
char *exporter_text(struct exporter *e, enum metrics_format format, size_t *bytes,
		    unsigned int *up);

#endif
