/* SPDX-License-Identifier: BSD-3-Clause */
/* When messages of open loops come: each gap is a share of the mean one, and takes as long as the
 * loads in force meanwhile make it. */
#include "pair.h"

#include <stdlib.h>

#include "base/numbers/fixed.h"

/* That are remembered. */
#define ARRIVALS 1024u

static uint64_t
sum_ns(uint64_t at_ns, unsigned __int128 ns)
{
	return ns > ARRIVALS_LAST_NS - at_ns ? ARRIVALS_LAST_NS : at_ns + (uint64_t)ns;
}

static uint64_t
gap_ns(const struct expected_loop *o)
{
	return workload_gap_ns(o->w, o->load_bps, o->qpn, o->next);
}

void
expected_loop_begin(struct expected_loop *o, const struct workload *w, uint32_t qpn,
		    uint64_t from_ns, const struct nic_flow_update *live)
{
	*o = (struct expected_loop){.on = true,
				    .w = w,
				    .qpn = qpn,
				    .arrived_ns = calloc(ARRIVALS, sizeof(*o->arrived_ns)),
				    .from_ns = from_ns,
				    .stopped_ns = live->stopped ? from_ns : NEVER_NS,
				    .load_bps = live->load_bps};
	life_must("memory", o->arrived_ns != NULL, "no arrivals");
	o->next_ns = sum_ns(from_ns, gap_ns(o));
}

void
expected_loop_end(struct expected_loop *o)
{
	free(o->arrived_ns);
	*o = (struct expected_loop){0};
}

void
expected_loop_advance(struct expected_loop *o, uint64_t until_ns)
{
	while (o->on && o->stopped_ns == NEVER_NS && o->next_ns <= until_ns) {
		/* A NIC this far behind its arrivals is not checked; gaps may be 0 ns long. */
		if (o->next - o->acked == ARRIVALS) {
			o->on = false;
			return;
		}
		o->arrived_ns[o->next++ % ARRIVALS] = o->next_ns;
		o->next_ns = sum_ns(o->next_ns, gap_ns(o));
	}
}

/* Of a backlog older than the last changes, a NIC knows the mean load only. */
static void
note_change(struct expected_loop *o, uint64_t at_ns)
{
	uint64_t oldest_ns = expected_loop_arrival_ns(o, o->acked);

	o->changed_ns[o->changes++ % ARRIVALS_SPANS] = at_ns;
	if (o->changes >= ARRIVALS_SPANS &&
	    oldest_ns < o->changed_ns[(o->changes + 1) % ARRIVALS_SPANS])
		o->on = false;
}

/* A NIC works a gap that has changed out from its message, in whole ns at each load: 2 ns more or
 * less before a change are as much longer after it as the load is smaller, and the end is rounded
 * too. */
static uint64_t
rounded_ns(uint64_t before_ns, uint64_t old_bps, uint64_t new_bps)
{
	unsigned __int128 ns = (unsigned __int128)(before_ns + 2) * old_bps / new_bps + 1;

	return ns > ARRIVALS_LAST_NS ? ARRIVALS_LAST_NS : (uint64_t)ns;
}

void
expected_loop_change(struct expected_loop *o, const struct nic_flow_update *live, uint64_t at_ns)
{
	bool stopped = o->stopped_ns != NEVER_NS;
	unsigned __int128 left_ns;

	if (!o->on || o->leaves)
		return;
	/* What comes at this very instant is moved. */
	if (at_ns > 0)
		expected_loop_advance(o, at_ns - 1);
	if (stopped ? live->stopped : !live->stopped && live->load_bps == o->load_bps)
		return;
	/* Of a gap nothing passes before the start, whatever the load. */
	at_ns = max_u64(at_ns, o->from_ns);
	if (!stopped)
		o->stopped_ns = at_ns;
	if (live->stopped)
		return;
	left_ns = (unsigned __int128)(o->next_ns - o->stopped_ns) * o->load_bps / live->load_bps;
	o->from_ns = at_ns;
	o->next_ns = sum_ns(at_ns, left_ns);
	/* Messages of before may still be in the backlog: the most that there was counts. */
	o->slack_ns = max_u64(o->slack_ns, rounded_ns(o->slack_ns, o->load_bps, live->load_bps));
	o->load_bps = live->load_bps;
	o->stopped_ns = NEVER_NS;
	note_change(o, at_ns);
}

uint64_t
expected_loop_arrival_ns(const struct expected_loop *o, uint64_t message)
{
	if (message < o->next)
		return o->arrived_ns[message % ARRIVALS];
	return message == o->next && o->stopped_ns == NEVER_NS ? o->next_ns : NEVER_NS;
}

uint64_t
expected_loop_acked(struct expected_loop *o, uint64_t message, uint64_t now_ns)
{
	uint64_t took_ns = 0;

	for (; o->acked < message; o->acked++)
		took_ns += now_ns - expected_loop_arrival_ns(o, o->acked);
	return took_ns;
}
