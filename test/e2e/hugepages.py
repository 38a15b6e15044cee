# SPDX-License-Identifier: BSD-3-Clause
"""Hugepages for a test, given back at its end."""
import atexit
import os
import pathlib

from harness import run

HUGE_PAGES = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")


def huge_options(work, pages=128):
    """EAL options for hugepages in a folder of our own, or None with the reason printed."""
    if os.geteuid() != 0 or not HUGE_PAGES.exists():
        print("# no hugepages: reserving them needs root and a kernel with 2 MB pages")
        return None
    before = HUGE_PAGES.read_text()
    HUGE_PAGES.write_text(str(int(before) + pages))
    atexit.register(HUGE_PAGES.write_text, before)
    if int(HUGE_PAGES.read_text()) < int(before) + pages:
        print(f"# no hugepages: this machine has no room for {pages} of them")
        return None
    folder = work / "huge"
    folder.mkdir()
    if run("mount", "-t", "hugetlbfs", "none", folder).returncode != 0:
        print("# no hugepages: hugetlbfs cannot be mounted")
        return None
    atexit.register(run, "umount", folder)
    return ["--huge-dir", str(folder)]
