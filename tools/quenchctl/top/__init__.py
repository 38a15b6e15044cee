# SPDX-License-Identifier: BSD-3-Clause
"""top: a live view of a program on the terminal."""
