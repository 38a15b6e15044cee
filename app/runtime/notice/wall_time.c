/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/notice/wall_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/numbers/units.h"

uint64_t
wall_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

const char *
wall_time(uint64_t unix_ns, char text[WALL_TIME_CHARS])
{
	const time_t second = (time_t)(unix_ns / NS_PER_SEC);
	struct tm t = {0};
	size_t n;

	gmtime_r(&second, &t);
	n = strftime(text, WALL_TIME_CHARS, "%Y-%m-%dT%H:%M:%S", &t);
	snprintf(text + n, WALL_TIME_CHARS - n, ".%06" PRIu64 "Z",
		 unix_ns % NS_PER_SEC / NS_PER_US);
	return text;
}

const char *
wall_time_of(uint64_t at_ns, uint64_t now_ns, char text[WALL_TIME_CHARS])
{
	return wall_time(wall_now_ns() - (now_ns - at_ns), text);
}
