/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/frame/chunks.h"

#include <errno.h>
#include <string.h>
#include <rte_eal.h>

#include "base/threads/pages.h"

int
sw_chunks_init(struct sw_chunks *c, size_t n)
{
	size_t bytes = (n + 1) * SW_CHUNK_BYTES;
	char *memory = pages_alloc_sparse(bytes);

	if (memory == NULL)
		return -ENOMEM;
	/*
	 * A program with hugepages usually drives hardware ports, whose lcores must not be delayed
	 * by page faults.
	 */
	if (rte_eal_has_hugepages())
		memset(memory, 0, bytes);
	*c = (struct sw_chunks){.memory = memory, .bytes = bytes};
	c->fresh = (struct sw_chunk *)RTE_PTR_ALIGN_CEIL(memory, SW_CHUNK_BYTES);
	c->end = c->fresh + n;
	return 0;
}

void
sw_chunks_fini(struct sw_chunks *c)
{
	pages_free_sparse(c->memory, c->bytes);
	*c = (struct sw_chunks){0};
}
