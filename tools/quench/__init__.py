# SPDX-License-Identifier: BSD-3-Clause
"""quench from Python: runs of quench-lab as tables, and quench-nic and quench-switch on ports (doc/python.md).

    PYTHONPATH=tools python3
    import quench
    run = quench.run("config/incast-4to1.ini", {"wred.Kmax": "100KB"}, out="quench-100KB")
    run.flows["incast h1"]["wire_rate_bps"].mean()
    quench.Sweep("quench-sweep").table["queue_mean_bytes"]
    quench.pandas(run.flows, ["flow"])

    with quench.Switch(open("switch.ini").read(), devices=["net_tap0", "net_tap1"]) as switch:
        switch.set({"wred.Kmax": "100KB"})
        switch.ports()[0]["tx_pause_frames"]

tables reads CSV files; fluid, data and sweep read what quench-lab and scripts/sweep write; lab starts runs. These need numpy; pandas is
optional. desk is a client of a program's socket, process is a program, programs has its forms for users, and samples reads it over
time. These need nothing but Python.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .capture import Capture
    from .data import Counter, Run, read_message_table, read_trace
    from .desk import Desk, Failed
    from .fluid import Fluid
    from .lab import Started, run, start
    from .programs import Cable, Nic, Program, Settings, Switch
    from .samples import Samples, per_second, sample
    from .sweep import Sweep
    from .tables import BadInput, Series, Table, pandas

__all__ = ["BadInput", "Cable", "Capture", "Counter", "Desk", "Failed", "Fluid", "Nic", "Program", "Run", "Samples", "Series", "Settings", "Started",
           "Sweep", "Switch", "Table", "pandas", "per_second", "read_message_table", "read_trace", "run", "sample", "start"]

# What is not used is not imported: quenchctl, for one, has to answer at once.
_HOMES = {
    "capture": ("Capture",),
    "data": ("Counter", "Run", "read_message_table", "read_trace"),
    "desk": ("Desk", "Failed"),
    "fluid": ("Fluid",),
    "lab": ("Started", "run", "start"),
    "process": (),
    "programs": ("Cable", "Nic", "Program", "Settings", "Switch"),
    "samples": ("Samples", "per_second", "sample"),
    "sweep": ("Sweep",),
    "tables": ("BadInput", "Series", "Table", "pandas"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name == module:
            return importlib.import_module(f".{module}", __name__)
        if name in names:
            return getattr(importlib.import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
