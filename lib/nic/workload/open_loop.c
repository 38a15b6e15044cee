/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/workload/open_loop.h"

#include <assert.h>

#include "base/numbers/fixed.h"

/* A message would arrive at at_ns: is there one? */
static void
set_next(struct open_loop *l, uint64_t at_ns)
{
	const struct workload *w = l->work;
	bool ends = at_ns >= min_u64(l->end_ns, w->stop_ns) ||
		    (w->messages > 0 && l->number >= w->messages) ||
		    (w->bytes > 0 && l->sum_bytes >= w->bytes);

	l->next_ns = ends ? NEVER_NS : at_ns;
}

void
open_loop_init(struct open_loop *l, const struct workload *work, uint64_t seed, uint64_t end_ns,
	       uint32_t qpn)
{
	struct workload w = *work;

	w.seed = seed;
	*l = (struct open_loop){.work = work, .seed = seed, .end_ns = end_ns, .qpn = qpn};
	arrivals_init(&l->arrivals, work->start_ns, work->load_bps, false);
	set_next(l, arrivals_first_ns(&l->arrivals, &w, qpn));
}

uint32_t
open_loop_take(struct open_loop *l)
{
	struct workload w = *l->work;
	uint32_t bytes;

	assert(l->next_ns != NEVER_NS);
	w.seed = l->seed;
	bytes = (uint32_t)workload_message_bytes(&w, l->qpn, l->number);
	l->sum_bytes += bytes;
	l->number++;
	set_next(l, arrivals_next_ns(&l->arrivals, &w, l->qpn, l->number, l->next_ns));
	return bytes;
}
