#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A storm of pause frames in virtual time. Usage: test_storm.py LAB CONFIG_DIR CASE"""
import tempfile

from scenarios import expect, results, with_config


def run(lab, config, **keys):
    """The scenario, with keys of its sections replaced."""
    with open(config + "/pause-storm.ini") as f:
        text = f.read()
    for key, value in keys.items():
        before = text
        lines = [f"{key} = {value}" if line.split("=")[0].strip() == key else line for line in text.splitlines()]
        text = "\n".join(lines)
        expect(text.strip() != before.strip(), f"{key} is not in the file, or has this value")
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as f:
        f.write(text)
        f.flush()
        return results(lab, f.name)


def flows(r):
    return {f["name"]: f for f in r["flows"]}


def drop(lab, config):
    """Found on the poll grid 2 to 3 ms after it began, ended 4 to 5 ms after the last XOFF; the victim goes on."""
    r = run(lab, config)
    expect([(e["event"], e["port"], e["queue"], e["at_ns"]) for e in r["events"]] ==
           [("storm_detected", 4, 3, 3_000_000), ("storm_restored", 4, 3, 45_000_000)], f"events {r['events']}")
    expect([(d["node"], d["port"], d["reason"]) for d in r["drops"]] == [("s1", 4, "pfc_watchdog")],
           f"drops {r['drops']}")
    expect(flows(r)["victim h1"]["goodput_bps"] > 30e9, "the victim is held")
    expect(flows(r)["victim h1"]["retransmitted_packets"] == 0, "the victim loses frames")


def none(lab, config):
    """Without a watchdog one host holds another's traffic for the whole storm, and nothing is lost."""
    r = run(lab, config, pfcwd="off")
    expect(r["events"] == [] and r["drops"] == [], "something happened")
    expect(flows(r)["victim h1"]["goodput_bps"] < 1e9, "the victim is free")


def forward(lab, config):
    """Frames leave in spite of the pause: the slow host loses what it has no room for, the switch nothing."""
    r = run(lab, config, action="forward")
    expect([e["event"] for e in r["events"]][:1] == ["storm_detected"], f"events {r['events']}")
    expect(all(d["node"] != "s1" for d in r["drops"]), f"drops {r['drops']}")
    expect(flows(r)["victim h1"]["goodput_bps"] > 20e9, "the victim is held")


def alert(lab, config):
    """Only said: all is as without a watchdog."""
    r = run(lab, config, action="alert")
    quiet = run(lab, config, pfcwd="off")
    expect(r["events"][0]["event"] == "storm_detected", f"events {r['events']}")
    expect(r["digest"] == quiet["digest"], "an alert changes the run")


if __name__ == "__main__":
    with_config(drop, none, forward, alert)
