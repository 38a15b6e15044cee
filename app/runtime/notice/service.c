/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/notice/service.h"

#include <systemd/sd-daemon.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "runtime/notice/say.h"

/*
 * Number of beats, and of messages to systemd, per watchdog interval. (systemd recommends two
 * messages.)
 */
#define BEATS 4

void
service_init(struct service *s, uint64_t now_ns)
{
	uint64_t us = 0;

	*s = (struct service){.next_ns = NEVER_NS};
	if (sd_watchdog_enabled(0, &us) > 0) {
		s->watchdog_ns = us * NS_PER_US;
		s->next_ns = now_ns;
	}
}

void
service_ready(void)
{
	(void)sd_notify(0, "READY=1");
}

void
service_stopping(void)
{
	(void)sd_notify(0, "STOPPING=1");
}

uint64_t
service_beat(const struct service *s, struct service_pulse *pulse, uint64_t now_ns)
{
	if (s->watchdog_ns == 0)
		return NEVER_NS;
	atomic_store_explicit(&pulse->seen_ns, now_ns, memory_order_relaxed);
	return now_ns + s->watchdog_ns / BEATS;
}

/* Reports each stall once. */
static bool
is_late(const struct service *s, struct service_pulse *pulse, uint64_t now_ns)
{
	uint64_t seen_ns = atomic_load_explicit(&pulse->seen_ns, memory_order_relaxed);
	uint64_t silent_ns = sub_sat(now_ns, seen_ns);
	bool late = silent_ns > s->watchdog_ns / 2;

	if (late && !pulse->late)
		say_error("lcore %u has not polled for %.1f s", pulse->lcore,
			  (double)silent_ns / NS_PER_SEC);
	pulse->late = late;
	return late;
}

uint64_t
service_watch(struct service *s, struct service_pulse *pulses, uint16_t n, uint64_t now_ns)
{
	bool late = false;

	if (now_ns < s->next_ns)
		return s->next_ns;
	for (uint16_t i = 0; i < n; i++)
		late |= is_late(s, &pulses[i], now_ns);
	if (!late)
		(void)sd_notify(0, "WATCHDOG=1");
	s->next_ns = now_ns + s->watchdog_ns / BEATS;
	return s->next_ns;
}
