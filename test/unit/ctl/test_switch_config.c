/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "switch/params/port_names.h"
#include "unit/ctl/switch_text.h"

#define ROUTER "[router]\nrouter_mac = 02:ff:00:00:00:01\n"
#define INTERFACE "[interface port 1]\nip = 10.0.0.1/24\n"

TEST(ports_and_a_speed_are_all_that_must_be_said)
{
	struct config_error err = {"no error"};
	struct sw_params p;

	assert_int_equal(read_text(TWO_PORTS, &p, &err), 0);
	assert_int_equal(p.n_ports, 2);
	assert_int_equal(p.ports[1].link_speed_bps, 40 * GBPS);
	assert_int_equal(p.ports[1].shaper_rate_bps, 40 * GBPS); /* resolved */
	assert_int_equal(p.mmu.buffer_bytes, 12000000);
	assert_int_equal(p.mmu.n_ports, 2);
	assert_int_equal(p.mmu.lossless_pgs[0], 1 << 3);
	assert_int_equal(p.qos.dscp_to_tc_map[26], 3);
	assert_int_equal(p.wred_queues, 1 << 3);
}

TEST(a_port_overrides_what_all_ports_share)
{
	struct config_error err;
	struct sw_params p;

	assert_int_equal(read_text("[port]\nlink_speed_bps = 40G\nshaper_rate_bps = 30G\n"
				   "[port 1]\nshaper_rate_bps = 5G\n[port 0]\n[port 2]\n"
				   "mac = 02:00:00:00:00:07\n",
				   &p, &err),
			 0);
	assert_int_equal(p.n_ports, 3);
	assert_int_equal(p.ports[0].shaper_rate_bps, 30 * GBPS);
	assert_int_equal(p.ports[1].shaper_rate_bps, 5 * GBPS);
	assert_int_equal(p.ports[2].mac[5], 7);
}

TEST(every_section_reaches_its_struct)
{
	struct config_error err;
	struct sw_params p;

	assert_int_equal(
		read_text("[switch]\nbuffer_bytes = 32MB\nmark_at = enqueue\npfc_generate = off\n"
			  "[qos_map]\npfc_enable = none\ntrust = pcp\n"
			  "[wred]\nKmin = 40KB\nKmax = 160KB\nPmax = 0.2\n"
			  "[buffer_profile lossless]\nxoff_bytes = 30KB\n"
			  "[buffer_profile lossy]\ndynamic_th = -2\n"
			  "[buffer_profile egress_lossless]\nsize_bytes = 1KB\n"
			  "[buffer_profile egress_lossy]\ndynamic_th = 2\n"
			  "[scheduler]\nstrict_queues = 6-7\n"
			  "[pfc]\npfc_xoff_quanta = 1000\n" TWO_PORTS,
			  &p, &err),
		0);
	assert_int_equal(p.mmu.buffer_bytes, 32000000);
	assert_int_equal(p.mark_at, SW_MARK_AT_ENQUEUE);
	assert_int_equal(p.qos.pfc_enable, 0);
	assert_int_equal(p.qos.trust, QOS_TRUST_PCP);
	assert_int_equal(p.wred.green_min_threshold_bytes, 40000);
	assert_int_equal(p.wred.green_drop_probability_ppm, 200000);
	assert_int_equal(p.mmu.lossless.xoff_bytes, 30000);
	assert_int_equal(p.mmu.lossy.dynamic_th, -2);
	assert_int_equal(p.mmu.egress_lossless.size_bytes, 1000);
	assert_int_equal(p.mmu.egress_lossy.dynamic_th, 2);
	assert_int_equal(p.sched.strict_queues, 0xc0);
	assert_int_equal(p.pfc.pfc_xoff_quanta, 1000);
}

TEST(a_port_has_maps_and_weights_of_its_own_where_it_gives_them)
{
	struct config_error err;
	struct sw_params p;
	char *text;

	assert_int_equal(
		read_text("[qos_map]\npfc_enable = 3\n"
			  "[port]\nlink_speed_bps = 40G\ndwrr_weight = 3:20, *:5\n[port 0]\n"
			  "[port 1]\npfc_enable = 3-4\ntc_to_priority_group_map = 3:3, 4:4, "
			  "*:0\ntrust = pcp\nstrict_queues = none\ndwrr_weight = default\n",
			  &p, &err),
		0);
	assert_int_equal(sw_port_qos(&p, 0).pfc_enable, 1 << 3);
	assert_int_equal(sw_port_qos(&p, 1).pfc_enable, 3 << 3);
	assert_int_equal(p.mmu.lossless_pgs[1], 3 << 3);
	assert_int_equal(p.mmu.lossless_queues[1], 3 << 3);
	assert_int_equal(sw_port_qos(&p, 1).trust, QOS_TRUST_PCP);
	assert_int_equal(sw_port_qos(&p, 1).dscp_to_tc_map[26], 3);
	assert_int_equal(sw_port_sched(&p, 0).dwrr_weight[3], 20);
	assert_int_equal(sw_port_sched(&p, 1).dwrr_weight[3], 60);
	assert_int_equal(sw_port_sched(&p, 0).strict_queues, 1 << 7);
	assert_int_equal(sw_port_sched(&p, 1).strict_queues, 0);
	text = prints_what_reads_back(&p);
	assert_non_null(strstr(text, "pfc_enable = 3-4\n"));
	assert_non_null(strstr(text, "dscp_to_tc_map = default\n"));
	free(text);
}

TEST(ports_are_found_by_their_names_and_numbers)
{
	struct config_error err;
	struct sw_params p;
	char *text;

	assert_int_equal(read_text("[port]\nlink_speed_bps = 40G\n[port 0]\n[port 1]\n"
				   "name = Ethernet1/1\n[port 2]\nname = Ethernet1/1/1\n",
				   &p, &err),
			 0);
	assert_int_equal(sw_port_find(&p, "Ethernet1/1"), 1);
	assert_int_equal(sw_port_find(&p, "ethernet1/1/1"), 2);
	assert_int_equal(sw_port_find(&p, "0"), 0);
	assert_int_equal(sw_port_find(&p, "2"), 2);
	assert_int_equal(sw_port_find(&p, "3"), -1);
	assert_int_equal(sw_port_find(&p, ""), -1);
	assert_int_equal(sw_port_find(&p, "none"), -1);
	assert_int_equal(sw_port_find(&p, "Ethernet1/"), -1);
	assert_string_equal(sw_port_text(&p, 0).text, "0");
	assert_string_equal(sw_port_text(&p, 2).text, "Ethernet1/1/1");
	text = prints_what_reads_back(&p);
	assert_non_null(strstr(text, "name = Ethernet1/1\n"));
	free(text);
}

/* The line must begin so; the rest is the clause of the module that owns the rule. */
TEST(a_wrong_switch_is_refused_with_section_key_and_value)
{
	static const struct {
		const char *text;
		const char *error;
	} rows[] = {
		{"", "x.ini: [port 0]: expected a section for each port: [port 0] and on"},
		{"[port]\nlink_speed_bps = 1G\n",
		 "x.ini: [port 0]: expected a section for each port: [port 0] and on"},
		{"[port 0]\n",
		 "x.ini: [port 0] link_speed_bps: expected a rate in bit/s from 1M to 1600G"},
		{"[port]\nlink_speed_bps = 1G\n[port 1]\n",
		 "x.ini: [port 0]: expected this section: ports are numbered from 0, no gap"},
		{"[port]\nlink_speed_bps = 1G\n[port 0]\n[port 1]\n"
		 "tc_to_priority_group_map = 3:4, *:0\n",
		 "x.ini: [port 1] tc_to_priority_group_map = 3:4, *:0: port 1: pfc_enable names a"},
		{TWO_PORTS "name = Ethernet1/1 a\n",
		 "x.ini: [port 1] name = Ethernet1/1 a: expected a letter, then"},
		{TWO_PORTS "name = 7\n", "x.ini: [port 1] name = 7: expected a letter"},
		{TWO_PORTS "name = a|b\n", "x.ini: [port 1] name = a|b: expected a"},
		{TWO_PORTS "name = None\n", "x.ini: [port 1] name = None: expected a"},
		{TWO_PORTS "name = Ethernet00000000000000000000/1/1\n",
		 "x.ini: [port 1] name = Ethernet00000000000000000000/1/1: expected 1 to 31 printable"},
		{"[port]\nlink_speed_bps = 1G\n[port 0]\nname = Eth1\n[port 1]\nname = eTh1\n",
		 "x.ini: [port 1] name = eTh1: expected one that no port before it"},
		{"[port 64]\n", "x.ini: [port 64]: expected a port number from 0 to 63"},
		{"[port 01]\n", "x.ini: [port 01]: expected a port number from 0 to 63"},
		{"[port x]\n", "x.ini: [port x]: expected a port number from 0 to 63"},
		{"[port -1]\n", "x.ini: [port -1]: expected a port number from 0 to 63"},
		{"[port 99999999999]\n",
		 "x.ini: [port 99999999999]: expected a port number from 0 to 63"},
		{TWO_PORTS "[fdb a]\nmac = 02:00:00:00:00:01\nport = 2\n",
		 "x.ini: [fdb a] port = 2: expected a port of this switch"},
		{"[switch]\nvlan_filtering = on\n[fdb a]\nmac = 02:00:00:00:00:01\nport = 1\nvlan "
		 "= 9\n" TWO_PORTS,
		 "x.ini: [fdb a] vlan = 9: expected a VLAN that the port is a member of"},
		{TWO_PORTS "[interface vlan 1]\nip = 10.0.0.1/24\n",
		 "x.ini: [interface vlan 1]: expected vlan_filtering = on in [switch]"},
		{TWO_PORTS "[interface port 1]\nip = 10.0.0.1/24\n",
		 "x.ini: [interface port 1]: expected a router_mac in [router]"},
		{TWO_PORTS "[interface eth1]\n",
		 "x.ini: [interface eth1]: expected [interface vlan N] or [interface port N]"},
		{TWO_PORTS "[interface port 2]\n",
		 "x.ini: [interface port 2]: expected [interface vlan N] or [interface port N]"},
		{TWO_PORTS ROUTER "[interface port 1]\nip = 10.0.0.1\n",
		 "x.ini: [interface port 1] ip = 10.0.0.1: expected an IPv4 address and a length"},
		{TWO_PORTS ROUTER "[interface port 1]\nip6 = 10.0.0.1/24\n",
		 "x.ini: [interface port 1] ip6 = 10.0.0.1/24: expected an IPv6 address and a"},
		{TWO_PORTS ROUTER INTERFACE "[interface port 0]\nip = 10.0.3.1/16\n",
		 "x.ini: [interface port 0] ip = 10.0.3.1/16: expected a subnet apart from those "
		 "of"},
		{TWO_PORTS ROUTER
		 "[interface port 1]\nip6 = fd00::1/48\n[interface port 0]\nip6 = fd00::2:1/112\n",
		 "x.ini: [interface port 0] ip6 = fd00::2:1/112: expected a subnet apart from"},
		{TWO_PORTS ROUTER INTERFACE "[route 10.0.0.0]\nnexthop = 10.0.0.2\n",
		 "x.ini: [route 10.0.0.0]: expected a prefix, such as 10.0.0.0/8 or fd00::/8"},
		{TWO_PORTS ROUTER INTERFACE "[route 11.0.0.0/8]\nnexthop = 10.0.1.2\n",
		 "x.ini: [route 11.0.0.0/8] nexthop = 10.0.1.2: expected addresses in the subnet "
		 "of"},
		{TWO_PORTS ROUTER INTERFACE "[route fd00::/8]\nnexthop = 10.0.0.2\n",
		 "x.ini: [route fd00::/8] nexthop = 10.0.0.2: expected blackhole, or addresses of"},
		{TWO_PORTS ROUTER INTERFACE "[route 10.0.0.7/24]\nnexthop = 10.0.0.2\n",
		 "x.ini: [route 10.0.0.7/24]: expected a prefix other than the subnet of an "},
		{TWO_PORTS ROUTER INTERFACE "[route 10.0.0.1/32]\nnexthop = 10.0.0.2\n",
		 "x.ini: [route 10.0.0.1/32]: expected a prefix other than the router's own"},
		{TWO_PORTS ROUTER INTERFACE "[route 11.0.0.0/8]\nnexthop = 10.0.0.2,10.0.0.1\n",
		 "x.ini: [route 11.0.0.0/8] nexthop = 10.0.0.2,10.0.0.1: expected addresses of "
		 "others"},
		{TWO_PORTS ROUTER INTERFACE "[route 11.0.0.0/8]\nnexthop = 10.0.0.255\n",
		 "x.ini: [route 11.0.0.0/8] nexthop = 10.0.0.255: expected addresses of stations"},
		{TWO_PORTS ROUTER INTERFACE "[route 11.0.0.0/8]\nnexthop = 10.0.0.2\n[route "
					    "11.7.0.0/8]\nnexthop = 10.0.0.3\n",
		 "x.ini: [route 11.7.0.0/8]: expected one section: [route 11.0.0.0/8] is the same"},
		{TWO_PORTS ROUTER INTERFACE "[route 11.0.0.0/8]\n",
		 "x.ini: [route 11.0.0.0/8] nexthop is missing"},
		{TWO_PORTS ROUTER INTERFACE "[neighbor 10.0.1.2]\nmac = 02:00:00:00:00:01\n",
		 "x.ini: [neighbor 10.0.1.2]: expected addresses in the subnet of an [interface]"},
		{TWO_PORTS "[fdb]\nport = 1\n",
		 "x.ini: [fdb]: expected [fdb NAME] with a name of 1 to 48"},
		{TWO_PORTS "tagged_vlans = 5\n",
		 "x.ini: [port 1] tagged_vlans = 5: port 1: access_vlan or tagged_vlans without"},
		{"[switch]\nvlan_filtering = on\n" TWO_PORTS "tagged_vlans = 5,x\n",
		 "x.ini: [port 1] tagged_vlans = 5,x: port 1: tagged_vlans is neither none nor"},
		{"[switch]\nvlan_filtering = on\n" TWO_PORTS "tagged_vlans = 1-5\n",
		 "x.ini: [port 1] tagged_vlans = 1-5: port 1: tagged_vlans includes access_vlan"},
		{"[switch]\nbuffer_bytes = much\n",
		 "x.ini: [switch] buffer_bytes = much: expected a size in whole bytes from "},
		{"[switch]\nbuffer_bytes = 30KB\n" TWO_PORTS,
		 "x.ini: [switch] buffer_bytes = 30KB: "},
		{"[wred]\nKmin = 300KB\n" TWO_PORTS,
		 "x.ini: [wred] green_min_threshold_bytes = 300KB: "},
		{"[buffer_profile lossy]\ndynamic = on\nstatic_th_bytes = 5KB\n" TWO_PORTS,
		 "x.ini: [buffer_profile lossy] static_th_bytes = 5KB: "},
		{"[buffer_profile egress_lossy]\nstatic_th_bytes = 5KB\n" TWO_PORTS,
		 "x.ini: [buffer_profile egress_lossy] static_th_bytes = 5KB: "},
		{"[buffer_profile lossy]\nxoff_bytes = 5KB\n" TWO_PORTS,
		 "x.ini: [buffer_profile lossy] xoff_bytes = 5KB: expected a known key"},
		{"[port 0]\nlink_speed_bps = 1G\n"
		 "[port 1]\nlink_speed_bps = 1G\nshaper_rate_bps = 2G\n",
		 "x.ini: [port 1] shaper_rate_bps = 2G: "},
		{"[port 0]\nlink_speed_bps = 1G\nmac = 01:00:00:00:00:00\n",
		 "x.ini: [port 0] mac = 01:00:00:00:00:00: "},
		{"[swich]\n" TWO_PORTS,
		 "x.ini: [swich]: expected a known section, such as [switch]"},
		{"[rp]\n" TWO_PORTS, "x.ini: [rp]: expected a known section"},
		{"[switch]\nbuffer = 1MB\n" TWO_PORTS,
		 "x.ini: [switch] buffer = 1MB: expected a known key, such as buffer_bytes"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		is_refused(rows[i].text, rows[i].error);
}

TEST(the_printed_configuration_reads_back_to_the_same)
{
	struct config_error err = {"no error"};
	char *text;
	struct sw_params p;

	assert_int_equal(
		read_text("[switch]\ncell_bytes = 208\nwred_queues = 3-4\n"
			  "vlan_filtering = on\n" ROUTER INTERFACE
			  "[route 10.2.0.0/16]\nnexthop = 10.0.0.2, 10.0.0.3\n"
			  "[neighbor 10.0.0.2]\nmac = 02:00:00:00:00:02\n[fdb printer]\nmac = "
			  "02:00:00:00:00:09\nvlan = 7\n"
			  "port = 2\n[port]\nspeed = 25G\n[port 0]\nshaper_rate = 12345678\n"
			  "[port 1]\n[port 2]\ntagged_vlans = 5-8, 100\naccess_vlan = 4\n"
			  "storm_control_broadcast_bps = 10M\n",
			  &p, &err),
		0);
	text = prints_what_reads_back(&p);
	assert_non_null(
		strstr(text, "[fdb printer]\nmac = 02:00:00:00:00:09\nvlan = 7\nport = 2\n"));
	assert_non_null(strstr(text, "[route 10.2.0.0/16]\nnexthop = 10.0.0.2, 10.0.0.3\n"));
	assert_non_null(strstr(text, "tagged_vlans = 5-8, 100\n"));
	assert_non_null(strstr(text, "cell_bytes = 208B\n"));
	assert_non_null(strstr(text, "shaper_rate_bps = 12345678 "));
	free(text);
}

/* A router and a route of n next hops: the longest texts of IPv6 addresses, or IPv4 addresses. */
static void
write_hops(char *text, size_t size, bool v6, unsigned int n)
{
	size_t used = (size_t)snprintf(
		text, size, TWO_PORTS ROUTER "[interface port 1]\n%s\n[route %s]\nnexthop = ",
		v6 ? "ip6 = fdaa:bbbb:cccc:dddd:eeee:ffff:1111:1/112" : "ip = 10.0.0.1/16",
		v6 ? "fd00:9::/32" : "10.2.0.0/16");

	for (unsigned int i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, size - used,
					 v6 ? "%sfdaa:bbbb:cccc:dddd:eeee:ffff:1111:1%u%02x"
					    : "%s10.0.%u.%u",
					 i == 0 ? "" : ", ", i / 128, 2 + i % 128);
}

TEST(a_route_has_up_to_256_next_hops)
{
	static char text[2 * SW_NEXTHOP_CHARS];
	struct config_error err = {"no error"};

	for (unsigned int v6 = 0; v6 < 2; v6++) {
		static const unsigned int counts[] = {1, 16, 17, 64, 65, 120, 255, 256};

		for (unsigned int i = 0; i < ARRAY_LEN(counts); i++) {
			struct field_ip hops[SW_MAX_NEXTHOPS];
			struct sw_params p;
			char *printed;

			write_hops(text, sizeof(text), v6, counts[i]);
			if (read_text(text, &p, &err) != 0)
				fail_msg("%s", err.text);
			assert_int_equal(sw_nexthops_parse(p.tables.routes[0].nexthop, hops),
					 counts[i]);
			printed = prints_what_reads_back(&p);
			assert_non_null(strstr(printed, strstr(text, "nexthop = ")));
			free(printed);
		}
		write_hops(text, sizeof(text), v6, 257);
		is_refused(text, v6 ? "x.ini: [route fd00:9::/32] nexthop = fdaa:"
				    : "x.ini: [route 10.2.0.0/16] nexthop = 10.0.0.2, 10.0.0.3");
	}
}

TEST(the_reference_holds_every_section_once)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	const char *head;

	switch_config_print_reference(f);
	fclose(f);
	assert_non_null(strstr(text, "## [buffer_profile egress_lossy]\n"));
	assert_non_null(strstr(text, "## [port N]\n"));
	assert_non_null(strstr(text, "| `link_speed_bps` |"));
	/* [switch] holds two tables under one heading. */
	head = strstr(text, "## [switch]\n");
	assert_non_null(head);
	assert_null(strstr(head + 1, "## [switch]\n"));
	assert_in_range(strstr(text, "| `buffer_bytes` |") - text,
			strstr(text, "| `mark_at` |") - text,
			strstr(text, "## [qos_map]\n") - text);
	free(text);
}

TEST(the_shipped_example_is_taken)
{
	struct config *cfg = open_shipped("switch.ini");
	struct config_error err;
	struct sw_params p;

	if (switch_config_read(cfg, &p, &err) != 0 || config_finish(cfg, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(p.n_ports, 4);
	assert_int_equal(p.ports[3].shaper_rate_bps, 5 * GBPS);
	config_close(cfg);
}

TEST_MAIN(.begin = enter_folder, .end = leave_folder)
