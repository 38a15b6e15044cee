#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job of four ranks while it runs: stop and start in mid-iteration, reset by all, and a rank's program that is killed."""
import csv
import signal
import time

from desk import Desk, controller
from harness import check, check_equal, finish, work_dir
from job_bed import Bed, addresses, job, nic_config

RANKS, BYTES = 4, 400_000
MANY = 100_000


class Live(Bed):
    def __init__(self, work):
        super().__init__(work, RANKS)
        self.desks, self.prefixes = {}, {}
        for host in range(1, RANKS + 1):
            self.begin(host, f"jobs-{host}")

    def begin(self, host, prefix):
        """Start the program of a rank, whose job is stopped."""
        section = job("ring", ranks=addresses(RANKS), bytes=BYTES, iterations=MANY, stopped="on")
        self.start(host, nic_config(host, section), "--stay", prefix=prefix)
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

    def control(self, host, *words):
        return controller(self.prefixes[host])(*words)

    def all_control(self, *words):
        for host in self.desks:
            done = self.control(host, *words)
            check(f"nic{host}: quenchctl {' '.join(words)}", done.returncode == 0, (done.stdout, done.stderr))


def main():
    bed = Live(work_dir())
    # Its first messages are posted, and no QP has started.
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
    reset_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    bed.all_control("start", "ring")
    bed.wait("iterations with the new one", lambda: min(bed.ended()) > 3)
    check_equal("no job fails", [bed.row(h)["state"] for h in bed.desks], ["running"] * RANKS)
    # At once: a rank that is left alone fails.
    for program in bed.nics.values():
        program.process.send_signal(signal.SIGTERM)
    for host, program in bed.nics.items():
        check(f"nic{host}: exit code 0", program.wait_end() == 0, program.err()[-500:])
    result = bed.nics[1].json()["jobs"][0]
    with open(bed.work / "csv1" / "jobs.csv", encoding="utf-8") as file:
        begin_ns = int(next(csv.DictReader(file))["begin_ns"]) + result["epoch_ns"]
    check("the clock of the first iteration begins with the start, not with the reset", begin_ns >= reset_ns, (begin_ns, reset_ns))
    check_equal("results count from the reset", result["ranks"][0]["messages_sent"] >= 6 * result["iterations_ended"], True)
    check_equal("switch: exit code", bed.switch.stop(), 0)
    finish()


main()
