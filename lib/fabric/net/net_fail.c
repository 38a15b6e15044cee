/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/net/net_state.h"

#include <stdarg.h>
#include <stdio.h>

int
net_fail(char *why, unsigned int why_size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, why_size, format, args);
	va_end(args);
	return -1;
}
