# SPDX-License-Identifier: BSD-3-Clause
"""Read a folder of quench-lab results (doc/interface.md): results.json, effective.ini and CSV files."""
from __future__ import annotations

import configparser
import csv
import functools
import json
import pathlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .fluid import Fluid
from .tables import BadInput, Column, Series, Table, read_series

FLOWS = "time_ns,flow,wire_rate_bps,goodput_bps,rp_rate_bps,rp_target_rate_bps,cnp_handled,cnp_sent"
QUEUES = "time_ns,node,port,queue,queue_bytes,queue_max_bytes,ecn_marked_packets,tx_bytes"
PGS = "time_ns,node,port,pg,shared_bytes,headroom_bytes,limit_bytes"
TIMES = "flow,measure,at_most,count"
PFC = "time_ns,node,port,prio,tx_pause,rx_pause,tx_pause_duration_us,rx_pause_duration_us,rx_paused"
MESSAGES = ("bytes", "slowdown")
TEXTS = ("flow", "src", "dst")  # of messages.csv; the other columns are numbers
COUNTERS = "node,port,counter,value,help"
TRACE = "time_ns,flow,qp,rate_bps,target_rate_bps,alpha,time_stage,byte_stage,rtt_ns,window_bytes,reason"

RESULT_KEYS = """format program version scenario seed duration_ns measure_from_ns icrc_check cc pfc link_speed_bps
    flows jain_index bottleneck pfc_counters pause_frames_after_measure last_pause_ns drops counters
    frames packet_hops wall_seconds packet_hops_per_second digest""".split()
FLOW_KEYS = """name src dst qps wire_rate_bps goodput_bps min_rate_bps messages_wanted messages_completed cnp_sent
    rp_cnp_handled rate_cuts retransmitted_packets error""".split()
BOTTLENECK_KEYS = """node port queue link_use queue_mean_bytes queue_p50_bytes queue_p99_bytes queue_max_bytes
    wred_min_bytes wred_max_bytes ecn_marked_packets""".split()


def require(path: pathlib.Path, what: Mapping[str, Any], keys: Iterable[str]) -> None:
    for key in keys:
        if key not in what:
            raise BadInput(f"{path}: no key {key}: not results of quench-lab, format 2")


def read_results(path: pathlib.Path) -> dict[str, Any]:
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        begun = next(path.parent.glob("*.part"), None)
        raise BadInput(f"{path}: {error.strerror}" + (f": the run has not ended, or was killed: there is {begun.name}" if begun else "")) from error
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error
    if not isinstance(results, dict):
        raise BadInput(f"{path}: not a JSON object")
    require(path, results, RESULT_KEYS)
    if results["format"] != 2:
        raise BadInput(f"{path}: format {results['format']}: expected format 2")
    for flow in results["flows"]:
        require(path, flow, FLOW_KEYS)
    require(path, results["bottleneck"], BOTTLENECK_KEYS)
    return results


def read_times(path: pathlib.Path) -> dict[tuple[str, str], tuple[Column, Column]]:
    """Histograms: {(flow, measure): (values, counts)}. Empty if nothing was measured, or an older quench-lab wrote the folder."""
    rows: dict[tuple[str, str], list[tuple[int, int]]] = {}
    line = 1
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != TIMES.split(","):
                raise BadInput(f"{path}: expected the columns {TIMES}")
            for row in reader:
                line = reader.line_num
                rows.setdefault((row["flow"], row["measure"]), []).append((int(row["at_most"]), int(row["count"])))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except (TypeError, ValueError) as error:
        raise BadInput(f"{path}: line {line}: {error}") from error
    return {key: (np.array([at for at, _ in pairs]), np.array([n for _, n in pairs])) for key, pairs in rows.items()}


def read_message_table(path: pathlib.Path, wanted: Collection[str] | None = None) -> Table:
    """messages.csv, or the wanted columns of it. A message without an ideal time has 0 there, and a slowdown of NaN."""
    line = 1
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            columns: list[str] = next(reader, [])
            if not set(MESSAGES) <= set(columns):
                raise BadInput(f"{path}: expected the columns {', '.join(MESSAGES)}")
            values: dict[str, list[Any]] = {column: [] for column in columns if wanted is None or column in wanted}
            for row in reader:
                line = reader.line_num
                for column, text in zip(columns, row, strict=True):
                    if column in values:
                        values[column].append(text if column in TEXTS else float(text or "nan") if column == "slowdown" else int(text or 0))
    except ValueError as error:
        raise BadInput(f"{path}: line {line}: {error}") from error
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    kinds: dict[str, Any] = {"slowdown": np.float64, **dict.fromkeys(TEXTS, np.str_)}
    return Table({column: np.array(column_values, dtype=kinds.get(column, np.int64)) for column, column_values in values.items()})


def read_messages(path: pathlib.Path) -> tuple[Column, Column] | None:
    """(bytes, slowdown) of all messages, in the order of their ends. None: the file was switched off, or an older quench-lab ran."""
    if not path.exists():
        return None
    table = read_message_table(path, MESSAGES)
    size, slowdown = (table[column] for column in MESSAGES)
    known = ~np.isnan(slowdown)
    return size[known], slowdown[known]


def read_rows(path: pathlib.Path, texts: Collection[str]) -> Table:
    """A CSV file as columns of numbers, and those of texts as text; cells without a number are None. Empty if there is no file."""
    line = 1
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            columns: list[str] = next(reader, [])
            values: dict[str, list[Any]] = {column: [] for column in columns}
            for row in reader:
                line = reader.line_num
                for column, text in zip(columns, row, strict=True):
                    values[column].append(text if column in texts else None if text == "" else float(text) if "." in text else int(text))
    except FileNotFoundError:
        return Table()
    except ValueError as error:
        raise BadInput(f"{path}: line {line}: {error}") from error
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    return Table({column: np.array(found, dtype=np.str_ if column in texts else None) for column, found in values.items()})


def read_samples(path: pathlib.Path, header: str, key: Sequence[str]) -> dict[tuple[str, ...], Series]:
    return {group: series.even() for group, series in read_series(path, header, key).items()}


class Counter(NamedTuple):
    node: str  # "all switches", "all hosts": sums
    port: str  # "": of the node; "all": a sum over ports
    name: str
    value: int
    help: str


def read_counters(path: pathlib.Path) -> list[Counter]:
    """The rows of counters.csv. Empty if an older quench-lab wrote the folder."""
    line = 1
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            if next(reader, []) != COUNTERS.split(","):
                raise BadInput(f"{path}: expected the columns {COUNTERS}")
            found = []
            for node, port, name, value, text in reader:
                line = reader.line_num
                found.append(Counter(node, port, name, int(value), text))
            return found
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: line {line}: {error}") from error


def read_config(path: pathlib.Path) -> dict[tuple[str, str], str] | None:
    """The configuration in force, {(section, key): value}. None: an older quench-lab has not written it."""
    parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#", ";"), inline_comment_prefixes=(" #", " ;"), strict=False)
    parser.optionxform = str  # type: ignore[assignment]
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except FileNotFoundError:
        return None
    except (OSError, configparser.Error, ValueError) as error:
        raise BadInput(f"{path}: {str(error).splitlines()[0]}") from error
    return {(section, key): value for section in parser.sections() for key, value in parser.items(section)}


def read_trace(path: pathlib.Path) -> dict[tuple[str, int], Series]:
    """trace.csv of quench-lab --trace: {(flow, qp): Series}. The column reason is text."""
    return {(flow, int(qp)): series for (flow, qp), series in read_series(path, TRACE, ["flow", "qp"], ["reason"]).items()}


def whole_run(flows: dict[str, Series], others: Iterable[Series]) -> dict[str, Series]:
    """
    All flows with all samples of the run, which the others have too. Rows of a pair begin when it first sends; before there are zeros. Those of
    a flow with a last message end with a sample without traffic, which holds from there on.
    """
    times = np.unique(np.concatenate([np.array([]), *(series["time_ns"] for series in (*flows.values(), *others))]))
    for name, series in flows.items():
        before, rows = int(np.searchsorted(times, series["time_ns"][0])), len(series["time_ns"])
        if rows < len(times) and np.array_equal(times[before:before + rows], series["time_ns"]):
            kept = {column: np.concatenate((np.zeros(before), values, np.repeat(values[-1], len(times) - before - rows))) for column, values in series.items()}
            flows[name] = Series(kept | {"time_ns": times})
    return flows


class Run:
    """The files of a run, as tables.

    results        results.json
    config         effective.ini: {(section, key): value}, or None
    flows          flows.csv: {flow: Series}
    queues         queues.csv: {(node, port, queue): Series}
    pauses         pfc.csv: {(node, port, prio): Series}
    groups         pgs.csv: {(node, port, pg): Series}
    times          times.csv: {(flow, measure): (values, counts)}
    messages       messages.csv: (bytes, slowdown) of all messages, or None
    fluid          the fluid model: its Series, and its part of results.json
    """

    def __init__(self, folder: str | pathlib.Path) -> None:
        self.folder = folder = pathlib.Path(folder)
        self.results = read_results(folder / "results.json")
        self.config = read_config(folder / "effective.ini")
        self.queues = read_samples(folder / "queues.csv", QUEUES, ["node", "port", "queue"])
        self.flows = whole_run({name: series for (name,), series in read_samples(folder / "flows.csv", FLOWS, ["flow"]).items()}, self.queues.values())
        self.times = read_times(folder / "times.csv")
        self.pauses = read_samples(folder / "pfc.csv", PFC, ["node", "port", "prio"])
        # An older quench-lab did not write this file.
        self.groups = read_samples(folder / "pgs.csv", PGS, ["node", "port", "pg"]) if (folder / "pgs.csv").exists() else {}
        self.fluid = Fluid(folder, self.results)

    @functools.cached_property
    def messages(self) -> tuple[Column, Column] | None:
        return read_messages(self.folder / "messages.csv")

    def message_table(self) -> Table:
        """All columns of messages.csv: who sent what, when, and how long it took."""
        return read_message_table(self.folder / "messages.csv")

    def counters(self) -> list[Counter]:
        return read_counters(self.folder / "counters.csv")

    def jobs(self) -> Table:
        """jobs.csv: each iteration of each job. Empty without jobs, as the next ones."""
        return read_rows(self.folder / "jobs.csv", ["job"])

    def job_ranks(self) -> Table:
        """job_ranks.csv: each rank in each iteration."""
        return read_rows(self.folder / "job_ranks.csv", ["job"])

    def critical_path(self) -> Table:
        """critical_path.csv: the parts of the critical path of each iteration."""
        return read_rows(self.folder / "critical_path.csv", ["job", "kind"])

    def job_states(self) -> Table:
        """job_states.csv: what each rank did in the slowest iteration."""
        return read_rows(self.folder / "job_states.csv", ["job", "state"])

    def trace(self) -> dict[tuple[str, int], Series]:
        return read_trace(self.folder / "trace.csv")

    def bottleneck(self) -> Series | None:
        """The Series of the bottleneck queue, or None."""
        b = self.results["bottleneck"]
        return self.queues.get((str(b["node"]), str(b["port"]), str(b["queue"])))

    def bottleneck_speed_bps(self) -> int:
        """Of the bottleneck's own port: links between switches may have another speed than those of hosts."""
        b = self.results["bottleneck"]
        own = (p["link_speed_bps"] for p in self.results.get("ports", []) if (p["node"], p["port"]) == (b["node"], b["port"]))
        return int(next(own, self.results["link_speed_bps"]))

    def all_times(self, measure: str) -> tuple[Column, Column] | None:
        """The sum of the histograms of all flows: (values, counts), or None."""
        parts = [pair for (_, what), pair in self.times.items() if what == measure]
        if not parts:
            return None
        values, where = np.unique(np.concatenate([values for values, _ in parts]), return_inverse=True)
        return values, np.bincount(where, weights=np.concatenate([counts for _, counts in parts]))

    def quantile(self, measure: str, percent: float) -> float | None:
        """Quantile of completion_ns, slowdown_milli or rtt_ns over all flows; None: nothing was measured."""
        times = self.all_times(measure)
        if times is None:
            return None
        values, counts = times
        return float(values[np.searchsorted(np.cumsum(counts), counts.sum() * percent / 100)])
