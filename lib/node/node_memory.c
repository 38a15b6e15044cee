/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/node_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include "base/threads/lines.h"

/* The C library's pointer is before the aligned one. aligned_alloc() would need a memset(). */
void *
node_zalloc(size_t n)
{
	char *raw;
	void **p;

	if (rte_eal_has_hugepages())
		return rte_zmalloc("node", n, LINES_APART);
	raw = calloc(1, n + sizeof(void *) + LINES_APART);
	if (raw == NULL)
		return NULL;
	raw += sizeof(void *);
	p = (void **)(raw + (LINES_APART - (uintptr_t)raw % LINES_APART) % LINES_APART);
	p[-1] = raw - sizeof(void *);
	return p;
}

void
node_free(void *p)
{
	if (rte_eal_has_hugepages())
		rte_free(p);
	else if (p != NULL)
		free(((void **)p)[-1]);
}
