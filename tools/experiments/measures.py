# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a run that several experiments use."""
import numpy as np


def flow(run, section):
    """Results of the one flow of [flow SECTION]."""
    return next(f for f in run.results["flows"] if f["name"].split()[0] == section)


def transfers_gbps(run, section, size_bytes):
    """Payload rate in Gb/s of each successive piece of size_bytes that arrived in the measured window.

    The end of a piece is interpolated linearly between samples."""
    series = run.flows[flow(run, section)["name"]]
    payload = np.cumsum(series["goodput_bps"] * series.intervals_ns()) / 8e9
    begin = np.interp(run.results["measure_from_ns"], series["time_ns"], payload)
    ends = np.interp(np.arange(begin, payload[-1], size_bytes), payload, series["time_ns"])
    return size_bytes * 8 / np.diff(ends)


def dropped(run):
    """Packets that switches dropped. Packets that hosts drop after a gap do not count: go-back-N resends them anyway."""
    hosts = {node for f in run.results["flows"] for node in (f["src"], f["dst"])}
    return sum(drop["packets"] for drop in run.results["drops"] if drop["node"] not in hosts)
