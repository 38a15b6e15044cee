/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pages.h"

#include <stdint.h>
#include <sys/mman.h>

/* A transparent huge page: 2 MB on x86-64, and on arm64 with 4 KB pages. */
#define HUGE_BYTES ((size_t)2 << 20)

static size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

void *
pages_alloc(size_t n)
{
	size_t whole = n < HUGE_BYTES ? n : round_up(n, HUGE_BYTES) + HUGE_BYTES;
	char *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before, used = round_up(n, HUGE_BYTES);

	if (p == MAP_FAILED)
		return NULL;
	if (n < HUGE_BYTES)
		return p;
	/* Keep what starts at a huge page, give back the rest. */
	before = round_up((uintptr_t)p, HUGE_BYTES) - (uintptr_t)p;
	if (before > 0)
		munmap(p, before);
	if (before < HUGE_BYTES)
		munmap(p + before + used, HUGE_BYTES - before);
	/* Advice only: without huge pages all works the same. */
	(void)madvise(p + before, used, MADV_HUGEPAGE);
	return p + before;
}

void
pages_free(void *p, size_t n)
{
	if (p != NULL)
		munmap(p, n < HUGE_BYTES ? n : round_up(n, HUGE_BYTES));
}
