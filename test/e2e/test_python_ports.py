#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python package quench with programs on ports: start, read, change, end, and what it says of faults."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

from configs import LOOP_SWITCH, flow_to_itself, loop_nic, two_ports
from configs import nic as nic_section
from harness import BUILD, PATIENCE_S, check, check_equal, check_ledger, finish, path_of, run, work_dir

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import quench  # noqa: E402

TWO_PORTS = two_ports(link_speed_bps="1G")
# A program in a with statement, until a signal.
WAITS = """
import signal, sys
sys.path.append(sys.argv[1])
import quench
with quench.Switch(open(sys.argv[2]).read(), ["net_null0", "net_null1"], program=sys.argv[3], folder=".", name="held"):
    print("up", flush=True)
    signal.pause()
"""


def nic(*args, **more):
    return quench.Nic(*args, program=path_of("nic"), **more)


def switch(*args, **more):
    return quench.Switch(*args, program=path_of("switch"), **more)


def raises(what, call, *words):
    try:
        call()
    except quench.Failed as error:
        return check(f"{what}: one line", "\n" not in str(error) and all(word in str(error) for word in words), error)
    return check(f"{what} is refused", False)


def wait(what, condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"not within {PATIENCE_S} s: {what}")
        time.sleep(0.02)


def check_loop(work):
    left, right = quench.Cable(), quench.Cable()
    with switch(LOOP_SWITCH, [left.server, right.server], name="tor", folder=work) as tor, \
            nic(loop_nic(2, 1, False), [right.client], name="receiver", folder=work) as receiver, \
            nic(loop_nic(1, 2, True, messages=0, stopped="on"), [left.client], name="sender", folder=work) as sender:
        check_equal("programs", [p.info()["program"] for p in (tor, receiver, sender)], ["quench-switch", "quench-nic", "quench-nic"])
        check_equal("a flow that is stopped sends nothing", sender.flow("loop")["messages"], 0)
        sender.start_flow("loop")
        wait("messages", lambda: sender.flow("loop")["messages"] > 0)
        samples = quench.sample(lambda: sender.flow("loop"), seconds=0.3, interval_s=0.1)
        check("samples: columns of one length", len({len(column) for column in samples.values()}) == 1 and len(samples["time_s"]) >= 2, samples)
        check("samples: times and counters grow", all(samples[name] == sorted(samples[name]) for name in ("time_s", "wire_bytes")), samples)
        rates = quench.per_second(samples, "wire_bytes")
        check("rates: one for each sample, the first unknown", len(rates) == len(samples["time_s"]) and rates[0] != rates[0] and min(rates[1:]) >= 0, rates)
        wait("marks and CNPs", lambda: tor.queues(1)[3]["ecn_marked_packets"] and sender.counters()["rp_cnp_handled"])
        tor.set({"wred.Kmax": "50KB", "wred.Kmin": 6000})
        in_force = {row["key"]: row["value"] for row in tor.rows("config") if row["section"] == "wred"}
        check_equal("a change of two keys", [in_force[f"green_{which}_threshold_bytes"] for which in ("min", "max")], ["6KB", "50KB"])
        raises("a key that does not exist", lambda: tor.set({"wred.Kmaxx": 1}), "tor: ", "Kmaxx", "expected")
        raises("a value that is too long", lambda: tor.set({"wred.Kmax": "1" * 1100}), "tor: ", "Kmax", "expected")
        raises("a flow that does not exist", lambda: sender.flow("other"), "sender: no [flow other]", "loop")
        raises("a command that does not exist", lambda: sender.call("other"), "sender: quench-nic has no method other")
        sender.stop_flow("loop")
        wait("an empty queue", lambda: sender.qps()[0]["tx_packets"] == receiver.qps()[0]["rx_packets"] and not tor.queues(1)[3]["queue_bytes"])
        check_equal("ports, groups, pauses", [len(tor.ports()), len(tor.groups(0)), len(tor.pauses()), sender.port()["link"]], [2, 8, 2, "up"])
        check_equal("drops", tor.drops(), {})
        sender.reload(loop_nic(1, 2, True, messages=0, stopped="on", rate_cap_bps="50M"))
        check_equal("a reload", [row["value"] for row in sender.rows("config") if row["key"] == "rate_cap_bps"], ["50M"])
    raises("a program that has ended", tor.ports, "tor: quench-switch has ended")
    check_ledger("tor", tor.results())
    check_equal("results: packets", sender.results()["qps"][0]["tx_packets"], receiver.results()["qps"][0]["rx_packets"])
    check("no socket is left", not any(program.runtime().exists() for program in (tor, receiver, sender)))


def check_done():
    """Messages to itself, by a ring; the NIC stays after the last."""
    text = nic_section(1, link_speed_bps="1G", first_qpn=100) + flow_to_itself("self", 1, messages=5, message_bytes="4KB")
    with nic(text, ["net_ring0"]) as one:
        one.wait_done(PATIENCE_S)
        check_equal("all messages, and it still answers", one.flow("self")["messages"], 5)


def check_faults(work):
    raises("a wrong key", lambda: nic("[nic]\nmtu = 5\n", ["net_null0"], name="wrong"), "wrong: quench-nic ended with 2: ", "wrong.ini:2", "mtu = 5", "expected")
    raises("no such program", lambda: quench.Nic("", [], program=work / "none"), "none", "No such file")
    (work / "file").touch()
    raises("a file for a folder", lambda: nic("", [], folder=work / "file" / "x"), "file", "Not a directory")
    raises("a full disk", lambda: full(work), "No space left")
    one = switch(TWO_PORTS, ["net_null0", "net_null1"], name="killed")
    one.process.kill()
    one.process.wait()
    raises("a program that was killed", one.ports, "killed: quench-switch has ended with -9")
    raises("and its results", one.results, "killed: no results")
    one.stop()


def full(work):
    folder = work / "full"
    folder.mkdir()
    (folder / "x.part").symlink_to("/dev/full")
    nic("[nic]\n", ["net_null0"], name="x", folder=folder)


def check_interrupt(work):
    """Ctrl-C in a with statement ends the program, too."""
    (work / "held.txt").write_text(TWO_PORTS)
    script = subprocess.Popen([sys.executable, "-c", WAITS, ROOT / "tools", work / "held.txt", path_of("switch")], cwd=work, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    hung = threading.Timer(PATIENCE_S, script.kill)
    hung.start()
    check_equal("it runs", script.stdout.readline(), "up\n")
    script.send_signal(signal.SIGINT)
    script.communicate()
    hung.cancel()
    check_equal("Ctrl-C ends the script", script.returncode, -signal.SIGINT)
    check("and its program wrote its counters", (work / "held.json").exists())


def check_page(work):
    """The example of the page, as it is there."""
    page = (ROOT / "doc" / "python.md").read_text(encoding="utf-8")
    block = re.search(r"^## Programs on ports\n\n((?:    .*\n|\n)+)", page, re.M)[1]
    text = re.sub("^    ", "", block, flags=re.M)
    check("the example: at most ten lines", len(text.strip().splitlines()) <= 10, text)
    os.symlink(ROOT / "config", work / "config")
    (work / "example.py").write_text(text)
    os.environ.setdefault("MPLCONFIGDIR", str(work))
    done = run("/usr/bin/python3", work / "example.py", cwd=work, env={**os.environ, "PYTHONPATH": str(ROOT / "tools"), "MPLBACKEND": "Agg",
                                                                  "PATH": f"{BUILD}/app/quench-nic:{BUILD}/app/quench-switch:{os.environ['PATH']}"})
    check_equal("the example ends well", (done.returncode, done.stderr), (0, ""))
    check("its plot is a PNG", (work / "loop.png").exists() and (work / "loop.png").read_bytes().startswith(b"\x89PNG"))


def check_imports(work):
    """Programs on ports need no library."""
    done = run("/usr/bin/python3", "-I", "-c", f"import sys; sys.path.append({str(ROOT / 'tools')!r}); import quench; quench.Nic; "
               "print(*sorted({'numpy', 'pandas', 'matplotlib', 'requests'} & set(sys.modules)))", cwd=work)
    check_equal("import quench", (done.returncode, done.stdout, done.stderr), (0, "\n", ""))


work = work_dir()
check_loop(work)
check_done()
check_faults(work)
check_interrupt(work)
check_page(work)
check_imports(work)
finish()
