/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/jobs/job_spread.h"

#include <math.h>
#include <stdlib.h>

static int
by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t
percentile(const uint64_t *sorted, uint32_t n, uint32_t percent)
{
	return sorted[((uint64_t)n * percent + 99) / 100 - 1];
}

struct job_spread
job_spread_of(uint64_t *times_ns, uint32_t n)
{
	unsigned __int128 sum = 0, squares = 0; /* below 2^116 */
	double jain;

	if (n == 0)
		return (struct job_spread){0};
	for (uint32_t i = 0; i < n; i++) {
		sum += times_ns[i];
		squares += (unsigned __int128)times_ns[i] * times_ns[i];
	}
	jain = squares > 0 ? (double)sum * (double)sum / ((double)squares * n) : 1;
	qsort(times_ns, n, sizeof(*times_ns), by_value);
	return (struct job_spread){
		.min_ns = times_ns[0],
		.p50_ns = percentile(times_ns, n, 50),
		.p99_ns = percentile(times_ns, n, 99),
		.max_ns = times_ns[n - 1],
		/* squares / n is mean^2 / jain, so the variance is mean^2 (1 / jain - 1). */
		.cv_ppm = (uint32_t)(1e6 * sqrt(fmax(1 / jain - 1, 0))),
		.jain_ppm = (uint32_t)(1e6 * jain),
	};
}
