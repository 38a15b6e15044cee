/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State that one thread owns and others read: structs whose words the owner writes as plain
 * numbers, since it does so for every packet, and structs that are complete before others find
 * them.
 *
 * A reader copies the words first and works on the copy: the same word read twice could be two
 * numbers. Each word of the copy is one that the owner has written (x86-64 and AArch64 write an
 * aligned word of 8 bytes at once); two of them may be a packet apart. Where they have to belong
 * together, use base/seq.h.
 */
#ifndef QUENCH_BASE_WORDS_H
#define QUENCH_BASE_WORDS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef QUENCH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/** Copy a struct of 8-byte words that its owner may write meanwhile. bytes: a multiple of 8. */
static inline void
words_read(void *to, const void *from, size_t bytes)
{
	const uint64_t *f = (const uint64_t *)from;
	uint64_t *t = (uint64_t *)to;

	assert(bytes % sizeof(*t) == 0);
	for (size_t i = 0; i < bytes / sizeof(*t); i++)
		t[i] = __atomic_load_n(&f[i], __ATOMIC_RELAXED);
}

/** The owner's side of words_read(), for what it writes seldom: no reader sees half a word. */
static inline void
words_write(void *to, const void *from, size_t bytes)
{
	const uint64_t *f = (const uint64_t *)from;
	uint64_t *t = (uint64_t *)to;

	assert(bytes % sizeof(*t) == 0);
	for (size_t i = 0; i < bytes / sizeof(*t); i++)
		__atomic_store_n(&t[i], f[i], __ATOMIC_RELAXED);
}

/** The struct that a reader finds through `at` is complete; the owner's next store to `at` shows
 * it. */
static inline void
words_publish(void *at)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
#ifdef QUENCH_TSAN
	__tsan_release(at);
#else
	(void)at;
#endif
}

/** Call after the load of `at`: what the owner wrote before words_publish() can be read. */
static inline void
words_found(const void *at)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#ifdef QUENCH_TSAN
	__tsan_acquire((void *)(uintptr_t)at);
#else
	(void)at;
#endif
}

#endif
