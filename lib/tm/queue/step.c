/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step at K: mark every packet that meets more than K bytes in its queue (DCTCP, SIGCOMM 2010
 * section 3.1; RFC 8257 section 3.1).
 */
#include "base/numbers/array.h"
#include "base/threads/counter.h"
#include "tm/queue/mark_ops.h"

struct step_params {
	uint64_t step_threshold_bytes; /* K */
};

struct step_counts {
	uint64_t step_over_packets;
};

struct step_state {
	uint64_t none;
};

MARK_FITS(struct step_params, struct step_state, struct step_counts);

const struct field step_fields[] = {
	{FIELD_OF(struct step_params, step_threshold_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .max = 1ull << 31, .def = "120KB", .live = true, .aliases = {{.name = "K"}},
	 .help = "K: queue length above which every packet is marked; default: as in "
		 "config/incast-4to1-dctcp.ini, for 40G"},
};
const unsigned int step_fields_n = ARRAY_LEN(step_fields);

static const struct counter_field step_counters[] = {
	COUNTER_FIELD(struct step_counts, step_over_packets,
		      "frames that met more than step_threshold_bytes, ECT or not"),
};
static const unsigned int step_counters_n = ARRAY_LEN(step_counters);

static bool
step_hit(const void *params, void *state, void *counts, uint64_t rate_bps,
	 const struct mark_packet *packet)
{
	const struct step_params *p = params;
	struct step_counts *c = counts;

	(void)state;
	(void)rate_bps;
	if (packet->queue_bytes <= p->step_threshold_bytes)
		return false;
	counter_inc(&c->step_over_packets);
	return true;
}

static bool
step_may_hit(const void *params, uint64_t queue_bytes)
{
	const struct step_params *p = params;

	return queue_bytes > p->step_threshold_bytes;
}

const struct mark_ops mark_step = {MARK_TABLES(step), .hit = step_hit, .may_hit = step_may_hit};
