#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What bad input gets: one line that names what is wrong, exit code 2, and nothing is started."""
import os
import socket
import subprocess
import sys

from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from harness import Program, check, check_equal, eal, finish, path_of, run, work_dir

SWITCH = {
    "switch": {"buffer_bytes": "1MB", "max_frame_bytes": "1518"},
    "buffer_profile lossless": {"xoff_bytes": "50KB"},
    "port 0": {"link_speed_bps": "10G"},
    "port 1": {"link_speed_bps": "10G"},
}
NIC = {
    "nic": {"mac": "02:00:00:00:00:01", "ip": "10.0.0.1", "link_speed_bps": "10G"},
    "flow a": {"peer_mac": "02:00:00:00:00:02", "peer_ip": "10.0.0.2", "peer_qpn": "18", "message_bytes": "64KB"},
}

PATIENT = NIC | {"nic": NIC["nic"] | {"local_ack_timeout": "0"}}  # nobody answers, and it does not give up

# role, section, key, value (None: leave the key out), words that the line must hold
WRONG_KEYS = [
    ("switch", "switch", "buffer_bytes", "12XB", ("[switch]", "buffer_bytes", "12XB", "expected")),
    ("switch", "switch", "buffer_byte", "12MB", ("[switch]", "buffer_byte", "buffer_bytes")),
    ("switch", "switch", "wred_queues", "9", ("[switch]", "wred_queues = 9", "expected")),
    ("switch", "switch", "pfc_generate", "maybe", ("[switch]", "pfc_generate = maybe", "expected")),
    ("switch", "switch", "buffer_bytes", "20KB", ("[buffer_profile lossless] xoff_bytes = 50KB", "exceeds buffer_bytes 20000")),
    ("switch", "port 0", "link_speed_bps", "0", ("[port 0]", "link_speed_bps = 0", "expected")),
    ("switch", "port 0", "link_speed_bps", None, ("[port", "link_speed_bps", "expected")),
    ("switch", "port 3", "link_speed_bps", "10G", ("port 2",)),
    ("switch", "port x", "link_speed_bps", "10G", ("[port x]", "expected")),
    ("switch", "wred", "green_min_threshold_bytes", "1GB", ("[wred]", "green_min_threshold_bytes")),
    ("switch", "pfc", "pfc_xoff_quanta", "70000", ("[pfc]", "pfc_xoff_quanta = 70000", "expected", "65535")),
    ("switch", "qos_map", "dscp_to_tc_map", "26:3", ("[qos_map]", "dscp_to_tc_map = 26:3", "expected")),
    ("switch", "pool", "backing_frame_bytes", "1", ("[pool]", "backing_frame_bytes = 1", "expected")),
    ("switch", "nonsense", "key", "1", ("nonsense",)),
    ("nic", "nic", "ip", "10.0.0.300", ("[nic]", "ip = 10.0.0.300", "expected")),
    ("nic", "nic", "mac", "02:00:00", ("[nic]", "mac = 02:00:00", "expected")),
    ("nic", "nic", "link_speed_bps", "10 parsecs", ("[nic]", "link_speed_bps = 10 parsecs", "expected")),
    ("nic", "rp", "rp_ai_rate_bps", "40X", ("[rp]", "rp_ai_rate_bps = 40X", "expected")),
    ("nic", "rp", "rp_min_rate_bps", "50G", ("[rp]", "rp_min_rate_bps")),
    ("nic", "rp", "rp_profile", "other", ("[rp]", "rp_profile = other", "expected", "paper")),
    ("nic", "np", "np_cnp_dscp", "64", ("[np]", "np_cnp_dscp = 64", "expected", "63")),
    ("nic", "flow a", "peer_ip", None, ("[flow a]", "peer_ip", "expected")),
    ("nic", "flow a", "mtu_bytes", "1500", ("[flow a]", "mtu_bytes = 1500")),
    ("nic", "flow a", "peer_ip", "fd00::1", ("[flow a]", "peer_ip")),
    ("nic", "flow a", "qp_count", "2000", ("[flow a]", "qp_count = 2000", "max_qps")),
]


def ini(sections):
    return "".join(f"[{s}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items()) for s, keys in sections.items())


def changed(role, section, key, value):
    sections = {s: dict(keys) for s, keys in (SWITCH if role == "switch" else NIC).items()}
    if value is None:
        del sections[section][key]
    else:
        sections.setdefault(section, {})[key] = value
    return ini(sections)


def one_line(what, done, code, words):
    lines = [line for line in done.stderr.splitlines()
             if line and not any(word in line for word in ("warning: ", "running: ", "virtual: "))]
    check(what, done.returncode == code and len(lines) == 1 and all(w in lines[0] for w in words),
          f"exit {done.returncode}, wanted {code} and {words}: {done.stderr!r}")


def wrong_files(work):
    for role, section, key, value, words in WRONG_KEYS:
        path = work / "wrong.ini"
        path.write_text(changed(role, section, key, value))
        what = f"quench-{role}: [{section}] {key} = {value}"
        one_line(what, run(path_of(role), "--config", path, "--check-config"), 2, (f"quench-{role}: error: {path}:", *words))
    # The same without --check-config: refused before EAL has started anything.
    one_line("the run is refused like the check", run(path_of("nic"), "--", "--config", path), 2, (str(path), "flow"))
    for what, content in (("a line without =", b"[switch]\nbuffer_bytes\n"), ("a key before any section", b"a = 1\n"),
                          ("an open section", b"[switch\n"), ("a zero byte", b"[switch]\n\0 = 1\n"), ("nothing", b"")):
        path.write_bytes(content)
        one_line(f"a file with {what}", run(path_of("switch"), "--config", path, "--check-config"), 2, (str(path),))


def doubts(work):
    """A sender that hears nothing its algorithm acts on: said, and not refused."""
    for cc, raw, warns in (("dctcp", "on", True), ("timely", "on", True), ("dctcp", "off", False), ("dcqcn", "on", False), ("none", "on", False)):
        path = work / "doubt.ini"
        path.write_text(ini({**NIC, "nic": {**NIC["nic"], "cc": cc}, "flow a": {**NIC["flow a"], "raw": raw}}))
        done = run(path_of("nic"), "--config", path, "--check-config")
        words = f"warning: [flow a] verb = write, raw = on: cc = {cc} acts on ACKs"
        check(f"cc = {cc}, raw = {raw}: {'a' if warns else 'no'} warning", done.returncode == 0 and (words in done.stderr) == warns, done.stderr)
    for rp, warns in (({"K": "50us"}, True), ({"K": "51us"}, False), ({"K": "50us", "rp_profile": "mlx"}, False)):
        path.write_text(ini({**NIC, "nic": {**NIC["nic"], "cc": "dcqcn"}, "rp": rp, "np": {"N": "50us"}}))
        done = run(path_of("nic"), "--config", path, "--check-config")
        words = "[rp] K = 50us: expected more than the 50 us of N in [np]"
        check(f"{rp}: {'a' if warns else 'no'} warning", done.returncode == 0 and (words in done.stderr) == warns and ("warning: " in done.stderr) == warns, done.stderr)



def wrong_usage(work):
    good = work / "good.ini"
    good.write_text(ini(SWITCH))
    missing = work / "missing.ini"
    two = eal("net_null0,no-rx=1", "net_null1,no-rx=1")
    one_line("a missing file", run(path_of("switch"), "--config", missing), 2, (str(missing), "No such file"))
    one_line("a folder", run(path_of("switch"), "--config", work), 2, (str(work),))
    one_line("no file", run(path_of("switch")), 2, ("--config",))
    one_line("an unknown option", run(path_of("switch"), *two, "--", "--config", good, "--speed", "1"), 2, ("--speed",))
    one_line("an unknown short option", run(path_of("nic"), "--", "-z"), 2, ("-z",))
    one_line("a wrong duration", run(path_of("switch"), *two, "--", "--config", good, "--duration", "soon"), 2,
             ("--duration soon", "seconds"))
    one_line("an extra argument", run(path_of("switch"), *two, "--", "--config", good, "more"), 2, ("more",))
    one_line("one device less than ports", run(path_of("switch"), *eal("net_null0,no-rx=1"), "--", "--config", good), 2,
             (str(good), "2 ports", "1 device"))
    one_line("no device at all", run(path_of("switch"), *eal(), "--", "--config", good), 2, ("2 ports", "0 devices"))
    nic = work / "nic.ini"
    nic.write_text(ini(NIC))
    one_line("two devices for a NIC", run(path_of("nic"), *two, "--", "--config", nic), 2, ("1 port", "2 devices"))
    done = run(path_of("switch"), *eal("net_af_packet0,iface=no-such-if", "net_null1"), "--", "--config", good)
    check("a device that is not there", done.returncode == 2 and "quench-switch: error" in done.stderr, done.stderr)


# Holds the claim of an interface as user nobody, until standard input ends.
SQUATTER = """
import os, socket, sys
os.setuid(65534)
holder = socket.socket(socket.AF_UNIX)
holder.bind("\\0quench/interface/" + sys.argv[1])
holder.listen(1)
print("held", flush=True)
sys.stdin.read()
"""


def squatted_interface(name, good):
    with subprocess.Popen([sys.executable, "-c", SQUATTER, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as squatter:
        squatter.stdout.readline()
        done = run(path_of("nic"), *eal(f"net_af_packet0,iface={name}"), "--", "--config", good)
        squatter.stdin.close()
    warned = [line for line in done.stderr.splitlines() if "warning" in line and f"interface {name}" in line]
    check("a claim of any other user keeps no program from its start", len(warned) == 1 and f"(pid {squatter.pid}) of user 65534" in warned[0] and
          "in use by" not in done.stderr, done.stderr)


def used_interface(work):
    """Two programs on one interface would both answer. This process holds it as a program does."""
    good = work / "nic.ini"
    good.write_text(ini(NIC))
    name = f"qif{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as holder:
        holder.bind(f"\0quench/interface/{name}")
        holder.listen(1)
        for option in ([f"--vdev=net_af_packet0,iface={name}"], ["--vdev", f"net_pcap0,rx_iface=other,tx_iface={name}"]):
            done = run(path_of("nic"), *eal(), *option, "--", "--config", good)
            one_line(f"an interface in use: {option[-1]}", done, 1, (f"interface {name} is in use by", f"(pid {os.getpid()})"))
    if os.geteuid() == 0:
        squatted_interface(name, good)
    done = run(path_of("nic"), *eal(f"net_af_packet0,iface={name}"), "--", "--config", good)
    check("and when it is free", done.returncode != 0 and "in use" not in done.stderr, done.stderr)


def used_prefix(work):
    """EAL's own words name a lock file. Here a prefix is of one program, as without --no-shconf."""
    for role, config, devices, more in (("nic", PATIENT, ["net_null0"], ["--stay"]), ("switch", SWITCH, ["net_ring0", "net_ring1"], [])):
        shared = [option for option in eal(*devices) if option not in ("--no-shconf", "--no-telemetry")] + ["--file-prefix", f"q{role}{os.getpid()}"]
        first = Program(work, role, f"first-{role}", ini(config), shared, *more, "--stats-interval", 0, "--idle-sleep", 1000)
        first.wait_started()
        done = run(path_of(role), *shared, "--", "--config", work / f"first-{role}.ini")
        said = f"quench-{role}: error: --file-prefix q{role}{os.getpid()} is in use by quench-{role} (pid {first.process.pid}): expected another name"
        check("a prefix in use: the last line names its program", done.returncode == 1 and done.stderr.splitlines()[-1:] == [said], (done.returncode, done.stderr))
        check_equal("the first one runs on", first.stop(), 0)


def used_devices(work):
    """What a device uses outside its process is of one program. Devices of net_ring use nothing there."""
    socket_path, tap = f"/run/quench-claims-{os.getpid()}", f"qtap{os.getpid() % 100000}"
    capture, server, client = work / "claimed.pcap", f"net_memif0,role=server,socket={socket_path}", f"net_memif0,role=client,socket={socket_path}"
    with_tap = os.geteuid() == 0 and os.path.exists("/dev/net/tun")
    devices = [server, f"net_pcap0,rx_pcap={capture},tx_pcap={work}/out.pcap", f"net_tap0,iface={tap}" if with_tap else "net_ring9", "net_ring0"]
    wrpcap(str(capture), Ether())
    sections = {**SWITCH, "port 2": SWITCH["port 0"], "port 3": SWITCH["port 0"]}
    holder = Program(work, "switch", "holder", ini(sections), eal(*devices), "--stats-interval", 0, "--idle-sleep", 1000)
    holder.wait_started()
    peer = Program(work, "nic", "peer", ini(PATIENT), eal(client, core=1), "--stay", "--stats-interval", 0, "--idle-sleep", 1000)
    peer.wait_started()
    os.chdir(work)
    os.symlink("out.pcap", "link.pcap")
    for device, words, by in ((server, f"role=server, id=0 of memif socket {socket_path}", holder), (client, f"role=client, id=0 of memif socket {socket_path}", peer),
                              ("net_pcap0,rx_iface=lo,tx_pcap=out.pcap", "file out.pcap", holder), ("net_pcap0,rx_iface=lo,tx_pcap=link.pcap", "file link.pcap", holder),
                              (f"net_tap0,iface={tap}", f"tap interface {tap}", holder)):
        if with_tap or "net_tap" not in device:
            done = run(path_of("nic"), *eal(device), "--", "--config", "peer.ini")
            one_line(f"a device in use: {device}", done, 1, (words, f"is in use by quench-{'nic' if by is peer else 'switch'} (pid {by.process.pid})"))
    (work / "rings.ini").write_text(ini(SWITCH))
    done = run(path_of("switch"), *eal("net_ring0", "net_ring1"), "--", "--config", "rings.ini", "--duration", "10ms")
    check_equal("rings are of each process", done.returncode, 0)
    os.symlink("none.pcap", "dangling.pcap")
    for first, second, words in (("net_pcap0,rx_iface=lo,tx_pcap=none.pcap", "net_pcap1,rx_iface=none,tx_pcap=dangling.pcap", "file dangling.pcap"),
                                 ("net_memif0,role=server,id=1,socket=/run/none", "net_memif1,id=1,role=server,socket=/run/none", "role=server, id=1 of memif socket /run/none"),
                                 ("net_pcap0,rx_iface=lo,tx_iface=lo", "net_pcap1,rx_iface=lo,tx_iface=none", "interface lo")):
        done = run(path_of("switch"), *eal(first, second), "--", "--config", "rings.ini", "--duration", "10ms")
        one_line(f"two devices: {second}", done, 1, (f"{words} is in use by {first.partition(',')[0]}, too",))
    done = run(path_of("switch"), *eal("net_pcap0,rx_iface=lo,tx_pcap=gone/a.pcap", "net_pcap1,rx_iface=none,tx_pcap=gone/b.pcap"), "--", "--config", "rings.ini")
    check("two files of a folder that is missing", done.returncode != 0 and "in use" not in done.stderr, done.stderr)
    check_equal("the holders run on", (peer.stop(), holder.stop()), (0, 0))


def no_hugepages(work):
    """What EAL says of them helps nobody who has none."""
    good = work / "nic.ini"
    good.write_text(ini(NIC))
    # A run-time folder of its own, for who may not write in /var/run.
    done = run(path_of("nic"), "-l", "0", "--no-pci", "--file-prefix", "none", "--huge-dir", work / "none", "--vdev",
               "net_null0", "--", "--config", good, env={**os.environ, "RUNTIME_DIRECTORY": str(work)})
    last = done.stderr.splitlines()[-1]
    check("without hugepages the last line says how to do without", done.returncode == 1 and
          "quench-nic: error: EAL does not start" in last and "--no-huge" in last, (done.returncode, done.stderr))


def few_files(work):
    """EAL panics, with a stack, when it finds no file for a pipe."""
    for role, sections in (("switch", SWITCH), ("nic", NIC)):
        path = work / "in.ini"
        path.write_text(ini(sections))
        for n in (10, 12, 24):
            done = run("prlimit", f"--nofile={n}:{n}", path_of(role), *eal("net_null0"), "--", "--config", path)
            one_line(f"quench-{role} with {n} files", done, 1, [f"at most {n} files may be open", "ulimit -n"])


def run_time(work):
    good = work / "good.ini"
    good.write_text(ini(SWITCH))
    two = eal("net_null0,no-rx=1", "net_null1,no-rx=1")
    if os.path.exists("/dev/full"):
        one_line("a full disk", run(path_of("switch"), *two, "--", "--config", good, "--duration", 0.1, "--stats-interval",
                                    0, "--json", "/dev/full"), 1, ("/dev/full", "No space left"))
    one_line("a folder that is not there", run(path_of("switch"), *two, "--", "--config", good, "--duration", 0.1,
                                               "--stats-interval", 0, "--json", work / "none" / "x.json"), 1, ("none",))
    big = work / "big.ini"
    for buffer, bytes_ in (("2GB", 2 * 10**9), ("1000GB", 10**12)):
        big.write_text(ini({**SWITCH, "switch": {**SWITCH["switch"], "buffer_bytes": buffer},
                            "pool": {"backing_frame_bytes": 64}}))
        done = run(path_of("switch"), *two, "--", "--config", big)
        check(f"a buffer of {buffer} without the memory behind it",
              done.returncode == 1 and f"[switch] buffer_bytes = {bytes_}: needs " in done.stderr and "GB are free (less with a smaller max_frame_bytes" in done.stderr, (done.returncode, done.stderr))


def answers(work):
    for role, sections in (("switch", SWITCH), ("nic", NIC)):
        for option, word in (("--help", "usage:"), ("--help-config", "link_speed_bps"), ("--version", f"quench-{role} ")):
            done = run(path_of(role), option)
            check(f"quench-{role} {option}", done.returncode == 0 and word in done.stdout and not done.stderr, done)
        path = work / "in.ini"
        path.write_text(ini(sections))
        first = run(path_of(role), "--config", path, "--check-config")
        check(f"quench-{role} --check-config prints what is in force", first.returncode == 0 and
              all(k in first.stdout for keys in sections.values() for k in keys), first)
        path.write_text(first.stdout)
        second = run(path_of(role), "--config", path, "--check-config")
        check(f"quench-{role}: which reads back the same", second.stdout == first.stdout, second)


def many_ports(work):
    """--check-config and the start say the same of 64 ports: an import may have so many, Debian's DPDK has 32 devices."""
    sections = {**SWITCH, "switch": {"buffer_bytes": "64MB", "max_frame_bytes": "1518"}, "port": {"link_speed_bps": "10G"}}
    path = work / "many.ini"
    path.write_text(ini(sections) + "".join(f"[port {i}]\n" for i in range(2, 64)))
    checked = run(path_of("switch"), "--config", path, "--check-config")
    started = run(path_of("switch"), *eal(), "--", "--config", path)
    words = "64 ports, but this DPDK is built for"
    check("--check-config accepts 64 ports", checked.returncode == 0, checked.stderr)
    check("a start without devices does not", started.returncode == 2, started.stderr)
    check_equal("both say whether this DPDK is built for that many", words in checked.stderr, words in started.stderr)


def main():
    work = work_dir()
    many_ports(work)
    answers(work)
    wrong_files(work)
    doubts(work)
    wrong_usage(work)
    no_hugepages(work)
    used_interface(work)
    used_prefix(work)
    used_devices(work)
    few_files(work)
    run_time(work)
    finish()


main()
