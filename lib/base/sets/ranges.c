/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/sets/ranges.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
ranges_free(struct ranges *r)
{
	free(r->used);
	*r = (struct ranges){0};
}

/* Insert a range before the i-th. */
static int
insert(struct ranges *r, uint32_t i, struct range one)
{
	if (r->n == r->capacity) {
		uint32_t capacity = r->capacity == 0 ? 16 : 2 * r->capacity;
		struct range *used = realloc(r->used, capacity * sizeof(*used));

		if (used == NULL)
			return -ENOMEM;
		r->used = used;
		r->capacity = capacity;
	}
	memmove(&r->used[i + 1], &r->used[i], (r->n - i) * sizeof(*r->used));
	r->used[i] = one;
	r->n++;
	return 0;
}

static void
take_out(struct ranges *r, uint32_t i)
{
	r->n--;
	memmove(&r->used[i], &r->used[i + 1], (r->n - i) * sizeof(*r->used));
}

/* Mark [first, end) as used. It is free and belongs before the i-th range. */
static int
use(struct ranges *r, uint32_t i, uint32_t first, uint32_t end)
{
	bool joins_prev = i > 0 && r->used[i - 1].end == first;
	bool joins_next = i < r->n && r->used[i].first == end;

	if (joins_prev && joins_next) {
		r->used[i - 1].end = r->used[i].end;
		take_out(r, i);
	} else if (joins_prev) {
		r->used[i - 1].end = end;
	} else if (joins_next) {
		r->used[i].first = first;
	} else {
		return insert(r, i, (struct range){first, end});
	}
	return 0;
}

int64_t
ranges_take(struct ranges *r, uint32_t n, uint32_t end)
{
	uint32_t from = 0, i = 0;
	int rc;

	assert(n > 0);
	while (i < r->n && r->used[i].first - from < n)
		from = r->used[i++].end;
	if (from > end || end - from < n)
		return -ENOSPC;
	rc = use(r, i, from, from + n);
	return rc != 0 ? rc : (int64_t)from;
}

/* Index of the first range that ends after a number. */
static uint32_t
find(const struct ranges *r, uint32_t number)
{
	uint32_t low = 0, high = r->n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (r->used[middle].end <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64_t
ranges_find(const struct ranges *r, uint32_t from, uint32_t n, uint32_t end)
{
	uint32_t i = find(r, from);

	assert(n > 0);
	while (i < r->n && (r->used[i].first <= from || r->used[i].first - from < n))
		from = r->used[i++].end;
	return from > end || end - from < n ? -ENOSPC : (int64_t)from;
}

int
ranges_take_at(struct ranges *r, uint32_t first, uint32_t n)
{
	uint32_t i = find(r, first);

	assert(n > 0);
	if (i < r->n && r->used[i].first < first + n)
		return -EEXIST;
	return use(r, i, first, first + n);
}

int
ranges_give(struct ranges *r, uint32_t first, uint32_t n)
{
	uint32_t i = find(r, first), end = first + n;
	struct range *one = &r->used[i];

	assert(n > 0 && i < r->n && one->first <= first && end <= one->end);
	if (one->first == first && one->end == end) {
		take_out(r, i);
	} else if (one->first == first) {
		one->first = end;
	} else if (one->end == end) {
		one->end = first;
	} else {
		struct range rest = {end, one->end};

		if (insert(r, i + 1, rest) != 0)
			return -ENOMEM;
		r->used[i].end = first;
	}
	return 0;
}
