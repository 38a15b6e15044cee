/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How late are frames and calls? On a port they wait for a core that does something else, at either
 * end, and a report must not blame the NIC. In virtual time nothing is late.
 */
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "probe/core/prober_core.h"

#define TICK_NS (20 * NS_PER_US)
#define PING_NS (200 * NS_PER_US)
/* Frames of data that an answer may wait for: one that is being sent, and one of the queue. */
#define FRAMES_BEFORE 2u

uint64_t
prober_frame_ns(const struct prober *p)
{
	return serialization_ns(wire_bytes(p->params.mtu_bytes + 100u), p->params.link_speed_bps);
}

uint64_t
prober_least_frame_ns(const struct prober *p)
{
	return serialization_ns(wire_bytes(MIN_FRAME_BYTES - FCS_BYTES), p->params.link_speed_bps);
}

void
prober_note_late(struct prober *p, uint64_t late_ns)
{
	p->late_ns = max_u64(p->late_ns, late_ns);
	p->ever_late_ns = max_u64(p->ever_late_ns, late_ns);
}

/* By how much is the round trip of the ping longer than the shortest one? */
static uint64_t
excess_ns(const struct prober *p, uint64_t now_ns)
{
	return sub_sat(now_ns - p->ping_ns,
		       (uint64_t)p->rtt_ns + FRAMES_BEFORE * prober_frame_ns(p));
}

void
prober_look(struct prober *p, uint64_t now_ns)
{
	if (p->done)
		return;
	if (now_ns >= p->tick_ns) {
		prober_note_late(p, now_ns - p->tick_ns);
		p->tick_ns = now_ns + TICK_NS;
	}
	if (p->ping_waits)
		prober_note_late(p, excess_ns(p, now_ns));
	if (p->pings && p->rtt_ns > 0 && now_ns >= p->next_ping_ns) {
		p->next_ping_ns = now_ns + PING_NS;
		if (!p->ping_waits)
			prober_send_next(p, 0, 0, now_ns);
	}
}

void
prober_look_anew(struct prober *p, bool pings, bool is_apart, uint64_t now_ns)
{
	if (is_apart)
		p->late_ns = 0;
	p->tick_ns = now_ns + TICK_NS;
	p->next_ping_ns = now_ns;
	p->pings = pings;
	p->ping_waits = false;
}

void
prober_on_ping_answer(struct prober *p, bool refused, uint64_t now_ns)
{
	if (!p->ping_waits)
		return;
	if (refused) {
		p->ping_waits = false;
	} else if (psn_diff(p->qps[0].acked_psn, p->ping_psn) > 0) {
		prober_note_late(p, excess_ns(p, now_ns));
		p->ping_waits = false;
	}
}
