#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/sum-tests counts each test once, says of those that failed what was wrong, and names the longest."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))
from harness import check_equal, finish  # noqa: E402

TESTS = [
    # name, meson's result, standard output, standard error; as many seconds as it has letters
    ("good", "OK", "ok - no error\n", ""),
    ("says", "FAIL", "ok - an error is counted\nNOT OK - frames: got 3\nok - end\n", "file.c:1: runtime error: null\n"),
    ("mute", "TIMEOUT", "".join(f"line {i}\n" for i in range(20)), ""),
    ("lacks", "SKIP", "SKIP: root is needed\n", ""),
]
EXPECTED = """skipped: lacks (build): root is needed
longest (build): lacks 5 s, says 4 s, mute 4 s, good 4 s
failed: package
failed: says (build): fail
    NOT OK - frames: got 3
    file.c:1: runtime error: null
failed: mute (build): timeout
""" + "".join(f"    line {i}\n" for i in range(12, 20)) + "2 passed, 3 failed, 1 skipped\n"


def main():
    with tempfile.TemporaryDirectory() as name:
        logs = pathlib.Path(name) / "build/meson-logs"
        logs.mkdir(parents=True)
        lines = [json.dumps({"name": t, "result": r, "stdout": out, "stderr": err, "duration": len(t)}) + "\n" for t, r, out, err in TESTS]
        (logs / "testlog.json").write_text("".join(lines))
        done = subprocess.run([ROOT / "scripts/sum-tests", "--passed", "digest", "--failed", "package", logs.parent],
                              capture_output=True, text=True, check=False)
    check_equal("what is said", done.stdout, EXPECTED)
    check_equal("exit code", done.returncode, 1)
    finish()


main()
