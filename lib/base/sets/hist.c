/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sets/hist.h"

#include <string.h>

#include "base/threads/counter.h"

/* Sum with each value rounded up to the top of its bucket: at most 1/128 above the true sum. */
static unsigned __int128
rough_sum(const struct hist *h)
{
	unsigned __int128 sum = 0;

	for (unsigned b = 0; b <= hist_bucket(h->max); b++)
		sum += (unsigned __int128)hist_bucket_top(b) * h->weight[b];
	return sum;
}

uint64_t
hist_mean(const struct hist *h)
{
	unsigned __int128 sum = h->sum, rough;
	uint64_t most;

	if (h->count == 0)
		return 0;
	if (!__builtin_mul_overflow(h->count, h->max, &most))
		return h->sum / h->count;
	/*
	 * Find how often the 64-bit sum wrapped: take the total that is nearest to the middle of
	 * the range that the buckets allow.
	 */
	rough = rough_sum(h);
	rough -= rough >> 8;
	if (rough > sum)
		sum += (rough - sum + (1ull << 63)) >> 64 << 64;
	return (uint64_t)(sum / h->count);
}

uint64_t
hist_quantile(const struct hist *h, double pct)
{
	double need = (double)h->count * pct / 100.0;
	uint64_t seen = 0;

	for (unsigned b = 0; b <= hist_bucket(h->max); b++) {
		seen += h->weight[b];
		if (seen > 0 && (double)seen >= need)
			return hist_bucket_top(b) < h->max ? hist_bucket_top(b) : h->max;
	}
	return h->max;
}

void
hist_merge(struct hist *h, const struct hist *other)
{
	uint64_t max = counter_read(&other->max);

	h->sum += counter_read(&other->sum);
	if (max > h->max)
		h->max = max;
	for (unsigned b = 0; b <= hist_bucket(max); b++) {
		uint64_t weight = counter_read(&other->weight[b]);

		if (weight == 0)
			continue;
		h->weight[b] += weight;
		h->count += weight;
	}
}

void
hist_since(const struct hist *h, struct hist *earlier, struct hist *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned b = 0; b <= hist_bucket(h->max); b++) {
		if (h->weight[b] == earlier->weight[b])
			continue;
		out->weight[b] = h->weight[b] - earlier->weight[b];
		out->count += out->weight[b];
		out->max = hist_bucket_top(b) < h->max ? hist_bucket_top(b) : h->max;
		earlier->weight[b] = h->weight[b];
	}
	out->sum = h->sum - earlier->sum;
	earlier->sum = h->sum;
	earlier->count = h->count;
	earlier->max = h->max;
}
