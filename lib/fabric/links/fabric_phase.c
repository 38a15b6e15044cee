/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/links/fabric_phase.h"

#include <errno.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "fabric/links/fabric_ranks.h"

static bool
add(struct fabric_phase *p, uint64_t ns)
{
	if (p->n == p->room) {
		uint32_t room = p->room == 0 ? 1024 : 2 * p->room;
		uint64_t *times_ns = realloc(p->times_ns, room * sizeof(*times_ns));

		if (times_ns == NULL)
			return false;
		p->times_ns = times_ns;
		p->room = room;
	}
	p->times_ns[p->n++] = ns;
	return true;
}

int
fabric_phase_take(struct fabric *f, uint64_t now_ns, struct fabric_phase *out)
{
	bool ok = true;

	fabric_collect(f);
	out->n = 0;
	out->frames = 0;
	for (uint32_t i = 0; ok && i < f->n_ends; i++) {
		const struct flights *on_cable = &f->directions[i].on_cable;

		out->frames = mix(out->frames, flights_count(on_cable));
		for (const struct flight *frame = on_cable->head; ok && frame < on_cable->tail;
		     frame++) {
			out->frames = mix(out->frames, flight_pkt_len(frame));
			ok = add(out, frame->due_ns - now_ns);
		}
		ok = ok && add(out, sub_sat(f->ends[i].free_ns, now_ns));
	}
	return ok ? 0 : -ENOMEM;
}

bool
fabric_phase_is(const struct fabric_phase *a, const struct fabric_phase *b, uint64_t near_ns)
{
	if (a->frames != b->frames || a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		uint64_t x = a->times_ns[i], y = b->times_ns[i];

		if ((x > y ? x - y : y - x) > near_ns)
			return false;
	}
	return true;
}

void
fabric_phase_free(struct fabric_phase *p)
{
	free(p->times_ns);
	*p = (struct fabric_phase){0};
}
