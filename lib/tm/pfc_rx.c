// SPDX-License-Identifier: BSD-3-Clause
#include "tm/pfc_rx.h"

#include <assert.h>
#include <string.h>

#include "base/counter.h"
#include "base/fixed.h"

void
pfc_rx_init(struct pfc_rx *p, uint8_t enabled, uint64_t speed_bps)
{
	assert(speed_bps > 0);
	memset(p, 0, sizeof(*p));
	p->enabled = enabled;
	p->speed_bps = speed_bps;
	p->next_ns = NEVER_NS;
}

static void
resume(struct pfc_rx *p, unsigned int prio, uint64_t at_ns)
{
	counter_add(&p->stats.rx_pause_duration_ns[prio], at_ns - p->since_ns[prio]);
	counter_inc(&p->stats.rx_pause_transition[prio]);
	p->paused &= (uint8_t) ~(1u << prio);
	p->until_ns[prio] = 0;
}

static void
pause_until(struct pfc_rx *p, unsigned int prio, uint64_t until_ns, uint64_t now_ns)
{
	if (!(p->paused >> prio & 1))
		p->since_ns[prio] = now_ns;
	p->paused |= (uint8_t)(1u << prio);
	p->until_ns[prio] = until_ns;
}

static void
find_next(struct pfc_rx *p)
{
	p->next_ns = NEVER_NS;
	for (uint8_t m = p->paused; m != 0; m &= (uint8_t)(m - 1))
		p->next_ns = min_u64(p->next_ns, p->until_ns[__builtin_ctz(m)]);
}

uint8_t
pfc_rx_expire(struct pfc_rx *p, uint64_t now_ns)
{
	for (uint8_t m = p->paused; m != 0; m &= (uint8_t)(m - 1)) {
		unsigned int prio = (unsigned int)__builtin_ctz(m);

		if (p->until_ns[prio] <= now_ns)
			resume(p, prio, p->until_ns[prio]);
	}
	find_next(p);
	return p->paused;
}

uint8_t
pfc_rx_on_frame(struct pfc_rx *p, const struct pfc_vector *v, uint64_t now_ns)
{
	/* A pause that ran out before this frame came is over: the frame starts another one. */
	pfc_rx_expire(p, now_ns);
	for (uint8_t m = v->enable; m != 0; m &= (uint8_t)(m - 1)) {
		unsigned int prio = (unsigned int)__builtin_ctz(m);

		counter_inc(&p->stats.rx_pause[prio]);
		if (!(p->enabled >> prio & 1))
			continue;
		if (v->quanta[prio] > 0)
			pause_until(p, prio, now_ns + pfc_quanta_ns(v->quanta[prio], p->speed_bps),
				    now_ns);
		else if (p->paused >> prio & 1)
			resume(p, prio, now_ns);
	}
	find_next(p);
	return pfc_rx_paused(p, now_ns);
}

uint64_t
pfc_rx_duration_ns(const struct pfc_rx *p, uint8_t prio, uint64_t now_ns)
{
	uint64_t running_ns = 0;

	if (p->paused >> prio & 1)
		running_ns = min_u64(now_ns, p->until_ns[prio]) - p->since_ns[prio];
	return counter_read(&p->stats.rx_pause_duration_ns[prio]) + running_ns;
}
