# SPDX-License-Identifier: BSD-3-Clause
"""A running-config or a script of NX-OS to a quench-switch.

A qos-group becomes the traffic class and the queue of the same number; the priority of "pause pfc-cos" becomes the priority group. A
policy of an interface replaces that of system qos, except for type network-qos, which applies to the whole switch.
"""
