/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The programs on the page: a thread for each reads it twice a second, whether or not there are
 * viewers, and keeps its picture, its history and its events.
 *
 * Invariant: at most WEB_PROGRAMS programs are kept. A program that has ended keeps its place, and
 * its last picture, until another program needs the place.
 */
#ifndef QUENCH_APP_QUENCHCTL_WEB_WEB_PROGRAMS_H
#define QUENCH_APP_QUENCHCTL_WEB_WEB_PROGRAMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEB_PROGRAMS 32u
#define WEB_EVERY_MS 500

struct web_programs;

/**
 * Begin to read programs.
 *
 * @param path, prefix  As for client_open(); with neither, all programs that run, now or later.
 * @param opened        Set; NULL after an error.
 * @return              0, or an exit code after an error line, such as for a program that was named
 *                      and does not run.
 */
int web_programs_open(const char *path, const char *prefix, struct web_programs **opened);
void web_programs_close(struct web_programs *all);

/**
 * What a page shows that has seen everything up to the number since (0: nothing yet):
 * {"number", "at_ms", "left_out", "programs"}. number is the next request's since. left_out counts
 * running programs without a place. A program has "name", "program", "pid", "state" ("live",
 * "silent", "ended"), "since_ms" (of the state), "elapsed_ns", "picture" (web_picture.h), "history"
 * (web_history.h) and "events" (web_events.h).
 *
 * @return owned by the caller; NULL without memory.
 */
json_t *web_programs_since(struct web_programs *all, uint64_t since);

/**
 * The socket of a program with this name on the page, which need not run any more.
 * @return false: there is none.
 */
bool web_programs_socket(struct web_programs *all, const char *name, char *path, size_t size);

#endif
