/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "unit/ctl/switch_text.h"

TEST(a_wrong_class_is_refused_with_section_key_and_value)
{
	static const struct {
		const char *text;
		const char *error;
	} rows[] = {
		{"[queue 8]\n" TWO_PORTS, "x.ini: [queue 8]: expected N or PORT|N after the word"},
		{"[pg 512|3]\n" TWO_PORTS,
		 "x.ini: [pg 512|3]: expected N or PORT|N after the word"},
		{"[pg 064|3]\n" TWO_PORTS,
		 "x.ini: [pg 064|3]: expected N or PORT|N after the word"},
		{"[pg 511|3]\n" TWO_PORTS, "x.ini: [pg 511|3]: expected an existing port"},
		{"[tc 1|3]\n" TWO_PORTS, "x.ini: [tc 1|3]: expected [tc N], N from 0 to 7"},
		{"[queue 2|3]\nmax_rate_bps = 1G\n" TWO_PORTS,
		 "x.ini: [queue 2|3]: expected an existing port"},
		{"[queue 0|3]\nwred_profile = RED\n" TWO_PORTS,
		 "x.ini: [queue 0|3] wred_profile = RED: expected default, none, or the NAME of a "
		 "[wred NAME]"},
		{"[pg 3]\nbuffer_profile = lossless\n" TWO_PORTS,
		 "x.ini: [pg 3] buffer_profile = lossless: expected default, or the NAME of a "
		 "[buffer_profile NAME]"},
		{"[pg 0]\nbuffer_profile = far\n[buffer_profile far]\nxoff_bytes = 5KB\n" TWO_PORTS,
		 "x.ini: [buffer_profile far] xoff_bytes = 5KB: far: xoff_bytes 5000 is headroom, "
		 "which pg 0 of port 0 does not have"},
		{"[wred none]\n" TWO_PORTS, "x.ini: [wred none]: expected a name of at most 40"},
		{"[queue 3]\nmin_rate_bps = 2G\nmax_rate_bps = 1G\n" TWO_PORTS,
		 "x.ini: [queue 3] min_rate_bps = 2G: port 0, class 3, min_rate_bps is above "
		 "max_rate_bps"},
		{"[queue 3]\nmin_rate_bps = 30G\n[queue 4]\nmin_rate_bps = 30G\n" TWO_PORTS,
		 "x.ini: [queue 3] min_rate_bps = 30G: min_rate_bps of the queues of port 0 is "
		 "60000000000 together"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		is_refused(rows[i].text, rows[i].error);
}

TEST(a_port_overrides_what_its_classes_share)
{
	struct config_error err = {"no error"};
	struct sw_params p;

	if (read_text("[queue 1|3]\nmax_rate_bps = 2G\nburst_bytes = 1500\n"
		      "[queue 3]\nwred_profile = RED\nmax_rate_bps = 5G\ncir = 125000000\n"
		      "[pg 0|3]\nbuffer_profile = far\n"
		      "[wred RED]\nKmin = 1KB\nKmax = 1KB\n"
		      "[buffer_profile far]\nxoff_bytes = 90KB\n[tc 3]\nmtu = 9216\n" TWO_PORTS,
		      &p, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(p.queues[1][3].wred_profile, "RED");
	assert_int_equal(p.queues[0][3].max_rate_bps, 5 * GBPS);
	assert_int_equal(p.queues[1][3].max_rate_bps, 2 * GBPS);
	assert_int_equal(p.queues[1][3].min_rate_bps, 1 * GBPS); /* SONiC counts bytes */
	assert_int_equal(p.queues[1][3].burst_bytes, 1500);
	assert_string_equal(p.queues[0][4].wred_profile, "default");
	assert_int_equal(sw_queue_wred(&p, 0, 3)->green_max_threshold_bytes, 1000);
	assert_null(sw_queue_wred(&p, 0, 4));
	assert_int_equal(mmu_pg_profile(&p.mmu, 0, 3)->xoff_bytes, 90000);
	assert_int_equal(mmu_pg_profile(&p.mmu, 1, 3)->xoff_bytes, MMU_XOFF_AUTO);
	assert_int_equal(mmu_pg_headroom(&p.mmu, 0, 3), 90000);
	assert_int_equal(mmu_pg_headroom(&p.mmu, 1, 3), sw_port_headroom(&p, 1).total_bytes);
	assert_int_equal(mmu_pg_headroom(&p.mmu, 1, 2), 0);
	assert_int_equal(p.tcs[3].mtu_bytes, 9216);
	/* min(9216 + 22, max_frame_bytes) */
	assert_int_equal(sw_port_headroom(&p, 0).frames_bytes, 3 * 9238 + 40);
}

/* Of 100G over 300 m and of 10G; with little buffer, the first one has what the others leave. */
TEST(headroom_follows_each_port_and_half_of_the_buffer)
{
	static const struct {
		const char *buffer_bytes;
		uint64_t far_bytes;
	} rows[] = {{"12MB", 0}, {"220000", 110000 - 2 * 32189}, {"100KB", 22400}};
	struct config_error err = {"no error"};
	struct sw_auto_headroom a;
	struct sw_params p;
	char text[512];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(text, sizeof(text),
			 "[switch]\nbuffer_bytes = %s\n"
			 "[port 0]\nname = a\nlink_speed_bps = 10G\n"
			 "[port 1]\nname = b\nlink_speed_bps = 100G\ncable_length_m = 300\n"
			 "[port 2]\nname = c\nlink_speed_bps = 10G\n",
			 rows[i].buffer_bytes);
		if (read_text(text, &p, &err) != 0)
			fail_msg("%s", err.text);
		a = sw_auto_headroom(&p);
		assert_int_equal(mmu_pg_headroom(&p.mmu, 1, 3),
				 rows[i].far_bytes > 0 ? rows[i].far_bytes
						       : sw_port_headroom(&p, 1).total_bytes);
		assert_int_equal(a.most_bytes, mmu_pg_headroom(&p.mmu, 1, 3));
		assert_int_equal(a.least_bytes, mmu_pg_headroom(&p.mmu, 2, 3));
		if (i < 2)
			assert_int_equal(a.least_bytes, sw_port_headroom(&p, 0).total_bytes);
		assert_true(i == 2 || (a.most_port == 1 && a.least_port == 0));
		assert_int_equal(sw_short_headroom(&p).groups, i == 0 ? 0 : i == 1 ? 1 : 3);
	}
}

TEST(printed_classes_read_back_to_the_same)
{
	struct config_error err = {"no error"};
	char *text;
	struct sw_params p;

	assert_int_equal(
		read_text("[switch]\nwred_queues = 3-4\n"
			  "[queue 3]\nmax_rate_bps = 5G\n[queue 1|4]\nwred_profile = none\n"
			  "[wred A]\nKmin = 1KB\n[tc 3]\nmtu_bytes = 1500\n"
			  "[pg 1|3]\nbuffer_profile = B\n[buffer_profile B]\nxoff_bytes = "
			  "30KB\n" TWO_PORTS,
			  &p, &err),
		0);
	text = prints_what_reads_back(&p);
	assert_non_null(strstr(text, "[queue 1|4]\nwred_profile = none\n"));
	assert_non_null(strstr(text, "[pg 1|3]\nbuffer_profile = B\n"));
	assert_null(strstr(text, "[queue 1|3]"));
	free(text);
}

/* What an NX-OS policy and SONiC's tables say of a class. */
TEST(the_examples_of_two_worlds_are_taken)
{
	struct config *nxos = open_shipped("tor-nxos-example.ini");
	struct config *sonic = open_shipped("tor-sonic-example.ini");
	static const struct field pool[] = {{.name = "backing_frame_bytes",
					     .type = FIELD_U32,
					     .unit = UNIT_BYTES,
					     .max = 16384}};
	struct config_error err;
	struct sw_params p;
	uint32_t frame;

	if (switch_config_read(nxos, &p, &err) != 0 ||
	    config_read(nxos, "pool", pool, 1, &frame, &err) != 0 || config_finish(nxos, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(p.qos.dscp_to_tc_map[24], 3);
	assert_int_equal(p.qos.dscp_to_tc_map[26], 0);
	assert_int_equal(p.sched.strict_queues, 1 << 7);
	assert_int_equal(p.sched.dwrr_weight[3], p.sched.dwrr_weight[0]);
	assert_int_equal(sw_queue_wred(&p, 0, 3)->green_max_threshold_bytes, 3000000);
	assert_int_equal(sw_queue_wred(&p, 0, 3)->green_drop_probability_ppm, 70000);
	assert_int_equal(p.tcs[3].mtu_bytes, 9216);
	assert_int_equal(p.mmu.lossless_pgs[0], 1 << 3);
	if (switch_config_read(sonic, &p, &err) != 0 ||
	    config_read(sonic, "pool", pool, 1, &frame, &err) != 0 ||
	    config_finish(sonic, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(p.mmu.lossless_pgs[0], 1 << 3 | 1 << 4);
	assert_int_equal(sw_queue_wred(&p, 2, 4)->green_min_threshold_bytes, 1 << 20);
	assert_int_equal(mmu_pg_profile(&p.mmu, 3, 4)->xoff_bytes, 204800);
	config_close(nxos);
	config_close(sonic);
}

/* A key over what is in force, as a program does it that runs. */
static int
set(struct sw_params *now, const char *text, struct config_error *err)
{
	struct config *cfg = config_open_text("running", "", 0, err);
	struct sw_params next;
	int rc = config_set(cfg, text, err);

	if (rc == 0)
		rc = switch_config_set(cfg, now, &next, err);
	if (rc == 0) {
		sw_tables_free(&now->tables);
		*now = next;
		rc = config_finish(cfg, err);
	}
	config_close(cfg);
	return rc;
}

TEST(a_key_is_set_over_what_is_in_force)
{
	static const struct {
		const char *set, *error;
	} wrong[] = {
		{"queue 3.wred_profile=BLUE",
		 "running: [queue 3] wred_profile = BLUE: expected default, none, or the NAME of a "
		 "[wred NAME]"},
		{"queue 3.min_rate_bps=7G",
		 "running: [queue 3] min_rate_bps = 7G: port 0, class 3"},
		{"route 10.2.0.0/16.nexthop=10.9.0.1",
		 "running: [route 10.2.0.0/16] nexthop = 10.9.0.1: expected addresses in the subnet"},
		{"port 2.shaper_rate_bps=1G", "running: [port 2]: expected a known section"},
		{"port.shaper_rate_bps=1G",
		 "running: [port] shaper_rate_bps = 1G: expected one port: [port N] or [port NAME]"},
		{"port.shaper=1G", "running: [port] shaper = 1G: expected a known key"},
		{"fdb a.port=2", "running: [fdb a] mac is missing"},
		{"queue 2|3.max_rate_bps=1G", "running: [queue 2|3]: expected an existing port"},
		{"port 1.tc_to_queue_map=3:4",
		 "running: [port 1] tc_to_queue_map = 0:0, 1:1, 2:2, 5:5, 6:6, 7:7, *:4: port 1: "
		 "pfc_priority_to_queue_map and tc_to_queue_map differ"},
		{"qos_map.tc_to_priority_group_map=3:4",
		 "running: [qos_map] tc_to_priority_group_map = 3:4, 7:7, *:0: pfc_enable"},
		{"wred.Kmin=1MB", "running: [wred] green_min_threshold_bytes = 1MB: "},
	};
	struct config_error err = {"no error"};
	struct sw_params p;

	assert_int_equal(
		read_text("[queue 3]\nmax_rate_bps = 5G\n[queue 1|3]\nburst_bytes = 1500\n"
			  "[wred]\nKmin = 7KB\n[route 10.0.0.0/8]\nnexthop = blackhole\n" TWO_PORTS,
			  &p, &err),
		0);
	/* Port 1 has a section of its own for this queue, which gives another key. */
	assert_int_equal(set(&p, "queue 3.max_rate_bps=6G", &err), 0);
	assert_int_equal(p.queues[0][3].max_rate_bps, 6 * GBPS);
	assert_int_equal(p.queues[1][3].max_rate_bps, 6 * GBPS);
	assert_int_equal(set(&p, "queue 3.burst_bytes=3000", &err), 0);
	assert_int_equal(p.queues[0][3].burst_bytes, 3000);
	assert_int_equal(p.queues[1][3].burst_bytes, 1500);
	assert_int_equal(set(&p, "queue 4.max_rate_bps=1G", &err), 0);
	assert_int_equal(p.queues[1][4].max_rate_bps, 1 * GBPS);
	assert_int_equal(set(&p, "queue 1|4.max_rate_bps=2G", &err), 0);
	assert_int_equal(p.queues[1][4].max_rate_bps, 2 * GBPS);
	assert_int_equal(p.queues[0][4].max_rate_bps, 1 * GBPS);
	/* Sections that come, and then are there. */
	assert_int_equal(set(&p, "wred RED.Kmax=300KB", &err), 0);
	assert_int_equal(set(&p, "wred RED.Kmin=100KB", &err), 0);
	assert_int_equal(p.n_wred_profiles, 1);
	assert_int_equal(p.wred_profiles[0].params.green_max_threshold_bytes, 300000);
	assert_int_equal(p.wred_profiles[0].params.green_min_threshold_bytes, 100000);
	assert_int_equal(set(&p, "queue 3.wred_profile=RED", &err), 0);
	assert_int_equal(set(&p, "route 10.1.0.0/16.nexthop=blackhole", &err), 0);
	assert_int_equal(p.tables.n_routes, 2);
	assert_string_equal(p.tables.routes[1].name, "10.1.0.0/16");
	assert_int_equal(p.wred.green_min_threshold_bytes, 7000);
	for (unsigned int i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_int_equal(set(&p, wrong[i].set, &err), -EINVAL);
		if (strncmp(without_line(&err), wrong[i].error, strlen(wrong[i].error)) != 0)
			fail_msg("%s: %s", wrong[i].set, err.text);
	}
	assert_int_equal(p.tables.n_routes, 2);
	assert_int_equal(p.wred.green_min_threshold_bytes, 7000);
	sw_tables_free(&p.tables);
}

/* Several sections of one object, by number and by name, add up; of one key the last counts. */
TEST(sections_of_one_object_add_up)
{
	static const char file[] =
		"[switch]\nvlan_filtering = on\n[router]\nrouter_mac = 02:ff:00:00:00:01\n"
		"[interface port spine]\nip = 10.0.1.1/24\n"
		"[interface port 1]\nip6 = fd00:1::1/64\n"
		"[fdb a]\nmac = 02:00:00:00:00:0a\nvlan = 1\nport = leaf\n"
		"[fdb b]\nmac = 02:00:00:00:00:0b\nvlan = 1\nport = 0\n"
		"[port]\nlink_speed_bps = 10G\n[port 0]\nname = leaf\naccess_vlan = 1\n"
		"[port 1]\nname = spine\naccess_vlan = 9\n";
	static const struct {
		const char *set[2];
	} pairs[] = {
		{{"port 1.max_learned_addresses=9", "port SPINE.shaper_rate_bps=2G"}},
		{{"port spine.dscp_to_tc_map=10:3", "port 1.dscp_to_tc_map=11:3"}},
		{{"qos_map.dscp_to_tc_map=20:3", "qos_map.dscp_to_tc_map=21:3"}},
		{{"queue 1|3.max_rate_bps=3G", "queue spine|3.burst_bytes=2000"}},
		{{"interface port spine.ip=10.0.2.1/24", "interface port 1.ip6=fd00:2::1/64"}},
		{{"fdb a.port=LEAF", "fdb a.mac=02:00:00:00:00:0c"}},
	};
	struct config_error err = {"no error"};

	for (unsigned int k = 0; k < 2; k++) {
		struct sw_params p;

		assert_int_equal(read_text(file, &p, &err), 0);
		assert_int_equal(p.tables.n_interfaces, 1);
		assert_string_equal(p.tables.interfaces[0].ip6, "fd00:1::1/64");
		assert_string_equal(p.tables.static_macs[1].port, "leaf");
		for (unsigned int i = 0; i < ARRAY_LEN(pairs); i++) {
			struct config *cfg = config_open_text("running", "", 0, &err);
			struct sw_params next;

			assert_int_equal(config_set(cfg, pairs[i].set[k], &err), 0);
			assert_int_equal(config_set(cfg, pairs[i].set[1 - k], &err), 0);
			if (switch_config_set(cfg, &p, &next, &err) != 0)
				fail_msg("%s", err.text);
			sw_tables_free(&p.tables);
			p = next;
			config_close(cfg);
		}
		assert_int_equal(p.ports[1].max_learned_addresses, 9);
		assert_int_equal(p.ports[1].shaper_rate_bps, 2 * GBPS);
		assert_int_equal(p.ports[1].classes.dscp_to_tc_map[10], 3);
		assert_int_equal(p.ports[1].classes.dscp_to_tc_map[11], 3);
		assert_int_equal(p.qos.dscp_to_tc_map[20], 3);
		assert_int_equal(p.qos.dscp_to_tc_map[21], 3);
		assert_int_equal(p.queues[1][3].max_rate_bps, 3 * GBPS);
		assert_int_equal(p.queues[1][3].burst_bytes, 2000);
		assert_int_equal(p.tables.n_interfaces, 1);
		assert_string_equal(p.tables.interfaces[0].name, "port 1");
		assert_string_equal(p.tables.interfaces[0].ip, "10.0.2.1/24");
		assert_string_equal(p.tables.interfaces[0].ip6, "fd00:2::1/64");
		assert_int_equal(p.tables.static_macs[0].mac[5], 0xc);
		assert_string_equal(p.tables.static_macs[0].port, "leaf");
		/* A port that has a key of its own keeps it, port 0 too. */
		assert_int_equal(set(&p, "queue 0|4.max_rate_bps=1G", &err), 0);
		assert_int_equal(set(&p, "queue 4.max_rate_bps=2G", &err), 0);
		assert_int_equal(p.queues[0][4].max_rate_bps, 1 * GBPS);
		assert_int_equal(p.queues[1][4].max_rate_bps, 2 * GBPS);
		assert_int_equal(set(&p, "port 1.dscp_to_tc_map=default", &err), 0);
		sw_tables_free(&p.tables);
	}
}

TEST_MAIN(.begin = enter_folder, .end = leave_folder)
