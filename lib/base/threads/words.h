/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State that one thread owns and others read. There are two kinds: structs whose words the owner
 * writes as plain integers, because it writes them for every packet; and structs that the owner
 * completes before it publishes a pointer to them.
 *
 * A reader copies the words first and works on the copy, because reading a word twice may give two
 * values. Each word of the copy is a value that the owner wrote (x86-64 and AArch64 write an
 * aligned 8-byte word at once), but two words may date from before and after the same packet. Where
 * they must be consistent, use base/threads/seq.h.
 */
#ifndef QUENCH_BASE_THREADS_WORDS_H
#define QUENCH_BASE_THREADS_WORDS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef QUENCH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/** Copy a struct of 8-byte words while its owner may be writing. bytes: a multiple of 8. */
static inline void
words_read(void *to, const void *from, size_t bytes)
{
	const uint64_t *f = (const uint64_t *)from;
	uint64_t *t = (uint64_t *)to;

	assert(bytes % sizeof(*t) == 0);
	for (size_t i = 0; i < bytes / sizeof(*t); i++)
		t[i] = __atomic_load_n(&f[i], __ATOMIC_RELAXED);
}

/** The owner's side of words_read(), for words written rarely: no reader sees half a word. */
static inline void
words_write(void *to, const void *from, size_t bytes)
{
	const uint64_t *f = (const uint64_t *)from;
	uint64_t *t = (uint64_t *)to;

	assert(bytes % sizeof(*t) == 0);
	for (size_t i = 0; i < bytes / sizeof(*t); i++)
		__atomic_store_n(&t[i], f[i], __ATOMIC_RELAXED);
}

/** Release fence: the owner's next store, to *at, publishes the complete struct to readers. */
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

/** Acquire fence, after loading *at: what the owner wrote before words_publish() is visible. */
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
