# SPDX-License-Identifier: BSD-3-Clause
"""The page of experiments: one file with tables and plots, and no external resources."""
import shlex
from html import escape

from experiments import frame
from report import output
from report.html import STYLE, digits, number, padded, plain, said, table

STYLE_HERE = """
blockquote { margin: .5rem 0; padding: .1rem 1rem; border-left: 4px solid var(--link); background: var(--faint) }
details td:last-child { text-align: left }
.tall { max-height: none }
nav ol { columns: 2 22rem; padding-left: 1.2rem }
nav li { break-inside: avoid }
table.named :is(td, th):nth-child(4) { text-align: left }
"""


def verdict(holds):
    return '<span class="good">within</span>' if holds else '<span class="bad">outside</span>'


def verdict_of(experiment, checks):
    """Figures within guards show no agreement where the document's statement does not hold."""
    holds = all(check.holds() for check in checks)
    return "<span>within; the statement does not hold</span>" if holds and experiment.refuted else verdict(holds)


def check_table(checks):
    return table(("measured", "value", "tolerance", "stated", ""),
                 [(said(c.what), said(f"{(padded if c.measured % 1 else digits)(c.measured)} {c.unit}"), said(c.tolerance()), escape(c.stated), verdict(c.holds())) for c in checks], "named")


def run_table(experiment, variants, runs):
    def options(variant):
        return escape(shlex.join(frame.options(experiment, variant)[:-1]))
    return table(("run", "simulated ms", "packet-hops", "wall s", "digest", "options of quench-lab"),
                 [(escape(v.name), f"{r['duration_ns'] / 1e6:g}", number(r["packet_hops"]), f"{r['wall_seconds']:.2f}",
                   f"<code>{escape(r['digest'])}</code>", f"<code>{options(v)}</code>")
                  for v, r in ((v, runs[v.name].results) for v in variants)])


def section(experiment, variants, runs, checks, folder):
    figures = []
    for name, (draw, caption) in experiment.plots.items():
        full = f"{experiment.name}-{name}"
        png, svg = output.draw_plot(runs, full, draw)
        output.write_all(folder, {f"{name}.png": png, f"{name}.svg": svg})
        figures.append(f'<figure id="{full}"><div class="wide" role="img" aria-label="{escape(caption)}">{output.inside_page(full, svg)}'
                       f"</div><figcaption>{escape(caption)} Files: {experiment.name}/{name}.svg, .png.</figcaption></figure>")
    findings = f"<p><b>Where it differs.</b> {said(experiment.findings)}</p>" if experiment.findings else ""
    return f"""<section id="{experiment.name}"><h2>{escape(experiment.title)}</h2>
<blockquote><p>{said(experiment.statement)} <cite>({escape(experiment.source)})</cite></p></blockquote>
{check_table(checks)}
{findings}
{"".join(figures)}
<p>{said(experiment.scaled)}</p>
<details><summary>Runs of <code>{experiment.path().relative_to(frame.ROOT)}</code></summary>{run_table(experiment, variants, runs)}</details></section>"""


def write(out, experiments, runs, checks, full, seconds):
    """@return the path of the page"""
    sections = "".join(section(e, e.chosen(full), runs[e.name], checks[e.name], out / e.name) for e in experiments)
    items = "".join(f'<li><a href="#{e.name}">{escape(e.title)}</a> {verdict_of(e, checks[e.name])}' for e in experiments)
    output.write_all(out, {"experiments.html": plain("quench-lab: published experiments", STYLE + STYLE_HERE, f"""<h1>Published experiments in quench-lab</h1>
<p class="lead">Each experiment {"has the published size" if full else "is scaled down"}, and is compared with its document. All runs took
{seconds:.0f}&nbsp;s. NAME/RUN has the results of a run; <code>scripts/report.py NAME/RUN</code> draws them.
A tolerance with - in the column “stated” is a guard: no document states it, and it shows only that a change moved the lab's result.</p>
<nav><ol>{items}</ol></nav>
{sections}""").encode()})
    return out / "experiments.html"
