# SPDX-License-Identifier: BSD-3-Clause
"""The command line of a script, described by the script's docstring. Needs nothing but Python."""
import argparse


def parser(doc, **more):
    """doc: "What it does: how it is called.", an empty line, and more to know. Without prog: the name that it was called by."""
    purpose, _, notes = doc.partition("\n\n")
    return argparse.ArgumentParser(description=purpose.partition(":")[0].rstrip(".") + ".", epilog=" ".join(notes.split()), **more)
