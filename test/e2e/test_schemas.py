#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The files of config/: what a program accepts, and what it prints of it, is of its schema; a misspelt key or word is not. As YAML and as JSON
they are the same configurations."""
import json
import pathlib
import re
import shutil

from harness import BUILD, check, check_equal, finish, path_of, run, skip, work_dir

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


def yaml(found):
    """Sections as YAML, words without quotes."""
    def word(text):
        return text if re.fullmatch(r"\w[\w. ]*", text) else json.dumps(text)
    return "".join(f"{word(section)}:\n" + "".join(f"  {word(key)}: {word(value)}\n" for key, value in keys.items()) for section, keys in found.items())


def check_formats(role, path, printed):
    """The file as JSON, with tabs, and as YAML."""
    found = sections(path.read_text(encoding="utf-8"))
    for end, text in ((".json", json.dumps(found, indent="\t")), (".yaml", yaml(found))):
        other = path.with_suffix(end)
        other.write_text(text, encoding="utf-8")
        done = run(path_of(role), *CHECK[role], other)
        if (done.returncode, done.stdout) != (0, printed):
            check(f"quench-{role}: {other.name} is {path.name}", False, done.stderr or done.stdout[:300])


def of_lab(path):
    return re.search(r"^\[fabric\]", path.read_text(encoding="utf-8"), re.M) is not None


def check_files(role, validator, config):
    accepted, words = 0, 0
    paths = sorted(config.rglob("*.ini"))
    if role != "lab":  # the others do not know [fabric]: one file shows it
        refused = next(filter(of_lab, paths))
        check_equal(f"quench-{role}: {refused.name} is refused", run(path_of(role), *CHECK[role], refused).returncode, 2)
        paths = [path for path in paths if not of_lab(path)]
    for path in paths:
        done = run(path_of(role), *CHECK[role], path)
        if done.returncode != 0:
            continue  # of another program
        accepted += 1
        check_formats(role, path, done.stdout)
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
    check(f"quench-{role}: the files that it accepts are of its schema, and the same as YAML and JSON", accepted >= LEAST[role] and words > 10, (accepted, words))
    check(f"quench-{role}: an unknown section is refused", not validator.is_valid({"no such section": {}}))


def main():
    config = work_dir() / "config"
    shutil.copytree(ROOT / "config", config)
    paths = sorted((BUILD / "share").glob("*.ini.json"))
    check_equal("a schema for each program", [path.name for path in paths], [f"quench-{role}.ini.json" for role in ("lab", "nic", "probe", "switch")])
    for path in paths:
        schema = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        role = path.name.removeprefix("quench-").partition(".")[0]
        if role in CHECK:
            check_files(role, jsonschema.Draft202012Validator(schema), config)
    finish()


main()
