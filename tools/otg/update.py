# SPDX-License-Identifier: BSD-3-Clause
"""update_config: a configuration with other rates and sizes of its raw flows."""
from __future__ import annotations

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
