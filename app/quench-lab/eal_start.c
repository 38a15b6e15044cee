/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL has options for neither. Its library calls the program's functions before those of the C library. */
#include "quench-lab/eal_start.h"

#include <dlfcn.h>
#include <errno.h>
#include <time.h>

#define LONGEST_NS 1000000

static bool eal_starts;

void
eal_start_short(bool starts)
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

/* EAL asks whether its own library is loaded. If not, it is linked statically, and has no plugin folder. */
void *
dlopen(const char *file, int mode)
{
	static void *(*next)(const char *, int);

	if (eal_starts && (mode & RTLD_NOLOAD) != 0)
		return NULL;
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	return next(file, mode);
}
