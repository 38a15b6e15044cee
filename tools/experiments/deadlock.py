# SPDX-License-Identifier: BSD-3-Clause
"""PFC deadlock: buffers that wait for each other in a ring."""
import numpy as np

from experiments.frame import NOT_IN_THIS_RUN, Check, Experiment, Variant
from experiments.measures import dropped
from report.plots import COLOURS, GREY, WIDTH, plt

STOP_MS = 20  # the flows' end
RING = (("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"))
RECEIVERS = (("D", "h7"), ("B", "h3"), ("C", "h6"))
LABELS = {"two-flows": "two flows", "slow-third": "a third at 2 Gb/s", "deadlock": "three flows", "watchdog": "three, watchdog",
          "restart": "three, C restarts at 30 ms", "dcqcn": "three, DCQCN"}
DEADLOCKED = "deadlock"
FREE = ("two-flows", "dcqcn")


def queue(run, node, peer):
    """Samples of the data queue of the port to peer; None: the queue had no traffic."""
    port = next(p["port"] for p in run.results["ports"] if (p["node"], p["peer"]) == (node, peer))
    return run.queues.get((node, str(port), "3"))


def total(run, ends, column):
    """Sum of a column over several queues at each sample, and the samples' times in ms."""
    columns = [each for each in (queue(run, *end) for end in ends) if each is not None]
    times = np.unique(np.concatenate([each.ms() for each in columns]))
    return times, np.sum([np.interp(times, each.ms(), each[column], left=0) for each in columns], axis=0)


def delivered(run):
    """Bytes sent to the receivers so far, at each sample."""
    return total(run, RECEIVERS, "tx_bytes")


def held(run):
    """Bytes in the four queues of the ring."""
    return total(run, RING, "queue_bytes")


def last_frame_ms(run):
    """Time at which the last data was sent to a receiver."""
    times, so_far = delivered(run)
    return times[np.argmax(so_far == so_far[-1])]


def gbps(run, begin_ms, end_ms):
    times, so_far = delivered(run)
    return np.diff(np.interp((begin_ms, end_ms), times, so_far))[0] * 8 / (end_ms - begin_ms) / 1e6


def left(run):
    return run.results["buffer_used_bytes"] / 1e3


def refreshed(run):
    """Pause frames in the ring later than 10 ms after the end of the flows."""
    ends = [(node, next(str(p["port"]) for p in run.results["ports"] if (p["node"], p["peer"]) == (node, before))) for before, node in RING]
    series = [run.pauses[node, port, "3"] for node, port in ends if (node, port, "3") in run.pauses]
    return sum(each["tx_pause"][-1] - np.interp(STOP_MS + 10, each.ms(), each["tx_pause"]) for each in series)


def storms(run, event):
    return sorted(e["at_ns"] / 1e6 for e in run.results["events"] if e["event"] == event)


def drops(run, reason):
    return sum(d["packets"] for d in run.results["drops"] if d["reason"] == reason)


def check(runs):
    stuck, slow, guarded, rebooted = (runs[name] for name in (DEADLOCKED, "slow-third", "watchdog", "restart"))
    checks = [Check(f"{LABELS[name]}: left in the buffers at the end", left(runs[name]), 0, 0, "KB", "no deadlock") for name in FREE]
    checks += [Check(f"{LABELS[name]}: rate at the receivers until the flows' end", gbps(runs[name], 1, STOP_MS), 25, unit="Gb/s") for name in FREE]
    return checks + [
        Check("three flows: time of the last frame to a receiver", last_frame_ms(stuck), None, 2, "ms", "nothing moves any more"),
        Check("three flows: rate from then on", gbps(stuck, 2, 50), 0, 0, "Gb/s", "0"),
        Check("three flows: bytes in the buffers 30 ms after the flows' end", left(stuck), 400, unit="KB", stated="for ever"),
        Check("three flows: pause frames in the ring from 30 ms on", refreshed(stuck), 100, unit="frames", stated="XOFF again and again"),
        Check("a third at 2 Gb/s: time of the last frame to a receiver", last_frame_ms(slow), 2, 19, "ms", "later"),
        Check("a third at 2 Gb/s: bytes in the buffers 30 ms after the flows' end", left(slow), 400, unit="KB", stated="for ever"),
        Check("three flows: dropped", dropped(stuck), 0, 0, "packets", "lossless"),
        Check("watchdog: storms found", len(storms(guarded, "storm_detected")), 1, unit="storms"),
        Check("watchdog: time of the first storm", min(storms(guarded, "storm_detected"), default=np.inf), 2, 4, "ms", "detection time 2 ms, polls of 1 ms"),
        Check("watchdog: storms that did not end", len(storms(guarded, "storm_detected")) - len(storms(guarded, "storm_restored")), 0, 0, "storms"),
        Check("watchdog: rate from the first storm to the flows' end", gbps(guarded, 3, STOP_MS), 1, unit="Gb/s", stated="traffic goes on"),
        Check("watchdog: left in the buffers at the end", left(guarded), 0, 0, "KB", "broken"),
        Check("watchdog: its share of the packets that switches dropped", 100 * drops(guarded, "pfc_watchdog") / dropped(guarded), 100, 100, "%"),
        Check("C restarts: lost in its buffers", drops(rebooted, "restart"), 50, unit="packets"),
        Check("C restarts: left in the buffers at the end", left(rebooted), 0, 0, "KB", "broken"),
    ]


def panels(runs, draw_one, label):
    figure, grid = plt.subplots(2, 3, figsize=(WIDTH, 4.6), sharex=True, sharey=True)
    for axes, (name, run) in zip(grid.flat, runs.items()):
        draw_one(axes, run)
        axes.axvline(STOP_MS, color=GREY, ls=":", lw=1)
        axes.set_title(LABELS[name], fontsize=10)
        for at in storms(run, "storm_detected"):
            axes.axvline(at, color=COLOURS[1], lw=0.8, alpha=0.5)
    for axes in grid[1]:
        axes.set_xlabel("time (ms)")
    for axes in grid[:, 0]:
        axes.set_ylabel(label)
    return figure


def draw_rate(runs):
    def one(axes, run):
        times, so_far = delivered(run)
        axes.plot(times[1:], np.diff(so_far) * 8 / np.diff(times) / 1e6, color=COLOURS[0], lw=1)
        axes.set_ylim(0, 85)
    return panels(runs, one, "at the receivers (Gb/s)")


def draw_held(runs):
    most = max(held(run)[1].max() for run in runs.values()) / 1e3

    def one(axes, run):
        times, now = held(run)
        axes.plot(times, now / 1e3, color=COLOURS[0], lw=1)
        axes.set_ylim(0, 1.1 * most)
    return panels(runs, one, "queues of the ring (KB)")


EXPERIMENTS = (Experiment(
    name="pfc-deadlock",
    title="PFC deadlock in a ring of buffers",
    source="Hu et al., HotNets 2016; Guo et al., SIGCOMM 2016, section 4.2",
    statement="If routes let buffers wait for each other in a cycle, PFC can stop all of them permanently. The cycle is necessary but "
              "not sufficient: traffic must also fill each buffer. A deadlock remains even after the servers have stopped sending. A "
              "switch's PFC watchdog detects queues that are paused without end, and drops their frames.",
    scaled="Four switches in a ring at 40 Gb/s. Flow one takes the path A B C D and flow two C D A B; together they close the "
           "cycle. Flow three takes B C. The flows stop at 20 ms (dotted). The times of the watchdog are a hundredth of SONiC's. "
           "--full changes nothing.",
    variants=(Variant("two-flows", {"flow three.start_ns": NOT_IN_THIS_RUN, "flow three.stop_ns": "3601s"}),
              Variant("slow-third", {"flow three.rate_cap_bps": "2G"}),
              Variant(DEADLOCKED),
              Variant("watchdog", {"pfcwd.pfcwd": "sonic"}),
              Variant("restart", {"event power.at_ns": "30ms"}),
              Variant("dcqcn", {"nic.cc": "dcqcn", "wred.wred_green_enable": "on"})),
    check=check,
    plots={"rate": (draw_rate, "Sum over all receivers. Dotted: end of the flows. Solid lines: the watchdog detects a storm."),
           "held": (draw_held, "Bytes in the four queues of the ring.")},
    findings="The papers use their own switches and buffers, so the figures here are those of this ring. Flows one and two alone "
             "pause each other all the time, but never deadlock (nor in 100 ms). With flow three at 2 Gb/s, the deadlock forms, only "
             "later. The watchdog breaks the deadlock by dropping frames, but while senders continue, the cycle closes again. DCQCN "
             "keeps queues so short that no pause lasts, although the cycle of buffers remains."),)
