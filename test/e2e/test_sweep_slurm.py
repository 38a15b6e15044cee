#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/sweep --slurm: the table is byte for byte that of a sweep by itself. A run that fails is named, and Ctrl-C cancels the job.

munged, slurmctld and slurmd belong to the test: their keys, sockets, states and logs are in its folder, and their ports are free ones.
"""
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time

import alone
from harness import BUILD, PATIENCE_S, check, check_equal, finish, run, skip, work_dir
from scripts import ROOT, Script

LAB = BUILD / "app" / "quench-lab" / "quench-lab"
SCENARIO = ROOT / "config" / "paper-sweep.ini"
GRID = ("--set", "wred.Kmin+wred.Kmax=20KB", "--set", "flow others.src=2,2-3", "--set", "flow others.start_ns=0", "--seeds", "1-2",
        "--duration", "2ms")


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    """One node, this machine. slurmctld starts jobs at once: by default it gathers them for seconds."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        folder.mkdir()
        folder.chmod(0o711)  # munged refuses a socket that others cannot reach
        for name in ("state", "spool"):
            (folder / name).mkdir()
        user, (ctl_port, node_port) = pwd.getpwuid(os.getuid()).pw_name, free_ports(2)
        conf = folder / "slurm.conf"
        conf.write_text(f"""ClusterName=quench
SlurmctldHost=localhost
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmctldPort={ctl_port}
SlurmdPort={node_port}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
MailProg=/bin/true
MpiDefault=none
NodeName=localhost CPUs={len(os.sched_getaffinity(0))}
PartitionName=all Nodes=localhost Default=YES State=UP
""", encoding="utf-8")
        self.env = {**os.environ, "SLURM_CONF": str(conf)}

    def __enter__(self):
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(64))
        try:
            files = [f"--{what}={self.folder}/munge.{end}" for what, end in
                     (("key-file", "key"), ("socket", "sock"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))]
            self.start("munged", "--foreground", *files)
            self.wait("munged's socket", (self.folder / "munge.sock").exists)
            self.start("slurmctld", "-D")
            self.start("slurmd", "-D")
            self.wait("an idle node", lambda: self.run("sinfo", "-h", "-o", "%T").stdout.strip() == "idle")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def start(self, name, *options):
        with open(self.folder / f"{name}.out", "wb") as out:
            # pylint: disable-next=consider-using-with
            self.daemons.append(subprocess.Popen([name, *options], env=self.env, stdout=out, stderr=subprocess.STDOUT))

    def run(self, *command, **kw):
        return run(*command, env=self.env, **kw)

    def wait(self, what, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end or any(d.poll() is not None for d in self.daemons):
                said = "\n".join(f"{p.name}: {p.read_text(errors='replace')[-2000:]}" for p in self.folder.glob("*.out"))
                sys.exit(f"no sign of {what}\n{said}")
            time.sleep(0.1)


def sweep(folder, *options, **kw):
    return SWEEP(SCENARIO, "--lab", LAB.resolve(), "--out", folder, *GRID, *options, timeout=300, **kw)


def jobs(cluster):
    return cluster.run("squeue", "-h", "-o", "%T").stdout.split()


def equal_tables(cluster, work, one):
    """The tables, and nothing else is left."""
    array = work / "with spaces"
    done = sweep(array, "--slurm", "--workers", "1", env=cluster.env, cwd=work)
    check("the array job ends well", done.returncode == 0, done)
    for name in ("sweep.csv", "sweep.json"):
        check_equal(f"{name} is the same, byte for byte", (array / name).read_bytes(), (one / name).read_bytes())
    check_equal("the folder", sorted(p.name for p in array.iterdir()), sorted([*(p.name for p in one.iterdir()), "sweep.sbatch"]))
    check_equal("the folder of its submission", list(work.glob("slurm-*")), [])


def failing_run(cluster, work):
    """A program that fails for one point of the grid, when it runs."""
    lab = work / "lab"
    lab.write_text(f"""#!/bin/sh
case "$*" in *--check-config*) ;; *src=2-3*"--seed 2"*) echo no power >&2; exit 1 ;; esac
exec {LAB.resolve()} "$@"
""", encoding="utf-8")
    lab.chmod(0o755)
    out = work / "failing"
    done = sweep(out, "--lab", lab, "--slurm", env=cluster.env, cwd=work)
    check("the run that failed is named, with its words", done.returncode == 1 and "src=2-3 others.start_ns=0 seed 2: no power" in
          done.stderr.replace("flow others.start_ns", "others.start_ns"), done)
    check("no table, but the results of the others", not (out / "sweep.csv").exists() and len(list(out.glob("runs/*/results.json"))) == 3, done)


def cancelled(cluster, work):
    out = work / "cancelled"
    with subprocess.Popen([ROOT / "scripts" / "sweep", SCENARIO, "--lab", LAB.resolve(), "--out", out, "--set", "rp.F=5", "--duration", "1000s", "--slurm"],
                          env=cluster.env, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        cluster.wait("a task that runs", lambda: process.poll() is not None or "RUNNING" in jobs(cluster))
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE_S)[1]
    check_equal("Ctrl-C", (process.returncode, said), (130, "sweep: interrupted\n"))
    cluster.wait("the end of its job", lambda: "RUNNING" not in jobs(cluster))


os.environ["PATH"] += ":/usr/sbin"
for program, package in (("munged", "munge"), ("slurmctld", "slurmctld"), ("slurmd", "slurmd"), ("sbatch", "slurm-client")):
    if shutil.which(program) is None:
        skip(f"{package} is not installed")
try:
    SWEEP = Script("sweep", "report.plots")
except ImportError:
    skip("python3-matplotlib is not installed")

alone.address()
work_ = work_dir()
work_.chmod(0o711)
alone_ = work_ / "one"
check_equal("a sweep by itself", sweep(alone_).returncode, 0)
with Cluster(work_ / "slurm") as slurm:
    equal_tables(slurm, work_, alone_)
    failing_run(slurm, work_)
    cancelled(slurm, work_)
finish()
