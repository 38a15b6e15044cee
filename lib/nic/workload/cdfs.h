/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributions of message sizes that papers of the field share. Their points are those of the
 * traffic generator that the authors of HPCC published (SIGCOMM 2019), except that the smallest
 * message has 1 byte.
 */
#ifndef QUENCH_NIC_WORKLOAD_CDFS_H
#define QUENCH_NIC_WORKLOAD_CDFS_H

#include <stdbool.h>

#include "nic/workload/workload.h"

/* Their names, for error lines. */
#define WORKLOAD_CDF_NAMES "websearch, hadoop or alistorage"

/** Set the points of the distribution of that name and finish it. @return false: no such name. */
bool workload_cdf_of(const char *name, struct workload_cdf *out);

#endif
