# SPDX-License-Identifier: BSD-3-Clause
"""The configuration in force as a file: show config, save."""
from __future__ import annotations

import os
import shutil
import sys

from quench.desk import Refused, Row
from quenchctl.command import DONE, Ends, Run, print_json, say


def read(run: Run) -> Row:
    """The file, and a warning if it cannot keep its comments."""
    found: Row = run.desk.call("config_file")
    for reason in found["lost"]:
        say("warning: ", f"every key is written, without the file's comments: {reason}")
    return found


def show(run: Run) -> int:
    if run.options.json:
        print_json(run.desk.call("config"))
    else:
        sys.stdout.write(read(run)["text"])
    return DONE


def write(path: str, text: str) -> None:
    """The file is complete or as it was, and keeps its mode and owner. @raise Ends"""
    there = os.path.realpath(path)  # a link stays one
    part = f"{there}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(there):
            old = os.stat(there)
            shutil.copymode(there, part)
            if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(part, old.st_uid, old.st_gid)
        os.replace(part, there)
    except OSError as error:
        if os.path.exists(part):
            os.unlink(part)
        raise Ends(f"{path}: cannot be written: {error.strerror}") from error


def save(run: Run) -> int:
    from quenchctl.change import print_changes
    found = read(run)
    try:
        changes = run.desk.call("config_changes")
    except Refused:  # the file cannot be read; read() has said so
        changes = {"total": 0, "rows": []}
    path = run.params[0] if run.params else found["file"]
    write(path, found["text"])
    if run.options.json:
        print_json({"file": os.path.realpath(path), **changes})
        return DONE
    if changes["total"] > 0:
        print_changes(run, {**changes, "changed": changes["total"]})
    print(f"{path}: written")
    return DONE
