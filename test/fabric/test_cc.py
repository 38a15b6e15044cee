#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several algorithms of congestion control in one fabric: test_cc.py QUENCH_LAB CONFIG_DIR CASE"""
import itertools
import pathlib
import re
import subprocess

from scenarios import expect, fewer, in_folder, results, run, section, write_scenario

ROOT = pathlib.Path(__file__).resolve().parents[2]
FABRIC = {"hosts": 5, "link_rate_bps": "40G", "duration_ns": "4ms", "measure_from_ns": "2ms"}
# Beside cc of [nic]: what an algorithm needs there that a flow's cc implies.
NEEDS = {"dctcp": "[np]\nnp_ecn_echo = on\n", "aimd": "[np]\nnp_ecn_echo = on\n"}
ALGORITHMS = ("none", "dcqcn", "dctcp", "timely", "hpcc", "swift", "aimd", "fair", "dcqcn_plus")
# Those that act on each ACK are given one; those with a window have it anyway.
EACH = "[nic]\nack_every = 1\n"


def incast(**keys):
    return section("flow", "in", src="1-4", dst=5, message_bytes="200KB", **keys)


def digest(lab, folder, name, rest):
    return results(lab, write_scenario(folder / f"{name}.ini", FABRIC, rest))["digest"]


def same(lab, folder):
    """An algorithm of flows, or of hosts, acts as the same one of [nic]."""
    for cc in ALGORITHMS:
        of_nic = digest(lab, folder, "nic", f"{EACH}cc = {cc}\n" + NEEDS.get(cc, "") + incast())
        other = EACH + f"cc = {'dcqcn' if cc == 'none' else 'none'}\n"
        of_flow = digest(lab, folder, "flow", other + "[switch]\nint_telemetry = " + ("on" if cc == "hpcc" else "off") + "\n" + incast(cc=cc))
        of_hosts = digest(lab, folder, "hosts", other + section("host", "senders", hosts="1-4", cc=cc) + incast())
        expect(of_flow == of_nic, f"{cc}: of the flow as of [nic]", (of_flow, of_nic))
        expect(of_hosts == of_nic, f"{cc}: of hosts as of [nic]", (of_hosts, of_nic))


def beside(lab, folder):
    """Each algorithm beside each other one: both send, hear their own signals, and any number of threads gives the same."""
    for a, b in fewer(itertools.combinations(ALGORITHMS[1:], 2), 7):
        path = write_scenario(folder / f"{a}-{b}.ini", FABRIC | {"hosts": 6, "topology": "dumbbell"},
                              section("flow", a, src="1-2", dst=6, cc=a) + section("flow", b, src=3, dst=6, qp_count=2, cc=b))
        r, *others = (results(lab, "--threads", threads, path) for threads in fewer((1, 2, 8), 2))
        expect({o["digest"] for o in others} == {r["digest"]}, f"{a} beside {b}: one digest", [r["digest"], *(o["digest"] for o in others)])
        expect([flow["cc"] for flow in r["flows"]] == [a, a, b], f"{a} beside {b}: cc of flows")
        rows = {row["cc"]: row for row in r["algorithms"]}
        expect({cc: row["flows"] for cc, row in rows.items()} == {a: 2, b: 1}, f"{a} beside {b}: algorithms", rows)
        expect(sum(row["wire_rate_bps"] for row in rows.values()) == sum(flow["wire_rate_bps"] for flow in r["flows"]), f"{a} beside {b}: sums")
        for flow in r["flows"]:
            expect(flow["wire_rate_bps"] > 0, f"{a} beside {b}: {flow['name']} sends nothing")
            expect(flow["cc"] not in NEEDS or flow["cnp_sent"] == 0, f"{a} beside {b}: CNPs for {flow['name']}")
        counters = r["counters"]
        for ccs, counter in (({"dcqcn", "fair", "dcqcn_plus"}, "rp_cnp_handled"), ({"hpcc"}, "hpcc_samples"), ({"fair"}, "fair_cuts"),
                             ({"dcqcn_plus"}, "dcqcn_plus_cuts")):
            expect((counters[counter] > 0) == bool(ccs & {a, b}), f"{a} beside {b}: {counter}", counters[counter])
        expect(counters.get("hpcc_missing", 0) == 0, f"{a} beside {b}: ACKs without telemetry", counters.get("hpcc_missing"))


def sizes(lab, folder):
    """Only packets of flows that need telemetry carry its header."""
    rest = section("flow", "with", src=1, dst=3, cc="hpcc", messages=1, message_bytes=1024) + section("flow", "without", src=2, dst=3, cc="dcqcn", messages=1, message_bytes=1024)
    r = results(lab, write_scenario(folder / "sizes.ini", FABRIC | {"measure_from_ns": 0}, rest))
    alone = results(lab, write_scenario(folder / "alone.ini", FABRIC | {"measure_from_ns": 0}, section("flow", "alone", src=2, dst=3, messages=1, message_bytes=1024)))
    rates = {flow["name"].split()[0]: flow["wire_rate_bps"] for flow in (*r["flows"], *alone["flows"])}
    expect(rates["without"] == rates["alone"] < rates["with"], "wire bytes", rates)


def precedence(lab, folder):
    """The flow's cc counts before the host's, and this before that of [nic]; of a READ, the host that sends the data."""
    rest = "[nic]\ncc = timely\n" + section("host", "some", hosts="1,5", cc="swift") + section("flow", "own", src=1, dst=4, cc="dcqcn") \
        + section("flow", "hosts", src=1, dst=4) + section("flow", "nics", src=2, dst=4) + section("flow", "reads", src=2, dst=5, verb="read", depth=1) \
        + section("job", "ring", ranks="1-3", bytes="30KB") + section("job", "other", ranks="1-3", bytes="30KB", cc="aimd")
    r = results(lab, write_scenario(folder / "p.ini", FABRIC, rest))
    found = {flow["name"]: flow["cc"] for flow in r["flows"]}
    expect(found == {"own h1": "dcqcn", "hosts h1": "swift", "nics h2": "timely", "reads h2": "swift", "ring h1-h2": "swift", "ring h2-h3": "timely",
                     "ring h3-h1": "timely", "other h1-h2": "aimd", "other h2-h3": "aimd", "other h3-h1": "aimd"}, "precedence", found)


def told(lab, folder):
    """The table has the algorithm of each flow, and the shares; with one algorithm it has neither."""
    mixed = write_scenario(folder / "mixed.ini", FABRIC, section("flow", "a", src=1, dst=5, cc="dcqcn") + section("flow", "b", src=2, dst=5, cc="swift"))
    text = run(lab, mixed).stdout
    lines = [line.split() for line in text.splitlines()]
    expect(["a", "h1"] in [line[:2] for line in lines if line[-1:] == ["dcqcn"]], "cc of a", text)
    shares = {line[0]: float(line[3]) for line in lines if len(line) == 7 and line[0] in ("dcqcn", "swift")}
    expect(set(shares) == {"dcqcn", "swift"} and abs(sum(shares.values()) - 100) < 0.11, "shares", shares)
    one = run(lab, write_scenario(folder / "one.ini", FABRIC, section("flow", "a", src="1-2", dst=5))).stdout
    expect("jain_index" in one and "share" not in one, "no shares with one algorithm", one)
    run(lab, "--quiet", "--out", folder / "run", mixed)
    subprocess.run([ROOT / "scripts/report.py", folder / "run"], check=True, stdout=subprocess.DEVNULL)
    page = (folder / "run/report.html").read_text(encoding="utf-8")
    expect("<h2>Algorithms</h2>" in page and "congestion control dcqcn and swift" in page and len(re.findall(r"<td[^>]*>swift", page)) >= 2, "report", page[:3000])
    explained = run(lab, "--explain", "b h2", mixed).stdout
    expect("cc swift" in explained, "--explain names the algorithm", explained[:200])


def warned(lab, folder):
    """What an algorithm lacks is told with the section that asks for it; what the flow's cc implies is not."""
    hpcc = section("flow", "fast", src=1, dst=5, cc="hpcc")
    cases = (
        ("[switch]\nint_telemetry = off\n" + hpcc, "[switch] int_telemetry", "hpcc of [flow fast]"),
        ("[nic]\nint_slots = 1\n" + hpcc, "int_slots", "2, the switches"),
        ("[nic]\ndata_ecn = not_ect\n" + section("host", "h", hosts=1, cc="dctcp") + section("flow", "f", src=1, dst=5), "[host h] cc = dctcp", "data_ecn"),
        (section("flow", "f", src=1, dst=5, verb="read", depth=1, cc="swift"), "[flow f] verb = read", "cc = swift"),
        ("[nic]\ncc = aimd\n" + section("flow", "f", src=1, dst=5), "[nic] cc = aimd", "np_ecn_echo"),
    )
    for i, (rest, *words) in enumerate(cases):
        said = run(lab, "--check-config", write_scenario(folder / f"{i}.ini", FABRIC | {"topology": "dumbbell"}, rest)).stderr
        expect(all(word in said for word in words), f"warning {words}", said)
    silent = "[nic]\ncc = aimd\n" + section("flow", "f", src=1, dst=5, cc="dctcp") + section("flow", "g", src=2, dst=5, cc="aimd") + hpcc
    said = run(lab, "--check-config", write_scenario(folder / "silent.ini", FABRIC, silent)).stderr
    expect("warning" not in said, "no warning", said)


def refused(lab, folder):
    for rest, *words in (
        (section("flow", "f", src=1, dst=5, cc="cubic"), "cc", "cubic", "default"),
        ("[nic]\nack_every = 8\n" + section("flow", "f", src=1, dst=5, cc="swift"), "ack_every", "must be 1"),
        ("[hpcc]\nhpcc_min_rate_bps = 50G\n" + section("flow", "f", src=1, dst=5, cc="hpcc"), "hpcc_min_rate_bps", "link_speed_bps"),
        (section("host", "a", hosts="1-3", cc="hpcc") + section("host", "b", hosts="3", cc="swift") + incast(), "[host b] hosts", "h3 is in [host a]"),
        (section("host", "a", hosts="9", cc="hpcc") + incast(), "[host a] hosts = 9"),
        (section("host", "a", cc="hpcc") + incast(), "[host a]", "hosts"),
        (incast() + section("event", "e", action="set", at_ns="1ms", set="flow in.cc=aimd"), "[flow in] cc = aimd", "cannot change"),
    ):
        done = run(lab, "--check-config", write_scenario(folder / "bad.ini", FABRIC, rest))
        expect(done.returncode != 0 and done.stderr.count("\n") == 1 and all(word in done.stderr for word in words), f"refused {words}", done.stderr)


def read_back(lab, folder):
    """--check-config prints a file that is the same scenario."""
    path = write_scenario(folder / "a.ini", FABRIC, section("host", "s", hosts="1-2", cc="swift") + incast() + section("job", "j", ranks="3-5", cc="hpcc"))
    (folder / "b.ini").write_text(run(lab, "--check-config", path).stdout, encoding="utf-8")
    expect(results(lab, path)["digest"] == results(lab, folder / "b.ini")["digest"], "read back")


in_folder(same, beside, sizes, precedence, told, warned, refused, read_back)
