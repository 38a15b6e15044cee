#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs and the exporter as systemd's services: what they tell it, as whom they run, and what their units say."""
import atexit
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import urllib.request

from configs import flow, nic, two_ports
from harness import BUILD, PATIENCE_S, Program, check, check_equal, finish, run, work_dir
from desk import Desk, eal, prefix

ROOT = pathlib.Path(__file__).resolve().parents[2]
SWITCH = "[switch]\nbuffer_bytes = 1MB\n" + two_ports(link_speed_bps="10G")
NIC = nic(1, link_speed_bps="10G") + flow("answer", 2, requester="off", peer_qpn=100)


def messages(manager, until):
    """What systemd's end of the socket hears, to the message `until`."""
    heard = []
    while not heard or heard[-1] != until:
        heard.append(manager.recv(256).decode())
    return heard


def check_program(work, role, config, devices, lcores):
    path = work / f"notify-{role}{lcores}"
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.settimeout(PATIENCE_S)
    manager.bind(str(path))
    os.environ.update(NOTIFY_SOCKET=str(path), WATCHDOG_USEC="400000")
    name = prefix(f"{role}{lcores}")
    program = Program(work, role, f"{role}{lcores}", config, eal(name, *devices, lcores=lcores),
                      "--stats-interval", 0, "--idle-sleep", 1000)
    what = f"quench-{role} on {lcores} lcores"
    program.wait_started()
    check_equal(f"{what}: ready", messages(manager, "READY=1"), ["READY=1"])
    check_equal(f"{what}: it answers by then", Desk(name).call("info")["program"], f"quench-{role}")
    beats = [manager.recv(256).decode() for _ in range(3)]
    check_equal(f"{what}: the watchdog hears from it", beats, ["WATCHDOG=1"] * 3)
    program.process.send_signal(signal.SIGTERM)
    heard = messages(manager, "STOPPING=1")
    check_equal(f"{what}: stopping", {m for m in heard[:-1]} - {"WATCHDOG=1"}, set())
    check_equal(f"{what}: exit code", program.wait_end(), 0)
    del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
    manager.close()


def check_starts(unit):
    """systemd gives up after five starts within 10 s unless the unit says otherwise; and each thread is a task."""
    head, _, service = (BUILD / "share" / unit).read_text().partition("[Service]")
    check(f"{unit}: it is started again, however often it ends",
          "\nStartLimitIntervalSec=0\n" in head and "\nRestart=on-failure\n" in service)
    reload = re.search(r"^ExecReload=\S*/quenchctl --file-prefix %i reload$", service, re.M)
    check(f"{unit}: reload is quenchctl's", reload or "serve-metrics" in service)
    check(f"{unit}: options of the program", " $OPTIONS\n" in service or "serve-metrics" in service)
    stop = re.search(r"^TimeoutStopSec=(\d+)$", service, re.M)
    if stop:
        patience = re.search(r"#define EAL_END_PATIENCE_S (\d+)u", (ROOT / "app/runtime/eal/eal_end.c").read_text())
        check(f"{unit}: a program whose end hangs ends by itself before it is killed", int(patience[1]) + 5 <= int(stop[1]))
    tasks = re.search(r"^TasksMax=(\d+)$", service, re.M)
    # http.c: HTTP_CLIENTS, 32 who are refused, a thread that accepts; exporter.c: MOST_PROGRAMS; the main one.
    check(f"{unit}: room for a thread of each client", not tasks or int(tasks[1]) >= 64 + 32 + 1 + 16 + 1, tasks)


def check_unit(work, unit, folder):
    """systemd's own judgement of the unit as installed, with our programs at their places."""
    unit = BUILD / "share" / unit
    text = unit.read_text()
    bindir = next(line for line in text.splitlines() if line.startswith("ExecStart=")).partition("=")[2].split("/quench")[0]
    copy = work / unit.name
    text = text.replace(f"{bindir}/quenchctl", str((BUILD / "app/quenchctl/quenchctl").resolve()))
    copy.write_text(text.replace(bindir, str((BUILD / "app" / folder).resolve())))
    done = run("systemd-analyze", "verify", "--man=no", copy)
    check(f"{unit.name}: systemd-analyze verify", done.returncode == 0 and "quench" not in done.stderr, done.stderr)
    done = run("systemd-analyze", "security", "--offline=true", "--threshold=25", copy)
    last = (done.stdout.strip().splitlines() or [done.stderr])[-1]
    check(f"{unit.name}: exposed less than 2.5 of 10", done.returncode == 0, last)


def check_as_service_user(work):
    """Neither root nor more than the unit's capabilities: it starts, and root's quenchctl reaches it."""
    name = prefix("user")
    home = pathlib.Path("/run/quench")
    if home.exists():
        print("not tried: /run/quench is there, a service of this machine uses it")
        return
    try:
        home.mkdir(mode=0o750)
    except FileExistsError:
        print("not tried: another check is at it")
        return
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    shutil.chown(home, "nobody")
    shutil.chown(work, "nobody")
    # As a service finds its folder, and root's quenchctl the service.
    os.environ["XDG_RUNTIME_DIR"] = str(home)  # shared: with the units, which this test is about
    del os.environ["RUNTIME_DIRECTORY"]
    caps = "+net_raw,+net_admin,+ipc_lock"
    program = Program(work, "switch", "user", SWITCH, eal(name, "net_null0", "net_null1"), "--stats-interval", 0,
                      "--idle-sleep", 1000, before=["setpriv", "--reuid=nobody", "--clear-groups", f"--inh-caps=-all,{caps}",
                                                   f"--ambient-caps=-all,{caps}", f"--bounding-set=-all,{caps}", "--no-new-privs"])
    program.wait_started()
    status = pathlib.Path(f"/proc/{program.process.pid}/status").read_text()
    field = dict(line.split(":", 1) for line in status.splitlines())
    check("it does not run as root", field["Uid"].split()[0] != "0", field["Uid"])
    check_equal("its capabilities are the unit's", int(field["CapEff"], 16), 1 << 12 | 1 << 13 | 1 << 14)
    done = run(BUILD / "app/quenchctl/quenchctl", "-f", name, "show", "interfaces")
    check("root's quenchctl reaches it", done.returncode == 0 and "net_null1" in done.stdout, done.stderr)
    check_exporter(work, name)
    check_equal("exit code", program.stop(), 0)


def check_groups(work):
    """Who is in a group may read, who is in the other may change, and nobody else may do anything."""
    folder = pathlib.Path(os.environ["RUNTIME_DIRECTORY"])
    folder.chmod(0o755)
    name = prefix("groups")
    program = Program(work, "switch", "groups", SWITCH, eal(name, "net_null0", "net_null1"), "--stats-interval", 0, "--idle-sleep", 1000,
                      "--read-group", "daemon", "--change-group", "bin")
    program.wait_started()
    desk = Desk(name)

    def as_member(group, *words):
        groups = ["--clear-groups"] if group is None else [f"--groups={group}"]
        return run("setpriv", "--reuid=nobody", "--regid=nogroup", *groups, BUILD / "app/quenchctl/quenchctl", "--since-start", "-f", name, *words)

    for group, reads, changes in ((None, False, False), ("daemon", True, False), ("bin", True, True)):
        done = as_member(group, "show", "interfaces")
        check(f"member of {group}: reads" if reads else f"member of {group}: does not read", (done.returncode == 0) == reads, done.stdout + done.stderr)
        done = as_member(group, "set", "port 1.tx_disabled=on")
        check(f"member of {group}: changes" if changes else f"member of {group}: does not change",
              (done.returncode == 0) == changes and (changes or "may" in done.stderr), done.stdout + done.stderr)
        check_equal("it is so", desk.rows("ports")[1]["tx_disabled"], changes)
    done = as_member("bin", "capture", "0", "-")
    check("nobody else sees frames", done.returncode == 2 and "may only read and change" in done.stderr, done.stderr)
    secret = work / "secret"
    secret.write_text("of another user\n")
    done = as_member("bin", "call", "reload", f"file={secret}")
    check("nor, by a reload, a file", done.returncode == 2 and "may not name a file" in done.stderr and "of another" not in done.stderr, done.stderr)
    line, = (line for line in program.err().splitlines() if " event=set " in line)
    check("the log says who, and what", "set port 1.tx_disabled=on: 1 key changed; changed=1 by=nobody uid=" in line, line)
    done = run(BUILD / "app/quench-switch/quench-switch", "--read-group", "no-such-group", "--config", work / "x.ini")
    check_equal("no such group", (done.returncode, done.stderr), (2, "quench-switch: error: --read-group no-such-group: expected the name of a group\n"))
    program.process.send_signal(signal.SIGHUP)
    program.wait_until("the reload", lambda: " event=reload " in program.err())
    line, = (line for line in program.err().splitlines() if " event=reload " in line)
    check("a signal's reload says who", f"1 key changed; changed=1 by=root uid=0 pid={os.getpid()} event=reload" in line, line)
    check_equal("groups: exit code", program.stop(), 0)


def check_exporter(work, name):
    """As the user of the services, without any capability: it finds their programs, and says when it listens."""
    path = work / "notify-metrics"
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.settimeout(PATIENCE_S)
    manager.bind(str(path))
    shutil.chown(path, "nobody")
    exporter = subprocess.Popen(
        ["setpriv", "--reuid=nobody", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs",
         BUILD / "app/quenchctl/quenchctl", "--listen", "127.0.0.1:0", "serve-metrics"], stderr=subprocess.PIPE, text=True,
        env={**os.environ, "NOTIFY_SOCKET": str(path)})
    try:
        check_equal("exporter: ready", messages(manager, "READY=1"), ["READY=1"])
        url = exporter.stderr.readline().split()[-1]
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as reply:
            text = reply.read().decode()
        check("exporter: it reads the service's program", f'quench_up{{prefix="{name}",program="quench-switch"}} 1' in text, text[:300])
        exporter.send_signal(signal.SIGTERM)
        check_equal("exporter: stopping", messages(manager, "STOPPING=1"), ["STOPPING=1"])
        check_equal("exporter: exit code", exporter.wait(PATIENCE_S), 0)
    finally:
        exporter.kill()
        exporter.wait()
    manager.close()


def main():
    work = work_dir()
    for lcores in (1, 2):
        check_program(work, "switch", SWITCH, ["net_null0", "net_null1"], lcores)
        check_program(work, "nic", NIC, ["net_null0"], lcores)
    for unit in ("quench-switch@.service", "quench-nic@.service", "quench-metrics.service"):
        check_starts(unit)
    if shutil.which("systemd-analyze"):
        check_unit(work, "quench-switch@.service", "quench-switch")
        check_unit(work, "quench-nic@.service", "quench-nic")
        check_unit(work, "quench-metrics.service", "quenchctl")
    else:
        check("systemd-analyze is there (package systemd)", False)
    if os.geteuid() == 0:
        check_groups(work)
        check_as_service_user(work)
    finish()


main()
