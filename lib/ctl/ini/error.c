/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ini/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PATH_SHOWN 256

void
config_error_set(struct config_error *err, const char *path, const char *format, ...)
{
	size_t n = strlen(path);
	bool cut = n > PATH_SHOWN;
	va_list args;
	int used;

	used = snprintf(err->text, sizeof(err->text), "%s%s:", cut ? "..." : "",
			cut ? path + n - PATH_SHOWN : path);
	va_start(args, format);
	vsnprintf(err->text + used, sizeof(err->text) - (size_t)used, format, args);
	va_end(args);
}
