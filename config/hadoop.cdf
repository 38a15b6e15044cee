# SPDX-License-Identifier: BSD-3-Clause
# Data mining on Hadoop: most messages below 1 KB, few of megabytes.
# A coarse thinning of the points that public simulators (HPCC's among them) carry for Facebook's Hadoop
# cluster, Roy et al., "Inside the Social Network's (Datacenter) Network", SIGCOMM 2015; not read from the
# paper's figure by us (bytes, percent not longer).
1 0
300 5
400 20
600 40
1000 60
5000 70
50000 80
100000 90
300000 95
1000000 97.5
10000000 100
