/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of nodes: on hugepages if the process has them. Without, EAL's memory is on small pages
 * like any other, and rte_free() writes to all of it. A fabric of thousands of switches then takes
 * memory of the C library, of which the process pays only for the pages that it uses.
 */
#ifndef QUENCH_NODE_NODE_MEMORY_H
#define QUENCH_NODE_NODE_MEMORY_H

#include <stddef.h>

/** @return n bytes of zeros, aligned to LINES_APART, for node_free(); NULL: out of memory. */
void *node_zalloc(size_t n);
/** NULL is allowed. */
void node_free(void *p);

#endif
