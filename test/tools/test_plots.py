#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of reports and sweeps, as what is drawn in their axes."""
import types
import unittest

import fake  # noqa: F401  finds the tools
import numpy as np

try:
    from report import paper, plots, sweep
except ImportError:  # no matplotlib
    paper = plots = sweep = None


def row(cc, use, index, **columns):
    return {"nic.cc": cc, "seed": 1, "link_use": use, "jain_index": index, "queue_mean_bytes": 1000, "queue_p99_bytes": 1000,
            **dict.fromkeys(("fluid_queue_bytes", "converged_ms", "fluid_converged_ms", "slowdown_p99")), **columns}


@unittest.skipUnless(plots, "matplotlib is not installed")
class Papers(unittest.TestCase):
    def test_marks_below_others_of_their_places_are_rings(self):
        long, short, other = {"x": [1, 2, 3], "y": [1, 1, 1]}, {"x": [1, 2], "y": [1, 1]}, {"x": [1, 2], "y": [1, 5]}
        self.assertEqual(paper.rings({"short": short, "long": long}), {"short": 0, "long": 1})
        self.assertEqual(paper.rings({"first": short, "second": short, "third": short}), {"first": 2, "second": 1, "third": 0})
        self.assertEqual(paper.rings({"long": long, "other": other}), {"long": 0, "other": 0})


@unittest.skipUnless(plots, "matplotlib is not installed")
class Sweeps(unittest.TestCase):
    AXES = [(["nic.cc"], ["none", "dcqcn"])]

    def test_equal_marks_without_a_line_stand_side_by_side(self):
        share = sweep.draw("s", self.AXES, [row("none", 1, 1), row("dcqcn", 1, 1)]).axes[1]
        at = [tuple(line.get_xdata()) for line in share.get_lines()]
        self.assertEqual(at, [(-0.125, 0.875), (0.125, 1.125)])

    def test_one_seed_has_no_bar(self):
        rows = [row("none", 1, 1), row("dcqcn", 1, 1)]
        self.assertEqual(len(sweep.draw("s", self.AXES, rows).axes[1].collections), 0)
        self.assertEqual(len(sweep.draw("s", self.AXES, rows + [row("none", 0.5, 1) | {"seed": 2}]).axes[1].collections), 1)

    def test_a_title_names_the_model_only_where_it_is_drawn(self):
        for columns, told in (({}, False), ({"fluid_queue_bytes": 900}, True)):
            title = sweep.draw("s", self.AXES, [row("none", 1, 1), row("dcqcn", 1, 1, **columns)]).axes[0].get_title(loc="left")
            self.assertEqual("fluid" in title, told)


@unittest.skipUnless(plots, "matplotlib is not installed")
class Reports(unittest.TestCase):
    def axes(self, at_most):
        times = {(f"h{i}", "slowdown_milli"): (np.array(at_most), np.ones(len(at_most))) for i in range(plots.MOST_LINES + 1)}
        run = types.SimpleNamespace(times=times, all_times=lambda _: (np.array(at_most), np.ones(len(at_most))))
        return plots.slowdown(run).axes[0]

    def test_a_step_at_either_end_is_inside(self):
        for at_most in ((1000, 30000), (1000, 2000), (1000,)):
            low, high = self.axes(at_most).get_xlim()
            self.assertLess(low, at_most[0] / 1e3)
            self.assertGreater(high, at_most[-1] / 1e3)

    def test_a_short_logarithmic_axis_has_more_labels_than_powers_of_ten(self):
        axes = self.axes((1000, 30000))
        low, high = axes.get_xlim()
        self.assertEqual([round(tick) for tick in axes.get_xticks() if low <= tick <= high], [1, 2, 5, 10, 20])

    def test_a_thin_line_is_seen_in_the_legend(self):
        thin = next(line for line in self.axes((1000, 2000)).get_legend().get_lines() if line.get_label().startswith("each"))
        self.assertEqual((thin.get_alpha(), thin.get_linewidth()), (1, 1))


if __name__ == "__main__":
    unittest.main()
