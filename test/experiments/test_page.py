#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages of scripts/experiments: whole, with each figure and verdict, and nothing fetched from outside.

    test_page.py QUENCH_LAB CONFIG_DIR
"""
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from expect import ROOT, expect, finish
import quench  # noqa: E402
from experiments import frame, page, paper_page  # noqa: E402
from report import plots  # noqa: E402


def queue(runs):
    return plots.queue(runs["one"])


def rates(runs):
    return plots.rates(runs["one"])


def experiment(name, figures):
    return frame.Experiment(name, f"Title of {name}", "a <source>", "It is said.", "Smaller.", (frame.Variant("one", {"a.b": "c d"}),),
                            None, {f: (draw, f"caption of {f}") for f, draw in figures.items()}, findings="Less & more.")


with tempfile.TemporaryDirectory() as name:
    out = pathlib.Path(name)
    subprocess.run([sys.argv[1], "--quiet", "--no-progress", "--duration", "2ms", "--out", out / "run", sys.argv[2] + "/incast-4to1.ini"],
                   check=True)
    run = quench.Run(out / "run")
    expect({"retransmitted_packets", "rate_cuts"} < run.flows["incast h1"].keys(), "columns beyond the required ones are read")
    two = [experiment("first", {"queue": queue, "rates": rates}),
           experiment("second", {"queue": queue})]
    for e in two:
        (out / e.name).mkdir()
    runs = {e.name: {"one": run} for e in two}
    two.append(dataclasses.replace(experiment("third", {}), refuted=True))
    runs["third"] = {"one": run}
    (out / "third").mkdir()
    checks = {"third": [frame.Check("guard", 1, 1, 1)], "first": [frame.Check("good", 1.5, 1, 2, "Gb/s", "about 1")], "second": [frame.Check("good", 1, 1, 1), frame.Check("bad", 3, 1, 2)]}
    text = page.write(out, two, runs, checks, False, 12.3).read_text(encoding="utf-8")

    ids = re.findall(r'\bid="([^"]+)"', text)
    expect(len(ids) == len(set(ids)), "ids are unique")
    expect(set(re.findall(r'href="#([^"]+)"', text)) <= set(ids), "each link inside leads somewhere")
    expect([url for url in re.findall(r'(?:src|href)="([^"]*)"', text) if not url.startswith(("#", "data:"))] == [], "nothing is fetched")
    expect(text.count("<script") == 1, "the one script has the words below what is cut")
    expect([e in text for e in ("Title of first", "a &lt;source&gt;", "Less &amp; more.", "caption of rates", run.results["digest"])] ==
           [True] * 5, "statements, findings, captions and digests are there")
    verdicts = re.findall(r"(within|outside)</span>", text)
    # In the list: of each experiment; then of each check.
    expect(verdicts == ["within", "outside", "within", "within", "outside", "within"], f"verdicts {verdicts}")
    expect(text.count("<span>within; the statement does not hold</span>") == 1, "guards show no agreement with a statement that does not hold")
    expect("--set &#x27;a.b=c d&#x27;" in text, "options can be pasted into a shell")
    for path in ("first/queue", "first/rates", "second/queue"):
        expect((out / f"{path}.png").read_bytes().startswith(b"\x89PNG"), f"{path}.png")
        expect(xml.etree.ElementTree.parse(out / f"{path}.svg").getroot().tag.endswith("svg"), f"{path}.svg")

    def figure(number, verdict, **row):
        return frame.Figure(number, f"Title <{number}>", "It is shown.", "first", (frame.Row("a <rate>", "about 2 & more", lambda runs: 1.5, 1, 2, "Gb/s", **row),),
                            ("queue",), verdict, "because of <us>")
    # Two that are as expected, and one that is not.
    figures = (figure("Figure 3", frame.AGREES), figure("Section 4", frame.IN_SHAPE, shape=True, recalled=True), figure("Figure 5", frame.DIFFERS))
    text = paper_page.write(out, figures, {"first": two[0]}, runs, False).read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    expect(len(ids) == len(set(ids)), "paper: ids are unique")
    expect([url for url in re.findall(r'(?:src|href)="([^"#]*)', text) if url not in ("", "data:,", "experiments.html")] == [], "paper: nothing is fetched")
    expect(set(re.findall(r'href="#([^"]+)"', text)) <= set(ids), "paper: each link inside leads somewhere")
    expect("experiments.html#first" in text, "paper: runs are on the other page")
    sections = text.split("<section")[1:]
    expect([part.count("<svg") for part in sections] == [1, 1, 1], "paper: each figure has its plot")
    expect([re.search(r'class="verdict (\w+)">([^<]*)', part).groups() for part in sections] ==
           [("agrees", "agrees"), ("shape", "agrees in shape"), ("failed", "agrees; expected: differs")], "paper: verdicts")
    expect(["†" in part for part in sections] == [False, True, False], "paper: what could not be checked is marked")
    expect(all(word in sections[0] for word in ("Title &lt;Figure 3&gt;", "a &lt;rate&gt;", "about 2 &amp; more", "1.5 Gb/s", "because of &lt;us&gt;")), "paper: texts")

refused = subprocess.run([ROOT / "scripts/experiments", "--lab", sys.argv[1], "--workers", "0"], stderr=subprocess.PIPE, text=True)
expect(refused.returncode == 2 and "0: expected a number above 0" in refused.stderr, "no runs at a time are refused")

finish()
