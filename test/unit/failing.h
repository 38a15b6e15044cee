/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that runs out: malloc and its family, mmap, and DPDK's heap and memzones, for the whole
 * test program and the libraries that it loads. Only the thread that asks for it sees failures, and
 * only its own allocations are counted.
 *
 * failing_each() lets an attempt fail at its first allocation, then at its second, and so on until
 * one meets no failure. Each has to say that it failed, and to give back all that it had taken.
 *
 * Not under sanitizers, which have an allocator of their own: FAILING_WORKS is 0 then.
 */
#ifndef QUENCH_TEST_UNIT_FAILING_H
#define QUENCH_TEST_UNIT_FAILING_H

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "unit/cases.h"
#include "unit/sanitized.h"

#define FAILING_WORKS (!SANITIZED)

struct failing_live {
	int64_t blocks;      /* of malloc and its family */
	int64_t heap_blocks; /* of DPDK's heaps, memzones among them: it counts them itself */
	int64_t mapped_bytes;
};

static _Thread_local struct {
	bool watched, armed, in_heap;
	bool may_do_without; /* DPDK asks for a smaller memzone then */
	uint64_t left;       /* allocations until the one that fails */
	uint64_t failures;
	uint64_t most_failures; /* from that one on, so many in a row */
	bool (*asked)(void);    /* if set, called while armed: does this allocation fail? */
	struct failing_live live;
} failing;

/* Is this allocation to fail? */
static inline bool
failing_now(void)
{
	if (!failing.armed)
		return false;
	if (failing.asked != NULL)
		return failing.asked();
	if (failing.left > 0) {
		failing.left--;
		return false;
	}
	if (failing.failures == failing.most_failures)
		return false;
	failing.failures++;
	return true;
}

#if FAILING_WORKS

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static inline void *
failing_count(void *p, int64_t *live)
{
	if (p != NULL && failing.watched)
		++*live;
	return p;
}

static inline bool
failing_out_of_memory(void)
{
	if (!failing_now())
		return false;
	errno = ENOMEM;
	return true;
}

void *
malloc(size_t n)
{
	return failing_out_of_memory() ? NULL
				       : failing_count(__libc_malloc(n), &failing.live.blocks);
}

void *
calloc(size_t n, size_t bytes)
{
	return failing_out_of_memory()
		       ? NULL
		       : failing_count(__libc_calloc(n, bytes), &failing.live.blocks);
}

void *
realloc(void *old, size_t n)
{
	void *p;

	if (failing_out_of_memory())
		return NULL;
	p = __libc_realloc(old, n);
	return old == NULL ? failing_count(p, &failing.live.blocks) : p;
}

void *
aligned_alloc(size_t align, size_t n)
{
	return failing_out_of_memory()
		       ? NULL
		       : failing_count(__libc_memalign(align, n), &failing.live.blocks);
}

int
posix_memalign(void **out, size_t align, size_t n)
{
	void *p = aligned_alloc(align, n);

	if (p == NULL)
		return ENOMEM;
	*out = p;
	return 0;
}

void
free(void *p)
{
	if (p != NULL && failing.watched)
		failing.live.blocks--;
	__libc_free(p);
}

/* Under both of its names: with 64 bits of offset it has the second. */
static void *
failing_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	void *p;

	if (failing_out_of_memory())
		return MAP_FAILED;
	p = (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);
	if (p != MAP_FAILED && failing.watched)
		failing.live.mapped_bytes += (int64_t)n;
	return p;
}

void *failing_mmap32(void *, size_t, int, int, int, off_t) __asm__("mmap");
void *
failing_mmap32(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	return failing_mmap(at, n, prot, flags, fd, offset);
}

void *failing_mmap64(void *, size_t, int, int, int, off_t) __asm__("mmap64");
void *
failing_mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	return failing_mmap(at, n, prot, flags, fd, offset);
}

int
munmap(void *at, size_t n)
{
	if (failing.watched)
		failing.live.mapped_bytes -= (int64_t)n;
	return (int)syscall(SYS_munmap, at, n);
}

#define FAILING_NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static inline bool
failing_out_of_heap(void)
{
	if (!failing_now())
		return false;
	rte_errno = ENOMEM;
	return true;
}

/* DPDK's functions may call each other by these names: the outermost counts. */
static void *
failing_heap(void *(*next)(const char *, size_t, unsigned int, int), const char *type, size_t n,
	     unsigned int align, int socket)
{
	void *p;

	if (failing.in_heap)
		return next(type, n, align, socket);
	if (failing_out_of_heap())
		return NULL;
	failing.in_heap = true;
	p = next(type, n, align, socket);
	failing.in_heap = false;
	return p;
}

void *
rte_malloc_socket(const char *type, size_t n, unsigned int align, int socket)
{
	return failing_heap(FAILING_NEXT(rte_malloc_socket), type, n, align, socket);
}

void *
rte_zmalloc_socket(const char *type, size_t n, unsigned int align, int socket)
{
	return failing_heap(FAILING_NEXT(rte_zmalloc_socket), type, n, align, socket);
}

void *
rte_malloc(const char *type, size_t n, unsigned int align)
{
	return rte_malloc_socket(type, n, align, SOCKET_ID_ANY);
}

void *
rte_zmalloc(const char *type, size_t n, unsigned int align)
{
	return rte_zmalloc_socket(type, n, align, SOCKET_ID_ANY);
}

const struct rte_memzone *
rte_memzone_reserve_aligned(const char *name, size_t n, int socket, unsigned int flags,
			    unsigned int align)
{
	if (failing_out_of_heap()) {
		failing.may_do_without = true;
		return NULL;
	}
	return FAILING_NEXT(rte_memzone_reserve_aligned)(name, n, socket, flags, align);
}

#endif

static inline struct failing_live
failing_live(void)
{
	struct failing_live live = failing.live;

	for (unsigned int i = 0; i < rte_socket_count(); i++) {
		struct rte_malloc_socket_stats stats;

		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
			live.heap_blocks += stats.alloc_count;
	}
	return live;
}

static inline void
failing_sees_no_leak(const char *what, uint64_t at, const struct failing_live *before)
{
	struct failing_live now = failing_live();

	if (memcmp(&now, before, sizeof(now)) != 0)
		fail_msg("%s, allocation %ju failed: leaked %jd blocks, %jd of DPDK's heap, %jd "
			 "mapped bytes",
			 what, (uintmax_t)at, (intmax_t)(now.blocks - before->blocks),
			 (intmax_t)(now.heap_blocks - before->heap_blocks),
			 (intmax_t)(now.mapped_bytes - before->mapped_bytes));
}

static inline int
failing_try(int (*attempt)(void *arg), void *arg, uint64_t at, uint64_t in_a_row)
{
	int rc;

	failing.left = at;
	failing.failures = 0;
	failing.most_failures = in_a_row;
	failing.may_do_without = false;
	failing.armed = true;
	rc = attempt(arg);
	failing.armed = false;
	return rc;
}

/*
 * Try again and again, each time with the next allocation failing, until none did: each allocation
 * alone, and then each with all that follow it.
 *
 * @param attempt  Ends with nothing held. @return 0, or it failed and said so.
 * @return         Allocations of an attempt that succeeds.
 */
static inline uint64_t
failing_each(const char *what, int (*attempt)(void *arg), void *arg)
{
	static const uint64_t in_a_row[] = {1, UINT64_MAX};
	uint64_t at = 0;

	failing.watched = true;
	/* What the libraries keep for good, for the first success and the first message of a
	 * failure. */
	assert_int_equal(attempt(arg), 0);
	failing_try(attempt, arg, 0, 1);
	for (unsigned int k = 0; k < 2; k++) {
		for (at = 0;; at++) {
			struct failing_live before = failing_live();
			int rc = failing_try(attempt, arg, at, in_a_row[k]);

			failing_sees_no_leak(what, at, &before);
			if (failing.failures == 0) {
				assert_int_equal(rc, 0);
				break;
			}
			if (rc == 0 && !failing.may_do_without)
				fail_msg("%s succeeds without allocation %ju", what, (uintmax_t)at);
		}
	}
	failing.watched = false;
	return at;
}

#endif
