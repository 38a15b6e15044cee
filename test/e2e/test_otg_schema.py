#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of quench-otg against the schema, and each enum, bound and required property at and beyond its limits.

python3-jsonschema judges what the schema allows. Requests are made of the schema: for each property that the tables carry, one that
has it at each limit, and one beyond. The server's own checker must agree with the judge on all that it does not refuse by name.
"""
import copy
import json
import pathlib
import sys

from harness import check, check_equal, finish, run, skip

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
try:
    import jsonschema
except ImportError:
    skip("python3-jsonschema is not installed")
from otg import schema  # noqa: E402
from otg.table import TABLE  # noqa: E402

SCHEMAS = schema.SCHEMAS
# What a request, a configuration and a reply are made of.
ROOTS = ("Config", "Config.Update", "Config.AppendResources", "Config.DeleteResources", "Control.State", "Metrics.Request", "States.Request", "Capture.Request", "Metrics.Response", "States.Response",
         "Version", "Warning", "Error")
LISTS = ("Config.Append", "Config.Delete")  # of the resources
REQUESTS = ROOTS[:8]


def of(prop):
    """Name of the object of a property, or of its items."""
    ref = prop.get("$ref") or prop.get("items", {}).get("$ref")
    return ref.rpartition("/")[2] if ref else None


def reachable():
    """Objects that carried properties lead to."""
    found, left = set(), list(ROOTS + LISTS)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        for key, prop in SCHEMAS.get(name, {}).get("properties", {}).items():
            if TABLE.get(name, {}).get(key) and TABLE[name][key].carried and of(prop):
                left.append(of(prop))
    return found


def check_tables():
    found = reachable()
    check_equal("an entry for each object that is reached, and for no other", sorted(TABLE), sorted(found))
    for name in sorted(found):
        check_equal(f"{name}: an entry for each property", sorted(TABLE[name]), sorted(SCHEMAS[name].get("properties", {})))
        for key, row in TABLE[name].items():
            prop = SCHEMAS[name]["properties"][key]
            values = set(prop.get("enum", prop.get("items", {}).get("enum", ())))
            check(f"{name}.{key}: refused values are those of its enum", not row.refused or row.refused.keys() < values, set(row.refused) - values)
            if not row.text:
                check(f"{name}.{key}: says how or why", False)


def judge(name, value):
    """Does python3-jsonschema accept it?"""
    resolver = jsonschema.RefResolver("", schema.DOCUMENT)
    validator = jsonschema.Draft7Validator({"$ref": f"#/components/schemas/{name}"}, resolver=resolver, format_checker=FORMATS)
    return validator.is_valid(value)


FORMATS = jsonschema.FormatChecker()
FORMATS.checks("mac")(lambda v: not isinstance(v, str) or schema.FORMATS["mac"][0](v))
FORMATS.checks("hex")(lambda v: not isinstance(v, str) or schema.FORMATS["hex"][0](v))
for _format, _bounds in schema.FORMAT_BOUNDS.items():
    FORMATS.checks(_format)(lambda v, b=_bounds: not isinstance(v, int) or b[0] <= v <= b[1])


def plain(name, seen=()):
    """The smallest object with all that is required."""
    return {key: example(SCHEMAS[name]["properties"][key], name, key, seen) for key in SCHEMAS[name].get("required", ())}


EXAMPLES = {"ipv4": "10.0.0.1", "ipv6": "fd00::1", "mac": "02:00:00:00:00:01", "hex": "00"}


def example(prop, name, key, seen=()):
    if of(prop) and "$ref" in prop:
        return plain(of(prop), (*seen, name))
    kind = prop.get("type")
    if kind == "array":
        return [example(prop["items"], name, key, seen)]
    if kind == "string":
        allowed = [v for v in prop.get("enum", ()) if v not in TABLE[name][key].refused]
        return allowed[0] if allowed else EXAMPLES.get(prop.get("format"), "x")
    return {"integer": prop.get("minimum", 0), "number": prop.get("minimum", 0), "boolean": True}[kind]


def trials(prop):
    """Values at the limits of a property and beyond."""
    kind = prop.get("type")
    if kind == "array":
        return [[], "x", *([value] for value in trials(prop["items"]))] if "$ref" not in prop["items"] else [[], {}, "x"]
    if "$ref" in prop:
        return ["x", []]
    if "enum" in prop:
        return [*prop["enum"], "", "none_of_them", prop["enum"][0].upper(), 1]
    if kind == "boolean":
        return [True, False, "true", 1]
    if kind == "string":
        by_format = {"ipv4": ["255.255.255.255", "256.0.0.1", "1.2.3", "::1", ""], "ipv6": ["::", "fd00::1", "1.2.3.4", ":::", "fe80::1%eth0", "fe80::1%\n[nic]", ""],
                     "mac": ["00:00:00:00:00:00", "ff:FF:ff:FF:ff:FF", "0:0:0:0:0:0", "00-00-00-00-00-00", ""], "hex": ["0", "fF", "", "0x1", "g"]}
        longest = prop.get("maxLength")
        more = ["0" * longest, "0" * (longest + 1)] if longest else []
        return by_format.get(prop.get("format"), ["x", ""]) + more + [1, True, ["x"]]
    low, high = schema.FORMAT_BOUNDS.get(prop.get("format"), (None, None))
    low, high = prop.get("minimum", low), prop.get("maximum", high)
    found = ["x", True, [1]]
    found += [low, low - 1] if low is not None else []
    found += [high, high + 1] if high is not None else []
    return found + ([1.5] if kind == "integer" else [0.5])


def accepted(name, value):
    try:
        schema.check(name, value)
    except schema.Refused as refused:
        return refused.errors
    return []


def check_limits():
    count = wrong = 0
    requests = set()
    left = list(REQUESTS)
    while left:
        name = left.pop()
        if name not in requests:
            requests.add(name)
            left += [of(prop) for key, prop in SCHEMAS[name].get("properties", {}).items() if TABLE[name][key].carried and of(prop)]
    for name in sorted(requests):
        properties = SCHEMAS[name].get("properties", {})
        base = plain(name)
        for key, prop in properties.items():
            row = TABLE[name][key]
            if not row.carried:
                errors = accepted(name, {**base, key: {}})
                check(f"{name}.{key} is refused by name, with the reason", any(e.startswith(f"{key}: refused: {row.text}") for e in errors), errors)
                continue
            for value in trials(prop):
                trial = {**copy.deepcopy(base), key: value}
                good, errors = judge(name, trial), accepted(name, trial)
                if key != "choice" and isinstance(value, str) and prop.get("format") == "uint64" and value.isdigit():
                    continue
                by_name = [e for e in errors if "refused: " in e or "not what choice selects" in e or "or choice" in e or "choice selects it" in e]
                ours = [e for e in errors if e not in by_name]
                # A text is bounded by the length of immediate_data's odd bounds, which the judge does not know.
                if (name, key) == ("Rocev2.ImmediateData", "immediate_data"):
                    good = good and 1 <= len(value) <= 8
                count += 1
                # This object of the schema has no type, so the judge takes anything for it.
                if of(prop) == "State.Protocol.Rocev2.Peers":
                    good = False
                if good == bool(ours):
                    wrong += 1
                    check(f"{name}.{key} = {json.dumps(value)[:60]}: judged as {'good' if good else 'bad'}", False, errors)
                elif ours and not any(e.startswith(key) for e in ours):
                    wrong += 1
                    check(f"{name}.{key} = {json.dumps(value)[:60]}: the error names it", False, errors)
        for key in SCHEMAS[name].get("required", ()):
            count += 1
            trial = {k: v for k, v in base.items() if k != key}
            check_equal(f"{name} without {key}", (judge(name, trial), bool(accepted(name, trial))), (False, True))
        count += 1
        check(f"{name} with a property of no schema", any("no such property" in e for e in accepted(name, {**base, "no_such": 1})))
    check("the checker and python3-jsonschema agree", wrong == 0 and count > 600, (wrong, count))
    print(f"# {count} requests of {len(requests)} objects")


def check_defaults():
    """What the checker fills in is what the schema has."""
    for name, kind in schema.KINDS.items():
        for key, prop in SCHEMAS[name].get("properties", {}).items():
            if "default" in prop and TABLE[name][key].carried and key not in kind.choices:
                if kind.defaults.get(key) != prop["default"]:
                    check_equal(f"{name}.{key}: default", kind.defaults.get(key), prop["default"])
    check_equal("RoCEv2 without settings has the schema's", judge("Rocev2.PerPortSettings", schema.default("Rocev2.PerPortSettings")), True)


check_tables()
check_limits()
check_defaults()
done = run(ROOT / "scripts" / "gen-otg", "--check")
check_equal("doc/otg.md is up to date", (done.returncode, done.stdout), (0, "doc/otg.md is up to date\n"))
finish()
