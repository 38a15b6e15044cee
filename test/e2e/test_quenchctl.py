#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl beside a running quench-switch and quench-nic: shows, clears, sets, and says what is wrong."""
import signal
import subprocess

import configs
from configs import port
from ctl import Ctl
from frames import ECT0, roce, write_pcap
from harness import BUILD, PATIENCE_S, Program, check, check_equal, finish, halt, run, work_dir
from desk import BASE, SOCKET, eal, prefix

FRAMES = 300
RECEIVER = "02:00:00:00:08:08"
SWITCH = f"""
[switch]
buffer_bytes = 4MB
mark_accuracy = on
[pfcwd]
pfcwd = sonic
[lldp]
lldp = on
[fdb receiver]
mac = {RECEIVER}
port = 1
""" + port(0, link_speed_bps="1G") + port(1, link_speed_bps="10G")
NIC = configs.nic(1, link_speed_bps="1G", first_qpn=100, measure_pacing="on") + configs.flow_to_itself(
    "write", 60, {"verb": "write_imm", "imm_timestamp": "on"}, messages=1, message_bytes=1000)


def check_switch(work, name, other):
    switch = Program(work, "switch", "switch", SWITCH, eal(
        name, f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/out0.pcap", f"net_pcap1,tx_pcap={work}/out1.pcap"),
        "--stats-interval", 0, "--idle-sleep", 1000)
    switch.wait_started()
    ctl = Ctl(work, "--file-prefix", name)

    def interfaces(more=""):
        return ctl.json(f"{more} show interfaces")["rows"]

    switch.wait_until("all frames have left", lambda: interfaces()[1]["tx_packets"] >= FRAMES + 1)
    rows = ctl.table("show interfaces")
    check_equal("show interfaces: headings", rows[0][:5], ["port", "device", "link", "speed", "rx_packets"])
    check_equal("show interfaces: port 1", rows[2][:4], ["1", "net_pcap1", "up", "10G"])
    check_equal("show interface 0", ctl.json("show interface 0")["drops"]["mtu"], 0)
    queue = ctl.json("show queue counters 1")["queues"][3]
    check_equal("show queue counters: port, queue, packets", [queue["port"], queue["queue"], queue["tx_packets"]],
                [1, 3, FRAMES])
    check_equal("show queue counters: all ports", len(ctl.json("show queue counters")["queues"]), 16)
    check_equal("show queue counters: idle queues are counted", ctl.text("show queue counters").splitlines()[-1],
                "13 idle queues not shown; --all shows them")
    check_equal("and shown if asked", [len(ctl.table("-a show queue counters")), len(ctl.table("show queue counters 1"))], [17, 4])
    check_equal("bytes of marked frames", queue["ecn_marked_bytes"] * FRAMES, queue["ecn_marked_packets"] * queue["tx_bytes"])
    check_equal("nothing was dropped or came with CE", [queue[k] for k in ("drop_bytes", "wred_drop_packets", "wred_drop_bytes", "ce_in_packets")], [0] * 4)
    check_equal("show queue wredcounters: headings", ctl.table("-a show queue wredcounters 1")[0],
                ["port", "queue", "wred_dropped", "wred_dropped_bytes", "marked", "marked_bytes"])
    check_equal("show priority-group drop: none", ctl.table("show priority-group drop")[1], ["(none)"])
    check_equal("show pfc counters: the whole matrix, of zeros",
                ctl.table("-a show pfc counters"),
                [["port", "frames", *(f"PFC{i}" for i in range(8)), "link"]] +
                [[port, way, *["0"] * 9] for port in "01" for way in ("rx", "tx")])
    for words in ("show pfc history", "show pfc history 1", "show pfc durations"):
        check_equal(f"{words}: nobody was paused", ctl.table(words)[1:], [["(none)"]])
    check_equal("show queue watermark: its table", ctl.table("show queue watermark 1")[0],
                ["port", "queue", "now", "watermark", "persistent"])
    rows = ctl.table("show queue watermark")
    check("show queue watermark: idle queues are counted, and sizes have units", rows[1][:2] == ["1", "3"] and rows[1][3].endswith("B") and
          " ".join(rows[-1]) == f"{18 - len(rows)} idle queues not shown; --all shows them", rows)
    check_equal("show priority-group counters", ctl.json("show priority-group counters 0")["pgs"][3]["rx_packets"], FRAMES)
    ecn = ctl.json("show ecn")["rows"]
    check_equal("show ecn", [(q["port"], q["queue"], q["ecn"]) for q in ecn], [(0, 3, "ecn_all"), (1, 3, "ecn_all")])
    cells = ctl.table("show ecn")[1]
    check("show ecn: units and percent", cells[:5] == ["1", "3", "5KB", "200KB", "1%"] and cells[-2:] == ["0.00%", "0"], cells)
    bins = ctl.json("show mark-accuracy 1 3")["mark_accuracy"]
    check_equal("show mark-accuracy", sum(b["packets"] for b in bins), FRAMES)
    check("its probabilities are numbers", all(isinstance(b["expected"], float) for b in bins), bins)
    check_equal("show pfcwd", [w["status"] for w in ctl.json("show pfcwd")["rows"]], ["operational"] * 2)
    check_equal("show pfcwd: no storm yet", ctl.table("show pfcwd")[-1][3:], ["operational", "0/0", "-", "-", "-", "0/0", "0/0"])
    check("show pfcwd fits 100 columns", all(len(line) <= 100 for line in ctl.text("show pfcwd").splitlines()), ctl.text("show pfcwd"))
    check_equal("show buffer", ctl.json("show buffer")["pools"][0]["pool"], "ingress_lossless_pool")
    check_equal("show fdb: all pages", len(ctl.json("show fdb")["rows"]), FRAMES + 1)
    check_equal("show lldp", [p["pfc_state"] for p in ctl.json("show lldp")["rows"]], ["no_neighbour"] * 2)
    for words in ("show info", "show priority-group drop", "show priority-group watermark", "show pfc counters",
                  "show device counters", "show drops", "show route", "show neighbors", "show router interfaces",
                  "show router counters"):
        ctl.table(words)
        ctl.json(words)

    # Counters are cleared for those who look with quenchctl, and for nobody else.
    check_equal("clear counters", ctl("clear counters").returncode, 0)
    check_equal("cleared", [interfaces()[0]["rx_packets"], ctl.json("show queue counters 1")["queues"][3]["tx_packets"],
                            ctl.json("show priority-group counters 0")["pgs"][3]["rx_bytes"]], [0, 0, 0])
    check_equal("gauges are not", [interfaces()[1]["link_speed_bps"], ctl.json("show interface 1")["port"]],
                [10_000_000_000, 1])
    check_equal("since the start", interfaces("--since-start")[0]["rx_packets"], FRAMES)
    (work / "elsewhere").mkdir()
    elsewhere = Ctl(work / "elsewhere", "--file-prefix", name)
    check_equal("for another user", elsewhere.json("show interfaces")["rows"][0]["rx_packets"], FRAMES)
    check_equal("clear by kind", elsewhere("clear counters queue").returncode, 0)
    check_equal("the kind is", elsewhere.json("show queue counters 1")["queues"][3]["tx_packets"], 0)
    check_equal("another is not", elsewhere.json("show interfaces")["rows"][0]["rx_packets"], FRAMES)

    was = ctl.json("clear queue watermark 1")["rows"][3]
    check("clear queue watermark says what was", was["watermark_bytes"] > 0, was)
    check_equal("and it was begun anew", ctl.json("show queue watermark 1")["queues"][3]["watermark_bytes"], 0)
    for kind in ("queue watermark unicast 1", "priority-group watermark", "priority-group watermark shared 0",
                 "priority-group watermark headroom", "buffer_pool watermark", "headroom-pool watermark"):
        ctl.table(f"show {kind}")
        ctl.table(f"clear {kind}")
    check_equal("SONiC's words, of a port and cut short", [r["port"] for r in ctl.json("cl pri water sh 1")["rows"]], [1] * 8)
    ctl.table("set interface tx-disabled 1 on")
    ctl.table("set interface pfc-delay 1 12")
    port = ctl.json("show interface 1")
    check_equal("what was set", [port["tx_disabled"], port["pfc_delay_quanta"]], [1, 12])
    ctl.table("set pfcwd big-red-switch on")
    check_equal("big red switch", ctl.json("show pfcwd")["big_red_switch"], 1)

    def maps(port):
        return {row["key"]: (row["value"], row["own"]) for row in ctl.json(f"show maps {port}")["maps"]}

    check_equal("show maps: each key of all ports", len(ctl.table("show maps")), 1 + 2 * 9)
    check_equal("no port has its own", any(own for _, own in maps(1).values()), False)
    done = run(*ctl.command, "set", "port 1.pfc_enable=none", "port 1.dwrr_weight=3:7, *:1", "qos_map.tc_to_priority_group_map=4:5,5:4",
               env=ctl.env)
    check_equal("maps of a port, and some keys of a map, in one change", done.returncode, 0)
    check_equal("the port has its own", [maps(1)[key] for key in ("pfc_enable", "dwrr_weight")], [("none", True), ("3:7, *:1", True)])
    check_equal("the other port has not", maps(0)["pfc_enable"], ("3", False))
    check_equal("keys of the map that were not named", maps(0)["tc_to_priority_group_map"], ("3:3, 4:5, 5:4, 7:7, *:0", False))
    ctl.refused("set qos_map.tc_to_priority_group_map=3:4", "tc_to_priority_group_map = 3:4", "pfc_enable")
    ctl.refused("show maps 2", "PORT = 2", "0 to 1")

    check_equal("words may be cut short", ctl.table("sh int"), ctl.table("show interfaces"))
    check_equal("and of a port", ctl.json("sh int 1")["port"], 1)
    check_equal("what is a word of the other program too is meant here", ctl.json("sh f")["entries"], FRAMES + 1)
    check_equal("a table without rows says so", ctl.table("show route")[-1], ["(none)"])
    check("times have units", ctl.table("show fdb")[-1][-1].endswith("s") or ctl.table("show fdb")[-1][-1] == "-", ctl.table("show fdb")[-1])
    with subprocess.Popen([*map(str, ctl.command), "-w0.1", "show", "info"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ctl.env) as watch:
        watch.stdout.readline()
        watch.stdout.close()
        check_equal("a reader that goes away ends it without a word", [watch.wait(PATIENCE_S), watch.stderr.read()], [-signal.SIGPIPE, b""])
    ctl.refused("sh p", "p: may be one of", "priority-group, pfc, pfcwd")
    ctl.refused("show interface 9", "PORT = 9", "0 to 1")
    ctl.refused("set interface tx-disabled 1 maybe", "maybe", "on or off")
    ctl.refused("show qp", "expected a quench-nic")
    ctl.refused("show quue", "quue", "queue", "pfcwd")
    ctl.refused("", "show", "clear", "set")
    ctl.refused("show queue counters 1 2", "nothing more")
    ctl.refused("clear counters everything", "everything", "queue")
    ctl.refused("--watch clear counters", "show")
    ctl.refused("--watch=0 show info", "0.05")
    ctl.refused("--nonsense show info", "--nonsense")
    ctl.refused("--socket x show info", "expected one of them")
    Ctl(work, "--socket", work / "none").refused("show info", "none", code=1)
    Ctl(work, "--file-prefix", f"{name}x").refused("show info", f"no program with --file-prefix {name}x", code=1)
    # With two programs there is a choice, which is said.
    Ctl(work).refused("show info", "programs run", name, other)
    return switch, ctl


def check_watch(work, switch, name):
    """It goes on until the program is gone, and says so."""
    halt(switch.process)
    Ctl(work, "-f", name).refused("show info", "does not answer", code=1)
    switch.process.send_signal(signal.SIGCONT)
    with open(work / "watch.out", "w") as out, open(work / "watch.err", "w") as err:
        watch = subprocess.Popen([str(BUILD / "app/quenchctl/quenchctl"), "-f", name, "-w0.1", "show", "info"], stdout=out,
                                 stderr=err)
    switch.wait_until("three pictures", lambda: (work / "watch.out").read_text().count("elapsed_ns") >= 3)
    switch.process.send_signal(signal.SIGKILL)
    switch.process.wait()
    check_equal("watch: exit code when the program is gone", watch.wait(PATIENCE_S), 1)
    check("watch: and says so", "the program has ended" in (work / "watch.err").read_text(), (work / "watch.err").read_text())
    check("its socket is left behind", (BASE / name / SOCKET).exists())
    Ctl(work, "-f", name).refused("show info", "the program has ended", "left its socket behind", code=1)


def check_times(ctl, flow):
    """The histograms of a flow that has ended have the quantiles that the program computes."""
    name = flow["flow"]
    shown = ctl.json(f"show times {name}")
    sums = {row["measure"]: row for row in shown["times"]}
    check_equal("times: samples", (sums["completion_ns"]["count"], sums["rtt_ns"]["count"]), (flow["completions"], flow["rtt_samples"]))
    check_equal("times: the buckets add up", sum(row["count"] for row in shown["rows"] if row["measure"] == "rtt_ns"), flow["rtt_samples"])
    for measure, prefix in (("completion_ns", "completion"), ("rtt_ns", "rtt")):
        for quantile in ("p50", "p95", "p99", "p999"):
            # The program knows the exact maximum, and reports no more than that.
            expected = flow[f"{prefix}_{quantile}_ns"]
            check(f"times: {quantile} of {measure}", expected <= sums[measure][quantile] <= expected * 129 / 128 + 1, (expected, sums[measure]))
    text = ctl(f"show times {name}").stdout
    check("times: a line says what was measured", f"round-trip time: {flow['rtt_samples']} samples, p50 " in text, text)
    check("times: the last bucket has all", "100.00%" in text and "#" * 40 in text, text)
    at_receiver = {row["measure"]: row["count"] for row in ctl.json("show times answer")["times"]}
    check("times: of a receiver, of each message and of those sent again", at_receiver.get("one_way_ns", 0) >= 60, at_receiver)
    check_equal("times: cleared", ctl("clear counters times").returncode, 0)
    check_equal("times: nothing since the clear", (ctl.json(f"show times {name}")["rows"], ctl(f"show times {name}").stdout),
                ([], "nothing was measured yet\n"))
    check_equal("times: nor of a receiver", ctl.json("show times answer")["rows"], [])
    check_equal("times: the program kept them", ctl.json(f"--since-start show times {name}"), shown)
    ctl.refused("show times nobody", "FLOW = nobody", "a flow of show flows")


def check_nic(work, nic, name):
    ctl = Ctl(work, "-f", name)
    check_equal("NIC: info", ctl.json("show info")["qps"], 120)
    qps = ctl.json("show qp")["rows"]
    check_equal("NIC: show qp, all pages", [q["local_qpn"] for q in qps], list(range(100, 220)))
    check_equal("NIC: show qp QPN", ctl.json("show qp 105")["peer_qpn"], 165)
    check("NIC: alpha is a number", isinstance(qps[0]["alpha"], float))
    check_equal("NIC: show flows", [f["messages"] for f in ctl.json("show flows")["rows"]], [60, 60])
    check_equal("NIC: show dcqcn", ctl.json("show dcqcn")["cc"], "dcqcn")
    check_equal("NIC: show cnp", ctl.json("show cnp")["np_cnp_sent"], 0)
    for words in ("show interfaces", "show counters", "show drops", "show pfc counters", "show pfc history", "show pfc durations", "show qp", "show flows", "show cnp",
                  "show dcqcn", "show qp 105"):
        ctl.table(words)
    sent = ctl.json("show counters")["tx_packets"]
    check("NIC: frames were sent", sent > 0)
    check_equal("NIC: clear counters", ctl("clear counters").returncode, 0)
    check_equal("NIC: cleared", [ctl.json("show counters")["tx_packets"], ctl.json("show flows")["rows"][0]["messages"]],
                [0, 0])
    flow = ctl.json("show flows")["rows"][0]
    whole = ctl.json("--since-start show flows")["rows"][0]
    check_equal("NIC: mean rates are those since the clear, and a flow that ended has none now",
                [flow["wire_rate_bps"], flow["goodput_bps"], flow["present_wire_rate_bps"]], [0, 0, 0])
    check("NIC: those since the start are kept", whole["wire_rate_bps"] > 0, whole)
    check_equal("NIC: its table says which is which", ctl.table("show flows")[0][3:6], ["mean_wire", "mean_goodput", "wire_now"])
    check("NIC: keys are not", ctl.json("show dcqcn")["rp_ai_rate_bps"] == 40000000)
    check_equal("NIC: QPs only when asked", ctl.json("show qp")["rows"][0]["tx_messages"], 1)
    check_equal("NIC: clear counters qp", ctl("clear counters qp").returncode, 0)
    check_equal("NIC: QPs too", ctl.json("show qp")["rows"][0]["tx_messages"], 0)
    check_times(ctl, ctl.json("--since-start show flows")["rows"][0])
    ctl.refused("show qp 5", "QPN = 5", "100 to 1123")
    ctl.refused("show qp 220", "no flow has QP 220")
    ctl.refused("show fdb", "expected a quench-switch")
    check_equal("NIC: exit code", nic.stop(), 0)
    check_equal("NIC: its own report is whole", nic.json()["counters"]["tx_packets"], sent)


def main():
    work = work_dir()
    write_pcap(work / "in.pcap", [roce(f"02:00:00:01:{i >> 8:02x}:{i & 255:02x}", RECEIVER, "10.0.0.1", "10.0.0.2",
                                       50000, i, 26, ECT0, bytes(500)) for i in range(FRAMES)])
    names = prefix("c"), prefix("d")
    nic = Program(work, "nic", "nic", NIC, eal(names[1], "net_ring0"), "--stay", "--idle-sleep", 1000, "--stats-interval", 0)
    nic.wait_until("all messages completed", lambda: "all messages completed" in nic.err())
    switch, _ = check_switch(work, *names)
    check_watch(work, switch, names[0])
    check_nic(work, nic, names[1])
    usage = run(BUILD / "app/quenchctl/quenchctl", "connect", "perftest", "--help")
    check("connect perftest --help: itself and its keys alone", usage.returncode == 0 and "message_bytes=65536" in usage.stdout and
          "(-s)" in usage.stdout and "show" not in usage.stdout, usage.stdout)
    usage = run(BUILD / "app/quenchctl/quenchctl", "clear", "nothing", "--help")
    check("--help of no command", usage.returncode == 2 and "expected after \"clear\" one of" in usage.stderr, usage.stderr)
    usage = run(BUILD / "app/quenchctl/quenchctl", "--help")
    check("--help lists commands", usage.returncode == 0 and "show priority-group watermark [PORT]" in usage.stdout)
    finish()


main()
