# SPDX-License-Identifier: BSD-3-Clause
"""Read a folder of scripts/sweep (doc/interface.md)."""
from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from .tables import BadInput, Table


class Sweep:
    """The runs of a sweep, in the order of its grid.

    scenario   its name
    axes       [(name, [value, ...])] of each --set; a name is also a column
    table      the columns of sweep.csv. Values of an axis and digests are text; a missing number is NaN
    """

    def __init__(self, folder: str | pathlib.Path) -> None:
        self.folder = pathlib.Path(folder)
        path = self.folder / "sweep.json"
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["format"] != 1:
                raise BadInput(f"{path}: format {document['format']}: expected format 1")
            self.scenario: str = document["scenario"]
            self.axes: list[tuple[str, list[str]]] = [("+".join(axis["keys"]), axis["values"]) for axis in document["axes"]]
            runs: list[dict[str, Any]] = document["runs"]
            self.table = Table({name: column([run[name] for run in runs]) for name in runs[0]})
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}") from error
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise BadInput(f"{path}: not a sweep.json of scripts/sweep: {error}") from error

    def groups(self, axis: str) -> dict[str, Table]:
        """The runs of each point of the other axes, as {"key = value, ...": Table}."""
        return self.by([name for name, values in self.axes if name != axis and len(values) > 1])

    def repeated(self) -> dict[str, Table]:
        """The runs of each point, where seeds and traces are repetitions of one."""
        return self.by([name for name, values in self.axes if len(values) > 1 and not name.endswith(".trace")])

    def by(self, others: list[str]) -> dict[str, Table]:
        labels = np.array([", ".join(f"{name} = {self.table[name][i]}" for name in others) for i in range(len(self.table["seed"]))])
        return {label: Table({name: values[labels == label] for name, values in self.table.items()}) for label in dict.fromkeys(labels.tolist())}


def column(values: list[Any]) -> Any:
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=str)
    return np.array([np.nan if value is None else value for value in values], dtype=float)
