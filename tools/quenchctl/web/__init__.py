# SPDX-License-Identifier: BSD-3-Clause
"""web: a live page of programs, which may change them."""
