/* SPDX-License-Identifier: BSD-3-Clause */
#include "pacer/wire_share.h"

#include <stdbool.h>

#include "base/numbers/units.h"

/*
 * A reservation ends less than this number of bytes after the oldest byte. A larger difference is
 * that of a negative number.
 */
#define MOST_AHEAD (1ull << 33)

/* Bytes that the wire could have carried since time 0: up to 71 bits. */
static __int128
carried_bytes(const struct wire_share *w, uint64_t now_ns)
{
	return (__int128)((unsigned __int128)now_ns * w->rate_bps / (8 * NS_PER_SEC));
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
	/* Oldest byte that may be reserved. Negative during the first burst. */
	__int128 oldest = carried_bytes(w, now_ns) - w->burst_bytes;
	uint64_t at = __atomic_load_n(&w->reserved_bytes, __ATOMIC_RELAXED);
	__int128 start;

	/* Capacity that no sender reserved in time is lost, except for the burst. */
	do {
		uint64_t ahead = at - (uint64_t)oldest;

		start = oldest + (ahead <= MOST_AHEAD ? ahead : 0);
	} while (!__atomic_compare_exchange_n(&w->reserved_bytes, &at, (uint64_t)start + bytes,
					      true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	/* Round up: one nanosecond earlier the wire would not be free yet. */
	return (uint64_t)((start * (8 * NS_PER_SEC) + w->rate_bps - 1) / w->rate_bps);
}
