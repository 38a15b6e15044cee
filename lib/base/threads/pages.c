/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/threads/pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/threads/lines.h"

/*
 * Smaller regions come from the heap: regions that all start at a page boundary compete for the
 * same few cache sets, and a fabric of hundreds of small NICs has thousands of them.
 */
#define OWN_PAGES_BYTES ((size_t)64 << 10)

/* The same of sparse regions, which are read less often, and of which a few pages are touched. */
#define SPARSE_PAGES_BYTES ((size_t)16 << 10)

/* A transparent huge page: 2 MB on x86-64, and on arm64 with 4 KB pages. */
#define HUGE_BYTES ((size_t)2 << 20)

static size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static void *
small_alloc(size_t n)
{
	size_t lines = round_up(n, LINES_APART);
	void *p = aligned_alloc(LINES_APART, lines);

	return p != NULL ? memset(p, 0, lines) : NULL;
}

/*
 * @param flags   MAP_NORESERVE for a region that may exceed the machine's memory.
 * @param advice  MADV_*. A failure is ignored: without huge pages everything still works.
 */
static void *
own_pages(size_t n, int flags, int advice)
{
	size_t whole = n < HUGE_BYTES ? n : round_up(n, HUGE_BYTES) + HUGE_BYTES;
	char *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
		       0);
	size_t before, used = round_up(n, HUGE_BYTES);

	if (p == MAP_FAILED)
		return NULL;
	if (n < HUGE_BYTES)
		return p;
	/* Keep the part that starts at a huge page and unmap the rest. */
	before = round_up((uintptr_t)p, HUGE_BYTES) - (uintptr_t)p;
	if (before > 0)
		munmap(p, before);
	if (before < HUGE_BYTES)
		munmap(p + before + used, HUGE_BYTES - before);
	(void)madvise(p + before, used, advice);
	return p + before;
}

void *
pages_alloc(size_t n)
{
	return n < OWN_PAGES_BYTES ? small_alloc(n) : own_pages(n, 0, MADV_HUGEPAGE);
}

void *
pages_alloc_sparse(size_t n)
{
	return n < SPARSE_PAGES_BYTES ? small_alloc(n)
				      : own_pages(n, MAP_NORESERVE, MADV_NOHUGEPAGE);
}

static void
release(void *p, size_t n, size_t own_pages_bytes)
{
	if (n < own_pages_bytes)
		free(p);
	else if (p != NULL)
		munmap(p, n < HUGE_BYTES ? n : round_up(n, HUGE_BYTES));
}

void
pages_free(void *p, size_t n)
{
	release(p, n, OWN_PAGES_BYTES);
}

void
pages_free_sparse(void *p, size_t n)
{
	release(p, n, SPARSE_PAGES_BYTES);
}

uint64_t
pages_resident_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (statm == NULL)
		return 0;
	if (fscanf(statm, "%*u %" SCNu64, &pages) != 1)
		pages = 0;
	fclose(statm);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
