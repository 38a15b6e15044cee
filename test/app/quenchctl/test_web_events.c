/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "unit/cases.h"
#include "quenchctl/web/web_events.h"

static struct snapshot
reading(const char *link, int drops, int storms, int over)
{
	struct snapshot r = {
		.replies = json_pack(
			"{s:{s:[{s:i,s:s}]},s:{s:[{s:i,s:{s:i}}]},s:{s:[{s:i,s:i,s:i,s:i}]}}",
			"ports", "rows", "port", 1, "link", link, "drops", "rows", "port", 1,
			"drops", "mtu", drops, "pfcwd", "rows", "port", 1, "prio", 3,
			"deadlock_detected", storms, "deadlock_restored", over),
	};

	assert_non_null(r.replies);
	return r;
}

static const char *
text(const json_t *events, size_t i)
{
	return json_string_value(json_object_get(json_array_get(events, i), "text"));
}

static void
between(json_t *events, int64_t at_ms, struct snapshot before, struct snapshot now)
{
	web_events_between(events, at_ms, &now, &before);
	json_decref(before.replies);
	json_decref(now.replies);
}

TEST(links_and_storms_are_told_once_each)
{
	json_t *events = json_array();

	between(events, 1, reading("up", 0, 0, 0), reading("up", 0, 0, 0));
	assert_int_equal(json_array_size(events), 0);
	between(events, 2, reading("up", 0, 0, 0), reading("down", 0, 1, 0));
	between(events, 3, reading("down", 0, 1, 0), reading("up", 0, 1, 1));
	assert_int_equal(json_array_size(events), 4);
	assert_string_equal(text(events, 0), "port 1: link down");
	assert_string_equal(text(events, 1), "port 1, priority 3: storm of pauses");
	assert_string_equal(text(events, 2), "port 1: link up");
	assert_string_equal(text(events, 3), "port 1, priority 3: storm is over");
	json_decref(events);
}

TEST(drops_that_go_on_are_one_event_that_grows)
{
	json_t *events = json_array();

	between(events, 1000, reading("up", 0, 0, 0), reading("up", 5, 0, 0));
	between(events, 3000, reading("up", 5, 0, 0), reading("up", 7, 0, 0));
	assert_int_equal(json_array_size(events), 1);
	assert_string_equal(text(events, 0), "7 packets dropped at port 1: mtu");
	/* After a rest it is another one. */
	between(events, 6001, reading("up", 7, 0, 0), reading("up", 8, 0, 0));
	assert_int_equal(json_array_size(events), 2);
	assert_string_equal(text(events, 1), "1 packets dropped at port 1: mtu");
	json_decref(events);
}

TEST(the_last_events_are_kept)
{
	json_t *events = json_array();

	for (unsigned int i = 0; i < WEB_EVENTS + 20; i++)
		web_event(events, i, false, "number %u", i);
	assert_int_equal(json_array_size(events), WEB_EVENTS);
	assert_string_equal(text(events, 0), "number 20");
	json_decref(events);
}

TEST_MAIN()
