# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of programs, for Prometheus."""
