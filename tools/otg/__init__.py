# SPDX-License-Identifier: BSD-3-Clause
"""quench-otg: the Open Traffic Generator API in front of quench-nic (doc/otg.md).

table says what becomes of each property; schema checks a request; capture knows captures; plan turns a configuration into those of quench-nic; generator is the
process of a port, and remote one on another machine; run is what is in force; tester changes it; results makes the replies to requests for
metrics; agent serves generators to remote; server speaks HTTP. Each uses only those before it.
"""
