#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The documents as pages of the package: every link of every page leads somewhere, and tables and code are such."""
import html.parser
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.tags = set(), [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.add(tag)
        self.ids |= {found["id"]} if "id" in found else set()
        self.links += [found[key] for key in ("href", "src") if key in found]


class Pages(unittest.TestCase):
    def test_links_lead_to_pages_and_headings(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            subprocess.run([sys.executable, ROOT / "share/help/doc_pages.py", out], check=True)
            pages = {path: Page(path) for path in out.rglob("*.html")}
            self.assertEqual(len(pages), len(list((ROOT / "doc").glob("*.md"))) + 3)
            links = 0
            for path, page in pages.items():
                for link in page.links:
                    to, _, anchor = link.partition("#")
                    if ":" in to:
                        continue
                    there = (path.parent / to).resolve() if to else path
                    self.assertTrue(there.is_file(), f"{path.relative_to(out)}: {link}")
                    if anchor:
                        self.assertIn(anchor, pages[there].ids, f"{path.relative_to(out)}: {link}")
                    links += 1
            self.assertGreater(links, 400)
            self.assertLessEqual({"table", "pre", "code", "ul", "img"}, set().union(*(page.tags for page in pages.values())))

    def test_bad_usage_is_said_in_a_line(self):
        done = subprocess.run([sys.executable, ROOT / "share/help/doc_pages.py"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "doc_pages.py: expected OUT, a folder\n"))


if __name__ == "__main__":
    unittest.main()
