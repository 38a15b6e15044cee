#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Slowdown of quench-lab: 1 for a message that is alone on its path, and more for one that is not.

    test_ideal.py QUENCH_LAB CONFIG_DIR CASE

The lab computes the time of a message alone from its path. An idle run must take that time. Tolerance: 0.2 %, and a message
is never faster than its ideal. Nodes act at whole nanoseconds, so each frame and hop of the run may be rounded up by one; results
have three decimals.
"""
from scenarios import expect, in_folder, results, section

DURATION = "5ms"
SIZES = (1, 1023, 1024, 1025, 2048, 2049, 10_000, 1_000_000)
IDLE = "[wred]\nwred_green_enable = off\n[switch]\n"  # marks before a slow link would slow down even a single flow


def fabric(**keys):
    return "[fabric]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items())


# By name: sections, sender, receiver.
PATHS = {
    "one switch": (fabric(hosts=4, duration_ns=DURATION), "1", "2"),
    "same leaf": (fabric(topology="leaf_spine", leaves=2, spines=2, hosts=8, duration_ns=DURATION), "1", "2"),
    "other leaf": (fabric(topology="leaf_spine", leaves=2, spines=2, hosts=8, duration_ns=DURATION), "1", "8"),
    "fat tree": (fabric(topology="fat_tree", fat_tree_k=4, hosts=16, duration_ns=DURATION), "1", "16"),
    "fast core": (fabric(topology="leaf_spine", leaves=2, spines=2, hosts=8, link_rate_bps="25G", core_rate_bps="100G",
                         core_delay_ns="3us", duration_ns=DURATION), "1", "8"),
    "odd rates": (fabric(topology="dumbbell", hosts=4, link_rate_bps="33333333333", core_rate_bps="7777777777", link_delay_ns=137,
                         duration_ns=DURATION), "1", "4"),
    "slow middle": (fabric(topology="dumbbell", hosts=4, link_rate_bps="100G", core_rate_bps="10G", duration_ns=DURATION), "1", "4"),
    "slow receiver": (fabric(hosts=4, duration_ns=DURATION) + section("link", "slow", ends="h2 s1", link_rate_bps="10G"), "1", "2"),
    "slow sender": (fabric(hosts=4, duration_ns=DURATION) + section("link", "slow", ends="h1 s1", link_rate_bps="10G"), "1", "2"),
    "tagged": (fabric(topology="dumbbell", hosts=4, forwarding="l2", duration_ns=DURATION), "1", "4"),
}


def flow_of(lab, folder, text, *options):
    path = folder / "ideal.ini"
    path.write_text(text, encoding="utf-8")
    return results(lab, path, *options)["flows"]


def expect_alone(flow, what, completions):
    expect(flow["completions"] == completions, f"{what}: {flow['completions']} completions")
    expect(1 <= flow["slowdown_p50"] <= flow["slowdown_max"] <= 1.002, f"{what}: slowdown {flow['slowdown_p50']} to {flow['slowdown_max']}")


def alone(lab, folder, name, sizes, rest="", **keys):
    """A flow for each size, one after the other: each begins, in a slot of the wheel, when the one before has ended even at 0.7 Gb/s."""
    text, src, dst = PATHS[name]
    extra, start_ns = "vlan_filtering = on\n" if name == "tagged" else "", 0
    text += IDLE + extra + rest
    for size in sizes:
        text += section("flow", f"of {size}", **{"src": src, "dst": dst, "message_bytes": size, "messages": 3, "depth": 1, "start_ns": start_ns, **keys})
        start_ns += 160_000 + 12 * -(-size // 8) * 8
    for size, flow in zip(sizes, flow_of(lab, folder, text), strict=True):
        what = f"{name}, {size} bytes, {rest!r} {keys}"
        print(what, flow["completion_p50_ns"], flow["slowdown_p50"], flow["slowdown_max"])
        expect_alone(flow, what, flow["messages_wanted"] or flow["messages_completed"])


def paths(lab, folder):
    for name in PATHS:
        alone(lab, folder, name, SIZES)


def verbs(lab, folder):
    for verb in ("write_imm", "send", "read"):
        for name in ("one switch", "slow middle", "slow receiver", "slow sender"):
            alone(lab, folder, name, SIZES, verb=verb)
    for mtu in (256, 4096):
        alone(lab, folder, "other leaf", (1, mtu - 1, mtu, mtu + 1, 1_000_000), mtu_bytes=mtu)


def telemetry(lab, folder):
    """INT headers belong to the frames; messages of few packets, since HPCC keeps a long one below the link's rate."""
    hpcc = "int_telemetry = on\n[nic]\ncc = hpcc\nack_every = 1\nint_slots = {}\n[hpcc]\neta = 100%\n"
    for name, slots in (("one switch", 1), ("one switch", 6), ("other leaf", 3), ("fat tree", 5), ("fat tree", 2)):
        alone(lab, folder, name, (1, 1024, 2049), hpcc.format(slots))


def limits(lab, folder):
    """What the sender's own settings cost is part of the ideal: a cap, a window, the slots of the pacing wheel."""
    at_once = "[nic]\nspread_starts = off\n"
    for cap in ("1G", "7777777777", "39999M"):
        for verb in ("write", "read"):
            alone(lab, folder, "one switch", SIZES[:-1] + (100_000,), at_once, rate_cap_bps=cap, messages=1, verb=verb)
    # Later messages find the tokens of an idle QP.
    for size in (1, 1024, 10_000):
        alone(lab, folder, "one switch", (size,), at_once, rate_cap_bps="1G", arrival="periodic", load_bps=size * 8 * 5000, messages=10)
    alone(lab, folder, "one switch", SIZES[:-1], "[rp]\nrp_max_rate_bps = 3G\n", messages=1)
    for nic in ("window_packets = 16", "window_packets = 7\nack_every = 3", "window_packets = 1", "window_packets = 33\nack_every = 1"):
        for name in ("other leaf", "slow middle"):
            alone(lab, folder, name, (1024, 10_000, 100_000, 300_000), f"[nic]\n{nic}\n", messages=1)


def open_loop(lab, folder):
    """A message that arrives within a slot of the wheel waits for the next one, and its ideal time includes that."""
    for gap_ns in (200_000, 333_333, 99_991):
        for size in (1, 1024, 10_000):
            alone(lab, folder, "one switch", (size,), arrival="periodic", load_bps=size * 8_000_000_000 // gap_ns, messages=10)


def several_paths(lab, folder):
    """Each QP counts against its own path: one spine is slower than the other."""
    text = fabric(topology="leaf_spine", leaves=2, spines=2, hosts=8, duration_ns=DURATION) + section(
        "link", "slow1", ends="leaf1 spine2", link_rate_bps="10G") + section("link", "slow2", ends="leaf2 spine2", link_rate_bps="10G")
    times = set()
    for dst in (5, 6, 7, 8):
        flow, = flow_of(lab, folder, text + IDLE + section("flow", "one", src=1, dst=dst, message_bytes=100_000, messages=3, depth=1))
        expect_alone(flow, f"to h{dst}", 3)
        times.add(flow["completion_p50_ns"] > 50_000)
    expect(times == {True, False}, "some take the slow spine")


def queues(lab, folder):
    """The time that one message of each flow spends in a queue is not part of its ideal time."""
    text = fabric(hosts=17, duration_ns=DURATION) + section("flow", "burst", src="1-16", dst=17, message_bytes=100_000, messages=1)
    flows = flow_of(lab, folder, text)
    # All 16 messages need 16 times as long on the last link as one alone.
    last = max(flow["completion_max_ns"] for flow in flows)
    expect(last > 12 * 25_000, f"the last message takes {last} ns")
    for flow in flows:
        alone_ns = flow["completion_max_ns"] / flow["slowdown_max"]
        expect(25_800 < alone_ns < 25_950, f"{flow['name']}: {flow['completion_max_ns']} ns is a slowdown of {flow['slowdown_max']}")


if __name__ == "__main__":
    in_folder(paths, verbs, telemetry, limits, open_loop, several_paths, queues)
