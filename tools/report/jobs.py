# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in the report: tables, the iterations, what the ranks of the slowest one did, and its critical path."""
from html import escape

from .html import digits, number, padded, rate_unit, said, table

LABEL, ROW, GAP = 64, 14, 4  # px
FIRST_RANKS, MOST_RANKS = 16, 64  # drawn at first, and at all; ranks on the critical path come first
MOST_BARS = 400  # iterations
STATES = {"compute": "computes", "send": "sends", "wait": "waits"}


def us(ns):
    return digits(ns / 1e3)


def job_table(jobs, unit):
    """unit: of rates"""
    alone = any(job.get("jct_ratio_alone") for job in jobs)
    heads = ("job", "ranks", "iterations", "JCT mean µs", "JCT p50 µs", "JCT p99 µs", "JCT max µs", "variation", "mean / bound", f"bus {unit.name}", "CNPs", "CE packets", "retransmitted", "paused µs", *["mean / alone"] * alone)
    rows = []
    for job in jobs:
        ended = job["iterations_ended"]
        bound = digits(job["jct_mean_ns"] / job["bound_ns"]) if job["bound_ns"] and ended else "-"
        rows.append((escape(job["name"]), number(len(job["ranks"])), f"{number(ended)} of {number(job['iterations'])}",
                     *(us(job[f"jct_{key}_ns"]) for key in ("mean", "p50", "p99", "max")), f"{job['jct_cv'] * 100:.1f} %", bound,
                     digits(job["bus_bandwidth_bps"] / unit.bps) if job["bus_bandwidth_bps"] else "-",
                     *(number(job[key]) for key in ("rp_cnp_handled", "ce_packets", "retransmitted_packets")), us(job["paused_ns"]),
                     *[f"{job['jct_ratio_alone']:.3f}" if job["jct_ratio_alone"] else "-"] * alone))
    waits = "".join(f'<p class="bad">Job {escape(job["name"])}: iteration {job["iterations_ended"] + 1} has not ended: rank {job["waits_rank"]}: '
                    f'{said(job["waits_for"])}.' for job in jobs if job["waits_for"] is not None)
    return table(heads, rows) + '<p class="note">JCT: job completion time, from the start of an iteration until all ranks have ended it.' + waits


def drawing(height, words, beside, parts):
    """Labels of a fixed width, and beside them parts whose places are percentages: text and rows have one size on every screen."""
    return (f'<div class="job" role="img" aria-label="{escape(words)}"><svg width="{LABEL}" height="{height}">{"".join(beside)}</svg>'
            f'<svg class="drawn" height="{height}">{"".join(parts)}</svg></div>')


def bar(x, y, width, height, kind, tip):
    """x and width in percent; what is too narrow to be seen is widened."""
    return f'<rect class="{kind}" x="{x:.3f}%" y="{y:.2f}" width="{max(width, 0.03):.3f}%" height="{height}"><title>{escape(tip)}</title></rect>'


def text(x, y, words, anchor="start"):
    return f'<text x="{x}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def keyed(kind, words):
    """A colour and its words, on one line."""
    return f'<span class="keyed"><span class="key {kind}"></span>&nbsp;{words}</span>'


def label(y, words):
    return text(LABEL - 6, y, words, "end")


# Of a critical path: class of the bar, member of results.json, words.
PARTS = (("compute", "compute", "computations"), ("inside", "inside", "messages inside servers"), ("message", "message", "other messages"),
         ("send", "send", "sends until acknowledged"))


def iterations_chart(job):
    """A bar for each iteration, divided by the kinds of its critical path where that is known."""
    rows = job["per_iteration"][:MOST_BARS]
    most = max((it["jct_ns"] for it in rows), default=0)
    if not most:
        return ""
    high, step, kinds = 120, 100 / len(rows), set()
    parts = [f'<line x1="0" y1="{high + 6}" x2="100%" y2="{high + 6}"/>']
    for i, it in enumerate(rows):
        path = it["critical_path"]
        pieces = [(kind, path[f"{key}_ns"]) for kind, key, _ in PARTS] if path else [("message", it["jct_ns"])]
        y = high + 6
        tip = f"iteration {it['iteration']}: {us(it['jct_ns'])} µs, rank {it['last_rank']} last, {it['rp_cnp_handled']} CNPs, paused {us(it['paused_ns'])} µs"
        for kind, ns in pieces:
            tall = high * ns / most
            y -= tall
            if ns:
                kinds.add(kind)
                parts.append(bar(i * step, y, step * 0.85, f"{tall:.2f}", kind, tip))
    for i in {0, len(rows) - 1}:
        parts.append(text(f"{(i + 0.425) * step:.2f}%", high + 22, str(rows[i]["iteration"]), "middle"))
    keys = ", ".join(keyed(kind, words if "inside" in kinds else words.removeprefix("other ")) for kind, _, words in PARTS if kind in kinds)
    return ("<h3>Iterations</h3>" + drawing(high + 30, f"completion times of job {job['name']}", [label(16, f"{us(most)} µs"), label(high + 6, "0")], parts) +
            f'<p class="lead">JCT of each iteration{", by its critical path: " + keys if any(it["critical_path"] for it in rows) else ""}.</p>')


def gantt(job, states, path):
    """The ranks of the slowest iteration, and over them its critical path."""
    number_ = next(iter(states), {}).get("iteration")
    it = next((it for it in job["per_iteration"] if it["iteration"] == number_), None)
    if it is None:
        return ""
    path = [p for p in path if p["iteration"] == number_]
    ranks = sorted({s["rank"] for s in states})
    order = list(dict.fromkeys([r for p in path for r in (source_of(p), p["rank"])] + ranks))[:MOST_RANKS]
    drawn = set(order[:FIRST_RANKS])
    where = "" if all({source_of(p), p["rank"]} <= drawn for p in path) else " where it is on these ranks"
    first, all_drawn = (rank_rows(job, states, path, sorted(order[:n])) for n in (FIRST_RANKS, MOST_RANKS))
    more = "" if len(order) <= FIRST_RANKS else f"<details><summary>{'All' if len(order) == len(job['ranks']) else 'The first'} {len(order)} ranks</summary>{all_drawn}</details>"
    left = "" if len(order) <= FIRST_RANKS else f" The first {FIRST_RANKS} ranks of the path and others; the {'rest' if len(order) == len(job['ranks']) else 'next ones'} are folded."
    if len(order) < len(job["ranks"]):
        left += f" {len(job['ranks']) - len(order)} ranks are left out."
    return (f"<h3>Iteration {number_}, the slowest</h3>{first}"
            f'<p class="lead">Each row is a rank and its host: {keyed("compute", "computes")}, {keyed("send", "sends")}, {keyed("wait", "waits")}. '
            f'{keyed("path", "critical path")}{where}.{left}</p>{more}')


def rank_rows(job, states, path, ranks):
    """What these ranks did, and the parts of the path between them."""
    begin, end = min(s["from_ns"] for s in states), max(s["to_ns"] for s in states)
    row = {rank: 20 + i * (ROW + GAP) for i, rank in enumerate(ranks)}

    def x(ns):
        return 100 * (ns - begin) / (end - begin)

    parts = [text(0, 12, f"{padded(begin / 1e6)} ms"), text("100%", 12, f"{padded(end / 1e6)} ms", "end")]
    host = {r["rank"]: r.get("host", "") for r in job["ranks"]}
    parts += [bar(x(s["from_ns"]), row[s["rank"]], x(s["to_ns"]) - x(s["from_ns"]), ROW, s["state"],
                  f"rank {s['rank']} {STATES[s['state']]} {us(s['to_ns'] - s['from_ns'])} µs") for s in states if s["rank"] in row]
    # Each line has a wider one of the ground's colour under it; all of these come first.
    lines = [(f'x1="{x(p["from_ns"]):.3f}%" y1="{row[source_of(p)] + ROW / 2}" x2="{x(p["to_ns"]):.3f}%" y2="{row[p["rank"]] + ROW / 2}"', escape(part_text(p)))
             for p in path if source_of(p) in row and p["rank"] in row]
    parts += [f'<line class="under" {place}/>' for place, _ in lines]
    parts += [f'<line class="path" {place}><title>{words}</title></line>' for place, words in lines]
    return drawing(max(row.values()) + ROW + 8, f"ranks of job {job['name']}", [label(y + ROW - 3, f"{rank} h{host[rank]}") for rank, y in row.items()], parts)


def source_of(p):
    return p["from_rank"] if p["kind"] in ("message", "inside") else p["rank"]


def part_text(p):
    if p["kind"] == "compute":
        return f"rank {p['rank']} computes {us(p['to_ns'] - p['from_ns'])} µs"
    way = f"rank {p['rank']} until {'its message has arrived' if p['kind'] == 'inside' else 'acknowledged'}"
    if source_of(p) != p["rank"]:
        way = f"rank {p['from_rank']} to {p['rank']}{' inside their server' if p['kind'] == 'inside' else ''}"
    return f"{way}: {number(p['bytes'])} bytes, tag {p['tag']}, {us(p['to_ns'] - p['from_ns'])} µs"


def path_table(path, number_):
    path = [p for p in path if p["iteration"] == number_]
    if not path:
        return ""
    rows = [(digits(p["from_ns"] / 1e6), us(p["to_ns"] - p["from_ns"]), escape(part_text(p))) for p in path]
    return f"<details><summary>Critical path, {len(path)} parts</summary>" + table(("from ms", "µs", "part"), rows) + "</details>"


CAUSES = {"compute": "computing", "inside": "messages inside servers", "wire": "packets on the wire", "rate": "QPs not allowed to send", "paused": "paused", "queue": "last packets in queues",
          "others": "links of senders busy with other flows", "earlier": "behind earlier messages", "again": "sending again",
          "ack": "waiting for the last acknowledgement", "unknown": "unknown"}


def explained(results):
    """The causes of quench-lab --explain "job NAME"; empty without it."""
    x = results.get("explained_job")
    if x is None:
        return ""
    causes = sorted(((x[f"{key}_ns"], words) for key, words in CAUSES.items() if x[f"{key}_ns"]), reverse=True)
    rows = [(words, us(ns), f"{100 * ns / x['jct_ns']:.1f} %") for ns, words in causes]
    return f"<h3>Why iteration {x['iteration']} of {escape(x['job'])} took {us(x['jct_ns'])}\u00a0µs</h3>" + table(("cause", "µs", "share"), rows)


def section(run):
    """All of it; empty without jobs."""
    jobs = run.results.get("jobs", [])
    if not jobs or "per_iteration" not in jobs[0]:
        return ""
    parts = ["<h2>Jobs</h2>", job_table(jobs, rate_unit(run.results["link_speed_bps"])), explained(run.results)]
    states, path = run.job_states().rows(), run.critical_path().rows()
    for job in jobs:
        mine = [s for s in states if s["job"] == job["name"]]
        own_path = [p for p in path if p["job"] == job["name"]]
        if len(jobs) > 1:
            parts.append(f"<h2>Job {escape(job['name'])}</h2>")
        parts.append(iterations_chart(job))
        if mine:
            parts += [gantt(job, mine, own_path), path_table(own_path, mine[0]["iteration"])]
    return "".join(parts)
