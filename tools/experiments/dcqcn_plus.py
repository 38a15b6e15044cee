# SPDX-License-Identifier: BSD-3-Clause
"""ICNP 2018, DCQCN+: large incasts with DCQCN and with DCQCN+."""
from experiments.frame import Check, Experiment, Variant
from experiments.measures import dropped
from report.plots import COLOURS, WIDTH, plt

NAMES = {"dcqcn": "DCQCN", "dcqcn_plus": "DCQCN+"}
HOSTS = 50
QPS = (1, 4, 10, 40)  # of each host


def run_of(runs, cc, qps):
    return runs[f"{cc}-{HOSTS * qps}"]


def pauses(run):
    return run.results["pause_frames_after_measure"]


def queue_kb(run, key):
    return run.results["bottleneck"][key] / 1e3


def check(runs):
    found = []
    for qps in QPS:
        run = run_of(runs, "dcqcn_plus", qps)
        found += [Check(f"DCQCN+, {HOSTS * qps}:1: pause frames", pauses(run), 0, 0, stated="deals with 2000 flows"),
                  Check(f"DCQCN+, {HOSTS * qps}:1: mean queue", queue_kb(run, "queue_mean_bytes"), None, 100, "KB"),
                  Check(f"DCQCN+, {HOSTS * qps}:1: use of the link", run.results["bottleneck"]["link_use"], 0.75, 1)]
    found.append(Check(f"DCQCN, {HOSTS}:1: pause frames", pauses(run_of(runs, "dcqcn", 1)), 0, 0, stated="a tenth of 2000 flows"))
    for qps in QPS[1:]:
        found.append(Check(f"DCQCN, {HOSTS * qps}:1: pause frames", pauses(run_of(runs, "dcqcn", qps)), 1000, stated="fails with more"))
    found.append(Check("packets that switches dropped", sum(dropped(run) for run in runs.values()), 0, 0))
    return found


def draw(runs):
    figure, (over_time, by_degree) = plt.subplots(1, 2, figsize=(WIDTH, 2.9))
    for i, (cc, name) in enumerate(NAMES.items()):
        series = run_of(runs, cc, QPS[-1]).bottleneck()
        over_time.plot(series["time_ns"] / 1e6, series["queue_bytes"] / 1e6, color=COLOURS[i], lw=1)
        by_degree.plot([HOSTS * n for n in QPS], [queue_kb(run_of(runs, cc, n), "queue_mean_bytes") / 1e3 for n in QPS], "o-", color=COLOURS[i], label=name)
    over_time.set_xlabel(f"time (ms), {HOSTS * QPS[-1]}:1")
    over_time.set_ylabel("queue (MB)")
    by_degree.set_xlabel("QPs")
    by_degree.set_xscale("log")
    by_degree.set_ylabel("mean queue (MB)")
    by_degree.legend(fontsize=8.5)
    return figure


EXPERIMENTS = (Experiment(
    name="dcqcn-plus-incast",
    title="Large incasts with DCQCN and DCQCN+",
    source="DCQCN+: Taming Large-Scale Incast Congestion in RDMA over Ethernet Networks, ICNP 2018",
    statement="DCQCN+ deals with incasts of 2000 flows at least, in a simulation ten times as many as DCQCN, with a tenth of its latency.",
    scaled="50 hosts with 1 to 40 QPs each send to one at 40 Gb/s, for 100 ms, of which the second half is measured. The receiver sends a CNP "
           "each microsecond at most. The paper's network is not known to us. --full changes nothing.",
    variants=tuple(Variant(f"{cc}-{HOSTS * qps}", {"nic.cc": cc, "flow incast.qp_count": str(qps)}) for cc in NAMES for qps in QPS),
    check=check,
    plots={"queue": (draw, "Queue to the receiver: over time, and its mean in the second half.")},
    findings="With 200 QPs or more, DCQCN's rates rise between two CNPs of a QP: one comes each 200 us with 200 QPs, each 2 ms with 2000, and the timer "
             "has 55 us. So the buffer stays full and the senders are paused all the time. With DCQCN+, the timer waits twice the interval of CNPs. "
             "The queue is drained within 30 ms of a start at line rate, and no pause follows. The price is use of the link: 79 % with 2000 QPs, "
             "whose increases are 4 ms apart.",
),)
