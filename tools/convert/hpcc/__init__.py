# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios of the HPCC ns-3 family into those of quench-lab: a configuration, a topology and flows into an INI and a trace."""
