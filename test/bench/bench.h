/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the benchmarks share: a clock, EAL, rounds in turns, and the one form of a result.
 *
 * A figure stands beside a peer that does a like job, or a limit that it cannot pass, measured in
 * the same process: one round of ours, one of theirs, and again, so that a noisy moment hits both.
 * The median of the rounds counts, and the median of their ratios. doc/interface.md describes the
 * printed line.
 */
#ifndef QUENCH_TEST_BENCH_BENCH_H
#define QUENCH_TEST_BENCH_BENCH_H

#include <errno.h> /* program_invocation_short_name */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_eal.h>

#define BENCH_MAX_ROUNDS 15
#define BENCH_SKIPPED 77 /* exit code: the machine lacks what is measured */

/**
 * Is this run only to see that every figure comes out (test/bench/smoke)? Then there is one round
 * of each, and less of what takes long.
 */
static inline bool
bench_is_smoke(void)
{
	return getenv("QUENCH_BENCH_SMOKE") != NULL;
}

static inline unsigned int
bench_rounds(unsigned int n)
{
	return bench_is_smoke() ? 1 : n;
}

/** Time that this thread ran: what others do on its core in between is not in it. */
static inline double
bench_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/** End unless ok: a benchmark that failed must not look like a fast one. */
static inline void
bench_check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: failed: %s\n", program_invocation_short_name, what);
	exit(EXIT_FAILURE);
}

/**
 * Start EAL on one core. scripts/bench sets QUENCH_BENCH_EAL, empty, when there are hugepages.
 * Neither way leaves files on the disk.
 * @param device  An option of EAL; empty: there is none.
 */
static inline void
bench_eal_with(unsigned int megabytes, const char *device)
{
	const char *memory = getenv("QUENCH_BENCH_EAL");
	bool huge = memory != NULL && memory[0] == '\0';
	static char line[200];
	char *argv[16], *rest = line;
	int argc = 0;

	snprintf(line, sizeof(line), "bench -l 0 -m %u --no-pci --no-telemetry --log-level=4 %s %s",
		 megabytes, huge ? "--in-memory" : "--no-huge --no-shconf", device);
	while ((argv[argc] = strsep(&rest, " ")) != NULL)
		argc += argv[argc][0] != '\0';
	bench_check(rte_eal_init(argc, argv) >= 0, "EAL start-up");
}

static inline void
bench_eal(unsigned int megabytes)
{
	bench_eal_with(megabytes, "");
}

static inline int
bench_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** The middle one of n values. */
static inline double
bench_median(const double *values, unsigned int n)
{
	double sorted[BENCH_MAX_ROUNDS];

	bench_check(n <= BENCH_MAX_ROUNDS, "number of rounds");
	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), bench_by_value);
	return sorted[n / 2];
}

/**
 * Print a figure beside its peer; peer NULL: there is nothing to compare with. What is wanted of it
 * is in figures.txt.
 */
static inline void
bench_print(const char *name, double value, const char *unit, const char *peer, double peer_value)
{
	printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\"", name, value, unit);
	if (peer != NULL)
		printf(", \"peer\": \"%s\", \"peer_value\": %.2f, \"ratio\": %.4g", peer,
		       peer_value, value / peer_value);
	printf("}\n");
	fflush(stdout);
}

/** Print the medians of rounds that were run in turns, and quartiles of their ratios. */
static inline void
bench_print_pairs(const char *name, const double *values, const char *unit, const char *peer,
		  const double *peer_values, unsigned int rounds)
{
	double ratios[BENCH_MAX_ROUNDS];

	for (unsigned int i = 0; i < rounds; i++)
		ratios[i] = values[i] / peer_values[i];
	qsort(ratios, rounds, sizeof(*ratios), bench_by_value);
	printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\", \"peer\": \"%s\", "
	       "\"peer_value\": %.2f, \"ratio\": %.4g, \"ratio_low\": %.4g, \"ratio_high\": "
	       "%.4g}\n",
	       name, bench_median(values, rounds), unit, peer, bench_median(peer_values, rounds),
	       ratios[rounds / 2], ratios[rounds / 4], ratios[rounds - 1 - rounds / 4]);
	fflush(stdout);
}

/** One side of a comparison: round() does its work once and returns the figure, in the unit. */
struct bench_side {
	const char *name;
	double (*round)(void *arg);
	void *arg;
};

/** Run rounds of both in turns after one of each to warm up, and print them. */
static inline void
bench_compare(struct bench_side ours, struct bench_side peer, const char *unit, unsigned int rounds)
{
	double a[BENCH_MAX_ROUNDS], b[BENCH_MAX_ROUNDS];

	bench_check(rounds <= BENCH_MAX_ROUNDS, "number of rounds");
	rounds = bench_rounds(rounds);
	if (rounds > 1) {
		ours.round(ours.arg);
		peer.round(peer.arg);
	}
	for (unsigned int i = 0; i < rounds; i++) {
		a[i] = ours.round(ours.arg);
		b[i] = peer.round(peer.arg);
	}
	bench_print_pairs(ours.name, a, unit, peer.name, b, rounds);
}

#endif
