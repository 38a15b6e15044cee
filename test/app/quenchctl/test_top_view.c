/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of quenchctl top, of replies made up here. */
#include <stdbool.h>
#include <string.h>

#include "unit/cases.h"
#include "quenchctl/top/top_view.h"

TEST(numbers_have_three_digits_and_a_prefix)
{
	char text[16];

	assert_string_equal(top_number(0, text), "0");
	assert_string_equal(top_number(0.5, text), "0.5");
	assert_string_equal(top_number(999, text), "999");
	assert_string_equal(top_number(999.96, text), "1.00K");
	assert_string_equal(top_number(1e11, text), "100.0G");
	assert_string_equal(top_number(12345, text), "12.35K");
	assert_string_equal(top_number(1.5e18, text), "1500.0P");
	assert_string_equal(top_number(-2000, text), "-2.00K");
}

TEST(a_name_keeps_its_end_when_it_is_shortened)
{
	char text[TOP_COLUMNS];

	assert_string_equal(top_short("Ethernet1/1", 11, text), "Ethernet1/1");
	assert_string_equal(top_short("Ethernet1/1", 10, text), "Eth1/1");
	assert_string_equal(top_short("Ethernet101/1/10.breakout-lane4", 17, text),
			    "Eth10~akout-lane4");
	assert_string_equal(top_short("allreduce-ring-0", 9, text), "all~ing-0");
	assert_string_equal(top_short("", 8, text), "");
}

TEST(a_bar_shows_what_is_little_and_ends_at_its_width)
{
	const double marks[] = {50, 100, 200};
	char text[TOP_COLUMNS];

	assert_string_equal(top_bar(0, 100, "", NULL, 8, text), "........");
	assert_string_equal(top_bar(0.01, 100, "", NULL, 8, text), "=.......");
	assert_string_equal(top_bar(50, 100, "", NULL, 8, text), "====....");
	assert_string_equal(top_bar(500, 100, "", NULL, 8, text), "========");
	/* A mark at the end or beyond is not on it. */
	assert_string_equal(top_bar(25, 100, "mMX", marks, 8, text), "==..m...");
	assert_string_equal(top_bar(7, 0, "", NULL, 8, text), "=.......");
}

static struct snapshot
reading(uint64_t elapsed_ns, json_t *replies)
{
	assert_non_null(replies);
	return (struct snapshot){.elapsed_ns = elapsed_ns, .replies = replies};
}

static json_t *
switch_replies(int bytes, int drops, int headroom, const char *status)
{
	return json_pack("{s:{s:i,s:i}, s:{s:[{s:i,s:s,s:s,s:I,s:i,s:i,s:i,s:i,s:i,s:i}]},"
			 " s:{s:[{s:i,s:i,s:i}]}, s:{s:[]},"
			 " s:{s:[{s:i,s:i,s:i,s:i,s:i,s:i}]}, s:{s:[{s:i,s:i,s:i,s:s,s:s,s:i}]}}",
			 "buffer", "buffer_bytes", 1000, "buffer_used_bytes", 500, "ports", "rows",
			 "port", 0, "device", "net_null0", "link", "up", "link_speed_bps",
			 (json_int_t)1000000000, "rx_bytes", bytes, "rx_packets", bytes / 1000,
			 "tx_bytes", 0, "tx_packets", 0, "rx_pause_frames", 0, "tx_pause_frames", 0,
			 "drops", "rows", "port", 0, "mtu", drops, "pool", 0, "ecn", "rows", "pg",
			 "pgs", "port", 0, "pg", 3, "shared_bytes", 80, "headroom_bytes", headroom,
			 "shared_limit_bytes", 100, "drop_packets", 0, "pfcwd", "rows", "port", 0,
			 "prio", 3, "queue", 3, "status", status, "action", "drop",
			 "deadlock_detected", 2);
}

static const struct top_line *
line_with(const struct top_view *v, const char *text)
{
	for (unsigned int i = 0; i < v->n; i++)
		if (strstr(v->lines[i].text, text) != NULL)
			return &v->lines[i];
	return NULL;
}

TEST(rates_are_the_rise_between_two_readings)
{
	struct snapshot before = reading(1000000000, switch_replies(1000, 0, 0, "operational"));
	struct snapshot now = reading(3000000000, switch_replies(251000, 0, 0, "operational"));
	struct top_view v = {0};

	top_switch(&v, &now, &before);
	/* 250 frames of 1000 bytes and 20 of preamble and gap in 2 s: 1.02 Mb/s. */
	assert_non_null(strstr(line_with(&v, "net_null0")->text, " 1.02M "));
	assert_non_null(strstr(line_with(&v, "net_null0")->text, " 125 "));
	assert_int_equal(line_with(&v, "net_null0")->style, TOP_PLAIN);
	assert_non_null(line_with(&v, "500 of 1.00K"));
	assert_null(line_with(&v, "STORM"));
	top_view_clear(&v);
	/* One reading has no rates; nor has one of another run, which counts from 0. */
	top_switch(&v, &before, &now);
	assert_int_equal(line_with(&v, "net_null0")->style, TOP_QUIET);
	top_view_free(&v);
	json_decref(before.replies);
	json_decref(now.replies);
}

TEST(lines_fit_the_columns_or_say_how_many_they_need)
{
	struct snapshot now = reading(2000000000, switch_replies(0, 9, 30, "operational"));
	struct snapshot before = {0};
	struct top_view v = {.columns = 80};
	json_t *ports = json_object_get(json_object_get(now.replies, "ports"), "rows");

	json_object_set_new(json_array_get(ports, 0), "port_name",
			    json_string("Ethernet101/1/10.breakout-lane4"));
	top_switch(&v, &now, &before);
	for (unsigned int i = 0; i < v.n; i++)
		assert_in_range(strlen(v.lines[i].text), 1, 80);
	assert_non_null(line_with(&v, "Eth10~akout-lane4"));
	assert_null(line_with(&v, "rx p/s"));
	assert_int_equal(v.full, 112);
	top_view_clear(&v);
	v.columns = 112;
	top_switch(&v, &now, &before);
	assert_non_null(line_with(&v, "Ethernet101/1/10.breakout-lane4"));
	assert_non_null(line_with(&v, "rx p/s"));
	top_view_free(&v);
	json_decref(now.replies);
}

TEST(a_flow_with_a_long_name_fits_80_columns)
{
	struct snapshot now = reading(0, json_pack("{s:{s:[{s:s,s:i}]}}", "flows", "rows", "flow",
						   "allreduce-of-all-hosts-of-a-pod-0", "qps", 4));
	struct snapshot before = {0};
	struct top_view v = {.columns = 80};

	top_nic(&v, &now, &before);
	for (unsigned int i = 0; i < v.n; i++)
		assert_in_range(strlen(v.lines[i].text), 1, 80);
	assert_non_null(line_with(&v, "allr~a-pod-0"));
	top_view_free(&v);
	json_decref(now.replies);
}

TEST(drops_headroom_and_storms_are_alarms)
{
	struct snapshot before = reading(1000000000, switch_replies(0, 5, 0, "stormed"));
	struct snapshot now = reading(2000000000, switch_replies(0, 9, 30, "stormed"));
	struct top_view v = {0};

	top_switch(&v, &now, &before);
	assert_int_equal(line_with(&v, "net_null0")->style, TOP_ALARM);
	assert_int_equal(line_with(&v, "STORM: port 0, priority 3, queue 3: drop; 2 storms")->style,
			 TOP_ALARM);
	/* 80 of 100 shared, 30 of headroom: the bar ends at 110 of 125, past the limit. */
	assert_non_null(line_with(&v, "===================X=..."));
	assert_int_equal(line_with(&v, "X=.")->style, TOP_ALARM);
	top_view_free(&v);
	json_decref(before.replies);
	json_decref(now.replies);
}

TEST(a_flow_that_sends_again_is_an_alarm)
{
	const char *form =
		"{s:{s:i,s:i}, s:{s:I}, s:{}, s:{}, s:{s:[{s:s,s:i,s:i,s:i,s:i,s:i,s:i}]}}";
	struct snapshot before = reading(
		0, json_pack(form, "nic", "tx_bytes", 0, "drop_not_roce", 0, "port",
			     "link_speed_bps", (json_int_t)1000000000, "rp", "np", "flows", "rows",
			     "flow", "a", "qps", 4, "wire_bytes", 0, "retransmitted_packets", 0,
			     "cnps_handled", 0, "qps_failed", 0, "messages", 0));
	struct snapshot now =
		reading(1000000000, json_pack(form, "nic", "tx_bytes", 125, "drop_not_roce", 7,
					      "port", "link_speed_bps", (json_int_t)1000000000,
					      "rp", "np", "flows", "rows", "flow", "a", "qps", 4,
					      "wire_bytes", 125000, "retransmitted_packets", 3,
					      "cnps_handled", 20, "qps_failed", 0, "messages", 0));
	struct top_view v = {0};

	top_nic(&v, &now, &before);
	assert_int_equal(v.n, 4);
	assert_int_equal(v.lines[1].style, TOP_ALARM); /* frames that are not RoCE */
	assert_non_null(strstr(v.lines[1].text, " 1.00K "));
	assert_int_equal(v.lines[3].style, TOP_ALARM);
	assert_non_null(strstr(v.lines[3].text, " 1.00M "));
	assert_non_null(strstr(v.lines[3].text, " 20 "));
	top_view_free(&v);
	json_decref(before.replies);
	json_decref(now.replies);
}

TEST_MAIN()
