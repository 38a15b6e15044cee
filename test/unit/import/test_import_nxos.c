/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/import/import_test.h"

#include "base/numbers/array.h"
#include "base/numbers/units.h"

#define PORT "interface Ethernet1/1\n  speed 40000\n"
#define CLASS(name, match) "class-map type qos match-any " name "\n  match " match "\n"
#define BOUND "interface Ethernet1/1\n  speed 40000\n  service-policy type qos input P\n"
#define QUEUING(lines)                                                                             \
	"policy-map type queuing Q\n  class type queuing c-out-8q-q3\n" lines                      \
	"system qos\n  service-policy type queuing output Q\n" PORT
#define NETWORK(lines)                                                                             \
	"policy-map type network-qos N\n  class type network-qos c-8q-nq3\n" lines                 \
	"system qos\n  service-policy type network-qos N\n" PORT

static const struct sw_params *sw = &imported.sw;

TEST(a_rocev2_policy_becomes_its_switch)
{
	taken(import_nxos, fixture("nxos-rocev2.txt"), 0);
	assert_int_equal(sw->n_ports, 1);
	assert_string_equal(imported.sw.ports[0].name, "Ethernet2/24");
	assert_int_equal(sw->qos.dscp_to_tc_map[24], 3);
	assert_int_equal(sw->qos.dscp_to_tc_map[48], 7);
	assert_int_equal(sw->qos.dscp_to_tc_map[26], 0);
	assert_int_equal(sw->qos.pfc_enable, 1 << 3);
	assert_int_equal(sw->sched.strict_queues, 1 << 7);
	assert_int_equal(sw->sched.dwrr_weight[3], 50);
	assert_int_equal(sw->sched.dwrr_weight[6], 1);
	assert_int_equal(sw->wred_queues, 1 << 3);
	assert_int_equal(sw->wred.green_min_threshold_bytes, 150000);
	assert_int_equal(sw->wred.green_max_threshold_bytes, 3000000);
	assert_int_equal(sw->wred.green_drop_probability_ppm, 70000);
	assert_int_equal(sw->wred.ecn, WRED_ECN_ALL);
	assert_int_equal(sw->tcs[3].mtu_bytes, 9216);
	assert_int_equal(sw->max_frame_bytes, 9238);
	assert_int_equal(sw->pfcwd.pfcwd, PFCWD_NXOS);
	assert_true(sw->ports[0].pfcwd);
	assert_int_equal(sw->ports[0].flow_control, SW_FLOW_AUTO);
	assert_true(sw->lldp.lldp);
	/* 802.3's response time, two frames, the pause frame and 5 m there and back, at 100G. */
	assert_int_equal(sw->mmu.lossless.xoff_bytes, 54000);
	noted("link_speed_bps = 100G is assumed");
}

TEST(a_whole_running_config_names_what_stays_behind)
{
	taken(import_nxos, fixture("nxos-leaf.txt"), 10);
	aside("version, hostname, no feature, description, interface mgmt0 (2)");
	lost("set dscp 46");
	lost("queue-limit dynamic 6: only its priority group");
	lost("match-all");
	assert_int_equal(sw->n_ports, 4);
	assert_string_equal(imported.sw.ports[3].name, "Ethernet1/4/1");
	assert_int_equal(sw->ports[3].link_speed_bps, 25 * GBPS);
	assert_int_equal(sw->ports[2].flow_control, SW_FLOW_OFF);
	assert_false(sw->ports[1].pfcwd);
	assert_int_equal(sw->ports[0].pfcwd_interface_multiplier, 4);
	assert_int_equal(sw->ports[3].pfcwd_action, 1 + PFCWD_ALERT);
	assert_int_equal(sw->qos.dscp_to_tc_map[46], 5);
	assert_int_equal(sw->qos.dscp_to_tc_map[26], 3);
	assert_int_equal(sw->qos.dscp_to_tc_map[28], 3);
	/* Group 3 has PFC priority 4. */
	assert_int_equal(sw->qos.pfc_enable, 1 << 4);
	assert_int_equal(sw->qos.tc_to_priority_group_map[3], 4);
	assert_int_equal(sw->qos.pfc_priority_to_queue_map[4], 3);
	assert_int_equal(sw->wred_queues, 1 << 3);
	assert_int_equal(sw->n_wred_profiles, 1);
	assert_string_equal(sw->queues[2][1].wred_profile, sw->wred_profiles[0].name);
	assert_int_equal(sw->wred_profiles[0].params.ecn, WRED_ECN_NONE);
	assert_int_equal(sw->queues[0][1].max_rate_bps, 10 * GBPS);
	assert_int_equal(sw->pfcwd.watch_dog_interval_ns, 200 * NS_PER_MS);
}

/* A line is carried over or lost, never neither: one more of either kind is seen in the count. */
TEST(an_unknown_line_is_lost_wherever_it_stands)
{
	static const char *const texts[] = {
		"vlan 12\n  vn-segment 12\n" PORT,
		PORT "  switchport mode dot1q-tunnel\n",
		"system qos\n  shape nothing\n" PORT,
		"class-map type qos match-any A\n  match dscp 1\n" PORT "\n! a remark\n", /* 2 */
		QUEUING("    mystery 7\n"),
		NETWORK("    mystery 7\n"),
		CLASS("A",
		      "dscp 1") "policy-map type qos P\n  class A\n    police cir 1 gbps\n" BOUND,
		CLASS("A", "protocol arp") "policy-map type qos P\n  class A\n    set qos-group "
					   "2\n" BOUND,
	};

	for (unsigned int i = 0; i < ARRAY_LEN(texts); i++)
		taken(import_nxos, texts[i], i == 3 ? 2 : 1);
}

static void
port_is(uint16_t port, uint16_t access_vlan, const char *tagged_vlans)
{
	assert_int_equal(sw->ports[port].access_vlan, access_vlan);
	assert_string_equal(sw->ports[port].tagged_vlans, tagged_vlans);
}

TEST(access_and_trunk_ports_have_their_vlans)
{
	taken(import_nxos,
	      "vlan 1,10,20-29\nvlan 10\n  name servers\n"
	      "interface Ethernet1/1\n  switchport access vlan 10\n"
	      "interface Ethernet1/2\n  switchport\n  switchport mode trunk\n"
	      "  switchport trunk native vlan 10\n  switchport trunk allowed vlan 10,20-25,99\n"
	      "  switchport trunk allowed vlan add 29\n"
	      "interface Ethernet1/3\n  switchport mode trunk\n"
	      "interface Ethernet1/4\n  switchport mode trunk\n"
	      "  switchport trunk allowed vlan except 1,21-4094\n"
	      "interface Ethernet1/5\n  speed 40000\n"
	      "interface Ethernet1/6\n  no switchport\n"
	      "interface Ethernet1/7\n  switchport mode trunk\n"
	      "  switchport trunk allowed vlan none\n",
	      0);
	assert_true(sw->vlan_filtering);
	port_is(0, 10, "none");
	port_is(1, 10, "20-25,29"); /* 99 is no VLAN of the switch */
	port_is(2, 1, "10,20-29");
	port_is(3, 0, "10,20");
	port_is(4, 1, "none");
	port_is(5, 0, "none");
	port_is(6, 0, "none");
	assert_int_equal(sw->tables.n_interfaces, 0);
	/* Nothing about VLANs: a bridge of all ports, as before. */
	taken(import_nxos, PORT, 0);
	assert_false(sw->vlan_filtering);
}

/* A part of a file may lack its vlan lines. */
TEST(vlans_that_a_trunk_names_exist)
{
	taken(import_nxos, PORT "  switchport mode trunk\n  switchport trunk allowed vlan 5-6\n",
	      0);
	port_is(0, 0, "5-6");
	taken(import_nxos,
	      "interface Vlan7\n  ip address 10.0.7.1/24\n" PORT "  switchport mode trunk\n", 0);
	port_is(0, 1, "7");
}

TEST(interfaces_have_addresses_and_routes_go_by_them)
{
	const struct sw_tables *t = &sw->tables;

	taken(import_nxos,
	      "feature interface-vlan\nvlan 10\n"
	      "interface Vlan10\n  no shutdown\n  ip address 10.0.10.1/24\n"
	      "  ipv6 address fd00:10::1/64\n"
	      "interface vlan 20\n  shutdown\n  ip address 10.0.20.1/24\n"
	      "interface Ethernet1/1\n  no switchport\n  ip address 10.0.33.1 255.255.255.252\n"
	      "interface Ethernet1/2\n  no switchport\n  ip address 10.0.37.1/30\n"
	      "ip route 10.9.1.1/16 10.0.33.2 name up tag 5\n"
	      "ip route 10.9.0.0 255.255.0.0 Ethernet1/2 10.0.37.2\n"
	      "ip route 10.9.0.0/16 10.0.10.9 200\n"
	      "ip route 10.8.0.0/16 null0\n"
	      "ipv6 route fd00:9::/32 fd00:10::9\n"
	      "ip route 0.0.0.0/0 192.0.2.1\n",
	      5);
	lost("ip address 10.0.20.1/24: the interface is shut down");
	lost("ip route 10.9.0.0/16 10.0.10.9 200: a route of this prefix has a better preference");
	lost("ip route 0.0.0.0/0 192.0.2.1: the next hop is in no subnet");
	noted("router_mac = 02:5a:00:00:00:fe is assumed");
	assert_int_equal(t->n_interfaces, 3);
	assert_string_equal(t->interfaces[0].name, "vlan 10");
	assert_string_equal(t->interfaces[0].ip, "10.0.10.1/24");
	assert_string_equal(t->interfaces[0].ip6, "fd00:10::1/64");
	assert_string_equal(t->interfaces[1].name, "port 0");
	assert_string_equal(t->interfaces[1].ip, "10.0.33.1/30");
	assert_int_equal(t->n_routes, 3);
	assert_string_equal(t->routes[0].name, "10.9.0.0/16");
	assert_string_equal(t->routes[0].nexthop, "10.0.33.2, 10.0.37.2");
	assert_string_equal(t->routes[1].nexthop, "blackhole");
	assert_string_equal(t->routes[2].name, "fd00:9::/32");
}

TEST(routes_that_an_interface_decides_are_named)
{
	taken(import_nxos,
	      "feature interface-vlan\nvlan 10,20\n"
	      "interface Vlan10\n  no shutdown\n  ip address 10.0.10.1/24\n"
	      "interface Vlan20\n  no shutdown\n  ip address 10.0.20.1/24\n" PORT
	      "ip route 10.0.20.0/24 10.0.10.3\n"
	      "ip route 10.0.10.1/32 10.0.20.9\n"
	      "ip route 10.1.0.0/16 10.0.20.1\n"
	      "ip route 10.2.0.0/16 10.0.20.255\n",
	      4);
	lost("ip route 10.0.20.0/24 10.0.10.3: an interface has this prefix");
	lost("ip route 10.0.10.1/32 10.0.20.9: an interface has this prefix");
	lost("ip route 10.1.0.0/16 10.0.20.1: the next hop is the switch itself or a broadcast");
	lost("ip route 10.2.0.0/16 10.0.20.255: the next hop is the switch itself or a broadcast");
	assert_int_equal(sw->tables.n_routes, 0);
}

TEST(addresses_that_a_switch_cannot_have_are_named)
{
	taken(import_nxos,
	      PORT "  vrf member blue\n  ip address 10.0.0.1/24\n"
		   "interface Vlan2\n  ip address 10.0.1.1/24\n  ip address 10.0.2.1/24 secondary\n"
		   "interface Vlan3\n  ip address 10.0.1.129/25\n  ip address dhcp\n"
		   "interface Vlan4\n  ipv6 address fe80::1/64\n",
	      6);
	lost("ip address 10.0.0.1/24: in a VRF");
	lost("10.0.2.1/24 secondary: a second address");
	lost("10.0.1.129/25: its subnet overlaps");
	lost("ip address dhcp");
	lost("fe80::1/64: a link-local address");
	assert_int_equal(sw->tables.n_interfaces, 1);
}

TEST(a_port_channel_is_its_first_port)
{
	taken(import_nxos,
	      "vlan 5\ninterface Ethernet1/1-2\n  channel-group 7 mode active\n"
	      "interface Ethernet1/3\n  switchport access vlan 5\n"
	      "interface Ethernet1/4\n  switchport mode trunk\n  channel-group 8\n"
	      "interface port-channel7\n  no switchport\n  ip address 10.0.0.1/31\n"
	      "interface port-channel 8\n  switchport mode trunk\n"
	      "interface port-channel9\n  switchport mode trunk\n",
	      4);
	lost("channel-group 7 mode active: no link aggregation");
	lost("switchport mode trunk: no port is in this port-channel");
	port_is(0, 0, "none");
	port_is(1, 0, "none");
	port_is(2, 5, "none");
	port_is(3, 1, "5");
	assert_string_equal(sw->tables.interfaces[0].name, "port 0");
}

TEST(classes_are_taken_in_their_order)
{
	taken(import_nxos,
	      CLASS("A", "dscp 8-15,ef") CLASS("B", "dscp 10, 20")
		      CLASS("C", "precedence 7") "policy-map type qos P\n  class A\n    set "
						 "qos-group 1\n  class B\n    set "
						 "qos-group 2\n  class C\n    set qos-group 4\n  "
						 "class class-default\n    set "
						 "qos-group 5\n" BOUND,
	      0);
	assert_int_equal(sw->qos.dscp_to_tc_map[10], 1);
	assert_int_equal(sw->qos.dscp_to_tc_map[46], 1);
	assert_int_equal(sw->qos.dscp_to_tc_map[20], 2);
	assert_int_equal(sw->qos.dscp_to_tc_map[56], 4);
	assert_int_equal(sw->qos.dscp_to_tc_map[63], 4);
	assert_int_equal(sw->qos.dscp_to_tc_map[0], 5);
	assert_int_equal(sw->qos.dot1p_to_tc_map[3], 5);
}

TEST(classes_by_cos_alone_trust_the_pcp)
{
	taken(import_nxos,
	      CLASS("A", "cos 3-4") "policy-map type qos P\n  class A\n    set qos-group 3\n" BOUND,
	      0);
	assert_int_equal(sw->qos.trust, QOS_TRUST_PCP);
	assert_int_equal(sw->qos.dot1p_to_tc_map[4], 3);
	assert_int_equal(sw->qos.dot1p_to_tc_map[5], 0);
	taken(import_nxos,
	      CLASS("A", "cos 3") CLASS("B", "dscp 3") "policy-map type qos P\n  class A\n    set "
						       "qos-group 3\n  class B\n    set "
						       "qos-group 4\n" BOUND,
	      1);
	lost("match cos 3: in part");
	assert_int_equal(sw->qos.trust, QOS_TRUST_DSCP);
}

TEST(match_all_is_what_all_lines_share)
{
	static const char map[] = "class-map type qos match-all A\n  match dscp 8-15\n  match dscp "
				  "12-20\n";
	static const char mixed[] =
		"class-map type qos match-all A\n  match dscp 8\n  match cos 3\n";
	static const char policy[] =
		"policy-map type qos P\n  class A\n    set qos-group 2\n" BOUND;
	char text[512];

	snprintf(text, sizeof(text), "%s%s", map, policy);
	taken(import_nxos, text, 0);
	assert_int_equal(sw->qos.dscp_to_tc_map[11], 0);
	assert_int_equal(sw->qos.dscp_to_tc_map[12], 2);
	assert_int_equal(sw->qos.dscp_to_tc_map[15], 2);
	assert_int_equal(sw->qos.dscp_to_tc_map[16], 0);
	snprintf(text, sizeof(text), "%s%s", mixed, policy);
	taken(import_nxos, text, 5);
}

TEST(no_takes_back_what_stood_before)
{
	taken(import_nxos,
	      "priority-flow-control watch-dog-interval on\n"
	      "no priority-flow-control watch-dog-interval on\n" PORT
	      "  priority-flow-control mode on\n  no priority-flow-control mode\n",
	      0);
	assert_int_equal(sw->pfcwd.pfcwd, PFCWD_OFF);
	assert_int_equal(sw->ports[0].flow_control, SW_FLOW_AUTO);
	taken(import_nxos, "no vlan 12\033[2J\n" PORT, 1);
	lost("no vlan 12?[2J");
	lost("removes no line before it");
	taken(import_nxos,
	      "policy-map type queuing Q\n  class type queuing c-out-8q-q3\n    priority\nno "
	      "policy-map type queuing Q\n" PORT,
	      0);
}

TEST(a_block_that_is_opened_again_goes_on)
{
	taken(import_nxos,
	      CLASS("A", "dscp 1") CLASS(
		      "A",
		      "dscp 2") "policy-map type qos P\n  class A\n    set qos-group 2\n" BOUND PORT
				"  priority-flow-control mode off\n",
	      0);
	assert_int_equal(sw->n_ports, 1);
	assert_int_equal(sw->qos.dscp_to_tc_map[1], 2);
	assert_int_equal(sw->qos.dscp_to_tc_map[2], 2);
	assert_int_equal(sw->ports[0].flow_control, SW_FLOW_OFF);
}

/* Scripts have what show running-config has not. */
TEST(ranges_of_ports_remarks_and_exits_are_understood)
{
	taken(import_nxos,
	      CLASS("A", "dscp 26   ! RoCE") "exit\npolicy-map type qos P\n  class A\n    set "
					     "qos-group 3\n  exit\ninterface Ethernet 1/2-4\n  "
					     "speed 25000\n  priority-flow-control "
					     "mode on ! both ends\n  priority-flow-control "
					     "watch-dog-interval off\n  service-policy "
					     "type qos input P\ninterface Ethernet1/5\n  "
					     "description up ! down\nend\n",
	      0);
	aside("description");
	assert_int_equal(sw->n_ports, 4);
	assert_string_equal(imported.sw.ports[0].name, "Ethernet1/2");
	assert_string_equal(imported.sw.ports[2].name, "Ethernet1/4");
	assert_string_equal(imported.sw.ports[3].name, "Ethernet1/5");
	assert_int_equal(sw->ports[2].flow_control, SW_FLOW_PFC);
	assert_int_equal(sw->ports[2].link_speed_bps, 25 * GBPS);
	assert_int_equal(sw->ports[3].flow_control, SW_FLOW_AUTO);
	assert_int_equal(sw->qos.dscp_to_tc_map[26], 3);
	taken(import_nxos, "interface Ethernet1/1-65\ninterface Ethernet2/1-99999\n", 1);
	lost("Ethernet1/65, the first of 100000 more ports: a switch has at most 64; --ports");
	assert_int_equal(sw->n_ports, 64);
	taken(import_nxos, "interface Ethernet1/4-1\ninterface Ethernet1/x\n" PORT, 2);
}

TEST(ports_are_chosen)
{
	static const char text[] = "interface Ethernet1/1-88\n  speed 25000\n"
				   "interface Ethernet2/1\n  mystery 7\n";

	ports_of = "Ethernet1/3,1/5-6,88";
	taken(import_nxos, text, 0);
	assert_int_equal(sw->n_ports, 4);
	assert_string_equal(imported.sw.ports[1].name, "Ethernet1/5");
	assert_string_equal(imported.sw.ports[3].name, "Ethernet1/88");
	assert_int_equal(sw->ports[3].link_speed_bps, 25 * GBPS);
	noted("--ports leaves out Ethernet1/1 and others");
	ports_of = "2";
	taken(import_nxos, text, 0);
	assert_string_equal(imported.sw.ports[1].name, "Ethernet1/2");
	assert_int_equal(sw->n_ports, 2);
	ports_of = "Ethernet1/1,3/1";
	refused(import_nxos, text, "in: --ports Ethernet3/1: expected a port of the file");
	for (unsigned int i = 0; i < 6; i++) {
		ports_of =
			((const char *[]){"", "65", "0", "Ethernet", "Ethernet1/4-3", "1/1,,2"})[i];
		refused(import_nxos, text, "expected up to 64 ports of the file");
	}
	ports_of = NULL;
}

TEST(a_pause_buffer_is_limit_hysteresis_and_headroom)
{
	const struct buffer_profile *p = &sw->mmu.profiles[0];

	taken(import_nxos,
	      NETWORK("    pause buffer-size 101920 pause-threshold 67440 resume-threshold 40000 "
		      "pfc-cos 3\n"),
	      0);
	assert_int_equal(sw->mmu.pg_profile[0][3], 1);
	assert_false(p->dynamic);
	assert_int_equal(p->static_th_bytes, 67440);
	assert_int_equal(p->xon_offset_bytes, 27440);
	assert_int_equal(p->xoff_bytes, 34480);
}

TEST(queues_have_limits_shapers_and_shares)
{
	taken(import_nxos,
	      QUEUING("    queue-limit dynamic 9\n    shape min 1 gbps max 5000 mbps\n"), 0);
	assert_int_equal(sw->mmu.profiles[0].dynamic_th, 2);
	assert_int_equal(sw->mmu.queue_profile[0][3], 1);
	assert_int_equal(sw->queues[0][3].min_rate_bps, 1 * GBPS);
	assert_int_equal(sw->queues[0][3].max_rate_bps, 5 * GBPS);
	taken(import_nxos, QUEUING("    queue-limit 100 kbytes\n    bandwidth percent 30\n"), 0);
	assert_int_equal(sw->mmu.profiles[0].static_th_bytes, 100000);
	assert_int_equal(sw->sched.dwrr_weight[3], 30);
	assert_int_equal(sw->sched.dwrr_weight[0], 10);
	noted("queues without a bandwidth line: weight 10 each");
}

TEST(lines_of_a_curve_add_up)
{
	taken(import_nxos,
	      QUEUING("    random-detect ecn\n    random-detect minimum-threshold 1 kbytes "
		      "maximum-threshold 2 kbytes\n"),
	      0);
	assert_int_equal(sw->wred.ecn, WRED_ECN_ALL);
	assert_int_equal(sw->wred.green_max_threshold_bytes, 2000);
	assert_int_equal(sw->wred_queues, 1 << 3);
	taken(import_nxos, QUEUING("    random-detect ecn\n    random-detect weight 3\n"), 2);
	lost("random-detect ecn: the line gives no thresholds");
	assert_int_equal(sw->wred_queues, 0);
	/* A line counts whole or not at all. */
	taken(import_nxos,
	      QUEUING("    random-detect weight 3 cap-average\n    random-detect minimum-threshold "
		      "1 bytes maximum-threshold 2 bytes\n"),
	      1);
	assert_int_equal(sw->wred.wred_weight, 0);
	taken(import_nxos, QUEUING("    random-detect threshold burst-optimized ecn\n"), 1);
	lost("this word has no counterpart");
}

TEST(strict_queues_that_go_first_by_level_alone_are_named)
{
	static const char text[] =
		"policy-map type queuing Q\n  class type queuing c-out-8q-q7\n    priority level "
		"%d\n  class type queuing c-out-8q-q6\n    priority level %d\nsystem qos\n  "
		"service-policy type queuing output Q\n" PORT;
	char levels[512];

	snprintf(levels, sizeof(levels), text, 1, 2);
	taken(import_nxos, levels, 0);
	assert_int_equal(sw->sched.strict_queues, 0xc0);
	snprintf(levels, sizeof(levels), text, 2, 1);
	taken(import_nxos, levels, 1);
	lost("priority level 1: in part");
}

TEST(classes_of_the_users_own_go_by_their_group)
{
	taken(import_nxos,
	      "class-map type queuing MINE\n  match qos-group 5\npolicy-map type queuing Q\n  "
	      "class "
	      "type queuing MINE\n    priority\nsystem qos\n  service-policy type queuing output "
	      "Q\n" PORT,
	      0);
	assert_int_equal(sw->sched.strict_queues, 1 << 5);
}

#define OUTPUT(name, q3) "policy-map type queuing " name "\n  class type queuing c-out-8q-q3\n" q3

/* A policy of an interface replaces that of system qos. */
TEST(interfaces_have_the_queues_of_their_policies)
{
	taken(import_nxos,
	      OUTPUT("DOWN",
		     "    bandwidth percent 60\n    random-detect minimum-threshold 100 kbytes "
		     "maximum-threshold 200 kbytes ecn\n")
		      OUTPUT("UP",
			     "    bandwidth percent 80\n    random-detect minimum-threshold 1 mbytes "
			     "maximum-threshold 3 mbytes ecn\n    shape max 40 gbps\n")
			      OUTPUT("PLAIN",
				     "    priority\n  class type queuing c-out-8q-q1\n    "
				     "queue-limit 90 kbytes\n") "system qos\n  service-policy type "
								"queuing output DOWN\n"
								"interface Ethernet1/1-3\n"
								"interface Ethernet1/4\n  service-policy type queuing output UP\n"
								"interface Ethernet1/5\n  service-policy type queuing output PLAIN no-stats\n"
								"interface Ethernet1/6\n  service-policy type queuing output default-8q-out-policy\n",
	      1);
	lost("default-8q-out-policy: predefined policy of NX-OS");
	noted("PLAIN: queues without a bandwidth line: weight 14 each");
	assert_int_equal(sw_port_sched(sw, 0).dwrr_weight[3], 60);
	assert_int_equal(sw_port_sched(sw, 3).dwrr_weight[3], 80);
	assert_int_equal(sw_port_sched(sw, 4).strict_queues, 1 << 3);
	assert_int_equal(sw_port_sched(sw, 5).dwrr_weight[3], 12);
	assert_false(sw->ports[2].classes.own_dwrr_weight);
	assert_int_equal(sw_queue_wred(sw, 2, 3)->green_max_threshold_bytes, 200000);
	assert_int_equal(sw_queue_wred(sw, 3, 3)->green_max_threshold_bytes, 3000000);
	assert_string_equal(sw->queues[3][3].wred_profile, "UP_queue_3");
	assert_null(sw_queue_wred(sw, 4, 3));
	assert_null(sw_queue_wred(sw, 5, 3));
	assert_int_equal(sw->queues[3][3].max_rate_bps, 40 * GBPS);
	assert_int_equal(sw->queues[0][3].max_rate_bps, 0);
	assert_string_equal(sw->queues[4][1].buffer_profile, "PLAIN_limit_1");
	assert_string_equal(sw->queues[0][1].buffer_profile, "default");
}

TEST(interfaces_have_the_classes_of_their_policies)
{
	static const char policies[] = CLASS("A", "dscp 26")
		CLASS("B", "cos 5") "policy-map type qos P\n  class A\n    set qos-group 3\n"
				    "policy-map type qos Q\n  class A\n    set qos-group 4\n"
				    "policy-map type qos C\n  class B\n    set qos-group 5\n"
				    "interface Ethernet1/1-2\n  service-policy type qos input P\n"
				    "interface Ethernet1/3\n  service-policy type qos input Q\n"
				    "interface Ethernet1/4\n  service-policy type qos input C\n"
				    "interface Ethernet1/5\n";
	char text[1024];

	taken(import_nxos, policies, 0);
	noted("Ethernet1/5: no service-policy type qos: all packets are of qos-group 0");
	assert_int_equal(sw_port_qos(sw, 0).dscp_to_tc_map[26], 3);
	assert_int_equal(sw_port_qos(sw, 2).dscp_to_tc_map[26], 4);
	assert_int_equal(sw_port_qos(sw, 3).dot1p_to_tc_map[5], 5);
	assert_int_equal(sw_port_qos(sw, 3).trust, QOS_TRUST_PCP);
	assert_int_equal(sw_port_qos(sw, 4).dscp_to_tc_map[26], 0);
	assert_int_equal(sw_port_qos(sw, 4).trust, QOS_TRUST_DSCP);
	snprintf(text, sizeof(text), "%ssystem qos\n  service-policy type qos input Q\n", policies);
	taken(import_nxos, text, 0);
	assert_int_equal(sw_port_qos(sw, 1).dscp_to_tc_map[26], 3);
	assert_int_equal(sw_port_qos(sw, 4).dscp_to_tc_map[26], 4);
	snprintf(text, sizeof(text), "%sinterface Ethernet1/3\n  service-policy input P\n",
		 policies);
	taken(import_nxos, text, 1);
	lost("service-policy input P: another policy of this type applies already");
	assert_int_equal(sw_port_qos(sw, 2).dscp_to_tc_map[26], 4);
}

#define INPUT(name, class, numbers)                                                                \
	"policy-map type queuing " name                                                            \
	"\n  class type queuing " class "\n    pause buffer-size " numbers "\n"

TEST(interfaces_have_the_thresholds_of_their_input_policies)
{
	taken(import_nxos,
	      INPUT("SHORT", "c-in-q3", "300000 pause-threshold 100000 resume-threshold 90000") INPUT(
		      "LONG", "c-in-q3", "900000 pause-threshold 200000 resume-threshold 180000")
		      INPUT("LOSSY", "c-in-q2",
			    "9000 pause-threshold 900 resume-threshold 90") "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    pause pfc-cos 4\n"
									    "system qos\n  service-policy type network-qos N\n  service-policy type queuing input SHORT\n"
									    "interface Ethernet1/1-2\n"
									    "interface Ethernet1/3\n  service-policy type queuing input LONG\n"
									    "interface Ethernet1/4\n  service-policy type queuing input LOSSY\n",
	      1);
	lost("pause buffer-size 9000 pause-threshold 900 resume-threshold 90: the class has no PFC");
	assert_string_equal(sw->pgs[1][4].buffer_profile, "SHORT_pause_4");
	assert_string_equal(sw->pgs[2][4].buffer_profile, "LONG_pause_4");
	assert_string_equal(sw->pgs[3][4].buffer_profile, "default");
	assert_int_equal(sw->mmu.profiles[1].static_th_bytes, 200000);
	assert_int_equal(sw->mmu.profiles[1].xon_offset_bytes, 20000);
	assert_int_equal(sw->mmu.profiles[1].xoff_bytes, 700000);
}

TEST(ports_of_a_port_channel_have_its_policies)
{
	taken(import_nxos,
	      OUTPUT("UP",
		     "    bandwidth percent 80\n") "interface port-channel7\n  priority-flow-control mode on\n"
						   "  service-policy type queuing output UP\n"
						   "interface Ethernet1/1-2\n  channel-group 7 mode active\n"
						   "interface Ethernet1/3\n",
	      1);
	lost("channel-group 7 mode active: no link aggregation");
	for (uint16_t i = 0; i < 3; i++) {
		assert_int_equal(sw_port_sched(sw, i).dwrr_weight[3], i < 2 ? 80 : 12);
		assert_int_equal(sw->ports[i].flow_control, i < 2 ? SW_FLOW_PFC : SW_FLOW_AUTO);
	}
}

/* A name must be valid, no longer than 40 characters, and of one profile. */
TEST(profiles_of_odd_policies_have_names)
{
	taken(import_nxos,
	      OUTPUT("nxos", "    queue-limit 10 kbytes\n") OUTPUT(
		      "a;b",
		      "    queue-limit 20 kbytes\n") OUTPUT("a-name-of-forty-characters-is-far-too-long",
							    "    queue-limit 30 kbytes\n")
		      OUTPUT("M",
			     "    queue-limit 40 kbytes\n") "interface Ethernet1/1\n  service-policy type queuing output nxos\n"
							    "interface Ethernet1/2\n  service-policy type queuing output a;b\n"
							    "interface Ethernet1/3\n  service-policy type queuing output "
							    "a-name-of-forty-characters-is-far-too-long\n"
							    "interface Ethernet1/4-5\n  service-policy type queuing output M\n",
	      0);
	assert_string_equal(sw->queues[0][3].buffer_profile, "nxos_1_limit_3");
	assert_string_equal(sw->queues[1][3].buffer_profile, "nxos_4_limit_3");
	assert_string_equal(sw->queues[2][3].buffer_profile, "nxos_7_limit_3");
	assert_string_equal(sw->queues[3][3].buffer_profile, "nxos_limit_3");
}

/* Each class-map was once compared with all others, and each class of a policy with all lines. */
TEST(thousands_of_class_maps_are_found_by_name)
{
	enum { MAPS = 12000, LINE = 80 };
	char *text = malloc((size_t)MAPS * 5 * LINE), *at = text;

	for (int i = 0; i < MAPS; i++)
		at += sprintf(at, "class-map type qos match-any c%d\n  match dscp %d\n", i, i % 64);
	/* Opened again, in other letters: both lines count. */
	at += sprintf(at, "Class-Map type qos match-any c9001\n  match dscp 63\n");
	at += sprintf(at, "policy-map type qos P\n");
	/* The first class that a frame fits: c64 and on find nothing left. */
	for (int i = 0; i < MAPS; i++)
		at += sprintf(at, "  class c%d\n    set qos-group %d\n", (i + 9001) % MAPS,
			      i == 0 ? 5 : 2);
	sprintf(at, "%s", BOUND);
	taken(import_nxos, text, 0);
	for (unsigned int d = 0; d < TM_DSCPS; d++)
		assert_int_equal(sw->qos.dscp_to_tc_map[d], d == 9001 % 64 || d == 63 ? 5 : 2);
	free(text);
}

TEST(what_is_out_of_range_is_refused_with_its_line)
{
	static const struct refusal table[] = {
		{"", "expected a running-config"},
		{"{ \"PORT\": {} }\n", "1: '{ \"PORT\": {} }': expected a running-config"},
		{"! remark\n\nhostname s\n", "in:3: 'hostname s': expected a running-config"},
		{"system qos\n", "at least one interface Ethernet"},
		{CLASS("A", "dscp 64") "policy-map type qos P\n  class A\n" BOUND,
		 "in:2: match dscp 64: expected a whole number from 0 to 63"},
		{CLASS("A", "dscp 9-8") "policy-map type qos P\n  class A\n" BOUND, "in:2: "},
		{CLASS("A", "cos 8") "policy-map type qos P\n  class A\n" BOUND, "from 0 to 7"},
		{"policy-map type qos P\n  class A\n" BOUND,
		 "in:2: class A: expected a class-map of type qos"},
		{BOUND, "in:3: service-policy type qos input P: expected a policy-map"},
		{CLASS("A",
		       "dscp 1") "policy-map type qos P\n  class A\n    set qos-group 8\n" BOUND,
		 "in:5: set qos-group 8: expected"},
		{QUEUING("    bandwidth percent 101\n"), "in:3: bandwidth percent 101: expected"},
		{QUEUING("    bandwidth percent x\n"), "in place of x"},
		{QUEUING("    priority level 4\n"), "from 1 to 3"},
		{QUEUING("    queue-limit dynamic 11\n"), "from 0 to 10"},
		{QUEUING("    queue-limit 5 cells\n"), "expected bytes, kbytes or mbytes"},
		{QUEUING("    shape max 2 pps\n"), "expected bps, kbps, mbps or gbps"},
		{QUEUING("    random-detect minimum-threshold 2 mbytes maximum-threshold 1 "
			 "mbytes\n"),
		 "not above the maximum"},
		{QUEUING("    random-detect minimum-threshold 1 bytes maximum-threshold 2 bytes "
			 "drop-probability 101\n"),
		 "from 0 to 100"},
		{NETWORK("    mtu 20000\n"), "in:3: mtu 20000: expected"},
		{NETWORK("    pause pfc-cos 8\n"), "from 0 to 7"},
		{NETWORK("    pause pfc-cos 3\n    pause pfc-cos 4\n"), "one pause line"},
		{NETWORK("    pause pfc-cos 3\n  class type network-qos c-8q-nq4\n    pause "
			 "pfc-cos 3\n"),
		 "no other class has"},
		{PORT "  priority-flow-control mode sometimes\n", "expected auto, on or off"},
		{"interface Ethernet1/1\n  speed 99999999\n", "in:2: speed 99999999: expected"},
		{"priority-flow-control watch-dog-interval on\n" PORT
		 "  priority-flow-control watch-dog interface-multiplier\n",
		 "from 1 to 1000"},
		{"priority-flow-control watch-dog-interval on\npriority-flow-control auto-restore "
		 "multiplier 0\n" PORT,
		 "auto_restore_multiplier"},
	};

	refused_each(import_nxos, table, ARRAY_LEN(table));
	assert_true(import_nxos("a\0b", 3, &imported, &log_of) != 0);
}

TEST(equal_input_gives_equal_output)
{
	printed_again_the_same(
		import_nxos, "nxos-leaf.txt", 10, "nxos-rocev2.txt", 0,
		"#   version, hostname, no feature, description, interface mgmt0 (2)\n");
}

TEST_MAIN()
