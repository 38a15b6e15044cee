# SPDX-License-Identifier: BSD-3-Clause
"""Results of quench-lab as tables, and runs started from Python (doc/lab.md). Needs numpy; pandas is optional.

    PYTHONPATH=tools python3
    import quench
    run = quench.run("config/incast-4to1.ini", {"wred.Kmax": "100KB"}, out="quench-100KB")
    run.flows["incast h1"]["wire_rate_bps"].mean()
    quench.Sweep("quench-sweep").table["queue_mean_bytes"]
    quench.pandas(run.flows, ["flow"])

tables reads CSV files; fluid, data and sweep read what quench-lab and scripts/sweep write; lab starts runs.
"""
from .data import Counter, Run, read_message_table, read_trace
from .fluid import Fluid
from .lab import Failed, Settings, Started, run, start
from .sweep import Sweep
from .tables import BadInput, Series, Table, pandas

__all__ = ["BadInput", "Counter", "Failed", "Fluid", "Run", "Series", "Settings", "Started", "Sweep", "Table", "pandas", "read_message_table", "read_trace", "run", "start"]
