#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A NIC at full load whose flows stop, go on and change their rates a hundred times, and whose DCQCN changes with them:
no packet is lost, sent twice, or wrong. And flows that come and go beside others."""
import time

from harness import Program, check, check_equal, finish, work_dir
from desk import Desk, eal, prefix

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
    "QPs for which there is no memory": (VARIANTS["plain"] + "[flow d]\npeer_ip = 10.0.0.1\nqp_count = 2000\n",
                                         "[flow d] qp_count = 2000: qp_count of all flows up to this one must not exceed max_qps"),
    "numbers of another flow": (VARIANTS["plain"] + "[flow d]\npeer_ip = 10.0.0.1\nlocal_qpn = 20\n", "[flow d] local_qpn = 20: "),
    "numbers beyond the last": (VARIANTS["plain"] + "[flow d]\npeer_ip = 10.0.0.1\nlocal_qpn = 1040\nqp_count = 2\n",
                                "[flow d] local_qpn = 1040: "),
    "a larger MTU": (VARIANTS["plain"] + "[flow d]\npeer_ip = 10.0.0.1\nmtu_bytes = 4096\n", "[flow d] mtu_bytes = 4096B: mtu_bytes must not exceed"),
    "a peer": (config(flows={"a": "peer_ip = 10.0.0.9"}).replace("peer_ip = 10.0.0.1\npeer_qpn = 29", "peer_qpn = 29"),
               "[flow a] peer_ip = 10.0.0.9: cannot change"),
    "messages": (config(flows={"a": "messages = 5"}), "[flow a] messages = 5: cannot change"),
}


def end_at_rest(name, nic, t):
    """Stop a NIC when its flows stand still; its final JSON, of which nothing is lost or damaged."""
    last = {}

    def quiet():
        before, now = dict(last), t.call("nic")
        last.update(now)
        return before.get("tx_packets") == now["tx_packets"] and before.get("rx_packets") == now["rx_packets"]

    nic.wait_until("all flows stand still", quiet)
    check_equal(f"{name}: exit code", nic.stop(), 0)
    result = nic.json()
    check_equal(f"{name}: loss and damage",
                {k: n for k, n in result["counters"].items() if n and (k.startswith("drop_") or k in BAD)}, {})
    return result


def try_reloads(lcores, reloads):
    work = work_dir()
    name = f"{lcores} lcores"
    for variant, text in list(VARIANTS.items()) + [(k, v[0]) for k, v in REFUSED.items()]:
        (work / f"{variant}.ini").write_text(text)
    file_prefix = prefix(f"n{lcores}")
    nic = Program(work, "nic", "nic", VARIANTS["plain"], eal(file_prefix, "net_ring0", lcores=lcores, memory=128), "--stats-interval", 0,
                  "--stay")
    nic.wait_started()
    t = Desk(file_prefix)
    nic.wait_until("it answers", lambda: t.call("info"))

    def messages():
        return {row["flow"]: row["messages"] for row in t.rows("flows")}

    seen = messages()

    def moved(*flows):
        now = messages()
        return all(now[f] > seen[f] for f in flows)

    moving = {"plain": "abc", "stopped": "bc", "other": "ac"}
    bad = []
    for i in range(reloads):
        variant = list(moving)[(i * 7 + i // 3) % 3]
        refused = t.refusal("reload", file=f"{work}/{variant}.ini")
        if refused:
            bad.append(refused)
        if i % 5 == 4:
            seen = messages()
            nic.wait_until(f"flows {moving[variant]} go on", lambda v=variant: moved(*moving[v]))
        if i % 10 == 3:
            for what, (_, words) in REFUSED.items():
                refused = t.refusal("reload", file=f"{work}/{what}.ini")
                if words not in refused:
                    bad.append((what, refused))
    check_equal(f"{name}: reloads that went wrong", bad, [])

    reply = t.call("reload", file=f"{work}/{variant}.ini")
    check_equal(f"{name}: nothing to do", [reply["changed"], reply["in_force"], reply["rows"]], [0, True, []])
    t.call("reload", file=f"{work}/plain.ini")
    check_equal(f"{name}: a cap by set", t.set("flow b.rate_cap_bps=100M")["rows"][0]["to"], "100M")
    rates = [row["rate_bps"] for row in t.rows("qps") if row["flow"] == "b"]
    check(f"{name}: it is in force when the reply comes", rates == [100_000_000] * 4, rates)
    check_equal(f"{name}: DCQCN by set", t.set("rp.R_AI=77")["rows"][0]["key"], "rp_ai_rate_bps")
    check_equal(f"{name}: it shows", t.call("rp")["rp_ai_rate_bps"], 77_000_000)
    check_equal(f"{name}: what is not in the file is said", t.column("config_changes", "key"), ["rp_ai_rate_bps", "rate_cap_bps"])

    t.call("reload", file=f"{work}/all stopped.ini")
    result = end_at_rest(name, nic, t)
    counters = result["counters"]
    check_equal(f"{name}: all that was sent was received", counters["rx_packets"], counters["tx_packets"])
    flows = {f["flow"]: f["messages"] for f in result["flows"]}
    check(f"{name}: each message came in once", all(flows[f] == flows[f"answer-{f}"] and flows[f] > 0 for f in "abc"), flows)
    print(f"# {counters['tx_packets']} packets")


def pair(name, first, count, more=""):
    """A flow, and who answers it, with numbers of their own."""
    peer = "peer_mac = 02:00:00:00:00:01\npeer_ip = 10.0.0.1\n"
    return (f"[flow {name}]\n{peer}local_qpn = {first}\npeer_qpn = {first + 100}\nqp_count = {count}\n{more}",
            f"[flow answer-{name}]\n{peer}requester = off\nlocal_qpn = {first + 100}\npeer_qpn = {first}\nqp_count = {count}\n"
            + "".join(line + "\n" for line in more.splitlines() if "verb" in line))


GUESTS = {"d": pair("d", 100, 3, "message_bytes = 30000\n"), "e": pair("e", 120, 1, "verb = read\nmessage_bytes = 9000\n"),
          "f": pair("f", 130, 70, "verb = ud_send\nmessage_bytes = 500\nrate_cap_bps = 20M\n")}


def try_flows(lcores, rounds):
    """Guests come and go while a, b and c send: whoever answers comes first and goes last."""
    work = work_dir()
    name = f"{lcores} lcores, guests"
    file_prefix = prefix(f"g{lcores}")
    # Numbers are free when no timer runs: 2 s.
    begin, end = (VARIANTS[v].replace("local_ack_timeout = 22", "local_ack_timeout = 19") for v in ("plain", "all stopped"))
    nic = Program(work, "nic", "nic", begin, eal(file_prefix, "net_ring0", lcores=lcores, memory=128), "--stats-interval", 0.2, "--csv", work / "csv", "--stay")
    nic.wait_started()
    t = Desk(file_prefix)
    nic.wait_until("it answers", lambda: t.call("info"))
    bad = []

    def reload(*sections):
        (work / "next.ini").write_text(begin + "".join(sections))
        refused = t.refusal("reload", file=f"{work}/next.ini")
        if refused and "not idle yet" not in refused:
            bad.append(refused)
        return not refused

    def flow(which):
        return next((row for row in t.rows("flows") if row["flow"] == which))

    messages = 0
    for i in range(rounds):
        guest = list(GUESTS)[i % 3]
        asks, answers = GUESTS[guest]
        rests = flow(guest)["qps_done"] if i >= 3 else 0
        count = int(asks.split("qp_count = ")[1].split()[0])
        nic.wait_until(f"there are numbers for answer-{guest}", lambda: reload(answers))
        nic.wait_until(f"there are numbers for {guest}", lambda: reload(answers, asks))
        before = messages
        nic.wait_until(f"{guest} sends", lambda: flow(guest)["messages"] > (before if guest == "d" else 0))
        first = int(asks.split("local_qpn = ")[1].split()[0])
        shown = [row["local_qpn"] for row in t.rows("qps") if row["flow"] == guest]
        if shown != list(range(first, first + count)):
            bad.append((guest, shown))
        reload(answers)
        if not flow(guest)["gone"] or flow("a")["gone"]:
            bad.append(flow(guest))
        if not t.refusal("qp", qpn=first):
            bad.append(f"QP {first} is still shown")
        nic.wait_until(f"{guest} comes to rest", lambda: flow(guest)["qps_done"] == rests + count)
        if flow(guest)["messages"] < (before if guest == "d" else 0):
            bad.append((guest, "counts back"))
        messages = flow("d")["messages"]
        reload()
    check_equal(f"{name}: what went wrong", bad, [])
    (work / "end.ini").write_text(end)
    t.call("reload", file=f"{work}/end.ini")
    result = end_at_rest(name, nic, t)
    counters = result["counters"]
    flows = {f["flow"]: f for f in result["flows"]}
    check_equal(f"{name}: the report names them", [f for f in flows if flows[f]["gone"]],
                [f for g in GUESTS for f in (f"answer-{g}", g)])
    for g in ("a", "b", "c", "d", "f"):
        check_equal(f"{name}: each message of {g} came in once", flows[g]["messages"], flows[f"answer-{g}"]["messages"])
    check_equal(f"{name}: each READ was answered once", flows["e"]["payload_bytes"], flows["answer-e"]["payload_bytes"])
    rows = (work / "csv" / "flows.csv").read_text().splitlines()
    check(f"{name}: so does the file", {line.split(",")[1] for line in rows[1:]} >= set("abcdef"), rows[:3])
    whole = sum(f["messages"] for f in flows.values() if f["requester"] and f["flow"] != "e")
    print(f"# {whole} messages, {rounds} guests")


def try_end():
    """The program ends by itself when the last flow is done, also one that came to an lcore that was done before."""
    work = work_dir()
    file_prefix = prefix("end")
    common = "[nic]\nmac = 02:00:00:00:00:01\nip = 10.0.0.1\nlink_speed_bps = 100G\nlocal_ack_timeout = 22\nfirst_qpn = 16\n"
    # Two lcores poll: even numbers are the first's, odd ones the second's.
    first = pair("slow", 16, 1, "messages = 2\nmessage_bytes = 1MB\nrate_cap_bps = 1M\n") + pair("quick", 17, 1, "messages = 2\nmessage_bytes = 1MB\n")
    late = pair("late", 19, 1, "messages = 2\nmessage_bytes = 1MB\nrate_cap_bps = 1M\n")
    nic = Program(work, "nic", "nic", common + "".join(first), eal(file_prefix, "net_ring0", lcores=3, memory=128), "--stats-interval", 0)
    nic.wait_started()
    t = Desk(file_prefix)

    def done(which):
        return next(row["qps_done"] for row in t.rows("flows") if row["flow"] == which)

    nic.wait_until("the second lcore is done", lambda: done("quick") == 1)
    (work / "late.ini").write_text(common + "".join(first + late))
    check("end: a flow comes to it", not t.refusal("reload", file=f"{work}/late.ini"))
    t.set("flow slow.rate_cap_bps=0")
    nic.wait_until("the first lcore is done", lambda: done("slow") == 1)
    check_equal("end: the late flow is not", done("late"), 0)
    time.sleep(0.1)  # lasts: the program looks more often whether it is done
    check_equal("end: so the program runs", (nic.process.poll(), "all messages completed" in nic.err()), (None, False))
    t.set("flow late.rate_cap_bps=0")
    check_equal("end: exit code", nic.wait_end(), 0)
    check_equal("end: messages", {f["flow"]: f["messages"] for f in nic.json()["flows"] if f["requester"]}, {"slow": 2, "quick": 2, "late": 2})
    check_equal("end: it is said once", nic.err().count("all messages completed"), 1)


def try_many():
    """As many flows as a file may have: a change of one key is taken, and needs no file of sizes."""
    work = work_dir()
    file_prefix = prefix("many")
    sizes = work / "sizes.cdf"
    sizes.write_text("1000 50\n2000 100\n")

    def text(cap="10M"):
        peer = "peer_mac = 02:00:00:00:00:02\npeer_ip = 10.0.0.2\nstopped = on\n"
        return ("[nic]\nmac = 02:00:00:00:00:01\nip = 10.0.0.1\nlink_speed_bps = 100G\nmax_qps = 8192\nmeasure_times = off\n"
                # Nobody answers: its QP shall not give up before the test has ended.
                "local_ack_timeout = 24\n"
                f"[flow sizes]\n{peer}message_size = cdf\nmessage_cdf = sizes.cdf\n"
                + "".join(f"[flow f{i}]\n{peer}rate_cap_bps = {cap if i == 3999 else '10M'}\n" for i in range(4000)))

    nic = Program(work, "nic", "nic", text(), eal(file_prefix, "net_null0", lcores=2, memory=256), "--stats-interval", 0, "--idle-sleep", 1000)
    nic.wait_started()
    t = Desk(file_prefix)
    reply = t.set("flow f3999.rate_cap_bps=20M")
    check_equal("4001 flows: a key by set", (reply["changed"], reply["rows"], reply["in_force"]),
                (1, [{"section": "flow f3999", "key": "rate_cap_bps", "from": "10M", "to": "20M"}], True))
    for setting, said in (("rate_cap=1", "expected a known key"), ("rate_cap_bps=900G", "[flow f3999] rate_cap_bps = 900G: expected"),
                          ("qp_count=2", "[flow f3999] qp_count = 2: cannot change while the program runs; it is 1")):
        refused = t.refusal("set", settings=[f"flow f3999.{setting}"])
        check(f"4001 flows: {setting} is refused", said in refused, refused)
    (work / "other.ini").write_text(text("30M"))
    sizes.unlink()
    reply = t.call("reload", file=f"{work}/other.ini")
    check_equal("the file of sizes is gone: a reload", [(row["section"], row["to"]) for row in reply["rows"]], [("flow f3999", "30M")])
    reply = t.set("flow sizes.stopped=off")
    check_equal("and its flow goes on", [reply["changed"], reply["in_force"]], [1, True])
    (work / "more.ini").write_text(text("30M").replace("[flow f0]", "[flow g]\npeer_ip = 10.0.0.2\nmessage_size = cdf\nmessage_cdf = gone.cdf\n[flow f0]"))
    refused = t.refusal("reload", file=f"{work}/more.ini")
    check("a new flow needs its file", "[flow g] message_cdf = gone.cdf: expected websearch, hadoop or alistorage, or a file that can be read" in refused, refused)
    reply = t.set("flow h.peer_ip=10.0.0.2")
    check_equal("a flow that comes by set", [row["section"] for row in reply["rows"]], ["flow h"])
    check_equal("4001 flows: exit code", nic.stop(), 0)


def main():
    try_end()
    try_many()
    try_reloads(1, RELOADS)
    try_reloads(3, 30)
    try_flows(1, 12)
    try_flows(3, 9)
    finish()


main()
