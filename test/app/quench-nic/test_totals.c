/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every counter of a NIC of two nodes, near the end of its width: what the programs read back is
 * the sum of both, to the last digit. The loop is over the words of struct nic_stats and over the
 * rows of the tables, so that a counter without a row, and a row without its counter, are found.
 */
#include <jansson.h>

#include "cc/cc.h"
#include "ctl/output/json.h"
#include "nic/core/core.h"
#include "quench-nic/nodes/nodes.h"
#include "unit/nic/nic_test.h"

#define WORDS (sizeof(struct nic_stats) / sizeof(uint64_t))
/* JSON's integers have 63 bits: sums end just below. */
#define FULL_BITS 62u

static uint64_t
word_of(const void *stats, size_t offset)
{
	return *(const uint64_t *)((const char *)stats + offset);
}

/* @return rows whose value is not that of the total. */
static unsigned int
wrong_rows(const struct counter_field *fields, unsigned int n, const void *total)
{
	struct json_walk j = json_walk(json_object());
	json_t *o = j.at;
	unsigned int wrong = 0;

	walk_counters(&j.walk, WALK_COUNTER, fields, n, total);
	for (unsigned int i = 0; i < n; i++) {
		json_t *value = json_object_get(o, fields[i].name);

		if (value != NULL &&
		    (uint64_t)json_integer_value(value) == word_of(total, fields[i].offset))
			continue;
		print_error("%s: %s\n", fields[i].name, value == NULL ? "no value" : "wrong");
		wrong++;
	}
	assert_int_equal(json_object_size(o), n);
	json_decref(o);
	return wrong;
}

TEST(every_counter_of_all_nodes_is_read_back)
{
	struct run_app app = {.n_nodes = 2};
	struct nic_stats total;
	unsigned int wrong = 0;

	pair_init(&pair);
	pair_create(&pair, 64);
	app.nodes = pair.nic;
	for (unsigned int k = 0; k < 2; k++) {
		uint64_t *words = (uint64_t *)&nic_of(pair.nic[k])->stats;

		for (size_t w = 0; w < WORDS; w++)
			words[w] = (1ull << FULL_BITS) - 1 - (k + 1) * w;
	}
	total = nic_total_stats(&app);
	for (size_t w = 0; w < WORDS; w++) {
		uint64_t want = (1ull << (FULL_BITS + 1)) - 2 - 3 * w;

		if (word_of(&total, w * sizeof(uint64_t)) == want)
			continue;
		print_error("word %zu of struct nic_stats is in no table, or in two\n", w);
		wrong++;
	}
	wrong += wrong_rows(nic_counters, nic_counters_n, &total);
	wrong += wrong_rows(np_counters, np_counters_n, &total.np);
	for (int i = CC_NONE + 1; i < CC_ALGORITHMS; i++)
		wrong += wrong_rows(cc_algorithms[i]->counters, *cc_algorithms[i]->n_counters,
				    &total.cc.of[CC_SLOT(i)]);
	assert_int_equal(wrong, 0);
	pair_destroy(&pair);
}

TEST_MAIN(.begin = start_eal)
