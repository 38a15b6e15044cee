/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "nic/workload/arrivals.h"
#include "nic/workload/workload.h"

#define DRAWS 200000

static struct workload
fixed(void)
{
	return (struct workload){.message_bytes = 4096, .depth = 1, .stop_ns = NEVER_NS, .seed = 1};
}

TEST(sizes_depend_on_seed_qp_and_number_and_on_nothing_else)
{
	struct workload w = fixed(), other;
	unsigned int equal = 0;

	assert_int_equal(workload_message_bytes(&w, 17, 5), 4096);
	w.message_size = WORKLOAD_UNIFORM;
	w.message_bytes = 1 << 20;
	other = w;
	other.seed = 2;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t n = workload_message_bytes(&w, 17, i);

		assert_int_equal(n, workload_message_bytes(&w, 17, i));
		equal += n == workload_message_bytes(&w, 18, i);
		equal += n == workload_message_bytes(&w, 17, i + 1);
		equal += n == workload_message_bytes(&other, 17, i);
	}
	assert_in_range(equal, 0, 3);
}

TEST(uniform_sizes_reach_both_ends_and_their_mean)
{
	struct workload w = fixed();
	uint64_t least = UINT64_MAX, most = 0;
	double sum = 0;

	w.message_size = WORKLOAD_UNIFORM;
	w.message_min_bytes = 100;
	w.message_bytes = 199;
	for (uint64_t i = 0; i < DRAWS; i++) {
		uint64_t n = workload_message_bytes(&w, 17, i);

		least = n < least ? n : least;
		most = n > most ? n : most;
		sum += (double)n;
	}
	assert_int_equal(least, 100);
	assert_int_equal(most, 199);
	assert_true(fabs(sum / DRAWS - 149.5) < 0.5);
}

static struct workload_cdf
example(void)
{
	return (struct workload_cdf){
		.n = 4,
		.bytes = {1000, 1000, 2000, 10000},
		.share_q32 = {0, Q32_ONE / 2, Q32_ONE / 10 * 9, Q32_ONE},
	};
}

TEST(cdf_gives_its_shares_and_its_mean)
{
	struct workload_cdf cdf = example();
	struct workload w = fixed();
	unsigned int thousand = 0, two = 0;
	double sum = 0;

	assert_int_equal(workload_cdf_finish(&cdf), 0);
	/* 0.5 x 1000 + 0.4 x 1500 + 0.1 x 6000 */
	assert_in_range(cdf.mean_bytes_q32 >> 32, 1699, 1701);
	w.message_size = WORKLOAD_CDF;
	w.cdf = &cdf;
	for (uint64_t i = 0; i < DRAWS; i++) {
		uint64_t n = workload_message_bytes(&w, 21, i);

		assert_in_range(n, 1000, 10000);
		thousand += n == 1000;
		two += n <= 2000;
		sum += (double)n;
	}
	assert_true(fabs(thousand / (double)DRAWS - 0.5) < 0.01);
	assert_true(fabs(two / (double)DRAWS - 0.9) < 0.01);
	assert_true(fabs(sum / DRAWS - 1700) < 20);
}

TEST(what_is_no_distribution_is_refused)
{
	struct workload_cdf cdf = example();

	cdf.share_q32[3]--;
	assert_true(workload_cdf_finish(&cdf) < 0);
	cdf = example();
	cdf.share_q32[1] = Q32_ONE;
	assert_true(workload_cdf_finish(&cdf) < 0);
	cdf = example();
	cdf.bytes[2] = 999;
	assert_true(workload_cdf_finish(&cdf) < 0);
	cdf = example();
	cdf.bytes[3] = WORKLOAD_MAX_BYTES + 1;
	assert_true(workload_cdf_finish(&cdf) < 0);
	cdf.n = 0;
	assert_true(workload_cdf_finish(&cdf) < 0);
}

/* 4096 B at 1 Gb/s: 32768 ns. Of an exponential, mean and deviation are equal. */
TEST(poisson_gaps_have_the_mean_and_deviation_of_an_exponential)
{
	struct workload w = fixed();
	double sum = 0, squares = 0, mean;
	unsigned int longer = 0;

	w.arrival = WORKLOAD_POISSON;
	w.load_bps = GBPS;
	for (uint64_t i = 0; i < DRAWS; i++) {
		double gap = (double)workload_gap_ns(&w, w.load_bps, 17, i);

		sum += gap;
		squares += gap * gap;
		longer += gap > 3 * 32768.0;
	}
	mean = sum / DRAWS;
	assert_true(fabs(mean - 32768) < 0.01 * 32768);
	assert_true(fabs(sqrt(squares / DRAWS - mean * mean) - 32768) < 0.02 * 32768);
	assert_true(fabs(longer / (double)DRAWS - exp(-3)) < 0.002);
}

/* 4096 B at 1 Gb/s. Mean and variance of the gaps' logarithms converge at any sigma, those of the
 * gaps at a small one. */
TEST(lognormal_gaps_have_their_mean_and_variance)
{
	static const uint32_t sigmas_pct[] = {1, 50, 100, 200, 300};

	for (unsigned int i = 0; i < ARRAY_LEN(sigmas_pct); i++) {
		const double sigma = sigmas_pct[i] / 100.0, mean_ns = 4096 * 8;
		struct workload w = fixed();
		double sum = 0, squares = 0, logs = 0, log_squares = 0;

		w.arrival = WORKLOAD_LOGNORMAL;
		w.arrival_sigma_pct = sigmas_pct[i];
		for (uint64_t m = 0; m < 4 * DRAWS; m++) {
			/* At 1 kb/s, so that whole nanoseconds do not round the logarithm. */
			double gap = (double)workload_gap_ns(&w, 1000, 17, m) / 1e6 / mean_ns;
			double ln = log(gap);

			sum += gap;
			squares += gap * gap;
			logs += ln;
			log_squares += ln * ln;
		}
		sum /= 4 * DRAWS;
		logs /= 4 * DRAWS;
		assert_true(fabs(logs + sigma * sigma / 2) < 0.01 * sigma);
		assert_true(fabs(sqrt(log_squares / (4 * DRAWS) - logs * logs) - sigma) <
			    0.01 * sigma);
		if (sigma > 1)
			continue;
		assert_true(fabs(sum - 1) < 0.02);
		assert_true(fabs((squares / (4 * DRAWS) - sum * sum) / (exp(sigma * sigma) - 1) -
				 1) < 0.1);
	}
}

/* The most and the least that the normal number can be do not overflow. */
TEST(lognormal_gaps_are_bounded)
{
	struct workload w = fixed();

	w.arrival = WORKLOAD_LOGNORMAL;
	w.arrival_sigma_pct = 300;
	for (uint64_t m = 0; m < DRAWS; m++) {
		assert_true(workload_gap_ns(&w, 1, 17, m) <= 1ull << 62);
		assert_true(workload_gap_ns(&w, 800 * GBPS, 17, m) < NS_PER_SEC);
	}
}

TEST(periodic_messages_come_from_the_start_on)
{
	struct workload w = fixed();

	w.arrival = WORKLOAD_PERIODIC;
	w.load_bps = GBPS;
	assert_int_equal(workload_gap_ns(&w, w.load_bps, 17, 0), 0);
	assert_int_equal(workload_gap_ns(&w, w.load_bps, 17, 1), 32768);
	assert_int_equal(workload_gap_ns(&w, w.load_bps, 17, 1000), 32768);
}

/* Also if the mean gap is a few ns, or less than one: 0.08 ns to 5.7 ns. */
TEST(open_loops_offer_their_load)
{
	static const int arrivals[] = {WORKLOAD_PERIODIC, WORKLOAD_POISSON, WORKLOAD_LOGNORMAL};
	static const struct {
		uint64_t bytes, load_bps;
	} rows[] = {
		{1, 100 * GBPS}, {1, 10 * GBPS}, {1, 7 * GBPS}, {64, 90 * GBPS}, {3, 11 * GBPS}};

	for (unsigned int a = 0; a < ARRAY_LEN(arrivals); a++)
		for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
			struct workload w = fixed();
			uint64_t sum_ns = 0;
			double mean_ns;

			w.message_bytes = rows[i].bytes;
			w.arrival = arrivals[a];
			w.arrival_sigma_pct = 100;
			for (uint64_t m = 1; m <= DRAWS; m++)
				sum_ns += workload_gap_ns(&w, rows[i].load_bps, 17, m);
			mean_ns = (double)rows[i].bytes * 8e9 / (double)rows[i].load_bps;
			if (arrivals[a] == WORKLOAD_PERIODIC)
				assert_true(fabs((double)sum_ns - DRAWS * mean_ns) < 1.1);
			else
				assert_true(fabs((double)sum_ns / (DRAWS * mean_ns) - 1) < 0.03);
		}
}

/* Of two sizes, 1 and 2 bytes, the mean is 1.5. */
TEST(the_mean_of_sizes_is_no_whole_number)
{
	struct workload w = fixed();
	uint64_t sum_ns = 0;

	w.message_size = WORKLOAD_UNIFORM;
	w.message_min_bytes = 1;
	w.message_bytes = 2;
	w.arrival = WORKLOAD_PERIODIC;
	for (uint64_t m = 1; m <= DRAWS; m++)
		sum_ns += workload_gap_ns(&w, GBPS, 17, m);
	assert_int_equal(sum_ns, 12 * DRAWS);
}

TEST(bursts_wait_for_their_next_on)
{
	static const struct {
		uint64_t now_ns, on_at_ns;
	} rows[] = {{0, 0},     {100, 100}, {109, 109}, {110, 140},
		    {139, 140}, {140, 140}, {149, 149}, {150, 180}};
	struct workload w = fixed();

	w.arrival = WORKLOAD_ON_OFF;
	w.start_ns = 100;
	w.on_ns = 10;
	w.off_ns = 30;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(workload_on_at_ns(&w, rows[i].now_ns), rows[i].on_at_ns);
	w.arrival = WORKLOAD_CLOSED;
	assert_int_equal(workload_on_at_ns(&w, 115), 115);
}

TEST(a_workload_that_lacks_something_is_refused)
{
	char why[256];
	struct workload w;

#define REFUSED(member, value)                                                                     \
	do {                                                                                       \
		w.member = (value);                                                                \
		assert_true(workload_check(&w, why, sizeof(why)) < 0);                             \
	} while (0)
	w = fixed();
	assert_int_equal(workload_check(&w, why, sizeof(why)), 0);
	REFUSED(message_bytes, WORKLOAD_MAX_BYTES + 1);
	w = fixed();
	w.message_size = WORKLOAD_UNIFORM;
	REFUSED(message_min_bytes, 4097);
	w = fixed();
	REFUSED(message_size, WORKLOAD_CDF);
	w = fixed();
	REFUSED(depth, 0);
	w = fixed();
	REFUSED(start_ns, 1ull << 63);
	w = fixed();
	REFUSED(arrival, WORKLOAD_POISSON);
	w.load_bps = 1;
	REFUSED(message_bytes, 0);
	w.message_size = WORKLOAD_UNIFORM;
	REFUSED(message_bytes, 1);
	assert_string_equal(why, "message_bytes, or the sizes in message_cdf, must give a mean of "
				 "at least 1 byte with arrival = poisson, lognormal or "
				 "periodic");
	w = fixed();
	REFUSED(arrival, WORKLOAD_ON_OFF);
}

/*
 * Messages that come one after the other, while load and stops change, and the same ones found
 * afterwards from the first: the times are equal, whichever way they went, and as many come as the
 * loads bring.
 */
TEST(arrivals_are_the_same_forwards_and_afterwards)
{
	static const int arrivals[] = {WORKLOAD_PERIODIC, WORKLOAD_POISSON, WORKLOAD_LOGNORMAL};
	struct prng rnd;

	prng_seed(&rnd, 12, 0);
	for (unsigned int round = 0; round < 500; round++) {
		struct workload w = {.message_bytes = 1000 + prng_below(&rnd, 100000),
				     .arrival = arrivals[round % 3],
				     .arrival_sigma_pct = 150,
				     .seed = round};
		uint64_t came_ns[2000], at_ns = prng_below(&rnd, 1000), now_ns = 0, n = 0;
		uint64_t load_bps = 1 + prng_below(&rnd, GBPS);
		bool stopped = prng_below(&rnd, 4) == 0;
		double messages = 0;
		struct arrivals a;

		arrivals_init(&a, at_ns, load_bps, stopped);
		now_ns = at_ns;
		at_ns = arrivals_first_ns(&a, &w, 17);
		for (unsigned int change = 0; change < ARRIVALS_SPANS; change++) {
			uint64_t until_ns = now_ns + prng_below(&rnd, 20 * NS_PER_MS);

			while (!stopped && at_ns < until_ns && n < 2000) {
				assert_true(at_ns >= now_ns);
				came_ns[n++] = at_ns;
				at_ns = arrivals_next_ns(&a, &w, 17, n, at_ns);
			}
			if (!stopped)
				messages += (double)(until_ns - now_ns) * (double)load_bps / 8e9 /
					    (double)w.message_bytes;
			now_ns = until_ns;
			stopped = prng_below(&rnd, 3) == 0;
			if (prng_below(&rnd, 3) > 0)
				load_bps = 1 + prng_below(&rnd, 1ull << prng_below(&rnd, 34));
			arrivals_change(&a, load_bps, stopped, now_ns);
			at_ns = arrivals_moved_ns(&a, at_ns);
			if (n == 2000)
				break;
		}
		if (n > 0 && w.arrival == WORKLOAD_PERIODIC && n < 2000)
			assert_true((double)n > messages - 2 && (double)n < messages * 1.01 + 2);
		for (uint64_t m = 1; m < n; m++)
			assert_int_equal(arrivals_next_ns(&a, &w, 17, m, came_ns[m - 1]),
					 came_ns[m]);
	}
}

/* The first of two changes at one instant lets a message come there; the second finds it there. */
TEST(two_changes_at_one_instant_agree_with_what_has_come)
{
	struct workload w = {.message_bytes = 1000, .arrival = WORKLOAD_PERIODIC};
	uint64_t first_ns, next_ns, at_ns;
	struct arrivals a;

	arrivals_init(&a, 0, MBPS, false);
	first_ns = arrivals_first_ns(&a, &w, 17);
	next_ns = arrivals_next_ns(&a, &w, 17, 1, first_ns);
	/* The last nanoseconds of the gap are nothing at so high a load. */
	at_ns = next_ns - 100;
	arrivals_change(&a, 100 * GBPS, false, at_ns);
	next_ns = arrivals_moved_ns(&a, next_ns);
	assert_int_equal(next_ns, at_ns);
	arrivals_change(&a, 1, false, at_ns);
	assert_int_equal(arrivals_moved_ns(&a, next_ns), at_ns);
	assert_int_equal(arrivals_next_ns(&a, &w, 17, 1, first_ns), at_ns);
}

/* Of more changes than are kept, the oldest become one: as much comes, and nothing in the
 * future. */
TEST(many_changes_of_load_stay_in_the_past)
{
	struct workload w = {.message_bytes = 1000, .arrival = WORKLOAD_PERIODIC};
	struct arrivals a;
	uint64_t at_ns, before_ns, n = 0;

	arrivals_init(&a, 0, GBPS, false);
	for (uint64_t i = 1; i <= 100; i++)
		arrivals_change(&a, (i % 5 + 1) * GBPS, i % 7 == 3, i * NS_PER_MS);
	for (before_ns = 0; before_ns < 100 * NS_PER_MS; before_ns = at_ns, n++) {
		at_ns = arrivals_next_ns(&a, &w, 17, n + 1, before_ns);
		assert_true(at_ns > before_ns);
	}
	/* 3 Gb/s in six of seven milliseconds, 1000 bytes a message. */
	assert_in_range(n, 31000, 33500);
}

TEST_MAIN()
