/* SPDX-License-Identifier: BSD-3-Clause */
/* One wire and several senders in virtual time. */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "pacer/wire_share.h"

#define RATE (100 * GBPS)
#define TURN 8000u /* 640 ns at 100 Gb/s */

static struct wire_share w;

TEST(reservations_follow_each_other_on_the_wire)
{
	wire_share_init(&w, RATE, 0);
	assert_int_equal(wire_share_reserve(&w, TURN, 0), 0);
	assert_int_equal(wire_share_reserve(&w, TURN, 0), 640);
	assert_int_equal(wire_share_reserve(&w, 1, 10), 1280);
	/* 16001 bytes take 1280.08 ns: rounded up, and the remainder is not lost. */
	assert_int_equal(wire_share_reserve(&w, TURN - 1, 10), 1281);
	assert_int_equal(wire_share_reserve(&w, TURN, 10), 1920);
}

TEST(what_nobody_reserved_is_gone_but_for_the_burst)
{
	wire_share_init(&w, RATE, 12500); /* 1 us */
	assert_int_equal(wire_share_reserve(&w, TURN, 10000), 9000);
	assert_int_equal(wire_share_reserve(&w, TURN, 10000), 9640);
	assert_int_equal(wire_share_reserve(&w, TURN, 10000), 10280);
}

/* Each sender polls at times of its own, and uses a turn when it comes. */
TEST(senders_get_like_parts_and_all_of_the_wire_together)
{
	uint64_t sent[5] = {0}, from_ns[5], total = 0, end_ns = 10 * NS_PER_MS;
	struct prng r;

	prng_seed(&r, 5, 0);
	wire_share_init(&w, RATE, 0);
	for (unsigned int i = 0; i < 5; i++)
		from_ns[i] = wire_share_reserve(&w, TURN, 0);
	for (uint64_t now_ns = 0; now_ns < end_ns; now_ns += 1 + prng_below(&r, 60)) {
		/* The first of them polls ten times as often as the last. */
		unsigned int i = (unsigned int)prng_below(&r, 10);

		i = i < 5 ? i : 0;
		if (now_ns < from_ns[i])
			continue;
		sent[i] += TURN;
		total += TURN;
		from_ns[i] = wire_share_reserve(&w, TURN, now_ns);
		assert_true(total <= now_ns * (RATE / GBPS) / 8 + 5 * TURN);
	}
	assert_true(total >= end_ns * (RATE / GBPS) / 8 - 5 * TURN);
	for (unsigned int i = 0; i < 5; i++)
		/* Who polls late reserves late: up to a tenth of a round here. */
		assert_in_range(sent[i], total / 5 / 100 * 95, total / 5 / 100 * 105);
}

TEST(odd_rates_lose_no_remainder)
{
	uint64_t at_ns = 0;

	wire_share_init(&w, 7777777, 0);
	for (unsigned int i = 0; i <= 100000; i++)
		at_ns = wire_share_reserve(&w, 1106, at_ns);
	/* 100,000 x 1106 x 8 bits at 7.777777 Mb/s, rounded up */
	assert_int_equal(at_ns, (110600000ull * 8 * NS_PER_SEC + 7777776) / 7777777);
}

/* 2^64 bytes of 1.6 Tb/s pass after 2.9 years. Times count from the date; it divides by the
 * rate. */
TEST(reservations_go_on_past_2_64_bytes)
{
	static const uint64_t dates_ns[] = {
		((uint64_t)(((unsigned __int128)1 << 64) / 200) - 1000) / 2000 * 2000,
		(1ull << 62) / 2000 * 2000,
		((1ull << 63) - (1ull << 35)) / 2000 * 2000,
	};

	for (unsigned int i = 0; i < ARRAY_LEN(dates_ns); i++) {
		uint64_t at_ns = dates_ns[i];

		wire_share_init(&w, 1600 * GBPS, 1000);
		wire_share_reserve(&w, 1000, at_ns - NS_PER_SEC);
		/* All that nobody wanted since is gone, but the burst: 5 ns of the wire. */
		assert_int_equal(wire_share_reserve(&w, 1000, at_ns), at_ns - 5);
		for (unsigned int n = 0; n < 1000; n++)
			assert_int_equal(wire_share_reserve(&w, 1000, at_ns), at_ns + n * 5);
		at_ns += 10000;
		assert_int_equal(wire_share_reserve(&w, 1000, at_ns), at_ns - 5);
	}
}

TEST_MAIN()
