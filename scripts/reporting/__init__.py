# SPDX-License-Identifier: BSD-3-Clause
"""Parts of report.py: data (reads a result folder), plots (matplotlib figures), page (the HTML file), output (files)."""
