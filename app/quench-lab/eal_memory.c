/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL has no option for its mapping. Its library calls the program's memfd_create(). */
#include "quench-lab/eal_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rte_memory.h>

static bool eal_starts;

void
eal_memory_private(bool starts)
{
	eal_starts = starts;
}

/* If this fails, EAL maps anonymous memory. */
int
memfd_create(const char *name, unsigned int flags)
{
	if (!eal_starts)
		return (int)syscall(SYS_memfd_create, name, flags);
	errno = ENOSYS;
	return -1;
}

static int
advise(const struct rte_memseg_list *list, void *arg)
{
	(void)arg;
	(void)madvise(list->base_va, list->len, MADV_HUGEPAGE);
	return 0;
}

void
eal_memory_use_huge_pages(void)
{
	(void)rte_memseg_list_walk(advise, NULL);
}
