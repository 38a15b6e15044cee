# SPDX-License-Identifier: BSD-3-Clause
"""Where the programs are: built in this tree, or installed. Needs nothing but Python."""
from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def program(name: str) -> pathlib.Path:
    """Path of quench-lab, say: that of build/, or of the build folder QUENCH_BUILD, or without it the one in PATH."""
    built = pathlib.Path(os.environ.get("QUENCH_BUILD", ROOT / "build")) / "app" / name / name
    installed = shutil.which(name)
    return built if built.exists() or installed is None else pathlib.Path(installed)


def version() -> str:
    """Of quench, such as 0.2.0."""
    return release()[0]


@functools.cache
def release() -> tuple[str, str]:
    """Version and commit of quench: those of its tree, or those that meson wrote beside the installed scripts. The commit is eight
    digits, and + if the tree was changed; "unknown" without a repository."""
    tree, installed = ROOT / "meson.build", ROOT / "version"
    if not tree.exists():
        known = installed.read_text(encoding="utf-8").split() if installed.exists() else []
        return (known[0], known[1]) if len(known) == 2 else ("unknown", "unknown")
    text = tree.read_text(encoding="utf-8")
    try:
        found = subprocess.run(["git", "describe", "--always", "--exclude=*", "--abbrev=8", "--dirty=+"], cwd=ROOT, capture_output=True, text=True)
        commit = found.stdout.strip() if found.returncode == 0 else ""
    except OSError:
        commit = ""
    return text.split("version: '", 1)[1].split("'", 1)[0], commit or "unknown"
