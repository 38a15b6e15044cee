#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write FOLDER/PROGRAM.results.json, the JSON Schema of a program's results, from its --help-results: share/help/results_schema.py FOLDER PATH..."""
import pathlib
import subprocess
import sys


def main(folder, *programs):
    for path in map(pathlib.Path, programs):
        text = subprocess.run([path, "--help-results"], capture_output=True, check=True).stdout
        (pathlib.Path(folder) / f"{path.name}.results.json").write_bytes(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
