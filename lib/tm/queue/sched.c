// SPDX-License-Identifier: BSD-3-Clause
#include "tm/queue/sched.h"

#include "base/numbers/array.h"

#include <assert.h>
#include <string.h>

/*
 * Quantum of the smallest weight: a frame with 1500 bytes of payload, header, FCS and gap. If the
 * quantum is at least a frame, a queue sends in every round (O(1)). A jumbo frame takes up to seven
 * rounds; larger quanta would only lengthen bursts.
 */
#define QUANTUM_BYTES 1538u

const struct field sched_fields[] = {
	{FIELD_OF(struct sched_params, strict_queues), .type = FIELD_SET8, .def = "7", .live = true,
	 .help = "queues served before all others, highest number first; for CNPs and control, "
		 "since they can starve the rest"},
	{FIELD_OF(struct sched_params, dwrr_weight), .type = FIELD_MAP, .map_keys = TM_CLASSES,
	 .min = SCHED_MIN_WEIGHT, .max = SCHED_MAX_WEIGHT, .def = "3:60, *:10", .live = true,
	 .help = "weights of the other queues, by wire bytes; with 3:60, *:10 queue 3 (RoCE) "
		 "gets at least half of the rate that strict queues leave"},
};

const unsigned int sched_fields_n = ARRAY_LEN(sched_fields);

static void
set_quanta(struct sched *s, const struct sched_params *params)
{
	uint32_t lowest = SCHED_MAX_WEIGHT;

	s->strict_queues = params->strict_queues;
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		assert(params->dwrr_weight[i] > 0 && params->dwrr_weight[i] <= SCHED_MAX_WEIGHT);
		if (!(s->strict_queues >> i & 1) && params->dwrr_weight[i] < lowest)
			lowest = params->dwrr_weight[i];
	}
	/* One rounded unit for all weights, so that rounding does not change the ratios. */
	uint32_t unit = (QUANTUM_BYTES + lowest - 1) / lowest;

	for (unsigned int i = 0; i < TM_CLASSES; i++)
		s->quantum_bytes[i] = (int32_t)(params->dwrr_weight[i] * unit);
}

void
sched_set_params(struct sched *s, const struct sched_params *params)
{
	set_quanta(s, params);
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		bool strict = s->strict_queues >> i & 1;
		int32_t deficit_bytes = s->deficit_bytes[i];

		if (deficit_bytes > s->quantum_bytes[i])
			deficit_bytes = s->quantum_bytes[i];
		sched_set_deficit(s, i, strict ? 0 : deficit_bytes);
	}
}

/* Lowest queue in a non-empty mask above turn, else the lowest of all. */
static uint8_t
next_after(uint8_t mask, uint8_t turn)
{
	uint8_t above = mask & (uint8_t)(0xfeu << turn);

	return (uint8_t)__builtin_ctz(above != 0 ? above : mask);
}

/*
 * First queue with credit, beginning at turn. A queue that gets the turn without credit gets a
 * quantum.
 */
uint8_t
sched_next_turn(struct sched *s, uint8_t eligible)
{
	while (!(eligible & s->credit & (1u << s->turn))) {
		s->turn = next_after(eligible, s->turn);
		/*
		 * A queue with credit left from before a pause uses it first, so credit never
		 * exceeds one quantum.
		 */
		if (!(s->credit & (1u << s->turn)))
			sched_set_deficit(s, s->turn,
					  s->deficit_bytes[s->turn] + s->quantum_bytes[s->turn]);
	}
	return s->turn;
}
