/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/poll/poll_watch.h"

#include <inttypes.h>

#include "base/threads/counter.h"
#include "runtime/notice/say.h"

unsigned int
poll_watch_look(struct poll_watch *w, const struct poll_gap *g, uint64_t now_ns)
{
	uint64_t lost_ns = counter_read(&g->lost_ns);
	uint64_t pct =
		now_ns > w->since_ns ? 100 * (lost_ns - w->lost_ns) / (now_ns - w->since_ns) : 0;

	w->since_ns = now_ns;
	w->lost_ns = lost_ns;
	if (w->said || pct < POLL_WATCH_PCT)
		return 0;
	w->said = true;
	return (unsigned int)pct;
}

void
poll_watch_say(const struct poll_gap *g, unsigned int lcore, unsigned int lost_pct)
{
	say_event(true, "poll_late",
		  "polls of lcore %u came up to %.0f us late, shaper_burst_ns is %.0f us: shaped "
		  "ports may lose %u %% of their rate. Use a larger shaper_burst_ns, a shorter "
		  "--idle-sleep, or a CPU for this lcore alone; lcore=%u",
		  lcore, (double)counter_read(&g->late_max_ns) / 1e3,
		  (double)counter_read(&g->burst_ns) / 1e3, lost_pct, lcore);
}
