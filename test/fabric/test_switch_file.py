#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quench-lab --switch: the configuration of a quench-switch is tried in the lab as it is.

    test_switch_file.py QUENCH_LAB CONFIG_DIR CASE
"""
import pathlib
import re
import subprocess
import sys

from scenarios import expect, fewer, in_folder, results, run

CONFIG = pathlib.Path(sys.argv[2])
IMPORTS = CONFIG.parent / "test/imports"
SHORT = ("--duration", "200us", "--set", "fabric.measure_from_ns=0")


def has_ports(path):
    return "[port 0]" in path.read_text() and "[fabric]" not in path.read_text()


def by_hand(path, dst, dscp, links="", n=None):
    """The scenario that someone would write who copies the sections of a switch."""
    text = re.sub(r"\s*#.*", "", path.read_text())
    speed = re.search(r"link_speed_bps = (\w+)", text)[1]
    backing = re.search(r"backing_frame_bytes = (\w+)", text)
    text = re.sub(r"^(name|link_speed_bps|mac|shaper_burst_ns) =.*$", "", text, flags=re.M)
    text = re.sub(r"^\[pool\]\s+backing_frame_bytes.*$", "", text, flags=re.M)
    return (f"[fabric]\nhosts = {n or dst}\nlink_rate_bps = {speed}\nlink_delay_ns = 25ns\nduration_ns = 50ms\nmeasure_from_ns = 25ms\n"
            + (f"backing_frame_bytes = {backing[1]}\n" if backing else "")
            + text + links + f"[nic]\ndata_dscp = {dscp}\n[flow incast]\nsrc = 1-{min(dst - 1, 8)}\ndst = {dst}\n")


def same(program, folder):
    """A run with --switch is that of the same scenario written by hand."""
    far = "[link far]\nends = h4 s1\nlink_delay_ns = 1500ns\n"
    fast = "".join(f"[link fast{n}]\nends = h{n} s1\nlink_rate_bps = 100G\n" for n in (7, 8))
    for name, dst, dscp, links in (("switch.ini", 4, 26, ""), ("tor-nxos-example.ini", 4, 24, ""), ("tor-sonic-example.ini", 4, 3, far),
                                   ("tor-8-ports.ini", 8, 26, fast), ("tor-demo.ini", 2, 26, "")):
        scenario = folder / name
        scenario.write_text(by_hand(CONFIG / name, dst, dscp, links))
        a = results(program, *SHORT, "--switch", CONFIG / name)
        b = results(program, *SHORT, scenario)
        expect(a["digest"] == b["digest"] and a["flows"] and a["flows"][0]["goodput_bps"] > 0, f"{name}: {a['digest']}, {b['digest']}")
        printed = run(program, "--switch", CONFIG / name, "--check-config")
        (folder / "printed.ini").write_text(printed.stdout)
        expect(results(program, *SHORT, folder / "printed.ini")["digest"] == a["digest"], f"{name}: what --check-config prints runs otherwise")


def imported(folder):
    """The fixtures of the importers, imported now. test/imports/real has the results beside the inputs."""
    sys.path.insert(0, str(CONFIG.parent / "tools"))
    from convert.command import DIALECTS
    from convert.log import Log
    for name in ("nxos-leaf.txt", "sonic-tor.json", "sonic-brackets.json", "nxos-rocev2.txt"):
        path = folder / f"{name}.ini"
        path.write_text(DIALECTS["import", name.split("-")[0]]((IMPORTS / name).read_text(), Log(name, None)))
        yield path


def every(program, folder):
    """Each configuration of a switch that is here, and each that an import gives, runs, and its hosts receive."""
    paths = [*(p for p in sorted(CONFIG.glob("**/*.ini")) if has_ports(p)), *sorted((IMPORTS / "real").glob("*.ini")),
             *(p for p in imported(folder) if "[port 1]" in p.read_text())]
    expect(len(paths) > 25, f"{paths}")
    paths = [p for p in paths if p.name.startswith(("nxos", "sonic")) or has_ports(p)]
    for path in fewer(paths, 10):
        done = run(program, "--quiet", "--json", "-", *SHORT, "--switch", path)
        expect(done.returncode == 0 and '"digest"' in done.stdout, f"{path}: {done.stderr}")
        goodput = [float(v) for v in re.findall(r'"goodput_bps": ([0-9.e+]+)', done.stdout)]
        expect(goodput and max(goodput) > 0, f"{path}: {done.stderr}")


def beside(program, folder):
    """A scenario gives the traffic. Its sections of switches do not apply, and a line says so once."""
    scenario = folder / "x.ini"
    scenario.write_text("[fabric]\nduration_ns = 300us\n[switch]\nbuffer_bytes = 1MB\n[wred]\nKmin = 1KB\n[wred steep]\n"
                        "[switch s1 queue 3]\nwred_profile = steep\n[nic]\ndata_dscp = 24\n[flow f]\nsrc = 1-2\ndst = 3\n")
    done = run(program, "--switch", CONFIG / "tor-nxos-example.ini", "--check-config", scenario)
    expect(done.returncode == 0 and done.stderr.count("\n") == 1, done.stderr)
    expect(f"{scenario}: those of {CONFIG}/tor-nxos-example.ini apply instead of [wred], [switch]" in done.stderr, done.stderr)
    for line in ("buffer_bytes = 40MB", "hosts = 4", "data_dscp = 24", "wred_queues = 3"):
        expect(f"\n{line}\n" in done.stdout, line)
    expect("steep" not in done.stdout and "incast" not in done.stdout, done.stdout)
    found = [results(program, *options)["switch_file"] for options in (("--switch", CONFIG / "tor-nxos-example.ini", scenario), (*SHORT, "--switch", CONFIG / "switch.ini"))]
    expect(found == ["tor-nxos-example", None], "results name the switch beside a scenario", found)


def told(program, folder):
    """What the lab does not have is named once."""
    path = folder / "s.ini"
    path.write_text("[switch]\nshaper_burst_ns = 1ms\n[lldp]\nlldp = on\n[port]\nlink_speed_bps = 10G\n" +
                    "".join(f"[port {p}]\nmac = 02:00:00:00:00:0{p}\ndevice = net_pcap{p}\nflow_control = auto\n" for p in range(3)))
    done = run(program, "--quiet", *SHORT, "--switch", path)
    expect(done.returncode == 0 and done.stderr.count("does without") == 1, done.stderr)
    expect("the lab does without shaper_burst_ns, mac, device, DCBX at hosts (flow_control = auto is pfc)" in done.stderr, done.stderr)
    expect("2:1 incast to h3 at port 2 (DSCP 26, lossless)" in done.stderr, done.stderr)


def refused(program, folder):
    """One line, with the file at fault."""
    one = next(p for p in imported(folder) if p.name == "nxos-rocev2.txt.ini")
    bad, many, shape = folder / "bad.ini", folder / "many.ini", folder / "shape.ini"
    bad.write_text("[port 0]\nlink_speed_bps = 10G\n[port 1]\nlink_sped_bps = 10G\n")
    many.write_text("[fabric]\nhosts = 9\n[flow f]\nsrc = 1-8\ndst = 9\n")
    shape.write_text("[fabric]\ntopology = dumbbell\nhosts = 4\n[flow f]\nsrc = 1\ndst = 2\n")
    tor = CONFIG / "tor-nxos-example.ini"
    for words, line in (
            (["--switch", folder / "none.ini"], f"{folder}/none.ini: "),
            (["--switch", bad], f"{bad}:3: [port 1] link_speed_bps: expected"),
            (["--switch", one], f"{one}: expected two ports that forward untagged frames to each other"),
            (["--switch", tor, many], f"{many}:2: [fabric] hosts = 9: expected at most 4 with --switch"),
            (["--switch", tor, shape], f"{shape}:2: [fabric] topology = dumbbell: expected star with --switch"),
            ([], "expected one scenario file"),
            (["--switch", tor, many, shape], "expected one scenario file")):
        done = run(program, *words)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and f"quench-lab: error: {line}" in done.stderr, f"{words}: {done.stderr}")


def shards(program, folder):
    """A scenario has as many shards as its ports name. It was an assertion that failed."""
    path = folder / "shards.ini"
    path.write_text("[fabric]\nhosts = 4\nduration_ns = 300us\n[port 1]\nshard = 2\n[flow f]\nsrc = 1-3\ndst = 4\n")
    two = results(program, path)
    done = subprocess.run([program, "--quiet", "--json", "-", "--set", "switch.shards=2", str(path)], stdout=subprocess.PIPE, text=True, check=False)
    expect(f'"digest": "{two["digest"]}"' in done.stdout, two["digest"])


in_folder(same, every, beside, told, refused, shards)
