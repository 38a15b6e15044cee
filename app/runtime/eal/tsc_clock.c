/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/eal/tsc_clock.h"

#include <time.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

#define MEASURE_NS (50 * NS_PER_MS)
#define TRIES 32u /* another thread, or another machine, may come in between */
#define ROUND_HZ 1000u

static uint64_t
raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

struct tsc_moment
tsc_moment_now(void)
{
	struct tsc_moment moment = {0};
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t before = rte_rdtsc(), ns = raw_ns(), between = rte_rdtsc() - before;

		if (between < least) {
			least = between;
			moment = (struct tsc_moment){.cycles = before + between / 2, .ns = ns};
		}
	}
	return moment;
}

uint64_t
tsc_hz_since(const struct tsc_moment *begin)
{
	struct tsc_moment end;

	while (raw_ns() - begin->ns < MEASURE_NS)
		nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	end = tsc_moment_now();
	return (mul_div(end.cycles - begin->cycles, NS_PER_SEC, end.ns - begin->ns) +
		ROUND_HZ / 2) /
	       ROUND_HZ * ROUND_HZ;
}

void
tsc_clock_init(struct tsc_clock *clock, uint64_t hz)
{
	clock->ns_per_cycle_q32 = mul_div(NS_PER_SEC, Q32_ONE, hz);
	clock->start_cycles = rte_rdtsc();
}
