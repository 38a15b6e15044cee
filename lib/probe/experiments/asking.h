/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of an experiment to the NIC, and their answers. */
#ifndef QUENCH_PROBE_EXPERIMENTS_ASKING_H
#define QUENCH_PROBE_EXPERIMENTS_ASKING_H

#include "probe/core/prober_core.h"

/**
 * Send the oldest request that was not acknowledged: a responder answers only that one after a lost
 * NAK. Sets p->mark: wait for probe_answer_to(p, qp, p->mark).
 */
void probe_resync(struct prober *p, uint32_t qp, uint64_t now_ns);

/** The first answer to a QP since entry `since`, or NULL. */
const struct prober_answer *probe_answer_to(const struct prober *p, uint32_t qp, uint64_t since);

#endif
