#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The notebooks of share/notebooks: plain files without outputs, whose code runs from the first cell to the last."""
import json
import os
import pathlib
import sys

from harness import BUILD, check, check_equal, finish, run, skip, work_dir

try:
    import numpy  # noqa: F401
except ImportError:
    skip("python3-numpy is not installed")

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Lines that each must print, in parts.
PRINTS = {
    "researcher": ("queue: mean", "digest ", "longest queue", "   100KB ", "dcqcn: mean queue", "dctcp: mean queue", "hpcc: mean queue", "swift: mean queue"),
    "operator": ("rx_packets", "marked", "watermark", "handled", "Mb/s", "wred", "expected", "Kmaxx", "switch.ini: written", "port1.pcapng", "'queued': "),
    "tester": ("exit code 0", "exit code 1", "verdict fail", "failed.pcapng", "report.html", "the largest incast without a pause has "),
}


def check_file(name, book):
    check_equal(f"{name}: format", (book["nbformat"], book["metadata"]["kernelspec"]["name"]), (4, "python3"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    check(f"{name}: no outputs", all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code))
    check(f"{name}: cells have names of their own", len({cell["id"] for cell in book["cells"]}) == len(book["cells"]) > 8)
    try:
        import nbformat
    except ImportError:
        return code
    nbformat.validate(book)
    return code


def main():
    work = work_dir()
    paths = sorted((ROOT / "share" / "notebooks").glob("*.ipynb"))
    check_equal("a notebook for each", [path.stem for path in paths], sorted(PRINTS))
    for path in paths:
        code = check_file(path.stem, json.loads(path.read_text(encoding="utf-8")))
        script = work / f"{path.stem}.py"
        script.write_text("\n".join("".join(cell["source"]) + "\n" for cell in code), encoding="utf-8")
        done = run(sys.executable, "-W", "error::DeprecationWarning", script, cwd=work, env={
            **os.environ, "PYTHONPATH": str(ROOT / "tools"), "QUENCH_BUILD": str(BUILD), "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(work)})
        check_equal(f"{path.stem}: runs", (done.returncode, done.stderr), (0, ""))
        missing = [part for part in PRINTS[path.stem] if part not in done.stdout]
        check(f"{path.stem}: prints what it is about", not missing, (missing, done.stdout[-3000:]))
    finish()


main()
