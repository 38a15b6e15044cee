# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test-run: a scenario with criteria, in the lab and on ports (doc/test-run.md).

sections reads the file; quantities says what can be measured, and criteria what is expected of it; in_lab runs the scenario in the lab; wiring
numbers the ports of switches, plan makes the configurations of quench-nic and quench-switch for ports, and on_ports runs them; search finds the
value of a key where criteria cease to hold; verdict_file has the members of verdict.json, and
output writes the verdict. Each uses only those before it.
"""
