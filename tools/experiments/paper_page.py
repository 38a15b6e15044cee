# SPDX-License-Identifier: BSD-3-Clause
"""The page of the paper: its figures in order, published and measured numbers side by side, and a verdict on each."""
import re
from html import escape

from experiments import page
from experiments.frame import AGREES, DIFFERS, IN_SHAPE
from report import output
from report.html import STYLE, digits, plain, table

STYLE_HERE = """
blockquote { margin: .5rem 0; padding: .1rem 1rem; border-left: 4px solid var(--link); background: var(--faint); max-width: 58rem }
p { max-width: 58rem }
sup { line-height: 0 }
h2 { display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: baseline }
.verdict { font-size: .85rem; font-weight: 600; padding: .05rem .6rem; border-radius: 1rem; white-space: nowrap; border: 1px solid currentColor }
.agrees { color: #00624a }
.shape { color: #0b57a0 }
.differs { color: #8a4b00 }
.failed { color: var(--alarm) }
@media (prefers-color-scheme: dark) { .agrees { color: #5fd3b3 } .shape { color: #7fbfff } .differs { color: #ffb454 } }
@media print { .agrees, .shape, .differs { color: #000 } }
table.rows td { white-space: normal; vertical-align: top }
table.rows td:nth-child(1) { min-width: 13rem }
table.rows td:nth-child(n + 2) { text-align: right; min-width: 5.5rem }
@media (max-width: 40rem) { table.rows { font-size: .82rem } table.rows td:nth-child(1) { min-width: 7.5rem } table.rows td:nth-child(n + 2) { min-width: 4rem }
  table.rows th, table.rows td { padding-right: .5rem } table.rows th:nth-child(4), table.rows td:nth-child(4) { display: none } }
.overview { list-style: none; padding: 0; margin: 1rem 0 }
.overview li { display: grid; grid-template-columns: 6.5rem 15rem 1fr max-content; gap: .1rem 1rem; padding: .35rem 0; border-bottom: 1px solid var(--faint); align-items: baseline }
.overview small { color: var(--soft); font-size: .88rem }
@media (max-width: 60rem) { .overview li { grid-template-columns: 1fr max-content } .overview li > :nth-child(2) { grid-column: 1 / -1; grid-row: 2 }
  .overview li > :nth-child(3) { grid-column: 1 / -1; grid-row: 3 } .overview li > :nth-child(4) { grid-column: 2; grid-row: 1 } }
"""
CLASSES = {AGREES: "agrees", IN_SHAPE: "shape", DIFFERS: "differs"}
MEANING = {
    AGREES: "published numbers are met, and so are the statements about order and tendency",
    IN_SHAPE: "the statements are met, but a published number is not, or the paper prints none",
    DIFFERS: "a statement is not met",
}
COUNTED = {AGREES: "agree", IN_SHAPE: "agree in shape", DIFFERS: "differ"}
RECALLED = "&thinsp;<sup>†</sup>"


def anchor(figure):
    return re.sub(r"\W+", "-", figure.number.lower())


def badge(verdict, expected):
    """A verdict that is not the expected one is an alarm."""
    return (f'<span class="verdict {CLASSES[verdict]}">{verdict}</span>' if verdict == expected else
            f'<span class="verdict failed">{verdict}; expected: {expected}</span>')


def value(check):
    unit = check.unit if check.unit != "%" else " %"
    return escape(f"{digits(check.measured)} {unit.strip()}".strip())


def published(row):
    return escape(row.published) + (RECALLED if row.recalled else "")


def overview(judged):
    """Of each figure the first number that is not met; if all are, its first one."""
    items = []
    for figure, compared, verdict in judged:
        row, check = next((pair for pair in compared if not pair[1].holds()), compared[0])
        items.append(f'<li><a href="#{anchor(figure)}">{escape(figure.number)}</a><span>{escape(figure.title)}</span>'
                     f"<small>{escape(row.what)}: {published(row)} in the paper, <b>{value(check)}</b> here</small>{badge(verdict, figure.verdict)}</li>")
    return f'<ul class="overview">{"".join(items)}</ul>'


def rows(compared):
    return table(("", "paper", "quench-lab", "agrees if", ""),
                 [(escape(row.what), published(row), f"<b>{value(check)}</b>", escape(check.tolerance()), page.verdict(check.holds())) for row, check in compared], "rows")


def plots(figure, experiment, folder):
    shown = []
    for name in figure.plots:
        full = f"{anchor(figure)}-{name}"
        caption = experiment.plots[name][1]
        svg = output.inside_page(full, (folder / experiment.name / f"{name}.svg").read_bytes())
        shown.append(f'<figure><div class="wide" role="img" aria-label="{escape(caption)}">{svg}</div><figcaption>{escape(caption)}</figcaption></figure>')
    return "".join(shown)


def section(figure, compared, verdict, experiment, folder):
    because = f"<p><b>Where it differs, and why.</b> {escape(figure.because)}</p>" if figure.because else ""
    return f"""<section id="{anchor(figure)}"><h2><span>{escape(figure.number)}. {escape(figure.title)}</span> {badge(verdict, figure.verdict)}</h2>
<blockquote><p>{escape(figure.statement)}</p></blockquote>
{rows(compared)}
{because}
{plots(figure, experiment, folder)}
<p>{escape(experiment.scaled)} <a href="experiments.html#{experiment.name}">Runs, options and tolerances of <code>{experiment.name}</code></a></p></section>"""


def write(out, figures, experiments, runs, full):
    """experiments: {name: Experiment}. page.write() has drawn their plots into out. @return the path of the page"""
    judged = []
    for figure in figures:
        compared = figure.compare(runs[figure.experiment])
        judged.append((figure, compared, figure.judge(compared)))
    sections = "".join(section(figure, compared, verdict, experiments[figure.experiment], out) for figure, compared, verdict in judged)
    meanings = "".join(f'<li>{badge(verdict, verdict)} {text}</li>' for verdict, text in MEANING.items())
    counts = ", ".join(f"{sum(verdict == each for _, _, verdict in judged)} {words}" for each, words in COUNTED.items())
    body = f"""<h1>The DCQCN paper, figure by figure</h1>
<p class="lead">“Congestion Control for Large-Scale RDMA Deployments” (SIGCOMM 2015), and the stability analysis of “ECN or Delay” (CoNEXT 2016), beside runs of quench-lab
{"at their published sizes" if full else "on a smaller scale"}. Of {len(judged)} figures and statements, {counts}.</p>
<ul>{meanings}</ul>
<p><sup>†</sup> We know this statement from the publication, but found no text of sections 5.2 to 6 to check it against. All others were read in the paper's text (up to Figure 10), or
in the LaTeX source and the curves of the CoNEXT paper.</p>
<p>“Agrees if” is our reading of a statement. Where the paper prints a number, it is that number and a margin of ours; where it prints an order, the bound is mostly 1 or 0.</p>
{overview(judged)}
{sections}"""
    output.write_all(out, {"paper.html": plain("The DCQCN paper, figure by figure: quench-lab", STYLE + STYLE_HERE, body).encode()})
    return out / "paper.html"
