#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A counter has one name: in counters.csv, in a dump of quench-lab, in replies of the desk, in the report at the end and in the catalogue.

Some queues have a marking scheme of their own, and so counters that others lack. Every method's reply is what its JSON Schema says.
"""
import csv
import json
import re

import jsonschema

import configs
from configs import flow, port, section
from desk import Desk, eal, prefix
from frames import ECT0, roce, write_pcap
from harness import BUILD, Program, check, check_equal, finish, run, work_dir

SWITCH = configs.full_switch() + configs.section("queue 1|3", marking="phantom") + (
    port(0, link_speed_bps="1G", name="leaf") + port(1, link_speed_bps="1G") + port(2, link_speed_bps="1G", flow_control="pause"))
NIC = configs.nic(1, link_speed_bps="1G", first_qpn=100, measure_pacing="on", measure_times="on") + configs.flow_to_itself(
    "write", 2, messages=1, message_bytes=1000) + section("frames idle", header="02000000000102000000000a88b5", rate_bps="1M", stopped="on")
LAB = """
[fabric]
topology = dumbbell
hosts = 4
duration_ns = 1ms
[nic]
cc = dctcp
[np]
np_ecn_echo = on
[pfcwd]
pfcwd = sonic
[switch]
wred_queues = 3
[queue 2|3]
marking = phantom
[switch s1]
[switch s2]
[switch s2 queue 0|3]
marking = step
[event end]
at_ns = 1ms
action = dump
""" + section("flow f", src="1,2", dst=3, message_bytes="100KB")

# Objects of a dump, by the member that has them; the rest are of the port or the switch.
OBJECTS = {"queues": "queue", "pgs": "pg", "pfcwd": "pfcwd", "drops": "drop", "malformed": "malformed", "router": "router", "fdb": "fdb",
           "ledger": "ledger", "interfaces": "interface", "pools": "pool"}
GROUPS = {"queue": "queue{queue}/", "pg": "pg{pg}/", "pfcwd": "pfcwd{prio}/", "interface": "interface {interface}/", "pool": "{pool}/",
          "drop": "drops/"}


def catalogue(t):
    """{(object, name): is it a counter}, a priority's key for each."""
    found = {}
    for method in ("counters", "gauges"):
        for row in t.rows(method):
            for prio in range(8 if "N" in row["name"] else 1):
                key = row["object"], row["name"].replace("N", str(prio))
                check(f"{key} is there once", key not in found)
                found[key] = method == "counters"
    return found


# Of each method: parameters of a call that is answered. Others have none.
SWITCH_PARAMS = {"port": {"port": 0}, "queues": {"port": 1}, "pg": {"port": 0}, "maps": {"port": 0}, "pauses": {"port": 0},
                 "mark_accuracy": {"port": 0, "queue": 3}, "look": {"port": 0, "queue": 3}, "route": {"destination": "10.2.0.1"}, "remove": {"routes": ["10.2.0.0/16"]},
                 "clear_watermark": {"kind": "queue", "port": 0}, "set": {"settings": ["wred.Kmax=300KB"]},
                 "capture": {"port": 0}}
NIC_PARAMS = {"times": {"flow": "write"}, "qp": {"qpn": 100}, "set_trace": {"id": 100, "action": "on"}, "story": {"id": 100, "lines": 5}, "trace": {"id": 100}, "reset": {"flow": "write"},
              "remove": {"flows": ["answer"]}, "set": {"settings": ["flow write.stopped=off"]}, "capture": {"port": 0}}
# Also so: other members, other types.
SWITCH_FURTHER = [("port", {"port": 2}), ("queues", {"port": 0}), ("clear_watermark", {"kind": "buffer_pool"}),
                  ("set", {"settings": ["pfcwd.big_red_switch=on"]}), ("pfcwd", {})]
NIC_FURTHER = [("trace", {"id": 101}), ("story", {"id": 101}), ("qps", {"columns": ["alpha", "flow"]}), ("flows", {"columns": ["flow"]})]
# Change what the others show: last.
LAST = ["reset", "remove", "reload"]


def is_exact(schema):
    """Objects have no other members, but for the schemas that `methods` returns."""
    if schema["type"] == "array" and "items" in schema:
        return is_exact(schema["items"])
    return schema["type"] != "object" or not schema["additionalProperties"] and all(map(is_exact, schema["properties"].values()))


def comments(schema):
    """(name, $comment) of all members."""
    for name, member in schema.get("properties", {}).items():
        yield name, member.get("$comment")
        yield from comments(member)
    if "items" in schema:
        yield from comments(schema["items"])


def check_schemas(t, params, further):
    methods = {row["name"]: row for row in t.rows("methods")}
    said = {pair for row in methods.values() for pair in comments(row["result"])}
    unsaid = [row for row in t.rows("gauges") if "N" not in row["name"] and (row["name"], f"gauge of {row['object']}") not in said]
    check("gauges are gauges in the schemas", not unsaid, unsaid)
    calls = [(name, params.get(name, {})) for name in sorted(methods) if name not in LAST]
    first = len(calls)
    calls += [(name, params.get(name, {})) for name in LAST if name in methods]
    for name, given in calls[:first] + further + calls[first:]:
        jsonschema.validate(given, methods[name]["params"])
        reply = t.call(name, **given)
        schema = methods[name]["result"]
        jsonschema.Draft7Validator.check_schema(schema)
        wrong = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in jsonschema.Draft7Validator(schema).iter_errors(reply)]
        check(f"{name} {given}: as its schema says", not wrong, wrong[:3])
        check(f"{name}: the schema is exact, and every member has a meaning", is_exact(schema) and '"description": ""' not in json.dumps(schema), schema)


def numbers(o, is_counter, kind):
    """{(object, name): value} of a flat object; the names of a counter are in the catalogue."""
    return {(kind(name), name): value for name, value in o.items() if (kind(name), name) in is_counter and not isinstance(value, (str, list, dict))}


def check_report(final, is_counter, replies):
    """The report at the end has the names and values of the replies."""
    queue = replies["queues"]["queues"][3]
    check("the scheme's counters are of its queue", "phantom_over_packets" in queue and "phantom_over_packets" not in replies["queues"]["queues"][2], queue)
    for member, thing, method in (("queues", "queue", "queues"), ("pgs", "pg", "pg")):
        for n, row in enumerate(replies[method][member]):
            end = final["ports"][1 if method == "queues" else 0][member][n]
            counters = numbers(row, is_counter, lambda _, thing=thing: thing)
            check(f"{member}[{n}]: each number is in the catalogue", set(row) - {name for _, name in counters} <= {thing}, row)
            wrong = {name: (value, end.get(name)) for (_, name), value in counters.items() if is_counter[thing, name] and end.get(name) != value}
            check(f"{member}[{n}]: as in the report", not wrong, wrong)


def of_dump(value, where, is_counter, thing, group=""):
    """[(object, whole name, name, number)] of a dump."""
    found = []
    for key, v in value.items():
        inner = OBJECTS.get(key, thing)
        if isinstance(v, dict):
            found += of_dump(v, where, is_counter, inner, "" if key == "counters" else GROUPS.get(inner, f"{key}/"))
        elif isinstance(v, list):
            for row in v:
                found += of_dump(row, where, is_counter, inner, GROUPS[inner].format(**row))
        elif isinstance(v, int) and not isinstance(v, bool):
            found.append((inner, group + key, key, v))
    return found


def check_lab(work, of_switch, of_nic):
    """counters.csv has the counters and watermarks of the dump, name for name; the catalogue knows all."""
    (work / "lab.ini").write_text(LAB)
    done = run(BUILD / "app/quench-lab/quench-lab", "--quiet", "--out", work / "out", work / "lab.ini")
    check_equal("the lab's exit code", (done.returncode, done.stderr), (0, ""))
    nodes = json.loads((work / "out" / "results.json").read_text())["dumps"][0]["nodes"]
    with open(work / "out" / "counters.csv", encoding="utf-8", newline="") as file:
        rows = [((row["node"], row["port"], row["counter"]), int(row["value"])) for row in csv.DictReader(file)]
    got = {key: value for key, value in rows if not key[0].startswith("all ")}
    dumped, unknown, seen = {}, set(), set()
    for node, o in nodes.items():
        is_host = re.match(r"h\d", node)
        known = of_nic if is_host else of_switch
        places = [("", {key: v for key, v in o.items() if key != "ports"}, "nic" if is_host else "buffer")]
        places += [(str(p["port"]), {key: v for key, v in p.items() if key != "port"}, "port") for p in o.get("ports", [])]
        for at, values, thing in places:
            for of, whole, name, number in of_dump(values, node, known, thing):
                kinds = {k for k in known if k[1] == name and (k[0] == of or of in ("nic", "port"))}
                if name.startswith("wire_") or name in (of, "prio") or name == "queue":  # of cables, and what tells rows apart
                    counts = name.startswith("wire_")
                elif not kinds:
                    unknown.add((of, name))
                    continue
                else:
                    seen |= kinds
                    counts = any(known[k] for k in kinds) or (name.endswith("watermark_bytes") and "persistent" not in name)
                if counts:
                    dumped[node, at, whole] = number
    check("the catalogue has every number of a dump", not unknown, unknown)
    check("counters.csv has no other names", set(got) <= set(dumped), sorted(set(got) - set(dumped))[:5])
    wrong = {key: (n, got.get(key, 0)) for key, n in dumped.items() if got.get(key, 0) != n}
    check("counters.csv has the values of the dump", not wrong and len(dumped) > 500, list(wrong.items())[:5])
    both = {"queue", "pg", "malformed", "router", "fdb", "ledger", "pool", "pfcwd"}
    missing = {key for key in of_switch if key[0] in both and key not in seen and not key[1] == "status"}
    missing |= {key for key in of_nic if key[0] in ("np", "rp", "dctcp", "hpcc") and key not in seen}
    missing -= {("pfcwd", "big_red_switch"), ("pg", "lossless")}  # numbers of metrics; true or false in a dump
    check("a dump has every number of the catalogue", not missing, missing)


def main():
    work = work_dir()
    frames = [roce("02:00:00:00:07:07", "02:00:00:00:08:08", "10.0.0.1", "10.0.0.2", 50000, i, 26, ECT0, bytes(64)) for i in range(300)]
    write_pcap(work / "in.pcap", frames)
    names = prefix("s"), prefix("n")
    switch = Program(work, "switch", "switch", SWITCH, eal(
        names[0], f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/out0.pcap", f"net_pcap1,tx_pcap={work}/out1.pcap",
        f"net_pcap2,tx_pcap={work}/out2.pcap"), "--stats-interval", 0.2, "--idle-sleep", 1000)
    nic = Program(work, "nic", "nic", NIC, eal(names[1], "net_ring0"), "--stats-interval", 0.2, "--idle-sleep", 1000, "--stay")
    switch.wait_quiet()
    nic.wait_quiet()
    t, n = Desk(names[0]), Desk(names[1])
    of_switch, of_nic = catalogue(t), catalogue(n)
    check_schemas(t, SWITCH_PARAMS, SWITCH_FURTHER)
    check_schemas(n, NIC_PARAMS, NIC_FURTHER)
    t.set("lldp.lldp=off")  # its last frame leaves before the counters are read
    switch.wait_quiet()
    replies = {"queues": t.call("queues", port=1), "pg": t.call("pg", port=0)}
    check_equal("exit codes", (switch.stop(), nic.stop()), (0, 0))
    check_report(switch.json(), of_switch, replies)
    check_lab(work, of_switch, of_nic)
    finish()


main()
