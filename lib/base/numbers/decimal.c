/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/numbers/decimal.h"

#include <errno.h>
#include <stdlib.h>

bool
decimal_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	unsigned long long number;
	char *end;

	/* strtoull() accepts blanks and signs. */
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end != '\0' || errno != 0 || number < min || number > max)
		return false;
	*out = number;
	return true;
}
