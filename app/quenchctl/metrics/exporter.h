/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of all quench programs on this machine, or of one, as one text. Reading costs a
 * program's control threads some work. So a program is read at most four times a second, and the
 * pause after a reading is nine times the reading's duration. Requests in between get the last
 * reading and its age. A thread per program reads it, so that a program that hangs loses only its
 * own metrics. The text then shows quench_up 0 for that program, as for a program that has ended,
 * and requests do not wait for it again.
 */
#ifndef QUENCH_APP_QUENCHCTL_METRICS_EXPORTER_H
#define QUENCH_APP_QUENCHCTL_METRICS_EXPORTER_H

#include "quenchctl/socket/http.h"
#include "quenchctl/metrics/metrics.h"

struct exporter;

/**
 * @param path, prefix  As for client_open(); with neither, every program that runs at the time.
 * @param serves        true: texts are requested repeatedly, and each takes at most 2 s. false: one
 *                      text is requested, which waits for every program.
 * @return              NULL after an error line.
 */
struct exporter *exporter_new(const char *path, const char *prefix,
			      const struct metrics_bounds *bounds, bool serves);
void exporter_free(struct exporter *e);

/** Add a server's counters to the text from now on. */
void exporter_add_server(struct exporter *e, const struct http_server *server);

/**
 * Read all programs, unless the last readings are recent enough. Any thread. If a reading is not
 * complete in time, the text contains the program's previous one.
 *
 * @param up  Set to the number of programs that answered their last reading; may be NULL.
 * @return    The text, malloc()ed, of *bytes bytes; NULL without memory.
 */
char *exporter_text(struct exporter *e, enum metrics_format format, size_t *bytes,
		    unsigned int *up);

#endif
