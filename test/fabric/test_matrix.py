# SPDX-License-Identifier: BSD-3-Clause
"""Each algorithm with each verb, size, signal and company: it uses an idle link, slows down under load, and comes back; or quench-lab warned.

Algorithms and verbs are those that the program has, so that a new one is in the matrix. A cell is a run of three parts:

idle    the flow is alone on an idle link: at least 0.9 of its wire rate with cc = none
load    seven more senders join (beside), or the port narrows to an eighth (alone): the algorithm's rate falls to half, or the queue to half
        of that with cc = none
after   the load is gone for X round trips: at least 0.8 of the goodput of the first part

A cell passes if all three hold, or if the program warned of the algorithm (cc = NAME) at its start.

test_matrix.py PROGRAM CONFIG sample|whole [SEED | KEY=VALUE,... of cells]
"""
import concurrent.futures
import csv
import itertools
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile

from scenarios import expect, in_folder, run, section, write_scenario

LINE = 10e9
ROUND_TRIP_NS = 8700  # of a packet of 1024 B on the idle path
IDLE = (500_000, 2_000_000)
LOAD = (7_000_000, 12_000_000)  # its second half
END_OF_LOAD = 12_000_000
X = 2500
# From 10 Mb/s on, the 20 events before exponential growth are 2 packet times of 0.9 ms apart, and as many as it takes to grow by 1000.
X_OF = {"dcqcn_plus": 8000}
SAMPLE_NS = 250_000
SENDERS = 8
RECEIVER = SENDERS + 1
MTU = 1024
KMAX_BYTES = 40_000
CELLS_OF_AN_ALGORITHM = 2
# They take the receiver's link for the bottleneck (doc/extending.md), so a port that narrows says nothing to them.
FOR_INCASTS_ALONE = ("fair",)

# In which way the switch says that it is congested: one way in each scenario, besides the delay of its queue.
SIGNALS = {
    "cnp": (f"[switch]\nbuffer_bytes = 12MB\npfc_generate = on\n[wred]\nKmin = 10KB\nKmax = {KMAX_BYTES}\nPmax = 20%\n", ""),
    "echo": (f"[switch]\nbuffer_bytes = 12MB\npfc_generate = on\n[wred]\nKmin = 10KB\nKmax = {KMAX_BYTES}\nPmax = 20%\n[np]\nnp_ecn_echo = on\n", ""),
    "drop": ("[switch]\nbuffer_bytes = 250KB\npfc_generate = off\nwred_queues = none\n", "flow_control = off\nlocal_ack_timeout = 7\n"),
    "delay": ("[switch]\nbuffer_bytes = 12MB\npfc_generate = on\nwred_queues = none\n", ""),
    "int": ("[switch]\nbuffer_bytes = 12MB\npfc_generate = on\nwred_queues = none\nint_telemetry = on\n", ""),
}
SIZES = {
    "64": {"message_bytes": 64, "depth": 128},
    "quarter": {"message_bytes": MTU // 4, "depth": 128},
    "mtu": {"message_bytes": MTU, "depth": 64},
    "cdf": {"message_size": "cdf", "message_cdf": "sizes.cdf", "depth": 32},
}
COMPANY = ("beside", "alone")
CDF = "64 0\n64 50\n1024 80\n16384 95\n65536 100\n"
CDF_OF_DATAGRAMS = "64 0\n64 50\n1024 100\n"


def end_ns(cc):
    return END_OF_LOAD + X_OF.get(cc, X) * ROUND_TRIP_NS


def choices(help_text, key):
    """The words of a key, as --help-config has them: a, b or c."""
    return re.split(", | or ", re.search(rf"^\| `{key}` \| ([a-z0-9_, ]+) \|", help_text, re.M).group(1))


def flow(name, host, verb, size, more):
    keys = {**SIZES[size], "verb": verb, "mtu_bytes": MTU, **more}
    if size == "cdf" and verb == "ud_send":
        keys["message_cdf"] = "datagrams.cdf"
    # The data of READs comes from dst.
    ends = {"src": RECEIVER, "dst": host} if verb == "read" else {"src": host, "dst": RECEIVER}
    return section("flow", name, **ends, **keys)


def scenario(folder, cc, verb, size, signal, company):
    switch, nic = SIGNALS[signal]
    rest = switch + f"[nic]\ncc = {cc}\nmax_rd_atomic = 128\n{nic}" + flow("f", 1, verb, size, {})
    if company == "beside":
        rest += "".join(flow(f"other{h}", h, verb, size, {"start_ns": "2ms", "stop_ns": END_OF_LOAD}) for h in range(2, RECEIVER))
    else:
        rest += section("event", "narrow", at_ns="2ms", for_ns=END_OF_LOAD - 2_000_000, action="set",
                        set=f"port {RECEIVER - 1}.shaper_rate_bps={int(LINE / SENDERS)}")
    (folder / "sizes.cdf").write_text(CDF, encoding="utf-8")
    (folder / "datagrams.cdf").write_text(CDF_OF_DATAGRAMS, encoding="utf-8")
    fabric = {"topology": "star", "hosts": RECEIVER, "link_rate_bps": int(LINE), "link_delay_ns": "2us", "duration_ns": end_ns(cc),
              "sample_ns": SAMPLE_NS, "messages_csv": "off", "seed": 1}
    return write_scenario(folder / "cell.ini", fabric, rest)


def rows(path):
    with open(path, encoding="utf-8") as f:
        yield from csv.DictReader(f)


def mean(samples, span):
    return statistics.fmean(v for at, v in samples if span[0] < at <= span[1])


class Run:
    """What a run says: means over parts of it."""

    def __init__(self, program, folder, *cell):
        out = folder / "out"
        done = run(program, "--quiet", "--threads", 1, "--out", out, scenario(folder, *cell))
        if done.returncode != 0:
            raise SystemExit(f"{cell}: {done.stderr}")
        self.warned = f"cc = {cell[0]}" in done.stderr
        flows = [r for r in rows(out / "flows.csv") if r["flow"].startswith("f ")]
        at = [int(r["time_ns"]) for r in flows]
        goodput = [(t, float(r["goodput_bps"])) for t, r in zip(at, flows)]
        rate = [(t, float(r["rp_rate_bps"])) for t, r in zip(at, flows)]
        queue = {}
        for r in rows(out / "queues.csv"):
            if int(r["port"]) == RECEIVER - 1:
                queue[int(r["time_ns"])] = queue.get(int(r["time_ns"]), 0) + int(r["queue_bytes"])
        end = end_ns(cell[0])
        self.idle, self.after = mean(goodput, IDLE), mean(goodput, (end - 2_000_000, end))
        self.wire = mean([(t, float(r["wire_rate_bps"])) for t, r in zip(at, flows)], IDLE)
        self.rate = min(v for t, v in rate if LOAD[0] < t <= LOAD[1])
        self.queue = mean(list(queue.items()), LOAD)
        self.resent = sum(int(r["retransmitted_packets"]) for t, r in zip(at, flows) if LOAD[0] < t <= LOAD[1])


def faults(signal, cell, free):
    """What a cell does not do, beside cc = none. With that, the switch may have no reason to ask for less."""
    said = []
    if cell.wire < 0.9 * free.wire:
        said.append(f"idle: {cell.wire / 1e9:.3f} of {free.wire / 1e9:.3f} Gb/s on the wire")
    asked = free.resent > 0 if signal == "drop" else free.queue > KMAX_BYTES if signal in ("cnp", "echo") else True
    if asked and not (cell.rate <= LINE / 2 or cell.queue <= free.queue / 2):
        said.append(f"load: rate {cell.rate / 1e9:.2f} Gb/s, queue {cell.queue / 1e3:.0f} of {free.queue / 1e3:.0f} KB, "
                    f"{cell.resent} of {free.resent} packets sent again")
    if cell.after < 0.8 * cell.idle:
        said.append(f"after: {cell.after / 1e9:.3f} of {cell.idle / 1e9:.3f} Gb/s")
    return said


def cells_of(program):
    help_text = run(program, "--help-config").stdout
    algorithms = [cc for cc in choices(help_text, "cc") if cc not in ("default", "none")]
    cells = itertools.product(algorithms, choices(help_text, "verb"), SIZES, SIGNALS, COMPANY)
    return [cell for cell in cells if cell[0] not in FOR_INCASTS_ALONE or cell[-1] == "beside"]


def judge_group(program, folder, algorithms, rest):
    """Cells that differ by their algorithm: what is said of each, and whether the program warned."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        free = Run(program, pathlib.Path(own), "none", *rest)
        for cc in algorithms:
            one = Run(program, pathlib.Path(own), cc, *rest)
            yield cc, faults(rest[2], one, free), one.warned


def judge(program, folder, cells):
    groups = {}
    for cc, *rest in cells:
        groups.setdefault(tuple(rest), []).append(cc)
    warned = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        answers = [(rest, pool.submit(lambda r=rest, a=algorithms: list(judge_group(program, folder, a, r)))) for rest, algorithms in groups.items()]
        for rest, answer in answers:
            for cc, said, warns in answer.result():
                warned += warns
                print(cc, *rest, "warned:" if warns else "ok" if not said else "fails:", "; ".join(said), flush=True)
                expect(warns or not said, f"{cc} {' '.join(rest)}: {'; '.join(said)}")
    print(f"{len(cells)} cells, {warned} warned")


def warns(program, folder, cell):
    return f"cc = {cell[0]}" in run(program, "--check-config", scenario(folder, *cell)).stderr


def sample(program, folder):
    """Of each algorithm a few cells in which the program promises that it works."""
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    cells = cells_of(program)
    random.Random(seed).shuffle(cells)
    chosen = []
    for cc in sorted({cell[0] for cell in cells}):
        chosen += itertools.islice((cell for cell in cells if cell[0] == cc and not warns(program, folder, cell)), CELLS_OF_AN_ALGORITHM)
    print(f"seed {seed}: {len(chosen)} of {len(cells)} cells")
    judge(program, folder, chosen)


def whole(program, folder):
    """Every cell, or those that have these words."""
    words = set(sys.argv[4].split(",")) if len(sys.argv) > 4 else set()
    judge(program, folder, [c for c in cells_of(program) if words <= set(c)])


if __name__ == "__main__":
    in_folder(sample, whole)
