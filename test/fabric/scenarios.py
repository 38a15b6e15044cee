# SPDX-License-Identifier: BSD-3-Clause
"""quench-lab under test: scenarios that a test writes, runs, and what is expected of them.

A test is called with the program, the folder of configurations and the name of a case, and ends with in_folder() or with_config().
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

failures = []
# scripts/check sets it for the programs with sanitizers: they look for faults of memory, which a repetition does not show again.
SANITIZED = bool(os.environ.get("QUENCH_SANITIZED"))
kinds_of_starts = set()


def expect(condition, text, detail=""):
    """A case goes on after a failure; its exit code says that there was one."""
    if not condition:
        failures.append(text)
        print("FAILED:", text, detail)


def section(kind, name, **keys):
    return f"[{kind} {name}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items())


def write_scenario(path, fabric, rest):
    """A scenario of these keys of [fabric] and other sections; its path."""
    path.write_text("[fabric]\n" + "".join(f"{k} = {v}\n" for k, v in fabric.items()) + rest, encoding="utf-8")
    return path


def fewer(cases, n):
    """All of them; under sanitizers about n, spread evenly, the first among them."""
    cases = list(cases)
    return cases[::-(-len(cases) // n)] if SANITIZED else cases


def kind_of(options):
    """The options of a start, the keys that they set, and the sections, events, algorithms and patterns of its scenario; without values."""
    words = [re.sub(r"\d+", "", str(option).partition("=")[0]) for option in options]
    for path in (pathlib.Path(option) for option in options if str(option).endswith(".ini")):
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        words += sorted(set(re.findall(r"^\[\w+|^(?:action|cc|pattern|collective|verb|topology) *=.*", text, re.M)))
    return tuple(word for word in words if not word.startswith("/"))


def environment(options):
    """LeakSanitizer takes a third of a short run: in each case, the first start of a kind looks for leaks, and each that is refused."""
    kind = kind_of(options)
    if not SANITIZED or kind not in kinds_of_starts or sys.argv[3] in ("refused", "any_section"):
        kinds_of_starts.add(kind)
        return None
    return {**os.environ, "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}


def run(program, *options, **kw):
    return subprocess.run([program, "--no-progress", *map(str, options)], stderr=subprocess.PIPE, text=True, check=False,
                          **{"stdout": subprocess.PIPE, "env": environment(options), **kw})


def results(program, *options):
    """The results of a run that must end well."""
    done = run(program, "--quiet", "--json", "-", *options)
    expect(done.returncode == 0, f"{options}: {done.stderr}")
    return json.loads(done.stdout)


def run_case(cases, where):
    {case.__name__: case for case in cases}[sys.argv[3]](sys.argv[1], where)
    sys.exit(1 if failures else 0)


def in_folder(*cases):
    """Run a case with the program and an empty folder."""
    with tempfile.TemporaryDirectory(prefix="quench-fabric-") as work:
        run_case(cases, pathlib.Path(work))


def with_config(*cases):
    """Run a case with the program and the folder of configurations."""
    run_case(cases, sys.argv[2])
