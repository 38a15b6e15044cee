/* SPDX-License-Identifier: BSD-3-Clause */
/* The meanings of the counters and gauges of both programs: each key once, with a help. */
#include <string.h>
#include <jansson.h>

#include "unit/cases.h"
#include "quench-nic/desk/nic_desk.h"
#include "quench-switch/desk/switch_desk.h"
#include "runtime/desk/desk.h"

/* Add the keys of a reply to those that are known. */
static void
check_rows(json_t *known, desk_reply *reply)
{
	struct desk_call call = {0};
	json_t *page = reply(&call), *row;
	size_t i;

	assert_true(json_array_size(json_object_get(page, "rows")) > 30);
	json_array_foreach (json_object_get(page, "rows"), i, row) {
		const char *object = json_string_value(json_object_get(row, "object"));
		const char *name = json_string_value(json_object_get(row, "name"));
		const char *help = json_string_value(json_object_get(row, "help"));
		char key[128];

		assert_true(object != NULL && name != NULL && help != NULL && *help != '\0');
		assert_true(snprintf(key, sizeof(key), "%s %s", object, name) < (int)sizeof(key));
		if (json_object_get(known, key) != NULL)
			fail_msg("%s is there twice", key);
		json_object_set_new(known, key, json_true());
	}
	json_decref(page);
}

TEST(a_key_is_a_counter_or_a_gauge_and_has_a_help)
{
	static desk_reply *const replies[2][2] = {{nic_counters_reply, nic_gauges_reply},
						  {switch_counters_reply, switch_gauges_reply}};

	for (unsigned int i = 0; i < 2; i++) {
		json_t *known = json_object();

		check_rows(known, replies[i][0]);
		check_rows(known, replies[i][1]);
		json_decref(known);
	}
}

TEST_MAIN()
