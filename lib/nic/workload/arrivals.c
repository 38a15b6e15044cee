/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/workload/arrivals.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/fixed.h"

static uint64_t
sum_ns(uint64_t at_ns, uint64_t ns)
{
	return min_u64(add_sat(at_ns, ns), ARRIVALS_LAST_NS);
}

/* Time that a part of a gap takes at to_bps, given that it takes ns at from_bps. */
static uint64_t
scaled_ns(uint64_t ns, uint64_t from_bps, uint64_t to_bps)
{
	unsigned __int128 scaled = (unsigned __int128)ns * from_bps / to_bps;

	return scaled > ARRIVALS_LAST_NS ? ARRIVALS_LAST_NS : (uint64_t)scaled;
}

static struct arrivals_span *
newest(struct arrivals *a)
{
	return &a->span[a->n - 1];
}

void
arrivals_init(struct arrivals *a, uint64_t start_ns, uint64_t load_bps, bool stopped)
{
	assert(load_bps > 0);
	*a = (struct arrivals){.n = 1};
	a->span[0] = (struct arrivals_span){start_ns, stopped ? start_ns : NEVER_NS, load_bps};
}

/* Merge the two oldest spans into one with the same payload. */
static void
merge_oldest(struct arrivals *a)
{
	const struct arrivals_span *one = &a->span[0], *two = &a->span[1];
	unsigned __int128 nanobits =
		(unsigned __int128)one->load_bps * (one->until_ns - one->from_ns) +
		(unsigned __int128)two->load_bps * (two->until_ns - two->from_ns);
	uint64_t load_bps = (uint64_t)(nanobits / max_u64(1, two->until_ns - one->from_ns));

	if (one->from_ns < one->until_ns) {
		a->span[1].from_ns = one->from_ns;
		a->span[1].load_bps = max_u64(1, load_bps);
	}
	memmove(&a->span[0], &a->span[1], (a->n - 1) * sizeof(a->span[0]));
	a->n--;
}

/* The newest span has ended: begin another one. */
static void
resume(struct arrivals *a, uint64_t load_bps, uint64_t at_ns)
{
	const struct arrivals_span *last = newest(a);
	uint64_t from_ns = max_u64(at_ns, last->until_ns);

	a->moved_bps = last->load_bps;
	a->moved_from_ns = last->until_ns;
	a->moved_to_ns = from_ns;
	/*
	 * Drop an empty first span, because nothing arrived before it. Keep other empty spans:
	 * their load has moved arrivals, and the later times depend on how those were rounded.
	 */
	if (a->n == 1 && last->from_ns == last->until_ns)
		a->n = 0;
	else if (a->n == ARRIVALS_SPANS)
		merge_oldest(a);
	a->span[a->n++] = (struct arrivals_span){from_ns, NEVER_NS, load_bps};
}

void
arrivals_change(struct arrivals *a, uint64_t load_bps, bool stopped, uint64_t at_ns)
{
	struct arrivals_span *last = newest(a);
	bool runs = last->until_ns == NEVER_NS;

	a->moved_bps = 0;
	stopped |= load_bps == 0;
	if (runs ? !stopped && load_bps == last->load_bps : stopped)
		return;
	if (runs)
		last->until_ns = max_u64(at_ns, last->from_ns);
	if (!stopped)
		resume(a, load_bps, at_ns);
}

uint64_t
arrivals_moved_ns(const struct arrivals *a, uint64_t arrival_ns)
{
	if (a->moved_bps == 0 || arrival_ns < a->moved_from_ns)
		return arrival_ns;
	return sum_ns(a->moved_to_ns, scaled_ns(arrival_ns - a->moved_from_ns, a->moved_bps,
						a->span[a->n - 1].load_bps));
}

uint64_t
arrivals_next_ns(const struct arrivals *a, const struct workload *w, uint32_t qpn, uint64_t message,
		 uint64_t before_ns)
{
	uint32_t i = a->n - 1;
	uint64_t at_ns = before_ns, gap_ns;

	while (i > 0 && a->span[i].from_ns > before_ns)
		i--;
	gap_ns = workload_gap_ns(w, a->span[i].load_bps, qpn, message);
	for (;; i++) {
		const struct arrivals_span *s = &a->span[i];
		uint64_t from_ns = at_ns;

		at_ns = sum_ns(from_ns, gap_ns);
		if (at_ns < s->until_ns || i + 1 == a->n)
			return at_ns;
		gap_ns = scaled_ns(at_ns - max_u64(from_ns, s->until_ns), s->load_bps,
				   s[1].load_bps);
		at_ns = s[1].from_ns;
	}
}

uint64_t
arrivals_first_ns(const struct arrivals *a, const struct workload *w, uint32_t qpn)
{
	return sum_ns(a->span[0].from_ns, workload_gap_ns(w, a->span[0].load_bps, qpn, 0));
}
