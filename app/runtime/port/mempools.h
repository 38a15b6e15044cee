/* SPDX-License-Identifier: BSD-3-Clause */
/* /quench/mempools: how many mbufs of each pool are in use, so that a leak is seen. */
#ifndef QUENCH_APP_RUNTIME_PORT_MEMPOOLS_H
#define QUENCH_APP_RUNTIME_PORT_MEMPOOLS_H

#include <jansson.h>

#include "runtime/telemetry/catalogue.h"

struct telemetry_call;

extern const struct meaning mempool_meanings[];

/**
 * Rows of pool, mbufs and in_use.
 *
 * in_use is the pool's size less what its ring and the caches of all lcores hold, read while lcores
 * take and give back: exact when they rest, else off by what moves meanwhile.
 */
json_t *mempools_reply(struct telemetry_call *call);

#endif
