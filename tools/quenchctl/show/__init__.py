# SPDX-License-Identifier: BSD-3-Clause
"""The commands that read a running program and print what they find."""
