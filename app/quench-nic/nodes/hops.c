/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/nodes/hops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "quench-nic/nodes/totals.h"
#include "runtime/notice/say.h"

/* ACKs without in-band telemetry after which it is not the first flow that has just begun. */
#define ENOUGH_ACKS 100u

/* An algorithm WORD with hears_hops counts WORD_samples, WORD_missing and WORD_full. */
static uint64_t
count(const struct nic_stats *stats, int cc, const char *what)
{
	const struct cc_ops *ops = cc_algorithms[cc];
	const char *counts = (const char *)&stats->cc.of[CC_SLOT(cc)];
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", cc_words[cc], what);
	for (unsigned int i = 0; i < *ops->n_counters; i++)
		if (strcmp(ops->counters[i].name, name) == 0)
			return *(const uint64_t *)(counts + ops->counters[i].offset);
	return 0;
}

void
hops_look(struct hops_watch *w, const struct run_app *app)
{
	struct nic_stats stats;
	uint64_t missing, full;

	if (!cc_algorithms[w->cc]->hears_hops || (w->said_missing && w->said_full))
		return;
	stats = nic_total_stats(app);
	missing = count(&stats, w->cc, "missing");
	full = count(&stats, w->cc, "full");
	if (!w->said_missing && missing >= ENOUGH_ACKS && count(&stats, w->cc, "samples") == 0) {
		say_event(true, "int_missing",
			  "cc = %s: no ACK has in-band telemetry, so rates do not change: set "
			  "int_telemetry = on at the switches of the path; acks=%" PRIu64,
			  cc_words[w->cc], missing);
		w->said_missing = true;
	}
	if (!w->said_full && full > 0) {
		say_event(true, "int_full",
			  "cc = %s: a path has more hops than int_slots, and the others count as "
			  "fully used: raise int_slots; int_slots=%u",
			  cc_words[w->cc], w->int_slots);
		w->said_full = true;
	}
}
