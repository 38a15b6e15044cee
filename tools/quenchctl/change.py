# SPDX-License-Identifier: BSD-3-Clause
"""reload, set, start, stop and remove: change the configuration of a program."""
from __future__ import annotations

import os

from quench.desk import Row
from quenchctl.command import DONE, SWITCH, BadUsage, Run, number_or_text, print_json, say
from quenchctl.show import cells


def change(run: Run, method: str, **params: object) -> int:
    """Send a change, and print what became of it."""
    reply = run.desk.call(method, **params, dry_run=run.options.dry_run or None)
    for warning in reply.get("warnings", []):
        say("warning: ", warning)
    if run.options.json:
        print_json(reply)
        return DONE
    print_changes(run, reply)
    if run.options.dry_run:
        print("nothing was changed: --dry-run")
        return DONE
    # It is not in force yet, or took long.
    waited_s = reply["waited_us"] / 1e6
    if not reply["in_force"]:
        print(f"accepted, but not in force on all lcores after {waited_s:.1f} s: they are busy or stopped")
    elif waited_s >= 0.1:
        print(f"in force after {waited_s:.1f} s")
    return DONE


def print_changes(run: Run, reply: Row) -> None:
    if reply["changed"] == 0:
        print("nothing to change: all keys have these values already")
        return
    if run.program == SWITCH and reply["rows"]:
        from quenchctl.show import port_texts
        port_texts.name(run.desk, ["section"], reply["rows"])
    cells.rows(reply["rows"], "section key from to")


def set_keys(run: Run) -> int:
    return change(run, "set", settings=run.params)


def set_port_key(run: Run, key: str) -> int:
    port, value = run.params
    run.desk.call("port", port=number_or_text("port", port))  # which says better than the configuration what ports there are
    return change(run, "set", settings=[f"port {port}.{key}={value}"])


def set_tx_disabled(run: Run) -> int:
    return set_port_key(run, "tx_disabled")


def set_pfc_delay(run: Run) -> int:
    return set_port_key(run, "pfc_delay_quanta")


def set_big_red_switch(run: Run) -> int:
    if run.desk.call("pfcwd")["pfcwd"] == "off":
        raise BadUsage("the watchdog is off: no queue is watched: expected [pfcwd] pfcwd = sonic or nxos")
    return change(run, "set", settings=[f"pfcwd.big_red_switch={run.params[0]}"])


def set_stopped(run: Run, value: str) -> int:
    # Setting a key of an unknown flow would begin a new one.
    flow = run.params[0]
    if any(row["name"] == flow for row in run.desk.call("jobs")["rows"]):
        return change(run, "set", settings=[f"job {flow}.stopped={value}"])
    if not any(row["flow"] == flow and not row.get("gone") for row in run.desk.call("flows")["rows"]):
        raise BadUsage(f"{flow}: expected a flow that \"show flows\" lists, or a job")
    return change(run, "set", settings=[f"flow {flow}.stopped={value}"])


def start(run: Run) -> int:
    return set_stopped(run, "off")


def stop(run: Run) -> int:
    return set_stopped(run, "on")


def reload(run: Run) -> int:
    if not run.params:
        return change(run, "reload")
    try:
        # The program may run in another folder.
        return change(run, "reload", file=os.path.realpath(run.params[0], strict=True))
    except OSError as error:
        raise BadUsage(f"{run.params[0]}: {error.strerror}") from error


def remove_route(run: Run) -> int:
    return change(run, "remove", routes=run.params)


def remove(run: Run) -> int:
    return change(run, "remove", flows=run.params)
