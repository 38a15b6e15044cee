# SPDX-License-Identifier: BSD-3-Clause
"""Converts configurations of other systems: NX-OS and SONiC to quench-switch, mlx5's DCQCN settings to quench-nic, quench-switch to SONiC.

Every line or table entry of an input is carried over, or is among the log's lost entries with a reason, or among its asides. What is
written passes --check-config, because the program itself has read it. Equal input gives equal output. An input of another dialect, a
truncated or contradictory one, or one with a value out of range is refused as a whole, with one line that names the place.
"""
