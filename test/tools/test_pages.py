#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What pages are made of: numbers, cells of tables, and colours that can be told from the ground."""
import pathlib
import re
import unittest

import fake  # noqa: F401  finds the tools
from report.html import even, said, table

TOOLS = pathlib.Path(fake.__file__).resolve().parents[2] / "tools"
LEAST_CONTRAST = 4.5  # WCAG 2, AA


def luminance(colour):
    """Of #rgb or #rrggbb, by WCAG 2."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4))]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


class Numbers(unittest.TestCase):
    def test_a_text_of_a_program_has_the_units_and_digits_of_pages(self):
        for text, shown in (("28936 us late, 2000 us: 21 % of it", "28\u202f936\u00a0µs late, 2\u202f000\u00a0µs: 21\u00a0% of it"), ("1234567 bytes", "1\u202f234\u202f567\u00a0bytes"),
                            ("port 12345 of h10000", "port 12345 of h10000"), ("12.5 us", "12.5\u00a0µs"), ("-5 us", "-5\u00a0µs"), ("2000-5000 us", "2\u202f000-5\u202f000\u00a0µs"), ("10.0.0.1 us", "10.0.0.1 us"), ("a & b", "a &amp; b"),
                            ("4791 --idle-sleep 50us", '4791 <span class="keyed">--idle-sleep</span> 50us'), ("use 5 use", "use 5 use"), ("100 Gb/s", "100\u00a0Gb/s")):
            self.assertEqual(said(text), shown)

    def test_cells_of_a_quantity_have_the_same_decimals(self):
        for column, shown in ((["22.7", "24.07"], ["22.70", "24.07"]), (["9.599", "10"], ["9.599", "10.00"]), (["99.46", "100"], ["99.46", "100.0"]), (["54", "8"], ["54", "8"]),
                              (["0", "1.5"], ["0", "1.5"]), (["12\u202f340", "3.5"], ["12\u202f340", "3.5"]), (["-", "2.5", "3"], ["-", "2.5", "3.0"]), (["225.3", "7.6"], ["225.3", "7.6"])):
            self.assertEqual(even(column), shown)


class Tables(unittest.TestCase):
    def test_words_are_at_the_left_and_figures_at_the_right(self):
        page = table(("flow", "to", "rate", "done", "share", "none"), [("incast h1", "h5", "9.61", "5 of 5", "+21\u202f883 %", "-"), ("incast h2", "h5", "10", "-", "", "")])
        words = re.findall(r'<th class="word[^"]*">(\w+)', page)
        self.assertEqual(words, ["flow", "to"])
        self.assertIn('<th class="word', table(("address",), [("10.0.0.1",), ("10.0.0.2",)]))
        self.assertIn("<td>10.0", page)

    def test_a_digest_is_a_word(self):
        self.assertIn('<th class="word">digest', table(("run", "digest"), [("a", "<code>41d578c03c187a8b</code>"), ("b", "<code>1234567890123456</code>")]))

    def test_a_long_text_has_room(self):
        page = table(("queue", "filled by"), [("leaf2 port 4", "experts h5-h13 9 %, experts h5-h15 9 %, experts h5-h16 9 %"), ("leaf3 port 4", "ring h1")])
        self.assertEqual(page.count('<td class="word long">'), 2)
        self.assertNotIn("long", table(("key", "value"), [("topology", "rail_optimized")]))

    def test_a_long_name_may_break_and_a_short_one_may_not(self):
        page = table(("",), [("experts h5-h16",), ("paused by PFC, all ports",)])
        self.assertEqual(re.findall(r'<td class="word short">([\w -]+)', page), ["experts h5-h16"])


class Colours(unittest.TestCase):
    def test_words_in_the_colours_of_lines_can_be_read(self):
        page = (TOOLS / "report/page.js").read_text(encoding="utf-8")
        for name, ground in (("WORDS", "#ffffff"), ("DARK", "#14181c")):
            colours = re.findall(r"#\w{6}", re.search(rf"const {name} = \[([^]]*)\]", page)[1])
            self.assertEqual(len(colours), 8)
            for colour in colours:
                self.assertGreaterEqual(contrast(colour, ground), LEAST_CONTRAST, f"{name}: {colour}")
            if name == "WORDS":
                plots = re.search(r"^WORDS = dict\(zip\(COLOURS, \(([^)]*)\)", (TOOLS / "report/plots.py").read_text(encoding="utf-8"), re.M)[1]
                # The last one of a page is no black, which its dark ground would not show.
                self.assertEqual(re.findall(r"#\w{6}", plots)[:7], colours[:7])

    def test_text_can_be_read_on_each_ground(self):
        for path, names in (("report/page.css", ("ink", "soft", "link", "alarm", "limit", "fine")), ("quenchctl/web/page/page.css", ("ink", "soft", "good", "alarm", "room", "xon"))):
            schemes = re.findall(r":root \{([^}]*--ground[^}]*)\}", (TOOLS / path).read_text(encoding="utf-8"))
            self.assertGreaterEqual(len(schemes), 2)
            known = {}
            for scheme in schemes:
                known |= dict(re.findall(r"--([\w-]+): (#\w+)", scheme))
                for name in names:
                    self.assertGreaterEqual(contrast(known[name], known["ground"]), LEAST_CONTRAST, f"{path}: --{name} {known[name]} on {known['ground']}")


if __name__ == "__main__":
    unittest.main()
