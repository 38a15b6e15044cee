/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only real clock: nanoseconds since program start, from the TSC.
 *
 * Code in lib/ gets the time as an argument; this is its source. The TSC is constant and common to
 * all cores where DPDK runs, so two lcores may share one clock. For one reader, time never goes
 * back (tested): it is one running count times a fixed-point factor, and not a sum of parts that
 * are rounded differently.
 *
 * The TSC's frequency is measured here. EAL rounds it to 10 MHz: at 2445.43 MHz, each rate would be
 * 0.19 % too low, which the program itself cannot see.
 */
#ifndef QUENCH_APP_RUNTIME_EAL_TSC_CLOCK_H
#define QUENCH_APP_RUNTIME_EAL_TSC_CLOCK_H

#include <stdint.h>
#include <rte_cycles.h>

struct tsc_clock {
	uint64_t start_cycles;
	uint64_t ns_per_cycle_q32; /* rounded down: at 1 GHz or more, less than 1 ns/s is lost */
};

/** A moment, by the TSC and by the kernel's clock that nothing adjusts (CLOCK_MONOTONIC_RAW). */
struct tsc_moment {
	uint64_t cycles, ns;
};

/** Now. Both are read at once, to within some 10 ns. */
struct tsc_moment tsc_moment_now(void);

/**
 * Frequency of the TSC in Hz, measured from that moment to now, and for 50 ms at least. It is
 * rounded to kHz, as the kernel's own number is. So all programs of a machine have the same one,
 * and clocks of two programs never drift apart.
 */
uint64_t tsc_hz_since(const struct tsc_moment *begin);

/** Start at 0 now. @param hz  TSC frequency */
void tsc_clock_init(struct tsc_clock *clock, uint64_t hz);

/** Convert cycles since the start to nanoseconds. */
static inline uint64_t
tsc_clock_ns(const struct tsc_clock *clock, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)cycles * clock->ns_per_cycle_q32 >> 32);
}

static inline uint64_t
tsc_clock_now(const struct tsc_clock *clock)
{
	return tsc_clock_ns(clock, rte_rdtsc() - clock->start_cycles);
}

#endif
