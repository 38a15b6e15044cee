/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large zeroed regions on huge pages where the system has them. On 4 KB pages, random reads of a
 * table of a few megabytes miss the TLB nearly every time.
 */
#ifndef QUENCH_BASE_THREADS_PAGES_H
#define QUENCH_BASE_THREADS_PAGES_H

#include <stddef.h>
#include <stdint.h>

/**
 * @return n > 0 bytes of zeros, aligned to LINES_APART, or NULL with errno set. Large regions take
 *         physical memory only as they are touched.
 */
void *pages_alloc(size_t n);

/** n as given to pages_alloc(). NULL is allowed. */
void pages_free(void *p, size_t n);

/**
 * As pages_alloc(), but never on huge pages, and without a reservation of memory: for regions that
 * mostly remain untouched, also smaller ones.
 */
void *pages_alloc_sparse(size_t n);
/** n as given to pages_alloc_sparse(). NULL is allowed. */
void pages_free_sparse(void *p, size_t n);

/** Physical memory of the process, as Linux counts it; 0: not known. */
uint64_t pages_resident_bytes(void);

#endif
