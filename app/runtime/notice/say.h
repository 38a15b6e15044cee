/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines on standard error for the person at the terminal, each beginning with the program's name.
 *
 * Invariant: number of calls of say_event() for an event = number of its lines + sum of N over
 * its suppressed=N.
 */
#ifndef QUENCH_APP_RUNTIME_NOTICE_SAY_H
#define QUENCH_APP_RUNTIME_NOTICE_SAY_H

#include <stdbool.h>
#include <stdint.h>

/* Exit codes of all programs (doc/interface.md). */
enum app_exit {
	APP_DONE = 0,
	APP_FAILED = 1,    /* while running: device, memory, disk */
	APP_BAD_USAGE = 2, /* options or configuration; nothing was started */
	APP_PARTLY = 3,    /* done, except for the items that standard error names */
};

/** Set the name that begins each line; kept by reference. */
void say_as(const char *program);

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The error line of a file that out_file_write() could not write; path "-": standard output. */
void say_unwritten(const char *path, int error);

struct say_keeper {
	void (*keep)(void *arg, const char *text); /* called with the text of a warning */
	bool only;                                 /* nothing is printed */
};

/** From now on, pass the warnings of the calling thread to a keeper; NULL: no longer. */
void say_keep_warnings(const struct say_keeper *keeper, void *arg);

/* Most lines of one event in a second; further ones are only counted. */
#define SAY_EVENTS_PER_S 10u

/**
 * Report an event of the running program: a line for people that ends with keys for programs, such
 * as "; port=1 event=link_down time=2026-11-29T18:20:32.123456Z". Lines beyond the limit are
 * suppressed; the event's next line has suppressed=N, and say_end() reports the rest. Any thread,
 * but not per packet.
 *
 * @param warning  The line begins with "warning: ".
 * @param event    A name of doc/interface.md; kept by reference. There are at most 32.
 * @param format   The sentence, then "; " and further keys without blanks in their values.
 */
void say_event(bool warning, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * As say_event(), but never suppressed: for an event whose line is the only answer to who caused
 * it, such as the sender of a signal.
 */
void say_answer(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Event lines suppressed so far. Any thread. */
uint64_t say_suppressed(void);

/* Limit on the lines of one event. Zero-initialised: no lines yet. */
struct say_limit {
	uint64_t second, suppressed; /* suppressed: since the last printed line */
	unsigned int n;              /* lines in this second */
};

/** May another line be printed now? If not, it is counted. now_ns never decreases. */
bool say_limit_passes(struct say_limit *l, uint64_t now_ns);

/**
 * Last call of a program: flush standard output, or print an error line if that fails.
 * @return the exit code: rc, or APP_FAILED instead of APP_DONE and APP_PARTLY if output is lost.
 */
int say_end(int rc);

#endif
