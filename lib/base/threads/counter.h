/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters with one writer (the lcore that owns the node) and any number of readers. The store is a
 * relaxed atomic, so a reader on another thread never sees half a value. There is no locked
 * instruction: counting costs an add and a store.
 */
#ifndef QUENCH_BASE_THREADS_COUNTER_H
#define QUENCH_BASE_THREADS_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(QUENCH_TSAN)
/* In assembler, because compilers take three instructions for it. */
static inline void
counter_add(uint64_t *counter, uint64_t n)
{
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(n) : "cc");
}
#else
static inline void
counter_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}
#endif

static inline void
counter_inc(uint64_t *counter)
{
	counter_add(counter, 1);
}

static inline uint64_t
counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/**
 * Add the counters of part, which its owner may be writing, to those of sum, which only the caller
 * uses. Both are structs of uint64_t counters alone.
 */
static inline void
counters_add(const void *part, void *sum, size_t bytes)
{
	const uint64_t *from = (const uint64_t *)part;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] += counter_read(&from[i]);
}

#endif
