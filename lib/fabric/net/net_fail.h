/* SPDX-License-Identifier: BSD-3-Clause */
/* Reasons why a net cannot be built. Private to lib/fabric. */
#ifndef QUENCH_FABRIC_NET_NET_FAIL_H
#define QUENCH_FABRIC_NET_NET_FAIL_H

/** Write one line into why. @return -1. */
__attribute__((format(printf, 3, 4))) int net_fail(char *why, unsigned int why_size,
						   const char *format, ...);

#endif
