/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL has no option without CPUs. Its library calls the program's pthread_setaffinity_np(). */
#include "quench-lab/eal_cores.h"

#include <dlfcn.h>
#include <pthread.h>

/* Also a thread that EAL has started reads it. */
static _Atomic bool eal_starts;

void
eal_cores_keep(bool starts)
{
	eal_starts = starts;
}

int
pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *cpus)
{
	static int (*next)(pthread_t, size_t, const cpu_set_t *);

	if (eal_starts)
		return 0;
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_setaffinity_np");
	return next(thread, size, cpus);
}
