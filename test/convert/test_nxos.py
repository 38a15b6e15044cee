#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""import nxos: what each line becomes, and what is said of those that are not carried over."""
import unittest

from case import Case, map_of

PORT = "interface Ethernet1/1\n  speed 40000\n"
BOUND = PORT + "  service-policy type qos input P\n"


def class_map(name, match):
    return f"class-map type qos match-any {name}\n  match {match}\n"


def policy(*classes):
    return "policy-map type qos P\n" + "".join(f"  class {name}\n    set qos-group {group}\n" for name, group in classes)


def queuing(lines):
    return f"policy-map type queuing Q\n  class type queuing c-out-8q-q3\n{lines}system qos\n  service-policy type queuing output Q\n{PORT}"


def network(lines):
    return f"policy-map type network-qos N\n  class type network-qos c-8q-nq3\n{lines}system qos\n  service-policy type network-qos N\n{PORT}"


def output(name, lines):
    return f"policy-map type queuing {name}\n  class type queuing c-out-8q-q3\n{lines}"


def unindented(text):
    return "".join(line.strip() + "\n" for line in text.splitlines())


class Files(Case):
    def test_a_rocev2_policy_becomes_its_switch(self):
        self.taken(self.fixture("nxos-rocev2.txt"), 0)
        self.assertEqual(self.n_ports(), 1)
        dscp = self.map(0, "dscp_to_tc_map")
        self.assertEqual([dscp(24), dscp(48), dscp(26)], [3, 7, 0])
        self.keys("qos_map", pfc_enable="3")
        self.keys("scheduler", strict_queues="7")
        weight = self.map(0, "dwrr_weight")
        self.assertEqual([weight(3), weight(6)], [50, 1])
        self.keys("switch", wred_queues="3", max_frame_bytes="9238B")
        self.keys("wred", green_min_threshold_bytes="150KB", green_max_threshold_bytes="3MB", green_drop_probability_ppm="7%", ecn="ecn_all")
        self.keys("tc 3", mtu_bytes="9216B")
        self.keys("pfcwd", pfcwd="nxos")
        self.keys("port 0", name="Ethernet2/24", pfcwd="on", flow_control="auto")
        self.keys("lldp", lldp="on")
        # 802.3's response time, three frames, the pause frame and 5 m there and back, at 100G.
        self.keys("buffer_profile lossless", xoff_bytes="54KB")
        self.noted("link_speed_bps = 100G is assumed")

    def test_a_whole_running_config_names_what_stays_behind(self):
        self.taken(self.fixture("nxos-leaf.txt"), 10)
        self.assertEqual(self.log.aside_text(), "version, hostname, no feature, description, interface mgmt0 (2)")
        self.lost("set dscp 46")
        self.lost("queue-limit dynamic 6: only its priority group")
        self.lost("match-all")
        self.assertEqual(self.n_ports(), 4)
        self.keys("port 0", pfcwd_interface_multiplier="4")
        self.keys("port 1", pfcwd="off")
        self.keys("port 2", flow_control="off")
        self.keys("port 3", name="Ethernet1/4/1", link_speed_bps="25G", pfcwd_action="alert")
        dscp = self.map(0, "dscp_to_tc_map")
        self.assertEqual([dscp(46), dscp(26), dscp(28)], [5, 3, 3])
        # Group 3 has PFC priority 4.
        self.keys("qos_map", pfc_enable="4")
        self.assertEqual(self.map(0, "tc_to_priority_group_map")(3), 4)
        self.assertEqual(self.map(0, "pfc_priority_to_queue_map")(4), 3)
        self.keys("switch", wred_queues="3")
        self.assertEqual(self.count("wred"), 1)
        self.keys("wred " + self.queue(2, 1, "wred_profile"), ecn="ecn_none")
        self.assertEqual(self.queue(0, 1, "max_rate_bps"), "10G")
        self.keys("pfcwd", watch_dog_interval_ns="200ms")

    def test_equal_input_gives_equal_output(self):
        self.take(self.fixture("nxos-leaf.txt"))
        first = self.ini
        self.take(self.fixture("nxos-rocev2.txt"))
        self.take(self.fixture("nxos-leaf.txt"))
        self.assertEqual(self.ini, first)
        self.assertIn("#   version, hostname, no feature, description, interface mgmt0 (2)\n", first)


class Grammar(Case):
    def test_an_unknown_line_is_lost_wherever_it_stands(self):
        """A line is carried over or lost, never neither: one more of either kind is seen in the count."""
        for text in ("vlan 12\n  vn-segment 12\n" + PORT,
                     PORT + "  switchport mode dot1q-tunnel\n",
                     "system qos\n  shape nothing\n" + PORT,
                     queuing("    mystery 7\n"), network("    mystery 7\n"),
                     class_map("A", "dscp 1") + "policy-map type qos P\n  class A\n    police cir 1 gbps\n" + BOUND,
                     class_map("A", "protocol arp") + policy(("A", 2)) + BOUND):
            self.taken(text, 1)
            self.taken(unindented(text), 1)
        self.taken("class-map type qos match-any A\n  match dscp 1\n" + PORT + "\n! a remark\n", 2)

    def test_a_script_without_indentation_is_the_same_switch(self):
        """Of show running-config's files too, whose interfaces come after the lines for the whole switch."""
        for name in ("nxos-rocev2.txt", "nxos-leaf.txt", "real/nxos-gpu-64x400.txt", "real/nxos-storage-54.txt", "real/nxos-88.txt",
                     "real/nxos-pod-36x400.txt"):
            text = self.fixture(name)
            self.take(text)
            sections, lost = self.sections, len(self.log.lost)
            self.take(unindented(text))
            self.assertEqual(self.sections, sections, name)
            self.assertEqual(len(self.log.lost), lost, name)

    def test_a_script_of_a_storage_vendor(self):
        text = ("policy-map type network-qos NQ\nclass type network-qos c-8q-nq3\npause pfc-cos 3\nsystem qos\nservice-policy type network-qos NQ\n"
                "interface Ethernet1/1\nspeed 25000\npriority-flow-control mode on\npriority-flow-control watch-dog-interval on\n")
        self.taken(text, 1)
        self.lost("9: priority-flow-control watch-dog-interval on: the watchdog is off")
        self.keys("qos_map", pfc_enable="3")
        self.keys("port 0", link_speed_bps="25G", flow_control="pfc")
        self.keys("pfcwd", pfcwd="off")
        self.taken("priority-flow-control watch-dog-interval on\n" + text, 0)
        self.keys("port 0", pfcwd="on")

    def test_the_grammar_comes_before_indentation(self):
        self.taken("   interface Ethernet1/1\n speed 25000\n     mtu 1500\n  interface Ethernet1/2\n     vlan 5\n  name x\n", 0)
        self.keys("port 0", link_speed_bps="25G")
        self.assertEqual(self.n_ports(), 2)
        # Of a running-config, whose lines of an interface are indented, this one is not of the interface.
        self.taken(PORT + "priority-flow-control watch-dog-interval on\n", 0)
        self.keys("pfcwd", pfcwd="nxos")
        self.keys("port 0", pfcwd="off")

    def test_ranges_of_ports_remarks_and_exits_are_understood(self):
        self.taken(class_map("A", "dscp 26   ! RoCE") + "exit\n" + policy(("A", 3)) + "  exit\ninterface Ethernet 1/2-4\n  speed 25000\n"
                   "  priority-flow-control mode on ! both ends\n  priority-flow-control watch-dog-interval off\n  service-policy type qos input P\n"
                   "# another remark\ninterface Ethernet1/5\n  description up ! down\nend\n", 0)
        self.assertEqual(self.log.aside_text(), "description")
        self.assertEqual(self.n_ports(), 4)
        self.keys("port 0", name="Ethernet1/2")
        self.keys("port 2", name="Ethernet1/4", flow_control="pfc", link_speed_bps="25G")
        self.keys("port 3", name="Ethernet1/5", flow_control="auto")
        self.assertEqual(self.map(0, "dscp_to_tc_map")(26), 3)
        self.taken("interface Ethernet1/1-65\ninterface Ethernet2/1-99999\n", 1)
        self.lost("Ethernet1/65, the first of 100000 more ports: a switch has at most 64; --ports")
        self.assertEqual(self.n_ports(), 64)
        self.taken("interface Ethernet1/4-1\ninterface Ethernet1/x\n" + PORT, 2)

    def test_lists_of_ports_and_a_port_of_a_range(self):
        self.taken("interface Ethernet1/1-2, Ethernet1/5,ethernet 1/7-8\n  speed 25000\n  priority-flow-control mode on\n"
                   "interface Ethernet1/1\n  mtu 1500\ninterface e1/2\n  no priority-flow-control mode on\n  speed 50000\n", 0)
        self.assertEqual([self.sections[f"port {i}"]["name"] for i in range(5)], [f"Ethernet1/{n}" for n in (1, 2, 5, 7, 8)])
        self.keys("port 0", link_speed_bps="25G", flow_control="pfc")
        self.keys("port 1", link_speed_bps="50G", flow_control="auto")
        self.keys("port 2", link_speed_bps="25G", flow_control="pfc")

    def test_a_banner_is_text(self):
        self.taken("version 10.4(3)\nbanner motd #\nWelcome\ninterface Ethernet1/9\nclass-map nothing\n#\nbanner exec ^C one line ^C\n" + PORT, 0)
        self.assertEqual(self.n_ports(), 1)
        self.assertEqual(self.log.aside_text(), "version, banner (2)")
        self.refused("banner motd #\nno end\n" + PORT, "in:1: banner motd #: expected a banner that ends with #")

    def test_no_takes_back_what_stood_before(self):
        self.taken("priority-flow-control watch-dog-interval on\nno priority-flow-control watch-dog-interval on\n" + PORT
                   + "  priority-flow-control mode on\n  no priority-flow-control mode\n", 0)
        self.keys("pfcwd", pfcwd="off")
        self.keys("port 0", flow_control="auto")
        self.taken("no vlan 12\033[2J\n" + PORT, 1)
        self.lost("no vlan 12?[2J")
        self.lost("removes no line before it")
        self.taken("policy-map type queuing Q\n  class type queuing c-out-8q-q3\n    priority\nno policy-map type queuing Q\n" + PORT, 0)

    def test_a_block_that_is_opened_again_goes_on(self):
        self.taken(class_map("A", "dscp 1") + class_map("A", "dscp 2") + policy(("A", 2)) + BOUND + PORT + "  priority-flow-control mode off\n", 0)
        self.assertEqual(self.n_ports(), 1)
        dscp = self.map(0, "dscp_to_tc_map")
        self.assertEqual([dscp(1), dscp(2)], [2, 2])
        self.keys("port 0", flow_control="off")

    def test_other_dialects_are_refused(self):
        for line in ("interface Ethernet1\n   priority-flow-control on\n   qos trust dscp", "interface Ethernet1/1\n  priority-flow-control priority 3 no-drop",
                     "interface ethernet1/1/1\n service-policy input type network-qos lossless", "interface TenGigabitEthernet1/1",
                     "class-map type network-qos p\n match qos-group 3\npolicy-map type network-qos l\n class p\n  pause\n  pfc-cos 3"):
            self.refused(PORT + line + "\n", "expected a line of NX-OS: this one is of ")

    def test_thousands_of_class_maps_are_found_by_name(self):
        """The first class that a frame fits: c64 and on find nothing left."""
        n = 12000
        text = "".join(class_map(f"c{i}", f"dscp {i % 64}") for i in range(n))
        # Opened again, in other letters: both lines count.
        text += "Class-Map type qos match-any c9001\n  match dscp 63\n"
        text += policy(*((f"c{(i + 9001) % n}", 5 if i == 0 else 2) for i in range(n))) + BOUND
        self.taken(text, 0)
        dscp = self.map(0, "dscp_to_tc_map")
        self.assertEqual({d for d in range(64) if dscp(d) == 5}, {9001 % 64, 63})

    def test_ports_are_chosen(self):
        text = "interface Ethernet1/1-88\n  speed 25000\ninterface Ethernet2/1\n  mystery 7\n"
        self.ports = "Ethernet1/3,1/5-6,88"
        self.taken(text, 0)
        self.assertEqual(self.n_ports(), 4)
        self.keys("port 1", name="Ethernet1/5")
        self.keys("port 3", name="Ethernet1/88", link_speed_bps="25G")
        self.noted("--ports leaves out Ethernet1/1 and others")
        self.ports = "2"
        self.taken(text, 0)
        self.keys("port 1", name="Ethernet1/2")
        self.assertEqual(self.n_ports(), 2)
        self.ports = "Ethernet1/1,3/1"
        self.refused(text, "in: --ports Ethernet3/1: expected a port of the file")
        for self.ports in ("", "65", "0", "Ethernet", "Ethernet1/4-3", "1/1,,2"):
            self.refused(text, "expected up to 64 ports of the file")


class Vlans(Case):
    def port_is(self, port, access_vlan, tagged_vlans):
        self.keys(f"port {port}", access_vlan=str(access_vlan), tagged_vlans=tagged_vlans)

    def test_access_and_trunk_ports_have_their_vlans(self):
        self.taken("vlan 1,10,20-29\nvlan 10\n  name servers\ninterface Ethernet1/1\n  switchport access vlan 10\n"
                   "interface Ethernet1/2\n  switchport\n  switchport mode trunk\n  switchport trunk native vlan 10\n"
                   "  switchport trunk allowed vlan 10,20-25,99\n  switchport trunk allowed vlan add 29\n"
                   "interface Ethernet1/3\n  switchport mode trunk\n"
                   "interface Ethernet1/4\n  switchport mode trunk\n  switchport trunk allowed vlan except 1,21-4094\n"
                   "interface Ethernet1/5\n  speed 40000\ninterface Ethernet1/6\n  no switchport\n"
                   "interface Ethernet1/7\n  switchport mode trunk\n  switchport trunk allowed vlan none\n", 0)
        self.keys("switch", vlan_filtering="on")
        self.port_is(0, 10, "none")
        self.port_is(1, 10, "20-25,29")  # 99 is no VLAN of the switch
        self.port_is(2, 1, "10,20-29")
        self.port_is(3, 0, "10,20")
        self.port_is(4, 1, "none")
        self.port_is(5, 0, "none")
        self.port_is(6, 0, "none")
        self.assertEqual(self.count("interface"), 0)
        # Nothing about VLANs: a bridge of all ports.
        self.taken(PORT, 0)
        self.keys("switch", vlan_filtering="off")

    def test_a_port_that_is_shut_down_stays_so(self):
        self.taken(PORT + "  shutdown\ninterface Ethernet1/2\n  no shutdown\n", 0)
        self.keys("port 0", shutdown="on")
        self.keys("port 1", shutdown="off")

    def test_vlans_that_a_trunk_names_exist(self):
        """A part of a file may lack its vlan lines."""
        self.taken(PORT + "  switchport mode trunk\n  switchport trunk allowed vlan 5-6\n", 0)
        self.port_is(0, 0, "5-6")
        self.taken("interface Vlan7\n  ip address 10.0.7.1/24\n" + PORT + "  switchport mode trunk\n", 0)
        self.port_is(0, 1, "7")

    def test_a_port_in_a_mode_that_is_unknown_is_in_no_vlan(self):
        for mode in ("mode dot1q-tunnel", "mode private-vlan host", "mode fex-fabric", "monitor"):
            self.taken(f"vlan 1,5\n{PORT}  switchport access vlan 5\n  switchport {mode}\n", 1)
            self.lost("a mode without a counterpart: the port is in no VLAN")
            self.port_is(0, 0, "none")

    def test_ports_may_be_routed_without_a_line(self):
        self.taken("no system default switchport\n" + PORT + "interface Ethernet1/2\n  switchport\n", 0)
        self.port_is(0, 0, "none")
        self.port_is(1, 1, "none")
        self.taken("system default switchport\n" + PORT, 0)

    def test_interfaces_have_addresses_and_routes_go_by_them(self):
        self.taken("feature interface-vlan\nvlan 10\ninterface Vlan10\n  no shutdown\n  ip address 10.0.10.1/24\n  ipv6 address fd00:10::1/64\n"
                   "interface vlan 20\n  shutdown\n  ip address 10.0.20.1/24\n"
                   "interface Ethernet1/1\n  no switchport\n  ip address 10.0.33.1 255.255.255.252\n"
                   "interface Ethernet1/2\n  no switchport\n  ip address 10.0.37.1/30\n"
                   "ip route 10.9.1.1/16 10.0.33.2 name up tag 5\nip route 10.9.0.0 255.255.0.0 Ethernet1/2 10.0.37.2\n"
                   "ip route 10.9.0.0/16 10.0.10.9 200\nip route 10.8.0.0/16 null0\nipv6 route fd00:9::/32 fd00:10::9\n"
                   "ip route 0.0.0.0/0 192.0.2.1\n", 4)
        self.lost("ip address 10.0.20.1/24: the interface is shut down")
        self.lost("ip route 10.9.0.0/16 10.0.10.9 200: a route of this prefix has a better preference")
        self.lost("ip route 0.0.0.0/0 192.0.2.1: the next hop is in no subnet")
        self.noted("router_mac = 02:5a:00:00:00:fe is assumed")
        self.assertEqual(self.count("interface"), 3)
        self.keys("interface vlan 10", ip="10.0.10.1/24", ip6="fd00:10::1/64")
        self.keys("interface port 0", ip="10.0.33.1/30")
        self.assertEqual(self.count("route"), 3)
        self.keys("route 10.9.0.0/16", nexthop="10.0.33.2, 10.0.37.2")
        self.keys("route 10.8.0.0/16", nexthop="blackhole")
        self.keys("route fd00:9::/32", nexthop="fd00:10::9")

    def test_a_route_has_up_to_256_lines(self):
        hops = [f"10.0.{33 + i // 128}.{2 + i % 128}" for i in range(257)]
        self.taken("interface Ethernet1/1\n  no switchport\n  ip address 10.0.0.1/16\n" + "".join(f"ip route 10.9.0.0/16 {hop}\n" for hop in hops), 1)
        self.lost("ip route 10.9.0.0/16 10.0.35.2: more next hops than a route has: 256")
        self.keys("route 10.9.0.0/16", nexthop=", ".join(hops[:256]))

    def test_routes_that_an_interface_decides_are_named(self):
        self.taken("feature interface-vlan\nvlan 10,20\ninterface Vlan10\n  no shutdown\n  ip address 10.0.10.1/24\n"
                   "interface Vlan20\n  no shutdown\n  ip address 10.0.20.1/24\n" + PORT + "ip route 10.0.20.0/24 10.0.10.3\n"
                   "ip route 10.0.10.1/32 10.0.20.9\nip route 10.1.0.0/16 10.0.20.1\nip route 10.2.0.0/16 10.0.20.255\n", 4)
        self.lost("ip route 10.0.20.0/24 10.0.10.3: an interface has this prefix")
        self.lost("ip route 10.0.10.1/32 10.0.20.9: an interface has this prefix")
        self.lost("ip route 10.1.0.0/16 10.0.20.1: the next hop is the switch itself or a broadcast")
        self.lost("ip route 10.2.0.0/16 10.0.20.255: the next hop is the switch itself or a broadcast")
        self.assertEqual(self.count("route"), 0)

    def test_addresses_that_a_switch_cannot_have_are_named(self):
        self.taken(PORT + "  vrf member blue\n  ip address 10.0.0.1/24\n"
                   "interface Vlan2\n  ip address 10.0.1.1/24\n  ip address 10.0.2.1/24 secondary\n"
                   "interface Vlan3\n  ip address 10.0.1.129/25\n  ip address dhcp\ninterface Vlan4\n  ipv6 address fe80::1/64\n", 6)
        self.lost("ip address 10.0.0.1/24: in a VRF")
        self.lost("10.0.2.1/24 secondary: a second address")
        self.lost("10.0.1.129/25: its subnet overlaps")
        self.lost("ip address dhcp")
        self.lost("fe80::1/64: a link-local address")
        self.assertEqual(self.count("interface"), 1)

    def test_a_port_channel_is_its_first_port(self):
        self.taken("vlan 5\ninterface Ethernet1/1-2\n  channel-group 7 mode active\ninterface Ethernet1/3\n  switchport access vlan 5\n"
                   "interface Ethernet1/4\n  switchport mode trunk\n  channel-group 8\n"
                   "interface port-channel7\n  no switchport\n  ip address 10.0.0.1/31\ninterface port-channel 8\n  switchport mode trunk\n"
                   "interface port-channel9\n  switchport mode trunk\n", 3)
        self.lost("channel-group 7 mode active: no link aggregation")
        self.lost("switchport mode trunk: no port is in this port-channel")
        self.port_is(0, 0, "none")
        self.port_is(1, 0, "none")
        self.port_is(2, 5, "none")
        self.port_is(3, 1, "5")
        self.keys("interface port 0", ip="10.0.0.1/31")

    def test_static_entries_neighbours_and_ageing(self):
        self.taken("mac address-table aging-time 300\nmac address-table static 0011.2233.4455 vlan 10 interface Ethernet1/1\n"
                   "mac address-table static 0011.2233.4456 vlan 11 interface Ethernet1/1\nmac address-table static 0011.2233.4457 vlan 10 drop\n"
                   "vlan 1,10\ninterface Vlan10\n  no shutdown\n  ip address 10.0.10.1/24\n  ipv6 address fd00:10::1/64\n"
                   "  ip arp 10.0.10.7 0011.2233.4455\n  ipv6 neighbor fd00:10::7 0011.2233.4455\n  ip arp 10.0.11.7 0011.2233.4455\n"
                   "interface Ethernet1/1\n  switchport access vlan 10\n", 3)
        self.lost("vlan 11 interface Ethernet1/1: the port is not in this VLAN")
        self.lost("vlan 10 drop: no counterpart")
        self.lost("ip arp 10.0.11.7 0011.2233.4455: the address is in no subnet")
        self.keys("switch", fdb_ageing_s="300")
        self.keys("fdb 001122334455_10", mac="00:11:22:33:44:55", vlan="10", port="Ethernet1/1")
        self.keys("neighbor 10.0.10.7", mac="00:11:22:33:44:55")
        self.keys("neighbor fd00:10::7", mac="00:11:22:33:44:55")


class Ports(Case):
    def test_storm_control_is_a_share_of_the_speed(self):
        self.taken(PORT + "  storm-control broadcast level 10.00\n  storm-control multicast level 0.5\n  storm-control unicast level 100\n"
                   "interface Ethernet1/2\n  speed 25000\n  storm-control broadcast level pps 1000\n  storm-control action trap\n"
                   "  storm-control unicast level 20\n", 2)
        self.lost("storm-control broadcast level pps 1000: limits of floods count bits per second")
        self.keys("port 0", storm_control_broadcast_bps="4G", storm_control_multicast_bps="200M", storm_control_unknown_unicast_bps="0")
        self.keys("port 1", storm_control_unknown_unicast_bps="5G")
        self.noted("storm-control unicast level 20: the limit is that of unknown unicast frames")
        self.refused(PORT + "  storm-control broadcast level 101\n", "in:3: storm-control broadcast level 101: expected a level from 0 to 100 percent")

    def test_lldp_has_its_times(self):
        self.taken("feature lldp\nlldp timer 20\nlldp holdtime 90\n" + PORT + "  lldp transmit\n  no lldp receive\n", 1)
        self.lost("no lldp receive: all ports have LLDP, or none")
        self.keys("lldp", lldp="on", lldp_tx_interval_ns="20s", lldp_tx_hold="5")
        self.noted("lldp holdtime 90: lldp_tx_hold = 5, which is 100 s")

    def test_pauses_of_the_link(self):
        self.taken(PORT + "  flowcontrol receive on\n  flowcontrol send on\ninterface Ethernet1/2\n  flowcontrol receive on\n"
                   "interface Ethernet1/3\n  flowcontrol receive on\n  priority-flow-control mode on\n"
                   "interface Ethernet1/4\n  flowcontrol receive off\n", 1)
        for i, mode in enumerate(("pause", "pause", "pfc", "auto")):
            self.keys(f"port {i}", flow_control=mode)
        self.noted("flowcontrol receive on: the port obeys and sends pauses: flow_control = pause")
        self.lost("flowcontrol receive on: priority-flow-control of the port takes precedence")

    def test_port_profiles_are_inherited(self):
        self.taken("port-profile type ethernet BASE\n  switchport\n  speed 25000\n  state enabled\n"
                   "port-profile type ethernet HOSTS\n  inherit port-profile BASE\n  switchport access vlan 5\n  priority-flow-control mode on\n"
                   "  service-policy type qos input P\n  state enabled\n"
                   "port-profile type ethernet OFF\n  mtu 9216\n"
                   + class_map("A", "dscp 26") + policy(("A", 3)) + "policy-map type qos R\n  class A\n    set qos-group 4\n"
                   "interface Ethernet1/1-2\n  inherit port-profile HOSTS\ninterface Ethernet1/2\n  speed 50000\n  service-policy type qos input R\n"
                   "interface Ethernet1/3\n  inherit port-profile GONE\ninterface Ethernet1/4\n  inherit port-profile OFF\n", 3)
        self.lost("inherit port-profile GONE: no port-profile of this name is in the file; show running-config expand-port-profile has its lines")
        self.lost("inherit port-profile OFF: the port-profile lacks state enabled")
        self.keys("port 0", link_speed_bps="25G", access_vlan="5", flow_control="pfc")
        self.keys("port 1", link_speed_bps="50G", access_vlan="5", flow_control="pfc")
        self.assertEqual([self.map(i, "dscp_to_tc_map")(26) for i in range(3)], [3, 4, 0])

    def test_ports_of_a_port_channel_have_its_policies(self):
        self.taken(output("UP", "    bandwidth percent 80\n") + "interface port-channel7\n  priority-flow-control mode on\n"
                   "  service-policy type queuing output UP\ninterface Ethernet1/1-2\n  channel-group 7 mode active\ninterface Ethernet1/3\n", 1)
        self.lost("channel-group 7 mode active: no link aggregation")
        for i in range(3):
            self.assertEqual(self.map(i, "dwrr_weight")(3), 80 if i < 2 else 12)
            self.keys(f"port {i}", flow_control="pfc" if i < 2 else "auto")


class Classes(Case):
    def test_classes_are_taken_in_their_order(self):
        self.taken(class_map("A", "dscp 8-15,ef") + class_map("B", "dscp 10, 20") + class_map("C", "precedence 7")
                   + policy(("A", 1), ("B", 2), ("C", 4), ("class-default", 5)) + BOUND, 0)
        dscp = self.map(0, "dscp_to_tc_map")
        self.assertEqual([dscp(d) for d in (10, 46, 20, 56, 63, 0)], [1, 1, 2, 4, 4, 5])
        self.assertEqual(self.map(0, "dot1p_to_tc_map")(3), 5)

    def test_classes_by_cos_alone_trust_the_pcp(self):
        self.taken(class_map("A", "cos 3-4") + policy(("A", 3)) + BOUND, 0)
        self.keys("qos_map", trust="pcp")
        pcp = self.map(0, "dot1p_to_tc_map")
        self.assertEqual([pcp(4), pcp(5)], [3, 0])
        self.taken(class_map("A", "cos 3") + class_map("B", "dscp 3") + policy(("A", 3), ("B", 4)) + BOUND, 1)
        self.lost("match cos 3: in part")
        self.keys("qos_map", trust="dscp")

    def test_match_all_is_what_all_lines_share(self):
        self.taken("class-map type qos match-all A\n  match dscp 8-15\n  match dscp 12-20\n" + policy(("A", 2)) + BOUND, 0)
        dscp = self.map(0, "dscp_to_tc_map")
        self.assertEqual([dscp(d) for d in (11, 12, 15, 16)], [0, 2, 2, 0])
        self.taken("class-map type qos match-all A\n  match dscp 8\n  match cos 3\n" + policy(("A", 2)) + BOUND, 5)

    def test_interfaces_have_the_classes_of_their_policies(self):
        policies = (class_map("A", "dscp 26") + class_map("B", "cos 5") + policy(("A", 3)) + "policy-map type qos Q\n  class A\n    set qos-group 4\n"
                    "policy-map type qos C\n  class B\n    set qos-group 5\n"
                    "interface Ethernet1/1-2\n  service-policy type qos input P\ninterface Ethernet1/3\n  service-policy type qos input Q\n"
                    "interface Ethernet1/4\n  service-policy type qos input C\ninterface Ethernet1/5\n")
        self.taken(policies, 0)
        self.noted("Ethernet1/5: no service-policy type qos: all packets are of qos-group 0")
        self.assertEqual([self.map(i, "dscp_to_tc_map")(26) for i in (0, 2, 4)], [3, 4, 0])
        self.assertEqual(self.map(3, "dot1p_to_tc_map")(5), 5)
        self.assertEqual([self.port(i, "trust") for i in (3, 4)], ["pcp", "dscp"])
        self.taken(policies + "system qos\n  service-policy type qos input Q\n", 0)
        self.assertEqual([self.map(i, "dscp_to_tc_map")(26) for i in (1, 4)], [3, 4])
        self.taken(policies + "interface Ethernet1/3\n  service-policy input P\n", 1)
        self.lost("service-policy input P: another policy of this type applies already")
        self.assertEqual(self.map(2, "dscp_to_tc_map")(26), 4)


class Queues(Case):
    def test_a_pause_buffer_is_limit_hysteresis_and_headroom(self):
        self.taken(network("    pause buffer-size 101920 pause-threshold 67440 resume-threshold 40000 pfc-cos 3\n"), 0)
        self.keys("buffer_profile " + self.group(0, 3), dynamic="off", static_th_bytes="67440B", xon_offset_bytes="27440B", xoff_bytes="34480B")

    def test_queues_have_limits_shapers_and_shares(self):
        self.taken(queuing("    queue-limit dynamic 9\n    shape min 1 gbps max 5000 mbps\n"), 0)
        self.keys("buffer_profile " + self.queue(0, 3, "buffer_profile"), dynamic_th="2")
        self.assertEqual([self.queue(0, 3, "min_rate_bps"), self.queue(0, 3, "max_rate_bps")], ["1G", "5G"])
        self.taken(queuing("    queue-limit 100 kbytes\n    bandwidth percent 30\n"), 0)
        self.keys("buffer_profile " + self.queue(0, 3, "buffer_profile"), static_th_bytes="100KB")
        weight = self.map(0, "dwrr_weight")
        self.assertEqual([weight(3), weight(0)], [30, 10])
        self.noted("queues without a bandwidth line: weight 10 each")

    def test_lines_of_a_curve_add_up(self):
        self.taken(queuing("    random-detect ecn\n    random-detect minimum-threshold 1 kbytes maximum-threshold 2 kbytes\n"), 0)
        self.keys("wred", ecn="ecn_all", green_max_threshold_bytes="2KB")
        self.keys("switch", wred_queues="3")
        self.taken(queuing("    random-detect ecn\n    random-detect weight 3\n"), 2)
        self.lost("random-detect ecn: the line gives no thresholds")
        self.keys("switch", wred_queues="none")
        # A line counts whole or not at all.
        self.taken(queuing("    random-detect weight 3 cap-average\n    random-detect minimum-threshold 1 bytes maximum-threshold 2 bytes\n"), 1)
        self.keys("wred", wred_weight="0")
        self.taken(queuing("    random-detect threshold burst-optimized ecn\n"), 1)
        self.lost("this word has no counterpart")

    def test_strict_queues_that_go_first_by_level_alone_are_named(self):
        text = ("policy-map type queuing Q\n  class type queuing c-out-8q-q7\n    priority level {}\n  class type queuing c-out-8q-q6\n    priority level {}\n"
                "system qos\n  service-policy type queuing output Q\n" + PORT)
        self.taken(text.format(1, 2), 0)
        self.keys("scheduler", strict_queues="6-7")
        self.taken(text.format(2, 1), 1)
        self.lost("priority level 1: in part")

    def test_classes_of_the_users_own_go_by_their_group(self):
        self.taken("class-map type queuing MINE\n  match qos-group 5\npolicy-map type queuing Q\n  class type queuing MINE\n    priority\n"
                   "system qos\n  service-policy type queuing output Q\n" + PORT, 0)
        self.keys("scheduler", strict_queues="5")

    def test_interfaces_have_the_queues_of_their_policies(self):
        """A policy of an interface replaces that of system qos."""
        self.taken(output("DOWN", "    bandwidth percent 60\n    random-detect minimum-threshold 100 kbytes maximum-threshold 200 kbytes ecn\n")
                   + output("UP", "    bandwidth percent 80\n    random-detect minimum-threshold 1 mbytes maximum-threshold 3 mbytes ecn\n"
                                  "    shape max 40 gbps\n")
                   + output("PLAIN", "    priority\n  class type queuing c-out-8q-q1\n    queue-limit 90 kbytes\n")
                   + "system qos\n  service-policy type queuing output DOWN\ninterface Ethernet1/1-3\n"
                     "interface Ethernet1/4\n  service-policy type queuing output UP\ninterface Ethernet1/5\n"
                     "  service-policy type queuing output PLAIN no-stats\n"
                     "interface Ethernet1/6\n  service-policy type queuing output default-8q-out-policy\n", 1)
        self.lost("default-8q-out-policy: predefined policy of NX-OS")
        self.noted("PLAIN: queues without a bandwidth line: weight 14 each")
        self.assertEqual([self.map(i, "dwrr_weight")(3) for i in (0, 3, 5)], [60, 80, 12])
        self.assertEqual(self.port(4, "strict_queues"), "3")
        self.keys("port 2", dwrr_weight="default")
        self.keys("wred", green_max_threshold_bytes="200KB")
        self.assertEqual([self.queue(i, 3, "wred_profile") for i in (2, 3, 4, 5)], ["default", "UP_queue_3", "none", "none"])
        self.keys("wred UP_queue_3", green_max_threshold_bytes="3MB")
        self.assertEqual([self.queue(i, 3, "max_rate_bps") for i in (3, 0)], ["40G", "0"])
        self.assertEqual([self.queue(i, 1, "buffer_profile") for i in (4, 0)], ["PLAIN_limit_1", "default"])

    def test_interfaces_have_the_thresholds_of_their_input_policies(self):
        def thresholds(name, queue, numbers):
            return f"policy-map type queuing {name}\n  class type queuing {queue}\n    pause buffer-size {numbers}\n"

        self.taken(thresholds("SHORT", "c-in-q3", "300000 pause-threshold 100000 resume-threshold 90000")
                   + thresholds("LONG", "c-in-q3", "900000 pause-threshold 200000 resume-threshold 180000")
                   + thresholds("LOSSY", "c-in-q2", "9000 pause-threshold 900 resume-threshold 90")
                   + "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    pause pfc-cos 4\n"
                     "system qos\n  service-policy type network-qos N\n  service-policy type queuing input SHORT\n"
                     "interface Ethernet1/1-2\ninterface Ethernet1/3\n  service-policy type queuing input LONG\n"
                     "interface Ethernet1/4\n  service-policy type queuing input LOSSY\n", 1)
        self.lost("pause buffer-size 9000 pause-threshold 900 resume-threshold 90: the class has no PFC")
        self.assertEqual([self.group(i, 4) for i in (1, 2, 3)], ["SHORT_pause_4", "LONG_pause_4", "default"])
        self.keys("buffer_profile LONG_pause_4", static_th_bytes="200KB", xon_offset_bytes="20KB", xoff_bytes="700KB")

    def test_profiles_of_odd_policies_have_names(self):
        """A name must be valid, no longer than 40 characters, and of one profile."""
        long = "a-name-of-forty-characters-is-far-too-long"
        names = ("nxos", "a;b", long, "M")
        self.taken("".join(output(name, f"    queue-limit {10 * (i + 1)} kbytes\n") for i, name in enumerate(names))
                   + "".join(f"interface Ethernet1/{i + 1}\n  service-policy type queuing output {name}\n" for i, name in enumerate((*names, "M"))), 0)
        self.assertEqual([self.queue(i, 3, "buffer_profile") for i in range(4)],
                         ["nxos_1_limit_3", "nxos_4_limit_3", "nxos_7_limit_3", "nxos_limit_3"])


class Refusals(Case):
    def test_what_is_out_of_range_is_refused_with_its_line(self):
        one = class_map("A", "dscp 1")
        watchdog = "priority-flow-control watch-dog-interval on\n"
        for text, words in (
                ("", "expected a running-config"),
                ('{ "PORT": {} }\n', "1: '{ \"PORT\": {} }': expected a running-config"),
                ("! remark\n\nhostname s\n", "in:3: 'hostname s': expected a running-config"),
                ("system qos\n", "at least one interface Ethernet"),
                ("a\0b", "a zero byte"),
                (class_map("A", "dscp 64") + policy(("A", 1)) + BOUND, "in:2: match dscp 64: expected a whole number from 0 to 63"),
                (class_map("A", "dscp 9-8") + policy(("A", 1)) + BOUND, "in:2: "),
                (class_map("A", "cos 8") + policy(("A", 1)) + BOUND, "from 0 to 7"),
                (policy(("A", 1)) + BOUND, "in:2: class A: expected a class-map of type qos"),
                (BOUND, "in:3: service-policy type qos input P: expected a policy-map"),
                (one + policy(("A", 8)) + BOUND, "in:5: set qos-group 8: expected"),
                (queuing("    bandwidth percent 101\n"), "in:3: bandwidth percent 101: expected"),
                (queuing("    bandwidth percent x\n"), "in place of x"),
                (queuing("    priority level 4\n"), "from 1 to 3"),
                (queuing("    queue-limit dynamic 11\n"), "from 0 to 10"),
                (queuing("    queue-limit 5 cells\n"), "expected bytes, kbytes or mbytes"),
                (queuing("    shape max 2 pps\n"), "expected bps, kbps, mbps or gbps"),
                (queuing("    random-detect minimum-threshold 2 mbytes maximum-threshold 1 mbytes\n"), "not above the maximum"),
                (queuing("    random-detect minimum-threshold 1 bytes maximum-threshold 2 bytes drop-probability 101\n"), "from 0 to 100"),
                (network("    mtu 20000\n"), "in:3: mtu 20000: expected"),
                (network("    pause pfc-cos 8\n"), "from 0 to 7"),
                (network("    pause pfc-cos 3\n    pause pfc-cos 4\n"), "one pause line"),
                (network("    pause pfc-cos 3\n  class type network-qos c-8q-nq4\n    pause pfc-cos 3\n"), "no other class has"),
                (PORT + "  priority-flow-control mode sometimes\n", "expected auto, on or off"),
                ("interface Ethernet1/1\n  speed 99999999\n", "in:2: speed 99999999: expected"),
                (watchdog + PORT + "  priority-flow-control watch-dog interface-multiplier\n", "from 1 to 1000"),
                (watchdog + "priority-flow-control auto-restore multiplier 0\n" + PORT, "auto_restore_multiplier")):
            with self.subTest(text=text):
                self.refused(text, words)

    def test_a_map_of_the_ini_is_read(self):
        self.assertEqual([map_of("3-4:3, *:0")(key) for key in (2, 3, 4)], [0, 3, 3])


if __name__ == "__main__":
    unittest.main()
