/* SPDX-License-Identifier: BSD-3-Clause */
/* /quench/mempools: mbufs in use of each pool, which shows leaks. */
#ifndef QUENCH_APP_RUNTIME_METHODS_MEMPOOLS_H
#define QUENCH_APP_RUNTIME_METHODS_MEMPOOLS_H

#include <jansson.h>

#include "runtime/report/catalogue.h"

struct desk_call;

extern const struct meaning mempool_meanings[];

/**
 * Rows of pool, mbufs and in_use.
 *
 * in_use is the pool's size less the mbufs in its ring and in the caches of all lcores. It is
 * exact while the lcores are idle. Otherwise, the error is the number of mbufs that move while it
 * is read.
 */
json_t *mempools_reply(struct desk_call *call);

#endif
