/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/host/pause_storm.h"

#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

void
pause_storm_begin(struct pause_storm *s, uint8_t prio, uint64_t now_ns)
{
	s->paused |= (uint8_t)(1u << prio);
	s->since_ns[prio] = now_ns;
}

void
pause_storm_end(struct pause_storm *s, uint8_t prio)
{
	uint8_t others = (uint8_t) ~(1u << prio);

	s->paused &= others;
	s->warned &= others;
	s->disabled &= others;
}

/* Time at which a priority's pause reaches a watermark. */
static uint64_t
passes_ns(const struct pause_storm *s, unsigned int prio, uint64_t watermark_ns)
{
	return watermark_ns == 0 ? NEVER_NS : s->since_ns[prio] + watermark_ns;
}

uint8_t
pause_storm_check(struct pause_storm *s, const struct pause_storm_params *params,
		  struct pause_storm_stats *stats, uint64_t now_ns)
{
	uint8_t stopped = 0;

	for (uint32_t paused = s->paused; paused != 0; paused &= paused - 1) {
		unsigned int prio = (unsigned int)__builtin_ctz(paused);
		uint8_t bit = (uint8_t)(1u << prio);

		if (!(s->warned & bit) && now_ns >= passes_ns(s, prio, params->minor_ns)) {
			s->warned |= bit;
			counter_inc(&stats->tx_pause_storm_warning_events);
		}
		if (now_ns >= passes_ns(s, prio, params->critical_ns)) {
			stopped |= bit;
			counter_inc(&stats->tx_pause_storm_error_events);
		}
	}
	s->paused &= (uint8_t)~stopped;
	s->disabled |= stopped;
	return stopped;
}

uint64_t
pause_storm_next_ns(const struct pause_storm *s, const struct pause_storm_params *params)
{
	uint64_t next_ns = NEVER_NS;

	for (uint32_t paused = s->paused; paused != 0; paused &= paused - 1) {
		unsigned int prio = (unsigned int)__builtin_ctz(paused);

		if (!(s->warned >> prio & 1))
			next_ns = min_u64(next_ns, passes_ns(s, prio, params->minor_ns));
		next_ns = min_u64(next_ns, passes_ns(s, prio, params->critical_ns));
	}
	return next_ns;
}
