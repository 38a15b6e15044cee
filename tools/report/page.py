# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run: one page with tables, charts and the topology, without external resources."""
import pathlib
from html import escape

import command_line
from quench import Run, fluid

from . import charts, counters, jobs, output, pauses, sizes, topology
from .html import breakable, changed, digits, document, even, kbytes, number, rate_unit, said, seconds, size_text, table

SENDING_THROUGHOUT = 0.95  # of a run: with less, figures of its whole window are not those of its flows
CAPTIONS = {
    "rates": "Wire rate counts frame, FCS, preamble and gap, averaged over each sample (at the start) or step; bands, if steps are long: least and most within a step. Dashed: the link divided by the flows, if all go to one host. "
             "Black: the fluid model, if it knows the scenario.",
    "slowdown": "Cumulative distribution over the messages of each flow, whole run. A message that is alone on its path has a slowdown of 1.",
    "sizes": "Percentiles of the slowdown of all messages of the run. Ten buckets of equally many messages, unless many have one size or size_edges is given.",
    "queue": "Line: bytes held; band: least and most within a step. Marking begins at Kmin (WRED min) and reaches Pmax at Kmax (WRED max). "
             "XOFF limits count one priority group of one ingress port, not this queue. Black: the fluid model.",
    "cnp": "Sums over all flows.",
    "pauses": "Each strip is a port and priority that PFC paused.",
}


def flow_table(results):
    unit = rate_unit(results["link_speed_bps"])
    heads = ("flow", "from → to", *(f"{what} {unit.name}" for what in ("wire", "goodput", "lowest allowed")), "messages", "CNPs", "cuts",
             "retransmitted")
    mixed = len(results.get("algorithms", [])) > 1
    heads += ("algorithm",) * mixed
    rows = []
    for flow in results["flows"]:
        name = escape(flow["name"]) + (' <span class="bad">error</span>' if flow["error"] else "")
        rows.append((name, f"{escape(str(flow['src']))} → {escape(str(flow['dst']))}", unit(flow["wire_rate_bps"]),
                     unit(flow["goodput_bps"]), unit(min(flow["min_rate_bps"], results["link_speed_bps"])),
                     number(flow["messages_completed"]) +
                     (f" of {number(flow['messages_wanted'])}" if flow["messages_wanted"] else ""),
                     *(number(flow[key]) for key in ("rp_cnp_handled", "rate_cuts", "retransmitted_packets")),
                     *([escape(flow["cc"])] if mixed else [])))
    whole = '<p class="note">Lowest allowed: the lowest rate that congestion control has allowed in the whole run.' if results["measure_from_ns"] else ""
    return table(heads, rows) + whole


def server_table(results):
    """Servers with several NICs, and their NICs; empty without them."""
    rows, unit = [], rate_unit(results["link_speed_bps"])
    keys = ("tx_wire_rate_bps", "tx_goodput_bps", "rx_goodput_bps")
    for server in results.get("servers", []):
        rows.append((escape(server["name"]), *(unit(server[key]) for key in keys), number(server["bytes_inside"])))
        rows += [(f"NIC {escape(nic['host'])}", *(unit(nic[key]) for key in keys), "") for nic in server["nics"]]
    return "<h2>Servers</h2>" + table(("server", *(f"{what} {unit.name}" for what in ("wire", "sent", "received")), "bytes inside"), rows) if rows else ""


def microseconds(ns):
    return digits(ns / 1e3)


QUANTILES = ("p50", "p95", "p99", "p999", "max")


def times_table(results):
    """Completion times, slowdown and round-trip times; empty if none was measured."""
    timed = [flow for flow in results["flows"] if flow.get("completions")]
    trips = [(escape(flow["name"]), *(microseconds(flow[f"rtt_{q}_ns"]) for q in ("p50", "p99")), number(flow["ce_packets"]),
              number(flow["rx_pause_duration_us"])) for flow in results["flows"] if flow.get("rtt_samples") or flow.get("completions")]
    if not trips:
        return ""
    parts = []
    if timed:
        names = ("p50", "p95", "p99", "p99.9", "max")
        parts.append(table(("flow", "messages", *(f"{name} µs" for name in names)),
                           [(escape(flow["name"]), number(flow["completions"]), *(microseconds(flow[f"completion_{q}_ns"]) for q in QUANTILES)) for flow in timed],
                           title="Completion time"))
        parts.append(table(("flow", *names), [(escape(flow["name"]), *(digits(flow[f"slowdown_{q}"]) for q in QUANTILES)) for flow in timed], title="Slowdown"))
    parts.append(table(("flow", "p50 µs", "p99 µs", "CE packets", "paused µs"), trips, title="Round trips, marks and pauses"))
    return f'<h2>Messages and round trips</h2><div class="side">{"".join(parts)}</div>' \
        '<p class="note">Percentiles below the largest value are at most 0.8\u00a0% too high; those by message size are exact.'


def sizes_table(run):
    """Slowdown by message size; empty without messages."""
    found = sizes.of(run)
    if not found["all"]["messages"]:
        return ""
    named = [(size_text(bucket["to_bytes"]), bucket) for bucket in found["sizes"]]
    rows = [(name, number(bucket["messages"]), number(bucket["not_ended"]), *even(["-" if bucket[p] is None else digits(bucket[p]) for p in sizes.PERCENTILES]))
            for name, bucket in [*named, ("all", found["all"])]]
    note = (f"<p>p99 of all messages: 95 % confidence interval from {' to '.join(even([digits(found['p99_low']), digits(found['p99_high'])]))}, by batches in the order of time."
            if found["p99_low"] is not None else f"<p>Too few messages for a confidence interval: it needs {number(1000)}.")
    note += "".join(f"<p>{said(line[0].upper() + line[1:])}." for line in sizes.notes(run))
    return "<h2>Slowdown by message size</h2>" + table(("size, up to", "messages", "not ended", *sizes.NAMES.values()), rows) + note


def fluid_note(results, queue):
    """Why the packet simulation and the model differ, if they do."""
    b, note = results["bottleneck"], queue["fixed_point"]["note"]
    if note:
        reached = f"{'reached' if b['queue_max_bytes'] >= b['wred_max_bytes'] else 'did not reach'} Kmax in this run"
        note = f"Here, {note}" if note.startswith("p*") else note[0].upper() + note[1:]
        return f"<p>{said(note)}. The queue of the packet simulation {reached}."
    if b["queue_mean_bytes"] > 0.75 * queue["queue_mean_bytes"]:
        return ""
    return "<p>The queue of the packet simulation is sometimes empty, and falls faster than it rises. The model has no noise."


def without_model(refused):
    """quench-lab's message, which is to the author of a scenario, for a reader of the results."""
    where, _, expected = refused.partition(": expected ")
    section, _, key = where.partition("] ")
    wanted, _, why = expected.partition(": ")
    if expected.startswith("at most ") and key == "topology":
        limit, _, rest = expected.removeprefix("at most ").partition("; ")
        return f"It is too large to be solved with each run: the limit is {limit}" + (". quench-lab --fluid has no limit" if rest else "")
    if not expected:
        return refused
    if not key:
        return f"The model needs {wanted}" + (f", because {why}" if why else "")
    return f"The model needs {section}] {key} to be {wanted}" + (f", because {why}" if why else "")


def fluid_tables(run):
    """The model compared with the packet simulation; empty without a model."""
    model, results = run.fluid, run.results
    queue = model.queue_results(results["bottleneck"])
    if not model.flows or queue is None:
        return f"<h2>Fluid model</h2><p>Not for this scenario. {said(without_model(model.refused))}." if model.refused else ""
    b, point = results["bottleneck"], queue["fixed_point"]
    least, most = kbytes(queue["queue_min_bytes"]), kbytes(queue["queue_max_bytes"])
    facts = table((), (
        ("Fixed point", f"p* = {point['mark_probability'] * 100:.3f} %, queue {kbytes(point['queue_bytes'])}" +
         ("" if point["interior"] else " (not on the slope of the curve)")),
        ("Mean queue", f"model {kbytes(queue['queue_mean_bytes'])}, {'constant' if least == most else f'from {least} to {most}'}; "
                       f"packets {kbytes(b['queue_mean_bytes'])}"),
    ), "facts")
    packets, unit = {flow["name"]: flow for flow in results["flows"]}, rate_unit(results["link_speed_bps"])
    rows = []
    for flow in model.results["flows"]:
        name = flow["name"]
        if name in packets and name in run.flows and name in model.flows:
            apart = fluid.distance(run.flows[name], model.flows[name], results["link_speed_bps"])
            rows.append((escape(name), unit(flow["fixed_point"]["rate_bps"]), f"{flow['fixed_point']['alpha']:.3f}",
                         unit(flow["wire_rate_bps"]), unit(packets[name]["wire_rate_bps"]), f"{apart * 100:.2f} %"))
    heads = ("flow", f"R* {unit.name}", "alpha*", f"model {unit.name}", f"packets {unit.name}", "difference")
    return "<h2>Fluid model</h2>" + facts + table(heads, rows) + \
        f'<p class="note">Difference: RMS of means over {fluid.DISTANCE_MS:g} ms, as a share of the link.' + fluid_note(results, queue)


def pauses_of_hosts(run):
    """A row of facts, if hosts have sent PFC frames. The last one is known to a sample."""
    frames = sum(p["tx_pause"] for p in run.results["pfc_counters"] if topology.is_host(str(p["node"])))
    if not frames:
        return []
    sent = [s for (node, _, _), s in run.pauses.items() if topology.is_host(node) and len(s["tx_pause"]) and s["tx_pause"][-1]]
    last = max((s["time_ns"][s["tx_pause"].searchsorted(s["tx_pause"][-1])] for s in sent), default=None)
    return [("Pauses of hosts", f"{number(frames)} frames in the whole run" + ("" if last is None else f", the last one at {seconds(float(last))}"))]


def idle_since(run):
    """A run whose flows end early uses less of the link than they did while they sent."""
    sent_ms, end_ms = charts.sent_until_ms(run), run.results["duration_ns"] / 1e6
    return f"; no flow sends after {digits(sent_ms)}\u00a0ms" if 0 < sent_ms < SENDING_THROUGHOUT * end_ms else ""


def fact_table(run):
    results = run.results
    b = results["bottleneck"]
    drops = ", ".join(f"{number(drop['packets'])} packets by {escape(drop['reason'])} at {escape(str(drop['node']))}"
                      for drop in results["drops"])
    last, paused = results["last_pause_ns"], results["pause_frames_after_measure"]
    window = "measured window" if results["measure_from_ns"] else "whole run"
    warnings = "".join(f'<p class="bad">{said(text)}.' for text in results.get("warnings", []))
    return warnings + table((), (
        *([("Jain index", f"{results['jain_index']:.4f}")] if charts.send_together(run) else []),
        ("Link use", f"{b['link_use'] * 100:.2f} % of {rate_unit(run.bottleneck_speed_bps()).short(run.bottleneck_speed_bps())} at {escape(str(b['node']))} "
                     f"port {b['port']}{idle_since(run)}"),
        ("Queue", f"{escape(str(b['node']))} port {b['port']} queue {b['queue']}: mean {kbytes(b['queue_mean_bytes'])}, p50 {kbytes(b['queue_p50_bytes'])}, "
                  f"p99 {kbytes(b['queue_p99_bytes'])}, max {kbytes(b['queue_max_bytes'])}"),
        ("Marked CE", f"{number(results['counters']['ecn_marked_packets'])} packets" +
         (f", {number(b['ecn_marked_packets'])} of them in this queue; of all kinds, also ACKs" if results["counters"]["ecn_marked_packets"] else "")),
        ("Pauses of switches", "none" if last is None else f"{f'{number(paused)} frames' if paused else 'none'} in the {window}, the last one at {seconds(last)}"),
        *pauses_of_hosts(run),
        ("Dropped", f'<span class="bad">{drops}</span>' if drops else "nothing"),
    ), "facts")


def used_cc(results):
    """The algorithms of flows; an older quench-lab had one for all."""
    return [row["cc"] for row in results.get("algorithms", [])] or [results["cc"]]


def algorithms_table(results):
    """What the flows of each algorithm got; empty with a single one."""
    found = results.get("algorithms", [])
    if len(found) < 2:
        return ""
    total, unit = sum(row["wire_rate_bps"] for row in found), rate_unit(results["link_speed_bps"])
    rows = [(escape(row["cc"]), number(row["flows"]), unit(row["wire_rate_bps"]), f"{100 * row['wire_rate_bps'] / total:.1f} %" if total else "-",
             unit(row["lowest_rate_bps"]), unit(row["highest_rate_bps"]), f"{row['jain_index']:.4f}") for row in found]
    return "<h2>Algorithms</h2>" + table(("algorithm", "flows", f"wire {unit.name}", "share", f"lowest flow {unit.name}", f"highest flow {unit.name}", "Jain index"), rows)


def settings_table(results):
    return table((), (
        ("Scenario", escape(results["scenario"])),
        *([(said("Switch of --switch"), escape(results["switch_file"]))] if results.get("switch_file") else []),
        *([(said("Changed with --set"), "<br>".join(map(breakable, results["changes"])))] if results.get("changes") else []),
        ("Seed", number(results["seed"])),
        ("Time", f"{seconds(results['duration_ns'])}, measured from {seconds(results['measure_from_ns'])}"),
        ("Congestion control, PFC, ICRC check", escape(f"{' and '.join(used_cc(results))}, {results['pfc']}, {results['icrc_check']}")),
        ("WRED", f"Kmin {kbytes(results['bottleneck']['wred_min_bytes'])}, "
                 f"Kmax {kbytes(results['bottleneck']['wred_max_bytes'])}"
         if results["bottleneck"]["wred_max_bytes"] else "off"),
        ("Simulated", f"{number(results['frames'])} frames, {number(results['packet_hops'])} packet-hops in "
                      f"{results['wall_seconds']:.2f} s ({results['packet_hops_per_second'] / 1e6:.2f} M a second)"),
        ("Program", escape(f"{results['program']} {results['version']}")),
        ("Digest", f"<code>{escape(str(results['digest']))}</code>"),
    ), "facts")


def control_table(run):
    """The keys of congestion control and of the queues' marking that are in force."""
    if run.config is None:
        return ""
    sections = {section for section, _ in run.config}
    wanted = [cc if cc in sections else "rp" for cc in used_cc(run.results) if cc != "none"]
    wanted += ["np", "wred"] if wanted else ["wred"]
    queues = {section for section, key in run.config if key == "marking"}
    wanted += [*queues, *(run.config[section, "marking"] for section in queues)]
    rows = [(f"[{escape(section)}]", f"<code>{breakable(key)}</code>", breakable(value)) for (section, key), value in run.config.items() if section in wanted]
    return "<h3>Congestion control and marking</h3>" + table(("section", "key", "value"), rows, "words")


def optional_tables(results):
    """Tables of PFC counters and drops, if there are any."""
    keys = ("tx_pause", "rx_pause", "tx_pause_duration_us", "rx_pause_duration_us")
    pfc = [(f"{escape(str(p['node']))} port {p['port']} prio\u00a0{p['prio']}", *(number(round(p[key])) for key in keys))
           for p in results["pfc_counters"]]
    drops = [(f"{escape(str(d['node']))} port {d['port']}", escape(d["reason"]), number(d["packets"]))
             for d in results["drops"]]
    parts = []
    if drops:
        parts.append("<h2>Drops</h2>" + table(("where", "reason", "packets"), drops))
    if pfc:
        parts.append("<h2>PFC counters</h2>" + table(
            ("where", "frames sent", "frames received", "peer paused µs", "paused µs"), pfc))
    return "".join(parts)


def stills(svgs):
    """The main charts as pictures with captions, for printing and for readers without JavaScript; empty without pictures."""
    if not svgs:
        return ""
    figures = "".join(
        f'<figure id="still-{name}"><div class="wide" role="img" aria-label="{name}">{svg}</div>'
        f"<figcaption>{CAPTIONS[name]} Files: {name}.svg, {name}.png.</figcaption></figure>"
        for name, svg in svgs.items())
    return f'<h2>Pictures</h2><details id="stills"><summary>of the main charts, for printing</summary>{figures}</details>'


def sum_table(results):
    """Sums of counters, if there is no counters.csv (an older quench-lab)."""
    return table(("counter, all nodes", "value"), [(f"<code>{escape(name)}</code>", number(value)) for name, value in results["counters"].items()])


def lead(results):
    flows = f"{len(results['flows'])} flow{'s' if len(results['flows']) != 1 else ''}"
    if results.get("silent_flows"):
        flows += f" (and {number(results['silent_flows'])} that sent nothing)"
    return (f"{flows} over {rate_unit(results['link_speed_bps']).short(results['link_speed_bps'])} links; congestion control {escape(' and '.join(used_cc(results)))}, PFC {escape(results['pfc'])}. "
            + (f"Rates, link use and queues cover the last {seconds(results['duration_ns'] - results['measure_from_ns'])} of {seconds(results['duration_ns'])}. "
               "All other figures, such as completion times and counts, cover the whole run unless stated." if results["measure_from_ns"] else f"Figures and counts cover the whole run of {seconds(results['duration_ns'])}."))


def render(run, rows, svgs):
    """rows: of counters.compact()"""
    results = run.results
    title = f"{changed(results)}, seed\u00a0{results['seed']}"
    drawing = topology.draw(results)
    data = {"end_ms": results["duration_ns"] / 1e6, "measure_from_ms": results["measure_from_ns"] / 1e6, "sent_ms": charts.sent_until_ms(run) or results["duration_ns"] / 1e6, "events": charts.events(run),
            "charts": charts.over_time(run), "distributions": charts.distributions(run), "counters": rows}
    no_script = f"<noscript><p>Charts and the search for counters need JavaScript{'; the pictures below do not' if svgs else ''}.</noscript>"
    return document(title, f"""<h1>{escape(title)}</h1>
<p class="lead">{lead(results)}</p>
{fact_table(run)}
{algorithms_table(results)}
<h2>Topology</h2>
{drawing or "<p>not in these results"}
<p class="lead">Load in the measured window. The half of a link at a node shows the load that the node sends. The left half of a host's box shows the
load that it sends, the right half the load that it receives.</p>
<h2>Over time</h2>
{no_script}<div id="zoom"></div>
<div id="charts" class="charts">{"" if data["charts"] else "<p>no samples"}</div>
{jobs.section(run)}
{pauses.tree(results)}
{pauses.hot(results)}
<h2>Flows</h2>
{flow_table(results)}
{server_table(results)}
{times_table(results)}
{sizes_table(run)}
<div id="distributions" class="charts"></div>
{fluid_tables(run)}
{optional_tables(results)}
<h2>Counters</h2>
<div id="all-counters">{"" if rows else sum_table(results)}</div>
<h2>Settings</h2>
{settings_table(results)}
{control_table(run)}
<p>The same scenario and seed give the same digest on every machine.</p>
{stills(svgs)}""", data)


def write(folder: pathlib.Path) -> dict[str, str]:
    """Write report.html, and with matplotlib each plot as .svg and .png, into the folder of a run: all or none.

    @return {name: SVG as a part of a page} of plots with values; empty without matplotlib. @raise BadInput: the folder cannot be read; OSError: it cannot be written
    """
    plots = {}
    if command_line.has_matplotlib():
        from .plots import PLOTS as plots, tells
    run = Run(folder)
    rows = counters.compact(run.counters())
    run.messages  # is read when first used: here, where its errors are expected
    files, svgs = {}, {}
    for name, draw in plots.items():
        files[f"{name}.png"], files[f"{name}.svg"] = output.draw_plot(run, name, draw)
        if tells(run, name):
            svgs[name] = output.inside_page(name, files[f"{name}.svg"])
    files["report.html"] = render(run, rows, svgs).encode()
    output.write_all(folder, files)
    return svgs
