/* SPDX-License-Identifier: BSD-3-Clause */
/* What each flow of an order waits for, and which wait in vain. */
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "nic/workload/flow_waits.h"

#define FLOWS 24
#define BARRIERS 3
/* With these, work in proportion to their square would not end. */
#define MANY 1000000u

struct bed {
	struct flow_order o;
	struct flow_reached *reached;
	uint32_t *awaited;
	bool *in_vain;
};

static void
bed_make(struct bed *b, uint32_t flows, uint32_t barriers, uint32_t names)
{
	b->o = (struct flow_order){.n = flows, .n_barriers = barriers};
	b->o.first = calloc(flows + 1u, sizeof(*b->o.first));
	b->o.awaited = calloc(names + 1u, sizeof(*b->o.awaited));
	b->o.barrier = calloc(flows, sizeof(*b->o.barrier));
	b->reached = calloc(flows, sizeof(*b->reached));
	b->awaited = calloc(flows, sizeof(*b->awaited));
	b->in_vain = calloc(flows, sizeof(*b->in_vain));
	assert_non_null(b->in_vain);
}

static void
bed_free(struct bed *b)
{
	flow_order_free(&b->o);
	free(b->reached);
	free(b->awaited);
	free(b->in_vain);
}

static void
bed_run(struct bed *b)
{
	assert_int_equal(flow_waits_for(&b->o, b->reached, b->awaited), 0);
	assert_int_equal(flow_waits_in_vain(&b->o, b->reached, b->in_vain), 0);
}

/* By the definition. */
static uint32_t
expected_awaited(const struct bed *b, uint32_t i)
{
	const struct flow_order *o = &b->o;
	uint32_t least = i;

	for (uint32_t k = o->first[i]; k < o->first[i + 1]; k++)
		if (!b->reached[o->awaited[k]].ended)
			return o->awaited[k];
	if (o->barrier[i] == 0 || b->reached[i].ended)
		return i;
	for (uint32_t k = 0; k < o->n; k++)
		if (o->barrier[k] == o->barrier[i] &&
		    b->reached[k].rounds < b->reached[least].rounds)
			least = k;
	return least;
}

static bool
is_in_vain(const struct bed *b, const bool *in_vain, uint32_t i)
{
	const struct flow_order *o = &b->o;

	for (uint32_t k = o->first[i]; k < o->first[i + 1]; k++) {
		uint32_t awaited = o->awaited[k];

		if (!b->reached[awaited].ended && (in_vain[awaited] || b->reached[awaited].failed))
			return true;
	}
	for (uint32_t k = 0; o->barrier[i] != 0 && k < o->n; k++)
		if (in_vain[k] && o->barrier[k] == o->barrier[i])
			return true;
	return false;
}

static void
assert_as_defined(const struct bed *b)
{
	bool in_vain[FLOWS] = {0}, some = true;

	while (some) {
		some = false;
		for (uint32_t i = 0; i < b->o.n; i++) {
			if (in_vain[i] || !is_in_vain(b, in_vain, i))
				continue;
			in_vain[i] = some = true;
		}
	}
	for (uint32_t i = 0; i < b->o.n; i++) {
		assert_int_equal(b->awaited[i], expected_awaited(b, i));
		assert_int_equal(b->in_vain[i], in_vain[i]);
	}
}

/* Each flow names up to two of those before it. */
static void
draw(struct bed *b, struct prng *rng)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->o.n; i++) {
		b->o.first[i] = n;
		for (uint64_t k = prng_below(rng, 3); i > 0 && k > 0; k--)
			b->o.awaited[n++] = (uint32_t)prng_below(rng, i);
		b->o.barrier[i] =
			(uint32_t)prng_below(rng, 2) * (1 + (uint32_t)prng_below(rng, BARRIERS));
		b->reached[i] = (struct flow_reached){.rounds = prng_below(rng, 4),
						      .ended = prng_below(rng, 3) == 0,
						      .failed = prng_below(rng, 12) == 0};
	}
	b->o.first[b->o.n] = n;
}

TEST(flows_wait_as_defined)
{
	struct prng rng;
	uint32_t waiting = 0, in_vain = 0;

	prng_seed(&rng, 1, 0);
	for (unsigned int round = 0; round < 2000; round++) {
		uint32_t n = 1 + (uint32_t)prng_below(&rng, FLOWS);
		struct bed b;

		bed_make(&b, n, BARRIERS, 2 * n);
		draw(&b, &rng);
		bed_run(&b);
		assert_as_defined(&b);
		for (uint32_t i = 0; i < n; i++) {
			waiting += b.awaited[i] != i;
			in_vain += b.in_vain[i];
		}
		bed_free(&b);
	}
	assert_true(waiting > 5000 && in_vain > 2000);
}

TEST(a_million_flows_of_one_barrier_wait_for_the_slowest)
{
	struct bed b;

	bed_make(&b, MANY, 1, 1);
	for (uint32_t i = 0; i < MANY; i++) {
		b.o.barrier[i] = 1;
		b.reached[i].rounds = i == MANY / 2 ? 6 : 7;
	}
	bed_run(&b);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(b.awaited[i], MANY / 2);
		assert_false(b.in_vain[i]);
	}
	bed_free(&b);
}

/* Of a chain in the order that finds the fewest at a time, and a barrier at its end. */
TEST(a_million_flows_wait_in_vain_for_one_that_failed)
{
	const uint32_t half = MANY / 2;
	struct bed b;

	bed_make(&b, MANY, 1, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		b.o.first[i + 1] = b.o.first[i];
		b.o.barrier[i] = i == 0 || i > half;
		if (i < half)
			b.o.awaited[b.o.first[i + 1]++] = i + 1;
	}
	b.reached[half].failed = true;
	bed_run(&b);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(b.awaited[i], i < half ? i + 1 : i);
		assert_int_equal(b.in_vain[i], i != half);
	}
	bed_free(&b);
}

TEST_MAIN()
