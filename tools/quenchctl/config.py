# SPDX-License-Identifier: BSD-3-Clause
"""The configuration in force as a file: show config, save."""
from __future__ import annotations

import os
import shutil
import sys
import tempfile

from quench.desk import Refused, Row
from quenchctl.command import DONE, Ends, Run, print_json, say


OTHER_FORMATS = (".yaml", ".yml", ".json")


def text_of(found: Row) -> str:
    """The text of the reply config_file. A warning if it cannot keep the file's comments."""
    for reason in found["lost"]:
        say("warning: ", f"every key is written, without the file's comments: {reason}")
    text: str = found["text"]
    return text


def show(run: Run) -> int:
    if run.options.json:
        print_json(run.desk.call("config"))
    else:
        sys.stdout.write(text_of(run.desk.call("config_file")))
    return DONE


def mode_of_new() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def replace(there: str, text: str) -> None:
    """The file is complete or as it was, and keeps its mode and owner. The other file has a name of its own: two may save at once."""
    fd, part = tempfile.mkstemp(prefix=".quenchctl-", dir=os.path.dirname(there))
    try:
        with open(fd, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(there):
            old = os.stat(there)
            if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(part, old.st_uid, old.st_gid)
            shutil.copymode(there, part)
        else:
            os.chmod(part, mode_of_new())
        os.replace(part, there)
    except BaseException:
        os.unlink(part)
        raise


def write(path: str, text: str) -> None:
    """A device or a pipe is written to, and stays. @raise Ends"""
    there = os.path.realpath(path)  # a link stays one
    try:
        if os.path.isfile(there) or not os.path.exists(there):
            replace(there, text)
        else:
            with open(there, "w", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise Ends(f"{path}: cannot be written: {error.strerror}") from error


def save(run: Run) -> int:
    from quenchctl.change import print_changes
    found = run.desk.call("config_file")
    path = run.params[0] if run.params else found["file"]
    if path.endswith(OTHER_FORMATS):
        raise Ends(f"{path}: expected a file of INI, such as {os.path.splitext(path)[0]}.ini: the configuration is written as INI only")
    text = text_of(found)
    try:
        changes = run.desk.call("config_changes")
    except Refused:  # the file cannot be read; text_of() has said so
        changes = {"total": 0, "rows": []}
    write(path, text)
    if run.options.json:
        print_json({"file": os.path.realpath(path), **changes})
        return DONE
    if changes["total"] > 0:
        print_changes(run, {**changes, "changed": changes["total"]})
    print(f"{path}: written")
    return DONE
