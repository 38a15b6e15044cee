/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/notice/say.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "runtime/notice/monotonic.h"
#include "runtime/notice/wall_time.h"

#define NS_PER_S 1000000000u
#define MOST_EVENTS 32u
#define SAY_CHARS 1023

static const char *name = "quench";

/* The main lcore, the front desk and the thread of SIGHUP report events. */
static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static struct event {
	const char *name;
	struct say_limit limit;
} events[MOST_EVENTS];
static unsigned int n_events;
static _Atomic uint64_t suppressed;

void
say_as(const char *program)
{
	name = program;
}

/* Each line is one write(), so that lines of several programs on one terminal do not mix. */
static void
say_line(const char *level, const char *text)
{
	fprintf(stderr, "%s: %s%s%s\n", name, level, *level != '\0' ? ": " : "", text);
}

static void
say_formatted(const char *level, const char *format, va_list args)
{
	char text[SAY_CHARS + 1];

	vsnprintf(text, sizeof(text), format, args);
	say_line(level, text);
}

void
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_formatted("", format, args);
	va_end(args);
}

static _Thread_local struct {
	const struct say_keeper *keeper;
	void *arg;
} warnings;

void
say_keep_warnings(const struct say_keeper *keeper, void *arg)
{
	warnings.keeper = keeper;
	warnings.arg = arg;
}

void
say_warning(const char *format, ...)
{
	char text[SAY_CHARS + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (warnings.keeper == NULL || !warnings.keeper->only)
		say_line("warning", text);
	if (warnings.keeper != NULL)
		warnings.keeper->keep(warnings.arg, text);
}

void
say_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_formatted("error", format, args);
	va_end(args);
}

void
say_unwritten(const char *path, int error)
{
	say_error("%s: cannot be written: %s", strcmp(path, "-") == 0 ? "standard output" : path,
		  strerror(error));
}

bool
say_limit_passes(struct say_limit *l, uint64_t now_ns)
{
	if (now_ns / NS_PER_S != l->second) {
		l->second = now_ns / NS_PER_S;
		l->n = 0;
	}
	if (l->n < SAY_EVENTS_PER_S) {
		l->n++;
		return true;
	}
	l->suppressed++;
	return false;
}

uint64_t
say_suppressed(void)
{
	return atomic_load_explicit(&suppressed, memory_order_relaxed);
}

/* Events beyond the table share its last row. */
static struct event *
find_event(const char *event)
{
	unsigned int i = 0;

	while (i < n_events && strcmp(events[i].name, event) != 0)
		i++;
	if (i == MOST_EVENTS)
		return &events[MOST_EVENTS - 1];
	if (i == n_events)
		events[n_events++].name = event;
	return &events[i];
}

/* @return false: the line is suppressed; true: left_out is the number of lines that were suppressed
 * before it. */
static bool
event_passes(const char *name_of_event, bool always, uint64_t *left_out)
{
	struct event *e;
	bool passes;

	pthread_mutex_lock(&events_lock);
	e = find_event(name_of_event);
	passes = always || say_limit_passes(&e->limit, monotonic_ns());
	if (passes) {
		*left_out = e->limit.suppressed;
		e->limit.suppressed = 0;
	}
	pthread_mutex_unlock(&events_lock);
	return passes;
}

static void
say_event_line(bool warning, const char *event, uint64_t left_out, const char *format, va_list args)
{
	char text[SAY_CHARS + 1], at[WALL_TIME_CHARS], more[48] = "";

	vsnprintf(text, sizeof(text), format, args);
	if (left_out > 0)
		snprintf(more, sizeof(more), " suppressed=%" PRIu64, left_out);
	(warning ? say_warning : say)("%s event=%s%s time=%s", text, event, more,
				      wall_time(wall_now_ns(), at));
}

void
say_event(bool warning, const char *event, const char *format, ...)
{
	uint64_t left_out;
	va_list args;

	if (!event_passes(event, false, &left_out)) {
		atomic_fetch_add_explicit(&suppressed, 1, memory_order_relaxed);
		return;
	}
	va_start(args, format);
	say_event_line(warning, event, left_out, format, args);
	va_end(args);
}

void
say_answer(const char *event, const char *format, ...)
{
	uint64_t left_out = 0;
	va_list args;

	event_passes(event, true, &left_out);
	va_start(args, format);
	say_event_line(false, event, left_out, format, args);
	va_end(args);
}

/* Report suppressed lines that no later line of their event has reported. */
static void
say_rest(void)
{
	for (unsigned int i = 0; i < n_events; i++) {
		struct say_limit *l = &events[i].limit;

		if (l->suppressed > 0)
			say("%" PRIu64 " more lines were suppressed; event=%s suppressed=%" PRIu64,
			    l->suppressed, events[i].name, l->suppressed);
		l->suppressed = 0;
	}
}

int
say_end(int rc)
{
	say_rest();
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return rc;
	say_error("standard output: %s",
		  errno ? strerror(errno) : "some of it could not be written");
	return rc == APP_DONE || rc == APP_PARTLY ? APP_FAILED : rc;
}
