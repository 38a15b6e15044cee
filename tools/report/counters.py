# SPDX-License-Identifier: BSD-3-Clause
"""Counters as data of the page's table: rows of numbers that refer to texts, so that each text is there once."""

MOST_ROWS = 80_000  # about 2 MB of text; sums are always included


def compact(counters):
    """{nodes, names, help, rows of (node, port, name, value), left_out}. Sums come first. None: there are no counters."""
    nodes, names, help_of, sums, rows = {}, {}, {}, [], []
    left_out = 0
    for c in counters:
        row = [nodes.setdefault(c.node, len(nodes)), c.port if c.port in ("", "all") else int(c.port), names.setdefault(c.name, len(names)), c.value]
        if c.node.startswith("all "):
            sums.append(row)
            help_of[row[2]] = c.help[:1].lower() + c.help[1:] if c.help[1:2].islower() else c.help  # Frames, but not FCS
        elif len(rows) < MOST_ROWS:
            rows.append(row)
        else:
            left_out += 1
    return {"nodes": list(nodes), "names": list(names), "help": [help_of.get(i, "") for i in range(len(names))], "rows": sums + rows,
            "left_out": left_out} if counters else None
