#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The schemas of configurations over the files of config/: what a program accepts, and what it prints of it, is of its schema; a misspelt key or word is not."""
import json
import pathlib
import re

from harness import BUILD, check, check_equal, finish, path_of, run, skip

try:
    import jsonschema
except ImportError:
    skip("python3-jsonschema is not installed")

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMENT = re.compile(r"(^|[ \t])[#;].*")
CHECK = {"lab": ["--check-config"], "switch": ["--check-config", "--config"], "nic": ["--check-config", "--config"]}
LEAST = {"lab": 30, "switch": 5, "nic": 3}  # files that it accepts


def sections(text):
    """A file as the object that a schema describes."""
    found, at = {}, {}
    for line in (COMMENT.sub("", line).strip() for line in text.splitlines()):
        if line.startswith("["):
            at = found.setdefault(" ".join(line[1:-1].split()), {})
        elif line:
            key, _, value = line.partition("=")
            at[key.strip()] = value.strip()
    return found


def check_files(role, validator):
    accepted, words = 0, 0
    for path in sorted((ROOT / "config").rglob("*.ini")):
        done = run(path_of(role), *CHECK[role], path)
        if done.returncode != 0:
            continue  # of another program
        accepted += 1
        for what, text in (("", path.read_text(encoding="utf-8")), (" as printed", done.stdout)):
            wrong = [f"{list(error.path)}: {error.message[:200]}" for error in validator.iter_errors(sections(text))]
            if wrong:
                check(f"quench-{role}: {path.name}{what}", False, wrong[:5])
        given = sections(done.stdout)
        for section, keys in given.items():
            for key, value in keys.items():
                if value in ("on", "off"):
                    words += 1
                    if validator.is_valid({section: {key: "of"}}) or validator.is_valid({section: {key + "x": value}}):
                        check(f"quench-{role}: [{section}] {key}: a misspelt word or key is refused", False, value)
    check(f"quench-{role}: the files that it accepts are of its schema", accepted >= LEAST[role] and words > 10, (accepted, words))
    check(f"quench-{role}: an unknown section is refused", not validator.is_valid({"no such section": {}}))


def main():
    paths = sorted((BUILD / "share").glob("*.ini.json"))
    check_equal("a schema for each program", [path.name for path in paths], [f"quench-{role}.ini.json" for role in ("lab", "nic", "probe", "switch")])
    for path in paths:
        schema = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        role = path.name.removeprefix("quench-").partition(".")[0]
        if role in CHECK:
            check_files(role, jsonschema.Draft202012Validator(schema))
    finish()


main()
