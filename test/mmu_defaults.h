/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared buffer without a switch around it: for tests and a benchmark of lib/tm. */
#ifndef QUENCH_TEST_MMU_DEFAULTS_H
#define QUENCH_TEST_MMU_DEFAULTS_H

#include <stdlib.h>

#include "base/numbers/array.h"
#include "base/field/field_table.h"
#include "tm/buffer/mmu_params.h"

/* Defaults of all tables; n_ports, lossless_pgs and lossless_queues are 0. */
static inline struct mmu_params
mmu_defaults(void)
{
	static const struct field_section sections[] = {
		{"", mmu_fields, &mmu_fields_n, 0},
		FIELD_SECTION("", buffer_profile_fields, struct mmu_params, lossless),
		FIELD_SECTION("", buffer_profile_lossy_fields, struct mmu_params, lossy),
		FIELD_SECTION("", buffer_profile_egress_lossless_fields, struct mmu_params,
			      egress_lossless),
		FIELD_SECTION("", buffer_profile_egress_lossy_fields, struct mmu_params,
			      egress_lossy),
	};
	struct mmu_params p = {0};

	if (field_sections_defaults(sections, ARRAY_LEN(sections), &p) != 0)
		abort();
	p.lossless.xoff_bytes = 22400; /* t_flight: a buffer alone knows no links */
	return p;
}

#endif
