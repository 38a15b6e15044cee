/* SPDX-License-Identifier: BSD-3-Clause */
#include "pacer/wire_share.h"

#include <stdbool.h>

#include "base/fixed.h"
#include "base/units.h"

/* Bytes that the wire could have carried by a time. */
static uint64_t
carried_bytes(const struct wire_share *w, uint64_t now_ns)
{
	return mul_div(now_ns, w->rate_bps, 8 * NS_PER_SEC);
}

void
wire_share_init(struct wire_share *w, uint64_t rate_bps, uint64_t burst_bytes)
{
	w->reserved_bytes = 0;
	w->rate_bps = rate_bps;
	w->burst_bytes = burst_bytes;
}

uint64_t
wire_share_reserve(struct wire_share *w, uint32_t bytes, uint64_t now_ns)
{
	uint64_t oldest = sub_sat(carried_bytes(w, now_ns), w->burst_bytes);
	uint64_t at = __atomic_load_n(&w->reserved_bytes, __ATOMIC_RELAXED);
	uint64_t start;

	/* What nobody reserved in time is gone, but for the burst. */
	do {
		start = max_u64(at, oldest);
	} while (!__atomic_compare_exchange_n(&w->reserved_bytes, &at, start + bytes, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	/* Rounded up: one nanosecond earlier the wire is not free. */
	return (uint64_t)(((unsigned __int128)start * (8 * NS_PER_SEC) + w->rate_bps - 1) /
			  w->rate_bps);
}
