# SPDX-License-Identifier: BSD-3-Clause
"""The charts of a page: rates, queues, marks, CNPs, pauses, and distributions of message times."""
import numpy as np

from . import series as ts
from .html import number, rate_unit


# Series that stand for all of a chart
MEAN = ("mean of all", ts.mean_of)
SUM = ("sum of all", np.sum)
MOST_SWINGS = 30  # of lines of one chart between 0 and their usual top, and back: more cover each other
ON_EACH_OTHER = 0.03  # mean distance between the highest and the lowest of several lines, as a share of their top: they look like one
USUAL = 0.99  # share of the samples that are at most the usual top
NEAR = 2.5  # a limit up to so many times what is measured is seen in its chart, as heights() of page.js


def place(key):
    node, port, last = key
    return f"{node} port {port} {last}"


def queue_label(key):
    return place((key[0], key[1], f"queue {key[2]}"))


def times_of(run):
    """Times of all samples, in ns."""
    longest = max((s["time_ns"] for group in (run.flows, run.queues, run.pauses) for s in group.values()), key=len, default=np.array([]))
    return np.asarray(longest, dtype=float)


def sent_until_ms(run):
    """End of the last sample in which a flow sent."""
    return max((float(s["time_ns"][np.flatnonzero(s["wire_rate_bps"])[-1]]) / 1e6 for s in run.flows.values() if s["wire_rate_bps"].any()), default=0.0)


def send_together(run):
    """Do all flows send in the whole measured window? Only then are their mean rates shares of one time."""
    return all((series["wire_rate_bps"][series["time_ns"] > run.results["measure_from_ns"]] > 0).all() for series in run.flows.values())


def chart(name, title, unit, note, times_ns, columns, first=(), steps=True, counts=False, lowest=False, total=None):
    """A chart. steps: each value covers the interval that ends at its time. counts: the values are counts per time, or rates, which are thinned to means.
    lowest: of many series, the lowest are shown at first. total: (label, function) of a series that stands for all.
    drawn: words about what is shown at first, which over_time() appends to the note."""
    of_all = (total[0], total[1]([column for _, column in columns], axis=0)) if total and columns else None
    got, group, n = ts.part(times_ns / 1e6, columns, first, counts, lowest, of_all)
    if group > 1:
        note += f" Each point is the mean of {group} samples." if counts else f" Each pair of points is the minimum and maximum of {group} samples."
    if counts or steps and group == 1:
        ts.begin(got)
    drawn = ""
    if n > ts.SHOWN:
        own = sum(s["shown"] and not s.get("total") for s in got["series"])
        several = own > ts.WORST
        best = own - several
        words = ([f"the {total[0]}"] if total else []) + list(first[:several])
        words += [f"the {'one' if best == 1 else best} of {number(n)} series with the {'lowest mean' if lowest else 'highest peak'}"] * (best > 0)
        rest = "" if best == ts.WORST else "; the others are near 0" if best else f"; each of {number(n)} series is near 0 beside it"
        drawn = f" Drawn at first: {' and '.join(words)}{rest}."
    if n > ts.MOST_SERIES:
        drawn += f" The page has the {ts.MOST_SERIES} {'lowest series' if lowest else 'series with the largest values'}; the CSV files have all."
    return {"id": name, "title": title, "unit": unit, "note": note, "drawn": drawn, "parts": [got], "lines": [], "steps": counts or steps and group == 1,
            "counts": counts}


def rates(run, times_ns, unit=None):
    """unit: of html.rate_unit(); None: that of the run's links"""
    unit = unit or rate_unit(run.results["link_speed_bps"])
    columns = [(name, ts.on_axis(s, s["wire_rate_bps"], times_ns) / unit.bps) for name, s in run.flows.items()]
    out = chart("rates", "Rates of flows", unit.name, "Wire rate (frame, FCS, preamble and gap), mean of each step. Zoom in: steps become samples.", times_ns,
                columns, counts=True, lowest=True, total=MEAN)
    if run.fluid.flows:
        model = [(f"model {name}", s["wire_rate_bps"] / unit.bps) for name, s in run.fluid.flows.items()]
        out["parts"].append(ts.part(next(iter(run.fluid.flows.values())).ms(), model, model=True)[0])
        ts.begin(out["parts"][-1])  # means, as those of packets
        for i, s in enumerate(out["parts"][-1]["series"]):
            s["shown"] = i == 0  # curves of flows that behave alike would cover each other
        out["note"] += " The fluid model is dashed, in the colour of the text."
    return out


def allowed(run, times_ns):
    fastest = max([run.results["link_speed_bps"], *(port["link_speed_bps"] for port in run.results.get("ports", []))])
    unit = rate_unit(run.results["link_speed_bps"])
    columns = [(name, ts.since_first(ts.on_axis(s, s["rp_rate_bps"], times_ns)).clip(max=fastest) / unit.bps) for name, s in run.flows.items() if s["rp_rate_bps"].any()]
    return chart("allowed", "Rates that congestion control allows", unit.name,
                 "Summed over the QPs of a flow, from its first QP on, up to the speed of the fastest link; mean of the samples of each step.", times_ns, columns,
                 counts=True, lowest=True, total=MEAN)


def queues(run, times_ns):
    b = run.results["bottleneck"]
    own = (str(b["node"]), str(b["port"]), str(b["queue"]))
    columns = [(queue_label(key), ts.on_axis(s, s["queue_max_bytes"], times_ns) / 1e3) for key, s in run.queues.items()]
    out = chart("queues", "Queues", "KB", "Queues of data: maximum since the previous sample. Other queues: length at the sample.", times_ns,
                columns, [queue_label(own)], steps=False)
    out["lines"] = thresholds(run)
    model = run.fluid.queue(b)
    if model is not None:
        out["parts"].append(ts.part(model.ms(), [(f"model {queue_label(own)}", model["queue_bytes"] / 1e3)], model=True)[0])
        out["note"] += " The fluid model is dashed, in the colour of the text."
    return out


def thresholds(run):
    """Thresholds: [{at, label, of}]. of: the series that a threshold belongs to; None: all."""
    found = []
    for port in run.results.get("ports", []):
        for queue in port["queues"]:
            label = queue_label((port["node"], port["port"], queue["queue"]))
            for key, text in (("wred_min_bytes", "Kmin"), ("wred_max_bytes", "Kmax")):
                if queue.get(key):
                    found.append({"at": queue[key] / 1e3, "label": text, "of": label})
    if run.results.get("xoff_limit_bytes"):
        found.append({"at": run.results["xoff_limit_bytes"] / 1e3, "label": "XOFF limit of a priority group", "of": None})
    return found


def alone_if_covered(out, columns, measured):
    """Lines that often go up and down, or lie on each other, cover each other, so the highest is shown alone at first. @return labels of series that are shown"""
    series = out["parts"][0]["series"]
    shown = {s["label"] for s in series if s["shown"]}
    seen = {name: column[measured] for name, column in columns if name in shown}
    # Of short peaks, most samples are near 0, and little is covered.
    top = max((max(np.quantile(column, USUAL), column.max() / 8) for column in seen.values() if len(column)), default=0)
    if len(shown) < 2 or not top:
        return shown
    among = np.array(list(seen.values()))
    together = np.ptp(among, axis=0).mean() < ON_EACH_OTHER * top
    if not together and sum(np.abs(np.diff(column)).sum() for column in seen.values()) <= 2 * MOST_SWINGS * top:
        return shown
    best = max(seen, key=lambda name: seen[name].max(initial=0))
    for s in series:
        s["shown"] = s["label"] == best
    out["drawn"] = f" Drawn at first: the one of {number(len(columns))} series with the highest peak; others would cover it." + "".join(out["drawn"].partition(" The page has")[1:])
    return {best}


def groups(run, times_ns):
    """Bytes that lossless groups hold, and their XOFF limits. A limit far above the bytes is left out, and one that is so in the measured window is not shown at first."""
    label = {key: place((key[0], key[1], f"pg {key[2]}")) for key in run.groups}
    columns = [(label[key], ts.on_axis(s, s["shared_bytes"], times_ns) / 1e3) for key, s in run.groups.items()]
    out = chart("groups", "Priority groups", "KB", "Shared bytes that each group holds at the sample. Dashed, if it is near: the limit at which it sends XOFF.", times_ns, columns, steps=False)
    measured = times_ns > run.results["measure_from_ns"]
    shown = alone_if_covered(out, columns, measured)
    limits = [(f"limit of {label[key]}", ts.on_axis(s, s["limit_bytes"], times_ns) / 1e3) for key, s in run.groups.items()
              if label[key] in shown and s["limit_bytes"].min() < 4 * s["shared_bytes"].max()]
    top = max((column[measured].max(initial=0) for name, column in columns if name in shown), default=0)
    near = {name for name, column in limits if not top or column[measured].min(initial=np.inf) <= NEAR * top}
    for s in out["parts"][0]["series"]:
        s["pair"] = s["label"]
    if limits:
        part = ts.part(times_ns / 1e6, limits)[0]
        for s in part["series"]:
            s |= {"shown": s["label"] in near, "pair": s["label"].removeprefix("limit of "), "dashed": True}
        out["parts"].append(part)
    return out


def marks(run, times_ns):
    columns = [(queue_label(key), ts.growth_per_ms(s, "ecn_marked_packets", times_ns)) for key, s in run.queues.items() if s["ecn_marked_packets"][-1]]
    return chart("marks", "Packets marked CE", "per ms", "By the queue that marked them.", times_ns, columns, counts=True, total=SUM)


def cnps(run, times_ns):
    columns = [(name, ts.growth_per_ms(s, "cnp_handled", times_ns)) for name, s in run.flows.items() if s["cnp_handled"][-1]]
    return chart("cnps", "CNPs that senders acted on", "per ms", "By flow.", times_ns, columns, counts=True, total=SUM)


def pauses(run, times_ns):
    columns = [(place((node, port, f"prio {prio}")), ts.growth_per_ms(s, "rx_pause_duration_us", times_ns).clip(0, 1000) / 10)
               for (node, port, prio), s in run.pauses.items() if s["rx_pause_duration_us"][-1]]
    return chart("pauses", "Paused by PFC", "% of time", "By the port and priority that was paused.", times_ns, columns, counts=True)


def pause_frames(run, times_ns):
    columns = [(place((node, port, f"prio {prio}")), ts.growth_per_ms(s, "tx_pause", times_ns))
               for (node, port, prio), s in run.pauses.items() if s["tx_pause"][-1]]
    return chart("pause-frames", "PFC frames sent", "per ms", "By the port and priority that sent them: XOFF, refresh and XON.", times_ns,
                 columns, counts=True, total=SUM)


def events(run):
    """The first 60 events: [{at, label}], at in ms."""
    found = [(e["at_ns"], f"{e['event'].replace('_', ' ')} {e['node']} port {e['port']}") for e in run.results.get("events", [])]
    found += [(e["at_ns"], f"{e['name']}: {e.get('set', e['action'])}") for e in run.results.get("scheduled_events", [])]
    return [{"at": at / 1e6, "label": label} for at, label in sorted(found)[:60]]


# (measure of times.csv, id, title, unit, number of the file's units in one of these units, begin of a linear axis)
DISTRIBUTIONS = (("completion_ns", "completion", "Completion time of messages", "µs", 1e3, 0),
                 ("slowdown_milli", "slowdown", "Slowdown of messages", "slowdown", 1e3, 1),
                 ("rtt_ns", "rtt", "Round-trip time", "µs", 1e3, 0))


def cumulated(at_most, count, scale):
    """Share of the values up to the end of each bin. The curve begins with 0 %, 1/128 below the end of the first bin."""
    share = np.cumsum(count) / count.sum() * 100
    steps = dict(zip(ts.rounded(np.insert(at_most, 0, at_most[0] * 127 / 128) / scale), ts.rounded(np.insert(share, 0, 0))))
    return list(steps), list(steps.values())


def distribution(run, measure, name, title, unit, scale, begin):
    """Cumulative distributions: a part for each flow, because their bins differ, and one for all flows together."""
    found = {flow: pair for (flow, what), pair in run.times.items() if what == measure}
    order = sorted(found, key=lambda flow: -found[flow][1].sum())[:ts.MOST_SERIES]
    drawn = [(flow, found[flow]) for flow in found if flow in set(order)]
    if len(found) > 1:
        drawn.insert(0, ("all flows", run.all_times(measure)))
    parts, shown = [], set(range(len(drawn)))
    if len(drawn) > ts.SHOWN:
        shown = {0, *sorted(shown, key=lambda i: -drawn[i][1][0][-1])[:ts.WORST + 1]}  # the longest of all flows is that of one of them
    for i, (label, pair) in enumerate(drawn):
        at_most, share = cumulated(*pair, scale)
        parts.append({"ms": at_most, "series": [{"label": label, "shown": i in shown, "values": share, "total": label == "all flows"}]})
    note = "Cumulative distribution, whole run."
    if measure == "slowdown_milli":
        note += " Slowdown: completion time divided by the ideal one, that of the message alone on its path."
    if len(shown) < len(drawn):
        note += " Drawn at first: all flows, and those with the largest values."
    if len(order) < len(found):
        note += f" The page has the {len(order)} flows with the most values, of {len(found)}."
    return {"id": name, "title": title, "unit": "%", "note": note, "parts": parts, "lines": [], "steps": True, "x": unit, "from": begin}


def over_time(run):
    times_ns = times_of(run)
    if not len(times_ns):
        return []
    drawn = [draw(run, times_ns) for draw in (rates, allowed, queues, groups, marks, cnps, pauses, pause_frames)]
    return [c | {"note": c["note"] + c.pop("drawn")} for c in drawn if c["parts"][0]["series"]]


def distributions(run):
    drawn = [distribution(run, *of) for of in DISTRIBUTIONS]
    return [c for c in drawn if c["parts"]]
