/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *name = "quench";

void
say_as(const char *program)
{
	name = program;
}

/* One write for one line: lines of programs that share a terminal do not mix. */
static void
say_line(const char *kind, const char *format, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	fprintf(stderr, "%s: %s%s\n", name, kind, text);
}

void
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("", format, args);
	va_end(args);
}

void
say_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("warning: ", format, args);
	va_end(args);
}

void
say_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("error: ", format, args);
	va_end(args);
}

int
say_end(int rc)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return rc;
	say_error("standard output: %s",
		  errno ? strerror(errno) : "some of it could not be written");
	return rc == APP_DONE || rc == APP_PARTLY ? APP_FAILED : rc;
}
