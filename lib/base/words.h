/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of one thread that others read: words that their owner writes as plain numbers, since it
 * does so for every packet, and structs that are made before others learn of them.
 *
 * A reader copies the words first and works on the copy: what it reads twice would be two numbers.
 * Each word of the copy is one that the owner has written (x86-64 and AArch64 write a word of 8
 * bytes at once); two of them may be a packet apart. Where that matters there is base/seq.h.
 */
#ifndef QUENCH_BASE_WORDS_H
#define QUENCH_BASE_WORDS_H

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

	for (size_t i = 0; i < bytes / sizeof(*t); i++)
		t[i] = __atomic_load_n(&f[i], __ATOMIC_RELAXED);
}

/** The owner's side of words_read(), for what it writes seldom: no reader sees half a word. */
static inline void
words_write(void *to, const void *from, size_t bytes)
{
	const uint64_t *f = (const uint64_t *)from;
	uint64_t *t = (uint64_t *)to;

	for (size_t i = 0; i < bytes / sizeof(*t); i++)
		__atomic_store_n(&t[i], f[i], __ATOMIC_RELAXED);
}

/** The owner has made what a reader finds by way of at; it writes at next. */
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

/** The reader has found the way at: what was made before words_publish() is whole. */
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
