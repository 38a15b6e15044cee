#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A test skips for want of a named prerequisite only: test_skips.py UNIT_TEST...

Commands named ip, mount and nsenter fail in different words before the helpers of test/e2e; unit tests run without the variables that
name the project's folders, and scripts/sum-tests has to find the reason of each skipped case.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))
from harness import check, check_equal, finish  # noqa: E402

SKIPPED, FAILED = 77, 1
# what a test does
HOST = "import namespaces; namespaces.Host(0, '10.0.0.1', '02:00:00:00:00:01')"
LINK = "import harness; harness.privileged('ip', 'link', 'set', 'q0', 'up')"
AFTER_FAILURE = "import harness; harness.check('this', False); harness.skip('no such tool')"
CASES = [
    # what happens, the code, the program called ip, expected exit code, words of what is printed
    ("a namespace without the privilege", HOST, "echo 'mount --make-shared: Operation not permitted' >&2; exit 1", SKIPPED,
     "Operation not permitted"),
    ("a namespace that is there already", HOST, "echo 'Cannot create namespace file: File exists' >&2; exit 1", FAILED, "File exists"),
    ("veth without the privilege", HOST, "[ $1 = netns ] || { echo 'RTNETLINK answers: Operation not permitted' >&2; exit 2; }", SKIPPED,
     "ip link add"),
    ("a veth of a wrong name", HOST, "[ $1 = netns ] || { echo 'Error: argument is wrong: \"name\"' >&2; exit 255; }", FAILED, "is wrong"),
    ("a link without the privilege", LINK, "echo 'RTNETLINK answers: Operation not permitted' >&2; exit 2", SKIPPED, "ip link set q0 up"),
    ("a link that is not there", LINK, "echo 'Cannot find device \"q0\"' >&2; exit 1", FAILED, "Cannot find device"),
    ("a command that fails and says nothing", LINK, "exit 3", FAILED, "exit code 3"),
    ("a command that works", LINK, "exit 0", 0, ""),
    ("a prerequisite that lacks after a failed check", AFTER_FAILURE, "exit 0", FAILED, "no such tool"),
]


def python(code, ip, folder):
    program = folder / "ip"
    program.write_text(f"#!/bin/sh\n{ip}\n")
    program.chmod(0o755)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder,
                          env={"PATH": f"{folder}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "test/e2e"), "PYTHONDONTWRITEBYTECODE": "1"})


def main(unit_tests):
    with tempfile.TemporaryDirectory() as name:
        for what, code, ip, expected, words in CASES:
            # Only ip is asked: what follows it in a Host would need a namespace.
            done = python(code, ip, pathlib.Path(name))
            said = done.stdout + done.stderr
            check_equal(f"{what}: exit code", done.returncode, expected)
            check(f"{what}: it is said", words in said, said)
    sum_tests = (ROOT / "scripts/sum-tests").read_text()
    pattern = re.compile(re.search(r'SKIPPED_CASE = re.compile\(r"(.*)", re.M\)', sum_tests).group(1), re.M)
    bare = {name: value for name, value in os.environ.items() if not name.startswith("QUENCH_")}
    for program in unit_tests:
        variable = "IMPORTS" if "import_" in program.name else "CONFIG"
        done = subprocess.run([program], capture_output=True, text=True, check=False, env=bare)
        # as scripts/sum-tests: on standard error cmocka lists the skipped cases once more
        reasons = [reason for reason, _ in pattern.findall(done.stdout)]
        check_equal(f"{program.name} without QUENCH_{variable}_DIR", done.returncode, 0)
        check("... names it at each skipped case", reasons and all(f"QUENCH_{variable}_DIR is not set" in r for r in reasons),
              reasons or done.stderr)
    finish()


main([pathlib.Path(path) for path in sys.argv[1:]])
