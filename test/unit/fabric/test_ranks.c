/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges of ranks that fail, and bytes that a rank does not get. */
#include <errno.h>

#include "unit/cases.h"
#include "fabric/ranks/ranks.h"

static int result;
static uint64_t others_value;

/* Of two ranks: the other one sends a value. */
static int
exchange(struct ranks *ranks, const struct rank_bytes *out, struct rank_bytes *in)
{
	(void)out;
	ranks->counts.exchanges++;
	in[1].n = 0;
	if (others_value > 0)
		rank_bytes_add(&in[1], &others_value, sizeof(others_value));
	return result;
}

static struct ranks
two_ranks(void)
{
	result = 0;
	others_value = 7;
	return (struct ranks){.n = 2, .exchange = exchange};
}

TEST(values_of_all_ranks_are_folded)
{
	struct ranks ranks = two_ranks();

	assert_int_equal(ranks_min(&ranks, 9), 7);
	assert_int_equal(ranks_min(&ranks, 3), 3);
	assert_int_equal(ranks_sum(&ranks, 3), 10);
	assert_int_equal(ranks.error, 0);
	ranks_free(&ranks);
}

TEST(no_exchange_follows_one_that_failed)
{
	struct ranks ranks = two_ranks();

	result = -ENOMEM;
	assert_int_equal(ranks_min(&ranks, 9), 0);
	assert_int_equal(ranks.error, -ENOMEM);
	result = 0;
	assert_int_equal(ranks_sum(&ranks, 9), UINT64_MAX);
	assert_int_equal(ranks_to_first(&ranks), -ENOMEM);
	assert_int_equal(ranks.counts.exchanges, 1);
	ranks_free(&ranks);
}

TEST(nothing_is_read_of_an_exchange_that_failed)
{
	struct ranks ranks = two_ranks();

	/* It has come to a part of the bytes. */
	result = -ENOMEM;
	assert_int_equal(ranks_to_first(&ranks), -ENOMEM);
	assert_int_equal(ranks.in[1].n, 0);
	ranks_free(&ranks);
}

TEST(rank_0_gets_all_bytes_of_a_rank_or_none)
{
	struct ranks ranks = two_ranks();

	ranks.self = 1;
	rank_bytes_add(&ranks.out[0], "1234", 4);
	ranks.out[0].no_memory = true; /* and then more */
	assert_int_equal(ranks_to_first(&ranks), -ENOMEM);
	assert_int_equal(ranks.out[0].n, 0);
	assert_int_equal(ranks.error, -ENOMEM);
	assert_int_equal(ranks.counts.exchanges, 1);
	ranks_free(&ranks);
}

TEST(a_rank_that_sends_too_few_bytes_has_failed)
{
	struct ranks ranks = two_ranks();

	others_value = 0;
	assert_int_equal(ranks_min(&ranks, 9), 0);
	assert_int_equal(ranks.error, -EIO);
	ranks_free(&ranks);
}

TEST(bytes_that_are_lost_end_the_run)
{
	struct ranks ranks = two_ranks();

	/* As rank_bytes_more() does without memory. */
	ranks.out[1].no_memory = true;
	assert_int_equal(ranks_to_all(&ranks, "1234", 4), -ENOMEM);
	assert_int_equal(ranks_min(&ranks, 9), 0);
	/* The other rank has waited for the first of them. */
	assert_int_equal(ranks.counts.exchanges, 1);
	ranks_free(&ranks);
}

TEST(a_rank_that_has_not_collected_all_has_failed)
{
	struct ranks ranks = two_ranks();
	struct rank_bytes own = {.no_memory = true};

	rank_bytes_add(&own, "1234", 4);
	assert_int_equal(ranks_share(&ranks, &own), -ENOMEM);
	assert_int_equal(ranks_min(&ranks, 9), 0);
	/* The other rank has waited for the first of them. */
	assert_int_equal(ranks.counts.exchanges, 1);
	rank_bytes_free(&own);
	ranks_free(&ranks);
}

TEST(a_reader_finds_too_few_bytes)
{
	struct rank_bytes b = {0};
	struct rank_reader r;
	uint64_t word = 1;

	rank_bytes_add(&b, "1234", 4);
	r = rank_reader_of(&b);
	rank_reader_copy(&r, &word, sizeof(word));
	assert_true(r.bad);
	assert_int_equal(word, 0);
	rank_bytes_free(&b);
}

TEST_MAIN()
