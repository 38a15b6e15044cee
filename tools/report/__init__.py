# SPDX-License-Identifier: BSD-3-Clause
"""
Parts of report.py: plots (matplotlib figures), charts, series and counters (what the page draws), topology (a drawing), page and html (the
HTML file, with page.css, page.js and cut.js in it), output (files). sweep and sweep_page are the figure and the page of a sweep. The package quench reads the folders.
Parts of scripts/plot: quantities (the curves of runs and sweeps) and paper (the program that it writes beside a figure).
"""
