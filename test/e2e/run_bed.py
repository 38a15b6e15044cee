# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test-run, run by a test, and its JUnit XML."""
import importlib.util
import json
import os
import xml.etree.ElementTree as xml

import jsonschema

from harness import BUILD, PATIENCE_S, check_equal, path_of, skip, work_dir
from scripts import ROOT, Script

if not all(importlib.util.find_spec(module) for module in ("matplotlib", "numpy")):
    skip("python3-matplotlib")
PROGRAMS = ":".join(str(path_of(role).parent) for role in ("nic", "switch", "lab"))
# Where fonts take long to find, matplotlib says so at its first use: here.
os.environ |= {"MPLCONFIGDIR": str(work_dir()), "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
SCRIPT = Script("test-run", "report.plots", "matplotlib.font_manager")


def test_run(work, *args):
    return SCRIPT(*args, cwd=work, timeout=5 * PATIENCE_S)


def verdict_of(out):
    """verdict.json, which is what its schema says."""
    verdict = json.loads((out / "verdict.json").read_text())
    validator = jsonschema.Draft202012Validator(json.loads((BUILD / "share/quench-test-run.verdict.json").read_text()))
    check_equal("verdict.json is of its schema", [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in validator.iter_errors(verdict)], [])
    check_equal("its schema knows each member", validator.is_valid(verdict | {"other": 1}), False)
    return verdict


def cases(out):
    """{(place, criterion): tag of the result or None} of junit.xml"""
    root = xml.parse(out / "junit.xml").getroot()
    found = {(case.get("classname").rpartition(".")[2], case.get("name")): case[0].tag if len(case) else None for case in root.iter("testcase")}
    check_equal("junit.xml: numbers", (int(root.get("tests")), int(root.get("failures")), int(root.get("errors"))),
                (len(found), sum(tag == "failure" for tag in found.values()), sum(tag == "error" for tag in found.values())))
    return found


def run_with_traffic(work, *args, out):
    """Run on ports for as long as the machine needs to get a message through."""
    for seconds in (1, 5, 30):
        done = test_run(work, *args, "--out", out, "--set", f"fabric.duration_ns={seconds}s", "--set", "fabric.measure_from_ns=100ms")
        if not (work / out / "verdict.json").exists() or any(c["place"] == "ports" and c["name"] == "messages" and c["measured"] for c in verdict_of(work / out)["criteria"]):
            break
    return done
