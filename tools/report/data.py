# SPDX-License-Identifier: BSD-3-Clause
"""Read a folder of quench-lab results (doc/interface.md): results.json and CSV files."""
import csv
import json
import pathlib

import numpy as np

FLOWS = "time_ns,flow,wire_rate_bps,goodput_bps,rp_rate_bps,rp_target_rate_bps,cnp_handled,cnp_sent"
QUEUES = "time_ns,node,port,queue,queue_bytes,queue_max_bytes,ecn_marked_packets,tx_bytes"
PGS = "time_ns,node,port,pg,shared_bytes,headroom_bytes,limit_bytes"
TIMES = "flow,measure,at_most,count"
PFC = "time_ns,node,port,prio,tx_pause,rx_pause,tx_pause_duration_us,rx_pause_duration_us,rx_paused"

RESULT_KEYS = """format program version scenario seed duration_ns measure_from_ns icrc_check cc pfc link_speed_bps
    flows jain_index bottleneck pfc_counters pause_frames_after_measure last_pause_ns drops counters
    frames packet_hops wall_seconds packet_hops_per_second digest""".split()
FLOW_KEYS = """name src dst qps wire_rate_bps goodput_bps min_rate_bps messages_wanted messages_completed cnp_sent
    rp_cnp_handled rate_cuts retransmitted_packets error""".split()
BOTTLENECK_KEYS = """node port queue link_use queue_mean_bytes queue_p50_bytes queue_p99_bytes queue_max_bytes
    wred_min_bytes wred_max_bytes ecn_marked_packets""".split()


class BadInput(Exception):
    """A file is missing or malformed; the text is one line."""


class Series(dict):
    """Columns by name, as arrays of equal length, in order of time."""

    def ms(self):
        return self["time_ns"] / 1e6

    def per_ms(self, column):
        """Growth of a cumulative column in each interval, divided by its length in ms."""
        return self.growth(column) / self.intervals_ns() * 1e6

    def growth(self, column):
        return np.diff(self[column], prepend=0)

    def intervals_ns(self):
        """Length of the interval that ends at each sample. Rows may begin late, with the first nonzero values."""
        steps = np.diff(self["time_ns"], prepend=0)
        if len(steps) > 1:
            steps[0] = steps[1]
        return np.maximum(steps, 1)

    def edges_ms(self):
        """Boundaries of the intervals: one more than samples."""
        return np.append(self["time_ns"][0] - self.intervals_ns()[0], self["time_ns"]).clip(0) / 1e6


def require(path, what, keys):
    for key in keys:
        if key not in what:
            raise BadInput(f"{path}: no key {key}: not results of quench-lab, format 2")


def read_results(path):
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error
    if not isinstance(results, dict):
        raise BadInput(f"{path}: not a JSON object")
    require(path, results, RESULT_KEYS)
    if results["format"] != 2:
        raise BadInput(f"{path}: format {results['format']}: this report reads format 2")
    for flow in results["flows"]:
        require(path, flow, FLOW_KEYS)
    require(path, results["bottleneck"], BOTTLENECK_KEYS)
    return results


def read_series(path, header, key):
    """Rows grouped by the columns of key: {(node, port, queue): Series}. Columns beyond those of header are read too."""
    columns = header.split(",")
    rows = {}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            first = next(reader, [])
            if first[:len(columns)] != columns:
                raise BadInput(f"{path}: expected the columns {header}")
            columns = first
            where = [columns.index(name) for name in key]
            numbers = [i for i, name in enumerate(columns) if i not in where]
            for row in reader:
                rows.setdefault(tuple(row[i] for i in where), []).append([float(row[i]) for i in numbers])
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except (ValueError, IndexError) as error:
        raise BadInput(f"{path}: line {reader.line_num}: {error}") from error
    names = [columns[i] for i in numbers]
    return {group: Series(zip(names, np.array(values).T)) for group, values in rows.items()}


def read_times(path):
    """Histograms: {(flow, measure): (values, counts)}. Empty if nothing was measured, or an older quench-lab wrote the folder."""
    rows = {}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != TIMES.split(","):
                raise BadInput(f"{path}: expected the columns {TIMES}")
            for row in reader:
                rows.setdefault((row["flow"], row["measure"]), []).append((int(row["at_most"]), int(row["count"])))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except (TypeError, ValueError) as error:
        raise BadInput(f"{path}: line {reader.line_num}: {error}") from error
    return {key: tuple(np.array(pairs).T) for key, pairs in rows.items()}


class Run:
    """All data of a run that the report uses."""

    def __init__(self, folder):
        self.folder = folder = pathlib.Path(folder)
        self.results = read_results(folder / "results.json")
        flows = read_series(folder / "flows.csv", FLOWS, ["flow"])
        self.flows = {name: series for (name,), series in flows.items()}
        self.queues = read_series(folder / "queues.csv", QUEUES, ["node", "port", "queue"])
        self.times = read_times(folder / "times.csv")
        self.pauses = read_series(folder / "pfc.csv", PFC, ["node", "port", "prio"])
        # An older quench-lab did not write this file.
        self.groups = read_series(folder / "pgs.csv", PGS, ["node", "port", "pg"]) if (folder / "pgs.csv").exists() else {}

    def bottleneck(self):
        """The Series of the bottleneck queue, or None."""
        b = self.results["bottleneck"]
        return self.queues.get((str(b["node"]), str(b["port"]), str(b["queue"])))
