# SPDX-License-Identifier: BSD-3-Clause
"""quenchctl: shows and controls a running quench-nic or quench-switch.

table has the commands, command finds the one that was asked for, main runs it. A command imports what it needs, and no more: a show
has to answer in a tenth of a second.
"""
