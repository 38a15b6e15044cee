/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ini/config_error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PATH_SHOWN 256

__attribute__((format(printf, 4, 0))) static void
set(struct config_error *err, const char *path, unsigned int line, const char *format, va_list args)
{
	size_t n = strlen(path);
	bool cut = n > PATH_SHOWN;
	int used;

	used = snprintf(err->text, sizeof(err->text), "%s%s:", cut ? "..." : "",
			cut ? path + n - PATH_SHOWN : path);
	if (line > 0)
		used += snprintf(err->text + used, sizeof(err->text) - (size_t)used, "%u:", line);
	vsnprintf(err->text + used, sizeof(err->text) - (size_t)used, format, args);
}

void
config_error_set(struct config_error *err, const char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(err, path, 0, format, args);
	va_end(args);
}

void
config_error_at(struct config_error *err, const char *path, unsigned int line, const char *format,
		...)
{
	va_list args;

	va_start(args, format);
	set(err, path, line, format, args);
	va_end(args);
}
