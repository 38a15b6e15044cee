/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/eal/tsc_clock.h"

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

void
tsc_clock_init(struct tsc_clock *clock, uint64_t hz)
{
	clock->ns_per_cycle_q32 = mul_div(NS_PER_SEC, Q32_ONE, hz);
	clock->start_cycles = rte_rdtsc();
}
