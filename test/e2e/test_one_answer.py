#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""One question, one answer: what a command says is compared with what another says of the same thing."""
import re

from configs import flow, flow_to_itself, nic, port, section
from ctl import Ctl
from frames import ECT0, roce, write_pcap
from harness import Program, check, check_equal, finish, path_of, run, work_dir
from looked_at import start_switch
from metrics import Exporter
from desk import Desk, eal, prefix
from terminal import Terminal
from web_page import Web

NAMES = ("Ethernet1/1", "to-the-spine")
SWITCH = {"switch": {"buffer_bytes": "4MB", "wred_queues": "3"}, "wred": {},
          "buffer_profile small": {"dynamic": "off", "static_th_bytes": "100KB", "xoff_bytes": "60KB"},
          "buffer_profile lossless": {"xoff_bytes": "60KB"}}
SWITCH_PORTS = "".join(port(i, name=name, link_speed_bps="10G") for i, name in enumerate(NAMES))
NIC = {"np": {"np_min_time_between_cnps_us": "0"}, "rp": {}}
NIC_REST = (nic(1, cc="dctcp", link_speed_bps="10G"), flow("back", 1, peer_qpn=100, requester="off"))
# Of a switch and of a NIC: keys, and a word of each warning that they cause.
SWITCH_CASES = (
    ({"wred": {"Kmin": "5"}}, ["bytes"]),
    ({"buffer_profile lossless": {"xoff_bytes": "10KB"}}, ["xoff_bytes = 10000"]),
    ({"buffer_profile small": {"xoff_bytes": "1KB"}, "pg 0|3": {"buffer_profile": "small"}}, ["xoff_bytes = 1000"]),
    ({"wred": {"Kmin": "2MB", "Kmax": "3MB"}}, ["marking begins above 2000000 bytes"]),
    ({"wred": {"Kmin": "80KB"}, "pg 1|3": {"buffer_profile": "small"}}, ["port to-the-spine, lossless group 3, whose frames"]),
    ({"buffer_profile lossless": {"dynamic": "off", "static_th_bytes": "900KB", "xon_bytes": "3KB"}}, ["xon_bytes = 3000"]),
    ({"port 1": {"cable_length_m": "10000"}}, ["port to-the-spine, lossless group"]),
    ({"wred": {"Kmin": "7", "Kmax": "3MB"}, "port 0": {"peer_response_ns": "1ms"}}, ["[wred] Kmin = 7", "port Ethernet1/1, lossless group"]),
    # The queue is that of the port that sends: all of port 1's classes leave by a queue that marks late.
    ({"wred": {"Kmin": "80KB"}, "pg 0|3": {"buffer_profile": "small"},
      "port 0": {"tc_to_queue_map": "*:5", "pfc_priority_to_queue_map": "3:5, *:0"}}, ["port to-the-spine, queue 3: marking begins"]),
    ({"wred": {"Kmin": "6KB"}}, []))
NIC_CASES = (
    ({"np": {"np_min_time_between_cnps_us": "50"}}, ["takes each CNP for one marked packet"]),
    ({"rp": {"rp_ai_rate_bps": "5"}}, ["rp_ai_rate_bps = 5"]),
    ({"flow back": {"rate_cap_bps": "300"}}, ["rate_cap_bps = 300"]),
    ({"np": {"np_min_time_between_cnps_us": "0"}}, []))


def merged(base, keys):
    """The text of a file with these keys in their sections."""
    sections = {head: dict(values) for head, values in base.items()}
    for head, values in keys.items():
        sections.setdefault(head, {}).update(values)
    return sections


def text_of(base, keys, rest):
    """rest: sections as text, whose keys come first."""
    text = "".join(rest)
    for head, values in merged(base, keys).items():
        lines = "".join(f"{key} = {value}\n" for key, value in values.items())
        if f"[{head}]\n" in text:
            text = text.replace(f"[{head}]\n", f"[{head}]\n{lines}")
        else:
            text += f"[{head}]\n{lines}"
    return text


def warnings(stderr):
    """Without the program and the place in the file: a command names another place."""
    found = [re.sub(r"^\S+: warning: (\S+\.ini(:\d+)?( as it runs)?: )?", "", line) for line in stderr.splitlines()
             if "warning:" in line and "event=poll_late" not in line]  # of the machine, not of a change
    return sorted(found)


def check_warnings(role, program, ctl, case):
    """A file, the same keys by set, and a reload of the file: the same warnings."""
    base, rest, keys, words = case
    what = f"{role} {keys}"
    plain, changed = program.dir / "plain.ini", program.dir / "changed.ini"
    plain.write_text(text_of(base, {}, rest))
    changed.write_text(text_of(base, keys, rest))
    checked = run(path_of(role), "--config", changed, "--check-config")
    said = warnings(checked.stderr)
    check(f"{what}: --check-config warns", checked.returncode == 0 and len(said) == len(words) and
          all(any(word in line for line in said) for word in words), checked.stderr)
    if role == "switch":
        check_equal(f"{what}: --thresholds", warnings(run(path_of(role), "--config", changed, "--thresholds").stderr), said)
    before = len(program.err())
    done = ctl.words(["set", *(f"{head}.{key}={value}" for head, values in keys.items() for key, value in values.items())])
    check_equal(f"{what}: set", (done.returncode, warnings(done.stderr)), (0, said))
    check_equal(f"{what}: the log of the program", warnings(program.err()[before:]), said)
    for file, expected in ((plain, []), (changed, said), (plain, [])):
        done = ctl(f"reload {file}")
        check_equal(f"{what}: reload {file.name}", (done.returncode, warnings(done.stderr)), (0, expected))


def check_many(switch, ctl):
    """A change of more keys than a reply holds is in force, and so are its warnings."""
    many = switch.dir / "many.ini"
    stations = "".join(section(f"fdb s{i}", mac=f"02:00:00:01:{i // 256:02x}:{i % 256:02x}", port=i % 2) for i in range(700))
    many.write_text(text_of(SWITCH, {"wred": {"Kmin": "5"}}, [SWITCH_PORTS, stations]))
    for file, changed, said in ((many, 701, 1), (switch.dir / "plain.ini", 701, 0)):
        done = ctl(f"--json reload {file}")
        check(f"{changed} keys: in force", done.returncode == 0 and f'"changed": {changed}' in done.stdout and
              '"in_force": true' in done.stdout and len(warnings(done.stderr)) == said, (done.returncode, done.stdout[-200:], done.stderr))
    check_equal("nothing is left to change", ctl.json("show config changes")["total"], 0)


ROUTER = "02:ff:00:00:00:01"
FULL = f"""
[switch]
buffer_bytes = 4MB
vlan_filtering = on
mark_accuracy = on
wred_queues = 3
[pfcwd]
pfcwd = sonic
[buffer_profile lossless]
xoff_bytes = 60KB
[router]
router_mac = {ROUTER}
[interface vlan 10]
ip = 10.0.10.1/24
[interface port 3]
ip = 10.0.33.1/24
[neighbor 10.0.33.2]
mac = 02:00:00:00:03:02
[neighbor 10.0.10.9]
mac = 02:00:00:00:08:08
[route 10.9.0.0/16]
nexthop = 10.0.33.2
[route 10.8.0.0/16]
nexthop = 10.0.33.7
[fdb receiver]
mac = 02:00:00:00:08:08
port = 1
vlan = 10
[port]
link_speed_bps = 10G
[port 0]
name = {NAMES[0]}
access_vlan = 10
[port 1]
name = {NAMES[1]}
access_vlan = 10
tagged_vlans = 20-21
[port 2]
access_vlan = 10
[port 3]
name = to-the-router
access_vlan = 40
"""
PORTS = (*NAMES, None, "to-the-router")


NOWHERE, SILENT = 5, 7  # frames without a route, and to a next hop that nobody has


def check_routes(switch, ctl):
    """What show route calls dead is what show neighbors calls failed, and what frames were dropped for."""
    switch.wait_until("the silent next hop is dead", lambda: any(row["dead"] for row in ctl.json("show route").get("rows", [])))
    dead = {row["prefix"]: row["dead"] for row in ctl.json("show route")["rows"]}
    check_equal("show route", dead, {"10.9.0.0/16": "", "10.8.0.0/16": "10.0.33.7"})
    states = {row["ip"]: row["state"] for row in ctl.json("show neighbors")["rows"]}
    check_equal("show neighbors", [states[ip] for ip in ("10.0.33.2", "10.0.33.7")], ["permanent", "failed"])
    drops = next(row for row in ctl.json("--since-start show drops")["rows"] if row["port"] == 0)
    check_equal("show drops: without a route, and to the dead next hop", (drops["lpm4_miss"], drops["unresolved_next_hop"]), (NOWHERE, SILENT))
    for address, kind, said in (("10.9.1.1", "static", "10.0.33.2 at port to-the-router: "), ("10.8.1.1", "static", "dead: frames to it are dropped"),
                                ("10.0.33.1", "local", "the router's own address"), ("10.77.1.1", "none", "no route"),
                                ("224.0.0.5", "multicast", "flooded in their VLAN"), ("ff02::5", "multicast", "flooded in their VLAN"),
                                ("127.0.0.1", "non_routable", "not an address that a router forwards to"), ("169.254.7.7", "non_routable", "dropped"),
                                ("fe80::1", "non_routable", "dropped"), ("255.255.255.255", "non_routable", "dropped")):
        way = ctl.json(f"show route {address}")
        text = ctl.words(["show", "route", address]).stdout
        check(f"show route {address}", way["kind"] == kind and said in text, (way, text))
    hops = {row["nexthop"]: row for row in ctl.json("show route hops")["rows"]}
    port = next(row for row in ctl.json("--since-start show router interfaces")["rows"] if row["interface"] == "port 3")
    check_equal("show route hops: each, and together what left the interface",
                (set(hops), hops["10.0.33.7"]["out_packets"], sum(hop["out_packets"] for hop in hops.values())),
                ({"10.0.33.2", "10.0.33.7"}, 0, port["out_packets"]))
    check("show route hops: something was routed, and its port has a name", hops["10.0.33.2"]["out_packets"] > 0 and
          "port to-the-router" in ctl.text("show route hops"), hops)
    # Nothing is asked for any more, so that counters stand still.
    check_equal("set: its address", ctl.words(["set", "neighbor 10.0.33.7.mac=02:00:00:00:03:07"]).returncode, 0)
    check_equal("show route: none is dead", [row["dead"] for row in ctl.json("show route")["rows"]], ["", ""])


def start_full(work, name):
    """Frames that are switched, routed and dropped in several ways; then nothing moves."""
    bridged = [roce("02:00:00:00:07:07", "02:00:00:00:08:08", "10.0.10.7", "10.0.10.8", 50000, i, 26, ECT0, bytes(64 + i)) for i in range(50)]
    routed = [roce("02:00:00:00:07:07", ROUTER, "10.0.10.7", "10.9.1.1", 50000, i, dscp, ECT0, bytes(500)) for i, dscp in enumerate((26, 0, 48) * 9)]
    nowhere = [roce("02:00:00:00:07:07", ROUTER, "10.0.10.7", "10.77.1.1", 50000, i, 26, ECT0, bytes(64)) for i in range(NOWHERE)]
    silent = [roce("02:00:00:00:07:07", ROUTER, "10.0.10.7", "10.8.1.1", 50000, i, 26, ECT0, bytes(64)) for i in range(SILENT)]
    write_pcap(work / "in.pcap", [*bridged, *routed, *nowhere, *silent, b"\x01\x80\xc2\x00\x00\x05" + bytes(54)])
    devices = [f"net_pcap{i},{f'rx_pcap={work}/in.pcap,' if i == 0 else ''}tx_pcap={work}/out{i}.pcap" for i in range(4)]
    program = Program(work, "switch", "full", FULL, eal(name, *devices), "--stats-interval", 0, "--idle-sleep", 1000)
    program.wait_started()
    return program, len(bridged), len(routed)


def port_commands(ctl):
    """Of quenchctl's own list: those that take a port, without what they take besides, and all shows of a switch."""
    lines = [line.split("  ")[1] for line in ctl.words(["--help"]).stdout.splitlines()
             if line.startswith("  ") and "(quench-nic)" not in line]
    by_port = [words.replace("[PORT]", "PORT").replace("QUEUE", "3") for words in lines if re.search(r"^(show|clear) .*PORT\]?( QUEUE)?$", words)]
    shows = [words.partition(" [")[0] for words in lines if re.fullmatch(r"show [a-z -]+( \[PORT\])?", words)]
    check("commands are found", len(by_port) >= 15 and len(shows) >= 20, (by_port, shows))
    return by_port, shows


def check_spellings(ctl):
    """By name and by number, since the start and since a clear: one answer."""
    by_port, _ = port_commands(ctl)
    for cleared in (False, True):
        if cleared:
            ctl.text("clear counters")
        for words in by_port:
            for number, name in enumerate(PORTS):
                replies = [ctl.json(words.replace("PORT", port)) for port in (str(number), *([name, name.upper()] if name else []))]
                if words.startswith("clear"):  # the first reply is that before its clear
                    ctl.json(words.replace("PORT", str(number)))
                    replies = [ctl.json(words.replace("PORT", port)) for port in (str(number), *([name] if name else []))]
                for reply in replies:  # moves without frames
                    for key in [key for key in reply if key.startswith("poll")]:
                        reply.pop(key)
                check(f"{words} {number}: by name too{', cleared' if cleared else ''}", all(r == replies[0] for r in replies) and replies[0], replies)


def check_names(ctl):
    """Wherever a port is shown, its name is."""
    _, shows = port_commands(ctl)
    for words in shows:
        if words == "show lldp":  # off, because its frames come by a clock
            continue
        reply = ctl.json(words)
        lists = [rows for rows in reply.values() if isinstance(rows, list) and rows and isinstance(rows[0], dict)]
        wrong = [row for rows in lists for row in rows if isinstance(row.get("port"), int) and (row.get("port_name") or None) != PORTS[row["port"]]]
        check(f"{words}: each row of a port has its name", not wrong, wrong[:2])
        table = ctl(f"--all {words}").stdout
        check(f"{words}: no number of a port with a name", not re.search(r"^ *(\w+ )?(port|queue|pg) [013]\b", table, re.M), table)
    for words, texts in (("show vlan", ["Ethernet1/1,to-the-spine,2", "  to-the-spine\n"]), ("show neighbors", ["port to-the-router"]),
                         ("show router interfaces", ["port to-the-router"]), ("show fdb", ["to-the-spine"])):
        table = ctl.text(words)
        check(f"{words}: names", all(text in table for text in texts), table)
    done = ctl.words(["set", "port 1.shaper_rate_bps=5G", "queue 3|1.max_rate_bps=2G", "port 2.shaper_rate_bps=5G"])
    check("set: names", all(text in done.stdout for text in ("port to-the-spine", "queue to-the-router|1", "port 2 ")), done.stdout + done.stderr)


def check_maps(ctl):
    """The rule of set: keys that a map does not name keep their values, also those of a port without a map of its own."""
    def in_force(port):
        return {row["key"]: (row["value"], row["own"]) for row in ctl.json(f"show maps {port}")["maps"]}

    def done(*keys):
        check_equal(f"set {' '.join(keys)}", ctl.words(["set", *keys]).returncode, 0)
    done("qos_map.dscp_to_tc_map=10:5,12:4")
    done(f"port {NAMES[1]}.dscp_to_tc_map=12:6", "scheduler.dwrr_weight=5:11", "port 1.dwrr_weight=2:9")
    done("qos_map.dscp_to_tc_map=11:1")
    check_equal("the port keeps those that it does not name", in_force(1)["dscp_to_tc_map"], ("10:5, 12:6, 24:3, 26:3, 48:7, *:0", True))
    check_equal("and weights", in_force(1)["dwrr_weight"][0], "2:9, 3:60, 5:11, *:10")
    check_equal("the others have those of all ports", in_force(0)["dscp_to_tc_map"], ("10:5, 11:1, 12:4, 24:3, 26:3, 48:7, *:0", False))
    done("port 1.dscp_to_tc_map=default")
    check_equal("default", in_force(1)["dscp_to_tc_map"], in_force(0)["dscp_to_tc_map"])


def check_shutdown(ctl):
    """Tables, JSON and metrics say that a port is shut down, whatever its link."""
    for value, shown in (("on", "shutdown"), ("off", "up")):
        check_equal(f"shutdown = {value}", ctl.words(["set", f"port 2.shutdown={value}"]).returncode, 0)
        row = ctl.json("show interfaces")["rows"][2]
        check_equal("show interfaces, JSON", (row["shutdown"], row["link"]), (value == "on", "up"))
        heading, *rows = ctl.table("show interfaces")
        check_equal("show interfaces", [line[heading.index("link")] for line in rows], ["up", "up", shown, "up"])
        check("show interfaces 2", re.search(rf"^shutdown +{'yes' if value == 'on' else 'no'}$", ctl.text("show interfaces 2"), re.M), ctl.text("show interfaces 2"))
        samples = [line for line in ctl.text("show metrics").splitlines() if line.startswith("quench_port_shutdown{")]
        check_equal("metrics", [float(line.split()[-1]) for line in sorted(samples)], [0, 0, value == "on", 0])


def numbers(row):
    return {key: value for key, value in row.items() if isinstance(value, int) and key not in ("link",)}


def check_end(switch, t, ctl):
    """The desk, quenchctl, metrics and the JSON at the end: of each counter and gauge one value."""
    exporter = Exporter(switch.dir, "-f", t.prefix)
    samples = exporter.samples()
    check_equal("the exporter ends", exporter.stop(), 0)
    ports = [ctl.json(f"--since-start show interface {i}") for i in range(4)]
    queues = [ctl.json(f"--since-start show queue counters {i}")["queues"] for i in range(4)]
    groups = [ctl.json(f"--since-start show priority-group counters {i}")["pgs"] for i in range(4)]
    rows = [t.call("port", port=i) for i in range(4)]
    drops = {row["port"]: row for row in ctl.json("--since-start show drops")["rows"]}
    check_equal("exit code", switch.stop(), 0)
    end = switch.json()
    for i in range(4):
        last = end["ports"][i]
        for of, got in (("show interface", numbers(ports[i])), ("the desk", numbers(rows[i]))):
            wrong = {key: (value, last[key]) for key, value in got.items() if key in last and value != last[key] and not key.startswith("poll")}
            check(f"port {i}: {of} and the JSON at the end", not wrong and len(got) > 10, wrong)
        check_equal(f"port {i}: drops", {k: v for k, v in drops[i].items() if k in last["drops"]}, last["drops"])
        check_equal(f"port {i}: and those of show interface", ports[i]["drops"], last["drops"])
        for what, now, then in (("queue", queues[i], last["queues"]), ("pg", groups[i], last["pgs"])):
            for a, b in zip(now, then):
                wrong = {key: (value, b[key]) for key, value in numbers(a).items() if key in b and value != b[key]}
                check(f"port {i}, {what} {a[what]}: one value each", not wrong, wrong)
        label = f'program="quench-switch",prefix="{t.prefix}",port="{i}"' + (f',port_name="{PORTS[i]}"' if PORTS[i] else "")
        metrics = {key: int(samples.get(f'quench_port_{key}_total{{{label},device="net_pcap{i}"}}', -1)) for key in ("rx_packets", "tx_packets", "tx_bytes")}
        check_equal(f"port {i}: metrics", metrics, {key: last[key] for key in metrics})
    return end


def check_full(work):
    name = prefix("onefull")
    switch, bridged, routed = start_full(work, name)
    ctl, t = Ctl(work, "-f", name), Desk(name)
    t.prefix = name
    switch.wait_until("all frames have left", lambda: [ctl.json(f"--since-start show interface {i}")["tx_packets"] >= n
                                                       for i, n in ((1, bridged), (3, routed))] == [True, True])
    ctl.text("set interface tx-disabled 0 on")
    ctl.text("set interface tx-disabled 0 off")
    check_routes(switch, ctl)
    check_spellings(ctl)
    check_names(ctl)
    check_maps(ctl)
    check_shutdown(ctl)
    check_end(switch, t, ctl)


def in_bits(text):
    return float(text.rstrip("KMG")) * {"K": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1)


def check_use(work):
    """Shaped ports: top, web and show have one speed and one shaper, and top's share is that of what the port may send."""
    name = prefix("oneuse")
    switch = start_switch(work, name)
    ctl = Ctl(work, "-f", name)
    ports = [ctl.json(f"show interface {i}") for i in range(4)]
    most = {i: min(p["link_speed_bps"], p["shaper_rate_bps"]) for i, p in enumerate(ports)}
    check_equal("ports 1 and 2 are shaped", [most[1], most[2]], [20_000_000] * 2)
    top = Terminal("-f", name, "--watch=0.5", "top")
    labels = {i: str(p.get("port_name") or i) for i, p in enumerate(ports)}

    def agrees(text):
        for i, label in labels.items():
            row = re.search(rf"^ *{re.escape(label)} +(?:\S+ +)?up +(\S+) +(\S+) +(\S+) +(\d+)% +(\d+)%", text, re.M)
            link = ports[i]["link_speed_bps"]
            if row is None or [in_bits(speed) for speed in row[1].split("/")] != ([most[i], link] if most[i] < link else [link]):
                return False
            for rate, share, of in ((row[2], row[4], link), (row[3], row[5], most[i])):
                if abs(in_bits(rate) / of * 100 - int(share)) > 1 + in_bits(rate) / of:
                    return False
        return re.search(rf"^ +1 .* +([2-9]\d|\d\d\d)%", text, re.M) is not None
    top.shows("top: the share of what a port may send", agrees)
    top.key("q")
    check_equal("top ends", top.end(), 0)
    web = Web("-f", name)
    check("web: the same speeds and shapers", web.comes(*(f'"speed":{p["link_speed_bps"]},"shaped":{p["shaper_rate_bps"]}' for p in ports)),
          web.get("data")[0][:2000])
    check_equal("web ends", web.stop(), 0)
    check_equal("exit code", switch.stop(), 0)


def check_nic(work):
    """A NIC that has done what it had to do: shows, the desk, metrics, top, web and the JSON at the end."""
    name = prefix("onedone")
    config = nic(1, link_speed_bps="1G", first_qpn=100) + flow_to_itself("write", 4, message_bytes=20000, rate_cap_bps="10M", messages=5)
    host = Program(work, "nic", "done", config, eal(name, "net_ring0"), "--stats-interval", 0, "--idle-sleep", 1000, "--stay")
    host.wait_started()
    ctl = Ctl(work, "-f", name)
    host.wait_until("all is sent", lambda: all(row["qps_done"] == 4 for row in ctl.json("show flows")["rows"] if row["requester"]))
    exporter = Exporter(work, "-f", name)
    samples = exporter.samples()
    check_equal("the exporter ends", exporter.stop(), 0)
    shown = {row["flow"]: row for row in ctl.json("--since-start show flows")["rows"]}
    with Desk(name) as asked:
        told = {row["flow"]: row for row in asked.rows("flows")}
    qps = ctl.json("--since-start show qp")["rows"]
    speed = ctl.json("show interfaces")["link_speed_bps"]
    top = Terminal("-f", name, "--watch=0.5", "top")
    top.shows("top: the speed of the port", lambda text: re.search(r"^ +1\.00G ", text, re.M) is not None and speed == 10**9)
    top.key("q")
    check_equal("top ends", top.end(), 0)
    web = Web("-f", name)
    check("web: speed and caps", web.comes(f'"speed":{speed},', f'{{"name":"cap","kind":"wred","at":{shown["write"]["configured_rate_bps"]}}}'),
          web.get("data")[0][:2000])
    check_equal("web ends", web.stop(), 0)
    check_equal("exit code", host.stop(), 0)
    end = host.json()
    for row in end["flows"]:
        flow = row["flow"]
        for of, got in (("show flows", shown[flow]), ("the desk", told[flow])):
            # Means since the start go on to fall.
            wrong = {key: (value, row[key]) for key, value in numbers(got).items() if key in row and value != row[key] and
                     key not in ("wire_rate_bps", "goodput_bps")}
            check(f"{flow}: {of} and the JSON at the end", not wrong and len(numbers(got)) > 20, wrong)
        own = [qp for qp in qps if qp["flow"] == flow]
        sums = {key: sum(qp[key] for qp in own) for key in ("messages", "wire_bytes", "payload_bytes", "retransmitted_packets", "cnps_sent") if key in own[0]}
        check(f"{flow}: the sums of its QPs", len(sums) >= 2 and sums == {key: row[key] for key in sums}, sums)
        metrics = {re.match(r"quench_flow_(\w+?)_total", key)[1]: value for key, value in samples.items()
                   if key.startswith("quench_flow_") and "_total{" in key and f'flow="{flow}"' in key}
        wrong = {key: (value, row[key]) for key, value in metrics.items() if key in row and int(value) != row[key]}
        check(f"{flow}: metrics", not wrong and len(metrics.keys() & row.keys()) >= 4, wrong or list(metrics))
    write = next(row for row in end["flows"] if row["flow"] == "write")
    check("its mean rates are in the ratio of its bytes",
          abs(write["wire_rate_bps"] * write["payload_bytes"] / (write["goodput_bps"] * write["wire_bytes"]) - 1) < 0.001, write)


def main():
    work, name = work_dir(), prefix("one")
    check_full(work)
    check_use(work)
    check_nic(work)
    switch = Program(work, "switch", "switch", text_of(SWITCH, {}, [SWITCH_PORTS]), eal(name, "net_null0", "net_null1"),
                     "--stats-interval", 0, "--idle-sleep", 1000)
    switch.wait_started()
    ctl = Ctl(work, "-f", name)
    for keys, words in SWITCH_CASES:
        check_warnings("switch", switch, ctl, (SWITCH, [SWITCH_PORTS], keys, words))
    check_many(switch, ctl)
    check_equal("exit code", switch.stop(), 0)

    name = prefix("onenic")
    host = Program(work, "nic", "nic", text_of(NIC, {}, NIC_REST), eal(name, "net_null0"), "--stats-interval", 0, "--idle-sleep", 1000)
    host.wait_started()
    ctl = Ctl(work, "-f", name)
    for keys, words in NIC_CASES:
        check_warnings("nic", host, ctl, (NIC, NIC_REST, keys, words))
    check_equal("exit code", host.stop(), 0)
    finish()


main()
