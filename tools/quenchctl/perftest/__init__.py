# SPDX-License-Identifier: BSD-3-Clause
""""connect perftest" and "listen perftest": a run with ib_send_bw, ib_write_bw or ib_read_bw on an RDMA host."""
