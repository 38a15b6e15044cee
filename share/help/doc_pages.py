#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The documents as pages: share/help/doc_pages.py OUT

Writes README.md, CHANGELOG.md, CONTRIBUTING.md and doc/ as HTML into the folder OUT, in the shape of the tree, with the figures. Links
between documents lead from page to page. A link to another file of the tree becomes plain text, because a package does not have that
file. Needs python3-markdown.
"""
import pathlib
import re
import shutil
import sys
from html import escape

import markdown

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r'<a href="([^"]*)">(.*?)</a>', re.S)
STYLE = """\
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; color: #222; background: #fff }
nav { border-bottom: 1px solid #bbb; padding-bottom: .5rem }
pre, code { font-family: ui-monospace, monospace; font-size: .9em; background: #f2f2f2 }
pre { padding: .6rem; overflow-x: auto }
.wide { overflow-x: auto }
table { border-collapse: collapse }
th, td { border: 1px solid #bbb; padding: .2rem .5rem; text-align: left; vertical-align: top }
img { max-width: 100%; background: #fff }
a { color: #0550ae }
@media (prefers-color-scheme: dark) {
	body { color: #ddd; background: #16181c }
	pre, code { background: #24272d }
	nav, th, td { border-color: #555 }
	a { color: #79b8ff }
}
"""


def slug(title, separator):
    """The id of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"<[^>]*>", "", title).lower()).replace(" ", separator)


def documents():
    return [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted((ROOT / "doc").glob("*.md"))


def page_of(document):
    """Path of its page, from OUT."""
    path = document.relative_to(ROOT)
    return path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html")


def link(document, found):
    target, text = found.groups()
    path, hash_, anchor = target.partition("#")
    if ":" in path or not path:
        return found[0]
    there = (document.parent / path).resolve()
    if there in documents():
        up = "../" * len(document.relative_to(ROOT).parent.parts)
        return f'<a href="{up}{page_of(there).as_posix()}{hash_}{anchor}">{text}</a>'
    return found[0] if there.is_relative_to(ROOT / "doc/figures") else text


def page(document):
    text = document.read_text(encoding="utf-8")
    converter = markdown.Markdown(extensions=["tables", "toc", "sane_lists"], extension_configs={"toc": {"slugify": slug, "separator": "-"}})
    body = LINK.sub(lambda found: link(document, found), converter.convert(text))
    body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), document.stem)
    up = "../" * len(document.relative_to(ROOT).parent.parts)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} - quench</title><style>
{STYLE}</style></head><body>
<nav><a href="{up}index.html">quench</a> · <a href="{up}doc/index.html">all pages</a></nav>
{body}
</body></html>
"""


def main(args):
    if len(args) != 1 or args[0].startswith("-"):
        print(__doc__.strip() if args in (["-h"], ["--help"]) else "doc_pages.py: expected OUT, a folder", file=sys.stdout if args in (["-h"], ["--help"]) else sys.stderr)
        return 0 if args in (["-h"], ["--help"]) else 2
    out = pathlib.Path(args[0])
    for document in documents():
        path = out / page_of(document)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(document), encoding="utf-8")
    shutil.copytree(ROOT / "doc/figures", out / "doc/figures", dirs_exist_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
