/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, units and text of metrics. */
#include <string.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "quenchctl/metrics/openmetrics.h"

TEST(the_last_word_of_a_key_says_the_unit)
{
	static const struct {
		const char *object, *key, *more, *name, *unit;
	} rows[] = {
		{"port", "rx_bytes", "", "quench_port_rx_bytes", "bytes"},
		{"port", "link_down_ns", "", "quench_port_link_down_seconds", "seconds"},
		{"port", "link_speed_bps", "", "quench_port_link_speed_bytes_per_second",
		 "bytes_per_second"},
		{"interface", "in_octets", "", "quench_interface_in_bytes", "bytes"},
		{"wred", "green_drop_probability_ppm", "",
		 "quench_wred_green_drop_probability_ratio", "ratio"},
		{"rp", "rp_cnp_handled", "", "quench_rp_cnp_handled", ""},
		{"pfc", "rx_prioN_pause_duration_us", "", "quench_pfc_rx_pause_duration_seconds",
		 "seconds"},
		{"ledger", "in", "_bytes", "quench_ledger_in_bytes", "bytes"},
		{"drop", "", "_packets", "quench_drop_packets", "packets"},
		{"up", "", "", "quench_up", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct metric m = metric_of(rows[i].object, rows[i].key, rows[i].more, false);

		assert_string_equal(m.name, rows[i].name);
		assert_string_equal(m.unit, rows[i].unit);
	}
}

TEST(values_are_exact_in_the_base_unit)
{
	static const struct {
		const char *key;
		json_int_t value;
		const char *text;
	} rows[] = {
		{"down_ns", 1000000001, "1.000000001"},
		{"down_us", 9007199254740993, "9007199254.740993"},
		{"speed_bps", 100000000001, "12500000000.125"},
		{"bytes", INT64_MAX, "9223372036854775807"},
		{"error_ppm", -5, "-0.000005"},
		{"error_ppm", -1000001, "-1.000001"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct metric m = metric_of("x", rows[i].key, "", false);
		json_t *v = json_integer(rows[i].value);
		char text[64];

		assert_true(metric_value(&m, v, text, sizeof(text)));
		assert_string_equal(text, rows[i].text);
		json_decref(v);
	}
}

TEST(words_and_switches_are_1_or_0_and_nothing_is_no_value)
{
	const struct metric m = metric_of("port", "link", "", false);
	json_t *all = json_pack("[s, s, s, b, b, f, n, {}]", "up", "down", "stormed", 1, 0, 0.25);
	static const char *const expected[] = {"1", "0", "1", "1", "0", "0.25", NULL, NULL};
	json_t *v;
	size_t i;

	json_array_foreach (all, i, v) {
		char text[64];

		assert_int_equal(metric_value(&m, v, text, sizeof(text)), expected[i] != NULL);
		if (expected[i] != NULL)
			assert_string_equal(text, expected[i]);
	}
	json_decref(all);
}

TEST(labels_are_escaped)
{
	struct text t = {0};

	text_add_label(&t, "flow", "a\"b\\c\nd");
	text_add_label(&t, "port", "0");
	assert_string_equal(t.at, "flow=\"a\\\"b\\\\c\\nd\",port=\"0\"");
	text_free(&t);
}

/* Two programs bring the same families in turn. */
static struct metrics *
two_families(void)
{
	const struct metric sent = metric_of("port", "tx_bytes", "", true);
	const struct metric held = metric_of("port", "held", "", false);
	struct metrics *m = metrics_new();

	metrics_add(m, &sent, "says \"sent\"", "port=\"0\"", "7");
	metrics_add(m, &held, "held", "", "1");
	metrics_add(m, &sent, "another help", "port=\"1\"", "8");
	return m;
}

TEST(samples_of_a_family_stand_together)
{
	struct metrics *m = two_families();
	struct text t = {0};

	metrics_print(m, METRICS_OPENMETRICS, &t);
	assert_string_equal(t.at, "# HELP quench_port_tx_bytes says \\\"sent\\\"\n"
				  "# TYPE quench_port_tx_bytes counter\n"
				  "# UNIT quench_port_tx_bytes bytes\n"
				  "quench_port_tx_bytes_total{port=\"0\"} 7\n"
				  "quench_port_tx_bytes_total{port=\"1\"} 8\n"
				  "# HELP quench_port_held held\n"
				  "# TYPE quench_port_held gauge\n"
				  "quench_port_held 1\n"
				  "# EOF\n");
	text_free(&t);
	metrics_free(m);
}

TEST(the_older_format_names_samples_and_knows_no_unit)
{
	struct metrics *m = two_families();
	struct text t = {0};

	metrics_print(m, METRICS_TEXT, &t);
	assert_non_null(strstr(t.at, "# TYPE quench_port_tx_bytes_total counter\n"));
	assert_non_null(strstr(t.at, "# HELP quench_port_tx_bytes_total says \"sent\"\n"));
	assert_null(strstr(t.at, "# UNIT"));
	assert_null(strstr(t.at, "# EOF"));
	text_free(&t);
	metrics_free(m);
}

TEST_MAIN()
