# SPDX-License-Identifier: BSD-3-Clause
"""The fabric of "Understanding DCQCN": pauses spread from leaf 5 via spine 1 to leaves 1 and 3 and their hosts, and end."""
import numpy as np

from experiments import stages
from experiments.frame import NOT_IN_THIS_RUN, Check, Experiment, Variant
from experiments.measures import dropped
from experiments.stages import INCREASES, Stage, held_bytes
from report.plots import COLOURS, GREY, WIDTH, plt

LEAF5_QUEUE = ("leaf5", "0", "3")  # to node 9
# Which switch pauses which peer: (switch, its ports). spine1 has leaf1, leaf3 and leaf5 on its ports 0, 1 and 2.
HOLDS = {"leaf5 holds spine1": ("leaf5", "1"), "spine1 holds leaf1": ("spine1", "0"), "spine1 holds leaf3": ("spine1", "1"),
         "leaf1 holds nodes 1-4": ("leaf1", "0123"), "leaf3 holds nodes 5-8": ("leaf3", "0123")}
NODES = {f"nodes1-4 h{i}": f"h{i}" for i in range(1, 5)} | {f"nodes5-8 h{i}": f"h{i}" for i in range(6, 10)}
RESET_US = 55  # rp_time_reset of the scenario
PFC_ONLY = {"nic.cc": "none", "wred.wred_green_enable": "off"}
ALONE = {"flow nodes1-4.start_ns": NOT_IN_THIS_RUN, "flow nodes5-8.start_ns": NOT_IN_THIS_RUN}
LABELS = {"alone": "alone", "pfc": "PFC only", "dcqcn": "DCQCN"}


def episodes(run, who):
    """Pauses that each port of an entry of HOLDS sent."""
    node, ports = HOLDS[who]
    return [stages.held(run, node, port) for port in ports]


def hosts_held(run):
    return {flow: stages.held(run, host, 0, "rx_paused") for flow, host in NODES.items()}


def spread_of(run):
    """Stages of the cascade; np.max is NEVER when one of several has no such time."""
    queue, clock = run.queues[LEAF5_QUEUE], stages.clock(run)
    low, high = run.results["bottleneck"]["wred_min_bytes"], run.results["bottleneck"]["wred_max_bytes"]

    def xoff(who):
        return np.max([stages.begin_after(spans) for spans in episodes(run, who)])
    return [
        Stage("> WRED min", "leaf 5's queue to node 9 crosses WRED min", stages.first(queue, queue["queue_bytes"] > low)),
        Stage("CE", "first packet marked", stages.first(queue, queue["ecn_marked_packets"] > 0)),
        Stage("CNP", "first CNP of node 9", stages.first(clock, stages.total(run, "cnp_sent", "nodes") > 0)),
        Stage("cut", "first rate cut", stages.first_change(stages.trace(run), {"cut"})),
        Stage("> WRED max", "leaf 5's queue crosses WRED max", stages.first(queue, queue["queue_bytes"] > high)),
        Stage("leaf5 XOFF", "leaf 5 sends XOFF to spine 1", xoff("leaf5 holds spine1")),
        Stage("spine1 held", "spine 1 is held", stages.begin_after(stages.held(run, "spine1", 2, "rx_paused"))),
        Stage("spine1 XOFF", "spine 1 has sent XOFF to leaves 1 and 3", np.max([xoff("spine1 holds leaf1"), xoff("spine1 holds leaf3")])),
        Stage("leaves XOFF", "leaves 1 and 3 have sent XOFF to all of nodes 1 to 8",
              np.max([xoff("leaf1 holds nodes 1-4"), xoff("leaf3 holds nodes 5-8")])),
        Stage("nodes held", "all of nodes 1 to 8 are held", np.max([stages.begin_after(spans) for spans in hosts_held(run).values()])),
    ]


def way_back(run):
    """First XON of each stage after all nodes are paused."""
    after = spread_of(run)[-1].at_us

    def xon(who):
        return np.max([stages.end_after(spans, after) for spans in episodes(run, who)])
    return [
        Stage("leaf5 XON", "first XON of leaf 5 then", xon("leaf5 holds spine1")),
        Stage("spine1 XON", "of spine 1 to both leaves", np.max([xon("spine1 holds leaf1"), xon("spine1 holds leaf3")])),
        Stage("leaves XON", "of leaves 1 and 3 to all nodes", np.max([xon("leaf1 holds nodes 1-4"), xon("leaf3 holds nodes 5-8")])),
    ]


def end(run):
    """Last XON of each stage, and the recovery after it."""
    def last_xon(*whos):
        return np.max([stages.last_end(spans) for who in whos for spans in episodes(run, who)])
    clock = stages.clock(run)
    last_cnp = stages.last(clock, np.diff(stages.total(run, "cnp_sent", "nodes"), prepend=0) > 0)
    return [
        Stage("leaves' last", "last XON of leaves 1 and 3", last_xon("leaf1 holds nodes 1-4", "leaf3 holds nodes 5-8")),
        Stage("spine1's last", "last XON of spine 1", last_xon("spine1 holds leaf1", "spine1 holds leaf3")),
        Stage("leaf5's last", "last XON of leaf 5", last_xon("leaf5 holds spine1")),
        Stage("last CNP", "last CNP of node 9", last_cnp),
        Stage("climb", "rates rise, no CNP from here on",
              stages.first_change([c for c in stages.trace(run) if c.flow in NODES], INCREASES, last_cnp)),
    ]


def longest_without_cnp(run):
    """Longest time in us between two CNPs for any QP of a node while the node is paused."""
    longest = 0
    for flow, spans in hosts_held(run).items():
        series = run.flows[flow]
        cnps = stages.us(series)[stages.grows(series, "cnp_handled")]
        for begin, finish in spans:
            inside = cnps[(cnps > begin) & (cnps < finish)]
            longest = max(longest, np.diff(np.concatenate(([begin], inside, [finish]))).max())
    return longest or stages.NEVER


def completed_ms(run, prefix):
    """Job completion time: the first sample after the last message of these flows is acknowledged; NEVER if none."""
    times = []
    for flow in run.results["flows"]:
        if flow["name"].startswith(prefix):
            series = run.flows[flow["name"]]
            times.append(stages.first(series, series["messages"] >= flow["messages_wanted"]) / 1e3)
    return np.max(times)


def check(runs):
    cascade, alone, pfc, dcqcn = (runs[name] for name in ("cascade", "alone", "pfc", "dcqcn"))
    job = {name: completed_ms(runs[name], "nodes") for name in ("pfc", "dcqcn")}
    other = {name: completed_ms(run, "other") for name, run in runs.items() if name in LABELS}
    spread = spread_of(cascade)
    return [
        # The first cut and WRED max have no order: a CNP takes as long as the queue takes from WRED min to max.
        *stages.checks("", spread[:4]),
        *stages.checks("", spread[4:] + way_back(cascade)),
        *stages.checks("the end: ", end(cascade)),
        Check("longest time without a CNP for a paused node", longest_without_cnp(cascade), None, 60, "us", "CNPs stop"),
        Check("QPs of nodes 1 to 8 whose rate rose while they were paused", len(stages.risen_in_pauses(cascade, hosts_held(cascade), RESET_US)), 0, 0, "QPs", "rates increase"),
        Check("job of nodes 1 to 8, PFC only", job["pfc"], 20.4, 22, "ms", "-"),
        Check("job of nodes 1 to 8, DCQCN divided by PFC only", job["dcqcn"] / job["pfc"], 1, 1.3, "times", "the lowest job completion times"),
        Check("other job, alone", other["alone"], 2.5, 3, "ms"),
        Check("other job, PFC only divided by alone", other["pfc"] / other["alone"], 5, unit="times", stated="-"),
        Check("other job, DCQCN divided by PFC only", other["dcqcn"] / other["pfc"], None, 0.7, "times"),
        Check("PFC only: last pause", (pfc.results["last_pause_ns"] or np.nan) / 1e6, 0.9 * job["pfc"], unit="ms", stated="continues"),
        Check("DCQCN: last pause", (dcqcn.results["last_pause_ns"] or np.nan) / 1e6, None, 3, "ms", "PFC is a fail-safe"),
        Check("dropped", sum(dropped(run) for run in runs.values()), 0, 0, "packets", "lossless"),
    ]


def marking(run, key):
    """Episodes in which a queue marks packets that were not marked before."""
    return stages.episodes(run.queues[key], stages.grows(run.queues[key], "ecn_marked_packets"))


def draw_cascade(runs):
    run = runs["cascade"]
    figure, (leaf5, spine1, leaf1, rates, bars) = plt.subplots(5, 1, figsize=(WIDTH, 10), sharex=True, height_ratios=(1, 1, 1, 1, 1.2))
    panels = {leaf5: ("leaf 5", "0", "leaf5", "1"), spine1: ("spine 1", "2", "spine1", "01"), leaf1: ("leaf 1", "5", "leaf1", "0123")}
    for axes, (label, out, node, ports) in panels.items():
        queue = run.queues[(node, out, "3")]
        axes.plot(stages.us(queue), queue["queue_bytes"] / 1e6, color=COLOURS[0], label="egress queue")
        for i, port in enumerate(ports):
            group = run.groups[(node, port, "3")]
            axes.plot(stages.us(group), held_bytes(group) / 1e6, color=COLOURS[1], lw=0.8, label=None if i else "ingress, each port")
        lines = {"XOFF of one": group["limit_bytes"].max() / 1e6}
        if axes is leaf5:
            low, high = run.results["bottleneck"]["wred_min_bytes"], run.results["bottleneck"]["wred_max_bytes"]
            lines |= {"WRED min": low / 1e6, "WRED max": high / 1e6}
        stages.thresholds(axes, lines)
        axes.set_ylabel(f"{label} (MB)")
        axes.legend(fontsize=8.5, loc="upper left", framealpha=0.9)
    for flow, series in run.flows.items():
        rates.plot(stages.us(series), series["rp_rate_bps"] / 1e9, lw=0.8,
                   color=COLOURS[2] if flow.startswith("other") else COLOURS[3] if flow.startswith("nodes1") else COLOURS[5])
    for label, colour in (("nodes 1-4", 3), ("nodes 5-8", 5), ("other", 2)):
        rates.plot([], [], color=COLOURS[colour], label=label)
    rates.set_yscale("log")
    rates.set_ylabel("rate (Gb/s)")
    rates.legend(fontsize=8.5, loc="lower left", framealpha=0.9)
    clock = stages.clock(run)
    sent = np.diff(stages.total(run, "cnp_sent", "nodes"), prepend=0) > 0
    rows = {"marks: leaf5, spine1, leaves": [marking(run, key) for key in (LEAF5_QUEUE, ("spine1", "2", "3"), ("leaf1", "5", "3"), ("leaf3", "5", "3"))],
            "CNPs of node 9": [[(at - 1, at) for at in stages.us(clock)[sent]]],
            **{who: episodes(run, who) for who in HOLDS}}
    for row, of_ports in enumerate(rows.values()):
        for i, spans in enumerate(of_ports):
            bars.broken_barh([(begin, finish - begin) for begin, finish in spans], (row - 0.4 + 0.8 * i / len(of_ports), 0.75 / len(of_ports)),
                             color=COLOURS[row % len(COLOURS)])
    bars.set_yticks(range(len(rows)), rows, fontsize=9)
    bars.invert_yaxis()
    bars.set_xscale("log")
    bars.set_xlim(1, run.results["duration_ns"] / 1e3)
    bars.set_xlabel("time (us, logarithmic)")
    found = spread_of(run) + way_back(run) + end(run)
    for axes in (leaf5, spine1, leaf1, rates, bars):
        for stage in found:
            axes.axvline(stage.at_us, color=GREY, lw=0.5, alpha=0.6)
    stages.label(leaf5, found)
    leaf5.set_title("The pause spreads from leaf 5 to the nodes", pad=140)
    return figure


def draw_jobs(runs):
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.8), width_ratios=(1, 1.5))
    for i, (name, label) in enumerate(LABELS.items()):
        for x, prefix in ((0, "nodes"), (1, "other")):
            if (name, prefix) == ("alone", "nodes"):
                continue
            ms = completed_ms(runs[name], prefix)
            left.bar(x + (i - 1) * 0.28, ms, 0.26, color=COLOURS[i], label=label if prefix == "other" else None)
            left.annotate(f"{ms:.1f}", (x + (i - 1) * 0.28, ms), ha="center", va="bottom", fontsize=9)
    left.set_xticks((0, 1), ("nodes 1 to 8", "other"))
    left.set_ylabel("job completion time (ms)")
    left.grid(axis="x", visible=False)
    left.set_ylim(0, 30)
    left.legend(fontsize=8.5, loc="upper left", ncols=3, columnspacing=1, handlelength=1.2)
    for i, name in ((1, "pfc"), (2, "dcqcn")):
        for prefix, style in (("nodes", "-"), ("other", "--")):
            run = runs[name]
            clock = stages.clock(run)
            share = stages.total(run, "goodput_bps", prefix)[:len(clock["time_ns"]) // 10 * 10].reshape(-1, 10).mean(axis=1) / 1e9
            right.plot(clock.ms()[9::10][:len(share)], share, style, color=COLOURS[i], lw=1.1,
                       label=f"{LABELS[name]}, {'nodes 1 to 8' if prefix == 'nodes' else 'other'}")
    right.set_xlim(0, 30)
    right.set_xlabel("time (ms)")
    right.set_ylabel("goodput (Gb/s), means of 0.2 ms")
    right.set_ylim(0, 125)
    right.legend(fontsize=8, ncols=2)
    return figure


EXPERIMENTS = (Experiment(
    name="dcqcn-cascade",
    title="A fabric: how pauses spread and end",
    source="Understanding Data Center Quantized Congestion Notification (DCQCN), a practical example",
    statement="Nodes 1 to 8 under leaves 1 and 3 write to node 9 under leaf 5. Leaf 5's queue crosses WRED min and max, and node 9 "
              "sends CNPs to the nodes. When leaf 5 crosses xOFF, it pauses spine 1. Spine 1's buffer fills, and it pauses leaves 1 "
              "and 3, which pause the nodes. During the pauses, CNPs stop and rates increase. Leaf 5 empties first, then the spine, "
              "then the leaves. PFC is a fail-safe: for the lowest job completion times, ECN should act first.",
    scaled="100 Gb/s for nodes and 800 Gb/s between switches, so links between switches do not limit the nodes. Each of nine hosts "
           "sends on eight QPs of 4 MB, all at line rate at the start. The cascade is simulated for 2.5 ms with samples of 1 us. "
           "The guide states no rates, thresholds or sizes. The 'other' job, from leaf 1 to leaf 3, is not in the guide: it shows "
           "what the cascade costs bystanders. --full changes nothing.",
    variants=(Variant("cascade", {"fabric.duration_ns": "2500us", "fabric.sample_ns": "1us"}), Variant("alone", ALONE),
              Variant("pfc", PFC_ONLY), Variant("dcqcn")),
    check=check,
    plots={"cascade": (draw_cascade, "With DCQCN. The bars at the bottom have a line for each paused port."),
           "jobs": (draw_jobs, "Left: job completion times. Right: goodput.")},
    findings="The pauses spread and end in the guide's order. But leaf 5 does not stay above xOFF. It sends XON as soon as 0.8 MB "
             "have left, and spine 1 fills it again within 10 us, so each switch is paused and released again and again. At the end, "
             "the leaves are empty first, then the spine, and then leaf 5, the bottleneck. CNPs do not stop: leaf 5 is never empty, "
             "and everything that it sends is marked. After the first 0.2 ms, leaves and spine mark too. So no rate rises, and rates "
             "fall to the minimum; the one-switch experiment shows when rates would rise. PFC alone keeps node 9's link full. With "
             "DCQCN, this job takes 13 % longer, because its rates must recover. The benefit of DCQCN is for other traffic: the "
             "other job, which has no congested link on its path, takes 8 times as long under PFC as alone, and half of that with "
             "DCQCN."),)
