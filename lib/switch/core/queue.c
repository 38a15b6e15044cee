/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/core/queue.h"

#include <rte_malloc.h>

struct sw_marking *
sw_marking_create(bool counted)
{
	struct sw_marking *m = rte_zmalloc("marking", sizeof(*m), RTE_CACHE_LINE_SIZE);

	if (m == NULL || !counted)
		return m;
	m->accuracy = rte_zmalloc("mark_accuracy", sizeof(*m->accuracy), RTE_CACHE_LINE_SIZE);
	if (m->accuracy != NULL)
		return m;
	rte_free(m);
	return NULL;
}

void
sw_marking_destroy(struct sw_marking *m)
{
	if (m != NULL)
		rte_free(m->accuracy);
	rte_free(m);
}
