#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl top on a terminal (pyte): what it shows of both programs, keys, another size, a program that comes back."""
import re
import signal
import termios
import time

from ctl import Ctl
from harness import check, check_equal, finish, halt, work_dir
from looked_at import LONG, check_no_program, start_nic, start_switch
from desk import prefix
from terminal import Terminal


def check_switch(work):
    name = prefix("top")
    switch = start_switch(work, name)
    top = Terminal("-f", name, "--watch=0.2", "top")
    top.shows("the program", lambda text: re.match(r"quench-switch \S+, pid \d+, up 0:00:\d\d, every 0.2 s; counts per second", text))
    top.shows("its buffer", lambda text: re.search(r"^buffer +[.=]+ +[\d.]+K? of 4.00M bytes$", text, re.M))
    top.shows("what comes in, as a rate, after the rates of a shaped port", lambda text: re.search(r"^ +1 +up +[\d.]+M/10G +[\d.]+[MG]", text, re.M))
    top.shows("queues with the marks of their curve", lambda text: re.search(r"^ +0 +3 [.=m]+M", text, re.M))
    top.key("p")
    top.shows("p holds it", lambda text: ", held" in text)
    top.key("p")
    top.key("+")
    top.shows("+ slows it", lambda text: "every 0.4 s" in text and "held" not in text)
    top.key("i")
    top.shows("i hides what is idle", lambda text: "idle hidden" in text and "\n" + 30 * " " + "1 " in text and "\n" + 30 * " " + "3 " not in text)
    top.key("i")
    top.resize(24, 80)
    top.process.send_signal(signal.SIGWINCH)
    top.shows("80 columns have all that matters: names and bars are shorter, packet rates left out, and that is said",
              lambda text: re.search(r"^shortened: widen to \d+ columns   q quit", text.rpartition("\n")[2]) and ">\n" not in text and
              re.search(r"^ +port +link .* pauses< pauses> +drops/s$", text, re.M) and re.search(r"^ +port queue m M WRED .* marks/s +drops/s$", text, re.M) and
              len(re.findall(r"Eth10~\w+out-lane4 ", text)) >= 2)
    top.resize(8, 60)
    top.process.send_signal(signal.SIGWINCH)
    top.shows("a smaller terminal has its last line", lambda text: re.match(r"cut at >: widen to \d+ columns   q quit", text.rpartition("\n")[2]))
    top.key("\x1b[B" * 3)
    top.shows("and scrolls", lambda text: not text.startswith("quench-switch"))
    top.key("\x1b[A" * 9)
    top.shows("and back", lambda text: text.startswith("quench-switch"))
    top.resize(30, 140)
    top.process.send_signal(signal.SIGWINCH)
    top.shows("a larger one all", lambda text: text.rpartition("\n")[2].startswith("q quit") and LONG in text)
    top.resize(30, 230)
    top.process.send_signal(signal.SIGWINCH)
    top.shows("a wide one has queues beside ports", lambda text: re.search(r"^ +port +link .* drops/s +rx p/s +tx p/s +port queue m, M: Kmin, Kmax", text, re.M))
    top.resize(30, 140)
    top.process.send_signal(signal.SIGWINCH)
    halt(switch.process)
    top.shows("a program that hangs is said to", lambda text: re.match(r"quench-switch \S+, pid \d+, DOES NOT ANSWER after 0:0\d:\d\d: last picture", text) and LONG in text)
    switch.process.send_signal(signal.SIGCONT)
    top.shows("it goes on", lambda text: " every " in text)
    check_equal("the switch ends", switch.stop(), 0)
    top.shows("a program that ends is said to be gone", lambda text: "PROGRAM ENDED" in text)
    time.sleep(0.5)  # lasts: what must stay to be seen
    top.shows("and stays to be seen, with its own columns", lambda text: text.startswith("quench-switch ") and LONG in text and
              "\nbuffer " in text and "resent/s" not in text)
    switch = start_switch(work, name)
    top.shows("and seen again when it is back",
              lambda text: "GONE" not in text and f"pid {switch.process.pid}" in text and LONG in text)
    top.key("q")
    check_equal("q ends it", top.end(), 0)
    switch.stop()


def check_nic(work):
    name = prefix("topn")
    nic = start_nic(work, name)
    top = Terminal("-f", name, "--watch=0.2", "top")
    top.shows("a NIC's flows and their rates", lambda text: re.search(r"^write +4 +[\d.]+[KM] +[\d.]+[KM]", text, re.M))
    top.shows("and totals", lambda text: re.search(r"^ +1.00G +[\d.]+[KM] +[\d.]+[KM]", text, re.M))
    ctl = Ctl(work, "-f", name)
    nic.wait_until("show flows has the present rate", lambda: ctl.json("show flows")["rows"][0]["present_wire_rate_bps"] > 0)
    check_equal("clear counters flow", ctl("clear counters flow").returncode, 0)
    nic.wait_until("a mean since the clear", lambda: ctl.json("show flows")["rows"][0]["wire_rate_bps"] > 0)
    def stopped():
        return [r["value"] for r in ctl.json("show config")["rows"] if (r["section"], r["key"]) == ("flow write", "stopped")]

    check("stop FLOW says what it changed", "stopped" in ctl.text("stop write"))
    check_equal("the flow is stopped", stopped(), ["on"])
    check("and start FLOW", "stopped" in ctl.text("start write"))
    check_equal("it goes on", stopped(), [])
    ctl.refused("stop nobody", "nobody: expected a flow that \"show flows\" lists")
    ctl.text("remove write")
    top.shows("without a flow that was removed", lambda text: "paused     RTT" in text and "\nwrite " not in text)
    top.process.send_signal(signal.SIGTERM)
    check_equal("SIGTERM ends it", top.end(), 0)
    top.read()
    check("the terminal is given back", termios.tcgetattr(top.master)[3] & termios.ECHO)
    nic.stop()


def main():
    work = work_dir()
    check_switch(work)
    check_nic(work)
    check_no_program("top")
    finish()


main()
