# SPDX-License-Identifier: BSD-3-Clause
"""Pause trees and hot queues in the report."""
from html import escape

from .html import digits, kbytes, number, padded, table

MOST_ROOTS, MOST_BRANCHES = 8, 60
WATCHDOG = " A watchdog that has detected a storm ignores its pauses: the port is paused for less than the time here."
AT_ONCE = 12  # branches of one parent; the others are folded


def us(ns):
    return digits(ns / 1e3)


def is_host(name):
    return name.startswith("h") and name[1:].isdigit()


def end(node, port):
    return node if is_host(node) else f"{node} port {port}"


def flows_text(flows):
    """The shares of these flows, and of all others together: results.json has the largest alone."""
    others = round(100 * (1 - sum(f["share"] for f in flows)))
    return ", ".join([f"{escape(f['flow'])} {f['share'] * 100:.0f} %" for f in flows] + [f"others {others} %"] * (others > 0))


def root_text(root):
    name = escape(root["node"])
    where = {"host": f"{name}, which receives slowly", "buffer": f"the buffer of {name}, which others fill",
             "queue": f"{name} port {root['port']} queue {root['queue']}"}[root["kind"]]
    filled = f" Filled by {flows_text(root['flows'])}." if root["flows"] else ""
    return f"<b>{where}</b>: {number(root['pauses'])} pause{'s' if root['pauses'] != 1 else ''} of priority {root['prio']}, {us(root['duration_ns'])} µs in all.{filled}"


def branch_line(branch, most):
    victims = [escape(v) for v in branch["victims"]]
    more = branch["n_victims"] - len(victims)
    delayed = f'<span class="bad">victims: {", ".join(victims)}{f" and {more} more" if more else ""}</span>' if victims else ""
    return (f'<div class="pause"><span class="held" style="width: {100 * branch["duration_ns"] / most:.1f}%"></span>'
            f'<span class="who">{escape(end(branch["node"], branch["port"]))} pauses {escape(end(branch["holds"], branch["holds_port"]))}: '
            f'{number(branch["pauses"])} time{"s" if branch["pauses"] != 1 else ""}, {padded(branch["duration_ns"] / 1e3)} µs {delayed}</span></div>')


def below(branches, parent, most):
    """The longest first."""
    found = sorted(((i, b) for i, b in enumerate(branches) if b["parent"] == parent), key=lambda pair: -pair[1]["duration_ns"])
    lines = [f"<li>{branch_line(b, most)}{below(branches, i, most)}" for i, b in found]
    if len(lines) > AT_ONCE:
        lines[AT_ONCE:] = [f"<li><details><summary>{len(lines) - AT_ONCE} more</summary><ul>{''.join(lines[AT_ONCE:])}</ul></details>"]
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def tree(results):
    """Roots and the ports below them; empty without pauses."""
    roots = results.get("pause_tree", [])
    if not roots:
        return ""
    circle = results.get("deadlock", [])
    parts = ["<h2>Who paused whom</h2>"]
    if circle:
        parts.append('<p class="bad">Deadlock at the end of the run: ' + ", ".join(
            f"{escape(end(d['node'], d['port']))} pauses {escape(end(d['holds'], d['holds_port']))}" for d in circle) + ", and so on in a circle.")
    for root in roots[:MOST_ROOTS]:
        branches = root["branches"][:MOST_BRANCHES]
        most = max(b["duration_ns"] for b in branches) or 1
        parts.append(f'<div class="pauses"><p>Root: {root_text(root)}{below(branches, None, most)}</div>')
        if len(root["branches"]) > len(branches):
            parts.append(f"<p>Only the first {MOST_BRANCHES} ports of this root are listed, of {number(len(root['branches']))}.")
    if len(roots) > MOST_ROOTS:
        parts.append(f"<p>Only the first {MOST_ROOTS} roots are listed, of {number(len(roots))}.")
    parts.append('<p class="lead">Each line is a port that paused its peer, below the pauses that held the queue in which its frames waited. '
                 "Bars show the time. Victims are flows that were held although their data does not go through the root."
                 f"{WATCHDOG if any(e['event'].startswith('storm') for e in results.get('events', [])) else ''}</p>")
    return "".join(parts)


def hot(results):
    """The longest queues of a fabric of several switches."""
    queues = results.get("hot_queues", [])
    if len(queues) < 2:
        return ""
    rows = [(f"{escape(q['node'])} port {q['port']} queue {q['queue']}", *(kbytes(q[f"queue_{key}_bytes"]) for key in ("mean", "p99", "max")),
             number(q["ecn_marked_packets"]), us(q["paused_ns"]), flows_text(q["flows"][:3])) for q in queues]
    return "<h2>Hot queues</h2>" + table(("queue", "mean", "p99", "max", "marked", "paused µs", "filled by"), rows)
