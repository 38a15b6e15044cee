/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and destruction of a shared buffer, whole or in parts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tm/buffer/mmu_part.h"

/* Zeroed memory, aligned to LINES_APART (a pair of cache lines), or NULL with errno set. */
static void *
alloc_lines(size_t bytes)
{
	size_t whole = (bytes + LINES_APART - 1) / LINES_APART * LINES_APART;
	void *p = aligned_alloc(LINES_APART, whole);

	if (p != NULL)
		memset(p, 0, whole);
	return p;
}

static struct mmu *
alloc_mmu(const struct mmu_params *params, uint16_t n_parts)
{
	size_t n = (size_t)params->n_ports * TM_CLASSES;
	struct mmu *mmu = alloc_lines(sizeof(*mmu) + n * sizeof(mmu->pgs[0]));

	if (mmu == NULL)
		return NULL;
	mmu->parts = alloc_lines(n_parts * sizeof(mmu->parts[0]));
	mmu->queues = alloc_lines(n * sizeof(mmu->queues[0]));
	mmu->rules = calloc((size_t)n_parts * MMU_PART_RULES, sizeof(mmu->rules[0]));
	if (mmu->parts == NULL || mmu->queues == NULL || mmu->rules == NULL) {
		mmu_destroy(mmu);
		return NULL;
	}
	mmu->n_parts = n_parts;
	mmu->n_ports = params->n_ports;
	mmu->cell_bytes = params->cell_bytes;
	mmu->packets = params->packets;
	return mmu;
}

struct mmu *
mmu_create_parts(const struct mmu_params *params, uint16_t n_parts, const uint8_t part_of_port[])
{
	char why[256];
	struct mmu *mmu;

	if (n_parts == 0 || n_parts > MMU_MAX_PARTS ||
	    mmu_params_check(params, why, sizeof(why)) < 0) {
		errno = EINVAL;
		return NULL;
	}
	mmu = alloc_mmu(params, n_parts);
	if (mmu == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	for (uint16_t i = 0; i < params->n_ports; i++) {
		assert(part_of_port[i] < n_parts);
		mmu->part_of_port[i] = part_of_port[i];
	}
	for (uint16_t i = 0; i < n_parts; i++)
		mmu_part_set_params(mmu, i, params);
	return mmu;
}

void
mmu_destroy(struct mmu *mmu)
{
	if (mmu == NULL)
		return;
	free(mmu->parts);
	free(mmu->queues);
	free(mmu->rules);
	free(mmu);
}
