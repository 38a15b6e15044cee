/* SPDX-License-Identifier: BSD-3-Clause */
/* Cache lines that move between cores. */
#ifndef QUENCH_BASE_THREADS_LINES_H
#define QUENCH_BASE_THREADS_LINES_H

/*
 * Alignment of data that one core writes while other cores use the data beside it: x86 cores fetch
 * lines of 64 bytes in pairs, so reading one line takes the other away from its writer.
 */
#define LINES_APART 128u

/*
 * Prefetch a cache line for writing, because another core had it last. In assembler, because the
 * compiler emits prefetchw only for CPUs newer than the oldest that we support. Our oldest CPUs
 * execute it as a no-op.
 */
static inline void
prefetch_to_write(const void *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

#endif
