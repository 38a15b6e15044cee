# SPDX-License-Identifier: BSD-3-Clause
"""import and export: the converter's command line (tools/convert)."""
from __future__ import annotations

from convert import command

from quenchctl.command import BadUsage, Run


def convert(run: Run, direction: str, dialect: str, has_ports: bool = False) -> int:
    o = run.options
    if o.ports is not None and not has_ports:
        raise BadUsage("--ports: expected import nxos or import sonic")
    if o.json or o.socket is not None or o.prefix is not None:
        raise BadUsage("import and export: expected no option but --output, since they use no running program")
    given = [word for name, value in (("--output", o.output), ("--ports", o.ports)) if value is not None for word in (name, value)]
    return command.main([*given, "--", direction, dialect, run.params[0]])


def nxos(run: Run) -> int:
    return convert(run, "import", "nxos", has_ports=True)


def sonic(run: Run) -> int:
    return convert(run, "import", "sonic", has_ports=True)


def mlnx(run: Run) -> int:
    return convert(run, "import", "mlnx")


def export_sonic(run: Run) -> int:
    return convert(run, "export", "sonic")
