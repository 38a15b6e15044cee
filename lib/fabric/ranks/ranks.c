/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/ranks/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"

#define FIRST_ROOM 4096u

void *
rank_bytes_more(struct rank_bytes *b, size_t n)
{
	size_t room = b->room;
	uint8_t *more;

	if (b->n + n > room) {
		for (room = room == 0 ? FIRST_ROOM : room; room < b->n + n;)
			room *= 2;
		more = realloc(b->at, room);
		if (more == NULL) {
			b->no_memory = true;
			return NULL;
		}
		b->at = more;
		b->room = room;
	}
	b->n += n;
	return b->at == NULL ? NULL : b->at + b->n - n;
}

void
rank_bytes_add(struct rank_bytes *b, const void *from, size_t n)
{
	void *to = rank_bytes_more(b, n);

	if (to != NULL && n > 0)
		memcpy(to, from, n);
}

void
rank_bytes_free(struct rank_bytes *b)
{
	free(b->at);
	*b = (struct rank_bytes){0};
}

struct rank_reader
rank_reader_of(const struct rank_bytes *b)
{
	/* C adds nothing to NULL, not even 0. */
	return (struct rank_reader){.at = b->at, .end = b->n > 0 ? b->at + b->n : b->at};
}

const void *
rank_reader_take(struct rank_reader *r, size_t n)
{
	const uint8_t *at = r->at;

	if ((size_t)(r->end - r->at) < n) {
		r->bad = true;
		return NULL;
	}
	if (n > 0)
		r->at += n;
	return at;
}

void
rank_reader_copy(struct rank_reader *r, void *to, size_t n)
{
	const void *from = rank_reader_take(r, n);

	if (from == NULL)
		memset(to, 0, n);
	else if (n > 0)
		memcpy(to, from, n);
}

void
ranks_free(struct ranks *ranks)
{
	for (uint32_t q = 0; q < ranks->n; q++) {
		rank_bytes_free(&ranks->out[q]);
		rank_bytes_free(&ranks->in[q]);
	}
}

void
ranks_begin(struct ranks *ranks)
{
	for (uint32_t q = 0; q < ranks->n; q++)
		ranks->out[q].n = 0;
}

int
ranks_exchange(struct ranks *ranks, const struct rank_bytes *out, struct rank_bytes *in)
{
	if (ranks->error == 0)
		ranks->error = ranks->exchange(ranks, out, in);
	/* It may have come to a part of them. */
	for (uint32_t q = 0; ranks->error != 0 && q < ranks->n; q++)
		in[q].n = 0;
	return ranks->error;
}

int
ranks_to_first(struct ranks *ranks)
{
	bool no_memory = ranks->out[0].no_memory;
	int rc;

	/* Rank 0 waits for this exchange. What is left has no form. */
	if (no_memory)
		ranks->out[0].n = 0;
	rc = ranks_exchange(ranks, ranks->out, ranks->in);
	if (no_memory)
		ranks->error = rc = -ENOMEM;
	return rc;
}

int
ranks_to_all(struct ranks *ranks, const void *from, size_t n)
{
	bool no_memory = false;
	int rc;

	ranks_begin(ranks);
	for (uint32_t q = 0; q < ranks->n; q++) {
		if (q == ranks->self)
			continue;
		rank_bytes_add(&ranks->out[q], from, n);
		no_memory |= ranks->out[q].no_memory;
	}
	/* The others wait for this exchange, and find too few bytes. */
	rc = ranks_exchange(ranks, ranks->out, ranks->in);
	if (no_memory)
		ranks->error = rc = -ENOMEM;
	return rc;
}

int
ranks_share(struct ranks *ranks, const struct rank_bytes *own)
{
	int rc = ranks_to_all(ranks, own->at, own->n);

	/* The others go on without the rest up to the next exchange. */
	if (own->no_memory)
		ranks->error = rc = -ENOMEM;
	return rc;
}

/* The value of each rank, in values[]. @return as exchange(). */
static int
values_of_all(struct ranks *ranks, uint64_t value, uint64_t values[RANKS_MOST])
{
	int rc = ranks_to_all(ranks, &value, sizeof(value));

	for (uint32_t q = 0; rc == 0 && q < ranks->n; q++) {
		struct rank_reader r = rank_reader_of(&ranks->in[q]);

		values[q] = value;
		if (q != ranks->self)
			rank_reader_copy(&r, &values[q], sizeof(values[q]));
		rc = r.bad ? -EIO : 0;
	}
	if (rc < 0)
		ranks->error = rc;
	return rc;
}

uint64_t
ranks_min(struct ranks *ranks, uint64_t value)
{
	uint64_t values[RANKS_MOST];

	if (values_of_all(ranks, value, values) < 0)
		return 0;
	for (uint32_t q = 0; q < ranks->n; q++)
		value = min_u64(value, values[q]);
	return value;
}

uint64_t
ranks_sum(struct ranks *ranks, uint64_t value)
{
	uint64_t values[RANKS_MOST], sum = 0;

	if (values_of_all(ranks, value, values) < 0)
		return UINT64_MAX;
	for (uint32_t q = 0; q < ranks->n; q++)
		sum += values[q];
	return sum;
}
