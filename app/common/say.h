/* SPDX-License-Identifier: BSD-3-Clause */
/* One line for the person at the terminal, on standard error, begun with the program's name. */
#ifndef QUENCH_APP_SAY_H
#define QUENCH_APP_SAY_H

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

/**
 * The last call of a program: what is buffered for standard output goes there, or an error line
 * says that it did not.
 * @return the exit code: rc, or APP_FAILED in place of APP_DONE and APP_PARTLY when the output is
 * lost.
 */
int say_end(int rc);

#endif
