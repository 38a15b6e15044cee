/* SPDX-License-Identifier: BSD-3-Clause */
/* Which flows wait for which, by the words of their keys. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "nic/workload/flow_order.h"

#define MOST 5

TEST(names_stand_for_flows_and_barriers)
{
	const struct flow_words words[] = {
		{"a", "none", "none", NULL},     {"b", " c ,a", "x", NULL}, {"c", "", "y", NULL},
		{"d", "c,c", "x", "is endless"}, {"none", "a", "", NULL},
	};
	struct flow_order_fault fault;
	struct flow_order o;

	assert_int_equal(flow_order_read(&o, words, ARRAY_LEN(words), &fault), 0);
	assert_int_equal(flow_order_waits(&o, 0), 0);
	assert_int_equal(flow_order_waits(&o, 1), 2);
	assert_int_equal(o.awaited[o.first[1]], 2);
	assert_int_equal(o.awaited[o.first[1] + 1], 0);
	assert_int_equal(flow_order_waits(&o, 3), 2);
	assert_int_equal(flow_order_waits(&o, 5), 0);
	assert_int_equal(o.n_barriers, 2);
	assert_int_equal(flow_order_barrier(&o, 0), 0);
	assert_int_equal(flow_order_barrier(&o, 1), 1);
	assert_int_equal(flow_order_barrier(&o, 2), 2);
	assert_int_equal(flow_order_barrier(&o, 3), 1);
	flow_order_free(&o);
}

TEST(where_no_flow_waits_nothing_is_kept)
{
	const struct flow_words words[] = {{"a", "none", "", NULL}, {"b", "", "none", NULL}};
	struct flow_order_fault fault;
	struct flow_order o;

	assert_int_equal(flow_order_read(&o, words, 2, &fault), 0);
	assert_null(o.first);
	assert_int_equal(flow_order_waits(&o, 1) + flow_order_barrier(&o, 1), 0);
	flow_order_free(&o);
}

static const struct {
	struct flow_words words[MOST];
	uint32_t flow;
	const char *text;
} refused[] = {
	{{{"a", "b", "", NULL}}, 0, "there is no [flow b]"},
	{{{"a", "a", "", NULL}}, 0, "it waits for [flow a], which waits for it"},
	{{{"a", " ,", "", NULL}}, 0, "none, or names of sections"},
	{{{"a", "none,none", "", NULL}}, 0, "there is no [flow none]"},
	{{{"a", "", "", "is of another program"}, {"b", "a", "", NULL}},
	 1,
	 "flows that end: [flow a] is of another program"},
	{{{"z", "a", "", NULL}, {"a", "b", "", NULL}, {"b", "c", "", NULL}, {"c", "a", "", NULL}},
	 UINT32_MAX,
	 "which waits for it in the end"},
	{{{"a", "", "x", NULL}, {"b", "a", "x", NULL}},
	 1,
	 "it waits for [flow a], whose barrier waits for it"},
	{{{"a", "", "x", NULL}, {"b", "a", "", NULL}, {"c", "b", "x", NULL}},
	 UINT32_MAX,
	 "waits for it"},
};

TEST(words_that_cannot_be_followed_are_refused_with_the_flow)
{
	for (unsigned int i = 0; i < ARRAY_LEN(refused); i++) {
		struct flow_order_fault fault = {0};
		struct flow_order o;
		uint32_t n = 0;

		while (n < MOST && refused[i].words[n].name != NULL)
			n++;
		assert_int_equal(flow_order_read(&o, refused[i].words, n, &fault), -EINVAL);
		if (strstr(fault.expected, refused[i].text) == NULL)
			fail_msg("%u: %s", i, fault.expected);
		if (refused[i].flow != UINT32_MAX)
			assert_int_equal(fault.flow, refused[i].flow);
		assert_null(o.first);
	}
}

/* Can all flows end, by the rules of the header, one step at a time? */
static bool
all_end(uint32_t n, const bool waits[MOST][MOST], const uint32_t *barrier)
{
	bool begun[MOST] = {0}, ended[MOST] = {0};

	for (unsigned int step = 0; step < 4 * MOST; step++)
		for (uint32_t i = 0; i < n; i++) {
			bool may = true, together = true;

			for (uint32_t k = 0; k < n; k++) {
				may = may && (!waits[i][k] || ended[k]);
				together = together && (barrier[i] == 0 ||
							barrier[k] != barrier[i] || begun[k]);
			}
			begun[i] = begun[i] || may;
			ended[i] = ended[i] || (begun[i] && together);
		}
	for (uint32_t i = 0; i < n; i++)
		if (!ended[i])
			return false;
	return true;
}

TEST(circles_are_what_keeps_flows_from_their_end)
{
	unsigned int good = 0, bad = 0;
	struct prng rnd;

	prng_seed(&rnd, 1, 0);
	for (unsigned int run = 0; run < 20000; run++) {
		static const char *const names[MOST] = {"a", "b", "c", "d", "e"};
		char after[MOST][2 * MOST + 1], barriers[MOST][2];
		bool waits[MOST][MOST] = {0};
		struct flow_words words[MOST];
		struct flow_order_fault fault;
		uint32_t barrier[MOST];
		struct flow_order o;
		int rc;

		for (uint32_t i = 0; i < MOST; i++) {
			char *to = after[i];

			for (uint32_t k = 0; k < MOST; k++) {
				waits[i][k] = prng_below(&rnd, 6) == 0;
				if (waits[i][k])
					to += sprintf(to, "%s,", names[k]);
			}
			*to = '\0';
			barrier[i] = (uint32_t)prng_below(&rnd, 4);
			barriers[i][0] = barrier[i] == 0 ? '\0' : (char)('0' + barrier[i]);
			barriers[i][1] = '\0';
			words[i] = (struct flow_words){names[i], after[i], barriers[i], NULL};
		}
		rc = flow_order_read(&o, words, MOST, &fault);
		assert_int_equal(rc, all_end(MOST, waits, barrier) ? 0 : -EINVAL);
		*(rc == 0 ? &good : &bad) += 1;
		flow_order_free(&o);
	}
	assert_true(good > 1000 && bad > 1000);
}

/* A step for each pair of flows would take hours. */
TEST(a_long_chain_takes_a_step_for_each_flow)
{
	enum { N = 1000000 };
	char(*names)[12] = malloc((N + 1) * sizeof(*names));
	struct flow_words *words = malloc(N * sizeof(*words));
	struct flow_order_fault fault;
	struct flow_order o;

	assert_non_null(names);
	assert_non_null(words);
	/* Each waits for the one that follows in the file. */
	for (int i = 0; i <= N; i++)
		snprintf(names[i], sizeof(names[i]), "f%d", i);
	for (int i = 0; i < N; i++)
		words[i] = (struct flow_words){names[i], i + 1 < N ? names[i + 1] : "", "", NULL};
	assert_int_equal(flow_order_read(&o, words, N, &fault), 0);
	assert_int_equal(o.awaited[o.first[0]], 1);
	flow_order_free(&o);
	free(words);
	free(names);
}

TEST_MAIN()
