/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the shared buffer have in common. */
#ifndef QUENCH_TEST_UNIT_TM_MMU_TEST_H
#define QUENCH_TEST_UNIT_TM_MMU_TEST_H

#include <string.h>

#include "mmu_defaults.h"
#include "tm/buffer/mmu_part.h"
#include "unit/cases.h"

#define PG 3
#define LOSSY 0

/* Tables' defaults, priority 3 lossless. */
static inline struct mmu_params
defaults(uint16_t n_ports)
{
	struct mmu_params p = mmu_defaults();

	memset(p.lossless_pgs, 1 << PG, sizeof(p.lossless_pgs));
	memset(p.lossless_queues, 1 << PG, sizeof(p.lossless_queues));
	p.n_ports = n_ports;
	return p;
}

static const uint8_t all_in_one[MMU_MAX_PORTS];

static inline struct mmu *
create(const struct mmu_params *p)
{
	char why[256] = "";
	struct mmu *mmu;

	if (mmu_params_check(p, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	mmu = mmu_create_parts(p, 1, all_in_one);
	assert_non_null(mmu);
	return mmu;
}

#endif
