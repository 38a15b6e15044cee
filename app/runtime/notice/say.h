/* SPDX-License-Identifier: BSD-3-Clause */
/* One line for the person at the terminal, on standard error, begun with the program's name. */
#ifndef QUENCH_APP_RUNTIME_NOTICE_SAY_H
#define QUENCH_APP_RUNTIME_NOTICE_SAY_H

#include <stdbool.h>
#include <stdint.h>

/* Exit codes of all programs (doc/interface.md). */
enum app_exit {
	APP_DONE = 0,
	APP_FAILED = 1,    /* while running: device, memory, disk */
	APP_BAD_USAGE = 2, /* options or configuration; nothing was started */
	APP_PARTLY = 3,    /* done, but for what was said on standard error */
};

/** Name that begins each line; kept by reference. */
void say_as(const char *program);

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Lines of one event in a second; what is more is counted. */
#define SAY_EVENTS_PER_S 10u

/**
 * Something that happened while the program runs: a line for a person that ends with keys for a
 * program, "; port=1 event=link_down". After lines that were too many for their second the next one
 * of the event has suppressed=N, and say_end() says what is left. One thread at a time.
 *
 * @param warning  The line begins with "warning: ".
 * @param event    A name of doc/interface.md; kept by reference. There are at most 32.
 * @param format   The sentence, then "; " and further keys without blanks in their values.
 */
void say_event(bool warning, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Lines of events that were not said, so far. Any thread. */
uint64_t say_suppressed(void);

/* The bound on one event. Zero-initialised: nothing was said yet. */
struct say_limit {
	uint64_t second, suppressed; /* suppressed: since the last line that was said */
	unsigned int n;              /* in this second */
};

/** May another line be said now? If not it is counted. Time never goes back. */
bool say_limit_passes(struct say_limit *l, uint64_t now_ns);

/**
 * The last call of a program: what is buffered for standard output goes there, or an error line
 * says that it did not.
 * @return the exit code: rc, or APP_FAILED in place of APP_DONE and APP_PARTLY when the output is
 * lost.
 */
int say_end(int rc);

#endif
