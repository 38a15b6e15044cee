/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "pacer/token_bucket.h"

#define HOUR_NS (3600 * NS_PER_SEC)

TEST(full_bucket_sends_burst_and_one_frame)
{
	struct token_bucket tb;
	uint32_t frames = 0;

	token_bucket_init(&tb, 10 * GBPS, 3000, 5);
	while (token_bucket_can_send(&tb)) {
		token_bucket_charge(&tb, 1000);
		frames++;
	}
	assert_int_equal(frames, 4);
	/* 1000 B of debt at 10 Gb/s. */
	assert_int_equal(token_bucket_next_ns(&tb), 5 + 800);
}

TEST(wait_ends_at_the_first_nanosecond_without_debt)
{
	static const struct {
		uint64_t rate_bps;
		uint32_t bytes;
		uint64_t wait_ns;
	} rows[] = {
		{100 * GBPS, 1106, 89}, /* 88.48 ns */
		{400 * GBPS, 1, 1},     /* 0.02 ns */
		{1, 1500, 12000 * NS_PER_SEC},
		{3, 1, 2666666667},
		{40 * GBPS, 500, 100}, /* exact */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct token_bucket tb;

		token_bucket_init(&tb, rows[i].rate_bps, 0, 1000);
		token_bucket_charge(&tb, rows[i].bytes);
		assert_int_equal(token_bucket_next_ns(&tb), 1000 + rows[i].wait_ns);
		token_bucket_update(&tb, 1000 + rows[i].wait_ns - 1);
		assert_false(token_bucket_can_send(&tb));
		token_bucket_update(&tb, 1000 + rows[i].wait_ns);
		assert_true(token_bucket_can_send(&tb));
	}
}

TEST(sender_that_wakes_in_time_loses_nothing)
{
	struct token_bucket tb;
	uint64_t now_ns = 0, bytes = 0;

	/* 1106 B take 88.48 ns at 100 Gb/s: 0.52 ns would be lost each frame if remainders were
	 * dropped. */
	token_bucket_init(&tb, 100 * GBPS, 1500, 0);
	for (unsigned int i = 0; i < 1000000; i++) {
		token_bucket_update(&tb, now_ns);
		assert_true(token_bucket_can_send(&tb));
		token_bucket_charge(&tb, 1106);
		bytes += 1106;
		now_ns = token_bucket_next_ns(&tb);
	}
	/* 1500 B of burst come free; the rest at 12.5 B/ns, rounded up once. */
	assert_int_equal(now_ns, (bytes - 1500) * 8 / 100);
}

TEST(rate_change_moves_a_wait_already_begun)
{
	struct token_bucket tb;

	token_bucket_init(&tb, 1 * GBPS, 0, 0);
	token_bucket_charge(&tb, 1000);
	assert_int_equal(token_bucket_next_ns(&tb), 8000);
	/* Half of the debt is paid at 1 Gb/s; the other 500 B take 400 ns at 10 Gb/s. */
	token_bucket_set_rate(&tb, 10 * GBPS, 4000);
	assert_int_equal(token_bucket_next_ns(&tb), 4400);
	/* 250 B are left 200 ns later; 100 Mb/s needs 20 us for them. */
	token_bucket_set_rate(&tb, 100 * MBPS, 4200);
	assert_int_equal(token_bucket_next_ns(&tb), 24200);
	/* A stopped bucket waits until it is started again. */
	token_bucket_set_rate(&tb, 0, 14200);
	assert_int_equal(token_bucket_next_ns(&tb), NEVER_NS);
	token_bucket_update(&tb, HOUR_NS);
	assert_false(token_bucket_can_send(&tb));
	token_bucket_set_rate(&tb, 1 * GBPS, HOUR_NS);
	assert_int_equal(token_bucket_next_ns(&tb), HOUR_NS + 1000);
}

TEST(long_idle_fills_to_the_burst_and_no_further)
{
	static const uint64_t idle_ns[] = {NS_PER_SEC, 24 * HOUR_NS, 100000 * HOUR_NS,
					   UINT64_MAX - 1};

	for (size_t i = 0; i < ARRAY_LEN(idle_ns); i++) {
		struct token_bucket tb;

		token_bucket_init(&tb, 400 * GBPS, TOKEN_BUCKET_MAX_BURST_BYTES, 0);
		/* To 1 MB above the deepest debt. */
		token_bucket_charge(&tb, (1u << 29) - 1);
		token_bucket_charge(&tb, (1u << 29) - 1);
		token_bucket_charge(&tb, 502000000);
		token_bucket_update(&tb, idle_ns[i]);
		assert_int_equal(tb.account.credit_nanobits, tb.cap_nanobits);
	}
}

TEST(time_that_stands_still_or_goes_back_earns_nothing)
{
	struct token_bucket tb;

	token_bucket_init(&tb, 1 * GBPS, 0, 1000);
	token_bucket_charge(&tb, 1000);
	token_bucket_update(&tb, 1000);
	token_bucket_update(&tb, 10);
	assert_int_equal(tb.account.credit_nanobits, -1000 * NANOBITS_PER_BYTE);
	assert_int_equal(token_bucket_next_ns(&tb), 9000);
}

TEST(smaller_burst_takes_credit_and_larger_gives_none)
{
	struct token_bucket tb;

	token_bucket_init(&tb, 1 * GBPS, 9000, 0);
	token_bucket_set_burst(&tb, 1500);
	assert_int_equal(tb.account.credit_nanobits, 1500 * NANOBITS_PER_BYTE);
	token_bucket_set_burst(&tb, 9000);
	assert_int_equal(tb.account.credit_nanobits, 1500 * NANOBITS_PER_BYTE);
	token_bucket_update(&tb, NS_PER_MS);
	assert_int_equal(tb.account.credit_nanobits, 9000 * NANOBITS_PER_BYTE);
}

/* The header's bound over every interval that ends now, by the lowest (earned - sent) seen so
 * far. */
TEST(bytes_stay_within_the_bound_under_random_rates)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct prng rnd;
		struct token_bucket tb;
		uint64_t now_ns = 0, rate_bps = 40 * GBPS, burst_bytes;
		__int128 earned = 0, sent = 0, lead_min = 0; /* nanobits; lead = sent - earned */

		prng_seed(&rnd, seed, 0);
		burst_bytes = prng_below(&rnd, 20000);
		token_bucket_init(&tb, rate_bps, burst_bytes, now_ns);
		for (unsigned int i = 0; i < 2000; i++) {
			uint64_t scale = 1ull << prng_below(&rnd, 40);
			uint64_t step_ns = prng_below(&rnd, scale);

			if (prng_below(&rnd, 3) == 0) {
				uint64_t next_ns = token_bucket_next_ns(&tb);

				if (next_ns != NEVER_NS && next_ns > now_ns)
					step_ns = next_ns - now_ns;
			}
			now_ns += step_ns;
			earned += (__int128)rate_bps * step_ns;
			if (sent - earned < lead_min)
				lead_min = sent - earned;
			token_bucket_update(&tb, now_ns);
			while (token_bucket_can_send(&tb)) {
				uint32_t bytes = 84 + (uint32_t)prng_below(&rnd, 9000);

				token_bucket_charge(&tb, bytes);
				sent += (__int128)bytes * NANOBITS_PER_BYTE;
				/* sent - earned rose by at most burst + the frame that made the
				 * debt. */
				if (sent - earned - lead_min >
				    (__int128)(burst_bytes + bytes) * NANOBITS_PER_BYTE)
					fail_msg("bound broken, seed %llu step %u",
						 (unsigned long long)seed, i);
			}
			if (prng_below(&rnd, 4) == 0) {
				rate_bps = prng_below(&rnd, 8) == 0
						   ? 0
						   : 1 + prng_below(&rnd,
								    1ull << prng_below(&rnd, 39));
				token_bucket_set_rate(&tb, rate_bps, now_ns);
			}
		}
	}
}

/* Credit equals a model in 128 bits, in which nothing can overflow. */
TEST(credit_is_exact_under_random_rates)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct prng rnd;
		struct token_bucket tb;
		uint64_t now_ns = 0;
		__int128 credit;

		prng_seed(&rnd, seed, 1);
		token_bucket_init(&tb, 1, prng_below(&rnd, TOKEN_BUCKET_MAX_BURST_BYTES + 1), 0);
		credit = tb.cap_nanobits;
		for (unsigned int i = 0; i < 1000; i++) {
			uint64_t step_ns = prng_below(&rnd, 1ull << prng_below(&rnd, 50));

			now_ns += step_ns;
			credit += (__int128)tb.account.rate_bps * step_ns;
			if (credit > tb.cap_nanobits)
				credit = tb.cap_nanobits;
			token_bucket_update(&tb, now_ns);
			if (tb.account.credit_nanobits != credit)
				fail_msg("credit differs, seed %llu step %u",
					 (unsigned long long)seed, i);
			if (token_bucket_can_send(&tb)) {
				uint32_t bytes = (uint32_t)prng_below(&rnd, 1u << 29);

				token_bucket_charge(&tb, bytes);
				credit -= (__int128)bytes * NANOBITS_PER_BYTE;
			}
			token_bucket_set_rate(&tb, prng_below(&rnd, 1ull << prng_below(&rnd, 40)),
					      now_ns);
		}
	}
}

TEST_MAIN()
