#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Any number of ranks and threads gives the same run, to the byte: test_ranks.py LAB CONFIG_DIR CASE

QUENCH_MPI=mpich takes MPICH instead of Open MPI. Skipped if there is none of it, or if quench-lab was built without.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from harness import PATIENCE_S, until  # noqa: E402
from scenarios import expect, section, with_config, write_scenario

LAB = pathlib.Path(sys.argv[1])
MPICH = os.environ.get("QUENCH_MPI") == "mpich" or sys.argv[3] == "mpich"
# Ranks share cores: whoever waits gives way. Neither a network nor a daemon is needed on one machine.
MPIRUN = ["mpirun.mpich"] if MPICH else [
    "mpirun", "--oversubscribe", "--allow-run-as-root", "--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,vader",
    "--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "plm", "isolated", "--mca", "orte_tmpdir_base", tempfile.gettempdir()]
# The processes of this test, whoever has started them.
os.environ["QUENCH_RANKS_TEST"] = str(os.getpid())


def start(ranks, *options, **kw):
    """A process of mpirun, or with one rank of quench-lab itself."""
    with_ranks = [] if ranks == 1 else [*MPIRUN, "-n", str(ranks)]
    return subprocess.Popen([*with_ranks, LAB, "--no-progress", *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)


def start_each(*options):
    """A process of mpirun with one rank for each list of options."""
    words = [[":", "-n", "1", LAB, "--no-progress", *map(str, own)] for own in options]
    return subprocess.Popen([*MPIRUN, *sum(words, [])[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def files(ranks, threads, scenario, *options):
    """Name and content of each file of a run, without real times and memory, and what it says on standard output."""
    with tempfile.TemporaryDirectory(prefix="quench-ranks-") as folder:
        lab = start(ranks, "--quiet", "--threads", threads, "--out", folder, *options, scenario)
        said, err = lab.communicate(timeout=PATIENCE_S)
        expect(lab.returncode == 0, f"{ranks} ranks, {threads} threads: {err}")
        found = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()} | {"standard output": said.encode()}
    results = json.loads(found.get("results.json", "{}"))
    for key in ("wall_seconds", "packet_hops_per_second", "memory"):
        results.pop(key, None)
    return {**found, "results.json": results}


def differences(one, many):
    """The keys of results that differ, and the first different line of each file."""
    for name in sorted(set(one) | set(many)):
        if name not in one or name not in many:
            yield f"{name}: missing"
        elif name == "results.json":
            yield from (f"{name}: {key}" for key in one[name] if one[name][key] != many[name].get(key))
        elif one[name] != many[name]:
            lines = zip(one[name].splitlines(), many[name].splitlines())
            yield f"{name}: {next(((a, b) for a, b in lines if a != b), 'lengths')}"


def same(scenario, *options, shapes=((3, 1), (2, 2))):
    one = files(1, 1, scenario, *options)
    for ranks, threads in shapes:
        found = list(differences(one, files(ranks, threads, scenario, *options)))
        expect(not found, f"{pathlib.Path(scenario).name}: {ranks} ranks, {threads} threads", found[:8])
    return one


LEAF_SPINE = {"topology": "leaf_spine", "leaves": 4, "spines": 2, "hosts": 16, "link_rate_bps": "25G", "core_rate_bps": "50G", "duration_ns": "500us",
              "measure_from_ns": "100us", "sample_ns": "20us", "link_delay_ns": "1us", "reroute_after_ns": "20us"}
LOSSLESS = """
[switch]
buffer_bytes = 1MB
pfc_generate = on
[nic]
flow_control = pfc
"""


def written(case):
    """Run a case with a file for its scenario."""
    with tempfile.TemporaryDirectory(prefix="quench-ranks-") as folder:
        case(pathlib.Path(folder) / "all.ini")


def incast(_program, config):
    same(f"{config}/incast-4to1.ini", "--duration", "300us", "--set", "fabric.measure_from_ns=100us", "--trace", "incast", shapes=((2, 1), (4, 2)))


def leaf_spine(_program, _config):
    def case(path):
        flows = section("flow", "all", pattern="permutation", src="all", message_bytes="64KB", arrival="poisson", load_bps="4G") \
            + section("flow", "reads", src="1-3", dst=9, verb="read", message_bytes="20KB", seed=3)
        one = same(write_scenario(path, {**LEAF_SPINE, "messages_csv": "on"}, LOSSLESS + flows))
        expect(one["messages.csv"].count(b"\n") > 50, "messages", one["messages.csv"].count(b"\n"))
    written(case)


def telemetry(_program, _config):
    """In-band telemetry: with a slot for each switch, a frame is longer than its MTU and headers, and crosses whole."""
    def case(path):
        flow = section("flow", "in", src="1-5", dst=16, message_bytes="64KB")
        one = same(write_scenario(path, {**LEAF_SPINE, "duration_ns": "200us"}, LOSSLESS + "cc = hpcc\n" + flow), shapes=((2, 1), (3, 1)))
        expect(sum(flow["messages_completed"] for flow in one["results.json"]["flows"]) > 2, "messages over two leaves")
    written(case)


def losses(_program, _config):
    """Each fault, also on cables between ranks."""
    def case(path):
        rest = LOSSLESS + section("flow", "all", pattern="permutation", src="all", message_bytes="64KB", arrival="poisson", load_bps="4G") \
            + section("event", "loss", action="loss", at_ns="100us", for_ns="200us", node="leaf1", port="spine1", frame_ppb=5000000) \
            + section("event", "bad", action="corrupt", at_ns="100us", node="leaf2", port="spine2", frame_ppb=20000000) \
            + section("event", "late", action="reorder", at_ns="50us", node="spine1", port="leaf3", frame_ppb=20000000, reorder_frames=3, delay_ns="2us") \
            + section("event", "cut", action="link_down", at_ns="300us", for_ns="50us", node="leaf1", port="spine1") \
            + section("event", "storm", action="pause_storm", at_ns="120us", for_ns="100us", node="h11") \
            + section("event", "slow", action="slow_receiver", at_ns="150us", for_ns="100us", node="h7", drain_rate_bps="2G") \
            + section("event", "frame", action="send", at_ns="160us", node="h9", count=50, rate_bps="1G", frame="ffffffffffff020000000009" + "0806" + "00" * 60) \
            + section("event", "again", action="switch_restart", at_ns="400us", for_ns="30us", node="spine2")
        same(write_scenario(path, LEAF_SPINE, rest))
    written(case)


def events(_program, _config):
    """What an operator does: changes of keys, which also make a switch's tables anew, dumps."""
    def case(path):
        rest = LOSSLESS + section("flow", "all", pattern="permutation", src="all", message_bytes="64KB", arrival="poisson", load_bps="4G") \
            + section("event", "set", action="set", at_ns="200us", set="wred.Kmin=50KB") \
            + section("event", "table", action="set", at_ns="210us", for_ns="20us", set="switch.fdb_entries=64, pfcwd.pfcwd=sonic, switch.mark_at=enqueue") \
            + section("event", "dump", action="dump", at_ns="250us") \
            + section("event", "clear", action="clear_watermarks", at_ns="300us")
        same(write_scenario(path, LEAF_SPINE, rest))
    written(case)


def unequal(_program, _config):
    """Short cables at the hosts, long ones between switches: of whole switches, only these decide how often processes meet."""
    def case(path):
        rest = LOSSLESS + section("flow", "all", pattern="permutation", src="all", message_bytes="64KB", arrival="poisson", load_bps="4G") \
            + "".join(section("link", f"at{leaf}", ends=f"h{2 * leaf - 1}-h{2 * leaf} leaf{leaf}", link_delay_ns="50ns") for leaf in range(1, 17)) \
            + "".join(section("event", f"near{spine}", action="delay", at_ns="200us", for_ns="100us", node="leaf1", port=f"spine{spine}", delay_ns="20ns")
                      for spine in (1, 2)) \
            + section("event", "far", action="delay", at_ns="350us", node="spine2", port="leaf3", delay_ns="9us")
        write_scenario(path, LEAF_SPINE | {"leaves": 16, "spines": 4, "hosts": 32, "sample_ns": "100us"}, rest)
        same(path, shapes=((2, 1), (2, 2), (4, 1)))
        for duration_us in (200, 500):
            _, err = ended(start(2, path, "--duration", f"{duration_us}us"))
            meetings = int(err.split(" windows, with ")[0].rsplit(" ", 1)[1])
            # A frame takes a little more than 1 us, and of the cables that were moved, for 100 us, 34 ns. Progress stops 100 times.
            expect(100 < meetings < (320 if duration_us == 200 else 620 + 100 / 0.03), "meetings of the processes", err)
            expect(duration_us == 200 or meetings > 1000, "meetings after the change, which concerns a cable between the two: spines are in turn of each", err)
    written(case)


def jobs(_program, config):
    """Ranks of jobs at other ranks of the run, beside a flow, and on servers."""
    def case(path):
        job = section("job", "ring", collective="all_reduce", bytes="16KB", iterations=2, compute_ns="10us") \
            + section("flow", "beside", src="1-3", dst=9, message_bytes="64KB", messages=3)
        one = same(write_scenario(path, LEAF_SPINE, LOSSLESS + job))
        expect(one["jobs.csv"].count(b"\n") > 2, "iterations", one["jobs.csv"])
        small = [word for name in ("gradients", "experts") for word in ("--set", f"job {name}.bytes=256KB")]
        same(f"{config}/job-servers.ini", "--duration", "300us", *small, "--set", "job experts.start_ns=50us", shapes=((3, 1),))
    written(case)


def waits(_program, _config):
    """Flows that wait for others at other ranks, and rounds that they begin together."""
    def case(path):
        rest = LOSSLESS + section("flow", "first", src="1-3", dst=9, message_bytes="64KB", messages=2) \
            + section("flow", "second", src="5-7", dst=2, message_bytes="64KB", messages=2, after="first") \
            + section("flow", "left", src="10", dst=3, message_bytes="32KB", messages=4, barrier="both") \
            + section("flow", "right", src="15", dst=4, message_bytes="96KB", messages=4, barrier="both")
        one = same(write_scenario(path, LEAF_SPINE, rest))
        done = {flow["name"].split()[0]: flow["messages_completed"] for flow in one["results.json"]["flows"]}
        expect(done == {"first": 2, "second": 2, "left": 4, "right": 4}, "not all flows have ended", done)
    written(case)


def streams(_program, config):
    same(f"{config}/streams.ini", "--duration", "100us", "--set", "fabric.measure_from_ns=0", shapes=((2, 2),))


def explained(_program, config):
    """What --explain says of all nodes: the pauses, the queues."""
    for word in ("pauses", "hot"):
        said = []
        for ranks in (1, 2):
            lab = start(ranks, "--threads", 1, "--duration", "300us", "--set", "fabric.measure_from_ns=0", "--explain", word, f"{config}/experiments/congestion-spreading.ini")
            said.append(ended(lab)[0])
        expect(said[0] == said[1] and said[0] not in ("", "no pauses\n", "no queues\n"), f"--explain {word}", said)


def shipped(_program, config):
    """The other scenarios of scripts/same-digest."""
    for name, duration in (("incast-4to1-no-pfc.ini", "700us"), ("incast-4to1-timely.ini", "700us"), ("read-4to1.ini", "700us"), ("websearch-poisson.ini", "700us"),
                           ("slow-receiver.ini", "500us"), ("experiments/fig4-victim.ini", "300us"), ("experiments/congestion-spreading.ini", "300us"),
                           ("experiments/sec7-loss.ini", "700us"), ("leaf-spine-256.ini", "20us")):
        same(f"{config}/{name}", "--duration", duration, "--set", "fabric.measure_from_ns=0", "--seed", "7", shapes=((2, 2), (8, 1)))


def drawn(_program, _config):
    """Fabrics of the lives (test/life), whose events and flows are drawn; QUENCH_RANKS_SEEDS=20-30 chooses others."""
    shapes = (((2, 1), (3, 2)), ((8, 1), (2, 2)), ((4, 1), (8, 2)), ((3, 1), (4, 2)))
    first, _, last = os.environ.get("QUENCH_RANKS_SEEDS", "1-4").partition("-")
    life = LAB.parents[2] / "test" / "life" / "life"
    with tempfile.TemporaryDirectory(prefix="quench-ranks-") as folder:
        for seed in range(int(first), int(last or first) + 1):
            path = pathlib.Path(folder) / f"life{seed}.ini"
            path.write_bytes(subprocess.run([life, "fabric", "--print", str(seed)], stdout=subprocess.PIPE, check=True).stdout)
            same(path, "--duration", "500us", shapes=shapes[seed % len(shapes)])


def ended(lab):
    try:
        return lab.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        lab.kill()
        expect(False, "the run did not end")
        return lab.communicate()


def processes():
    """The ranks that run, by rank."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            names = dict(word.split("=", 1) for word in (folder / "environ").read_text(errors="replace").split("\0") if "=" in word)
        except OSError:
            continue
        rank = names.get("PMI_RANK" if MPICH else "OMPI_COMM_WORLD_RANK")
        if rank is not None and names.get("QUENCH_RANKS_TEST") == os.environ["QUENCH_RANKS_TEST"]:
            found[int(rank)] = int(folder.name)
    return found


def lives(pid):
    """Does a process run, and not only wait for a parent to ask for its end?"""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def endless(config, folder, ranks=3):
    """A run of several ranks that has begun, and its processes."""
    lab = start(ranks, "--duration", "60s", "--out", folder, f"{config}/incast-4to1.ini")
    rows = pathlib.Path(folder) / "flows.csv.part"
    expect(until(lambda: rows.exists() and rows.stat().st_size > 4096), "the run does not begin")
    return lab, processes()


def killed(_program, config):
    """All ranks end with one, whichever it is, and with the launcher; the files of an earlier run stay, beside unfinished ones."""
    for victim in (0, 2, "launcher"):
        with tempfile.TemporaryDirectory(prefix="quench-ranks-") as folder:
            earlier = pathlib.Path(folder) / "results.json"
            earlier.write_text("earlier", encoding="utf-8")
            lab, started = endless(config, folder)
            os.kill(lab.pid if victim == "launcher" else started[victim], signal.SIGKILL)
            err = "".join(ended(lab))
            expect(lab.returncode != 0, f"{victim}: exit code", lab.returncode)
            # MPICH's launcher may name one of those that it has ended because of the first.
            name = "BAD TERMINATION" if MPICH else f"rank {victim} "
            expect(victim == "launcher" or name in err, f"rank {victim} is not named", err)
            expect(earlier.read_text(encoding="utf-8") == "earlier", "an earlier file has changed")
            left = {path.name for path in pathlib.Path(folder).iterdir() if path != earlier}
            expect("flows.csv.part" in left and all(name.endswith(".part") for name in left), "files that look complete", left)
            expect(until(lambda: not any(map(lives, started.values()))), "processes are left", started)


def stopped(_program, config):
    """A signal to the launcher, as by Ctrl-C, or to one rank ends all of them, and no file is left."""
    for to in ("launcher", "rank"):
        with tempfile.TemporaryDirectory(prefix="quench-ranks-") as folder:
            lab, started = endless(config, folder)
            os.kill(lab.pid if to == "launcher" else started[1], signal.SIGINT if to == "launcher" else signal.SIGTERM)
            _, err = ended(lab)
            expect(lab.returncode != 0, f"{to}: exit code", lab.returncode)
            if to == "rank":
                said = [line for line in err.splitlines() if "quench-lab: error: stopped by a signal: no results are written" in line]
                expect(len(said) == 1, f"{to}: {len(said)} lines", err)
                expect(not list(pathlib.Path(folder).iterdir()), "files are left", list(pathlib.Path(folder).iterdir()))
            expect(not (pathlib.Path(folder) / "results.json").exists(), "results of a run that did not end")


def full_disk(_program, config):
    """What rank 0 cannot write, it says, and all ranks end."""
    lab = start(2, "--quiet", "--duration", "200us", "--set", "fabric.measure_from_ns=0", "--json", "/dev/full", f"{config}/incast-4to1.ini")
    _, err = ended(lab)
    said = [line for line in err.splitlines() if line.startswith("quench-lab: error: /dev/full: ")]
    expect(lab.returncode != 0 and len(said) == 1, "an error line", err)


def watched(_program, _config):
    """Recordings of ports at several ranks, and why a flow, or a job, was slow."""
    def case(path):
        rest = LOSSLESS + section("flow", "many", src="1-8", dst=9, message_bytes="64KB", messages=3) \
            + section("record", "host", node="h9") + section("record", "core", node="leaf1", port="spine1", snap_bytes=80) \
            + section("event", "loss", action="loss", at_ns="100us", for_ns="100us", node="leaf1", port="h1", frame_ppb=50000000) \
            + section("event", "set", action="set", at_ns="200us", for_ns="50us", set="wred.Kmin=50KB")
        one = same(write_scenario(path, LEAF_SPINE, rest), "--explain", "many h1", "--all", shapes=((3, 1), (2, 2), (1, 4)))
        said = one["standard output"].decode()
        expect(all(word in said for word in ("leaf3 port", "sent again", "wred.Kmin", "holds")), "a story of marks, losses, changes and pauses", said)
        expect(min(len(one[name]) for name in ("host.pcapng", "core.pcapng")) > 10000, "frames", {name: len(text) for name, text in one.items()})
    written(case)


def watched_job(_program, _config):
    def case(path):
        job = section("job", "ring", collective="all_reduce", bytes="64KB", iterations=2, compute_ns="10us") \
            + section("flow", "beside", src="1-3", dst=9, message_bytes="64KB", messages=3) + section("record", "host", node="h9")
        one = same(write_scenario(path, LEAF_SPINE, LOSSLESS + job), "--explain", "job ring", "--all", "--alone", shapes=((3, 1), (1, 4)))
        expect("job ring" in one["standard output"].decode() and one["results.json"]["explained_job"], "an explanation", one["standard output"])
        expect(one["jobs_alone.csv"].count(b"\n") > 1, "iterations alone", one["jobs_alone.csv"])
    written(case)


def refused(_program, config):
    """What a run of one process refuses, several ranks refuse too, and all end."""
    lab = start(2, "--explain", "nobody", f"{config}/incast-4to1.ini")
    _, err = ended(lab)
    said = [line for line in err.splitlines() if line.startswith("quench-lab: error:")]
    expect(lab.returncode != 0 and len(said) == 1 and "--explain nobody: expected a flow of the run" in said[0], "one line", err)


def agreed(_program, config):
    """Ranks that cannot begin the same run end before it, with a line of one of them; of what needs no run, one does it."""
    run = ["--quiet", "--duration", "100us", "--set", "fabric.measure_from_ns=0", f"{config}/incast-4to1.ini"]
    job = f"{config}/job-all-reduce.ini"
    with tempfile.TemporaryDirectory(prefix="quench-ranks-") as folder:
        traces = [pathlib.Path(folder) / str(i) / "all.ini" for i in range(2)]
        for i, path in enumerate(traces):
            path.parent.mkdir()
            (path.parent / "trace.csv").write_text(f"1,2,{1000 + i},0\n", encoding="utf-8")
            write_scenario(path, LEAF_SPINE, section("flow", "f", pattern="trace", trace="trace.csv"))
        missing = f"{folder}/missing.ini"
        differs = "process 1 has another scenario, other options or another quench-lab than process 0"
        for word, each in (("process 1: " + missing, [run, [*run[:-1], missing], [*run[:-1], missing]]), (missing, [[*run[:-1], missing], run]),
                           (differs, [run, [*run, "--seed", "2"], run]), (differs, [run, [*run, "--json", "/dev/null"]]), (differs, [run, [*run, "--threads", "2"]]),
                           (differs, [[*run[:-1], path] for path in traces]), ('--explain "job nobody"', [["--explain", "job nobody", job]] * 2),
                           ("--alone", [["--alone", *run]] * 2), ("--goal nobody", [["--goal", "nobody", job]] * 2)):
            lab = start_each(*each)
            _, err = ended(lab)
            said = [line for line in err.splitlines() if line.startswith("quench-lab: ")]
            expect(lab.returncode == 2 and len(said) == 1 and said[0].startswith(f"quench-lab: error: {word}"), f"one line: {word}", (lab.returncode, err))
    for options in (["--check-config", job], ["--goal", "ring", job], ["--fluid", *run[1:]]):
        one, two = ended(start(1, *options))[0], ended(start(2, *options))[0]
        expect(one == two != "", f"{options[0]} of two", (len(one), len(two)))
    doubtful = ["--duration", "10us", "--set", "flow incast.rate_cap_bps=1", f"{config}/live-parameters.ini"]
    said = [sorted(line for line in ended(start(ranks, *doubtful))[1].splitlines() if "warning: " in line) for ranks in (1, 2)]
    expect(said[0] == said[1] != [], "warnings of two", said)


def mpich(program, config):
    """The same with MPICH."""
    small = ("--duration", "100us", "--set", "fabric.measure_from_ns=0")
    same(f"{config}/incast-4to1.ini", *small, shapes=((3, 1),))
    killed(program, config)


if shutil.which(MPIRUN[0]) is None or not (LAB.parent / ("quench-lab-mpich.so" if MPICH else "quench-lab-mpi.so")).exists():
    print(f"SKIP: no {MPIRUN[0]}, or quench-lab was built without: scripts/install-deps mpi")
    sys.exit(77)
os.environ["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
with_config(incast, leaf_spine, telemetry, losses, events, unequal, jobs, waits, streams, explained, shipped, drawn, killed, stopped, full_disk, watched, watched_job, refused, agreed, mpich)
