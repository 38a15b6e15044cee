/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/import/import_test.h"

#include <jansson.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"

#define PORTS                                                                                      \
	"'PORT': {'Ethernet0': {'speed': '100000', 'mtu': '9100'}, "                               \
	"'Ethernet4': {'speed': '100000', 'mtu': '9100'}}"

static const struct sw_params *sw = &imported.sw;

/* JSON with ' for ", so that it can be read here; PORTS and the tables given. */
static const char *
tables(const char *more)
{
	static char text[4096];

	snprintf(text, sizeof(text), "{" PORTS "%s%s}", *more != '\0' ? ", " : "", more);
	for (char *c = text; *c != '\0'; c++)
		*c = *c == '\'' ? '"' : *c;
	return text;
}

TEST(a_tor_of_sonic_becomes_the_switch_of_the_example)
{
	const struct buffer_profile *own = &sw->mmu.profiles[0];

	taken(import_sonic, fixture("sonic-tor.json"), 0);
	assert_int_equal(log_of.n_asides, 8);
	assert_string_equal(log_of.asides[0].word, "DEVICE_METADATA");
	assert_string_equal(log_of.asides[1].word, "PORT lanes");
	assert_int_equal(log_of.asides[1].n, 4);
	assert_int_equal(sw->n_ports, 4);
	assert_string_equal(imported.sw.ports[1].name, "Ethernet4");
	assert_string_equal(imported.sw.ports[3].name, "Ethernet12");
	assert_int_equal(sw->max_frame_bytes, 9122);
	assert_int_equal(sw->mmu.buffer_bytes, 34334464);
	assert_int_equal(sw->mmu.shared_headroom_pool_bytes, 1622016);
	assert_int_equal(sw->mmu.egress_lossy_pool_bytes, 24709632);
	assert_int_equal(sw->qos.dscp_to_tc_map[0], 1);
	assert_int_equal(sw->qos.dscp_to_tc_map[48], 6);
	assert_int_equal(sw->qos.pfc_enable, 0x18);
	assert_int_equal(sw->sched.dwrr_weight[3], 15);
	assert_int_equal(sw->sched.dwrr_weight[6], 14);
	assert_int_equal(sw->mmu.lossless.xoff_bytes, 160000);
	assert_int_equal(sw->mmu.lossy.dynamic_th, 3);
	assert_int_equal(sw->mmu.egress_lossy.size_bytes, 1792);
	assert_int_equal(sw->mmu.n_profiles, 1);
	assert_int_equal(own->xoff_bytes, 204800);
	assert_int_equal(own->dynamic_th, -1);
	assert_string_equal(sw->pgs[3][4].buffer_profile, "pg_lossless_100000_300m_profile");
	assert_string_equal(sw->queues[2][3].wred_profile, "AZURE_LOSSLESS");
	assert_int_equal(sw->wred_profiles[0].params.green_drop_probability_ppm, 50000);
	/* pir counts bytes a second, and is of port 0's queue alone. */
	assert_int_equal(sw->queues[0][6].max_rate_bps, 1 * GBPS);
	assert_int_equal(sw->queues[1][6].max_rate_bps, 0);
	assert_int_equal(sw->ports[3].cable_length_m, 300);
	assert_int_equal(sw->pfcwd.pfcwd, PFCWD_SONIC);
	assert_int_equal(sw->pfcwd.poll_interval_ns, 200 * NS_PER_MS);
	assert_int_equal(sw->ports[3].pfcwd_action, 1 + PFCWD_ALERT);
	assert_int_equal(sw->ports[3].pfcwd_detection_time_ns, 400 * NS_PER_MS);
	assert_int_equal(sw->ports[3].pfcwd_restoration_time_ns, NEVER_NS);
}

TEST(references_in_brackets_and_lists_of_ports_are_read)
{
	taken(import_sonic, fixture("sonic-brackets.json"), 0);
	assert_int_equal(sw->qos.pfc_enable, 1 << 3);
	assert_int_equal(sw->sched.strict_queues, 1 << 6);
	assert_int_equal(sw->sched.dwrr_weight[3], 20);
	assert_string_equal(sw->queues[1][3].wred_profile, "AZURE_LOSSLESS");
	assert_int_equal(sw->mmu.lossy_pool_bytes, 2000000);
	assert_int_equal(sw->mmu.buffer_bytes, 14000000);
	assert_true(sw->ports[1].pfc_asymmetric);
	/* 40G, 5 m, 9122 bytes: two frames with gaps, the pause, the cable, 118 quanta. */
	noted("2 lossless groups without their own profile have no headroom: assumed 36000 bytes");
	noted("DSCP_TO_TC_MAP|AZURE: missing keys map to 0");
}

/* As in the tables of a vendor: profiles of 0 bytes, and NULL for groups that SONiC computes. */
TEST(no_lossless_group_is_without_headroom)
{
	taken(import_sonic,
	      tables("'PORT_QOS_MAP': {'Ethernet0,Ethernet4': {'pfc_enable': '3,4'}}, "
		     "'CABLE_LENGTH': {'AZURE': {'Ethernet0': '5m', 'Ethernet4': '300m'}}, "
		     "'BUFFER_PROFILE': {'ingress_lossless_profile': {'size': '0', 'dynamic_th': '7'}, "
		     "'own': {'size': '0', 'xoff': '0', 'dynamic_th': '0'}}, "
		     "'BUFFER_PG': {'Ethernet0|3-4': {'profile': 'NULL'}, "
		     "'Ethernet4|3': {'profile': 'NULL'}, 'Ethernet4|4': {'profile': 'own'}}"),
	      0);
	noted("BUFFER_PG: 3 lossless groups without their own profile have no headroom: assumed");
	noted("BUFFER_PG: 1 lossless groups of own have no headroom: assumed");
	for (uint16_t port = 0; port < 2; port++) {
		for (uint8_t pg = 3; pg <= 4; pg++)
			assert_true(mmu_pg_profile(&sw->mmu, port, pg)->xoff_bytes >=
				    sw_port_headroom(sw, port).total_bytes);
	}
	/* The 300 m count for both: they share a profile. */
	assert_int_equal(sw->mmu.lossless.xoff_bytes, sw->mmu.profiles[0].xoff_bytes);
}

TEST(ports_have_the_priorities_that_they_name)
{
	taken(import_sonic,
	      tables("'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '3,4'}, 'Ethernet4': {}}"), 0);
	assert_int_equal(sw->qos.pfc_enable, 0x18);
	assert_int_equal(sw->ports[0].flow_control, SW_FLOW_PFC);
	assert_int_equal(sw->ports[1].flow_control, SW_FLOW_OFF);
	assert_false(sw->ports[1].classes.own_pfc_enable);
	taken(import_sonic,
	      tables("'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '3,4'}, 'Ethernet4': "
		     "{'pfc_enable': '3'}}"),
	      0);
	assert_int_equal(sw_port_qos(sw, 0).pfc_enable, 0x18);
	assert_int_equal(sw_port_qos(sw, 1).pfc_enable, 0x8);
	assert_int_equal(sw->mmu.lossless_pgs[0], 0x18);
	assert_int_equal(sw->mmu.lossless_pgs[1], 0x8);
}

TEST(ports_have_the_maps_that_they_name)
{
	taken(import_sonic,
	      tables("'DSCP_TO_TC_MAP': {'A': {'1': '1'}, 'B': {'1': '2'}, 'C': {'1': '3'}}, "
		     "'TC_TO_PRIORITY_GROUP_MAP': {'P': {'5': '4', '6': '3'}}, "
		     "'DOT1P_TO_TC_MAP': {'D': {'7': '5'}}, "
		     "'PORT_QOS_MAP': {'Ethernet4': {'dscp_to_tc_map': 'B', 'tc_to_pg_map': 'P'}, "
		     "'global': {'dscp_to_tc_map': 'A'}, 'Ethernet0': {'dot1p_to_tc_map': 'D'}}"),
	      1);
	lost("DSCP_TO_TC_MAP|C: no port has this map");
	assert_int_equal(sw_port_qos(sw, 0).dscp_to_tc_map[1], 1);
	assert_int_equal(sw_port_qos(sw, 1).dscp_to_tc_map[1], 2);
	assert_true(sw->ports[1].classes.own_dscp_to_tc_map);
	assert_false(sw->ports[0].classes.own_dscp_to_tc_map);
	assert_int_equal(sw_port_qos(sw, 0).dot1p_to_tc_map[7], 5);
	assert_int_equal(sw_port_qos(sw, 0).trust, QOS_TRUST_DSCP); /* its map is the global one */
	taken(import_sonic,
	      tables("'DSCP_TO_TC_MAP': {'A': {'1': '1'}}, 'DOT1P_TO_TC_MAP': {'D': {'7': '5'}}, "
		     "'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': 'A'}, "
		     "'Ethernet4': {'dot1p_to_tc_map': 'D'}}"),
	      0);
	assert_int_equal(sw_port_qos(sw, 0).trust, QOS_TRUST_DSCP);
	assert_int_equal(sw_port_qos(sw, 1).trust, QOS_TRUST_PCP);
}

TEST(a_class_above_seven_is_the_same_class_on_all_ports)
{
	taken(import_sonic,
	      tables("'DSCP_TO_TC_MAP': {'A': {'1': '8', '2': '1'}, 'B': {'1': '2'}}, "
		     "'TC_TO_QUEUE_MAP': {'Q': {'8': '2', '2': '2', '1': '1'}, "
		     "'R': {'8': '3', '2': '2', '1': '1'}}, "
		     "'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': 'A', 'tc_to_queue_map': 'Q'}, "
		     "'Ethernet4': {'dscp_to_tc_map': 'B', 'tc_to_queue_map': 'R'}}"),
	      0);
	/* On Ethernet0 class 8 is as class 2, on Ethernet4 it is not: no packet has class 7. */
	noted("class 8 is class 7");
	assert_int_equal(sw_port_qos(sw, 0).dscp_to_tc_map[1], 7);
	assert_int_equal(sw_port_qos(sw, 0).tc_to_queue_map[7], 2);
	assert_int_equal(sw_port_qos(sw, 1).tc_to_queue_map[7], 3);
}

TEST(blanks_and_queues_above_seven_of_vendors_are_taken)
{
	taken(import_sonic,
	      tables("'TC_TO_QUEUE_MAP': {'Q': {'6': ' 8', '1': ' 1 '}}, "
		     "'PORT_QOS_MAP': {'Ethernet0': {'tc_to_queue_map': 'Q'}}"),
	      0);
	noted("TC_TO_QUEUE_MAP|Q|6 = 8: queue 7, the highest one");
	assert_int_equal(sw->qos.tc_to_queue_map[6], 7);
	assert_int_equal(sw->qos.tc_to_queue_map[1], 1);
}

TEST(queues_have_the_schedulers_of_their_ports)
{
	taken(import_sonic,
	      tables("'SCHEDULER': {'a': {'type': 'DWRR', 'weight': '7'}, 'b': {'type': "
		     "'STRICT'}}, "
		     "'QUEUE': {'Ethernet0|1': {'scheduler': 'a'}, 'Ethernet4|0-1': {'scheduler': "
		     "'b'}}"),
	      0);
	assert_int_equal(sw->sched.strict_queues, 0);
	assert_int_equal(sw_port_sched(sw, 0).dwrr_weight[1], 7);
	assert_int_equal(sw_port_sched(sw, 1).strict_queues, 3);
}

TEST(dot1p_alone_is_what_is_trusted)
{
	taken(import_sonic,
	      tables("'DOT1P_TO_TC_MAP': {'A': {'5': '2'}}, 'PORT_QOS_MAP': {'global': "
		     "{'dot1p_to_tc_map': 'A'}}"),
	      0);
	assert_int_equal(sw->qos.trust, QOS_TRUST_PCP);
	assert_int_equal(sw->qos.dot1p_to_tc_map[5], 2);
}

TEST(green_is_the_only_colour)
{
	static const struct {
		const char *word;
		int ecn;
	} words[] = {{"ecn_all", WRED_ECN_ALL},
		     {"ecn_green_red", WRED_ECN_ALL},
		     {"ecn_yellow", WRED_ECN_NONE},
		     {"ecn_none", WRED_ECN_NONE}};
	char text[256];

	for (unsigned int i = 0; i < ARRAY_LEN(words); i++) {
		snprintf(text, sizeof(text), "'WRED_PROFILE': {'W': {'ecn': '%s'}}", words[i].word);
		taken(import_sonic, tables(text), 0);
		assert_int_equal(sw->wred_profiles[0].params.ecn, words[i].ecn);
		assert_false(sw->wred_profiles[0].params.wred_green_enable);
	}
}

TEST(ecn_without_wred_marks_and_drops_nothing)
{
	const struct wred_params *p = &sw->wred_profiles[0].params;
	struct wred w;

	taken(import_sonic,
	      tables("'WRED_PROFILE': {'W': {'wred_green_enable': 'false', 'ecn': 'ecn_all', "
		     "'green_min_threshold': '1000', 'green_max_threshold': '2000', "
		     "'green_drop_probability': '5'}}"),
	      0);
	noted("WRED_PROFILE|W|wred_green_enable = false: ecn_green_* marks");
	wred_init(&w, p);
	assert_true(w.enabled);
	assert_int_equal(wred_curve_q32(&w.mark, 999), 0);
	assert_int_equal(wred_curve_q32(&w.mark, 2001), Q32_ONE);
	assert_int_equal(wred_curve_q32(&w.drop, 1u << 30), 0);
}

TEST(classes_above_7_have_a_class_of_the_same_queue_and_group)
{
	static const char maps[] =
		"'DSCP_TO_TC_MAP': {'A': {'1': '8', '2': '9', '3': '3', '4': '4'}}, "
		"'TC_TO_QUEUE_MAP': {'A': {'0': '0', '1': '1', '2': '2', '3': '3', '4': '4', '5': '5', "
		"'6': '6', '7': '7', '8': '1', '9': '2'}}, "
		"'TC_TO_PRIORITY_GROUP_MAP': {'A': {'0': '0', '1': '0', '2': '2', '3': '3', '4': '4', "
		"'5': '0', '6': '6', '7': '7', '8': '0', '9': '0'}}, "
		"'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': 'A', 'tc_to_queue_map': 'A', "
		"'tc_to_pg_map': 'A', 'pfc_enable': '3,4'}}";

	taken(import_sonic, tables(maps), 0);
	/* Class 8 is class 1. Class 9 is class 7, which no packet had. */
	assert_int_equal(sw->qos.dscp_to_tc_map[1], 1);
	assert_int_equal(sw->qos.dscp_to_tc_map[2], 7);
	assert_int_equal(sw->qos.tc_to_queue_map[7], 2);
	assert_int_equal(sw->qos.tc_to_priority_group_map[7], 0);
	noted("class 8 is class 1");
	noted("class 9 is class 7");
	taken(import_sonic,
	      tables("'DSCP_TO_TC_MAP': {'A': {'0': '0', '1': '1', '2': '2', '3': '3', '4': '4', '5': "
		     "'5', '6': '6', '7': '7', '8': '8'}}, 'TC_TO_QUEUE_MAP': {'A': {'0': '0', '1': "
		     "'1', '2': '2', '3': '3', '4': '4', '5': '5', '6': '6', '7': '7', '8': '7'}}, "
		     "'TC_TO_PRIORITY_GROUP_MAP': {'A': {'8': '5'}}, 'PORT_QOS_MAP': {'Ethernet0': "
		     "{'dscp_to_tc_map': 'A', 'tc_to_queue_map': 'A', 'tc_to_pg_map': 'A'}}"),
	      1);
	lost("class 8 is class 0: there are eight classes");
}

/* As in templates of vendors. */
TEST(pools_have_other_names_and_other_sizes)
{
	taken(import_sonic,
	      tables("'BUFFER_POOL': {'p1': {'type': 'ingress', 'size': '100000 '}, 'p2': {'type': "
		     "'ingress', 'size': '50000'}, 'lossy_pool': {'type': 'egress', 'size': '70000'}}, "
		     "'BUFFER_PROFILE': {'ingress_lossless_profile': {'pool': '[BUFFER_POOL|p1]', "
		     "'size': '4000', 'xoff': '30000', 'dynamic_th': '0'}, 'ingress_lossy_profile': "
		     "{'pool': 'p2', 'size': '0', 'dynamic_th': '3'}}, 'PORT_QOS_MAP': {'Ethernet0': "
		     "{'pfc_enable': '3,4'}}"),
	      0);
	assert_int_equal(sw->mmu.lossy_pool_bytes, 50000);
	assert_int_equal(sw->mmu.egress_lossy_pool_bytes, 70000);
	/* Two groups of two ports. */
	noted("buffer_bytes is their 150000 + 136000");
	assert_int_equal(sw->mmu.buffer_bytes, 286000);
}

TEST(a_priority_without_a_group_gets_its_own)
{
	taken(import_sonic,
	      tables("'TC_TO_PRIORITY_GROUP_MAP': {'A': {'4': '1'}}, 'PORT_QOS_MAP': {'Ethernet0': "
		     "{'pfc_enable': '4', 'tc_to_pg_map': 'A'}}"),
	      0);
	assert_int_equal(sw->qos.tc_to_priority_group_map[4], 4);
	noted("class 4 has group 4 in place of 1");
}

TEST(of_many_ports_some_are_chosen)
{
	char text[4096] = "{\"PORT\": {", keys[2048] = "";

	for (unsigned int i = 0; i < 66; i++) {
		snprintf(text + strlen(text), 64, "%s\"Ethernet%u\": {}", i > 0 ? "," : "", 4 * i);
		snprintf(keys + strlen(keys), 32, "%sEthernet%u", i > 0 ? "," : "", 4 * i);
	}
	snprintf(text + strlen(text), sizeof(keys) + 512,
		 "}, \"PORT_QOS_MAP\": {\"%s\": {\"pfc_enable\": \"3\"}}, \"QUEUE\": "
		 "{\"Ethernet260|1\": {\"scheduler\": \"gone\"}}, \"CABLE_LENGTH\": {\"A\": "
		 "{\"Ethernet260\": \"7m\"}}}",
		 keys);
	taken(import_sonic, text, 1);
	lost("Ethernet256, the first of 2 more ports: a switch has at most 64");
	assert_int_equal(sw->n_ports, 64);
	ports_of = "Ethernet4-8,256";
	taken(import_sonic, text, 0);
	ports_of = NULL;
	assert_int_equal(sw->n_ports, 3);
	assert_string_equal(imported.sw.ports[2].name, "Ethernet256");
	assert_int_equal(sw->qos.pfc_enable, 1 << 3);
	assert_int_equal(sw->ports[2].flow_control, SW_FLOW_PFC);
}

TEST(equal_losses_share_a_line)
{
	char text[2048] = "'PFC_WD': {";

	for (unsigned int i = 0; i < 9; i++)
		snprintf(text + strlen(text), 64, "%s'Ethernet%u': {}", i > 0 ? ", " : "", 100 + i);
	strcat(text, "}");
	taken(import_sonic, tables(text), 1);
	lost("PFC_WD|Ethernet100,Ethernet101 and 7 more: no such port in PORT");
}

TEST(vlans_addresses_and_routes_are_those_of_the_tables)
{
	const struct sw_tables *t = &sw->tables;

	taken(import_sonic,
	      tables("'VLAN': {'Vlan10': {'vlanid': '10', 'members': ['Ethernet0']}, 'Vlan20': {}}, "
		     "'VLAN_MEMBER': {'Vlan10|Ethernet0': {'tagging_mode': 'untagged'}, "
		     "'Vlan20|Ethernet0': {'tagging_mode': 'tagged'}}, "
		     "'VLAN_INTERFACE': {'Vlan10': {}, 'Vlan10|10.0.10.1/24': {}, "
		     "'Vlan10|fd00:10::1/64': {'NULL': 'NULL'}}, "
		     "'INTERFACE': {'Ethernet4': {}, 'Ethernet4|10.0.33.0/31': {'scope': 'global', "
		     "'family': 'IPv4'}}, "
		     "'DEVICE_METADATA': {'localhost': {'mac': '02:00:00:00:00:AA'}}, "
		     "'STATIC_ROUTE': {'10.9.0.0/16': {'nexthop': '10.0.33.1,10.0.10.2', "
		     "'ifname': 'Ethernet4,Vlan10', 'distance': '0,0', 'blackhole': 'false,false'}, "
		     "'default|10.8.0.0/16': {'blackhole': 'true'}, "
		     "'Vrf1|10.7.0.0/16': {'nexthop': '10.0.33.1'}, "
		     "'fd00:9::/32': {'nexthop': 'fd00:10::2,fd00:10::3', 'distance': '10,5'}}"),
	      2);
	lost("STATIC_ROUTE|Vrf1|10.7.0.0/16: in a VRF");
	lost("STATIC_ROUTE|fd00:9::/32|nexthop = fd00:10::2: another next hop has a smaller");
	assert_true(sw->vlan_filtering);
	assert_int_equal(sw->ports[0].access_vlan, 10);
	assert_string_equal(sw->ports[0].tagged_vlans, "20");
	assert_int_equal(sw->ports[1].access_vlan, 0);
	assert_int_equal(sw->router.router_mac[5], 0xaa);
	assert_int_equal(t->n_interfaces, 2);
	assert_string_equal(t->interfaces[0].name, "vlan 10");
	assert_string_equal(t->interfaces[0].ip6, "fd00:10::1/64");
	assert_string_equal(t->interfaces[1].name, "port 1");
	assert_int_equal(t->n_routes, 3);
	assert_string_equal(t->routes[0].nexthop, "10.0.33.1, 10.0.10.2");
	assert_string_equal(t->routes[1].nexthop, "blackhole");
	assert_string_equal(t->routes[2].nexthop, "fd00:10::3");
}

TEST(a_port_channel_of_sonic_is_its_first_port)
{
	taken(import_sonic,
	      tables("'VLAN': {'Vlan5': {}}, "
		     "'PORTCHANNEL_MEMBER': {'PortChannel1|Ethernet4': {}, "
		     "'PortChannel1|Ethernet0': {}, 'PortChannel1|Ethernet8': {}}, "
		     "'VLAN_MEMBER': {'Vlan5|PortChannel1': {'tagging_mode': 'tagged'}, "
		     "'Vlan6|PortChannel1': {}, 'Vlan5|Ethernet8': {}}, "
		     "'PORTCHANNEL_INTERFACE': {'PortChannel1|10.0.0.1/31': {}}"),
	      6);
	lost("PORTCHANNEL_MEMBER|PortChannel1|Ethernet0: no link aggregation: the port alone");
	lost("VLAN_MEMBER|Vlan6|PortChannel1: no such VLAN");
	lost("VLAN_MEMBER|Vlan5|Ethernet8: no such port");
	assert_string_equal(sw->ports[0].tagged_vlans, "5");
	assert_string_equal(sw->ports[1].tagged_vlans, "none");
	lost("PORTCHANNEL_INTERFACE|PortChannel1|10.0.0.1/31: the port is in a VLAN");
	taken(import_sonic,
	      tables("'PORTCHANNEL_MEMBER': {'PortChannel1|Ethernet4': {}}, "
		     "'PORTCHANNEL_INTERFACE': {'PortChannel1|10.0.0.1/31': {}}"),
	      1);
	assert_string_equal(sw->tables.interfaces[0].name, "port 1");
}

TEST(headroom_without_pfc_stays_behind)
{
	taken(import_sonic,
	      tables("'BUFFER_PROFILE': {'p': {'size': '0', 'xoff': '1000', 'dynamic_th': '0'}}, "
		     "'BUFFER_PG': {'Ethernet0|3': {'profile': 'p'}}"),
	      1);
	lost("BUFFER_PG|Ethernet0|3|profile = p: has headroom");
	assert_string_equal(sw->pgs[0][3].buffer_profile, SW_PROFILE_DEFAULT);
}

TEST(places_that_there_are_not_stay_behind)
{
	taken(import_sonic,
	      tables("'QUEUE': {'Ethernet0|8': {}, 'CPU|1': {}}, 'PFC_WD': {'Ethernet8': {}}"), 3);
	lost("QUEUE|Ethernet0|8: numbers from 0 to 7");
	lost("QUEUE|CPU|1: no such port");
	assert_int_equal(sw->pfcwd.pfcwd, PFCWD_OFF);
}

/* What nobody asked for is named, wherever it stands. */
TEST(an_unknown_word_is_lost_wherever_it_stands)
{
	static const char *const names[] = {
		"PORT_QOS_MAP",   "SCHEDULER", "QUEUE",        "WRED_PROFILE", "BUFFER_POOL",
		"BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "PFC_WD",       "VLAN"};
	static const char *const keys[] = {"Ethernet0", "x",    "Ethernet0|1", "x",
					   "x",         "x",    "Ethernet0|1", "Ethernet0|1",
					   "Ethernet0", "Vlan5"};
	char text[256];

	for (unsigned int i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(text, sizeof(text), "'%s': {'%s': {'mystery': '7'}}", names[i], keys[i]);
		taken(import_sonic, tables(text), 1);
		lost(names[i]);
	}
}

TEST(what_is_out_of_range_is_refused_with_its_path)
{
	static const struct refusal table[] = {
		{"'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '8'}}",
		 "in: PORT_QOS_MAP|Ethernet0|pfc_enable = 8: expected numbers from 0 to 7"},
		{"'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '3,'}}", "expected numbers"},
		{"'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': 'NONE'}}",
		 "expected the name of an entry of DSCP_TO_TC_MAP"},
		{"'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': '[QUEUE|A]'}}",
		 "expected the name of an entry of DSCP_TO_TC_MAP"},
		{"'DSCP_TO_TC_MAP': {'A': {'64': '1'}}, 'PORT_QOS_MAP': {'Ethernet0': "
		 "{'dscp_to_tc_map': 'A'}}",
		 "in: DSCP_TO_TC_MAP|A|64: expected a DSCP from 0 to 63"},
		{"'DSCP_TO_TC_MAP': {'A': {'1': '16'}}, 'PORT_QOS_MAP': {'Ethernet0': "
		 "{'dscp_to_tc_map': 'A'}}",
		 "in: DSCP_TO_TC_MAP|A|1 = 16: expected a whole number from 0 to 15"},
		{"'SCHEDULER': {'s': {'weight': '101'}}",
		 "in: SCHEDULER|s|weight = 101: expected a whole number from 1 to 100"},
		{"'SCHEDULER': {'s': {'type': 'FIFO'}}", "expected STRICT, DWRR or WRR"},
		{"'SCHEDULER': {'s': {'cir': '2', 'pir': '1'}}", "expected at most pir"},
		{"'QUEUE': {'Ethernet0|x': {}}",
		 "in: QUEUE|Ethernet0|x: expected a number or a range"},
		{"'QUEUE': {'Ethernet0|4-3': {}}", "expected a number or a range"},
		{"'WRED_PROFILE': {'W': {'ecn': 'maybe'}}", "WRED_PROFILE|W|ecn = maybe"},
		{"'WRED_PROFILE': {'W': {'green_drop_probability': '101'}}", "from 0 to 100"},
		{"'WRED_PROFILE': {'W': {'green_min_threshold': '2', 'green_max_threshold': '1'}}",
		 "expected at most green_max_threshold"},
		{"'WRED_PROFILE': {'W': {'wred_green_enable': 'yes'}}", "expected true or false"},
		{"'WRED_PROFILE': {'none': {}}", "expected a name of at most 40"},
		{"'BUFFER_POOL': {'ingress_lossless_pool': {'size': '-1'}}", "size = -1: expected"},
		{"'BUFFER_PROFILE': {'p': {'dynamic_th': '8'}}", "from -8 to 7"},
		{"'BUFFER_PROFILE': {'p': {'dynamic_th': '1', 'static_th': '1'}}",
		 "one of static_th and dynamic_th"},
		{"'BUFFER_PG': {'Ethernet0|3': {'profile': 'gone'}}",
		 "expected the name of an entry of BUFFER_PROFILE"},
		{"'PFC_WD': {'Ethernet0': {'action': 'panic'}}", "expected drop, forward or alert"},
		{"'PFC_WD': {'Ethernet0': {'detection_time': '0'}}", "from 1 to 60000"},
		{"'PFC_WD': {'GLOBAL': {'POLL_INTERVAL': '500'}, 'Ethernet0': {'detection_time': "
		 "'200'}}",
		 "in: PFC_WD|Ethernet0|detection_time = 200: expected at least POLL_INTERVAL, which "
		 "is 500"},
		{"'CABLE_LENGTH': {'A': {'Ethernet0': '5'}}", "expected metres from 0m"},
		{"'QUEUE': 7", "in: QUEUE: expected a table"},
		{"'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': [3]}}",
		 "expected a text or a number"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(table); i++)
		refused(import_sonic, tables(table[i].text), table[i].words);
}

TEST(what_is_no_config_db_is_refused)
{
	char cut[256];

	refused(import_sonic, "", "expected a complete config_db.json");
	refused(import_sonic, "[]", "expected a config_db.json");
	refused(import_sonic, "{\"VLAN\": {}}", "expected a config_db.json");
	refused(import_sonic, "hostname leaf-1\n", "in:1: ");
	refused(import_sonic, "{\"PORT\": {}}", "expected at least one port");
	refused(import_sonic, "{\"PORT\": {\"a\": {}, \"a\": {}}}", "duplicate");
	/* Every beginning of a good one. */
	snprintf(cut, sizeof(cut), "%.255s", tables(""));
	for (size_t n = strlen(cut) - 1; n > 0; n--) {
		cut[n] = '\0';
		refused(import_sonic, cut, "complete");
	}
}

TEST(equal_input_gives_equal_output)
{
	/* Sections of one port go over those of all. */
	printed_again_the_same(import_sonic, "sonic-tor.json", 0, "sonic-brackets.json", 0,
			       "[queue 1|6]\nmax_rate_bps = 0\n");
}

TEST_MAIN()
