/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "nic/host/rx_drain.h"

/* 10 Gb/s: 1000 bytes in 800 ns. */
static const struct rx_drain_params params = {
	.drain_rate_bps = 10 * GBPS,
	.xoff_bytes = 3000,
	.xon_bytes = 1000,
	.buffer_bytes = 5000,
};

TEST(frames_fill_it_and_time_empties_it)
{
	struct rx_drain d = {0};

	assert_int_equal(rx_drain_bytes(&d, &params, 0), 0);
	for (unsigned int i = 1; i <= 5; i++) {
		assert_true(rx_drain_admit(&d, &params, 1000, 100));
		assert_int_equal(rx_drain_bytes(&d, &params, 100), i * 1000);
	}
	assert_false(rx_drain_admit(&d, &params, 1, 100));
	assert_int_equal(rx_drain_bytes(&d, &params, 100 + 800), 4000);
	assert_true(rx_drain_admit(&d, &params, 1000, 100 + 800));
	assert_int_equal(rx_drain_bytes(&d, &params, 100 + 800 + 4000), 0);
	assert_true(rx_drain_admit(&d, &params, 1000, NS_PER_SEC));
	assert_int_equal(rx_drain_bytes(&d, &params, NS_PER_SEC), 1000);
}

TEST(xon_waits_for_hysteresis)
{
	struct rx_drain d = {0};

	rx_drain_admit(&d, &params, 2999, 0);
	assert_false(rx_drain_wants_xoff(&d, &params, false, 0));
	rx_drain_admit(&d, &params, 1, 0);
	assert_true(rx_drain_wants_xoff(&d, &params, false, 0));
	/* 2000 bytes are 1600 ns. */
	assert_int_equal(rx_drain_xon_ns(&d, &params, 0), 1600);
	assert_true(rx_drain_wants_xoff(&d, &params, true, 1599));
	assert_false(rx_drain_wants_xoff(&d, &params, true, 1600));
	assert_false(rx_drain_wants_xoff(&d, &params, false, 1599));
}

/* At 7 bit/ns no frame takes whole nanoseconds: over 100 ms not a byte is won or lost. */
TEST(no_remainder_is_lost)
{
	struct rx_drain_params p = params;
	struct rx_drain d = {0};
	uint64_t bytes = 0, now_ns = 0;
	struct prng rnd;

	p.drain_rate_bps = 7 * GBPS + 1;
	prng_seed(&rnd, 5, 0);
	while (now_ns < 100 * NS_PER_MS) {
		uint32_t frame = 64 + (uint32_t)prng_below(&rnd, 1000);

		/* Never empty, never full. */
		if (rx_drain_bytes(&d, &p, now_ns) < 3900) {
			assert_true(rx_drain_admit(&d, &p, frame, now_ns));
			bytes += frame;
		} else {
			now_ns += prng_below(&rnd, 900);
		}
		assert_in_range(rx_drain_bytes(&d, &p, now_ns), 1, p.buffer_bytes);
		assert_false(rx_drain_wants_xoff(&d, &p, true, rx_drain_xon_ns(&d, &p, now_ns)));
	}
	bytes -= rx_drain_bytes(&d, &p, now_ns);
	assert_in_range(bytes, now_ns * 7 / 8 - 2, now_ns * 7 / 8 + 2);
}

/* 2^64 bytes of 800 Gb/s pass after 5.8 years. */
TEST(a_buffer_fills_and_empties_past_2_64_bytes)
{
	static const uint64_t dates_ns[] = {
		(uint64_t)(((unsigned __int128)1 << 64) / 100) - 20,
		1ull << 62,
		(1ull << 63) - (1ull << 35),
	};
	struct rx_drain_params p = params;

	p.drain_rate_bps = 800 * GBPS;
	for (unsigned int i = 0; i < ARRAY_LEN(dates_ns); i++) {
		uint64_t at_ns = dates_ns[i];
		struct rx_drain d = {0};

		assert_true(rx_drain_admit(&d, &p, 1000, at_ns - NS_PER_SEC));
		for (unsigned int n = 1; n <= 5; n++) {
			assert_true(rx_drain_admit(&d, &p, 1000, at_ns));
			assert_int_equal(rx_drain_bytes(&d, &p, at_ns), n * 1000);
		}
		assert_false(rx_drain_admit(&d, &p, 1, at_ns));
		assert_true(rx_drain_wants_xoff(&d, &p, false, at_ns));
		/* 4000 bytes are 40 ns. */
		assert_int_equal(rx_drain_xon_ns(&d, &p, at_ns), at_ns + 40);
		assert_int_equal(rx_drain_bytes(&d, &p, at_ns + 40), 1000);
		assert_int_equal(rx_drain_bytes(&d, &p, at_ns + 51), 0);
		assert_true(rx_drain_admit(&d, &p, 5000, at_ns + 1000));
		rx_drain_refill(&d, &params, 2000, at_ns + 1000);
		assert_int_equal(rx_drain_bytes(&d, &params, at_ns + 1000), 2000);
	}
}

#define RACERS 4
#define TRIES 200000

static struct rx_drain shared;
static uint64_t clock_ns;

struct racer {
	uint32_t number;
	uint64_t bytes; /* admitted */
};

static void *
race(void *arg)
{
	struct racer *r = arg;
	struct prng rnd;

	prng_seed(&rnd, 12, r->number);
	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t now_ns =
			__atomic_add_fetch(&clock_ns, prng_below(&rnd, 20), __ATOMIC_RELAXED);
		uint32_t frame = 64 + (uint32_t)prng_below(&rnd, 1000);

		if (rx_drain_admit(&shared, &params, frame, now_ns))
			r->bytes += frame;
	}
	return NULL;
}

TEST(lcores_that_race_fill_one_buffer)
{
	struct racer racers[RACERS] = {0};
	pthread_t threads[RACERS];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < RACERS; i++) {
		racers[i].number = i;
		assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
	}
	for (uint32_t i = 0; i < RACERS; i++) {
		pthread_join(threads[i], NULL);
		sum += racers[i].bytes;
	}
	/* A byte is drained in 0.8 ns; forty times as many were offered. */
	assert_true(sum <= clock_ns * 10 / 8 + params.buffer_bytes + 1);
	assert_true(sum >= clock_ns * 10 / 8 / 2);
}

TEST(bad_parameters_name_their_key)
{
	struct rx_drain_params p = params;
	char why[256];

	assert_int_equal(rx_drain_params_check(&p, why, sizeof(why)), 0);
	p.xon_bytes = p.xoff_bytes;
	assert_true(rx_drain_params_check(&p, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "xon_bytes"));
	p = params;
	p.xoff_bytes = p.buffer_bytes + 1;
	assert_true(rx_drain_params_check(&p, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "buffer_bytes"));
	p.drain_rate_bps = 0;
	assert_int_equal(rx_drain_params_check(&p, why, sizeof(why)), 0);
}

TEST_MAIN()
