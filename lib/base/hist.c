/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hist.h"

#include "base/counter.h"

uint64_t
hist_quantile(const struct hist *h, double pct)
{
	double need = (double)h->count * pct / 100.0;
	uint64_t seen = 0;

	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
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
	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		uint64_t weight = counter_read(&other->weight[b]);

		h->weight[b] += weight;
		h->count += weight;
	}
}

void
hist_since(const struct hist *h, const struct hist *earlier, struct hist *out)
{
	unsigned highest = 0;

	out->count = 0;
	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		out->weight[b] = h->weight[b] - earlier->weight[b];
		out->count += out->weight[b];
		if (out->weight[b] > 0)
			highest = b;
	}
	out->sum = h->sum - earlier->sum;
	out->max = out->count == 0 ? 0 : hist_bucket_top(highest);
	if (out->max > h->max)
		out->max = h->max;
}
