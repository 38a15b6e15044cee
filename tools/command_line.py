# SPDX-License-Identifier: BSD-3-Clause
"""The command line of a script, described by the script's docstring. Needs nothing but Python."""
import argparse
import importlib.util


def parser(doc, **more):
    """doc: "What it does: how it is called.", an empty line, and more to know. Without prog: the name that it was called by."""
    purpose, _, notes = doc.partition("\n\n")
    return argparse.ArgumentParser(description=purpose.partition(":")[0].rstrip(".") + ".", epilog=" ".join(notes.split()), **more)


MATPLOTLIB = "no matplotlib: install python3-matplotlib, or run scripts/install-deps report"


def has_matplotlib():
    """Is it installed? Its import takes half a second, which is left to the code that draws."""
    return importlib.util.find_spec("matplotlib") is not None
