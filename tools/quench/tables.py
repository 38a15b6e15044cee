# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers by column name, and how a CSV file is read as such."""
from __future__ import annotations

import csv
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]


class BadInput(Exception):
    """A file is missing or malformed; the text is one line."""


class Table(dict[str, Column]):
    """Columns by name, as arrays of equal length."""

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each row, with plain numbers and texts."""
        columns = {name: values.tolist() for name, values in self.items()}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        import pandas  # type: ignore[import]  # optional: only this method and pandas() need it
        return pandas.DataFrame(dict(self))


MOST_ROWS = 1_000_000  # of Series.even()


class Series(Table):
    """A table in order of time, with the column time_ns."""

    def ms(self) -> Column:
        return self["time_ns"] / 1e6

    def per_ms(self, column: str) -> Column:
        """Growth of a cumulative column in each interval, divided by its length in ms."""
        return self.growth(column) / self.intervals_ns() * 1e6

    def growth(self, column: str) -> Column:
        return np.diff(self[column], prepend=0)

    def intervals_ns(self) -> Column:
        """Length of the interval that ends at each sample. Rows may begin late, with the first nonzero values."""
        steps = np.diff(self["time_ns"], prepend=0)
        if len(steps) > 1:
            steps[0] = steps[1]
        return np.maximum(steps, 1)

    def edges_ms(self) -> Column:
        """Boundaries of the intervals: one more than samples."""
        return np.append(self["time_ns"][0] - self.intervals_ns()[0], self["time_ns"]).clip(0) / 1e6

    def even(self) -> Series:
        """Every sample, with those that quench-lab leaves out of idle times; unchanged if that is more than MOST_ROWS."""
        times = self["time_ns"]
        steps = np.diff(times)
        if len(steps) < 2:
            return self
        step = steps[:-1].min()  # the last interval may be shorter
        rows = (times[-1] - times[0]) // step
        if rows < len(steps) or rows > MOST_ROWS:
            return self
        even = np.union1d(times[0] + step * np.arange(rows + 1), times)
        return Series({column: even if column == "time_ns" else np.interp(even, times, values) for column, values in self.items()})


def pandas(tables: Mapping[Any, Table], names: Sequence[str]) -> Any:
    """Tables by key, such as the flows of a run, as one pandas.DataFrame. The keys become the index levels names."""
    import pandas as library
    return library.concat({key: table.pandas() for key, table in tables.items()}, names=[*names, "row"])


def read_series(path: pathlib.Path, header: str, key: Sequence[str], texts: Sequence[str] = ()) -> dict[tuple[str, ...], Series]:
    """Rows grouped by the columns of key: {(node, port, queue): Series}. Columns beyond those of header are read too. texts: the columns that
    are not numbers."""
    columns = header.split(",")
    rows: dict[tuple[str, ...], list[list[Any]]] = {}
    line = 0
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            first: list[str] = next(reader, [])
            if first[:len(columns)] != columns:
                raise BadInput(f"{path}: expected the columns {header}")
            columns = first
            where = [columns.index(name) for name in key]
            values = [(i, str if name in texts else float) for i, name in enumerate(columns) if i not in where]
            for row in reader:
                line = reader.line_num
                rows.setdefault(tuple(row[i] for i in where), []).append([kind(row[i]) for i, kind in values])
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except (ValueError, IndexError) as error:
        raise BadInput(f"{path}: line {line}: {error}") from error
    names = [columns[i] for i, _ in values]
    return {group: Series(zip(names, columns_of(found, bool(texts)))) for group, found in rows.items()}


def columns_of(rows: list[list[Any]], mixed: bool) -> Sequence[Column]:
    """The columns of rows. mixed: they differ in type."""
    if mixed:
        return [np.array(column) for column in zip(*rows)]
    return list(np.array(rows).T)
