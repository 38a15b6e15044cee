# SPDX-License-Identifier: BSD-3-Clause
"""
Parts of report.py, which the package quench reads the folders for: plots (matplotlib figures), charts, series and counters (what the page draws), topology (a drawing), page and html (the HTML file, with page.css and page.js in it), output (files).
"""
