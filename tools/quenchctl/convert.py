# SPDX-License-Identifier: BSD-3-Clause
"""import and export: the converter's command line (tools/convert)."""
from __future__ import annotations

from convert import command

from quenchctl.command import BadUsage, Run


def convert(run: Run, direction: str, dialect: str, has_ports: bool = False, has_settings: bool = False) -> int:
    o = run.options
    if o.ports is not None and not has_ports:
        raise BadUsage("--ports: expected import nxos or import sonic")
    if o.settings and not has_settings:
        raise BadUsage("--set: expected import chakra, simai or nccl")
    if o.json or o.socket is not None or o.prefix is not None:
        raise BadUsage("import and export: expected no option but --output, since they use no running program")
    given = [word for name, value in (("--output", o.output), ("--ports", o.ports)) if value is not None for word in (name, value)]
    given += [word for setting in o.settings for word in ("--set", setting)]
    return command.main([*given, "--", direction, dialect, run.params[0]])


def nxos(run: Run) -> int:
    return convert(run, "import", "nxos", has_ports=True)


def sonic(run: Run) -> int:
    return convert(run, "import", "sonic", has_ports=True)


def mlnx(run: Run) -> int:
    return convert(run, "import", "mlnx")


def chakra(run: Run) -> int:
    return convert(run, "import", "chakra", has_settings=True)


def simai(run: Run) -> int:
    return convert(run, "import", "simai", has_settings=True)


def nccl(run: Run) -> int:
    return convert(run, "import", "nccl", has_settings=True)


def export_sonic(run: Run) -> int:
    return convert(run, "export", "sonic")
