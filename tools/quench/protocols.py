# SPDX-License-Identifier: BSD-3-Clause
"""Protocols in IP headers (IANA's protocol numbers), by the words of commands and of the Open Traffic Generator API, and by their names."""
from __future__ import annotations

NAMES = {1: "ICMP", 4: "IPv4", 6: "TCP", 17: "UDP", 41: "IPv6", 58: "ICMPv6", 137: "MPLS"}
NUMBERS = {name.lower(): number for number, name in NAMES.items()}
