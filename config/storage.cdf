# SPDX-License-Identifier: BSD-3-Clause
# Block storage over RDMA with blocks of 4 MB: small commands and metadata, 4 KB to 64 KB of random
# access, and whole blocks that carry nearly all bytes. Not a measurement: a mix made for this
# project after descriptions of such systems (4 MB transfers: Zhu et al., SIGCOMM 2015, section 2.2).
64 0
64 25
4096 25
4096 45
16384 60
65536 70
4194304 70
4194304 100
