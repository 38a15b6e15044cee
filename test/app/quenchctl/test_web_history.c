/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "unit/cases.h"
#include "quenchctl/web/web_history.h"

/* Add a point with a value of series a, and, if b is above 0, of series b. */
static void
add(struct web_history *h, uint64_t number, double a, double b)
{
	json_t *charts = json_pack("{s:{s:f}}", "rates", "a", a);

	if (b > 0)
		json_object_set_new(json_object_get(charts, "rates"), "b", json_real(b));
	assert_int_equal(web_history_add(h, number, (int64_t)number * 500, charts), 0);
	json_decref(charts);
}

static size_t
points(const json_t *o)
{
	return json_array_size(json_object_get(o, "at_ms"));
}

static const json_t *
values(const json_t *o, const char *series)
{
	return json_object_get(json_object_get(json_object_get(o, "charts"), "rates"), series);
}

static double
value(const json_t *o, const char *series, size_t i)
{
	return json_real_value(json_array_get(values(o, series), i));
}

TEST(a_viewer_gets_only_the_points_that_it_does_not_have)
{
	struct web_history h = {0};
	json_t *o;

	add(&h, 3, 1.5, 0);
	add(&h, 5, 2.5, 0);
	o = web_history_since(&h, 0);
	assert_int_equal(points(o), 2);
	assert_true(value(o, "a", 0) == 1.5 && value(o, "a", 1) == 2.5);
	json_decref(o);
	o = web_history_since(&h, 3);
	assert_int_equal(points(o), 1);
	assert_true(value(o, "a", 0) == 2.5);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(o, "at_ms"), 0)), 2500);
	json_decref(o);
	o = web_history_since(&h, 5);
	assert_int_equal(points(o), 0);
	assert_null(values(o, "a"));
	json_decref(o);
	web_history_clear(&h);
}

TEST(a_series_that_begins_or_ends_has_null_elsewhere)
{
	struct web_history h = {0};
	json_t *o;

	add(&h, 1, 1, 0);
	add(&h, 2, 2, 7);
	assert_int_equal(web_history_add(&h, 3, 1500, NULL), 0);
	o = web_history_since(&h, 0);
	assert_int_equal(points(o), 3);
	assert_true(json_is_null(json_array_get(values(o, "b"), 0)));
	assert_true(value(o, "b", 1) == 7);
	assert_true(json_is_null(json_array_get(values(o, "a"), 2)));
	json_decref(o);
	web_history_clear(&h);
}

TEST(the_oldest_points_and_series_without_points_are_forgotten)
{
	struct web_history h = {0};
	json_t *o;

	add(&h, 1, 1, 7);
	assert_int_equal(h.n_series, 2);
	for (uint64_t i = 2; i <= WEB_POINTS + 1; i++)
		add(&h, i, (double)i, 0);
	assert_int_equal(h.n_series, 1);
	o = web_history_since(&h, 0);
	assert_int_equal(points(o), WEB_POINTS);
	assert_null(values(o, "b"));
	assert_true(value(o, "a", 0) == 2);
	assert_true(value(o, "a", WEB_POINTS - 1) == WEB_POINTS + 1);
	json_decref(o);
	web_history_clear(&h);
}

TEST(more_series_than_the_bound_are_not_kept)
{
	struct web_history h = {0};
	json_t *series = json_object(), *charts = json_pack("{s:o}", "depth", series);

	for (unsigned int i = 0; i < WEB_SERIES + 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%u", i);
		json_object_set_new(series, name, json_real(i));
	}
	assert_int_equal(web_history_add(&h, 1, 500, charts), 0);
	assert_int_equal(h.n_series, WEB_SERIES);
	json_decref(charts);
	web_history_clear(&h);
}

TEST_MAIN()
