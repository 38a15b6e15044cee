#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the manual pages and the completions of programs out of their --help and --help-config.

gen_help.py VERSION FOLDER PROGRAM=SECTION=SUMMARY... with the path of each PROGRAM. Writes FOLDER/NAME.SECTION, and FOLDER/NAME.ini.5 of
those that read a configuration; NAME.bash, _NAME for zsh and NAME.fish. share/help/NAME.roff beside this file has sections that no --help can have.
"""
import pathlib
import sys

import completion
import help_text
import manual

SHARE = pathlib.Path(__file__).resolve().parent


def main(version, folder, *programs):
    folder, entries = pathlib.Path(folder), []
    for program in programs:
        path, section, summary = program.split("=", 2)
        path = pathlib.Path(path)
        entries.append((path, section, summary, help_text.read(path)))
    names = [(path.name, section) for path, section, _, _ in entries]
    for path, section, summary, help_ in entries:
        see_also = [other for other in names if other[0] != path.name]
        has_ini = any(flag == "--help-config" for flag, *_ in help_.flags())
        tail = SHARE / f"{path.name}.roff"
        text = manual.program_page(path.name, section, version, summary, help_, tail.read_text(encoding="utf-8") if tail.exists() else "",
                                   [(f"{path.name}.ini", 5)] * has_ini + see_also)
        (folder / f"{path.name}.{section}").write_text(text, encoding="utf-8")
        for file, write in ((f"{path.name}.bash", completion.bash), (f"_{path.name}", completion.zsh), (f"{path.name}.fish", completion.fish)):
            (folder / file).write_text(write(path.name, help_), encoding="utf-8")
        if has_ini:
            text = manual.ini_page(path.name, version, help_text.output(path, "--help-config"), [(path.name, section), *see_also])
            (folder / f"{path.name}.ini.5").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
