/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lines may be believed when frames or calls were late. */
#ifndef QUENCH_PROBE_EXPERIMENTS_TRUST_H
#define QUENCH_PROBE_EXPERIMENTS_TRUST_H

#include "probe/core/prober_core.h"

/** An experiment has ended. If it was too late, its lines of times get "not measured". */
void probe_distrust(struct prober *p);

#endif
