# SPDX-License-Identifier: BSD-3-Clause
"""counters.csv as data of the page's table: rows of numbers that refer to texts, so that each text is there once."""
import csv

from .data import BadInput

COLUMNS = "node,port,counter,value,help"
MOST_ROWS = 80_000  # about 2 MB of text; sums are always included


def read(path):
    """{nodes, names, help, rows of (node, port, name, value), left_out}. Sums come first; those over ports have port "all". None: there is no
    counters.csv (an older quench-lab)."""
    nodes, names, help_of, sums, rows = {}, {}, {}, [], []
    left_out = 0
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            if next(reader, []) != COLUMNS.split(","):
                raise BadInput(f"{path}: expected the columns {COLUMNS}")
            for node, port, name, value, text in reader:
                row = [nodes.setdefault(node, len(nodes)), port if port in ("", "all") else int(port), names.setdefault(name, len(names)), int(value)]
                if node.startswith("all "):
                    sums.append(row)
                    help_of[row[2]] = text
                elif len(rows) < MOST_ROWS:
                    rows.append(row)
                else:
                    left_out += 1
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: line {reader.line_num}: {error}") from error
    return {"nodes": list(nodes), "names": list(names), "help": [help_of.get(i, "") for i in range(len(names))], "rows": sums + rows, "left_out": left_out}
