# SPDX-License-Identifier: BSD-3-Clause
"""Traces and workloads of training into jobs: Chakra execution traces, and workloads of SimAI and AICB, into GOAL; NCCL's graphs into [job].

A collective of a trace becomes the operations that quench-lab makes of a [job] (quench-lab --goal): the algorithms have one home.
What is written has been read by quench-lab.
"""
