#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the manual pages and the completions of programs out of their --help and --help-config.

gen_help.py VERSION FOLDER NAME=PATH=SECTION=SUMMARY... with the path of the program that is installed as NAME. Writes FOLDER/NAME.SECTION,
and FOLDER/NAME.ini.5 of those that read a configuration; NAME.bash, _NAME for zsh and NAME.fish. share/help/NAME.roff beside this file has
sections that no --help can have.
"""
import concurrent.futures
import pathlib
import sys

import completion
import help_text
import manual

HERE = pathlib.Path(__file__).resolve().parent


def write(version, folder, names, name, path, section, summary):
    path, help_ = pathlib.Path(path), help_text.read(pathlib.Path(path), name)
    see_also = [other for other in names if other[0] != name]
    has_ini = any(flag == "--help-config" for flag, *_ in help_.flags())
    more = HERE / f"{name}.roff"
    files = {
        f"{name}.{section}": manual.program_page(name, section, version, summary, help_, more.read_text(encoding="utf-8") if more.exists() else "",
                                                 [(f"{name}.ini", 5)] * has_ini + see_also),
        f"{name}.bash": completion.bash(name, help_),
        f"_{name}": completion.zsh(name, help_),
        f"{name}.fish": completion.fish(name, help_),
    }
    if has_ini:
        files[f"{name}.ini.5"] = manual.ini_page(name, version, help_text.output(path, "--help-config"), [(name, section), *see_also])
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")


def main(version, folder, *programs):
    entries = [program.split("=", 3) for program in programs]
    names = [(name, section) for name, _, section, _ in entries]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for done in [pool.submit(write, version, pathlib.Path(folder), names, *entry) for entry in entries]:
            done.result()


if __name__ == "__main__":
    main(*sys.argv[1:])
