#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job of four ranks while it runs: stop and start in mid-iteration, reset by all, and a rank's program that is killed. Of two, one that is late, and one that
fails and then ends."""
import csv
import signal
import time

from ctl import controller
from desk import Desk
from harness import check, check_equal, finish, halt, work_dir
from job_bed import Bed, addresses, job, nic_config

RANKS, BYTES = 4, 400_000
MANY, RETRIES = 100_000, 10


class Live(Bed):
    def __init__(self, work, ranks=RANKS, of_job=None, **keys):
        """of_job: its operations and iterations; keys: of [nic]"""
        super().__init__(work, ranks)
        self.ranks, self.keys = ranks, keys
        self.of_job = of_job or {"bytes": BYTES, "iterations": MANY}
        self.desks, self.prefixes = {}, {}
        for host in range(1, ranks + 1):
            self.begin(host, f"jobs-{host}")

    def begin(self, host, prefix):
        """Start the program of a rank, whose job is stopped."""
        section = job("ring", ranks=addresses(self.ranks), stopped="on", **self.of_job)
        self.start(host, nic_config(host, section, **self.keys), "--stay", prefix=prefix).wait_started()
        self.desks[host], self.prefixes[host] = Desk(prefix), prefix

    def row(self, host):
        return self.desks[host].rows("jobs")[0]

    def ended(self):
        return [self.row(host)["iterations_ended"] for host in self.desks]

    def sent(self):
        """Messages of each rank."""
        return [row["messages"] for d in self.desks.values() for row in d.rows("flows") if row["flow"].startswith("ring") and
                row["flow"][-1].isdigit()]

    def is_idle(self):
        """No QP has packets in flight."""
        return not any(desk.call("qp", qpn=row["local_qpn"])["unacked_packets"] for desk in self.desks.values() for row in desk.rows("qps"))

    def stands(self):
        """Nothing moves: a message that began after the first look is in flight at the second one, or is counted."""
        before = self.sent()
        return self.is_idle() and self.is_idle() and self.sent() == before

    def wait(self, what, condition):
        for program in self.nics.values():
            if program.process.poll() is None:
                program.wait_until(what, condition)
                return

    def iterations(self, host):
        """Rows of the file that its program has written."""
        with open(self.work / f"csv{host}" / "jobs.csv", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def control(self, host, *words):
        return controller(self.prefixes[host])(*words)

    def all_control(self, *words):
        for host in self.desks:
            done = self.control(host, *words)
            check(f"nic{host}: quenchctl {' '.join(words)}", done.returncode == 0, (done.stdout, done.stderr))


def check_clocks(bed):
    """The programs share a clock: none has the sum of all before each has begun."""
    rows = {host: bed.iterations(host) for host in bed.nics}
    epoch_ns = {host: bed.nics[host].json()["jobs"][0]["epoch_ns"] for host in rows}
    for i in range(3):
        begin_ns = max(int(of[i]["begin_ns"]) + epoch_ns[host] for host, of in rows.items())
        end_ns = min(int(of[i]["end_ns"]) + epoch_ns[host] for host, of in rows.items())
        check(f"iteration {i + 1}: no rank ends it before all have begun", begin_ns < end_ns, (begin_ns, end_ns))


def late():
    """A program that gets no CPU for longer than a QP tries again: before the start, and at it."""
    bed = Live(work_dir(), 2, retry_cnt=RETRIES)

    def gave_up(host):
        """Its question has been sent more often than a QP tries."""
        return sum(row["retransmitted_packets"] for row in bed.desks[host].rows("flows") if row["flow"].endswith("alive")) > 2 * RETRIES

    bed.wait("the other one is known", lambda: all(row["messages"] for host in (1, 2) for row in bed.desks[host].rows("flows") if row["flow"].endswith("alive")))
    halt(bed.nics[2].process)
    bed.wait("a question that gives up", lambda: gave_up(1))
    check_equal("a job that is stopped does not fail", (bed.row(1)["state"], bed.row(1)["why"]), ("stopped", None))
    # As quench-otg does it: what the other one said before the reset does not count.
    for words in (("reset", "ring"), ("start", "ring")):
        check_equal(f"{words}: exit code", bed.control(1, *words).returncode, 0)
    bed.wait("a start that waits", lambda: "job ring: the start waits: rank 0 waits for rank 1's digest of the job, and rank 1 does not answer yet" in bed.nics[1].err())
    check_equal("what it waits for", [bed.row(1)[key] for key in ("state", "waits_rank", "waits_for")], ["waiting", 0, "the start waits for rank 1's digest"])
    bed.nics[2].process.send_signal(signal.SIGCONT)
    check_equal("start of the late one: exit code", bed.control(2, "start", "ring").returncode, 0)
    bed.wait("iterations of both", lambda: min(bed.ended()) > 3)
    check_equal("neither has failed", [bed.row(host)["state"] for host in (1, 2)], ["running"] * 2)
    bed.nics[2].process.send_signal(signal.SIGKILL)
    bed.nics[2].process.wait()
    bed.wait("the one that is left fails", lambda: bed.row(1)["state"] == "failed")
    check_equal("exit code of the one that is left", bed.nics[1].stop(), 1)
    check_equal("switch: exit code", bed.switch.stop(), 0)


ONE_WAY = """num_ranks 2
rank 0 {
a: recv 20000b from 1 tag 7
}
rank 1 {
b: send 20000b to 0 tag 7
}
"""


def ended_after_it_failed():
    """The message that a rank waited for arrives after the job has failed there: it is not said that all is well."""
    work = work_dir()
    (work / "one-way.goal").write_text(ONE_WAY)
    bed = Live(work, 2, {"goal": "one-way.goal", "iterations": 1}, retry_cnt=RETRIES)
    check_equal("start of the receiver: exit code", bed.control(1, "start", "ring").returncode, 0)
    bed.wait("the receiver waits", lambda: bed.row(1)["state"] == "running")
    halt(bed.nics[2].process)
    bed.wait("it fails", lambda: bed.row(1)["state"] == "failed")
    bed.nics[2].process.send_signal(signal.SIGCONT)
    check_equal("start of the sender: exit code", bed.control(2, "start", "ring").returncode, 0)
    bed.wait("the message", lambda: bed.ended() == [1, 1])
    # Each change is followed by a look at the jobs.
    check_equal("stop of the receiver: exit code", bed.control(1, "stop", "ring").returncode, 0)
    bed.wait("the sender says it", lambda: "job ring: all iterations have ended" in bed.nics[2].err())
    check_equal("exit codes", [program.stop() for program in bed.nics.values()], [1, 0])
    check("the receiver does not", "all iterations have ended" not in bed.nics[1].err(), bed.nics[1].err())
    check_equal("its state", [bed.nics[1].json()["jobs"][0][key] for key in ("state", "iterations_ended")], ["failed", 1])
    check_equal("switch: exit code", bed.switch.stop(), 0)


def main():
    bed = Live(work_dir())
    bed.all_control("reset", "ring")
    bed.all_control("start", "ring")
    bed.wait("some iterations", lambda: min(bed.ended()) > 3)
    done = bed.control(1, "show", "jobs")
    check("show jobs: a table", done.returncode == 0 and "ring" in done.stdout and "running" in done.stdout, done.stdout)
    done = bed.control(1, "reset", "ring")
    check("a running job is not reset", done.returncode != 0 and "not stopped" in done.stderr, (done.stdout, done.stderr))

    for words in (("reset", "ring 0-1"), ("reset", "ring 3-0 in"), ("reset", "ring 1-0 alive in")):
        done = bed.control(1, *words)
        check(f"{words}: a flow of a job is not reset alone", done.returncode != 0 and "expected the name of its job" in done.stderr,
              (done.stdout, done.stderr))
    for words in (("stop", "ring 0-1"), ("set", "flow ring 0-1.rate_cap_bps=1M")):
        done = bed.control(1, *words)
        check(f"{words}: a flow of a job has no section", done.returncode != 0 and
              "[flow ring 0-1]: expected another name: a flow of a job has this one" in done.stderr, (done.stdout, done.stderr))

    done = bed.control(2, "stop", "ring")
    check("one rank stops", done.returncode == 0, (done.stdout, done.stderr))
    # A rank ahead of it may take one more iteration at most.
    bed.wait("all stand", lambda: bed.row(2)["state"] == "stopped" and bed.stands())
    stand = bed.ended()
    check("no rank is more than an iteration ahead", max(stand) - min(stand) <= 1, stand)
    done = bed.control(2, "start", "ring")
    bed.wait("all go on", lambda: min(bed.ended()) > max(stand) + 3)

    bed.all_control("stop", "ring")
    # What is still in flight to a rank that has been reset would be a message that it does not know.
    bed.wait("all stand", bed.stands)
    bed.all_control("reset", "ring")
    check_equal("all begin again", bed.ended(), [0] * RANKS)
    check_equal("none waits for what was dropped", [bed.row(h)["unknown_messages"] for h in bed.desks], [0] * RANKS)
    bed.all_control("start", "ring")
    bed.wait("iterations after the reset", lambda: min(bed.ended()) > 3)

    bed.nics[3].process.send_signal(signal.SIGKILL)
    bed.nics[3].process.wait()
    del bed.desks[3]
    bed.wait("the others fail", lambda: all(bed.row(h)["state"] == "failed" for h in (2, 4)))
    check("the rank that sends to it", "rank 1: its QP to rank 2 gave up" in bed.nics[2].err() or
          "rank 1 waits for" in bed.nics[2].err(), bed.nics[2].err())
    check("the rank that receives from it", "rank 3 waits for rank 2's message (recv 100000b from 2 tag" in bed.nics[4].err() and
          "rank 2 does not answer" in bed.nics[4].err(), bed.nics[4].err())
    check("show jobs says why", "does not answer" in bed.row(4)["why"], bed.row(4))

    # It comes back: it is new, and the others are reset.
    bed.all_control("stop", "ring")
    bed.begin(3, "jobs-3b")
    for host in (1, 2, 4):
        check_equal(f"nic{host}: reset", bed.control(host, "reset", "ring").returncode, 0)
    start_ns = time.monotonic_ns()
    bed.all_control("start", "ring")
    bed.wait("iterations with the new one", lambda: min(bed.ended()) > 3)
    seen_ns = time.monotonic_ns()
    check_equal("no job fails", [bed.row(h)["state"] for h in bed.desks], ["running"] * RANKS)
    # At once: a rank that is left alone fails.
    for program in bed.nics.values():
        program.process.send_signal(signal.SIGTERM)
    for host, program in bed.nics.items():
        check(f"nic{host}: exit code 0", program.wait_end() == 0, program.err()[-500:])
    result = bed.nics[1].json()["jobs"][0]
    first_ns = sum(int(row["jct_ns"]) for row in bed.iterations(1)[:3])
    check("the clock of the first iteration begins with the start, not with the reset", first_ns <= seen_ns - start_ns, (first_ns, seen_ns - start_ns))
    check_clocks(bed)
    check_equal("results count from the reset", result["ranks"][0]["messages_sent"] >= 6 * result["iterations_ended"], True)
    check_equal("switch: exit code", bed.switch.stop(), 0)
    finish()


late()
ended_after_it_failed()
main()
