# SPDX-License-Identifier: BSD-3-Clause
# Web search: flows of a query cluster, many of tens of kilobytes, the bytes in a few of megabytes.
# The points by which the simulators of the HPCC family know it (WebSearch_distribution in the traffic
# generator of HPCC, SIGCOMM 2019), after Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010. Compared
# with HPCC's list, not with the paper's figure (bytes, percent not longer).
1 0
10000 15
20000 20
30000 30
50000 40
80000 53
200000 60
1000000 70
2000000 80
5000000 90
10000000 97
30000000 100
