/* SPDX-License-Identifier: BSD-3-Clause */
/* The meanings of the counters and gauges of both programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <jansson.h>
#include <rte_telemetry.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "quench-nic/telemetry/nic_catalogue.h"
#include "quench-switch/telemetry/switch_catalogue.h"
#include "runtime/telemetry/telemetry.h"

/* @return number of rows of a page whose text a reply would cut. */
static unsigned int
cut_rows(const json_t *page)
{
	unsigned int cut = 0;
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(page, "rows"), i, row) {
		const char *key;
		json_t *text;

		json_object_foreach (row, key, text) {
			if (json_string_length(text) < RTE_TEL_MAX_STRING_LEN)
				continue;
			print_error("%s: %zu characters: %s\n", key, json_string_length(text),
				    json_string_value(text));
			cut++;
		}
	}
	return cut;
}

TEST(no_text_of_a_catalogue_is_longer_than_a_reply_carries)
{
	static telemetry_reply *const replies[] = {nic_counters_reply, nic_gauges_reply,
						   switch_counters_reply, switch_gauges_reply};
	unsigned int cut = 0;

	for (unsigned int i = 0; i < ARRAY_LEN(replies); i++) {
		uint64_t rows = 0;
		bool more = true;

		while (more) {
			char first[24];
			struct telemetry_call call = {.n_args = 1, .args = {first}};
			json_t *page;

			snprintf(first, sizeof(first), "%" PRIu64, rows);
			page = replies[i](&call);
			assert_non_null(page);
			assert_true(json_array_size(json_object_get(page, "rows")) > 0);
			cut += cut_rows(page);
			rows += json_array_size(json_object_get(page, "rows"));
			more = json_object_get(page, "next") != NULL;
			json_decref(page);
		}
		assert_true(rows > 30);
	}
	assert_int_equal(cut, 0);
}

TEST_MAIN()
