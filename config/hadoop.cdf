# SPDX-License-Identifier: BSD-3-Clause
# Data mining on Hadoop: most messages below 1 KB, few of megabytes.
# The points by which the simulators of the HPCC family know Facebook's Hadoop cluster (FbHdp_distribution in
# the traffic generator of HPCC, SIGCOMM 2019), after Roy et al., "Inside the Social Network's (Datacenter)
# Network", SIGCOMM 2015. Compared with HPCC's list, not with the paper's figure (bytes, percent not longer).
1 0
100 1
200 2
300 5
350 15
400 20
500 30
600 40
700 50
1000 60
2000 67
7000 70
30000 72
50000 82
80000 87
120000 90
300000 95
1000000 97.5
2000000 99
10000000 100
