# SPDX-License-Identifier: BSD-3-Clause
"""Congestion control of a QP: each change of its rate, and why."""
