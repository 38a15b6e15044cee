/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Egress scheduler of one port: strict priority queues first (higher number first), then deficit weighted
 * round robin among the rest (Shreedhar and Varghese 1995), weights in wire bytes.
 *
 * A queue is served while its deficit is positive and is charged what it sent, so no head length is needed;
 * a paused queue is skipped with its deficit frozen, an emptied one forgets it. Long-run shares of backlogged
 * queues are w_i / sum(w) within one frame.
 */
#ifndef QUENCH_TM_SCHED_H
#define QUENCH_TM_SCHED_H

#include <stdint.h>

#include "base/field.h"
#include "tm/qos_map.h"

struct sched_params {
	uint8_t strict_queues;       /* mask */
	uint8_t weight[TM_CLASSES];  /* DWRR, 1..100; key "dwrr_weight = 3:50, *:10" */
};

extern const struct field sched_fields[];
extern const unsigned int sched_fields_n;

struct sched {
	int64_t deficit_bytes[TM_CLASSES];
	int32_t quantum_bytes[TM_CLASSES];
	uint8_t strict_queues;
	uint8_t in_round;  /* queues that have had their quantum in this round */
	uint8_t turn;      /* queue being served */
};

void sched_init(struct sched *s, const struct sched_params *params);

/** Next queue among eligible (backlogged and not paused), or -1 when the mask is empty. */
int sched_pick(struct sched *s, uint8_t eligible);

/** The picked queue sent these wire bytes; backlogged says whether it still holds packets. */
void sched_charge(struct sched *s, uint8_t queue, uint32_t bytes, uint8_t backlogged);

#endif
