#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Clients that ask for too much, too often, wrongly, or never read: each is bounded, and told so; programs go on."""
import json
import re
import select
import socket
import time
from concurrent.futures import ThreadPoolExecutor

from configs import nic as network
from configs import section
from harness import PATIENCE_S, Program, check, check_equal, finish, run, work_dir
from metrics import CTL, Exporter, start_nic, start_switch
from desk import BASE, SOCKET, Desk, eal, prefix

HTTP_CLIENTS = 64
DESK_CLIENTS = 64


def ctl(*words):
    return run(CTL, *words)


def tcp(port, data=b""):
    s = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    s.sendall(data)
    return s


def answer(port, data):
    """All that comes until the other end closes."""
    got = b""
    with tcp(port) as s:
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            while more := s.recv(65536):
                got += more
        except OSError:
            pass  # closed at once, before all was sent
    return got.decode(errors="replace")


def check_requests(e):
    for what, data, status, words in (
            ("a method", b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 405, "expected GET or HEAD"),
            ("a path", b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "no such path: expected one of\n/metrics"),
            ("a Host", b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "expected localhost or 127.0.0.1"),
            ("a long line", b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, ""),
            ("a long header", b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 40000 + b"\r\n\r\n", 431, "")):
        got = answer(e.port, data)
        # Of a request that is cut off the answer may be lost with the rest of it.
        cut_off = status in (414, 431) and got == ""
        check(f"{what} that is wrong: {status}", cut_off or (got.startswith(f"HTTP/1.1 {status} ") and words in got), got[:200])
    answer(e.port, b"\x16\x03\x01\x00\xff" + bytes(range(256)))
    got = answer(e.port, b"HEAD /metrics HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n")
    check("HEAD has no body", got.startswith("HTTP/1.1 200 ") and got.endswith("\r\n\r\n"), got[:200])
    check("/ says what there is", "/metrics" in e.get("/")[2])


def eventually(what, condition):
    """It may be our own connection that makes room for another, before its request was seen."""
    def holds():
        try:
            return condition()
        except ConnectionError:
            return False

    end = time.monotonic() + PATIENCE_S
    while not (good := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    check(what, good)


def check_clients(e):
    """More than there is room for: one that asks takes the place of one that says nothing."""
    idle = [tcp(e.port) for _ in range(HTTP_CLIENTS // 2)]
    # They ask, and never read.
    idle += [tcp(e.port, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20) for _ in range(HTTP_CLIENTS // 2 - 1)]
    # The server sees who comes and goes a moment later.
    eventually("beside silent clients one is served", lambda: e.get()[0] == 200)
    idle += [tcp(e.port) for _ in range(2 * HTTP_CLIENTS)]
    eventually("beside more than there is room for, too", lambda: e.get()[0] == 200)
    e.wait_until("those that made room are counted", lambda s: s["quench_exporter_closed_slow_clients_total"] >= HTTP_CLIENTS)
    # More answers than sockets hold: whoever waits for them is busy.
    refusal = 503, "more than 64 clients at a time: expected fewer\n"

    def is_refused():
        # Between two answers one is idle for a moment, and may lose its place to another: more of them.
        idle.extend(tcp(e.port, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 300) for _ in range(8))
        return e.get()[::2] == refusal
    eventually("beside as many that are busy one is told so", is_refused)
    for s in idle:
        s.close()
    eventually("served again", lambda: e.get()[0] == 200)
    e.wait_until("those refused are counted", lambda s: s["quench_exporter_refused_clients_total"] >= 1)


def check_rate(e):
    """However many ask, the programs are read four times a second at most."""
    def readings():
        return max(v for k, v in e.samples().items() if k.startswith("quench_exporter_readings_total"))

    before, begun = readings(), time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: e.get()[0], range(1000)))
    after = readings()
    most = (time.monotonic() - begun) / 0.25 + 2
    check_equal("a thousand scrapes are answered", set(replies), {200})
    check(f"from no more than {most:.0f} readings", after - before <= most, after - before)
    e.wait_until("the others are counted", lambda s: s["quench_exporter_repeated_total"] >= 1000 - most)


def stuck(name):
    """A client that asks until nothing more fits, and never reads."""
    t = Desk(name)
    t.socket.setblocking(False)
    try:
        while True:
            t.socket.send(b'{"jsonrpc":"2.0","id":1,"method":"counters"}\n')
    except BlockingIOError:
        return t


def is_hung_up(t):
    poll = select.poll()
    poll.register(t.socket, 0)
    return bool(poll.poll(0))


def check_desk(switch, name):
    """The desk has 64 places; who finds none is told, and who never reads loses its own."""
    silent = [stuck(name) for _ in range(8)]
    check_equal("one beside eight that never read is served", ctl("-f", name, "show", "info").returncode, 0)
    clients = [Desk(name) for _ in range(DESK_CLIENTS - len(silent))]
    for client in clients:
        client.call("info")
    done = ctl("-f", name, "show", "info")
    check("one more is told why not", done.returncode == 1 and "64 clients are connected" in done.stderr, done.stderr)
    done = ctl("-f", name, "show", "metrics")
    check("so is the exporter", done.returncode == 1 and "64 clients are connected" in done.stderr and
          f'quench_up{{prefix="{name}",program=""}} 0' in done.stdout, done.stderr)
    lines = len(switch.out().splitlines())
    switch.wait_until("it goes on meanwhile", lambda: len(switch.out().splitlines()) > lines + 2)
    switch.wait_until("those that never read lose their places", lambda: all(map(is_hung_up, silent)))
    switch.wait_until("which are free", lambda: ctl("-f", name, "show", "info").returncode == 0)
    junk = clients.pop()
    for text in (b"\0" * 100, b"," * 500, b'{"jsonrpc":"2.0"}', b"[" * 900, bytes(range(11, 256)), b"\xff\xfe", b"[]", b"1"):
        junk.socket.send(text + b"\n")
        reply = json.loads(junk.socket.recv(1 << 16))
        check(f"{text[:8]} is refused", reply["error"]["code"] in (-32700, -32600), reply)
    check_equal("and then a question is answered", junk.call("info")["program"], "quench-switch")
    stuck(name)
    check_equal("it ends although one never reads", switch.stop(), 0)


def check_lines(switch, name):
    """A knob that is turned too often is not said each time, and each time is accounted for."""
    t, times, begun = Desk(name), 60, time.monotonic()
    for i in range(times):
        t.set(f"port 2.tx_disabled={'off' if i % 2 else 'on'}")
    most = 10 * (time.monotonic() - begun + 2)

    def said():
        return [line for line in switch.err().splitlines() if "event=set" in line and "more lines" not in line]
    check(f"at most {most:.0f} lines", 10 <= len(said()) <= most, len(said()))
    check("a line has keys", "set port 2.tx_disabled=on: 1 key changed; changed=1 by=root uid=0 pid=" in said()[0], said()[0])
    check_equal("the others are counted", t.call("info")["suppressed_lines"], times - len(said()))
    t.close()
    return times


def check_large_change(work):
    """A change of more keys than fit into a client's socket, beside clients that never read, and by one of them."""
    name, flows = prefix("l"), 600

    def config(cap):
        return network(1, max_qps=flows, link_speed_bps="10G") + "".join(
            section(f"flow f{i}", peer_ip="10.0.0.9", peer_mac="02:00:00:00:00:09", peer_qpn=99, stopped="on", rate_cap_bps=cap) for i in range(flows))

    def caps():
        return {desk.call("qp", qpn=row["local_qpn"])["rate_cap_bps"] for row in desk.rows("qps")[::50]}

    files = {cap: work / f"{cap}.ini" for cap in ("1G", "2G", "3G")}
    for cap, path in files.items():
        path.write_text(config(cap))
    program = Program(work, "nic", "large", config("1G"), eal(name, "net_null0"), "--stats-interval", 0, "--idle-sleep", 1000, "--stay")
    program.wait_started()
    silent = [stuck(name) for _ in range(4)]
    done = ctl("-j", "-f", name, "reload", files["2G"])
    check("a reload beside clients that never read: exit code 0", done.returncode == 0, done.stderr)
    reply = json.loads(done.stdout)
    check_equal("it names each key", (reply["changed"], reply["in_force"], len(reply["rows"])), (flows, True, flows))
    desk = Desk(name)
    check_equal("all keys are in force", caps(), {2_000_000_000})
    silent.append(Desk(name))
    silent[-1].socket.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "reload", "params": {"file": str(files["3G"])}}).encode() + b"\n")
    program.wait_until("a change whose author does not read the reply is in force", lambda: caps() == {3_000_000_000})
    check_equal("exit code", program.stop(), 0)


def check_one_name(work):
    """Two programs without shared configuration may have one --file-prefix."""
    name = prefix("t")
    switch = start_switch(work, name)
    switch.wait_until("it has the first socket", (BASE / name / SOCKET).exists)
    nic = start_nic(work, name)
    nic.wait_until("it has another one", (BASE / name / f"{SOCKET}:1").exists)
    done = ctl("-f", name, "show", "info")
    check("quenchctl says which there are", done.returncode == 2 and len(done.stderr.splitlines()) == 1 and
          f"{name}:0 (quench-switch, pid {switch.process.pid}), {name}:1 (quench-nic, pid {nic.process.pid})" in done.stderr,
          done.stderr)
    for number, program in ((0, "quench-switch"), (1, "quench-nic")):
        check(f"{name}:{number} is the {program}", f'"{program}"' in ctl("-j", "-f", f"{name}:{number}", "show", "info").stdout)
    done = ctl("-f", f"{name}:2", "show", "info")
    check("there is no third", done.returncode == 1 and "no program with --file-prefix" in done.stderr, done.stderr)
    exporter = Exporter(work)
    up = {re.search('program="([^"]*)",prefix="([^"]*)"', s).groups(): v for s, v in exporter.samples().items() if "quench_up" in s}
    check_equal("the exporter has both", [up.get(("quench-switch", name)), up.get(("quench-nic", f"{name}:1"))], [1, 1])
    exporter.stop()
    check_equal("exit code of the first", switch.stop(), 0)
    check("the other alone needs no number", '"quench-nic"' in ctl("-j", "-f", name, "show", "info").stdout)
    check_equal("exit code of the other", nic.stop(), 0)


def main():
    work = work_dir()
    name = prefix("a")
    switch = start_switch(work, name)
    switch.wait_quiet()
    e = Exporter(work, "-f", name)
    check_requests(e)
    check_clients(e)
    check_rate(e)
    check_equal("exit code of the exporter", e.stop(), 0)
    turned = check_lines(switch, name)
    check_desk(switch, name)
    lines = [line for line in switch.err().splitlines() if "event=set" in line]
    left_out = sum(int(n) for n in re.findall(r"suppressed=(\d+)", "\n".join(lines)))
    check_equal("all are said or counted at the end", len([x for x in lines if "more lines" not in x]) + left_out, turned)
    check_one_name(work)
    check_large_change(work)
    finish()


main()
