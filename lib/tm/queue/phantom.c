/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A phantom queue (HULL, NSDI 2012 section 3.1): a counter of the bytes that would be queued at a
 * link slightly slower than the port. Packets are marked while it exceeds a threshold, so the real
 * queue stays nearly empty, at the price of a share of the link.
 *
 * Each packet adds its wire bytes as it leaves. The counter falls at the drain rate, to 0 at the
 * lowest. A pause does not stop it, so a port that PFC holds below the drain rate marks nothing.
 *
 * Invariant: as long as the load stays below the drain rate, the counter is bounded by the burst.
 */
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "base/threads/counter.h"
#include "tm/queue/mark_ops.h"

#define PPM 1000000u
#define NANOBITS 8000000000ull /* of a byte */
/* Highest counter; above it, bytes are not added. 2^30 bytes in nanobits are below 2^63. */
#define MOST_BYTES (1ull << 30)

struct phantom_params {
	uint64_t phantom_threshold_bytes;
	uint32_t phantom_drain_ppm; /* gamma: share of the port's rate */
};

struct phantom_state {
	uint64_t backlog_nanobits;
	uint64_t since_ns; /* time of backlog_nanobits */
};

struct phantom_counts {
	uint64_t phantom_over_packets;
};

MARK_FITS(struct phantom_params, struct phantom_state, struct phantom_counts);

const struct field phantom_fields[] = {
	{FIELD_OF(struct phantom_params, phantom_threshold_bytes), .type = FIELD_U64,
	 .unit = UNIT_BYTES, .max = MOST_BYTES / 2, .def = "30KB", .live = true,
	 .help = "length of the phantom queue above which every packet is marked; default: "
		 "scaled from HULL's 1KB per Gb/s at 40G"},
	{FIELD_OF(struct phantom_params, phantom_drain_ppm), .type = FIELD_U32, .unit = UNIT_PPM,
	 .min = PPM / 2, .max = PPM, .def = "95%", .live = true,
	 .aliases = {{.name = "phantom_drain", .scale = PPM}, {.name = "gamma", .scale = PPM}},
	 .help = "rate at which the phantom queue drains, as a share of the port's rate; "
		 "phantom_drain, gamma: fractions"},
};
const unsigned int phantom_fields_n = ARRAY_LEN(phantom_fields);

static const struct counter_field phantom_counters[] = {
	COUNTER_FIELD(struct phantom_counts, phantom_over_packets,
		      "frames that met a phantom queue above phantom_threshold_bytes, ECT or not"),
};
static const unsigned int phantom_counters_n = ARRAY_LEN(phantom_counters);

static void
drain(struct phantom_state *s, uint64_t drain_bps, uint64_t now_ns)
{
	unsigned __int128 drained = (unsigned __int128)sub_sat(now_ns, s->since_ns) * drain_bps;

	s->backlog_nanobits =
		drained >= s->backlog_nanobits ? 0 : s->backlog_nanobits - (uint64_t)drained;
	s->since_ns = max_u64(now_ns, s->since_ns);
}

static bool
phantom_hit(const void *params, void *state, void *counts, uint64_t rate_bps,
	    const struct mark_packet *packet)
{
	const struct phantom_params *p = params;
	struct phantom_state *s = state;
	struct phantom_counts *c = counts;

	drain(s, mul_div(rate_bps, p->phantom_drain_ppm, PPM), packet->now_ns);
	s->backlog_nanobits =
		min_u64(s->backlog_nanobits + packet->bytes * NANOBITS, MOST_BYTES * NANOBITS);
	if (s->backlog_nanobits <= p->phantom_threshold_bytes * NANOBITS)
		return false;
	counter_inc(&c->phantom_over_packets);
	return true;
}

/* An empty queue says nothing of the phantom one. */
static bool
phantom_may_hit(const void *params, uint64_t queue_bytes)
{
	(void)params;
	(void)queue_bytes;
	return true;
}

const struct mark_ops mark_phantom = {MARK_TABLES(phantom), .hit = phantom_hit,
				      .may_hit = phantom_may_hit};
