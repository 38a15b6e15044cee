#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A configuration that changes a hundred times while ports are full: not a frame is dropped, all of it is in force, and
what cannot change is refused whole."""
import os
import re
import signal

from frames import ECT0, roce, write_pcap
from configs import two_ports
from harness import Program, check, check_equal, check_ledger, finish, work_dir
from ctl import controller
from desk import Desk, eal, prefix

RELOADS = 100
STATIONS = ("02:00:00:00:00:01", "02:00:00:00:01:01")
SWITCH = f"""
[switch]
buffer_bytes = 4MB
shards = SHARDS
MORE
[fdb a]
mac = {STATIONS[0]}
port = 0
[fdb b]
mac = {STATIONS[1]}
port = 1
""" + two_ports(link_speed_bps="800G")
# All that a reload may change, at once.
OTHER = """
shared_headroom_pool_bytes = 200KB
lossy_pool_bytes = 1MB
egress_lossy_pool_bytes = 1MB
mark_at = enqueue
watermark_interval_ns = 10ms
wred_queues = none
shaper_burst_ns = 8us
[buffer_profile lossless]
dynamic_th = -2
size_bytes = 3KB
xoff_bytes = 40KB
[buffer_profile own]
static_th_bytes = 300KB
dynamic = off
[wred own]
Kmin = 1KB
Kmax = 300KB
Pmax = 50%
[queue 3]
wred_profile = own
min_rate_bps = 1G
max_rate_bps = 700G
[queue 1|0]
buffer_profile = own
[pg 0|0]
buffer_profile = own
[qos_map]
pfc_enable = 3-4
dscp_to_tc_map = 0:1, 24:4, 26:3, 48:7, *:0
tc_to_priority_group_map = 3:3, 4:4, 7:7, *:0
[scheduler]
dwrr_weight = 3:10, *:40
[pfc]
pfc_xoff_quanta = 30000
[pfcwd]
pfcwd = sonic
[tc 0]
mtu_bytes = 1500
[port 0]
storm_control_broadcast_bps = 1G
shaper_rate_bps = 790G
flow_control = off
trust = pcp
dscp_to_tc_map = 8:5, 24:4, 26:3, *:0
pfc_enable = 3
[port 1]
tc_to_queue_map = 3:3, 4:4, 7:7, *:2
dwrr_weight = *:20
strict_queues = 6-7
"""


def join(text):
    """One section where the text has two of a name."""
    sections, at = {}, None
    for line in text.splitlines():
        if line.startswith("["):
            at = sections.setdefault(line, [])
        elif line:
            at.append(line)
    return "".join("\n".join([name, *lines, ""]) for name, lines in sections.items())


def files(work, shards):
    plain = SWITCH.replace("SHARDS", str(shards))
    first, _, rest = OTHER.partition("[")
    other = join(plain.replace("MORE", first) + "[" + rest)
    (work / "other.ini").write_text(other)
    plain = plain.replace("MORE", "")
    (work / "plain.ini").write_text(plain)
    (work / "fixed.ini").write_text(plain.replace("buffer_bytes = 4MB", "buffer_bytes = 5MB").replace("800G", "790G"))
    (work / "wrong.ini").write_text(plain + "[wred]\nKmin = 300KB\n")
    return plain


def captures(work):
    for i in range(2):
        frames = [roce(STATIONS[i], STATIONS[1 - i], f"10.0.0.{i + 1}", f"10.0.0.{2 - i}", 50000 + n, n, dscp, ECT0, bytes(64 + n))
                  for n, dscp in enumerate((26, 26, 0, 24, 48, 26, 0, 8))]
        write_pcap(work / f"in{i}.pcap", frames * 8)


def try_reloads(shards, lcores):
    name = f"{shards} shards on {lcores} lcores"
    work = work_dir()
    captures(work)
    plain = files(work, shards)
    file_prefix = prefix(f"r{shards}{lcores}")
    devices = [f"net_pcap{i},rx_pcap={work}/in{i}.pcap,infinite_rx=1" for i in range(2)]
    switch = Program(work, "switch", "switch", plain, eal(file_prefix, *devices, lcores=lcores, memory=128),
                     "--stats-interval", 0)
    switch.wait_started()
    t = Desk(file_prefix)
    switch.wait_until("it answers", lambda: t.call("info"))
    sent = [0]

    def moves():
        now = t.call("port", port=0)["tx_packets"]
        more, sent[0] = now > sent[0] + 1000, now
        return more

    changed = []
    for i in range(RELOADS):
        switch.wait_until("frames pass", moves)
        reply = t.call("reload", file=f"{work}/{'other' if i % 2 == 0 else 'plain'}.ini")
        changed.append(reply["changed"])
        if i % 10 == 5:
            for wrong in ("fixed", "wrong"):
                refused = t.refusal("reload", file=f"{work}/{wrong}.ini")
                if f"{wrong}.ini:" not in refused:
                    check(f"{wrong}.ini is refused", False, refused)
    check(f"{name}: all reloads change the same keys, there and back", changed == changed[:1] * RELOADS and changed[0] >= 30, changed)
    check_equal(f"{name}: what cannot change is named", t.refusal("reload", file=f"{work}/fixed.ini"),
                f"{work}/fixed.ini: [switch] buffer_bytes = 5MB: cannot change while the program runs; it is 4MB")
    check_equal(f"{name}: and nothing of it has changed", t.call("reload", file=f"{work}/plain.ini")["changed"], 0)

    reply = t.set("wred.Kmax=400KB")
    expected = {"changed": 1, "rows": [{"section": "wred", "key": "green_max_threshold_bytes", "from": "200KB", "to": "400KB"}],
                "in_force": True, "warnings": []}
    check_equal(f"{name}: a key", {key: reply[key] for key in expected}, expected)
    check_equal(f"{name}: a map, commas and all", t.set("scheduler.dwrr_weight=3:20, *:10")["changed"], 1)
    check_equal(f"{name}: the curve in force", t.rows("ecn")[0]["green_max_threshold_bytes"], 400000)
    check_equal(f"{name}: both are not as in the file", t.column("config_changes", "key"), ["green_max_threshold_bytes", "dwrr_weight"])
    config = t.rows("config")
    check("the configuration is listed", ("wred", "400KB") in [(row["section"], row["value"]) for row in config])
    (work / "plain.ini").write_text(plain + "[wred]\nKmin = 7KB\n")
    switch.process.send_signal(signal.SIGHUP)
    switch.wait_until("SIGHUP reads the file again", lambda: "SIGHUP" in switch.err())
    check(f"{name}: SIGHUP says what it did", "plain.ini: 3 keys changed" in switch.err(), switch.err()[-300:])
    (work / "plain.ini").write_text(plain + "[wred]\nKmin = 7MB\n")
    switch.process.send_signal(signal.SIGHUP)
    switch.wait_until("SIGHUP is refused", lambda: "nothing changes" in switch.err())
    check(f"{name}: and why", "Kmin" in switch.err() or "green_min_threshold_bytes = 7MB" in switch.err(), switch.err()[-300:])
    for value in ("wred.Kmax", "wred.Kmax=x", "wred.none=1", "nowhere.x=1", "port 0.link_speed_bps=1G", ""):
        check(f"set {value} is refused", t.refusal("set", settings=[value]))
    switch.wait_until("frames pass", moves)

    check_equal(f"{name}: exit code", switch.stop(), 0)
    result = switch.json()
    dropped = {d: n for p in result["ports"] for d, n in p["drops"].items() if n > 0}
    # Of two shards on fewer CPUs one may have to wait for the other, and then drops, reload or not.
    if shards == 1:
        check_equal(f"{name}: drops", dropped, {})
        check_equal(f"{name}: the buffer is what is queued", result["buffer_used_bytes"], result["ledger"]["queued"])
    check_ledger(name, result)
    print(f"# {sum(p['tx_packets'] for p in result['ports'])} frames, {changed[0]} keys a reload")


KEPT = """# of this file

[wred own]   ; a curve
  Kmax = 300KB # R&D
Pmax = 50%
# after its last key
[queue 3]
wred_profile = own
"""


def check_dry_run(work, ctl):
    """What would change is said, with warnings, and nothing changes."""
    done = ctl("--dry-run", "reload", work / "plain.ini")
    check("reload --dry-run", done.returncode == 0 and "pfc_xoff_quanta" in done.stdout and "nothing was changed: --dry-run" in done.stdout, done.stdout + done.stderr)
    done = ctl("--dry-run", "set", "wred.Kmax=400KB", "buffer_profile lossless.xoff_bytes=1KB")
    check("set --dry-run, and its warnings", done.returncode == 0 and "400KB" in done.stdout and "warning: " in done.stderr, done.stdout + done.stderr)
    done = ctl("--dry-run", "reload", work / "fixed.ini")
    check("what cannot change is refused", done.returncode == 2 and "cannot change while the program runs" in done.stderr, done.stdout + done.stderr)
    done = ctl("show", "config", "changes")
    check("nothing has changed", "(none)" in done.stdout, done.stdout)
    done = ctl("--dry-run", "show", "config")
    check("no other command takes it", done.returncode == 2 and "expected set or reload" in done.stderr, done.stderr)


def check_save(work, ctl):
    """The file has the values in force, and the comments that it had."""
    file = work / "kept.ini"
    file.write_text((work / "plain.ini").read_text() + KEPT)
    file.chmod(0o640)
    check_equal("a file with comments", ctl("reload", file).returncode, 0)
    check_equal("show config is that file", ctl("show", "config").stdout, file.read_text())
    done = ctl("set", "wred own.Kmax=400KB", "wred own.Kmin=2KB", "tc 0.mtu_bytes=1500", "port 1.shaper_rate=100G", "fdb c.mac=02:00:00:00:02:01", "fdb c.port=1")
    check_equal("keys are set", (done.returncode, done.stderr), (0, ""))
    done = ctl("save", work / "copy.ini")
    check("save says what it writes", done.returncode == 0 and "shaper_rate_bps" in done.stdout and "copy.ini: written" in done.stdout, done.stdout + done.stderr)
    text = (work / "copy.ini").read_text()
    expected = KEPT.replace("Kmax = 300KB", "green_max_threshold_bytes = 400KB").replace("50%\n", "50%\ngreen_min_threshold_bytes = 2KB\n")
    check("the lines of the file, with their comments", expected in text, text)
    check("new keys and sections", "mac = 02:5a:00:00:00:01\nshaper_rate_bps = 100G\n" in text and
          "\n[tc 0]\nmtu_bytes = 1500B\n" in text and "\n[fdb c]\nmac = 02:00:00:00:02:01\nport = 1\n" in text, text)
    check("what was not saved stays", "(none)" not in ctl("show", "config", "changes").stdout)
    done = ctl("save")
    check_equal("saved to its own file", (done.returncode, file.read_text(), file.stat().st_mode & 0o777), (0, text, 0o640))
    check("nothing differs from the file now", "(none)" in ctl("show", "config", "changes").stdout)
    check("and a reload changes nothing", "nothing to change" in ctl("reload").stdout)
    file.unlink()
    done = ctl("save", work / "again.ini")
    check("without the file, every key is written", done.returncode == 0 and "kept.ini: cannot be opened" in done.stderr, done.stdout + done.stderr)
    check_equal("and it says the same", ctl("reload", work / "again.ini").stdout, "nothing to change: all keys have these values already\n")
    file.write_text(text)
    check_equal("back", ctl("reload", file).returncode, 0)
    check_equal("exit code", ctl("save", work / "nowhere" / "x.ini").returncode, 1)
    check_save_places(work, ctl, text)
    check_yaml(work, ctl, file)


def check_yaml(work, ctl, file):
    """A YAML file is read again like any other; what is written is INI."""
    other = work / "kept.yaml"
    other.write_text("switch:\n  buffer_bytes: 4MB\n  mark_at: never\n")
    done = ctl("reload", other)
    check("a wrong value of a YAML file has its line", done.returncode == 2 and "kept.yaml:3: [switch] mark_at = never: expected" in done.stderr, done.stderr)
    lines = [re.sub(r"(^|\s)[#;].*", "", line).strip() for line in file.read_text().splitlines()]
    other.write_text("".join(f'"{line[1:-1]}":\n' if line.startswith("[") else '  "{}": "{}"\n'.format(*(part.strip() for part in line.split("=", 1)))
                             for line in lines if line))
    done = ctl("reload", other)
    check_equal("the same as YAML", (done.stdout, done.stderr), ("nothing to change: all keys have these values already\n", ""))
    done = ctl("save")
    check("it is not overwritten by INI, and nothing else is said", done.returncode == 1 and done.stderr.count("\n") == 1 and
          "kept.yaml: expected a file of INI, such as" in done.stderr, done.stdout + done.stderr)
    check("show config prints INI", "\n[fdb a]\nmac = " in ctl("show", "config").stdout)
    check_equal("back", ctl("reload", file).returncode, 0)


def check_save_places(work, ctl, text):
    """Only the file itself is replaced."""
    (work / "latin.ini").write_bytes(text.encode() + b"# caf\xe9\n")
    check_equal("a comment in Latin-1", (ctl("reload", work / "latin.ini").returncode, ctl("show", "config").stdout), (0, text + "# caf\u00e9\n"))
    check_equal("back", ctl("reload", work / "kept.ini").returncode, 0)
    neighbour = work / "neighbour.txt"
    neighbour.write_text("of others")
    (work / "new.ini.part").symlink_to(neighbour)
    check_equal("a new file", (ctl("save", work / "new.ini").returncode, (work / "new.ini").read_text()), (0, text))
    check_equal("no other file is written", neighbour.read_text(), "of others")
    pipe = work / "pipe"
    os.mkfifo(pipe)
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as reader:
        check_equal("to a pipe", (ctl("save", pipe).returncode, pipe.is_fifo()), (0, True))
        check_equal("which stays one", reader.read(), text)
    check_equal("nothing is left over", [file.name for file in work.glob(".quenchctl-*")], [])


def check_save_relative(work, ctl, file_prefix):
    """The program read a file of its folder, which is not that of quenchctl."""
    file = work / "gone.ini"
    file.write_text((work / "plain.ini").read_text())
    Desk(file_prefix).call("reload", file="gone.ini")
    file.unlink()
    done = ctl("save")
    check("saved where the program read it", done.returncode == 0 and file.exists() and f"{file}: written" in done.stdout, done.stdout + done.stderr)


def try_quenchctl():
    """The same by quenchctl, from another folder."""
    work = work_dir()
    plain = files(work, 1)
    file_prefix = prefix("q")
    switch = Program(work, "switch", "switch", plain, eal(file_prefix, "net_null0", "net_null1"), "--stats-interval", 0,
                     "--idle-sleep", 1000)
    switch.wait_started()
    ctl = controller(file_prefix)
    done = ctl("reload", "other.ini", cwd=work)
    check("reload prints what changed", done.returncode == 0 and "pfc_xoff_quanta" in done.stdout and "65535" in done.stdout,
          done.stdout + done.stderr)
    done = ctl("reload", "other.ini", cwd=work)
    check("a second time nothing does", done.returncode == 0 and "nothing to change" in done.stdout, done.stdout)
    long = work / ("x" * 120)
    long.mkdir()
    (long / "wrong.ini").write_text((work / "wrong.ini").read_text())
    done = ctl("reload", long / "wrong.ini")
    check("a refusal is one whole line, however long", done.returncode == 2 and done.stderr.count("\n") == 1 and
          "green_min_threshold_bytes is above" in done.stderr, done.stderr)
    done = ctl("reload", "nosuch.ini")
    check("no such file", done.returncode == 2 and "No such file" in done.stderr, done.stderr)
    done = ctl("--json", "set", "port 1.shaper_rate=100G")
    check("set as JSON", '"to": "100G"' in done.stdout, done.stdout + done.stderr)
    done = ctl("show", "config", "changes")
    check("what is not in the file is said", "shaper_rate_bps" in done.stdout and "100G" in done.stdout, done.stdout)
    done = ctl("set", "interface", "tx-disabled", "0", "on")
    check("knobs are as they were", done.returncode == 0, done.stderr)
    done = ctl("reload")
    check("reload puts all back to the file", "shaper_rate_bps" in done.stdout and "tx_disabled" in done.stdout, done.stdout)
    check_dry_run(work, ctl)
    check_save(work, ctl)
    check_save_relative(work, ctl, file_prefix)
    check_equal("exit code", switch.stop(), 0)


def main():
    try_quenchctl()
    try_reloads(1, 1)
    try_reloads(1, 2)
    try_reloads(2, 3)
    finish()


main()
