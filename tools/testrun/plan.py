# SPDX-License-Identifier: BSD-3-Clause
"""A scenario on ports: a quench-nic for each host with flows, a quench-switch for each switch, and a timetable of changes.

The configurations come from the one that quench-lab has in force, so that a key has the same value in both places. What quench-lab derives
for itself (addresses, QP numbers, fixed neighbours) is in them, too.
"""
from __future__ import annotations

import dataclasses
import re
from typing import NamedTuple, NoReturn

from quench.programs import SHARED

from .in_lab import ends
from .quantities import parse
from .sections import COMMENT, FILES, BadFile, Section, TestFile
from .wiring import ROWS, Port, Wiring

MOST_HOSTS = 32
DURATION = 10**18  # ns: later than any run
FIRST_QPN = 0x100
WATERMARKS = ("pg", "pg_shared", "pg_headroom", "queue", "buffer_pool", "headroom_pool")
STORM, STORM_END = "frames pause storm", "frames end of the pause storm"  # sections of a host: pauses, and the frame that ends them
PAUSES_EACH = 4  # frames in the time of one pause
WIRE_BITS = 8 * 84  # of a pause frame
Keys = dict[str, str]

# The first words of sections that quench-switch reads; those of BOTH, and all others, are read by quench-nic.
SWITCH = {"switch", "wred", "step", "phantom", "buffer_profile", "scheduler", "pfcwd", "lldp", "router", "tc", "pg", "queue", "port", "fdb"}
BOTH = {"qos_map", "pfc"}
LAB_ONLY = {"link": "links of their own", "static_route": "bridges", "stream": "flows", "interface": "a bridge", "route": "a bridge", "neighbor": "a bridge"}
PLAIN_QP_BURST = "2048B"
# Keys of a flow that name other hosts, or times, which are in the timetable, or are of the lab alone.
NOT_OF_NIC = ("src", "dst", "pattern", "trace", "start_ns", "stop_ns", "load_ppm", "stopped", "qp_per_message", "after", "barrier")
PORTS_KEY = re.compile(r"h\d+|(s\d+) port (\d+)")


class End(NamedTuple):
    """An end of a flow: host and first QP number."""

    host: int
    qpn: int


@dataclasses.dataclass
class PlannedFlow:
    name: str  # of the lab, such as "incast h1"
    section: str
    src: End
    dst: End
    keys: Keys
    ranks: str = ""  # of a job: such as 0-3

    @property
    def sender(self) -> int:
        """The host that sends the data."""
        return (self.dst if self.keys["verb"] == "read" else self.src).host

    @property
    def receiver(self) -> int:
        return (self.src if self.keys["verb"] == "read" else self.dst).host


class Step(NamedTuple):
    """A change at a time. node: "h1" or "s1", say; settings: keys to set; clears: watermarks to clear."""

    at_ns: int
    what: str
    node: str
    settings: Keys
    clears: tuple[str, ...] = ()


@dataclasses.dataclass
class Plan:
    nics: dict[int, str]  # host: configuration
    switches: dict[str, str]  # name: configuration; none: the switches are not ours
    wiring: Wiring
    flows: list[PlannedFlow]
    steps: list[Step]
    devices: Keys
    duration_ns: int
    measure_from_ns: int
    sample_ns: int
    huge: bool
    idle_sleep_us: int
    record: int | None    # host; frames of its link are recorded
    jobs: dict[str, list[int]] = dataclasses.field(default_factory=dict)  # the hosts of their ranks


def sections_of(text: str) -> dict[str, Keys]:
    found: dict[str, Keys] = {}
    for line in text.splitlines():
        plain = COMMENT.sub("", line).strip()
        if plain.startswith("["):
            keys = found.setdefault(plain[1:-1], {})
        elif plain:
            key, _, value = plain.partition("=")
            keys[key.strip()] = value.strip()
    return found


def write_section(name: str, keys: Keys) -> str:
    return f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) + "\n"


def nanoseconds(text: str) -> int:
    return DURATION if text == "never" else round(parse(text, "ns") or 0)


def numbers(text: str) -> set[int]:
    """Of a list such as 1,3-4 or none."""
    found: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        found |= set(range(int(first), int(last or first) + 1))
    return found


# Keys of [job NAME] that only quench-lab has.
OF_SERVERS = ("ranks_per_server", "rank_nics", "pxn")


class OnlyInLab(BadFile):
    """Something that quench-lab has and ports do not."""


class Maker:
    """Makes a plan of what quench-lab has in force."""

    def __init__(self, file: TestFile, text: str) -> None:
        self.file = file
        self.sections = sections_of(text)
        self.used = {"ports"}
        ports = file.own.get("ports")
        self.shares_cpus = ports is None or ports.get("idle_sleep_us", "50") != "0"
        self.fabric = self.sections["fabric"]
        self.addresses = {int(host): (ip, mac) for host, ip, mac in re.findall(r"^#   h(\d+): (\S+), (\S+)$", text, re.M)}
        self.ends = ends(text)
        rows = ROWS.get(self.fabric["topology"])
        self.wiring = Wiring(rows(self.fabric) if rows else 1, 1)
        self.storms: set[int] = set()  # hosts
        self.jobs = {name.partition(" ")[2]: keys for name, keys in self.sections.items() if name.split()[0] == "job"}
        self.lists_all = re.search(r"^#   and \d+ more$", text, re.M) is None

    def refuse(self, where: str, expected: str) -> NoReturn:
        """where: "[SECTION]" or "[SECTION] KEY = VALUE" of the scenario."""
        raise OnlyInLab(f"{self.file.path}:{self.file.line_of(*where[1:].split(']'))}: {where}: on ports, expected {expected}")

    def check(self) -> None:
        if self.fabric["topology"] not in ROWS:
            self.refuse(f"[fabric] topology = {self.fabric['topology']}", f"{', '.join(ROWS)}: switches in a row")
        n_hosts, n_switches = int(self.fabric["hosts"]), self.wiring.n_switches
        if n_hosts % n_switches:
            self.refuse(f"[fabric] hosts = {n_hosts}", f"a multiple of {n_switches}, as many hosts at each switch")
        self.wiring.hosts_each = n_hosts // n_switches
        if n_switches > 1 and self.fabric["forwarding"] != "l2":
            self.refuse(f"[fabric] forwarding = {self.fabric['forwarding']}", "l2: switches that are bridges")
        for name in self.sections:
            words = name.split()
            if words[0] in LAB_ONLY:
                self.refuse(f"[{name}]", LAB_ONLY[words[0]])
            if words[0] == "switch" and len(words) > 1:
                self.refuse(f"[{name}]", f"[{' '.join(words[2:]) or 'switch'}]: all switches have the same keys")
            if words[0] == "flow" and self.sections[name]["pattern"] == "trace":
                self.refuse(f"[{name}] pattern = trace", "another pattern")
            if words[0] == "flow" and self.sections[name]["after"] != "none":
                self.refuse(f"[{name}] after = {self.sections[name]['after']}", "none, or flows with start_ns")
            if words[0] == "flow" and self.sections[name]["barrier"] != "none":
                self.refuse(f"[{name}] barrier = {self.sections[name]['barrier']}", "none: each host is a program of its own")
        if self.fabric["nics_per_server"] != "1":
            self.refuse(f"[fabric] nics_per_server = {self.fabric['nics_per_server']}", "1: hosts with one NIC")
        for name, keys in self.jobs.items():
            if keys["ranks_per_server"] != "0":
                self.refuse(f"[job {name}] ranks_per_server = {keys['ranks_per_server']}", "0: a rank on each host")
        if not self.lists_all:
            self.refuse(f"[fabric] hosts = {self.fabric['hosts']}", f"at most {len(self.ends)} flows, and as many hosts")
        hosts = {int(host) for _, _, a, _, b in self.ends for host in (a, b)}
        if not hosts:
            self.refuse("[flow NAME]", "a flow")
        unknown = sorted(hosts - set(self.addresses))
        if unknown:
            self.refuse(f"[fabric] hosts = {self.fabric['hosts']}", f"flows between the first {len(self.addresses)} hosts, without h{unknown[0]}")
        if len(hosts) > MOST_HOSTS:
            self.refuse(f"[fabric] hosts = {self.fabric['hosts']}", f"flows of at most {MOST_HOSTS} hosts")

    def over(self, name: str, keys: Keys) -> Keys:
        """With the keys of [ports SECTION]."""
        self.used.add(f"ports {name}")
        more = self.file.own.get(f"ports {name}")
        if self.shares_cpus:
            keys = {**keys, **{key: value for key, value in SHARED.get(name, {}).items() if keys.get(key) in (None, PLAIN_QP_BURST)}}
        return {**keys, **({key: value for key, (value, _) in more.keys.items()} if more else {})}

    def flows(self) -> list[PlannedFlow]:
        found = []
        for name, a, src, b, dst in self.ends:
            section = name if f"flow {name}" in self.sections else name.rpartition(" ")[0]
            if section in self.jobs:
                keys, ranks = self.jobs[section], self.ranks(section)
                found.append(PlannedFlow(name, section, End(int(src), int(a, 16)), End(int(dst), int(b, 16)),
                                         {**keys, "verb": "write_imm", "qp_count": keys["qps_per_pair"]}, f"{ranks.index(int(src))}-{ranks.index(int(dst))}"))
                continue
            found.append(PlannedFlow(name, section, End(int(src), int(a, 16)), End(int(dst), int(b, 16)), self.sections[f"flow {section}"]))
        return found

    def ranks(self, job: str) -> list[int]:
        """Their hosts."""
        text = self.jobs[job]["ranks"]
        if text != "all" and not re.fullmatch(r"[\d, h-]+", text):
            self.refuse(f"[job {job}] ranks = {text}", "numbers of hosts")
        return sorted(numbers(text.replace("h", ""))) if text != "all" else list(range(1, int(self.fabric["hosts"]) + 1))

    def job_qps(self, flows: list[PlannedFlow]) -> int:
        """At least the QP numbers that the jobs take on each host, from the first on: of each pair, and of the question whether a rank is alive, both ways."""
        return sum(2 * int(flow.keys["qp_count"]) + 4 for flow in flows if flow.ranks)

    def with_files(self, keys: Keys) -> Keys:
        """For a file elsewhere."""
        beside = self.file.path.resolve().parent
        return {**keys, **{key: str(beside / keys[key]) for key in FILES if key in keys and (beside / keys[key]).is_file()}}

    def job(self, name: str) -> str:
        keys = {key: value for key, value in self.with_files(self.jobs[name]).items() if key not in OF_SERVERS}
        addresses = ", ".join(self.addresses[host][0] for host in self.ranks(name))
        return write_section(f"job {name}", {**keys, "ranks": addresses, "start_ns": "0", "stopped": "on"})

    def nic(self, host: int, flows: list[PlannedFlow]) -> str:
        ip, mac = self.addresses[host]
        qps = sum(int(flow.keys["qp_count"]) * [flow.src.host, flow.dst.host].count(host) for flow in flows)
        own = {"mac": mac, "ip" if self.fabric["ip_version"] == "4" else "ip6": ip, "link_speed_bps": self.fabric["link_rate_bps"], "first_qpn": str(FIRST_QPN), "max_qps": str(max(1024, qps + self.job_qps(flows)))}
        slow = self.slow_hosts()
        text = ""
        for name, keys in self.sections.items():
            kind = name.split()[0]
            if kind in SWITCH or kind in ("fabric", "flow", "job", "event", "record") or (kind == "receiver" and slow is not None and host not in slow):
                continue
            text += write_section(name, self.over(name, {**own, **keys} if name == "nic" else keys))
        if any(host in self.ranks(name) for name in self.jobs):
            text += "".join(self.job(name) for name in self.jobs)
        return text + "".join(self.flow_at(host, flow, self.job_qps(flows)) for flow in flows if not flow.ranks) + (self.storm(mac) if host in self.storms else "")

    def storm(self, mac: str) -> str:
        """Pause frames of a host, as its NIC sends them."""
        quanta = int(self.sections["pfc"]["pfc_xoff_quanta"])
        rate = round(parse(self.fabric["link_rate_bps"], "bit/s") or 0) * WIRE_BITS * PAUSES_EACH // (512 * quanta)
        text = ""
        for name, value, more in ((STORM, quanta, {"rate_bps": str(max(1, rate))}), (STORM_END, 0, {"rate_bps": "1M", "count": "1"})):
            if self.sections["nic"]["flow_control"] == "pause":
                body = f"0001{value:04x}"
            else:
                prios = numbers(self.sections["qos_map"]["pfc_enable"])
                body = f"0101{sum(1 << prio for prio in prios):04x}" + "".join(f"{value if prio in prios else 0:04x}" for prio in range(8))
            text += write_section(name, {"header": f"0180c2000001{mac.replace(':', '')}8808{body}", "frame_bytes": "64", "stopped": "on", **more})
        return text

    def slow_hosts(self) -> set[int] | None:
        """None: all."""
        text = self.fabric["slow_hosts"]
        if text == "all":
            return None
        if not re.fullmatch(r"[\d, h-]+", text):
            self.refuse(f"[fabric] slow_hosts = {text}", "numbers of hosts")
        return numbers(text.replace("h", ""))

    def flow_at(self, host: int, flow: PlannedFlow, after: int) -> str:
        """after: numbers that are those of jobs"""
        text = ""
        keys = self.with_files({key: value for key, value in flow.keys.items() if key not in NOT_OF_NIC})
        for here, peer, requester in ((flow.src, flow.dst, True), (flow.dst, flow.src, False)):
            if here.host == host:
                ip, mac = self.addresses[peer.host]
                text += write_section(f"flow {flow.name}" if requester else f"flow {flow.name} <", {
                    **keys, "peer_mac": mac, "peer_ip": ip, "peer_qpn": str(peer.qpn + after), "local_qpn": str(here.qpn + after), **({"stopped": "on"} if requester else {"requester": "off"})})
        return text

    def switch(self, name_: str) -> str:
        text = ""
        ports: dict[str, Keys] = {"port": {"link_speed_bps": self.fabric["link_rate_bps"], "flow_control": self.sections["nic"]["flow_control"]}}
        n_ports = self.wiring.n_ports(name_)
        ports |= {f"port {number}": {"mac": f"02:5a:00:00:{int(name_[1:]):02x}:{number:02x}"} for number in range(n_ports)}
        for number in range(self.wiring.hosts_each, n_ports):
            core = self.fabric["core_rate_bps"]
            ports[f"port {number}"] |= {"flow_control": "pfc", **({"link_speed_bps": core} if core != "0" else {})}
        for name, keys in self.sections.items():
            kind = name.split()[0]
            if kind == "port":
                ports[name] = {**ports.get(name, {}), **keys}
            elif kind in SWITCH or kind in BOTH:
                text += write_section(name, self.over(name, keys))
        for name, keys in ports.items():
            text += write_section(name, self.over(name, keys))
        for host, (_, mac) in self.addresses.items():
            text += write_section(f"fdb h{host}", {"mac": mac, "port": str(self.wiring.towards(name_, host))})
        return text

    def steps(self, flows: list[PlannedFlow]) -> list[Step]:
        found: list[Step] = []
        for name, keys in self.jobs.items():
            if keys["stopped"] == "off":
                found += [Step(nanoseconds(keys["start_ns"]), f"job {name} starts", f"h{host}", {f"job {name}.stopped": "off"}) for host in self.ranks(name)]
        for flow in flows:
            if flow.ranks:
                continue
            start, stop = nanoseconds(flow.keys["start_ns"]), nanoseconds(flow.keys["stop_ns"])
            key = f"flow {flow.name}.stopped"
            if flow.keys["stopped"] == "off":
                found.append(Step(start, f"flow {flow.name} starts", f"h{flow.src.host}", {key: "off"}))
            if stop < DURATION:
                found.append(Step(stop, f"flow {flow.name} stops", f"h{flow.src.host}", {key: "on"}))
        for name, keys in self.sections.items():
            if name.split()[0] == "event":
                found += self.event(name, keys, flows)
        return sorted(found, key=lambda step: step.at_ns)

    def event(self, name: str, keys: Keys, flows: list[PlannedFlow]) -> list[Step]:
        at, lasts = nanoseconds(keys["at_ns"]), nanoseconds(keys.get("for_ns", "0"))
        action, what = keys["action"], name.partition(" ")[2]
        if action == "set":
            return self.set_event(what, keys["set"], at, lasts, flows)
        node, peer = keys.get("node", ""), keys.get("port", "")
        if action in ("pause_storm", "pause_storm_end"):
            return self.storm_event(name, action == "pause_storm", node, at, lasts, flows)
        if action == "clear_watermarks":
            return [Step(at, what, switch, {}, WATERMARKS)
                    for switch in self.wiring.switches if node in (switch, "all")]
        number = self.wiring.number(node, peer) if node in self.wiring.switches else None
        commands = {
            "tx_disable": ("tx_disabled", "on", "off"),
            "tx_enable": ("tx_disabled", "off", ""),
            "pfc_delay": ("pfc_delay_quanta", keys.get("quanta", "0"), "0"),
        }
        if action not in commands:
            self.refuse(f"[{name}] action = {action}", f"set, {', '.join(commands)}, pause_storm, pause_storm_end or clear_watermarks: the others are for quench-lab")
        if number is None:
            self.refuse(f"[{name}] node = {node}", f"a port of {', '.join(self.wiring.switches)}, not {peer or 'none'}")
        key, begin, end = commands[action]
        place = f"port {number}.{key}"
        return [Step(at, what, node, {place: begin})] + ([Step(at + lasts, f"{what} ends", node, {place: end})] if lasts and end else [])

    def storm_event(self, name: str, begins: bool, node: str, at: int, lasts: int, flows: list[PlannedFlow]) -> list[Step]:
        hosts = {end.host for flow in flows for end in (flow.src, flow.dst)}
        if node not in {f"h{host}" for host in hosts}:
            self.refuse(f"[{name}] node = {node}", f"a host with flows: {', '.join(f'h{host}' for host in sorted(hosts))}")
        self.storms.add(int(node[1:]))
        what = name.partition(" ")[2]

        def step(at_ns: int, text: str, on: bool) -> Step:
            return Step(at_ns, text, node, {f"{STORM}.stopped": "off" if on else "on", f"{STORM_END}.stopped": "on" if on else "off"})
        return [step(at, what, begins), *([step(at + lasts, f"{what} ends", False)] if lasts else [])]

    def set_event(self, what: str, text: str, at: int, lasts: int, flows: list[PlannedFlow]) -> list[Step]:
        """One step for each node that has a key."""
        begin: dict[str, Keys] = {}
        end: dict[str, Keys] = {}
        for part in text.split(","):
            name, _, value = (word.strip() for word in part.partition("="))
            section, _, key = name.rpartition(".")
            of_one = re.match(r"switch (s\d+)\b ?", section)
            section = section[of_one.end():] or "switch" if of_one else section
            kind = section.split()[0]
            places: list[tuple[str, str]]
            if kind == "flow":
                places = [(f"h{flow.src.host}", f"flow {flow.name}") for flow in flows if flow.section == section.partition(" ")[2]]
            elif kind == "job":
                places = [(f"h{host}", section) for host in self.ranks(section.partition(" ")[2])]
            elif kind in SWITCH or kind in BOTH:
                places = [(switch, section) for switch in self.wiring.switches if not of_one or switch == of_one[1]]
            else:
                places = [(f"h{host}", section) for host in sorted({host for flow in flows for host in (flow.src.host, flow.dst.host)})]
            before = self.over(section, self.sections.get(section, {})).get(key)
            if lasts and before is None:
                self.refuse(f"[event {what}] set = {text}", f"the full name of {name}, such as wred.green_max_threshold_bytes, as for_ns needs its value of before")
            for node, there in places:
                begin.setdefault(node, {})[f"{there}.{key}"] = value
                if lasts:
                    end.setdefault(node, {})[f"{there}.{key}"] = before or ""
        return [Step(at, what, node, settings) for node, settings in begin.items()] + [Step(at + lasts, f"{what} ends", node, settings) for node, settings in end.items()]

    def ports(self, hosts: set[int]) -> tuple[Keys, Section]:
        section = self.file.own.get("ports") or Section("ports", 1, {})
        devices = {}
        for key, (value, _) in section.keys.items():
            if key in ("switch", "huge", "idle_sleep_us", "record"):
                continue
            if not PORTS_KEY.fullmatch(key) or not value:
                self.file.refuse(section, key, "hN = DEVICE, sM port N = DEVICE, switch, huge, idle_sleep_us or record")
            known = [str(port) for switch in self.wiring.switches for port in (Port(switch, n) for n in range(self.wiring.n_ports(switch)))]
            if key[0] == "s" and key not in known:
                self.file.refuse(section, key, f"a port of the switches: {', '.join(known)}")
            if key[0] == "h" and int(key[1:]) not in hosts:
                self.file.refuse(section, key, f"a host with flows: {', '.join(f'h{host}' for host in sorted(hosts))}")
            devices[key] = value
        for key in ("switch", "huge"):
            if section.get(key, "on") not in ("on", "off"):
                self.file.refuse(section, key, "on or off")
        if not section.get("idle_sleep_us", "50").isdigit():
            self.file.refuse(section, "idle_sleep_us", "a number of microseconds, such as 50")
        if section.get("record", "off") not in ("off", *(f"h{host}" for host in hosts)):
            self.file.refuse(section, "record", f"off or a host with flows: {', '.join(f'h{host}' for host in sorted(hosts))}")
        ours = section.get("switch", "on") == "on"
        for host in sorted(hosts):
            if not ours and f"h{host}" not in devices:
                self.file.refuse(section, "switch", f"a device of h{host}, since the switch is not ours")
            self.check_ends(section, devices, f"h{host}", str(self.wiring.of_host(host)), ours)
        for a, b in self.wiring.links():
            self.check_ends(section, devices, str(a), str(b), ours)
        return devices, section

    def check_ends(self, section: Section, devices: Keys, a: str, b: str, ours: bool) -> None:
        if ours and (a in devices) != (b in devices):
            self.file.refuse(section, "", f"devices of both {a} and {b}, or of none")

    @staticmethod
    def recorded(given: str, flows: list[PlannedFlow]) -> int | None:
        """The host that receives most flows, if the file does not say."""
        if given:
            return None if given == "off" else int(given[1:])
        receivers = [flow.receiver for flow in flows]
        return max(sorted(set(receivers)), key=receivers.count)

    def make(self) -> Plan:
        self.check()
        flows = self.flows()
        hosts = {end.host for flow in flows for end in (flow.src, flow.dst)}
        devices, section = self.ports(hosts)
        duration, measure_from = (nanoseconds(self.fabric[key]) for key in ("duration_ns", "measure_from_ns"))
        ours = section.get("switch", "on") == "on"
        steps = self.steps(flows)
        if not ours and any(step.node.startswith("s") for step in steps):
            self.file.refuse(section, "switch", "on, since an event changes the switch")
        nics, switches = {host: self.nic(host, flows) for host in sorted(hosts)}, {name: self.switch(name) for name in self.wiring.switches}
        for own in self.file.of_kind("ports"):
            if own.name not in self.used:
                self.file.refuse(own, "", "[ports] or [ports SECTION], with a section of the switch or the hosts, such as nic")
        return Plan(nics, switches if ours else {}, self.wiring, flows, steps, devices,
                    duration, measure_from, nanoseconds(self.fabric["sample_ns"]), section.get("huge", "off") == "on", int(section.get("idle_sleep_us", "50")),
                    self.recorded(section.get("record"), flows), {name: self.ranks(name) for name in self.jobs})


def make(file: TestFile, text: str) -> Plan:
    """text: the configuration that quench-lab has in force. @raise BadFile, OnlyInLab"""
    return Maker(file, text).make()
