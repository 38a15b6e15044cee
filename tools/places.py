# SPDX-License-Identifier: BSD-3-Clause
"""Where the programs are: built in this tree, or installed. Needs nothing but Python."""
from __future__ import annotations

import os
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[1]


def program(name: str) -> pathlib.Path:
    """Path of quench-lab, say: that of build/, or of the build folder QUENCH_BUILD, or without it the one in PATH."""
    built = pathlib.Path(os.environ.get("QUENCH_BUILD", ROOT / "build")) / "app" / name / name
    installed = shutil.which(name)
    return built if built.exists() or installed is None else pathlib.Path(installed)


def version() -> str:
    """Of quench: that of meson.build in its tree, or the one that meson wrote beside the installed scripts."""
    for name in ("meson.build", "version"):
        path = ROOT / name
        if path.exists():
            text = path.read_text(encoding="utf-8")
            return text.split("version: '", 1)[1].split("'", 1)[0] if name == "meson.build" else text.strip()
    return "unknown"
