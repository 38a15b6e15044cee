/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Egress scheduler of one port: strict priority queues first (highest number first), then deficit
 * weighted round robin among the rest (Shreedhar and Varghese 1995), with weights in wire bytes.
 *
 * A queue is served while its deficit is positive, and then charged, so the length of its head
 * frame is not needed. Any excess, less than one frame, is deducted from its next round. A paused
 * queue is skipped, and its deficit does not change. A queue that empties loses its credit but
 * keeps its debt, else single large frames would exceed their share.
 *
 * Invariant (tested): for queues i, j that stay backlogged,
 *   sent_i / sent_j = weight_i / weight_j, to within a quantum and a frame,
 * and bytes that a queue leaves unused are shared by the others in the ratio of their weights.
 */
#ifndef QUENCH_TM_QUEUE_SCHED_H
#define QUENCH_TM_QUEUE_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "tm/classes/qos_map.h"

#define SCHED_MIN_WEIGHT 1
#define SCHED_MAX_WEIGHT 100

struct sched_params {
	uint8_t strict_queues;           /* mask */
	uint8_t dwrr_weight[TM_CLASSES]; /* SCHED_MIN_WEIGHT.. ; unused for strict queues */
};

FIELD_TABLE(sched_fields);

/* The magnitude of a deficit is at most a quantum (at most 100 x 1538 bytes) plus a frame. */
struct sched {
	uint8_t strict_queues;
	uint8_t credit; /* mask of queues with positive deficit */
	uint8_t turn;   /* queue being served */
	int32_t deficit_bytes[TM_CLASSES];
	int32_t quantum_bytes[TM_CLASSES];
};

/**
 * Apply new params; each deficit is kept, capped at the new quantum, except that of a strict queue,
 * which becomes 0.
 */
void sched_set_params(struct sched *s, const struct sched_params *params);

/** Next queue among eligible (backlogged and not paused), or -1 if the mask is empty. */
static inline int sched_pick(struct sched *s, uint8_t eligible);

/**
 * Wire bytes after which the picked queue's turn ends; INT32_MAX for a strict queue. Until then,
 * and while the eligible queues stay the same, sched_pick() would pick it again.
 */
static inline int32_t sched_grant(const struct sched *s, uint8_t queue);

/**
 * The picked queue sent one frame, or several within its turn.
 *
 * @param bytes       On the wire: the sum of wire_bytes().
 * @param backlogged  Does this queue still hold packets?
 */
static inline void sched_charge(struct sched *s, uint8_t queue, uint32_t bytes, bool backlogged);

/**
 * sched_pick() and sched_charge() in one step, for a queue that is alone: it is the only eligible
 * one and sends its last frame.
 */
static inline void sched_send_alone(struct sched *s, uint8_t queue, uint32_t bytes);

/* Inline definitions */

/** Slow path of sched_pick(): the turn passes to another DWRR queue. */
uint8_t sched_next_turn(struct sched *s, uint8_t eligible);

static inline int32_t
sched_grant(const struct sched *s, uint8_t queue)
{
	return s->strict_queues >> queue & 1 ? INT32_MAX : s->deficit_bytes[queue];
}

static inline void
sched_set_deficit(struct sched *s, uint8_t queue, int32_t deficit_bytes)
{
	uint8_t bit = (uint8_t)(1u << queue);

	s->deficit_bytes[queue] = deficit_bytes;
	s->credit = (uint8_t)((s->credit & ~bit) | (deficit_bytes > 0 ? bit : 0));
}

static inline int
sched_pick(struct sched *s, uint8_t eligible)
{
	uint8_t strict = eligible & s->strict_queues;

	if (strict != 0)
		return 31 - __builtin_clz(strict);
	if (eligible & s->credit & (1u << s->turn))
		return s->turn;
	if (eligible == 0)
		return -1;
	/*
	 * A single eligible queue always has the turn. That is the case in most calls that send a
	 * frame or two.
	 */
	if ((eligible & (eligible - 1)) != 0)
		return sched_next_turn(s, eligible);
	s->turn = (uint8_t)__builtin_ctz(eligible);
	while (!(s->credit & eligible))
		sched_set_deficit(s, s->turn,
				  s->deficit_bytes[s->turn] + s->quantum_bytes[s->turn]);
	return s->turn;
}

static inline void
sched_charge(struct sched *s, uint8_t queue, uint32_t bytes, bool backlogged)
{
	int32_t deficit_bytes;

	if (s->strict_queues >> queue & 1)
		return;
	deficit_bytes = s->deficit_bytes[queue] - (int32_t)bytes;
	if (!backlogged && deficit_bytes > 0)
		deficit_bytes = 0;
	sched_set_deficit(s, queue, deficit_bytes);
}

static inline void
sched_send_alone(struct sched *s, uint8_t queue, uint32_t bytes)
{
	if (s->strict_queues >> queue & 1)
		return;
	/* Its turn gives it a quantum, and what it does not use is lost. */
	if (s->deficit_bytes[queue] == 0 && (int32_t)bytes <= s->quantum_bytes[queue]) {
		s->turn = queue;
		return;
	}
	sched_pick(s, (uint8_t)(1u << queue));
	sched_charge(s, queue, bytes, false);
}

#endif
