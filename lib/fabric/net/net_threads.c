/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the number of threads. */
#include "base/threads/cores.h"
#include "base/numbers/fixed.h"
#include "fabric/net/net.h"

/*
 * Frames that each thread must have in a window, if all links are full. In each window, waiting for
 * the other threads costs about as much as ten hops.
 */
#define LEAST_FRAMES 100u
#define FRAME_BYTES 1106u

/* Frames on all links in the time of the shortest delay, which is a window of the event loop. */
static uint64_t
frames_in_window(const struct topology *t)
{
	uint64_t shortest_ns = NEVER_NS, frames_per_s = 0;

	for (uint32_t i = 0; i < t->n_links; i++) {
		shortest_ns = min_u64(shortest_ns, t->links[i].cable.delay_ns);
		frames_per_s += 2 * t->links[i].cable.rate_bps / (8 * FRAME_BYTES);
	}
	return mul_div(frames_per_s, shortest_ns, NS_PER_SEC);
}

uint32_t
net_threads_that_pay(const struct scenario *s)
{
	uint64_t most = min_u64(usable_cores(), FABRIC_MAX_THREADS);

	return (uint32_t)max_u64(1, min_u64(most, frames_in_window(s->topology) / LEAST_FRAMES));
}
