/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of replies made up here. The snapshots of a pair are half a second apart. */
#include <string.h>

#include "unit/cases.h"
#include "quenchctl/web/web_picture.h"

static struct snapshot
switch_at(uint64_t elapsed_ns, int packets, int drops, int queue_bytes)
{
	struct snapshot s = {
		.elapsed_ns = elapsed_ns,
		.replies = json_pack(
			"{s:{s:s}, s:{s:[{s:i,s:s,s:s,s:I,s:I,s:i,s:i,s:i,s:i,s:i,s:i}]},"
			" s:{s:[{s:i,s:{s:i,s:i}}]},"
			" s:{s:[{s:i,s:i,s:i,s:i,s:i,s:i}]}, s:{s:[{s:i,s:i,s:i,s:i,s:i,s:i,s:i}]},"
			" s:{s:[{s:i,s:i,s:s,s:s}]}, s:{s:i,s:i}}",
			"info", "version", "1.0", "ports", "rows", "port", 1, "device", "net_x",
			"link", "up", "link_speed_bps", (json_int_t)1000000000, "shaper_rate_bps",
			(json_int_t)100000000, "rx_packets", 0, "rx_bytes", 0, "tx_packets",
			packets, "tx_bytes", packets * 980, "tx_pause_frames", packets / 10,
			"rx_pause_frames", 0, "drops", "rows", "port", 1, "drops", "mtu", drops,
			"wred", 1, "ecn", "rows", "port", 1, "queue", 3, "queue_bytes", queue_bytes,
			"green_min_threshold_bytes", 50000, "green_max_threshold_bytes", 400000,
			"ecn_marked_packets", packets, "pg", "pgs", "port", 1, "pg", 3,
			"shared_bytes", 1000, "headroom_bytes", 20, "watermark_bytes", 1,
			"shared_limit_bytes", 800000, "shared_xon_bytes", 700000, "pfcwd", "rows",
			"port", 1, "prio", 3, "status", "stormed", "action", "drop", "buffer",
			"buffer_used_bytes", 1020, "buffer_bytes", 4000000),
	};

	assert_non_null(s.replies);
	return s;
}

static json_t *
picture_of(const char *program, struct snapshot now, struct snapshot before)
{
	json_t *picture = web_picture(program, &now, &before);

	assert_non_null(picture);
	snapshot_free(&now);
	snapshot_free(&before);
	return picture;
}

static double
series(const json_t *picture, const char *chart, const char *name)
{
	const json_t *charts = json_object_get(picture, "charts");
	const json_t *value = json_object_get(json_object_get(charts, chart), name);

	return value != NULL ? json_number_value(value) : -1;
}

static const json_t *
named(const json_t *list, const char *key, const char *name)
{
	json_t *element;
	size_t i;

	json_array_foreach (list, i, element)
		if (strcmp(json_string_value(json_object_get(element, key)), name) == 0)
			return element;
	return NULL;
}

static double
member(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

TEST(a_switch_has_rates_thresholds_and_totals)
{
	json_t *p = picture_of("quench-switch", switch_at(1500000000, 1000, 7, 60000),
			       switch_at(1000000000, 500, 2, 0));
	const json_t *port = json_array_get(json_object_get(p, "ports"), 0);
	const json_t *tiles = json_object_get(p, "tiles"), *bars = json_object_get(p, "bars");
	const json_t *marks;

	/* 500 packets of 980 bytes, each with 20 of preamble and gap, in half a second */
	assert_true(series(p, "rates", "port 1 out") == 8000000);
	assert_true(series(p, "depth", "port 1 queue 3") == 60000);
	assert_true(series(p, "depth", "port 1 group 3") == 1020);
	assert_true(series(p, "signals", "port 1 marks") == 1000);
	assert_true(series(p, "signals", "port 1 pauses") == 100);
	assert_true(member(port, "speed") == 1e9 && member(port, "shaped") == 1e8);
	assert_true(json_is_true(json_object_get(port, "storm")));
	assert_int_equal(json_array_size(json_object_get(p, "storms")), 1);
	assert_true(member(named(tiles, "label", "drops"), "rate") == 10);
	assert_true(member(named(tiles, "label", "drops"), "total") == 8);
	assert_true(member(named(tiles, "label", "pauses sent"), "total") == 100);
	assert_true(member(named(tiles, "label", "buffer in use"), "of") == 4000000);
	marks = json_object_get(named(bars, "key", "port 1 queue 3"), "marks");
	assert_true(member(named(marks, "name", "Kmin"), "at") == 50000);
	assert_true(member(named(marks, "name", "Kmax"), "at") == 400000);
	marks = json_object_get(named(bars, "key", "port 1 group 3"), "marks");
	assert_true(member(named(marks, "name", "XOFF"), "at") == 800000);
	json_decref(p);
}

TEST(without_an_earlier_snapshot_rates_are_0_and_totals_are_there)
{
	json_t *p = picture_of("quench-switch", switch_at(1500000000, 1000, 7, 60000),
			       (struct snapshot){0});
	const json_t *drops = named(json_object_get(p, "tiles"), "label", "drops");

	assert_true(series(p, "rates", "port 1 out") == 0);
	assert_true(member(drops, "rate") == 0 && member(drops, "total") == 8);
	json_decref(p);
}

static struct snapshot
nic_at(uint64_t elapsed_ns, int samples, double mean_ns, int gone)
{
	struct snapshot s = {
		.elapsed_ns = elapsed_ns,
		.replies = json_pack("{s:{s:i,s:i,s:i}, s:{s:s,s:s,s:I}, s:{s:i}, s:{s:i},"
				     " s:{s:[{s:s,s:i,s:i,s:i,s:f,s:i}]}}",
				     "nic", "drop_malformed", samples, "drop_not_for_us", 1,
				     "retransmitted_packets", 3, "port", "device", "net_x", "link",
				     "down", "link_speed_bps", (json_int_t)1000000000, "rp",
				     "rp_cnp_handled", samples, "np", "np_cnp_sent", 0, "flows",
				     "rows", "flow", "write", "wire_bytes", samples * 1000,
				     "configured_rate_bps", 5000000, "rtt_samples", samples,
				     "rtt_mean_ns", mean_ns, "gone", gone),
	};

	assert_non_null(s.replies);
	return s;
}

TEST(a_round_trip_time_is_the_mean_since_the_snapshot_before)
{
	/* 100 samples of 10 us, then 100 of 30 us */
	json_t *p = picture_of("quench-nic", nic_at(1500000000, 200, 20000, 0),
			       nic_at(1000000000, 100, 10000, 0));
	const json_t *bar = json_array_get(json_object_get(p, "bars"), 0);

	assert_true(series(p, "rtt", "write") > 29.999e-6 && series(p, "rtt", "write") < 30.001e-6);
	assert_true(series(p, "rates", "write") == 1600000);
	assert_true(series(p, "signals", "CNPs handled") == 200);
	assert_true(member(json_array_get(json_object_get(bar, "marks"), 0), "at") == 5000000);
	assert_true(json_is_true(
		json_object_get(json_array_get(json_object_get(p, "ports"), 0), "down")));
	assert_true(member(named(json_object_get(p, "tiles"), "label", "drops"), "total") == 201);
	json_decref(p);
}

TEST(without_new_samples_there_is_no_round_trip_time)
{
	json_t *p = picture_of("quench-nic", nic_at(1500000000, 100, 10000, 0),
			       nic_at(1000000000, 100, 10000, 0));

	assert_true(series(p, "rtt", "write") == -1);
	json_decref(p);
}

TEST(a_flow_that_was_removed_is_not_in_the_picture)
{
	json_t *p = picture_of("quench-nic", nic_at(1500000000, 200, 20000, 1),
			       nic_at(1000000000, 100, 10000, 0));

	assert_int_equal(json_array_size(json_object_get(p, "bars")), 0);
	assert_true(series(p, "rates", "write") == -1);
	json_decref(p);
}

TEST_MAIN()
