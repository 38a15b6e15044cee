/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/notice/scaled.h"

#include <stdio.h>

#include "base/numbers/array.h"

/* Divide by 1000 until three digits are left. @return the number of divisions, at most `most`. */
static unsigned int
reduce(double *value, unsigned int most)
{
	unsigned int n = 0;

	for (; *value >= 999.5 && n < most; n++)
		*value /= 1000;
	return n;
}

static int
digits_after_point(double value)
{
	return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

const char *
scaled(char text[SCALED_CHARS], double value, const char *unit)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
	unsigned int n = reduce(&value, ARRAY_LEN(prefixes) - 1);

	snprintf(text, SCALED_CHARS, "%.*f%s%s%s", n == 0 ? 0 : digits_after_point(value), value,
		 *unit != '\0' ? " " : "", prefixes[n], unit);
	return text;
}

const char *
scaled_count(char text[SCALED_CHARS], uint64_t count)
{
	return scaled(text, (double)count, "");
}

const char *
scaled_time(char text[SCALED_CHARS], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	unsigned int n = reduce(&value, ARRAY_LEN(units) - 1);

	snprintf(text, SCALED_CHARS, "%.*f %s", n == 0 ? 0 : digits_after_point(value), value,
		 units[n]);
	return text;
}
