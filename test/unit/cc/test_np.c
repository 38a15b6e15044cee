/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "cc/points/np.h"

#define US NS_PER_US

enum event { CE, WINDOW_END };

struct row {
	uint64_t at_ns;
	enum event event;
	bool cnp;
	uint64_t next_ns;
};

static void
run(const struct row *rows, size_t n, uint32_t interval_us)
{
	const uint64_t interval_ns = interval_us * US;
	struct np np = {0};

	assert_int_equal(np_next_ns(&np, interval_ns), NEVER_NS);
	for (size_t i = 0; i < n; i++) {
		bool cnp = rows[i].event == CE ? np_on_ce(&np, interval_ns, rows[i].at_ns)
					       : np_on_window_end(&np, interval_ns, rows[i].at_ns);

		if (cnp != rows[i].cnp || np_next_ns(&np, interval_ns) != rows[i].next_ns)
			fail_msg("row %zu: cnp %d, next %llu", i, cnp,
				 (unsigned long long)np_next_ns(&np, interval_ns));
	}
}

#define RUN(rows, interval_us) run(rows, ARRAY_LEN(rows), interval_us)

TEST(first_ce_of_an_idle_flow_is_answered_at_once)
{
	static const struct row rows[] = {
		{0, CE, true, 50 * US},
		{50 * US, WINDOW_END, false, NEVER_NS}, /* no CE in the window: idle */
		{50 * US + 1, CE, true, 100 * US + 1},
	};

	RUN(rows, 50);
}

TEST(ce_within_the_window_is_answered_at_its_end)
{
	static const struct row rows[] = {
		{10, CE, true, 50 * US + 10},
		{20, CE, false, 50 * US + 10},
		{30, WINDOW_END, false, 50 * US + 10}, /* too early: nothing happens */
		{40 * US, CE, false, 50 * US + 10},
		{50 * US + 10, WINDOW_END, true, 100 * US + 10}, /* one CNP for both */
		{100 * US + 10, WINDOW_END, false, NEVER_NS},
	};

	RUN(rows, 50);
}

TEST(late_window_end_keeps_cnps_apart)
{
	static const struct row rows[] = {
		{0, CE, true, 4 * US},
		{1 * US, CE, false, 4 * US},
		{7 * US, WINDOW_END, true, 11 * US}, /* 3 us late: the new window lasts 4 us */
		{8 * US, CE, false, 11 * US},
		{20 * US, CE, true, 24 * US}, /* settles the forgotten window as well */
		{24 * US, WINDOW_END, false, NEVER_NS},
	};

	RUN(rows, 4);
}

TEST(interval_zero_answers_every_mark)
{
	static const struct row rows[] = {
		{0, CE, true, NEVER_NS},
		{0, CE, true, NEVER_NS},
		{5, WINDOW_END, false, NEVER_NS},
		{5, CE, true, NEVER_NS},
	};

	RUN(rows, 0);
}

TEST(continuous_ce_gives_one_cnp_per_interval)
{
	const uint64_t interval_ns = 50 * US;
	struct np np = {0};
	unsigned int cnps = 0;

	/* 200 marked frames in 50 us, for 10 ms. */
	for (uint64_t now_ns = 0; now_ns <= 10 * NS_PER_MS; now_ns += 250) {
		if (np_next_ns(&np, interval_ns) <= now_ns)
			cnps += np_on_window_end(&np, interval_ns, np_next_ns(&np, interval_ns));
		cnps += np_on_ce(&np, interval_ns, now_ns);
	}
	assert_int_equal(cnps, 1 + 10 * NS_PER_MS / (50 * US));
}

/* Random marks and random delays of the window's end: the invariants of the header. */
static void
one_random_run(uint64_t seed)
{
	struct np np = {0};
	struct prng rnd;
	uint64_t now_ns = 0, interval_ns, last_cnp_ns = NEVER_NS, first_ce_ns = 0;
	uint64_t unanswered_ns = NEVER_NS; /* oldest mark that no CNP followed */
	uint64_t cnps = 0, marks = 0;

	prng_seed(&rnd, seed, 0);
	interval_ns = prng_below(&rnd, 60) * US;
	for (unsigned int step = 0; step < 3000; step++) {
		bool idle, ce, sent;

		now_ns += prng_below(&rnd, 40) == 0 ? prng_below(&rnd, 500 * US)
						    : prng_below(&rnd, 10 * US);
		/* Mostly the window's end is punctual. */
		if (np_next_ns(&np, interval_ns) < now_ns && prng_below(&rnd, 4) != 0)
			now_ns = np_next_ns(&np, interval_ns);
		ce = prng_below(&rnd, 3) == 0;
		idle = np_next_ns(&np, interval_ns) == NEVER_NS;
		if (ce) {
			sent = np_on_ce(&np, interval_ns, now_ns);
			if (marks++ == 0)
				first_ce_ns = now_ns;
			if (unanswered_ns == NEVER_NS)
				unanswered_ns = now_ns;
			if (idle && !sent)
				fail_msg("idle flow not answered, seed %llu",
					 (unsigned long long)seed);
		} else {
			sent = np_on_window_end(&np, interval_ns, now_ns);
		}
		if (sent) {
			if (unanswered_ns == NEVER_NS)
				fail_msg("CNP without CE, seed %llu", (unsigned long long)seed);
			if (last_cnp_ns != NEVER_NS && now_ns - last_cnp_ns < interval_ns)
				fail_msg("CNPs too close, seed %llu", (unsigned long long)seed);
			last_cnp_ns = now_ns;
			unanswered_ns = NEVER_NS;
			cnps++;
		}
		/* A mark that waits has a window that will end, within N of the mark. */
		if (unanswered_ns != NEVER_NS &&
		    np_next_ns(&np, interval_ns) > unanswered_ns + interval_ns)
			fail_msg("mark forgotten, seed %llu", (unsigned long long)seed);
	}
	assert_true(cnps <= marks);
	if (interval_ns > 0)
		assert_true(cnps <= 1 + (now_ns - first_ce_ns) / interval_ns);
	else
		assert_int_equal(cnps, marks);
}

TEST(random_marks_keep_the_invariants)
{
	for (uint64_t seed = 1; seed <= 300; seed++)
		one_random_run(seed);
}

TEST(defaults_are_the_papers_and_names_are_the_members)
{
	static const struct {
		const char *name, *value;
		uint32_t want_us;
	} rows[] = {{"N", "50us", 50}, {"min_time_between_cnps", "4", 4}};
	struct np_params params;

	memset(&params, 0xff, sizeof(params));
	assert_int_equal(field_defaults(np_fields, np_fields_n, &params), 0);
	assert_int_equal(params.np_min_time_between_cnps_us, 50);
	assert_int_equal(params.np_cnp_dscp, 48);
	assert_int_equal(params.np_cnp_prio, 6);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct field_alias *alias;
		const struct field *f = field_find(np_fields, np_fields_n, rows[i].name, &alias);
		char expected[200];

		assert_non_null(f);
		assert_int_equal(
			field_parse(f, alias, rows[i].value, &params, expected, sizeof(expected)),
			0);
		assert_int_equal(params.np_min_time_between_cnps_us, rows[i].want_us);
	}
}

/* Four lcores race for one gate; the time of each is one that another may have seen later. */
#define RACERS 4
#define TRIES 200000
#define GATE_NS 1000u

static uint64_t gate_ns, clock_ns;
static pthread_barrier_t together;

struct racer {
	uint32_t number;
	uint32_t n_passes;
	uint64_t passes_ns[TRIES];
};

static void *
race(void *arg)
{
	struct racer *r = arg;
	struct prng rnd;

	prng_seed(&rnd, 11, r->number);
	pthread_barrier_wait(&together);
	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t step_ns = prng_below(&rnd, 200);
		uint64_t now_ns = __atomic_fetch_add(&clock_ns, step_ns, __ATOMIC_RELAXED);
		uint64_t seen_ns = np_gate_pass(&gate_ns, GATE_NS, now_ns);

		/* Half of them wait for the window's end, as a mark that came within it does. */
		if (seen_ns != 0 && i % 2 == 0 &&
		    np_gate_pass_from(&gate_ns, seen_ns, seen_ns + GATE_NS + step_ns))
			r->passes_ns[r->n_passes++] = seen_ns + GATE_NS + step_ns;
		else if (seen_ns == 0)
			r->passes_ns[r->n_passes++] = now_ns;
	}
	return NULL;
}

static int
by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

TEST(lcores_that_race_for_a_gate_pass_an_interval_apart)
{
	static struct racer racers[RACERS];
	static uint64_t all_ns[RACERS * TRIES];
	pthread_t threads[RACERS];
	uint32_t n = 0;

	pthread_barrier_init(&together, NULL, RACERS);
	for (uint32_t i = 0; i < RACERS; i++) {
		racers[i].number = i;
		assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
	}
	for (uint32_t i = 0; i < RACERS; i++) {
		pthread_join(threads[i], NULL);
		memcpy(&all_ns[n], racers[i].passes_ns, racers[i].n_passes * sizeof(all_ns[0]));
		n += racers[i].n_passes;
	}
	qsort(all_ns, n, sizeof(all_ns[0]), by_time);
	assert_true(n > 1000);
	for (uint32_t i = 1; i < n; i++)
		assert_true(all_ns[i] - all_ns[i - 1] >= GATE_NS);
}

TEST(mark_is_answered_by_whoever_passes_first)
{
	uint64_t gate = 0, seen_ns;

	assert_int_equal(np_gate_pass(&gate, 50, 7), 0);
	seen_ns = np_gate_pass(&gate, 50, 20);
	assert_int_equal(seen_ns, 7);
	/* Another lcore's mark comes when the window is over. */
	assert_int_equal(np_gate_pass(&gate, 50, 57), 0);
	assert_false(np_gate_pass_from(&gate, seen_ns, 57));
	seen_ns = np_gate_pass(&gate, 50, 106);
	assert_int_equal(seen_ns, 57);
	assert_true(np_gate_pass_from(&gate, seen_ns, 110));
	assert_int_equal(np_gate_pass(&gate, 50, 159), 110);
}

TEST_MAIN()
