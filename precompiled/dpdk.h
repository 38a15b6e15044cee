/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Precompiled for files that see packets: rte_mbuf.h brings all vector instructions of the
 * compiler, and takes most of the time to compile such a file. Each file includes what it uses all
 * the same: -Db_pch=false builds without this header, and so does the Debian package.
 */
#include <rte_mbuf.h>
