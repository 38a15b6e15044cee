/* SPDX-License-Identifier: BSD-3-Clause */
/* Marking schemes beside WRED: their decisions, counters, keys, and changes of parameters. */
#include <string.h>

#include "unit/cases.h"
#include "unit/refused.h"
#include "base/numbers/units.h"
#include "tm/queue/mark.h"

#define RATE_BPS 8000000000ull /* a byte per nanosecond */

struct bed {
	struct mark_params params;
	struct mark_queue queue;
	enum mark_scheme scheme;
};

static void
set(struct bed *b, const char *key, const char *value)
{
	const struct mark_ops *ops = mark_schemes[b->scheme];
	char expected[FIELD_TEXT_SIZE];
	const struct field_alias *alias;
	const struct field *field = field_find(ops->fields, *ops->n_fields, key, &alias);

	assert_non_null(field);
	assert_int_equal(field_parse(field, alias, value, &b->params.of[MARK_SLOT(b->scheme)],
				     expected, sizeof(expected)),
			 0);
}

static struct bed
bed_of(enum mark_scheme scheme)
{
	struct bed b = {.scheme = scheme};

	for (unsigned int i = MARK_WRED + 1; i < MARK_SCHEMES; i++)
		assert_int_equal(field_defaults(mark_schemes[i]->fields, *mark_schemes[i]->n_fields,
						&b.params.of[MARK_SLOT(i)]),
				 0);
	return b;
}

static void
put_in_force(struct bed *b)
{
	char why[256];

	assert_int_equal(mark_params_check(&b->params, why, sizeof(why)), 0);
	mark_set(&b->queue, b->scheme, &b->params, RATE_BPS);
}

static bool
hit(struct bed *b, uint64_t queue_bytes, uint32_t bytes, uint64_t now_ns)
{
	const struct mark_packet packet = {queue_bytes, bytes, 0, now_ns};

	return mark_hit(&b->queue, &packet);
}

TEST(a_step_marks_above_k_and_never_below)
{
	struct bed b = bed_of(MARK_STEP);

	set(&b, "K", "10KB");
	put_in_force(&b);
	assert_false(hit(&b, 0, 1000, 0));
	assert_false(hit(&b, 10000, 1000, 0));
	assert_true(hit(&b, 10001, 1000, 0));
	assert_int_equal(b.queue.counts.words[0], 1);
}

/* gamma = 50 %: of 1000 bytes, 500 remain after 1000 ns. */
TEST(a_phantom_queue_grows_with_the_load_above_its_drain_rate)
{
	struct bed b = bed_of(MARK_PHANTOM);
	uint64_t now_ns = 0;
	unsigned int n = 0;

	set(&b, "phantom_threshold_bytes", "5000");
	set(&b, "gamma", "0.5");
	put_in_force(&b);
	for (; !hit(&b, 0, 1000, now_ns); n++)
		now_ns += 1000;
	/* The tenth packet finds 9 x 500 bytes and adds 1000. */
	assert_int_equal(n, 9);
	assert_true(hit(&b, 0, 1000, now_ns + 1000));
	assert_int_equal(b.queue.counts.words[0], 2);
}

TEST(a_phantom_queue_stays_short_below_its_drain_rate)
{
	struct bed b = bed_of(MARK_PHANTOM);

	set(&b, "phantom_threshold_bytes", "5000");
	set(&b, "gamma", "95%");
	put_in_force(&b);
	for (uint64_t i = 0; i < 10000; i++)
		assert_false(hit(&b, 1000000, 1000, i * 1053));
	/* A burst at line rate is too much, and forgotten after a while. */
	for (unsigned int i = 0; i < 4; i++)
		assert_false(hit(&b, 0, 1000, 20000000));
	assert_false(hit(&b, 0, 1000, 20000000));
	assert_true(hit(&b, 0, 1000, 20000000));
	assert_false(hit(&b, 0, 1000, 30000000));
}

/* Load above the drain rate for ever: the counter stops at its highest value. */
TEST(a_phantom_queue_is_bounded)
{
	struct bed b = bed_of(MARK_PHANTOM);

	put_in_force(&b);
	for (unsigned int i = 0; i < 100000; i++)
		hit(&b, 0, 16000, 0);
	/* Of 1.6 GB, 2^30 bytes count: at 95 % of a byte per nanosecond they drain in 1.13 s. */
	assert_true(hit(&b, 0, 1000, NS_PER_SEC));
	assert_false(hit(&b, 0, 1000, 2 * NS_PER_SEC));
}

TEST(state_and_counters_outlive_a_change_of_parameters)
{
	struct bed b = bed_of(MARK_PHANTOM);

	set(&b, "phantom_threshold_bytes", "1000");
	put_in_force(&b);
	assert_false(hit(&b, 0, 1000, 0));
	assert_true(hit(&b, 0, 1000, 0));
	set(&b, "phantom_threshold_bytes", "3000");
	put_in_force(&b);
	assert_false(hit(&b, 0, 1000, 0));
	assert_true(hit(&b, 0, 1000, 0));
	assert_int_equal(b.queue.counts.words[0], 2);
}

TEST(every_scheme_has_a_word_tables_and_a_decision)
{
	assert_string_equal(mark_words[MARK_WRED], "wred");
	assert_null(mark_words[MARK_SCHEMES]);
	assert_null(mark_schemes[MARK_WRED]);
	for (unsigned int i = MARK_WRED + 1; i < MARK_SCHEMES; i++) {
		const struct mark_ops *ops = mark_schemes[i];

		assert_non_null(ops->hit);
		/* Keys and counters of several schemes share a section or a list: the scheme's word
		 * keeps them apart. */
		for (unsigned int k = 0; k < *ops->n_fields; k++)
			assert_int_equal(
				strncmp(ops->fields[k].name, mark_words[i], strlen(mark_words[i])),
				0);
		for (unsigned int k = 0; k < *ops->n_counters; k++)
			assert_int_equal(strncmp(ops->counters[k].name, mark_words[i],
						 strlen(mark_words[i])),
					 0);
	}
}

TEST(parameters_out_of_range_are_refused)
{
	struct bed b = bed_of(MARK_PHANTOM);

	memset(&b.params.of[MARK_SLOT(MARK_PHANTOM)], 0, sizeof(union mark_keys));
	assert_refused(mark_params_check, &b.params, "phantom_drain_ppm");
}

TEST_MAIN()
