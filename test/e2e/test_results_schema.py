#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The schemas of results: what quench-lab, quench-nic, quench-switch and quench-probe write is of their schemas; a member that is misspelt, lacking or of
another type is not."""
import json
import pathlib

import configs
import desk
import frames
import job_bed
from harness import BUILD, Program, check, check_equal, eal, finish, path_of, run, skip, work_dir

try:
    import jsonschema
except ImportError:
    skip("python3-jsonschema is not installed")

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = {role: json.loads((BUILD / "share" / f"quench-{role}.results.json").read_text(encoding="utf-8")) for role in ("lab", "nic", "switch", "probe")}

# What no file of config/ has.
LAB = """
[fabric]
topology = leaf_spine
hosts = 4
leaves = 2
spines = 1
duration_ns = 2ms
nics_per_server = 2
[switch]
mark_accuracy = on
wred_queues = 3
[np]
np_min_time_between_cnps_us = 4
[pfcwd]
pfcwd = sonic
[nic]
measure_pacing = on
[job j]
ranks = 1-4
bytes = 100KB
[event more]
at_ns = 1ms
action = set
set = wred.Kmax=300KB
[event worse]
at_ns = 500us
action = corrupt
node = leaf1
port = h1
frame_ppb = 500000000
for_ns = 100us
[event frame]
at_ns = 600us
action = send
node = h1
frame = ffffffffffff02000000000108060001
[event look]
at_ns = 2ms
action = dump
""" + configs.section("flow f", src="1,2", dst=3, qp_count=2)

# Of config/: file, options.
LAB_RUNS = [("incast-4to1.ini", ("--duration", "1ms")), ("incast-4to1-pfc-only.ini", ("--duration", "1ms")), ("streams.ini", ("--duration", "1ms")),
            ("websearch-poisson.ini", ("--duration", "2ms")), ("pause-storm.ini", ()), ("job-all-reduce.ini", ("--alone",)),
            ("job-servers.ini", ()), ("incast-4to1-dctcp.ini", ("--duration", "1ms", "--set", "wred.Kmax=300KB"))]

SWITCH = configs.full_switch() + configs.section("queue 1|3", marking="phantom") + (
    configs.port(0, link_speed_bps="1G", name="leaf") + configs.port(1, link_speed_bps="1G", flow_control="pause"))


def check_results(what, role, results):
    wrong = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in jsonschema.Draft202012Validator(SCHEMAS[role]).iter_errors(results)]
    check(f"{what}: of the schema", not wrong, wrong[:5])


def is_valid(value, schema):
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def missed(schema, value, where):
    """Changes of a value that its schema accepts, and number of changes that were tried. Of a list, its first item stands for all."""
    if isinstance(value, list):
        return missed(schema["items"], value[0], f"{where}[0]") if value else ([], 0)
    if not isinstance(value, dict):
        return [], 0
    if "properties" not in schema:  # nodes by their names
        kinds = schema["additionalProperties"]["anyOf"]
        inner = [missed(next(kind for kind in kinds if is_valid(v, kind)), v, f"{where}.{key}") for key, v in list(value.items())[:1] + list(value.items())[-1:]]
        return sum((found for found, _ in inner), []), sum(tried for _, tried in inner)
    found, tried = [], 0
    for key, old in value.items():
        rest = {k: v for k, v in value.items() if k != key}
        bad = [rest | {f"{key}s": old}, rest | {key: {"no": "such"}}] + [rest] * (key in schema["required"])
        # A number of 64 bits may be a text.
        bad += [rest | {key: str(old)}] * (isinstance(old, (int, float)) and "string" not in schema["properties"][key]["type"])
        accepted = [f"{where}.{key}" for one in bad if is_valid(one, schema)]
        inner, n = missed(schema["properties"][key], old, f"{where}.{key}")
        found, tried = found + accepted + inner, tried + len(bad) + n
    return found, tried


def meanings(schema, where=""):
    """Members of a schema that say nothing."""
    for key, member in schema.get("properties", {}).items():
        inner = member.get("items", member)
        if "properties" in inner:
            yield from meanings(inner, f"{where}.{key}")
        elif "additionalProperties" in member:
            for kind in member["additionalProperties"]["anyOf"]:
                yield from meanings(kind, f"{where}.{key}")
        elif not member.get("description"):
            yield f"{where}.{key}"


def check_mutated(what, role, results, least=300):
    found, tried = missed(SCHEMAS[role], results, what)
    check(f"{what}: no changed member is accepted", not found and tried > least, (tried, found[:5]))


def lab(work):
    (work / "own.ini").write_text(LAB)
    results = {}
    for path, options in [(ROOT / "config" / name, options) for name, options in LAB_RUNS] + [
            (work / "own.ini", ("--out", work / "own")), (work / "own.ini", ("--explain", "job j", "--all")), (work / "own.ini", ("--fast-forward",))]:
        out = work / f"{len(results)}.json"
        done = run(path_of("lab"), "--quiet", *options, "--json", out, path)
        what = f"quench-lab {path.name} {' '.join(map(str, options[:1]))}"
        if check_equal(f"{what}: exit code", (done.returncode, done.stderr), (0, "")):
            results[what] = json.loads(out.read_text(encoding="utf-8"))
            check_results(what, "lab", results[what])
    seen = {key for one in results.values() for key, value in one.items() if value not in ([], {})}
    check_equal("quench-lab: members without a value in these runs",
                sorted(set(SCHEMAS["lab"]["properties"]) - seen - {"deadlock", "events_lost", "warnings"}), [])
    what = f"quench-lab own.ini {'--out'}"
    check_mutated(what, "lab", results[what])
    done = run(path_of("lab"), "--quiet", "--fluid", "--json", "-", ROOT / "config/incast-4to1.ini")
    of_fluid = json.loads(done.stdout)
    properties = SCHEMAS["lab"]["properties"]
    check("fluid.json: its members are those of results.json", all(is_valid(value, properties[key]) for key, value in of_fluid.items()))


def nic(work):
    section = job_bed.job("ring", ranks=job_bed.addresses(4), ranks_here="0-3", bytes=100_000, iterations=2)
    config = job_bed.nic_config(1, section).replace("[nic]", "[nic]\nmeasure_pacing = on\nmeasure_times = on")
    program = Program(work, "nic", "nic", config, desk.eal(desk.prefix("n"), "net_ring0"), "--idle-sleep", 50)
    check_equal("quench-nic: exit code", program.wait_end(), 0)
    results = program.json()
    check_results("quench-nic", "nic", results)
    check_mutated("quench-nic", "nic", results)


def switch(work):
    sent = [frames.roce("02:00:00:00:07:07", "02:00:00:00:08:08", "10.0.0.1", "10.0.0.2", 50000, i, 26, frames.ECT0, bytes(64)) for i in range(300)]
    frames.write_pcap(work / "in.pcap", sent)
    program = Program(work, "switch", "switch", SWITCH, desk.eal(
        desk.prefix("s"), f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/out0.pcap", f"net_pcap1,tx_pcap={work}/out1.pcap"),
        "--stats-interval", 0.2, "--idle-sleep", 200)
    program.wait_quiet()
    check_equal("quench-switch: exit code", program.stop(), 0)
    results = program.json()
    check_results("quench-switch", "switch", results)
    check_mutated("quench-switch", "switch", results)


def probe(work):
    """A NIC of which only the headers of data are probed, and none at all."""
    config = configs.section("probe", mac="02:00:00:00:00:02", ip="10.0.0.2", peer_mac="02:00:00:00:00:01", peer_ip="10.0.0.1", link_speed_bps="1G",
                             mtu_bytes=4096, settle_ns="10ms", **dict.fromkeys(("np", "rp", "transport", "pfc"), "off"))
    peer = configs.nic(1, link_speed_bps="1G", first_qpn=17) + configs.flow("data", 2, peer_qpn=17, requester="on", message_bytes="64KB", depth=8)
    prober = Program(work, "probe", "prober", config, eal(configs.memif("server", 0, work)), "--idle-sleep", 50)
    prober.wait_until("hello", lambda: "hello" in prober.out())
    dut = Program(work, "nic", "dut", peer, eal(configs.memif("client", 0, work), core=1), "--idle-sleep", 50)
    check_equal("quench-probe: exit code", prober.wait_end(), 0)
    dut.stop()
    results = prober.json()
    # First what has a value: the first item of a list stands for all.
    results["lines"].sort(key=lambda line: line["value"] is None)
    check("quench-probe: a line has a value", results["lines"][0]["value"] is not None)
    check_results("quench-probe", "probe", results)
    check_mutated("quench-probe", "probe", results, 200)
    alone = Program(work, "probe", "alone", config.replace("settle_ns", "wait_ns = 1ms\nsettle_ns"), eal("net_ring0"))
    check_equal("quench-probe alone: exit code", alone.wait_end(), 1)
    check_results("quench-probe alone", "probe", alone.json())


def main():
    for role, schema in SCHEMAS.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        silent = list(meanings(schema))
        check(f"quench-{role}: every member has a meaning", not silent, silent[:5])
    work = work_dir()
    lab(work)
    nic(work)
    switch(work)
    probe(work)
    finish()


main()
