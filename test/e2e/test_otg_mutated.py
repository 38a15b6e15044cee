#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg beside configurations and requests that nobody would write: each is in force, or refused with a line for each mistake.

Hypothesis changes good ones. What quench-otg accepts, quench-nic accepts too (--check-config); nothing is a traceback, and no status but 200,
400 and 501 is there. QUENCH_EXAMPLES sets the number of configurations (default 100). They follow from a fixed seed.
"""
import copy
import json
import os
import random
import sys
import tempfile
import threading
import traceback

from harness import BUILD, check, check_equal, finish, run, skip
from otg_bed import ROOT, device, flow, pfc, raw_flow, settings, tx_port, value

sys.path.append(str(ROOT / "test" / "tools"))
from fake_otg import Otg  # noqa: E402
from otg import schema  # noqa: E402
from quench.desk import Failed  # noqa: E402

try:
    from hypothesis import HealthCheck, given, seed, settings as options, strategies as st
except ImportError:
    skip("python3-hypothesis is not installed")

EXAMPLES = int(os.environ.get("QUENCH_EXAMPLES", "100"))
VALUES = [None, True, False, 0, 1, -1, 2, 7, 8, 63, 64, 65, 255, 256, 1500, 4095, 4096, 9000, 65535, 65536, 1 << 24, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63, 1 << 64,
          10**400, 0.5, -0.5, 1.5, 1e-300, 1e300, float("inf"), float("nan"), "", " ", "0", "7", "-1", "x", "a\nb = c\n[nic]", "\ud800", "\u0000", "tx", "host1.ip",
          "t1", "10.0.0.1", "0.0.0.0", "255.255.255.255", "fd00::1", "::", "02:00:00:00:00:01", "ff:ff:ff:ff:ff:ff", "00", "ffffffffffffffffff", "auto", "value",
          [], [None], [[]], ["tx"], ["x", "x"], {}, {"choice": None}, {"choice": "value"}, {"name": "x"}]


def configuration():
    """Of each kind of object one."""
    ethernet = ("ethernet", {"dst": value("02:00:00:00:00:02"), "src": {"choice": "increment", "increment": {"start": "02:00:00:00:00:01", "count": 3}}, "pfc_queue": value(3)})
    ip = ("ipv4", {"src": value("10.0.0.1"), "dst": {"choice": "values", "values": ["10.0.0.2", "10.0.0.3"]}, "priority": {"choice": "dscp", "dscp": {"phb": value(26)}}})
    return {
        "ports": [{"name": "tx", "location": "a"}, {"name": "rx", "location": "b"}],
        "layer1": [{**pfc(["tx", "rx"], pfc_class_3=3), "speed": "speed_10_gbps", "mtu": 1500, "auto_negotiation": {"rs_fec": False}}],
        "captures": [{"name": "c", "port_names": ["rx"], "filters": [{"choice": "ipv4", "ipv4": {"dst": {"value": "0a000001", "mask": "ffffffff"}}},
                                                                     {"choice": "custom", "custom": {"offset": 64, "value": "11", "mask": "ff"}}]}],
        "devices": [device(1, "tx", {2: [("t1", 100, {"dscp": 26}), ("t2", 101, {})]}), device(2, "rx", {1: [("r1", 300, {}), ("r2", 301, {})]})],
        "flows": [raw_flow("raw1", "tx", ethernet, ("vlan", {"id": value(5)}), ip, ("udp", {"dst_port": value(4791)}), rx="rx", size=128),
                  raw_flow("raw2", "rx", ("pfcpause", {"src": value("02:00:00:00:00:02"), "pause_class_3": value(65535)}), rate={"choice": "percentage", "percentage": 1}),
                  raw_flow("raw3", "tx", ethernet, ("ipv6", {"src": value("fd00::1"), "dst": value("fd00::2")}), ("udp", {}), rx="rx", size=1518,
                           duration={"choice": "fixed_packets", "fixed_packets": {"packets": 7}})],
        "stateful_flows": {"choice": "rocev2", "rocev2": [{"tx_ports": [tx_port("tx", [
            flow("f1", "t1", "r1"), flow("f2", "t2", "r2", verb="read")])]}]},
        "options": {"per_port_options": [settings("tx", alpha_g=1020)], "protocol_options": {"auto_start_all": True}, "port_options": {"location_preemption": False}},
    }


REQUESTS = [
    ("PATCH", "/config", {"choice": "flows", "flows": {"property_names": ["rate", "size"], "flows": [raw_flow("raw1", "tx", rate={"choice": "pps", "pps": 7}, size=256)]}}),
    ("PATCH", "/config/append", [{"choice": "flows", "flows": [raw_flow("raw9", "tx", ("ethernet", {"dst": value("02:00:00:00:00:02")}))]}]),
    ("PATCH", "/config/delete", {"config_delete_list": [{"choice": "flows", "flows": ["raw1"]}]}),
    ("POST", "/control/state", {"choice": "traffic", "traffic": {"choice": "flow_transmit", "flow_transmit": {"state": "start", "flow_names": ["f1", "raw2"]}}}),
    ("POST", "/control/state", {"choice": "port", "port": {"choice": "link", "link": {"state": "down", "port_names": ["rx"]}}}),
    ("POST", "/control/state", {"choice": "protocol", "protocol": {"choice": "all", "all": {"state": "stop"}}}),
    ("POST", "/control/action", {"choice": "protocol", "protocol": {"choice": "ipv4", "ipv4": {"choice": "ping", "ping": {"requests": []}}}}),
    ("POST", "/monitor/metrics", {"choice": "port", "port": {"port_names": ["tx"], "column_names": ["frames_tx"]}}),
    ("POST", "/monitor/metrics", {"choice": "flow", "flow": {"flow_names": ["raw1"], "metric_names": ["frames_tx"]}}),
    ("POST", "/monitor/metrics", {"choice": "rocev2_flow", "rocev2_flow": {"choice": "per_qp", "per_qp": {"column_names": ["tx_bytes"]}}}),
    ("POST", "/monitor/metrics", {"choice": "rocev2_ipv4", "rocev2_ipv4": {"choice": "per_peer", "per_peer": {"peer_names": ["host1-2"]}}}),
    ("POST", "/monitor/states", {"choice": "ipv4_neighbors", "ipv4_neighbors": {"ethernet_names": ["host1.eth"]}}),
    ("POST", "/monitor/capture", {"port_name": "rx", "packets": {"choice": "slice", "slice": {"choice": "initial", "initial": {"count": 3}}}}),
]


def places(found):
    """(container, key) of each value in it."""
    left, out = [found], []
    while left:
        item = left.pop()
        pairs = list(item.items()) if isinstance(item, dict) else list(enumerate(item)) if isinstance(item, list) else []
        out += [(item, key) for key, _ in pairs]
        left += [value_ for _, value_ in pairs]
    return out


# Properties that some object has, and values that some property may have.
KEYS = sorted({key for found in schema.SCHEMAS.values() for key in found.get("properties", {})})
ENUMS = sorted({name for found in schema.SCHEMAS.values() for prop in found.get("properties", {}).values() for name in prop.get("enum", prop.get("items", {}).get("enum", []))})


def mutate(found, chance, n):
    """n values are changed, moved, doubled or left out; or there is another property."""
    found = [found]
    for _ in range(n):
        container, key = chance.choice(places(found))
        kind = chance.randrange(8)
        other, at = chance.choice(places(found))
        if kind < 3:
            container[key] = copy.deepcopy(chance.choice(VALUES))
        elif kind == 3:
            container[key] = chance.choice(ENUMS)
        elif kind == 4 and isinstance(container, dict):
            del container[key]
        elif kind == 5 and isinstance(container, dict):
            container[chance.choice(KEYS)] = copy.deepcopy(chance.choice([container[key], *VALUES]))
        elif kind == 6 and isinstance(container, list) and container is not found:
            container.append(copy.deepcopy(container[key]))
        else:
            container[key] = copy.deepcopy(other[at])
    return found[0]


class Checked:
    """quench-nic reads each configuration that a port would get."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".ini", encoding="utf-8")
        self.known = set()
        self.lock = threading.Lock()  # ports change at the same time

    def __call__(self, text):
        with self.lock:
            if text not in self.known:
                self.read(text)

    def read(self, text):
        self.file.seek(0)
        self.file.truncate()
        self.file.write(text)
        self.file.flush()
        done = run(BUILD / "app/quench-nic/quench-nic", "--config", self.file.name, "--check-config")
        if done.returncode:
            raise Failed(f"quench-nic refuses what quench-otg accepts: {done.stderr.strip().splitlines()[-1:]}")
        self.known.add(text)


def ask(otg, method, path, body):
    data = json.dumps(body).encode()
    status, reply = otg.ask(method, path, data)
    lines = reply.get("errors", reply.get("warnings", [])) if status != 200 or "warnings" in reply else []
    assert status in (200, 400) or (status == 501 and path == "/control/action"), (status, reply, path, data)
    assert (status == 200) == ("errors" not in reply) and (status == 200 or 1 <= len(lines) <= schema.MOST_ERRORS + 1), (status, reply, data)
    assert all(isinstance(line, str) and "\n" not in line and len(line) < 4000 for line in lines), lines
    assert len(set(lines)) == len(lines), (lines, data)
    COUNTS[status] = COUNTS.get(status, 0) + 1
    return status


COUNTS = {}


def trial(checked, number, changes, request_number):
    chance = random.Random(number)
    otg = OTG[0]
    method, path, body = REQUESTS[request_number]
    ask(otg, "POST", "/config", mutate(configuration(), chance, changes))
    if ask(otg, "POST", "/config", mutate(configuration(), chance, changes)) != 200:
        ask(otg, "POST", "/config", configuration())
    ask(otg, method, path, mutate(copy.deepcopy(body), chance, changes - 1))


OTG = []


def main():
    checked = Checked()
    OTG.append(Otg({"a": ("a",), "b": ("b",)}, checked))
    check_equal("a good configuration is accepted", ask(OTG[0], "POST", "/config", configuration()), 200)

    @seed(4791)
    @options(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(0, len(REQUESTS) - 1))
    def mutations(number, changes, request_number):
        trial(checked, number, changes, request_number)

    try:
        mutations()
        check("each is in force or refused in lines", True)
    except AssertionError:
        traceback.print_exc()
        check("each is in force or refused in lines", False)
    check("some are in force, and most are not", COUNTS[200] > EXAMPLES and COUNTS[400] > EXAMPLES // 2, COUNTS)
    OTG[0].end()
    finish()


main()
