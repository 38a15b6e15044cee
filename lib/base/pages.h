/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large zeroed regions on huge pages where the system has them: on 4 KB pages, a table that is read
 * at random misses the TLB each time from a few megabytes on.
 */
#ifndef QUENCH_BASE_PAGES_H
#define QUENCH_BASE_PAGES_H

#include <stddef.h>

/**
 * @return n > 0 bytes of zeros at a cache line's start, or NULL with errno set. Large regions take
 *         memory as they are touched.
 */
void *pages_alloc(size_t n);

/** n as given to pages_alloc(). NULL is allowed. */
void pages_free(void *p, size_t n);

#endif
