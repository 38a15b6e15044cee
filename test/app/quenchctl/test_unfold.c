/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies of telemetry become the objects that they were made of. */
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "quenchctl/socket/unfold.h"

static void
assert_unfolds(const char *reply, const char *expected)
{
	json_t *folded = json_loads(reply, 0, NULL), *object = unfold(folded);
	char *text = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER);

	assert_string_equal(text, expected);
	free(text);
	json_decref(object);
	json_decref(folded);
}

TEST(paths_become_objects_and_columns_rows)
{
	assert_unfolds(
		"{\"port\":1,\"drops/mtu\":7,\"drops/wred\":0,\"queues/queue\":[0,1],"
		"\"queues/tx_packets\":[5,6]}",
		"{\"port\":1,\"drops\":{\"mtu\":7,\"wred\":0},"
		"\"queues\":[{\"queue\":0,\"tx_packets\":5},{\"queue\":1,\"tx_packets\":6}]}");
	assert_unfolds(
		"{\"total\":2,\"mac\":[\"a\",\"b\"],\"port\":[1,2]}",
		"{\"total\":2,\"rows\":[{\"mac\":\"a\",\"port\":1},{\"mac\":\"b\",\"port\":2}]}");
}

TEST(fractions_are_numbers_again_and_other_texts_stay)
{
	assert_unfolds("{\"alpha\":\"0.250000\",\"flow\":\"1.5\",\"slowdown_p99\":\"2.000000\"}",
		       "{\"alpha\":0.25,\"flow\":\"1.5\",\"slowdown_p99\":2.0}");
	assert_unfolds("{\"flow\":[\"17\",\"18\"],\"measured\":[\"0.500000\",\"\"]}",
		       "{\"rows\":[{\"flow\":\"17\",\"measured\":0.5},{\"flow\":\"18\"}]}");
}

TEST(what_a_row_has_not_is_absent_where_numbers_are)
{
	assert_unfolds(
		"{\"up_to_bytes\":[\"5000\",\"\"],\"port_id\":[\"eth0\",\"\"]}",
		"{\"rows\":[{\"up_to_bytes\":5000,\"port_id\":\"eth0\"},{\"port_id\":\"\"}]}");
}

TEST(a_reply_that_is_none_is_empty)
{
	assert_unfolds("{}", "{}");
	assert_unfolds("[1]", "{}");
}

/* Freeing an object within an object recurses. */
TEST(a_path_is_no_deeper_than_a_stack_bears)
{
	size_t n = 1000000;
	char *path = malloc(2 * n + 2);
	json_t *folded = json_object(), *object, *inner;
	unsigned int depth = 0;

	for (size_t i = 0; i < n; i++)
		memcpy(path + 2 * i, "a/", 2);
	strcpy(path + 2 * n, "b");
	json_object_set_new(folded, path, json_integer(1));
	object = unfold(folded);
	for (inner = object; json_is_object(inner); depth++)
		inner = json_object_iter_value(json_object_iter(inner));
	assert_in_range(depth, 2, 20);
	json_decref(object);
	json_decref(folded);
	free(path);
}

TEST_MAIN()
