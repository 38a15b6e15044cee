#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl listen and connect perftest: against each other through one NIC, and against peers that are not perftest.

The real perftest, on a kernel's soft-RoCE: test/peers/test_perftest.py.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

from ctl import Ctl
from harness import BUILD, PATIENCE_S, Program, check, check_equal, eal, finish, work_dir

PREFIX = f"perftest{os.getpid()}"
NIC = "[nic]\nmac = 02:00:00:00:00:01\nip = 10.0.0.1\nlink_speed_bps = 1G\nshaper_burst_ns = 200us\nlocal_ack_timeout = 18\n"


def free_port():
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()[1]


class Listen:
    """quenchctl listen perftest, running."""

    def __init__(self, work, *words):
        self.port = free_port()
        command = [str(BUILD / "app/quenchctl/quenchctl"), "-f", PREFIX, "--json", "listen", "perftest", f"port={self.port}", *words]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "XDG_CACHE_HOME": str(work)})
        line = self.process.stderr.readline()
        check("it says that it waits", f"port {self.port}" in line, line)

    def end(self):
        """@return (exit code, output, error lines)"""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err


def present(ctl):
    return [row["flow"] for row in ctl.json("show flows")["rows"] if not row["gone"]]


def check_verbs(ctl, work):
    for verb, more in (("send", ""), ("write", "mtu_bytes=512"), ("read", "depth=200")):
        listen = Listen(work, f"verb={verb}", "qp_count=3")
        sent = ctl.json(f"connect perftest 127.0.0.1:{listen.port} verb={verb} qp_count=3 messages=50 message_bytes=3000 {more}")
        code, out, err = listen.end()
        check_equal(f"{verb}: listen ends well", (code, err), (0, ""))
        for side, told in (("client", str(sent)), ("server", out)):
            check(f"{verb}: {side} counts all", "150" in told and "450000" in told, told)
        # The link takes a nanosecond a bit, and the shaper catches up at most 200 us.
        check(f"{verb}: the link has had time for all bytes", sent.get("elapsed_ns", 0) >= 450000 * 8 - 200000, sent)
        check_equal(f"{verb}: MTU of both", sent.get("mtu_bytes"), 512 if "mtu" in more else 1024)
        check_equal(f"{verb}: no flow is left", present(ctl), [])
    listen = Listen(work, "verb=write")
    sent = ctl.json(f"connect perftest 127.0.0.1:{listen.port} duration_ns=200ms gbits=on")
    check_equal("for a time: listen ends well", listen.end()[0], 0)
    check("for a time: messages", sent.get("messages", 0) > 0 and sent.get("average_gbps", 0) > 0, sent)


def check_bad_clients(ctl, work):
    version = b"6.06".ljust(16, b"\0")
    cases = {"an old version": (b"5.60".ljust(16, b"\0"), "version 5.60: expected perftest 4.5"),
             "a newer version": (b"6.29".ljust(16, b"\0"), "version 6.29: expected perftest 4.5"),
             "no perftest": (b"GET / HTTP/1.1\r\n\r\n", "expected perftest 4.5"),
             "a short message": (b"6.0", "its version: the peer ended the connection"),
             "an MTU that is none": (version + bytes(8) + b"9\0", "its MTU is not one of RoCE"),
             "data that is none": (version + bytes(8) + b"3\0" + b"x" * 108, "the data of its QPs cannot be read")}
    for name, (said, expected) in cases.items():
        listen = Listen(work)
        with socket.create_connection(("127.0.0.1", listen.port)) as client:
            client.sendall(said)
            with contextlib.suppress(OSError):  # it may have hung up
                client.shutdown(socket.SHUT_WR)
            code, _, err = listen.end()
        check(f"{name}: refused in one line", code == 1 and len(err.splitlines()) == 1 and expected in err, (code, err))
    listen = Listen(work)
    with socket.create_connection(("127.0.0.1", listen.port)) as client:
        ipv6 = b"0000:0010:000013:013e39:000004d4:000055bfba545000:" + b":".join([b"fe"] * 16) + b":00000000:\0"
        client.sendall(version + bytes(8) + b"3\0" + ipv6)
        code, _, err = listen.end()
    check("an address of another kind: refused in one line", code == 1 and "its address is IPv6" in err, (code, err))
    check_equal("no flow is left", present(ctl), [])


def check_refusals(ctl, work):
    port = free_port()
    ctl.refused("connect perftest 127.0.0.1 verb=atomic", "verb = atomic: expected", "send")
    ctl.refused("connect perftest 127.0.0.1 size=5", "size=5: expected KEY=VALUE", "message_bytes")
    ctl.refused("connect perftest 127.0.0.1 mtu_bytes=1000", "mtu_bytes = 1000: expected 256, 512")
    ctl.refused("connect perftest 127.0.0.1 qp_count=65", "qp_count = 65: expected", "64")
    ctl.refused("connect perftest 127.0.0.1:http", "expected HOST or HOST:PORT")
    ctl.refused(f"connect perftest 127.0.0.1:{port}", f"127.0.0.1:{port}: no connection: Connection refused", code=1)
    with socket.create_server(("", port)) as taken:
        ctl.refused(f"listen perftest port={port}", f"port = {port}: cannot listen", code=1)
        # A server that ends in the middle.
        # pylint: disable-next=consider-using-with
        one = subprocess.Popen([*map(str, ctl.command), "connect", "perftest", f"127.0.0.1:{port}"], stderr=subprocess.PIPE, text=True)
        connection, _ = taken.accept()
        connection.recv(16)
        connection.close()
        _, err = one.communicate(timeout=PATIENCE_S)
        check("a server that ends: said in one line", one.returncode == 1 and "its version: " in err and len(err.splitlines()) == 1, err)
    listen = Listen(work)
    listen.process.send_signal(signal.SIGINT)
    code, _, err = listen.end()
    check("Ctrl-C ends it in one line", code == 1 and "ended by a signal" in err and len(err.splitlines()) == 1, (code, err))
    check_equal("no flow is left", present(ctl), [])


def begin_client(ctl, listen, words):
    # pylint: disable-next=consider-using-with
    return subprocess.Popen([*map(str, ctl.command), "--json", "connect", "perftest", f"127.0.0.1:{listen.port}", *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_several(ctl, work):
    """Runs at the same time, one whose flow is removed, and one right after it."""
    listens = [Listen(work, "qp_count=2") for _ in range(3)]
    clients = [begin_client(ctl, listen, "qp_count=2 messages=50 message_bytes=3000") for listen in listens]
    for listen, client in zip(listens, clients):
        out, err = client.communicate(timeout=PATIENCE_S)
        check("at the same time: the client ends well", client.returncode == 0 and json.loads(out)["messages"] == 100, (out, err))
        check_equal("at the same time: the server does", listen.end()[0], 0)
    listen = Listen(work, "qp_count=3")
    client = begin_client(ctl, listen, "qp_count=3 duration_ns=60s")
    end = time.monotonic() + PATIENCE_S
    while len(present(ctl)) < 6 and time.monotonic() < end:
        time.sleep(0.02)
    ctl.text(f"remove {[flow for flow in present(ctl) if '-out-' in flow][1]}")
    _, err = client.communicate(timeout=PATIENCE_S)
    check("a flow is removed: said in one line", client.returncode == 1 and "1 of 3 flows were removed" in err and len(err.splitlines()) == 1, err)
    listen.end()
    check_equal("the others are removed too", present(ctl), [])
    listen = Listen(work)
    sent = ctl.json(f"connect perftest 127.0.0.1:{listen.port} messages=20")
    check_equal("the next run does not count what is left of it", (sent.get("messages"), listen.end()[0]), (20, 0))


def check_flow_commands(ctl):
    done = subprocess.run([*map(str, ctl.command), "set", "flow a.peer_ip=10.0.0.1", "flow a.stopped=on", "flow a.messages=3"], capture_output=True, text=True, check=False)
    check_equal("several keys in one set", (done.returncode, done.stderr, present(ctl)), (0, "", ["a"]))
    done = subprocess.run([*map(str, ctl.command), "set", "flow a.stopped=off", "flow a.messages=4"], capture_output=True, text=True, check=False)
    check("one key that cannot change keeps the other", done.returncode == 2 and "messages" in done.stderr and
          ctl.json("show qp")["rows"][0]["done"] == 0, (done.stderr, ctl.json("show qp")))
    check("a flow is removed", "flow a" in ctl.text("remove a") and present(ctl) == [])
    ctl.refused("remove a", "there is no [flow a]")


def main():
    work = work_dir()
    options = [o for o in eal("net_ring0") if o not in ("--no-telemetry", "--no-shconf")]
    nic = Program(work, "nic", "nic", NIC, [*options, "--file-prefix", PREFIX], "--idle-sleep", 200)
    nic.wait_started()
    ctl = Ctl(pathlib.Path(work), "-f", PREFIX)
    end = time.monotonic() + PATIENCE_S
    while ctl("show info").returncode != 0 and time.monotonic() < end:
        time.sleep(0.05)
    check_verbs(ctl, work)
    check_bad_clients(ctl, work)
    check_refusals(ctl, work)
    check_several(ctl, work)
    check_flow_commands(ctl)
    nic.stop()
    finish()


main()
