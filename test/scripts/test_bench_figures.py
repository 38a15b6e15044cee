#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench's table: each figure has a row, each row says what is wanted, and what holds is judged right."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))
sys.path.insert(0, str(ROOT / "test/bench"))
import figures  # noqa: E402
from harness import check, check_equal, finish  # noqa: E402

TABLE = "[a]\n- | first\nratio >= 1.7 | second, * lcores\nvalue <= 0.6 | ? third\n"


def refuses(what, function, *args):
    try:
        function(*args)
    except ValueError:
        check(True, what)
        return
    check(False, what)


def holds(wanted, **figure):
    return figures.holds(figure, wanted)


def check_rows():
    for line in ("first", "| first", "- |", "1.7 | first", "ratio > 1.7 | first", "ratio >= much | first", "time >= 1 | first"):
        refuses(f"a row is refused: {line}", figures.read_table, f"[a]\n{line}\n")
    refuses("a row without a benchmark is refused", figures.read_table, "- | first\n")
    rows = figures.read_table(TABLE)["a"]
    first, second, third, other = ({"name": name} for name in ("first", "second, 2 lcores", "third", "other"))
    check_equal("wanted", [row.wanted for row in figures.assign([first, second, third], rows)], [None, "ratio >= 1.7", "value <= 0.6"])
    check_equal("a row may lack its figure", len(figures.assign([first, second], rows)), 2)
    refuses("a row without a figure", figures.assign, [first, third], rows)
    refuses("a figure without a row", figures.assign, [first, second, third, other], rows)


def check_holds():
    check_equal("at least: below, at, above", [holds("ratio >= 1.7", ratio=r) for r in (1.6999, 1.7, 1.7001)], [False, True, True])
    check_equal("at most: below, at, above", [holds("value <= 0.6", value=v) for v in (0.5999, 0.6, 0.6001)], [True, True, False])
    check_equal("the value is not the ratio", holds("value >= 2", value=1, ratio=3), False)
    check_equal("nothing is wanted", holds(None, value=1), None)
    check_equal("no reference program", [holds("ratio >= 1", value=1, ratio=None), holds("ratio >= 1", value=1)], [None, None])


def run(folder, *lines):
    (folder / "tm").write_text("noise\n" + "".join(json.dumps(line) + "\n" for line in lines))
    return subprocess.run([ROOT / "test/bench/figures.py", folder, folder / "out.json"], capture_output=True, text=True, check=False)


def check_output(folder):
    wanted = figures.read_table(figures.TABLE.read_text(encoding="utf-8"))["tm"]
    lines = [{"name": row.pattern, "value": 2.5, "unit": "ns", "peer": "other", "peer_value": 5, "ratio": 0.5} for row in wanted]
    done = run(folder, *lines)
    check_equal("exit code", (done.returncode, done.stderr), (0, ""))
    check_equal("lines: headings and figures", len(done.stdout.splitlines()), 1 + len(lines))
    check_equal("fields", [list(figure) for figure in json.loads((folder / "out.json").read_text())], [list(figures.KEYS)] * len(lines))
    done = run(folder, *lines[1:])
    check_equal("a lost figure", (done.returncode, "bench_tm: expected the figure" in done.stderr), (1, True))
    shown = [figures.cell("holds", value) for value in (True, False, None)]
    check_equal("what holds is shown", shown, ["yes", "NO", "-"])


def main():
    check_rows()
    check_holds()
    with tempfile.TemporaryDirectory() as name:
        check_output(pathlib.Path(name))
    finish()


main()
