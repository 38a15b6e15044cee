#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write FOLDER/PROGRAM.ini.json from the --help-config of programs: share/help/ini_schema.py FOLDER PATH...

Each is a JSON Schema (draft 2020-12) of a configuration as an object of sections, each an object of keys. A value is a text as in the
file, or a number. Rules that concern several keys are the program's: --check-config.
"""
import json
import pathlib
import re
import subprocess
import sys

WORDS = re.compile(r"[\w.]+(, [\w.]+)* or [\w.]+")
WHOLE = re.compile(r"a whole number from (-?\d+) to (\d+)")
# Capitals of a section's name, and what stands there; N may be the name of a port.
PARAMS = {"NAME": r"[^\]]+", "PREFIX": r"\S+", "ADDRESS": r"\S+", "N": r"[^\]|]+", "P": r"[^\]|]+"}
PARAM = re.compile(rf"\b({'|'.join(PARAMS)})\b")
# Sections of a scenario that have the keys of others (doc/interface.md): [switch NAME] has those of a switch, [switch NAME SECTION] those of [SECTION].
OF_SWITCH = ("switch", "wred", "step", "phantom", "scheduler", "pfc", "router", "pfcwd")
ALSO_OF_ONE = ("buffer_profile ", "qos_map", "lldp", "tc ", "pg ", "queue ")


def rows(body):
    """The cells of a Markdown table, without its head."""
    for line in body.splitlines():
        if line.startswith("| `"):
            yield [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def value(expected):
    """Schema of a value, from the words that the program expects it in."""
    if WORDS.fullmatch(expected):
        words = re.split(r", | or ", expected)
        return {"enum": words + [int(word) for word in words if word.isdigit()]}
    whole = WHOLE.fullmatch(expected)
    if whole:
        return {"type": ["string", "integer"], "pattern": r"^[-+]?(0x[0-9a-fA-F]+|[0-9]+)$", "minimum": int(whole[1]), "maximum": int(whole[2])}
    return {"type": ["string", "number"]}


def keys(body):
    found = {}
    for name, expected, default, live, others, help_ in rows(body):
        key = name.strip("`")
        text = f"{help_}{'. ' if help_ else ''}{expected}{'; can change while the program runs' if live else ''}"
        found[key] = value(expected) | {"description": text} | ({} if default in ("required", "(empty)") else {"default": default})
        found |= {alias: {"type": ["string", "number"], "description": f"{key}, under another name"} for alias in re.findall("`([^`]+)`", others)}
    return found


def sections(program):
    """{title: {key: schema}}"""
    text = subprocess.run([program, "--help-config"], capture_output=True, text=True, check=True).stdout
    found = {}
    for part in ("\n" + text).split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        for one in title.strip(" []").split(", "):
            found[one] = found.get(one, {}) | keys(body)
    return found


def complete(found):
    """With the sections that --help-config mentions in words only."""
    if "interface vlan N" in found:
        found["interface port N"] = found["interface vlan N"]
    if "port N" in found:
        found.setdefault("port", found["port N"])
    if "switch NAME" in found:
        for one in OF_SWITCH:
            found["switch NAME"] = found["switch NAME"] | found[one]
        found |= {f"switch NAME {title}": own for title, own in found.items() if title.startswith(ALSO_OF_ONE) and title != "buffer_profile NAME"}
    return found


def has_params(title):
    return PARAM.search(title) is not None


def pattern(title, named):
    """Of the sections with this title, but for those that have a title of their own, such as [buffer_profile lossless] beside [buffer_profile NAME]."""
    params = PARAMS | ({"NAME": r"[^\] ]+"} if title.startswith("switch ") else {})
    text = PARAM.sub(lambda word: params[word[0]], title.replace("|", r"\|"))
    own = [one for one in named if re.fullmatch(text, one)]
    return f"^{f'(?!({chr(124).join(own)})$)' if own else ''}{text}$"


def schema(path):
    """path: of a program"""
    found = complete(sections(path))
    named = [title for title in found if not has_params(title)]
    refs = {title: {"$ref": f"#/$defs/{title.removeprefix('switch NAME ').replace(' ', '_').replace('|', '_')}"} for title in found}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"configuration of {path.name}", "type": "object",
            "properties": {title: refs[title] for title in named},
            "patternProperties": {pattern(title, named): refs[title] for title in found if has_params(title)},
            "additionalProperties": False,
            "$defs": {refs[title]["$ref"].rpartition("/")[2]: {"type": "object", "properties": own, "additionalProperties": False} for title, own in found.items()}}


def main(folder, *programs):
    for path in map(pathlib.Path, programs):
        text = json.dumps(schema(path), indent=1) + "\n"
        (pathlib.Path(folder) / f"{path.name}.ini.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
