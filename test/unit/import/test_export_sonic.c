/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/import/import_test.h"

#include "base/numbers/array.h"
#include "base/numbers/units.h"

static char *
in_force(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	switch_config_print(out, &imported.sw);
	fclose(out);
	return text;
}

/* Export what is imported. @return the tables, to be freed. */
static char *
exported(unsigned int n_lost)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	import_log_free(&log_of);
	log_of = (struct import_log){.file = "in"};
	if (export_sonic(&imported, out, &log_of) != 0)
		fail_msg("refused: %s", log_of.error);
	fclose(out);
	for (unsigned int i = 0; log_of.n_lost != n_lost && i < log_of.n_lost; i++)
		print_message("lost: %s\n", log_of.lost[i]);
	assert_int_equal(log_of.n_lost, n_lost);
	return text;
}

static void
read_ini(const char *text)
{
	log_of.file = "in";
	if (import_switch_read(text, strlen(text), &imported, &log_of) != 0)
		fail_msg("%s", log_of.error);
}

TEST(what_came_from_sonic_goes_back_the_same)
{
	static const char *const names[] = {"sonic-tor.json", "sonic-brackets.json",
					    "real/sonic-spectrum-32x100.json"};

	for (unsigned int i = 0; i < 2; i++) {
		char *first, *again, *tables, *twice;

		assert_int_equal(take(import_sonic, fixture(names[i])), 0);
		first = in_force();
		tables = exported(0);
		taken(import_sonic, tables, 0);
		again = in_force();
		assert_string_equal(first, again);
		twice = exported(0);
		assert_string_equal(tables, twice);
		free(first);
		free(again);
		free(tables);
		free(twice);
	}
}

TEST(a_curve_without_a_name_gets_one)
{
	char *tables;

	read_ini("[switch]\nwred_queues = 3-4\n[port]\nlink_speed_bps = 25G\n[port 0]\n[queue 4]\n"
		 "wred_profile = none\n[pool]\nbacking_frame_bytes = 2048\n");
	tables = exported(0);
	taken(import_sonic, tables, 0);
	free(tables);
	assert_string_equal(imported.sw.wred_profiles[0].name, "AZURE_LOSSLESS");
	assert_int_equal(imported.sw.wred_profiles[0].params.green_max_threshold_bytes, 200000);
	assert_string_equal(imported.sw.queues[0][3].wred_profile, "AZURE_LOSSLESS");
	assert_string_equal(imported.sw.queues[0][4].wred_profile, SW_PROFILE_DEFAULT);
	assert_int_equal(imported.sw.ports[0].link_speed_bps, 25 * GBPS);
}

TEST(ports_that_differ_come_back_the_same)
{
	char *tables, *first, *again;

	read_ini(
		"[switch]\nwred_queues = none\n[port]\nlink_speed_bps = 25G\n[port 0]\n"
		"[port 1]\npfc_enable = 3-4\ntc_to_priority_group_map = 3:3, 4:4, 7:7, *:0\n"
		"tc_to_queue_map = 5:3, 7:7, 3:3, 4:4, *:0\npfc_priority_to_queue_map = 4:4, 3:3, *:0\n"
		"[port 2]\ndwrr_weight = 3:80, *:10\nstrict_queues = 6-7\n"
		"[port 3]\ndwrr_weight = 3:80, *:10\nstrict_queues = 6-7\n"
		"[port 4]\ndwrr_weight = 3:80, *:10\n[port 5]\ndscp_to_tc_map = 8:3, *:1\n"
		"[pool]\nbacking_frame_bytes = 2048\n");
	tables = exported(0);
	assert_non_null(strstr(tables, "AZURE_Ethernet4"));
	taken(import_sonic, tables, 0);
	first = in_force();
	free(tables);
	assert_int_equal(sw_port_qos(&imported.sw, 1).pfc_enable, 0x18);
	assert_int_equal(sw_port_qos(&imported.sw, 1).tc_to_queue_map[5], 3);
	assert_int_equal(sw_port_qos(&imported.sw, 0).pfc_enable, 0x8);
	assert_int_equal(sw_port_sched(&imported.sw, 3).strict_queues, 0xc0);
	assert_int_equal(sw_port_sched(&imported.sw, 4).dwrr_weight[3], 80);
	assert_int_equal(sw_port_qos(&imported.sw, 5).dscp_to_tc_map[8], 3);
	tables = exported(0);
	taken(import_sonic, tables, 0);
	again = in_force();
	assert_string_equal(first, again);
	free(tables);
	free(first);
	free(again);
}

/* Times of [pfcwd] that no port goes by have no place in the tables, and are of no effect. */
TEST(ports_go_by_the_same_watchdog_times)
{
	struct pfcwd_params was[3];
	char *tables;

	read_ini("[pfcwd]\npfcwd = sonic\n[port]\nlink_speed_bps = 25G\n[port 0]\npfcwd = off\n"
		 "[port 1]\npfcwd_action = alert\npfcwd_detection_time_ns = 300ms\n[port 2]\n"
		 "pfcwd_restoration_time_ns = 900ms\n[pool]\nbacking_frame_bytes = 2048\n");
	for (uint16_t i = 1; i < 3; i++)
		was[i] = sw_port_pfcwd(&imported.sw, i);
	tables = exported(0);
	taken(import_sonic, tables, 0);
	free(tables);
	assert_false(imported.sw.ports[0].pfcwd);
	for (uint16_t i = 1; i < 3; i++) {
		const struct pfcwd_params is = sw_port_pfcwd(&imported.sw, i);

		assert_true(imported.sw.ports[i].pfcwd);
		assert_int_equal(is.action, was[i].action);
		assert_int_equal(is.detection_time_ns, was[i].detection_time_ns);
		assert_int_equal(is.restoration_time_ns, was[i].restoration_time_ns);
	}
}

/* One key each that SONiC has no words for. */
TEST(what_sonic_has_no_words_for_is_named)
{
	static const struct {
		const char *section, *key, *more;
	} table[] = {
		{"[switch]", "mark_at = enqueue", ""},
		{"[pfc]", "pfc_xoff_quanta = 1000", ""},
		{"[port 0]", "tx_disabled = on", ""},
		{"[port 0]", "link_speed_bps = 1500K", ""},
		{"[port 0]", "shaper_rate_bps = 1G", ""},
		{"[tc 3]", "mtu_bytes = 4096B", ""},
		{"[wred w]", "wred_weight = 3", ""},
		{"[wred w]", "green_drop_probability_ppm = 1500ppm", ""},
		{"[pfcwd]", "pfcwd = nxos", ""},
		{"[fdb a]", "mac = 02:00:00:00:00:01", "port = 0\n"},
		{"[pool]", "backing_frame_bytes = 512", ""},
	};
	char text[512];

	for (unsigned int i = 0; i < ARRAY_LEN(table); i++) {
		bool speed = strcmp(table[i].section, "[port 0]") == 0;
		bool pool = strcmp(table[i].section, "[pool]") == 0;
		char *tables = NULL, words[128];
		size_t size;
		FILE *out;

		snprintf(text, sizeof(text), "%s\n%s\n%s%s%s[port]\nlink_speed_bps = 10G\n",
			 table[i].section, table[i].key, table[i].more, speed ? "" : "[port 0]\n",
			 pool ? "" : "[pool]\nbacking_frame_bytes = 2048\n");
		read_ini(text);
		import_log_free(&log_of);
		log_of = (struct import_log){.file = "in"};
		out = open_memstream(&tables, &size);
		assert_int_equal(export_sonic(&imported, out, &log_of), 0);
		fclose(out);
		snprintf(words, sizeof(words), "%s %s: no counterpart in SONiC's tables",
			 table[i].section, table[i].key);
		lost(words);
		free(tables);
		sw_tables_free(&imported.sw.tables);
		import_log_free(&log_of);
	}
}

TEST(a_switch_that_no_table_holds_is_refused)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	/* An mtu of 42 is less than the reader takes. */
	read_ini("[switch]\nmax_frame_bytes = 64\n[port 0]\nlink_speed_bps = 10G\n");
	assert_true(export_sonic(&imported, out, &log_of) != 0);
	fclose(out);
	assert_non_null(strstr(log_of.error, "in: makes tables that SONiC cannot have: "));
	assert_string_equal(text, "");
	free(text);
	import_log_free(&log_of);
}

TEST_MAIN()
