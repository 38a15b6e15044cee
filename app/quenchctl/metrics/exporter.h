/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of all programs of ours that run here, or of one, as one text. Reading a program
 * costs its control threads some work, so it is read no more than four times a second, and rests
 * nine times as long as its last reading took: whoever asks in between gets the last reading, with
 * its age. Each program has a thread that reads it: one that hangs costs its own metrics alone. It
 * stays in the text as quench_up 0, as one that has ended does, and nobody waits for it again.
 */
#ifndef QUENCH_APP_QUENCHCTL_METRICS_EXPORTER_H
#define QUENCH_APP_QUENCHCTL_METRICS_EXPORTER_H

#include "quenchctl/socket/http.h"
#include "quenchctl/metrics/metrics.h"

struct exporter;

/**
 * @param path, prefix  As for client_open(); with neither, every program that runs, as they come
 *                      and go.
 * @param serves         A text is asked for again and again: none takes longer than 2 s. Else the
 *                       only one waits for every program.
 * @return              NULL after an error line.
 */
struct exporter *exporter_new(const char *path, const char *prefix,
			      const struct metrics_bounds *bounds, bool serves);
void exporter_free(struct exporter *e);

/** Add what a server has counted to the text from now on. */
void exporter_add_server(struct exporter *e, const struct http_server *server);

/**
 * Read, unless the last readings are young enough. Any thread. Of a program whose
 * reading is still under way when the answer must be given, the text has the last reading.
 *
 * @param up  Set to the number of programs that answered their last reading; may be NULL.
 * @return    The text, malloc()ed, of bytes; NULL without memory.
 */
char *exporter_text(struct exporter *e, enum metrics_format format, size_t *bytes,
		    unsigned int *up);

#endif
