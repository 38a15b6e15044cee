#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pacing in real time: quench-nic with 1,000 QPs of 10 Mb/s each on one lcore, to net_null for five seconds.

The QPs start one after the other, so that their packets are due at times of their own. What is late because the core
was taken away says nothing about pacing: packets due in a gap of the poll loop's clock (above 10 us) are excluded, and
the figure says how many.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "app" / "quench-nic" / "quench-nic"
SECONDS = 0.3 if "QUENCH_BENCH_SMOKE" in os.environ else 5
QPS, RATE, START_NS = 1000, 10_000_000, 100_000_000
WIRE_BYTES = 1106  # of a full packet at MTU 1024

HEAD = f"""
[nic]
mac = 02:00:00:00:00:01
ip = 10.0.0.1
link_speed_bps = 100G
local_ack_timeout = 0
window_packets = 8000000
measure_pacing = on
qp_burst_bytes = 8KB
"""
FLOW = """
[flow f{i}]
peer_mac = 02:00:00:00:00:02
peer_ip = 10.0.0.2
peer_qpn = {qpn}
message_bytes = 2GB
rate_cap_bps = {rate}
start_ns = {start_ns}
"""


def config():
    interval_ns = WIRE_BYTES * 8 * 10**9 // RATE
    return HEAD + "".join(FLOW.format(i=i, qpn=17 + i, rate=RATE, start_ns=START_NS + i * interval_ns // QPS)
                          for i in range(QPS))


def run(folder):
    ini, out = folder / "nic.ini", folder / "nic.json"
    ini.write_text(config())
    core = sorted(os.sched_getaffinity(0))[-1]
    memory = ["--file-prefix", f"bench{os.getpid()}"] if os.environ.get("QUENCH_BENCH_EAL") == "" else \
        ["--no-huge", "--no-shconf"]
    subprocess.run([str(PROGRAM), "-l", str(core), *memory, "--no-pci", "--no-telemetry", "-m", "64", "--log-level=error",
                    "--vdev", "net_null0,no-rx=1", "--", "--config", str(ini), "--json", str(out), "--stats-interval", "0",
                    "--duration", f"{SECONDS}"], check=True, stderr=subprocess.DEVNULL)
    return json.loads(out.read_text())


def figure(name, value, unit, peer=None, peer_value=None):
    print(json.dumps({"name": f"nic pacing, {QPS} QPs, 10 Gb/s in all: {name}", "value": value, "unit": unit, "peer": peer,
                      "peer_value": peer_value, "ratio": value / peer_value if peer_value else None}), flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        result = run(pathlib.Path(folder))
    pacing = result["pacing"]
    if pacing["departures"] == 0:
        sys.exit("bench_nic_pacing: nothing was measured: the core was never there")
    sent = sum(q["tx_wire_bytes"] for q in result["qps"])
    figure("total", sent * 8 / (result["elapsed_ns"] - START_NS), "Gb/s", "configured", QPS * RATE / 1e9)
    figure("departures within 2 us", 100 * pacing["within_2us"] / pacing["departures"], "%")
    figure("late, p50", pacing["late_p50_ns"], "ns")
    figure("late, p99", pacing["late_p99_ns"], "ns")
    figure("excluded: due while the core was away",
           100 * pacing["excluded"] / (pacing["excluded"] + pacing["departures"]), "%")
    figure("the core was away (gaps above 10 us)", 100 * pacing["gap_ns"] / result["elapsed_ns"], "%")


main()
