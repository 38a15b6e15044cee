#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ports that have names: shows, top, web, metrics, lines and the report have them, and commands take them in place of numbers."""
from configs import port
from ctl import Ctl
from frames import ECT0, roce, write_pcap
from harness import Program, check, check_equal, finish, until, work_dir
from metrics import Exporter
from desk import eal, prefix
from terminal import Terminal
from web_page import Web

FRAMES = 100
LONG = "Ethernet101/1/10.breakout-lane4"
RECEIVER = "02:00:00:00:08:08"
SWITCH = f"""
[switch]
buffer_bytes = 4MB
[pfcwd]
pfcwd = sonic
[lldp]
lldp = on
[fdb receiver]
mac = {RECEIVER}
port = 1
""" + port(0, name="Ethernet1/1", link_speed_bps="10G") + port(1, name=LONG, link_speed_bps="10G") + port(2, link_speed_bps="10G")


def check_shows(ctl):
    check_equal("show interfaces", [row[0] for row in ctl.table("show interfaces")], ["port", "Ethernet1/1", LONG, "2"])
    check_equal("its JSON has both", [(row["port"], row.get("port_name")) for row in ctl.json("show interfaces")["rows"]],
                [(0, "Ethernet1/1"), (1, LONG), (2, None)])
    check_equal("show interface NAME, in any case", ctl.json("show interface ethernet1/1")["port"], 0)
    for words, rows in (("show queue counters", "queues"), ("show queue watermark", "queues"), ("show maps", "maps"),
                        ("show priority-group counters", "pgs"), ("show priority-group watermark", "pgs")):
        check_equal(f"{words} NAME", {(row["port"], row["port_name"]) for row in ctl.json(f"{words} {LONG.upper()}")[rows]}, {(1, LONG)})
    queues = ctl.table("-a show queue counters")
    check_equal("rows of all ports", [row[0] for row in queues[1::8]], ["Ethernet1/1", LONG, "2"])
    check_equal("those of one", [row[:3] for row in ctl.table(f"show queue counters {LONG}")][1], [LONG, "3", str(FRAMES)])
    for words in ("show pfc counters", "show pfcwd", "show ecn", "show lldp", "show device counters", "show polls",
                  "clear queue watermark"):
        names = {row[0] for row in ctl.table(f"-a {words}")}
        check(f"{words}: names", {"Ethernet1/1", LONG, "2"} <= names and not names & {"0", "1"}, names)
    check_equal("clear queue watermark", [row["port"] for row in ctl.json("clear queue watermark ethernet1/1")["rows"]], [0] * 8)
    check_equal("show fdb", {row[3] for row in ctl.table("show fdb")[-2:]}, {"Ethernet1/1", LONG})
    check_equal("show mark-accuracy takes a name", ctl(f"show mark-accuracy {LONG} 9").stderr.count("QUEUE = 9"), 1)
    check_equal("show drops", ctl.table("show drops")[1:], [["Ethernet1/1", "reserved_address", "1"]])


def check_changes(ctl, switch):
    check_equal("set interface", ctl.table(f"set interface tx-disabled {LONG} on")[1], ["port", LONG, "tx_disabled", "off", "on"])
    check_equal("it is set", ctl.json("show interface 1")["tx_disabled"], 1)
    ctl.text("set interface pfc-delay Ethernet1/1 7")
    check("lines have names", f"set port {LONG}.tx_disabled=on: 1 key changed" in switch.err(), switch.err())
    done = ctl.words(["set", "port Ethernet1/1.shaper_rate=5G", f"queue {LONG}|3.max_rate_bps=2G", f"pg {LONG.upper()}|3.buffer_profile=default"])
    check("keys of [port N], [queue N|M] and [pg N|M]", done.returncode == 0 and "shaper_rate_bps" in done.stdout and
          "max_rate_bps" in done.stdout, done)
    check_equal("the port has the key", ctl.json("show interface 0")["shaper_rate_bps"], 5_000_000_000)
    for words, *about in (("show interface Ethernet9/9", "PORT = Ethernet9/9", "0 to 2, or the name of a port"),
                          ("clear queue watermark Ethernet1/", "PORT = Ethernet1/"),
                          ("set interface tx-disabled none on", "PORT = none")):
        ctl.refused(words, *about)
    for key, *about in (("port Ethernet9/9.shaper_rate=1G", "port Ethernet9/9"), ("queue none|3.max_rate_bps=1G", "queue none|3"),
                        ("port 0.name=x", "cannot change while the program runs")):
        done = ctl.words(["set", key])
        check(f"{key} is refused", done.returncode == 2 and len(done.stderr.splitlines()) == 1 and all(a in done.stderr for a in about), done)


def check_clear(ctl):
    """Counters since a clear are the same, however the port is named."""
    check(f"{FRAMES} frames before it", ctl.json(f"show interface {LONG}")["tx_packets"] >= FRAMES)
    ctl.text("clear counters")
    for words, rows, key in (("show interface", None, "tx_packets"), ("show queue counters", "queues", "tx_packets"),
                             ("show priority-group counters", "pgs", "rx_packets"), ("show queue watermark", "queues", "watermark_bytes")):
        values = []

        def agree(words=words, rows=rows, key=key, values=values):
            replies = [ctl.json(f"{words} {port}") for port in ("1", LONG, LONG.lower())]
            values[:] = [[row.get(key) for row in (reply[rows] if rows else [reply])] for reply in replies]
            return values[1:] == values[:1] * 2
        until(agree)  # a frame of LLDP may leave between two questions
        check_equal(f"{words}: by name and by number", values[1:], values[:1] * 2)
    sent = ctl.json(f"show interface {LONG}")["tx_packets"]
    check("frames since the clear: at most those of LLDP, one each 30 s", sent <= 3, sent)


def check_pages(work, name, ctl):
    exporter = Exporter(work, "-f", name)
    mine = f'program="quench-switch",prefix="{name}"'
    s = exporter.samples()
    check_equal("metrics: a port", s[f'quench_port_tx_packets_total{{{mine},port="1",port_name="{LONG}",device="net_pcap1"}}'],
                ctl.json("show interface 1")["tx_packets"])
    check_equal("metrics: a queue", s[f'quench_queue_tx_packets_total{{{mine},port="1",port_name="{LONG}",queue="3"}}'], FRAMES)
    check("metrics: a port without name", f'quench_port_tx_packets_total{{{mine},port="2",device="net_pcap2"}}' in s)
    check_equal("the exporter ends", exporter.stop(), 0)
    top = Terminal("-f", name, "--watch=0.2", "top")
    top.shows("top", lambda text: f"\n{'Ethernet1/1':>31} " in text and f"\n{LONG} " in text and f"\n{'2':>31} " in text)
    top.key("q")
    check_equal("top ends", top.end(), 0)
    web = Web("-f", name)
    check("web", web.comes('"Ethernet1/1"', f'"{LONG} in"', f'"{LONG} queue 3"', '"port 2"'))
    check_equal("web ends", web.stop(), 0)


def main():
    work, name = work_dir(), prefix("names")
    frames = [roce("02:00:00:00:07:07", RECEIVER, "10.0.0.1", "10.0.0.2", 50000, i, 26, ECT0, bytes(64)) for i in range(FRAMES)]
    write_pcap(work / "in.pcap", [*frames, b"\x01\x80\xc2\x00\x00\x05" + bytes(54)])
    switch = Program(work, "switch", "switch", SWITCH, eal(
        name, f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/out0.pcap", f"net_pcap1,tx_pcap={work}/out1.pcap",
        f"net_pcap2,tx_pcap={work}/out2.pcap"), "--stats-interval", 0, "--idle-sleep", 1000)
    switch.wait_started()
    ctl = Ctl(work, "-f", name)
    switch.wait_until("all frames have left", lambda: ctl.json("show interface 1")["tx_packets"] >= FRAMES)
    check_shows(ctl)
    check_pages(work, name, ctl)
    check_changes(ctl, switch)
    check_clear(ctl)
    check_equal("exit code", switch.stop(), 0)
    check_equal("report", [p.get("port_name") for p in switch.json()["ports"]], ["Ethernet1/1", LONG, None])
    finish()


main()
