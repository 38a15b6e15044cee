/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/results/lengths.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/sets/hist.h"

#define START_ROOM 8u
/* With more lengths, a search would take longer than the cache misses of a histogram. */
#define MOST_FEW 32u

void
lengths_free(struct lengths *l)
{
	free(l->hist);
	free(l->few);
	*l = (struct lengths){0};
}

static bool
grow(struct lengths *l)
{
	uint32_t room = l->room == 0 ? START_ROOM : 2 * l->room;
	struct few_length *few = realloc(l->few, room * sizeof(*few));

	if (few == NULL)
		return false;
	l->few = few;
	l->room = room;
	return true;
}

/* @return false: out of memory, and the list stays. */
static bool
use_hist(struct lengths *l)
{
	struct hist *h = calloc(1, sizeof(*h));

	if (h == NULL)
		return false;
	for (uint32_t i = 0; i < l->n_few; i++)
		h->weight[l->few[i].bucket] = l->few[i].weight;
	free(l->few);
	l->few = NULL;
	l->n_few = l->room = 0;
	l->hist = h;
	return true;
}

/* @return false: out of memory. */
static bool
add_to_few(struct lengths *l, uint32_t bucket, uint64_t weight)
{
	uint32_t at = 0;

	while (at < l->n_few && l->few[at].bucket < bucket)
		at++;
	if (at < l->n_few && l->few[at].bucket == bucket) {
		l->few[at].weight += weight;
		return true;
	}
	if (l->n_few == MOST_FEW) {
		if (!use_hist(l))
			return false;
		l->hist->weight[bucket] += weight;
		return true;
	}
	if (l->n_few == l->room && !grow(l))
		return false;
	memmove(&l->few[at + 1], &l->few[at], (l->n_few - at) * sizeof(*l->few));
	l->few[at] = (struct few_length){.bucket = bucket, .weight = weight};
	l->n_few++;
	return true;
}

bool
lengths_add_bucket(struct lengths *l, uint32_t bucket, uint64_t weight)
{
	if (l->hist == NULL)
		return add_to_few(l, bucket, weight);
	l->hist->weight[bucket] += weight;
	return true;
}

bool
lengths_add(struct lengths *l, uint64_t bytes, uint64_t weight)
{
	if (!lengths_add_bucket(l, hist_bucket(bytes), weight))
		return false;
	l->count += weight;
	l->sum += bytes * weight;
	l->max = max_u64(l->max, bytes);
	return true;
}

uint64_t
lengths_quantile(const struct lengths *l, uint64_t n_empty, double pct)
{
	double need = (double)(l->count + n_empty) * pct / 100.0;
	uint32_t n = l->hist != NULL ? hist_bucket(l->max) + 1 : l->n_few;
	uint64_t seen = n_empty;

	if (seen > 0 && (double)seen >= need)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t bucket = l->hist != NULL ? i : l->few[i].bucket;

		seen += l->hist != NULL ? l->hist->weight[i] : l->few[i].weight;
		if (seen > 0 && (double)seen >= need)
			return min_u64(hist_bucket_top(bucket), l->max);
	}
	return l->max;
}
