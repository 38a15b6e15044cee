#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each key of --help-config is set by an import, or is listed here with the reason. The same for what export sonic writes.

A key is set if its value differs from the default after the import of one of the files below, which have all that is carried over.
"""
import json
import unittest

from case import Case, program
from convert.command import DIALECTS
from convert.log import Log

NXOS = """
feature lldp
feature interface-vlan
lldp timer 20
lldp holdtime 60
mac address-table aging-time 300
mac address-table static 0011.2233.4455 vlan 10 interface Ethernet1/1
priority-flow-control watch-dog-interval on
priority-flow-control watch-dog interval 200
priority-flow-control watch-dog shutdown-multiplier 2
priority-flow-control auto-restore multiplier 5
priority-flow-control fixed-restore multiplier 3
vlan 1,10,20
class-map type qos match-any R
  match dscp 26
class-map type qos match-any C
  match cos 3
policy-map type qos P
  class R
    set qos-group 3
policy-map type qos Q
  class C
    set qos-group 3
policy-map type network-qos N
  class type network-qos c-8q-nq3
    mtu 9216
    pause buffer-size 300000 pause-threshold 100000 resume-threshold 90000 pfc-cos 4
policy-map type queuing O
  class type queuing c-out-8q-q3
    bandwidth percent 60
    random-detect minimum-threshold 100 kbytes maximum-threshold 200 kbytes drop-probability 7 weight 2
    shape min 1 gbps max 10 gbps
  class type queuing c-out-8q-q1
    queue-limit dynamic 9
  class type queuing c-out-8q-q2
    queue-limit 90 kbytes
    priority
policy-map type queuing T
  class type queuing c-out-8q-q3
    random-detect minimum-threshold 100 kbytes maximum-threshold 300 kbytes ecn
system qos
  service-policy type network-qos N
  service-policy type queuing output O
  service-policy type qos input Q
interface Vlan10
  ip address 10.0.10.1/24
  ipv6 address fd00::1/64
  ip arp 10.0.10.7 0011.2233.4455
interface Ethernet1/1-3
  speed 25000
  mtu 9300
  switchport mode trunk
  switchport trunk native vlan 10
  priority-flow-control mode on
  priority-flow-control watch-dog interface-multiplier 4 disable-action
  storm-control broadcast level 1
  storm-control multicast level 2
  storm-control unicast level 3
interface Ethernet1/2
  shutdown
  no priority-flow-control mode on
  service-policy type qos input P
  service-policy type queuing output T
ip route 10.9.0.0/16 10.0.10.9
"""
SONIC = {
    "PORT": {"Ethernet0": {"speed": "25000", "mtu": "9000", "pfc_asym": "on"}, "Ethernet4": {"speed": "25000", "mtu": "9000", "admin_status": "down"},
             "Ethernet8": {"speed": "25000", "mtu": "9000"}},
    "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}},
    "PORT_STORM_CONTROL": {f"Ethernet0|{kind}": {"kbps": "1000"} for kind in ("broadcast", "unknown-unicast", "unknown-multicast")},
    "DSCP_TO_TC_MAP": {"A": {"5": "3"}, "B": {"6": "3"}}, "DOT1P_TO_TC_MAP": {"A": {"5": "3"}, "B": {"6": "3"}},
    "TC_TO_QUEUE_MAP": {"A": {"3": "3", "4": "4", "5": "1"}, "B": {"3": "3", "5": "2"}}, "TC_TO_PRIORITY_GROUP_MAP": {"A": {"3": "3", "4": "4"}, "B": {"3": "3"}},
    "MAP_PFC_PRIORITY_TO_QUEUE": {"A": {"3": "3", "4": "4"}, "B": {"3": "3", "5": "1"}},
    "PORT_QOS_MAP": {
        "Ethernet0,Ethernet4": {"dscp_to_tc_map": "A", "dot1p_to_tc_map": "A", "tc_to_queue_map": "A", "tc_to_pg_map": "A", "pfc_to_queue_map": "A",
                                "pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"},
        "Ethernet4": {"dscp_to_tc_map": "B"},
        "Ethernet8": {"dot1p_to_tc_map": "B", "tc_to_queue_map": "B", "tc_to_pg_map": "B", "pfc_to_queue_map": "B", "pfc_enable": "3",
                      "pfcwd_sw_enable": "3,4", "scheduler": "port"}},
    "SCHEDULER": {"port": {"pir": "1250000000"}, "s": {"type": "STRICT", "cir": "125000", "pir": "1250000", "pbs": "9000"}, "d": {"type": "DWRR", "weight": "7"}},
    "WRED_PROFILE": {"W": {"wred_green_enable": "true", "ecn": "ecn_all", "green_min_threshold": "1", "green_max_threshold": "2", "green_drop_probability": "3",
                           "ecn_green_min_threshold": "1", "ecn_green_max_threshold": "2", "ecn_green_mark_probability": "3"},
                     "X": {"wred_green_enable": "false", "ecn": "ecn_none", "green_min_threshold": "1", "green_max_threshold": "2"}},
    "QUEUE": {"Ethernet0|3": {"scheduler": "s", "wred_profile": "W"}, "Ethernet4|3": {"scheduler": "d", "wred_profile": "X"}},
    "BUFFER_POOL": {"ingress_lossless_pool": {"size": "30000000", "type": "ingress", "xoff": "1000000"},
                    "ingress_lossy_pool": {"size": "5000000", "type": "ingress"}, "egress_lossy_pool": {"size": "9000000", "type": "egress"}, "egress_lossless_pool": {"size": "36000000", "type": "egress"}},
    "BUFFER_PROFILE": {
        "ingress_lossless_profile": {"pool": "ingress_lossless_pool", "size": "1", "static_th": "50000", "xon": "1", "xon_offset": "2", "xoff": "60000"},
        "ingress_lossy_profile": {"pool": "ingress_lossy_pool", "size": "1", "dynamic_th": "1"},
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "1", "dynamic_th": "1"},
        "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "1", "static_th": "90000"},
        "own": {"pool": "ingress_lossless_pool", "size": "1", "static_th": "40000", "xon": "1", "xon_offset": "2", "xoff": "60000"},
        "plain": {"pool": "ingress_lossless_pool", "size": "1", "dynamic_th": "2", "xon": "1", "xon_offset": "2", "xoff": "60000"},
        "queues": {"pool": "egress_lossy_pool", "size": "1", "static_th": "3"}},
    "BUFFER_PG": {"Ethernet0|3": {"profile": "own"}, "Ethernet4|3": {"profile": "plain"}}, "BUFFER_QUEUE": {"Ethernet0|1": {"profile": "queues"}},
    "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200", "BIG_RED_SWITCH": "enable"},
               "Ethernet0": {"action": "alert", "detection_time": "400", "restoration_time": "500"},
               "Ethernet4": {"action": "forward", "detection_time": "600", "restoration_time": "700"}},
    "VLAN": {"Vlan10": {}, "Vlan20": {}},
    "VLAN_MEMBER": {"Vlan10|Ethernet0": {"tagging_mode": "untagged"}, "Vlan20|Ethernet0": {"tagging_mode": "tagged"}},
    "VLAN_INTERFACE": {"Vlan10|10.0.10.1/24": {}, "Vlan10|fd00::1/64": {}},
    "STATIC_ROUTE": {"10.9.0.0/16": {"nexthop": "10.0.10.9"}}, "NEIGH": {"Vlan10|10.0.10.7": {"neigh": "00:11:22:33:44:55"}},
    "FDB": {"Vlan10|00:11:22:33:44:55": {"port": "Ethernet0"}}, "SWITCH": {"switch": {"fdb_aging_time": "300"}},
    "DEVICE_METADATA": {"localhost": {"mac": "02:00:00:00:00:01", "type": "LeafRouter"}}, "LLDP": {"GLOBAL": {"hello_time": "20", "multiplier": "5"}},
}
SONIC_BY_PCP = {"PORT": {"Ethernet0": {}}, "DOT1P_TO_TC_MAP": {"A": {"5": "3"}}, "PORT_QOS_MAP": {"global": {"dot1p_to_tc_map": "A"}}}
MLNX = """RPG_AI_RATE_P1 9
RPG_HAI_RATE_P1 90
RPG_TIME_RESET_P1 301
RPG_BYTE_RESET_P1 151
RPG_THRESHOLD_P1 2
RPG_MAX_RATE_P1 200000
RPG_GD_P1 10
RPG_MIN_DEC_FAC_P1 40
RPG_MIN_RATE_P1 2
RATE_TO_SET_ON_FIRST_CNP_P1 1000
DCE_TCP_G_P1 1000
DCE_TCP_RTT_P1 2
RATE_REDUCE_MONITOR_PERIOD_P1 5
INITIAL_ALPHA_VALUE_P1 1000
CLAMP_TGT_RATE_P1 True(1)
CLAMP_TGT_RATE_AFTER_TIME_INC_P1 False(0)
MIN_TIME_BETWEEN_CNPS_P1 5
CNP_DSCP_P1 40
CNP_802P_PRIO_P1 5
ROCE_CC_CNP_MODERATION_P1 PER_IP(2)
ROCE_CC_PRIO_MASK_P1 0
"""
OF_QUENCH = "software of quench: a host's memory, lcores, seeds and counts"
OF_TESTS = "for tests and measurements"
NO_WORDS = "no line or table of the dialects has words for it"
# Keys of quench-switch that no import sets.
NOT_IMPORTED = {
    OF_QUENCH: """switch.seed switch.shards switch.fdb_entries switch.watermark_interval_ns switch.shaper_burst_ns router.neighbor_entries port.device
        port.mac port.shard port.peer_response_ns""",
    OF_TESTS: "switch.mark_accuracy port.tx_disabled port.pfc_delay_quanta switch.pfc_generate",
    "the importers write curves as hardware has them, which marks at dequeue": "switch.mark_at",
    "schemes of papers, which no switch on the market has": "step.* phantom.* queue.marking switch.int_telemetry",
    "cells depend on the platform": "switch.cell_bytes",
    NO_WORDS: """wred.nonect_drop_in_lossless pfc.pfc_xoff_quanta pfc.pfc_refresh_pct router.ecmp_hash_flow_label router.neigh_retrans_time_ns
        router.neigh_reachable_time_ns router.icmp_errors_per_s pfcwd.detect_empty pfcwd.xon_blocks_restore pfcwd.big_red_switch_storms lldp.lldp_tx_fast_init
        lldp.dcbx_willing port.max_learned_addresses""",
}
# Further keys that export sonic does not write, though NX-OS sets them.
NOT_EXPORTED = {
    "of NX-OS's watchdog": """pfcwd.watch_dog_interval_ns pfcwd.shutdown_multiplier pfcwd.auto_restore_multiplier pfcwd.fixed_restore_multiplier
        port.pfcwd_interface_multiplier""",
    "SONiC has no average queue length": "wred.wred_weight",
    "SONiC has one MTU for all classes of a port": "tc.mtu_bytes",
}
# Keys of quench-nic that no import sets, by section.
NIC_SECTIONS = {"dctcp", "timely", "hpcc", "swift", "aimd", "fair", "dcqcn_plus"}
NIC_NOT_IMPORTED = {
    "an adapter's settings are those of its DCQCN": "receiver.* qos_map.* pfc.* flow.* frames.* job.*",
    "not a setting of the adapter": """rp.rp_profile rp.rp_hyper_by_timer np.np_cnp_delay_ns np.np_min_port_cnp_interval_ns np.np_cnp_ecn np.np_ecn_echo
        nic.mac nic.ip6 nic.shaper_burst_ns nic.first_qpn nic.max_qps nic.control_tx_queue nic.cm_* nic.neigh_* nic.qp_burst_bytes nic.spread_starts nic.icrc_check
        nic.flow_control nic.initial_rate* nic.data_* nic.ack_* nic.local_ack_timeout nic.retry_cnt nic.rnr_retry nic.min_rnr_timer
        nic.max_rd_atomic nic.window_packets nic.rate_window_bytes nic.int_slots nic.measure_* nic.signature* nic.rx_frame_bytes""",
}


def kind_of(section):
    """[port N] is port, [buffer_profile lossless] is buffer_profile."""
    return section.partition(" ")[0]


def every_key(name):
    return {f"{kind_of(section)}.{key}" for section, keys in program.help_config(name).items() for key in keys}


def listed(reasons, keys):
    """Keys of a list, in which .* stands for every key that begins so."""
    found = set()
    for word in " ".join(reasons.values()).split():
        matches = {key for key in keys if key.startswith(word[:-1])} if word.endswith("*") else {word} & keys
        assert matches, f"{word} is no key: take it off the list"
        found |= matches
    return found


class Keys(Case):
    def changed(self, dialect, text, name, plain):
        """Keys whose value differs from the default."""
        self.DIALECT, self.PROGRAM = dialect, name
        self.taken(text, 0)
        defaults = program.defaults(name, plain)
        return {f"{kind_of(section)}.{key}" for section, keys in self.sections.items() for key, value in keys.items()
                if value != defaults.get(section, defaults.get(kind_of(section), {})).get(key)}

    def test_each_key_of_a_switch_is_set_by_an_import_or_listed(self):
        plain = "[port 0]\nlink_speed_bps = 100G\n"
        keys = every_key("quench-switch")
        sonic = self.changed("sonic", json.dumps(SONIC), "quench-switch", plain)
        ini = self.ini
        sonic |= self.changed("sonic", json.dumps(SONIC_BY_PCP), "quench-switch", plain)
        nxos = self.changed("nxos", NXOS, "quench-switch", plain)
        missing = listed(NOT_IMPORTED, keys)
        self.assertEqual(keys - sonic - nxos - missing, set(), "neither set nor listed")
        self.assertEqual((sonic | nxos) & missing, set(), "listed, but set")
        # What SONiC's tables set goes back to them; what only NX-OS sets is listed.
        log = Log("in")
        DIALECTS["export", "sonic"](ini, log)
        self.assertEqual(log.lost, [])
        self.assertEqual(nxos - sonic, listed(NOT_EXPORTED, keys), "what only NX-OS sets")

    def test_each_key_of_a_nic_is_set_by_an_import_or_listed(self):
        keys = {key for key in every_key("quench-nic") if kind_of(key.replace(".", " ")) not in NIC_SECTIONS}
        plain = "[nic]\nip = none\nip6 = fd00::1\n[rp]\nrp_profile = mlx\n[flow peer]\npeer_ip = fd00::2\n"
        mlnx = {key for key in self.changed("mlnx", MLNX, "quench-nic", plain) if not key.startswith("flow.")} - {"nic.ip6"}
        missing = listed(NIC_NOT_IMPORTED, keys)
        self.assertEqual(keys - mlnx - missing, set(), "neither set nor listed")
        self.assertEqual(mlnx & missing, set(), "listed, but set")


if __name__ == "__main__":
    unittest.main()
