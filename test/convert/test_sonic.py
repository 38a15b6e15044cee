#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""import sonic: what each table becomes, and what is said of the fields that are not carried over."""
import json
import unittest

from case import Case

def tables(more):
    """JSON with ' for \" and two ports."""
    ports = "'PORT': {'Ethernet0': {'speed': '100000', 'mtu': '9100'}, 'Ethernet4': {'speed': '100000', 'mtu': '9100'}}"
    return ("{" + ports + (", " if more else "") + more + "}").replace("'", '"')


class Sonic(Case):
    DIALECT = "sonic"


class Files(Sonic):
    def test_a_tor_of_sonic_becomes_the_switch_of_the_example(self):
        self.taken(self.fixture("sonic-tor.json"), 0)
        self.assertEqual(list(self.log.asides)[:2], ["DEVICE_METADATA", "PORT lanes"])
        self.assertEqual(self.log.asides["PORT lanes"], 4)
        self.assertEqual(self.n_ports(), 4)
        self.keys("port 1", name="Ethernet4")
        self.keys("switch", max_frame_bytes="9122B", buffer_bytes="34334464B", shared_headroom_pool_bytes="1622016B",
                  egress_lossy_pool_bytes="24709632B")
        dscp = self.map(0, "dscp_to_tc_map")
        self.assertEqual([dscp(0), dscp(48)], [1, 6])
        self.keys("qos_map", pfc_enable="3-4")
        weight = self.map(0, "dwrr_weight")
        self.assertEqual([weight(3), weight(6)], [15, 14])
        self.keys("buffer_profile lossless", xoff_bytes="160KB")
        self.keys("buffer_profile lossy", dynamic_th="3")
        self.keys("buffer_profile egress_lossy", size_bytes="1792B")
        self.assertEqual(self.group(3, 4), "pg_lossless_100000_300m_profile")
        self.keys("buffer_profile pg_lossless_100000_300m_profile", xoff_bytes="204800B", dynamic_th="-1")
        self.assertEqual(self.queue(2, 3, "wred_profile"), "AZURE_LOSSLESS")
        self.keys("wred AZURE_LOSSLESS", green_drop_probability_ppm="5%")
        # pir counts bytes a second, and is of port 0's queue alone.
        self.assertEqual([self.queue(i, 6, "max_rate_bps") for i in (0, 1)], ["1G", "0"])
        self.keys("pfcwd", pfcwd="sonic", poll_interval_ns="200ms")
        self.keys("port 3", name="Ethernet12", cable_length_m="300", pfcwd_action="alert", pfcwd_detection_time_ns="400ms",
                  pfcwd_restoration_time_ns="never")

    def test_references_in_brackets_and_lists_of_ports_are_read(self):
        self.taken(self.fixture("sonic-brackets.json"), 0)
        self.keys("qos_map", pfc_enable="3")
        self.keys("scheduler", strict_queues="6")
        self.assertEqual(self.map(0, "dwrr_weight")(3), 20)
        self.assertEqual(self.queue(1, 3, "wred_profile"), "AZURE_LOSSLESS")
        self.keys("switch", lossy_pool_bytes="2MB", buffer_bytes="14MB")
        self.keys("port 1", pfc_asymmetric="on")
        # 40G, 5 m, 9122 bytes: three frames with gaps, the pause, the cable, 118 quanta.
        self.noted("2 lossless groups without their own profile have no headroom: assumed 36000 bytes")
        self.noted("DSCP_TO_TC_MAP|AZURE: missing keys map to 0")

    def test_files_of_old_releases_have_lists_of_members_and_facts_of_the_platform(self):
        """As those of an Arista 7050 and of a Force10 S6000 that are published."""
        self.taken(tables("'platform': 'x86_64-arista_7050_qx32', 'onie_version': null, 'VLAN': {'Vlan10': {'vlanid': 10, 'members': ['Ethernet0']}}, "
                          "'PORTCHANNEL': {'PortChannel1': {'members': ['Ethernet4']}}, 'PORTCHANNEL_INTERFACE': {'PortChannel1|10.0.0.1/31': {}}"), 1)
        self.keys("port 0", access_vlan="10")
        self.keys("interface port 1", ip="10.0.0.1/31")
        self.lost("PORTCHANNEL_MEMBER|PortChannel1|Ethernet4")
        self.assertEqual([self.log.asides[word] for word in ("platform", "onie_version")], [1, 1])

    def test_equal_input_gives_equal_output(self):
        self.take(self.fixture("sonic-tor.json"))
        first = self.ini
        self.take(self.fixture("sonic-brackets.json"))
        self.take(self.fixture("sonic-tor.json"))
        self.assertEqual(self.ini, first)
        # Sections of one port go over those of all.
        self.assertIn("[queue 1|6]\nmax_rate_bps = 0\n", first)


class Ports(Sonic):
    def test_no_lossless_group_is_without_headroom(self):
        """As in the tables of a vendor: profiles of 0 bytes, and NULL for groups that SONiC computes."""
        self.taken(tables("'PORT_QOS_MAP': {'Ethernet0,Ethernet4': {'pfc_enable': '3,4'}}, 'CABLE_LENGTH': {'AZURE': {'Ethernet0': '5m', "
                          "'Ethernet4': '300m'}}, 'BUFFER_PROFILE': {'ingress_lossless_profile': {'size': '0', 'dynamic_th': '7'}, "
                          "'own': {'size': '0', 'xoff': '0', 'dynamic_th': '0'}}, 'BUFFER_PG': {'Ethernet0|3-4': {'profile': 'NULL'}, "
                          "'Ethernet4|3': {'profile': 'NULL'}, 'Ethernet4|4': {'profile': 'own'}}"), 0)
        self.noted("BUFFER_PG: 3 lossless groups without their own profile have no headroom: assumed")
        self.noted("BUFFER_PG: 1 lossless groups of own have no headroom: assumed")
        # The 300 m count for both: they share a profile.
        self.assertEqual(self.sections["buffer_profile own"]["xoff_bytes"], self.sections["buffer_profile lossless"]["xoff_bytes"])
        self.assertEqual(self.group(1, 4), "own")

    def test_a_port_that_is_down_stays_so(self):
        self.taken("""{"PORT": {"Ethernet0": {"speed": "100000", "admin_status": "down"}, "Ethernet4": {"speed": "100000", "admin_status": "up"}}}""", 0)
        self.keys("port 0", shutdown="on")
        self.keys("port 1", shutdown="off")

    def test_ports_have_the_priorities_that_they_name(self):
        self.taken(tables("'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '3,4'}, 'Ethernet4': {}}"), 0)
        self.keys("qos_map", pfc_enable="3-4")
        self.keys("port 0", flow_control="pfc")
        self.keys("port 1", flow_control="off", pfc_enable="default")
        self.taken(tables("'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '3,4'}, 'Ethernet4': {'pfc_enable': '3'}}"), 0)
        self.assertEqual([self.port(i, "pfc_enable") for i in (0, 1)], ["3-4", "3"])

    def test_ports_have_the_maps_that_they_name(self):
        self.taken(tables("'DSCP_TO_TC_MAP': {'A': {'1': '1'}, 'B': {'1': '2'}, 'C': {'1': '3'}}, "
                          "'TC_TO_PRIORITY_GROUP_MAP': {'P': {'5': '4', '6': '3'}}, 'DOT1P_TO_TC_MAP': {'D': {'7': '5'}}, "
                          "'PORT_QOS_MAP': {'Ethernet4': {'dscp_to_tc_map': 'B', 'tc_to_pg_map': 'P'}, 'global': {'dscp_to_tc_map': 'A'}, "
                          "'Ethernet0': {'dot1p_to_tc_map': 'D'}}"), 1)
        self.lost("DSCP_TO_TC_MAP|C: no port has this map")
        self.assertEqual([self.map(i, "dscp_to_tc_map")(1) for i in (0, 1)], [1, 2])
        self.assertEqual([self.sections[f"port {i}"]["dscp_to_tc_map"] == "default" for i in (0, 1)], [True, False])
        self.assertEqual(self.map(0, "dot1p_to_tc_map")(7), 5)
        self.assertEqual(self.port(0, "trust"), "dscp")  # its map is the global one
        self.taken(tables("'DSCP_TO_TC_MAP': {'A': {'1': '1'}}, 'DOT1P_TO_TC_MAP': {'D': {'7': '5'}}, "
                          "'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': 'A'}, 'Ethernet4': {'dot1p_to_tc_map': 'D'}}"), 0)
        self.assertEqual([self.port(i, "trust") for i in (0, 1)], ["dscp", "pcp"])

    def test_of_many_ports_some_are_chosen(self):
        names = [f"Ethernet{4 * i}" for i in range(66)]
        text = json.dumps({"PORT": {name: {} for name in names}, "PORT_QOS_MAP": {",".join(names): {"pfc_enable": "3"}},
                           "QUEUE": {"Ethernet260|1": {"scheduler": "gone"}}, "CABLE_LENGTH": {"A": {"Ethernet260": "7m"}}})
        self.taken(text, 1)
        self.lost("Ethernet256, the first of 2 more ports: a switch has at most 64")
        self.assertEqual(self.n_ports(), 64)
        self.ports = "Ethernet4-8,256"
        self.taken(text, 0)
        self.assertEqual(self.n_ports(), 3)
        self.keys("port 2", name="Ethernet256", flow_control="pfc")
        self.keys("qos_map", pfc_enable="3")

    def test_ports_inside_the_switch_stay_there(self):
        self.taken('{"PORT": {"Ethernet0": {"speed": "100000", "role": "Ext"}, "Ethernet-IB0": {"speed": "100000", "role": "Inb"}, '
                   '"Ethernet-Rec0": {"role": "Rec"}, "Ethernet8": {"role": "Dpc"}}, "QUEUE": {"Ethernet-IB0|3": {"scheduler": "gone"}}}', 0)
        self.assertEqual(self.n_ports(), 1)
        self.assertIn("PORT role Inb, PORT role Rec, PORT role Dpc", self.log.aside_text())

    def test_what_has_no_effect_is_no_loss(self):
        self.taken("""{"PORT": {"Ethernet0": {"tpid": "0x8100", "laser_freq": "0", "media_type": "x", "tx_power": "0", "macsec": ""}}}""", 0)
        self.taken("""{"PORT": {"Ethernet0": {"tpid": "0x9100", "macsec": "profile"}}}""", 2)
        self.lost("PORT|Ethernet0|tpid = 0x9100: tags have the type 0x8100")
        self.lost("PORT|Ethernet0|macsec = profile: frames are not encrypted")

    def test_floods_and_shapers_of_ports(self):
        self.taken(tables("'PORT_STORM_CONTROL': {'Ethernet0|broadcast': {'kbps': '10000'}, 'Ethernet0|unknown-unicast': {'kbps': '20000'}, "
                          "'Ethernet0|unknown-multicast': {'kbps': '0'}, 'Ethernet0|multicast': {'kbps': '1'}}, "
                          "'SCHEDULER': {'p': {'pir': '1250000000'}, 'q': {'pir': '125000000', 'pbs': '9000'}}, "
                          "'PORT_QOS_MAP': {'global': {'scheduler': 'p'}, 'Ethernet4': {'scheduler': '[SCHEDULER|q]'}}"), 2)
        self.lost("PORT_STORM_CONTROL|Ethernet0|multicast: expected one of broadcast, unknown-multicast, unknown-unicast")
        self.lost("PORT_QOS_MAP|Ethernet4|scheduler = q: of the scheduler of a port only pir counts")
        self.keys("port 0", storm_control_broadcast_bps="10M", storm_control_unknown_unicast_bps="20M", storm_control_multicast_bps="1",
                  shaper_rate_bps="10G")
        self.keys("port 1", shaper_rate_bps="1G")
        self.assertFalse(any("WRR" in note for note in self.log.notes))


class LineCards(Sonic):
    def test_keys_may_have_the_host_and_the_asic(self):
        text = ("'WRED_PROFILE': {'W': {'wred_green_enable': 'true', 'ecn': 'ecn_all', 'green_min_threshold': '100000', 'green_max_threshold': "
                "'200000'}}, 'SCHEDULER': {'S': {'type': 'DWRR', 'weight': '15'}}, 'BUFFER_PROFILE': {'own': {'size': '7', 'dynamic_th': '1'}}, "
                "'QUEUE': {'lc1|asic0|Ethernet0|3': {'scheduler': 'S', 'wred_profile': 'W'}, 'lc2|asic0|Ethernet0|4': {'scheduler': 'S'}}, "
                "'BUFFER_QUEUE': {'lc1|asic0|Ethernet0|0-2': {'profile': 'own'}}, 'BUFFER_PG': {'lc1|asic0|Ethernet4|0': {'profile': 'own'}}, "
                "'DEVICE_METADATA': {'localhost': {'hostname': 'lc1', 'asic_name': 'asic0', 'switch_type': 'voq'}}")
        self.taken(tables(text), 0)
        self.assertEqual(self.queue(0, 3, "wred_profile"), "W")
        weight = self.map(0, "dwrr_weight")
        self.assertEqual([weight(3), weight(4)], [15, 1])
        self.assertEqual(self.log.asides["QUEUE of lc2|asic0"], 1)
        self.assertEqual(self.count("buffer_profile") - 4, 0)  # the profile of most queues and groups is that of their class
        self.keys("buffer_profile egress_lossy", size_bytes="7B")

    def test_the_role_of_a_device_sets_the_seed(self):
        for role, seed in (("ToRRouter", "0"), ("LeafRouter", "10"), ("SpineRouter", "25"), ("MgmtToRRouter", "0"), ("x", "0")):
            self.taken(tables(f"'DEVICE_METADATA': {{'localhost': {{'type': '{role}'}}}}"), 0)
            self.keys("router", ecmp_hash_seed=seed)
        self.taken(tables("'SWITCH': {'switch': {'ecmp_hash_seed': '7', 'fdb_aging_time': '300'}}"), 0)
        self.keys("router", ecmp_hash_seed="7")
        self.keys("switch", fdb_ageing_s="300")


class Classes(Sonic):
    def test_a_class_above_seven_is_the_same_class_on_all_ports(self):
        self.taken(tables("'DSCP_TO_TC_MAP': {'A': {'1': '8', '2': '1'}, 'B': {'1': '2'}}, 'TC_TO_QUEUE_MAP': {'Q': {'8': '2', '2': '2', '1': '1'}, "
                          "'R': {'8': '3', '2': '2', '1': '1'}}, 'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': 'A', 'tc_to_queue_map': 'Q'}, "
                          "'Ethernet4': {'dscp_to_tc_map': 'B', 'tc_to_queue_map': 'R'}}"), 0)
        # On Ethernet0 class 8 is as class 2, on Ethernet4 it is not: no packet has class 7.
        self.noted("class 8 is class 7")
        self.assertEqual(self.map(0, "dscp_to_tc_map")(1), 7)
        self.assertEqual([self.map(i, "tc_to_queue_map")(7) for i in (0, 1)], [2, 3])

    def test_blanks_and_queues_above_seven_of_vendors_are_taken(self):
        self.taken(tables("'TC_TO_QUEUE_MAP': {'Q': {'6': ' 8', '1': ' 1 '}}, 'PORT_QOS_MAP': {'Ethernet0': {'tc_to_queue_map': 'Q'}}"), 0)
        self.noted("TC_TO_QUEUE_MAP|Q|6 = 8: queue 7, the highest one")
        queue = self.map(0, "tc_to_queue_map")
        self.assertEqual([queue(6), queue(1)], [7, 1])

    def test_classes_above_7_have_a_class_of_the_same_queue_and_group(self):
        identity = {str(i): str(i) for i in range(8)}
        maps = {"DSCP_TO_TC_MAP": {"A": {"1": "8", "2": "9", "3": "3", "4": "4"}}, "TC_TO_QUEUE_MAP": {"A": {**identity, "8": "1", "9": "2"}},
                "TC_TO_PRIORITY_GROUP_MAP": {"A": {**identity, "1": "0", "5": "0", "8": "0", "9": "0"}},
                "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "A", "tc_to_queue_map": "A", "tc_to_pg_map": "A", "pfc_enable": "3,4"}}}
        self.taken(tables(json.dumps(maps)[1:-1]), 0)
        # Class 8 is class 1. Class 9 is class 7, which no packet had.
        dscp = self.map(0, "dscp_to_tc_map")
        self.assertEqual([dscp(1), dscp(2)], [1, 7])
        self.assertEqual([self.map(0, "tc_to_queue_map")(7), self.map(0, "tc_to_priority_group_map")(7)], [2, 0])
        self.noted("class 8 is class 1")
        self.noted("class 9 is class 7")
        maps = {"DSCP_TO_TC_MAP": {"A": {**identity, "8": "8"}}, "TC_TO_QUEUE_MAP": {"A": {**identity, "8": "7"}},
                "TC_TO_PRIORITY_GROUP_MAP": {"A": {"8": "5"}},
                "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "A", "tc_to_queue_map": "A", "tc_to_pg_map": "A"}}}
        self.taken(tables(json.dumps(maps)[1:-1]), 1)
        self.lost("class 8 is class 0: there are eight classes")

    def test_a_priority_without_a_group_gets_its_own(self):
        self.taken(tables("'TC_TO_PRIORITY_GROUP_MAP': {'A': {'4': '1'}}, 'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '4', 'tc_to_pg_map': 'A'}}"), 0)
        self.assertEqual(self.map(0, "tc_to_priority_group_map")(4), 4)
        self.noted("class 4 has group 4 in place of 1")

    def test_dot1p_alone_is_what_is_trusted(self):
        self.taken(tables("'DOT1P_TO_TC_MAP': {'A': {'5': '2'}}, 'PORT_QOS_MAP': {'global': {'dot1p_to_tc_map': 'A'}}"), 0)
        self.keys("qos_map", trust="pcp")
        self.assertEqual(self.map(0, "dot1p_to_tc_map")(5), 2)


class Queues(Sonic):
    def test_queues_have_the_schedulers_of_their_ports(self):
        self.taken(tables("'SCHEDULER': {'a': {'type': 'DWRR', 'weight': '7'}, 'b': {'type': 'STRICT'}}, "
                          "'QUEUE': {'Ethernet0|1': {'scheduler': 'a'}, 'Ethernet4|0-1': {'scheduler': 'b'}}"), 0)
        self.keys("scheduler", strict_queues="none")
        self.assertEqual(self.map(0, "dwrr_weight")(1), 7)
        self.assertEqual(self.port(1, "strict_queues"), "0-1")

    def test_green_is_the_only_colour(self):
        for word, ecn in (("ecn_all", "ecn_all"), ("ecn_green_red", "ecn_all"), ("ecn_yellow", "ecn_none"), ("ecn_none", "ecn_none")):
            self.taken(tables(f"'WRED_PROFILE': {{'W': {{'ecn': '{word}', 'ecn_yellow_min_threshold': '5'}}}}"), 0)
            self.keys("wred W", ecn=ecn, wred_green_enable="off")

    def test_ecn_without_wred_marks_and_drops_nothing(self):
        self.taken(tables("'WRED_PROFILE': {'W': {'wred_green_enable': 'false', 'ecn': 'ecn_all', 'green_min_threshold': '1000', "
                          "'green_max_threshold': '2000', 'green_drop_probability': '5'}}"), 0)
        self.noted("WRED_PROFILE|W|wred_green_enable = false: ecn_green_* marks")
        self.keys("wred W", wred_green_enable="on", ecn_green_min_threshold_bytes="1KB", ecn_green_max_threshold_bytes="2KB",
                  ecn_green_mark_probability_ppm="5%", green_min_threshold_bytes="2GiB", green_drop_probability_ppm="0")

    def test_marks_may_have_thresholds_of_their_own(self):
        text = ("'WRED_PROFILE': {{'W': {{'wred_green_enable': 'true', 'ecn': '{}', 'green_min_threshold': '1000000', 'green_max_threshold': '2000000', "
                "'green_ect_min_threshold': '100000', 'ecn_green_min_threshold': '{}', 'green_ect_max_threshold': '400000', "
                "'green_ect_mark_probability': '50'}}}}")
        self.taken(tables(text.format("ecn_all", 100000)), 0)
        self.keys("wred W", green_min_threshold_bytes="1MB", ecn_green_min_threshold_bytes="100KB", ecn_green_max_threshold_bytes="400KB",
                  ecn_green_mark_probability_ppm="50%")
        self.refused(tables(text.format("ecn_all", 1)), "WRED_PROFILE|W|green_ect_min_threshold = 100000: expected the value of ecn_green_min_threshold")
        self.taken(tables(text.format("ecn_none", 100000)), 1)
        self.lost("WRED_PROFILE|W|ecn_green_max_threshold: thresholds of marks need ecn for green packets")


    def test_a_curve_without_an_end_is_never_reached(self):
        """SAI: a threshold of 0, the default, is the size of the buffer."""
        for more in ("", ", 'green_min_threshold': '0', 'green_max_threshold': '0'"):
            self.taken(tables("'WRED_PROFILE': {'W': {'wred_green_enable': 'true', 'ecn': 'ecn_all'" + more + "}}"), 0)
            self.noted("WRED_PROFILE|W|green_max_threshold: none, or 0, is the whole buffer")
            self.keys("wred W", green_min_threshold_bytes="2GiB", green_max_threshold_bytes="2GiB")


class Buffers(Sonic):
    def test_profiles_of_whole_ports_have_no_counterpart_unless_they_allow_all(self):
        text = ("'BUFFER_POOL': {'ingress_lossless_pool': {'type': 'ingress', 'size': '9000000'}, 'egress_lossy_pool': {'type': 'egress', 'size': '5000'}}, "
                "'BUFFER_PROFILE': {'all': {'pool': 'ingress_lossless_pool', 'size': '0', 'dynamic_th': '7'}, "
                "'most': {'pool': 'ingress_lossless_pool', 'size': '0', 'dynamic_th': '3'}, "
                "'whole': {'pool': 'egress_lossy_pool', 'size': '9216', 'static_th': '5000'}}, "
                "'BUFFER_PORT_INGRESS_PROFILE_LIST': {'Ethernet0': {'profile_list': 'all'}, 'Ethernet4': {'profile_list': '[BUFFER_PROFILE|all],most'}}, "
                "'BUFFER_PORT_EGRESS_PROFILE_LIST': {'Ethernet0,Ethernet4': {'profile_list': 'whole'}}")
        self.taken(tables(text), 2)
        self.lost("BUFFER_PORT_INGRESS_PROFILE_LIST|Ethernet4|profile_list = most: the limit of a whole port: quench has those of its groups")
        self.lost("BUFFER_PORT_EGRESS_PROFILE_LIST|Ethernet0,Ethernet4|profile_list = whole: 9216 reserved bytes of a whole port")
        self.assertEqual(self.log.asides["BUFFER_PORT_INGRESS_PROFILE_LIST all"], 2)
        self.refused(tables(text.replace("'whole'}}", "'gone'}}")), "profile_list = gone: expected names of entries of BUFFER_PROFILE")

    def test_a_pool_of_no_bytes_is_not_one_without_a_size(self):
        for pool in ("ingress_lossless_pool", "ingress_lossy_pool", "egress_lossy_pool"):
            self.taken(tables(f"'BUFFER_POOL': {{'{pool}': {{'type': '{pool.partition('_')[0]}'}}}}"), 0)
            self.taken(tables(f"'BUFFER_POOL': {{'{pool}': {{'type': '{pool.partition('_')[0]}', 'size': '0'}}}}"), 1)
            self.lost(f"BUFFER_POOL|{pool}|size = 0: a pool without room")

    def test_pools_have_other_names_and_other_sizes(self):
        """As in templates of vendors."""
        self.taken(tables("'BUFFER_POOL': {'p1': {'type': 'ingress', 'size': '100000 '}, 'p2': {'type': 'ingress', 'size': '50000'}, "
                          "'lossy_pool': {'type': 'egress', 'size': '70000'}}, 'BUFFER_PROFILE': {'ingress_lossless_profile': "
                          "{'pool': '[BUFFER_POOL|p1]', 'size': '4000', 'xoff': '30000', 'dynamic_th': '0'}, 'ingress_lossy_profile': "
                          "{'pool': 'p2', 'size': '0', 'dynamic_th': '3'}}, 'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '3,4'}}"), 0)
        # Two groups of two ports.
        self.noted("buffer_bytes is their 150000 + 136000")
        self.keys("switch", lossy_pool_bytes="50KB", egress_lossy_pool_bytes="70KB", buffer_bytes="286KB")

    def test_a_pool_of_both_directions_is_no_loss(self):
        self.taken(tables("'BUFFER_POOL': {'ingress_lossless_pool': {'type': 'both', 'size': '40000000'}}, 'BUFFER_PROFILE': {'p': {'pool': "
                          "'ingress_lossless_pool', 'size': '0', 'dynamic_th': '-1'}}, 'BUFFER_QUEUE': {'Ethernet0|0-2': {'profile': 'p'}}"), 0)

    def test_headroom_without_pfc_stays_behind(self):
        self.taken(tables("'BUFFER_PROFILE': {'p': {'size': '0', 'xoff': '1000', 'dynamic_th': '0'}}, 'BUFFER_PG': {'Ethernet0|3': {'profile': 'p'}}"), 1)
        self.lost("BUFFER_PG|Ethernet0|3|profile = p: has headroom")
        self.assertEqual(self.group(0, 3), "default")


class Network(Sonic):
    def test_vlans_addresses_and_routes_are_those_of_the_tables(self):
        self.taken(tables("'VLAN': {'Vlan10': {'vlanid': '10', 'members': ['Ethernet0']}, 'Vlan20': {}}, "
                          "'VLAN_MEMBER': {'Vlan10|Ethernet0': {'tagging_mode': 'untagged'}, 'Vlan20|Ethernet0': {'tagging_mode': 'tagged'}}, "
                          "'VLAN_INTERFACE': {'Vlan10': {}, 'Vlan10|10.0.10.1/24': {}, 'Vlan10|fd00:10::1/64': {'NULL': 'NULL'}}, "
                          "'INTERFACE': {'Ethernet4': {}, 'Ethernet4|10.0.33.0/31': {'scope': 'global', 'family': 'IPv4'}}, "
                          "'DEVICE_METADATA': {'localhost': {'mac': '02:00:00:00:00:AA'}}, "
                          "'STATIC_ROUTE': {'10.9.0.0/16': {'nexthop': '10.0.33.1,10.0.10.2', 'ifname': 'Ethernet4,Vlan10', 'distance': '0,0', "
                          "'blackhole': 'false,false'}, 'default|10.8.0.0/16': {'blackhole': 'true'}, 'Vrf1|10.7.0.0/16': {'nexthop': '10.0.33.1'}, "
                          "'fd00:9::/32': {'nexthop': 'fd00:10::2,fd00:10::3', 'distance': '10,5'}}"), 2)
        self.lost("STATIC_ROUTE|Vrf1|10.7.0.0/16: in a VRF")
        self.lost("STATIC_ROUTE|fd00:9::/32|nexthop = fd00:10::2: another next hop has a smaller")
        self.keys("switch", vlan_filtering="on")
        self.keys("port 0", access_vlan="10", tagged_vlans="20")
        self.keys("port 1", access_vlan="0")
        self.keys("router", router_mac="02:00:00:00:00:aa")
        self.assertEqual(self.count("interface"), 2)
        self.keys("interface vlan 10", ip6="fd00:10::1/64")
        self.keys("interface port 1", ip="10.0.33.0/31")
        self.assertEqual(self.count("route"), 3)
        self.keys("route 10.9.0.0/16", nexthop="10.0.33.1, 10.0.10.2")
        self.keys("route 10.8.0.0/16", nexthop="blackhole")
        self.keys("route fd00:9::/32", nexthop="fd00:10::3")

    def test_a_route_keeps_256_next_hops(self):
        hops = [f"10.0.{33 + i // 128}.{2 + i % 128}" for i in range(257)]
        self.taken(tables("'INTERFACE': {'Ethernet4|10.0.0.1/16': {}}, 'STATIC_ROUTE': {'10.9.0.0/16': {'nexthop': '" + ",".join(hops[:256]) + "'}, "
                          "'10.8.0.0/16': {'nexthop': '" + ",".join(hops) + "'}}"), 1)
        self.lost("STATIC_ROUTE|10.8.0.0/16|nexthop = 10.0.35.2: more next hops than a route has: 256")
        self.keys("route 10.9.0.0/16", nexthop=", ".join(hops[:256]))
        self.keys("route 10.8.0.0/16", nexthop=", ".join(hops[:256]))

    def test_static_entries_and_neighbours(self):
        self.taken(tables("'VLAN': {'Vlan10': {}}, 'VLAN_MEMBER': {'Vlan10|Ethernet0': {'tagging_mode': 'untagged'}}, 'VLAN_INTERFACE': "
                          "{'Vlan10|10.0.10.1/24': {}}, 'FDB': {'Vlan10|00-11-22-33-44-55': {'port': 'Ethernet0', 'type': 'static'}, "
                          "'Vlan10|00:11:22:33:44:56': {'port': 'Ethernet4'}, 'Vlan10|00:11:22:33:44:57': {'port': 'Ethernet0', 'type': 'dynamic'}}, "
                          "'NEIGH': {'Vlan10|10.0.10.7': {'neigh': '00:11:22:33:44:55', 'family': 'IPv4'}, 'Vlan10|10.0.11.7': {'neigh': "
                          "'00:11:22:33:44:55'}}, 'LLDP': {'GLOBAL': {'hello_time': '20', 'multiplier': '1', 'system_name': 'x'}}"), 3)
        self.lost("FDB|Vlan10|00:11:22:33:44:56: the port is not in this VLAN")
        self.lost("FDB|Vlan10|00:11:22:33:44:57: only static entries")
        self.lost("NEIGH|Vlan10|10.0.11.7: the address is in no subnet")
        self.keys("fdb 001122334455_10", mac="00:11:22:33:44:55", vlan="10", port="Ethernet0")
        self.keys("neighbor 10.0.10.7", mac="00:11:22:33:44:55")
        self.keys("lldp", lldp="on", lldp_tx_interval_ns="20s", lldp_tx_hold="2")
        self.noted("LLDP|GLOBAL|multiplier = 1: lldp_tx_hold = 2, the lowest value")

    def test_a_port_channel_of_sonic_is_its_first_port(self):
        self.taken(tables("'VLAN': {'Vlan5': {}}, 'PORTCHANNEL_MEMBER': {'PortChannel1|Ethernet4': {}, 'PortChannel1|Ethernet0': {}, "
                          "'PortChannel1|Ethernet8': {}}, 'VLAN_MEMBER': {'Vlan5|PortChannel1': {'tagging_mode': 'tagged'}, "
                          "'Vlan6|PortChannel1': {}, 'Vlan5|Ethernet8': {}}, 'PORTCHANNEL_INTERFACE': {'PortChannel1|10.0.0.1/31': {}}"), 6)
        self.lost("PORTCHANNEL_MEMBER|PortChannel1|Ethernet0: no link aggregation: the port alone")
        self.lost("VLAN_MEMBER|Vlan6|PortChannel1: no such VLAN")
        self.lost("VLAN_MEMBER|Vlan5|Ethernet8: no such port")
        self.keys("port 0", tagged_vlans="5")
        self.keys("port 1", tagged_vlans="none")
        self.lost("PORTCHANNEL_INTERFACE|PortChannel1|10.0.0.1/31: the port is in a VLAN")
        self.taken(tables("'PORTCHANNEL_MEMBER': {'PortChannel1|Ethernet4': {}}, 'PORTCHANNEL_INTERFACE': {'PortChannel1|10.0.0.1/31': {}}"), 1)
        self.keys("interface port 1", ip="10.0.0.1/31")


class Report(Sonic):
    def test_equal_losses_share_a_line(self):
        self.taken(tables("'PFC_WD': {" + ", ".join(f"'Ethernet{100 + i}': {{}}" for i in range(9)) + "}"), 1)
        self.lost("PFC_WD|Ethernet100,Ethernet101 and 7 more: no such port in PORT")

    def test_places_that_there_are_not_stay_behind(self):
        self.taken(tables("'QUEUE': {'Ethernet0|8': {}, 'CPU|1': {}}, 'PFC_WD': {'Ethernet8': {}}"), 3)
        self.lost("QUEUE|Ethernet0|8: numbers from 0 to 7")
        self.lost("QUEUE|CPU|1: no such port")
        self.keys("pfcwd", pfcwd="off")

    def test_an_unknown_word_is_lost_wherever_it_stands(self):
        for table, key in (("PORT_QOS_MAP", "Ethernet0"), ("SCHEDULER", "x"), ("QUEUE", "Ethernet0|1"), ("WRED_PROFILE", "x"), ("BUFFER_POOL", "x"),
                           ("BUFFER_PROFILE", "x"), ("BUFFER_PG", "Ethernet0|1"), ("BUFFER_QUEUE", "Ethernet0|1"), ("PFC_WD", "Ethernet0"),
                           ("VLAN", "Vlan5"), ("SWITCH", "switch"), ("LLDP", "GLOBAL"), ("PORT_STORM_CONTROL", "Ethernet0|broadcast")):
            self.taken(tables(f"'{table}': {{'{key}': {{'mystery': '7'}}}}"), 1)
            self.lost(f"{table}|{key}|mystery = \"7\": no counterpart")

    def test_what_is_out_of_range_is_refused_with_its_path(self):
        for text, words in (
                ("'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '8'}}", "in:1: PORT_QOS_MAP|Ethernet0|pfc_enable = 8: expected numbers from 0 to 7"),
                ("'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': '3,'}}", "expected numbers"),
                ("'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': 'NONE'}}", "expected the name of an entry of DSCP_TO_TC_MAP"),
                ("'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': '[QUEUE|A]'}}", "expected the name of an entry of DSCP_TO_TC_MAP"),
                ("'DSCP_TO_TC_MAP': {'A': {'64': '1'}}, 'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': 'A'}}",
                 "in:1: DSCP_TO_TC_MAP|A|64: expected a DSCP from 0 to 63"),
                ("'DSCP_TO_TC_MAP': {'A': {'1': '16'}}, 'PORT_QOS_MAP': {'Ethernet0': {'dscp_to_tc_map': 'A'}}",
                 "in:1: DSCP_TO_TC_MAP|A|1 = 16: expected a whole number from 0 to 15"),
                ("'SCHEDULER': {'s': {'weight': '101'}}", "in:1: SCHEDULER|s|weight = 101: expected a whole number from 1 to 100"),
                ("'SCHEDULER': {'s': {'type': 'FIFO'}}", "expected STRICT, DWRR or WRR"),
                ("'SCHEDULER': {'s': {'cir': '2', 'pir': '1'}}", "expected at most pir"),
                ("'QUEUE': {'Ethernet0|x': {}}", "in:1: QUEUE|Ethernet0|x: expected a number or a range"),
                ("'QUEUE': {'Ethernet0|4-3': {}}", "expected a number or a range"),
                ("'WRED_PROFILE': {'W': {'ecn': 'maybe'}}", "WRED_PROFILE|W|ecn = maybe"),
                ("'WRED_PROFILE': {'W': {'green_drop_probability': '101'}}", "from 0 to 100"),
                ("'WRED_PROFILE': {'W': {'green_min_threshold': '2', 'green_max_threshold': '1'}}", "expected at most green_max_threshold"),
                ("'WRED_PROFILE': {'W': {'wred_green_enable': 'yes'}}", "expected true or false"),
                ("'WRED_PROFILE': {'none': {}}", "expected a name of at most 40"),
                ("'BUFFER_POOL': {'ingress_lossless_pool': {'size': '-1'}}", "size = -1: expected"),
                ("'BUFFER_PROFILE': {'p': {'dynamic_th': '8'}}", "from -8 to 7"),
                ("'BUFFER_PROFILE': {'p': {'dynamic_th': '1', 'static_th': '1'}}", "one of static_th and dynamic_th"),
                ("'BUFFER_PG': {'Ethernet0|3': {'profile': 'gone'}}", "expected the name of an entry of BUFFER_PROFILE"),
                ("'PFC_WD': {'Ethernet0': {'action': 'panic'}}", "expected drop, forward or alert"),
                ("'PFC_WD': {'Ethernet0': {'detection_time': '0'}}", "from 1 to 60000"),
                ("'PFC_WD': {'GLOBAL': {'POLL_INTERVAL': '500'}, 'Ethernet0': {'detection_time': '200'}}",
                 "in:1: PFC_WD|Ethernet0|detection_time = 200: expected at least POLL_INTERVAL, which is 500"),
                ("'CABLE_LENGTH': {'A': {'Ethernet0': '5'}}", "expected metres from 0m"),
                ("'STATIC_ROUTE': {'10.0.0.0/8': {'nexthop': '10.0.0.1', 'distance': 'near'}}", "distance = near: expected a whole number from 0 to 255"),
                ("'QUEUE': 7", "in:1: QUEUE: expected a table"),
                ("'PORT_QOS_MAP': {'Ethernet0': {'pfc_enable': [3]}}", "expected a text or a number")):
            with self.subTest(text=text):
                self.refused(tables(text), words)

    def test_the_report_has_lines(self):
        self.taken(json.dumps(json.loads(tables("'SCHEDULER': {'s': {'type': 'WRR',\n 'mystery': '7'}}, 'QUEUE': {'Ethernet0|9': {}}, 'X': {'k': {}}")), indent=1), 3)
        self.lost("15: SCHEDULER|s|mystery = \"7\": no counterpart")
        self.lost("19: QUEUE|Ethernet0|9: numbers from 0 to 7")
        self.lost("21: X: no counterpart")
        self.noted("14: SCHEDULER|s|type = WRR")
        self.noted(" CABLE_LENGTH is missing")

    def test_what_is_no_config_db_is_refused(self):
        for text, words in (("", "expected a complete config_db.json"), ("[]", "expected a config_db.json"), ('{"VLAN": {}}', "expected a config_db.json"),
                            ("hostname leaf-1\n", "in:1: "), ('{"PORT": {}}', "expected at least one port"), ('{"PORT": {"a": {}, "a": {}}}', "duplicate"),
                            ('{"PORT":\n {"a": {},\n\n "a": {}}}', "in:4: duplicate key"), ('{"PORT": {"a": {"x": NaN}}}', "in:1: "),
                            ('{"PORT": ' + "[" * 5000, "expected at most 64 levels")):
            with self.subTest(text=text[:40]):
                self.refused(text, words)
        # Every beginning of a good one.
        whole = tables("")
        for n in range(1, len(whole)):
            self.refused(whole[:n], "complete")


if __name__ == "__main__":
    unittest.main()
