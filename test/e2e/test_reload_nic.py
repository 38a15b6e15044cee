#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A NIC at full load whose flows stop, go on and change their rates a hundred times, and whose DCQCN changes with them:
no packet is lost, sent twice, or wrong."""
import sys

from harness import Program, check, check_equal, finish, work_dir
from telemetry import Telemetry, eal, prefix

RELOADS = 100
BAD = ("retransmitted_packets", "qp_errors", "out_of_sequence", "packet_seq_err", "duplicate_request", "local_ack_timeout_err")


def config(more_nic="", flows=None, rest=""):
    """Three flows that write to QPs of the same NIC: net_ring gives back what is sent."""
    text = ("[nic]\nmac = 02:00:00:00:00:01\nip = 10.0.0.1\nlink_speed_bps = 100G\nlocal_ack_timeout = 22\nfirst_qpn = 17\n"
            f"measure_times = off\n{more_nic}\n")
    for i, name in enumerate("abc"):
        more = (flows or {}).get(name, "")
        load = "arrival = periodic\nload_bps = 200M\n" if name == "c" and "load_bps" not in more else ""
        text += (f"[flow {name}]\npeer_mac = 02:00:00:00:00:01\npeer_ip = 10.0.0.1\npeer_qpn = {29 + 4 * i}\nqp_count = 4\n"
                 f"message_bytes = 20000\n{load}{more}\n")
    for i, name in enumerate("abc"):
        text += (f"[flow answer-{name}]\nrequester = off\npeer_mac = 02:00:00:00:00:01\npeer_ip = 10.0.0.1\n"
                 f"peer_qpn = {17 + 4 * i}\nqp_count = 4\n")
    return text + rest


VARIANTS = {
    "plain": config(),
    "stopped": config(flows={"a": "stopped = on", "b": "rate_cap_bps = 300M", "c": "arrival = periodic\nload_bps = 1G"}),
    "other": config("qp_burst_bytes = 9KB\nicrc_check = off\ninitial_rate = fair\nretry_cnt = 5\n",
                    {"b": "stopped = on", "a": "rate_cap_bps = 2G"},
                    "[rp]\nK = 40us\nT = 100us\nB = 1MB\nR_AI = 100\nrp_min_rate = 50\nrp_max_rate = 5000\nF = 3\ng = 1/128\n"
                    "[np]\nN = 20us\n"),
    "all stopped": config(flows={n: "stopped = on" + ("\narrival = periodic\nload_bps = 200M" if n == "c" else "") for n in "abc"}),
}
REFUSED = {
    "another cc": (config("cc = timely\n"), "[nic] cc = timely: cannot change"),
    "a flow more": (VARIANTS["plain"] + "[flow d]\npeer_ip = 10.0.0.1\n", "[flow d]: this section cannot come"),
    "messages": (config(flows={"a": "messages = 5"}), "[flow a] messages = 5: cannot change"),
}


def try_reloads(lcores, reloads):
    work = work_dir()
    name = f"{lcores} lcores"
    for variant, text in list(VARIANTS.items()) + [(k, v[0]) for k, v in REFUSED.items()]:
        (work / f"{variant}.ini").write_text(text)
    file_prefix = prefix(f"n{lcores}")
    nic = Program(work, "nic", "nic", VARIANTS["plain"], eal(file_prefix, "net_ring0", lcores=lcores, memory=128), "--stats-interval", 0,
                  "--stay")
    nic.wait_started()
    t = Telemetry(file_prefix)
    nic.wait_until("it answers", lambda: t.ask("/quench/info"))

    def messages():
        flows = t.ask("/quench/flows")
        return dict(zip(flows["flow"], flows["messages"]))

    seen = messages()

    def moved(*flows):
        now = messages()
        return all(now[f] > seen[f] for f in flows)

    moving = {"plain": "abc", "stopped": "bc", "other": "ac"}
    bad = []
    for i in range(reloads):
        variant = list(moving)[(i * 7 + i // 3) % 3]
        reply = t.ask(f"/quench/reload,{work}/{variant}.ini")
        if "changed" not in reply:
            bad.append(reply)
        if i % 5 == 4:
            seen = messages()
            nic.wait_until(f"flows {moving[variant]} go on", lambda v=variant: moved(*moving[v]))
        if i % 10 == 3:
            for what, (_, words) in REFUSED.items():
                refused = t.ask(f"/quench/reload,{work}/{what}.ini")
                if words not in refused.get("error", ""):
                    bad.append((what, refused))
    check_equal(f"{name}: reloads that went wrong", bad, [])

    check_equal(f"{name}: nothing to do", t.ask(f"/quench/reload,{work}/{variant}.ini"), {"changed": 0})
    t.ask(f"/quench/reload,{work}/plain.ini")
    check_equal(f"{name}: a cap by set", t.ask("/quench/set,flow b.rate_cap_bps=100M")["to"], ["100M"])
    rows = t.all("/quench/qps")
    check(f"{name}: it is in force when the reply comes", [r for f, r in zip(rows["flow"], rows["rate_bps"]) if f == "b"] == [100_000_000] * 4,
          rows["rate_bps"])
    check_equal(f"{name}: DCQCN by set", t.ask("/quench/set,rp.R_AI=77")["key"], ["rp_ai_rate_bps"])
    check_equal(f"{name}: it shows", t.ask("/quench/rp")["rp_ai_rate_bps"], 77_000_000)
    check_equal(f"{name}: what is not in the file is said", t.ask("/quench/config_changes")["key"], ["rp_ai_rate_bps", "rate_cap_bps"])

    t.ask(f"/quench/reload,{work}/all stopped.ini")
    last = {}

    def quiet():
        before, now = dict(last), t.ask("/quench/nic")
        last.update(now)
        return before.get("tx_packets") == now["tx_packets"] and before.get("rx_packets") == now["rx_packets"]

    nic.wait_until("all flows stand still", quiet)
    check_equal(f"{name}: exit code", nic.stop(), 0)
    result = nic.json()
    counters = result["counters"]
    check_equal(f"{name}: loss and damage", {k: n for k, n in counters.items() if n and (k.startswith("drop_") or k in BAD)}, {})
    check_equal(f"{name}: all that was sent was received", counters["rx_packets"], counters["tx_packets"])
    flows = {f["flow"]: f["messages"] for f in result["flows"]}
    check(f"{name}: each message came in once", all(flows[f] == flows[f"answer-{f}"] and flows[f] > 0 for f in "abc"), flows)
    print(f"# {counters['tx_packets']} packets")


def main():
    try_reloads(1, RELOADS)
    try_reloads(3, 30)
    finish()


if __name__ == "__main__":
    sys.exit(main())
