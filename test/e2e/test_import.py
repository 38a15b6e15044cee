#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl import: what it writes is what the programs read, and its exit code says if it was all."""
import difflib
import json
import os
import pathlib
import resource
import subprocess

from ctl import quenchctl
from harness import BUILD, PATIENCE_S, check, check_equal, finish, path_of, run, work_dir

CTL = BUILD / "app/quenchctl/quenchctl"
FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "imports"
CONFIG = FIXTURES.parent.parent / "config"
# fixture, dialect, role, exit code, words of a line on standard error
TABLE = [
    ("nxos-rocev2.txt", "nxos", "switch", 0, "changed or assumed: "),
    ("nxos-leaf.txt", "nxos", "switch", 3, "nxos-leaf.txt:11: match access-group name ROCE-ACL: only DSCP"),
    ("sonic-tor.json", "sonic", "switch", 0, "not about forwarding or buffering: "),
    ("sonic-brackets.json", "sonic", "switch", 0, "sonic-brackets.json: PORT lanes (2)"),
    ("mlnx-mlxconfig.txt", "mlnx", "nic", 3, "mlnx-mlxconfig.txt:11: NUM_OF_VFS 8: not a DCQCN setting"),
    ("mlnx-sysfs.txt", "mlnx", "nic", 0, "changed or assumed: "),
]


def accepted(role, ini):
    done = run(path_of(role), "--config", ini, "--check-config")
    check(f"{ini.name} passes --check-config", done.returncode == 0, done.stderr)
    return done.stdout


def check_imports(work):
    for name, dialect, role, code, words in TABLE:
        ini = work / f"{name}.ini"
        first = quenchctl("import", dialect, FIXTURES / name)
        second = quenchctl("--output", ini, "import", dialect, FIXTURES / name)
        check_equal(f"{name}: exit code", [first.returncode, second.returncode], [code, code])
        check(f"{name}: standard error", words in first.stderr, first.stderr)
        check(f"{name}: standard output and --output hold the same", ini.exists() and ini.read_text() == first.stdout)
        lost = [line for line in first.stderr.splitlines() if "not carried over: " in line]
        comments = [line for line in first.stdout.splitlines() if line.startswith("#   ")]
        for line in lost:
            text = line.split(f"{name}:", 1)[1].strip()
            check(f"{name}: in the INI too: {text}", any(text in c for c in comments))
        accepted(role, ini)
        piped = run(CTL, "import", dialect, "-", input=(FIXTURES / name).read_text())
        check_equal(f"{name}: from standard input", piped.stdout.splitlines()[4:], first.stdout.splitlines()[4:])


def in_force(ini):
    return accepted("switch", ini)


# Files like those of vendors' templates and guides: number of ports, and exit code of the import.
REAL = {
    "nxos-88.txt": (64, 3),
    "nxos-gpu-64x400.txt": (64, 3),
    "nxos-pod-36x400.txt": (36, 3),
    "nxos-storage-54.txt": (54, 3),
    "sonic-arista-24x100-lossy.json": (24, 3),
    "sonic-celestica-32x100.json": (33, 0),
    "sonic-dell-56x50x100.json": (58, 0),
    "sonic-innovium-64x100.json": (64, 3),
    "sonic-marvell-54.json": (54, 0),
    "sonic-nokia-36.json": (36, 0),
    "sonic-quanta-56x25x100.json": (56, 0),
    "sonic-spectrum-32x100.json": (32, 3),
    "sonic-spectrum-56.json": (56, 3),
    "sonic-spectrum4-64x800-dynamic.json": (64, 3),
    "sonic-tofino-32x100.json": (32, 0),
    "sonic-tomahawk5-130x400.json": (64, 3),
    "sonic-trident3-32x100-dualtor.json": (34, 3),
    "sonic-wistron-32x100.json": (32, 3),
}


def sections_of(ini):
    found, keys = {}, {}
    for line in ini.splitlines():
        if line.startswith("["):
            keys = found.setdefault(line[1:-1], {})
        elif " = " in line and not line.startswith("#"):
            key, value = line.split("#")[0].split(" = ")
            keys[key.strip()] = value.strip()
    return found


def size_of(text):
    units = {"B": 1, "KB": 1000, "MB": 1000000, "GB": 1000000000}
    digits = text.rstrip("BKMG")
    return int(float(digits) * units.get(text[len(digits):], 1))


def headroom_in_force(ini, port, pg):
    sections = sections_of(ini)
    name = "default"
    for section in (f"pg {pg}", f"pg {port}|{pg}"):
        name = sections.get(section, {}).get("buffer_profile", name)
    return size_of(sections["buffer_profile " + ("lossless" if name == "default" else name)]["xoff_bytes"])


def headroom_of_tables(tables, port, pg):
    """xoff of the profile that SONiC's tables give a group; 0: SONiC computes it."""
    xoff = 0
    for key, entry in tables["BUFFER_PG"].items():
        ports, groups = key.split("|")
        first, last = groups.split("-")[0], groups.split("-")[-1]
        if port in ports.split(",") and int(first) <= pg <= int(last):
            name = entry["profile"].strip("[]").split("|")[-1]
            xoff = int(tables["BUFFER_PROFILE"].get(name, {}).get("xoff", 0))
    return xoff


def check_headroom(path, checked, warnings):
    """A lossless group has the headroom of its tables; those without one have what the formula says."""
    tables = json.loads(path.read_text())
    names = sorted(tables["PORT"], key=lambda name: int(name.lstrip("Ethernet")))[:64]
    computed, given_any = 0, False
    for key, entry in tables["PORT_QOS_MAP"].items():
        for pg in (int(pg) for pg in entry.get("pfc_enable", "").split(",") if pg):
            for port in (i for i, name in enumerate(names) if name in key.split(",")):
                given, got = headroom_of_tables(tables, names[port], pg), headroom_in_force(checked, port, pg)
                computed += given == 0
                given_any |= given > 0
                if got != given if given else got == 0:
                    check(f"{path.name}: headroom of group {pg} of port {port}", False, f"{got}, not {given}")
    if computed > 0 and not given_any:
        check(f"{path.name}: --check-config finds the computed headroom large enough", "xoff_bytes" not in warnings, warnings)


def check_real(work):
    """Each file gives the INI and the report beside it. QUENCH_WRITE_IMPORTS=1 writes them."""
    seen = 0
    for path in sorted((FIXTURES / "real").glob("*.[jt]*")):
        dialect, kept, ini = path.name.split("-")[0], path.with_suffix(".ini"), work / path.with_suffix(".ini").name
        done = quenchctl("-o", ini, "import", dialect, path)
        n_ports, code = REAL[path.name]
        check_equal(f"{path.name}: exit code", done.returncode, code)
        check_equal(f"{path.name}: ports", ini.read_text().count("\n[port "), n_ports)
        if os.environ.get("QUENCH_WRITE_IMPORTS"):
            kept.write_text(ini.read_text())
        changes = list(difflib.unified_diff(kept.read_text().splitlines(), ini.read_text().splitlines(), "kept", "now", "", "", 0, ""))
        check(f"{path.name}: INI and report", not changes, "\n".join(changes))
        done = run(path_of("switch"), "--config", ini, "--check-config")
        check(f"{path.name}: passes --check-config", done.returncode == 0, done.stderr)
        if dialect == "sonic":
            check_headroom(path, done.stdout, done.stderr)
        seen += 1
    check_equal("all files were there", seen, len(REAL))


def check_ports(work):
    """A file of 88 ports runs on two devices."""
    path = FIXTURES / "real/nxos-88.txt"
    ini = work / "two.ini"
    done = quenchctl("-o", ini, "--ports", "Ethernet1/1,1/88", "import", "nxos", path)
    check("two ports are all that is taken", done.returncode == 0 and ini.read_text().count("\n[port ") == 2, done.stderr)
    accepted("switch", ini)
    refused("a port that is not there", 2, ("--ports Ethernet1/89", "a port of the file"),
            "--ports", "Ethernet1/89", "import", "nxos", path)
    refused("more ports than a switch has", 2, ("--ports", "at most 64 ports of the file"), "--ports", "Ethernet1/1-65", "import", "nxos", path)
    refused("a wrong list", 2, ("--ports 65", "64 ports"), "--ports", "65", "import", "nxos", path)
    refused("--ports of a show", 2, ("--ports", "import"), "--ports", "2", "show", "info")
    refused("--ports of mlx5", 2, ("--ports", "import"), "--ports", "2", "import", "mlnx", FIXTURES / "mlnx-sysfs.txt")


def check_exports(work):
    """What goes to SONiC's tables and back is the same switch, but for what was named."""
    example = CONFIG / "tor-sonic-example.ini"
    out, back = work / "out.json", work / "back.ini"
    done = quenchctl("-o", out, "export", "sonic", example)
    check("the example of SONiC's tables goes there whole", done.returncode == 0, done.stderr)
    check_equal("and comes back whole", quenchctl("-o", back, "import", "sonic", out).returncode, 0)
    check_equal("it is the same switch", in_force(back), in_force(example))
    done = quenchctl("-o", out, "export", "sonic", CONFIG / "tor-nxos-example.ini")
    check_equal("what has no words is named", [line.split("config/")[-1] for line in done.stderr.splitlines()
                if "not carried over" in line],
                ["tor-nxos-example.ini: [tc 3] mtu_bytes = 9216B: no counterpart in SONiC's tables"])
    check_equal("with its exit code", done.returncode, 3)
    for name in ("sonic-tor.json", "sonic-brackets.json", "real/sonic-spectrum-32x100.json"):
        first = work / f"first-{name.split('/')[-1]}.ini"
        quenchctl("-o", first, "import", "sonic", FIXTURES / name)
        done = quenchctl("-o", out, "export", "sonic", first)
        check(f"{name}: what came from SONiC goes back whole", done.returncode == 0, done.stderr)
        quenchctl("-o", back, "import", "sonic", out)
        check_equal(f"{name}: it is the same switch", in_force(back), in_force(first))
    wrong = work / "wrong.ini"
    wrong.write_text("[port 0]\nlink_speed_bps = 1X\n")
    refused("a wrong INI", 2, (str(wrong), "[port 0] link_speed_bps = 1X: expected"), "export", "sonic", wrong)


def refused(what, code, words, *command, runs=quenchctl):
    done = runs(*command)
    check(f"{what} is refused in one line", done.returncode == code and done.stdout == "" and
          len(done.stderr.splitlines()) == 1 and all(w in done.stderr for w in words), done)


def check_refusals(work):
    bad = work / "bad.txt"
    bad.write_text("policy-map type queuing Q\n  class type queuing c-out-8q-q3\n    bandwidth percent 101\n"
                   "system qos\n  service-policy type queuing output Q\ninterface Ethernet1/1\n")
    refused("a value out of range", 2, (f"{bad}:3: bandwidth percent 101: expected", "0 to 100"), "import", "nxos", bad)
    other = work / "other.txt"
    other.write_text("set class-of-service interfaces et-0/0/0 scheduler-map X\n")
    refused("another dialect", 2, (str(other), "expected a running-config of NX-OS"), "import", "nxos", other)
    cut = work / "cut.json"
    cut.write_text((FIXTURES / "sonic-tor.json").read_text()[:3000])
    refused("a truncated JSON", 2, (f"{cut}:", "expected a complete config_db.json"), "import", "sonic", cut)
    refused("SONiC's file as NX-OS's", 2, ("expected a running-config",), "import", "nxos", FIXTURES / "sonic-tor.json")
    refused("NX-OS's file as SONiC's", 2, (":1: ", "config_db.json"), "import", "sonic", FIXTURES / "nxos-leaf.txt")
    refused("NX-OS's file as mlx5's", 2, ("mlxconfig",), "import", "mlnx", FIXTURES / "nxos-leaf.txt")
    refused("a missing file", 2, ("none.txt", "No such file"), "import", "nxos", work / "none.txt")
    refused("a folder", 2, (str(work), "Is a directory"), "import", "nxos", work)
    refused("an unknown dialect", 2, ("junos", "nxos"), "import", "junos", bad)
    refused("no file", 2, ("FILE",), "import", "nxos")
    refused("--output of a show", 2, ("--output", "import"), "--output", bad, "show", "info")
    refused("--json of an import", 2, ("import", "--output"), "--json", "import", "nxos", bad)
    refused("--watch of an import", 2, ("--watch", "show"), "--watch", "import", "nxos", bad)
    large = work / "large.json"
    large.write_text('{"PORT": [' + "[]," * (2 << 20) + "[]]}")
    refused("a file that needs more memory than there is", 1, (f"{large}: out of memory",), "import", "sonic", large,
            runs=lambda *words: run(CTL, *words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (128 << 20, 128 << 20))))
    kept = work / "kept.ini"
    kept.write_text("was here\n")
    refused("what is refused leaves the output alone", 2, ("expected",), "-o", kept, "import", "nxos", bad)
    check_equal("the output is what it was", kept.read_text(), "was here\n")
    done = quenchctl("-o", work / "none" / "x.ini", "import", "nxos", FIXTURES / "nxos-rocev2.txt")
    check("a folder that is not there", done.returncode == 1 and "cannot be written" in done.stderr, done.stderr)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([CTL, "import", "nxos", FIXTURES / "nxos-leaf.txt"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        check("a full disk", done.returncode == 1 and "No space left" in done.stderr, done)


def check_outputs(work):
    """A regular file is replaced whole; what is no file stays what it is."""
    pipe = work / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        done = quenchctl("-o", pipe, "import", "nxos", FIXTURES / "nxos-rocev2.txt")
        got = reader.communicate(timeout=PATIENCE_S)[0]
    check("--output of a pipe is written into it", done.returncode == 0 and "[qos_map]" in got, done.stderr)
    check("and it is a pipe still", pipe.is_fifo())
    beside = work / "x.ini.new"
    beside.write_text("mine\n")
    quenchctl("-o", work / "x.ini", "import", "nxos", FIXTURES / "nxos-rocev2.txt")
    check_equal("files beside the output are left alone", beside.read_text(), "mine\n")
    done = quenchctl("-o", "-", "import", "nxos", FIXTURES / "nxos-rocev2.txt", cwd=work)
    check("--output - is standard output", "[qos_map]" in done.stdout and not (work / "-").exists(), done.stderr)


def check_inputs(work):
    """Files as they come from other systems."""
    for name, dialect in (("nxos-leaf.txt", "nxos"), ("sonic-tor.json", "sonic"), ("mlnx-mlxconfig.txt", "mlnx")):
        text = (FIXTURES / name).read_bytes()
        plain = quenchctl("import", dialect, FIXTURES / name)
        other = work / name
        for what, changed in (("a byte order mark", b"\xef\xbb\xbf" + text), ("CR LF", text.replace(b"\n", b"\r\n"))):
            other.write_bytes(changed)
            done = quenchctl("import", dialect, other)
            check_equal(f"{name} with {what}", [done.returncode, done.stdout], [plain.returncode, plain.stdout])
    secret = work / "secret.txt"
    secret.write_text("username admin password 5 $5$HASH role network-admin\nsnmp-server user x auth md5 HASH priv HASH\n"
                      "radius-server host 10.0.0.1 key 7 HASH\n" + (FIXTURES / "nxos-leaf.txt").read_text())
    done = quenchctl("import", "nxos", secret)
    check("no secret of the device leaves its file", "HASH" not in done.stdout + done.stderr)
    check("the lines are counted", all(w in done.stdout for w in ("username", "snmp-server", "radius-server")),
          done.stdout[:500])
    tables = json.loads((FIXTURES / "sonic-tor.json").read_text())
    port = next(iter(tables["PORT"].values()))
    tables["PORT"] = {f"Ethernet{4 * i}": {**port, "lanes": str(i)} for i in range(32)}
    many = work / "many.json"
    many.write_text(json.dumps({"PORT": tables["PORT"]}))
    done = quenchctl("import", "sonic", many)
    check("what all ports have is named once", "PORT lanes (32)" in done.stderr, done.stderr)


def main():
    work = work_dir()
    check_outputs(work)
    check_inputs(work)
    check_imports(work)
    check_real(work)
    check_ports(work)
    check_exports(work)
    check_refusals(work)
    finish()


main()
