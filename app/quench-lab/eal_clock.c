/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL has no option for the length of this sleep. Its library calls the program's nanosleep(). */
#include "quench-lab/eal_clock.h"

#include <errno.h>
#include <time.h>

#define LONGEST_NS 1000000

static bool eal_starts;

void
eal_clock_hurry(bool starts)
{
	eal_starts = starts;
}

int
nanosleep(const struct timespec *requested, struct timespec *remaining)
{
	static const struct timespec longest = {.tv_nsec = LONGEST_NS};
	bool is_longer = requested->tv_sec > 0 || requested->tv_nsec > LONGEST_NS;
	int rc = clock_nanosleep(CLOCK_REALTIME, 0, eal_starts && is_longer ? &longest : requested,
				 remaining);

	if (rc == 0)
		return 0;
	errno = rc;
	return -1;
}
