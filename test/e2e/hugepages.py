# SPDX-License-Identifier: BSD-3-Clause
"""Hugepages for a test, given back at its end."""
import atexit
import fcntl
import os
import pathlib
import sys

from harness import lacks_privilege, run, skip

HUGE_PAGES = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")


def without(reason, needed):
    if needed:
        skip(f"no hugepages: {reason}")
    print(f"# no hugepages: {reason}")


def huge_options(work, pages=128, needed=False):
    """EAL options for hugepages in a folder of our own. For want of a prerequisite: None with the reason printed, or the test is
    skipped if they are needed. Any other error fails the test."""
    if os.geteuid() != 0 or not HUGE_PAGES.exists():
        return without("reserving them needs root and a kernel with 2 MB pages", needed)
    # One test of all checkouts at a time: each gives back the number that it found. The lock is this process's until its end.
    fcntl.flock(os.open(HUGE_PAGES, os.O_RDONLY), fcntl.LOCK_EX)
    before = HUGE_PAGES.read_text()
    try:
        HUGE_PAGES.write_text(str(int(before) + pages))
    except OSError as error:
        if not lacks_privilege(error.strerror):
            raise
        return without(str(error), needed)
    atexit.register(HUGE_PAGES.write_text, before)
    if int(HUGE_PAGES.read_text()) < int(before) + pages:
        return without(f"this machine has no room for {pages} of them", needed)
    folder = work / "huge"
    folder.mkdir()
    mounted = run("mount", "-t", "hugetlbfs", "none", folder, env={**os.environ, "LC_ALL": "C"})
    if mounted.returncode != 0:
        if not lacks_privilege(mounted.stderr):
            sys.exit(f"mount hugetlbfs: {mounted.stderr.strip()}")
        return without(mounted.stderr.strip(), needed)
    atexit.register(run, "umount", folder)
    return ["--huge-dir", str(folder)]
