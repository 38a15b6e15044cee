# SPDX-License-Identifier: BSD-3-Clause
"""
Parts of report.py: data, fluid and counters (read a result folder), plots (matplotlib figures), charts and series (what the page's charts
draw), topology (a drawing), page and html (the HTML file, with page.css and page.js in it), output (files).
"""
