# SPDX-License-Identifier: BSD-3-Clause
"""SONiC's config_db.json to a quench-switch, and back."""
