/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sequence lock: one writer changes several words, and any thread reads them as one consistent set.
 * The sequence number is odd while the writer is between seq_begin() and seq_end(). A reader that
 * finds it odd or changed reads again (Boehm 2012, "Can seqlocks get along with programming
 * language memory models?"). A change costs two stores and no locked instruction.
 *
 * Both sides access the protected words as relaxed atomics, as counters do
 * (base/threads/counter.h).
 *
 *	do {
 *		before = seq_read(&x->seq);
 *		...
 *	} while (seq_changed(&x->seq, before));
 */
#ifndef QUENCH_BASE_THREADS_SEQ_H
#define QUENCH_BASE_THREADS_SEQ_H

#include <stdbool.h>
#include <stdint.h>

static inline void
seq_begin(uint32_t *seq)
{
	__atomic_store_n(seq, *seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void
seq_end(uint32_t *seq)
{
	__atomic_store_n(seq, *seq + 1, __ATOMIC_RELEASE);
}

static inline uint32_t
seq_read(const uint32_t *seq)
{
	return __atomic_load_n(seq, __ATOMIC_ACQUIRE);
}

/** Must the words read since seq_read() be read again? */
static inline bool
seq_changed(const uint32_t *seq, uint32_t before)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return (before & 1) || before != __atomic_load_n(seq, __ATOMIC_RELAXED);
}

#endif
