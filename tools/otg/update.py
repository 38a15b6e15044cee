# SPDX-License-Identifier: BSD-3-Clause
"""A configuration with other rates and sizes of its raw flows (update_config), more of them (append_config), or fewer (delete_config)."""
from __future__ import annotations

from typing import Any

from . import schema
from .schema import Object, Refused


def updated(config: Object, given: Object, request: Object) -> Object:
    """@param config, given: of set_config and of Flows.Update, as they came; request: given, with defaults. Raises Refused."""
    names = request["property_names"]
    if not names:
        raise Refused(["flows.property_names: none: expected rate, size or both"])
    flows = {flow["name"]: flow for flow in config.get("flows") or []}
    changed: dict[str, Object] = {}
    errors: list[str] = []
    for n, (raw, flow) in enumerate(zip(given["flows"], request["flows"])):
        path, now = f"flows.flows[{n}]", flows.get(flow["name"])
        if now is None:
            errors.append(f"{path}.name: {flow['name']!r}: expected a raw flow of the configuration")
            continue
        if flow["name"] in changed:
            errors.append(f"{path}.name: {flow['name']!r}: an earlier one has this name")
        full = schema.check("Flow", now)
        errors += [f"{path}.{key}: not in property_names, and another one than in the configuration" + (
                   "" if key in ("rate", "size") else ": only rate and size can change") for key in raw
                   if raw[key] is not None and key not in ("name", *names) and flow[key] != full.get(key)]
        changed[flow["name"]] = {**now, **{name: raw.get(name) for name in names}}
    if errors:
        raise Refused(errors)
    return {**config, "flows": [changed.get(flow["name"], flow) for flow in config["flows"]]}


def unwrapped(given: Any, key: str) -> Any:
    """The list of the OpenAPI text, of a client that sends the message of its protocol buffers, as gosnappi does."""
    return given[key] if isinstance(given, dict) and given.keys() == {key} else given


def appended(config: Object, given: list[Object]) -> tuple[Object, list[str]]:
    """@param given: of Config.Append, as it came. @return the configuration, and the path of each new flow"""
    flows = [(f"[{n}].flows[{m}]", flow) for n, item in enumerate(given) for m, flow in enumerate(item.get("flows") or [])]
    return {**config, "flows": [*(config.get("flows") or []), *(flow for _, flow in flows)]}, [path for path, _ in flows]


def deleted(config: Object, request: list[Object]) -> tuple[Object, set[str]]:
    """@param request: of Config.Delete. @return the configuration, and the names of the flows. Raises Refused."""
    known, names, errors = {flow["name"] for flow in config.get("flows") or []}, set(), []
    for n, item in enumerate(request):
        for m, name in enumerate(item.get("flows", [])):
            if name not in known:
                errors.append(f"[{n}].flows[{m}]: {name!r}: expected a raw flow of the configuration")
            elif name in names:
                errors.append(f"[{n}].flows[{m}]: {name!r}: an earlier one has this name")
            names.add(name)
    if errors:
        raise Refused(errors)
    return {**config, "flows": [flow for flow in config.get("flows") or [] if flow["name"] not in names]}, names
