/* SPDX-License-Identifier: BSD-3-Clause */
/* What --fast-forward has left out, and its error. */
#include <inttypes.h>

#include "base/numbers/units.h"
#include "quench-lab/output/output.h"

static double
share(uint64_t part, uint64_t of)
{
	return of > 0 ? (double)part / (double)of : 0;
}

/* Of what was simulated in the replays: how much more was predicted. */
static double
error_of(uint64_t predicted, uint64_t simulated)
{
	return simulated > 0 ? ((double)predicted - (double)simulated) / (double)simulated : 0;
}

/* Time in which flows sent. */
static uint64_t
busy_ns(const struct fast_forward_result *r)
{
	return r->skipped_ns + r->simulated_ns - r->why_ns[FAST_FORWARD_IDLE];
}

/* A completion time has the error of the replays in its share of the time left out. */
static double
completion_error(const struct fast_forward_result *r)
{
	return share(r->off_ns, r->replayed_ns) * share(r->skipped_ns, busy_ns(r));
}

static const char *
why_text(const struct fast_forward_result *r, unsigned int why)
{
	return why == FAST_FORWARD_NEVER ? r->never : fast_forward_why_text(why);
}

static void
walk_why(struct walk *w, const struct fast_forward_result *r, unsigned int why)
{
	walk_item(w, "simulated");
	w->object = "simulated";
	WALK(text, w, KEY, "why", "why time was not left out", why_text(r, why));
	WALK(number, w, COUNTER, "times", "how often this began", r->why_times[why]);
	WALK(number, w, COUNTER, "ns", "simulated time", r->why_ns[why]);
	walk_leave(w);
}

void
output_walk_fast_forward(struct walk *w, const struct fast_forward_result *r)
{
	const struct period_error *e = w->names_only ? NULL : &r->error;
	bool is_unknown = !w->names_only && r->replays == 0;

	walk_enter(w, "fast_forward", "fast_forward/");
	w->object = "fast_forward";
	WALK(number, w, COUNTER, "skipped_ns", "time left out", r->skipped_ns);
	WALK(number, w, COUNTER, "simulated_ns", "the rest of the time", r->simulated_ns);
	WALK(real, w, GAUGE, "skipped_share", "share of the time in which flows sent",
	     share(r->skipped_ns, busy_ns(r)));
	WALK(number, w, COUNTER, "windows", "windows left out", r->skips);
	WALK(number, w, COUNTER, "periods", "their periods", r->periods);
	WALK(number, w, COUNTER, "replays", "windows simulated with a prediction", r->replays);
	WALK(number, w, COUNTER, "replayed_ns", "their time", r->replayed_ns);
	WALK(number, w, COUNTER, "predicted_bytes", "in replays, of data on the wire, all flows",
	     e->predicted_bytes);
	WALK(number, w, COUNTER, "simulated_bytes", "as predicted_bytes, of packets",
	     e->simulated_bytes);
	WALK(number, w, COUNTER, "predicted_cnps", "in replays, handled by all flows",
	     e->predicted_cnps);
	WALK(number, w, COUNTER, "simulated_cnps", "as predicted_cnps, of packets",
	     e->simulated_cnps);
	walk_maybe_real(w, WALK_GAUGE, "bytes_error",
			"predicted_bytes / simulated_bytes - 1; null: without a replay",
			w->names_only ? 0 : error_of(e->predicted_bytes, e->simulated_bytes),
			is_unknown);
	WALK(number, w, COUNTER, "off_ns", "time by which predictions were wrong, at most",
	     r->off_ns);
	walk_maybe_real(w, WALK_GAUGE, "completion_error",
			"off_ns / replayed_ns, times skipped_share: of FCT and JCT, if all windows "
			"are as those replayed; null: without a replay",
			w->names_only ? 0 : completion_error(r), is_unknown);
	for (unsigned int i = 0; i < FAST_FORWARD_WHYS; i++)
		if (w->names_only ? i == 0 : r->why_times[i] > 0)
			walk_why(w, r, i);
	walk_leave(w);
}

void
output_fast_forward_table(FILE *out, const struct fast_forward_result *r)
{
	const struct period_error *e = &r->error;
	uint64_t all_ns = r->skipped_ns + r->simulated_ns;

	fprintf(out,
		"%-26s %.2f %% of the time with traffic left out: %" PRIu64 " windows, %" PRIu64
		" periods\n",
		"fast_forward", 100 * share(r->skipped_ns, busy_ns(r)), r->skips, r->periods);
	if (r->replays > 0)
		fprintf(out,
			"%-26s %+.3f %% of bytes, %+" PRId64 " CNPs, %.3f %% of JCT and FCT; in "
			"%" PRIu64 " replays of %.3f ms\n",
			"fast_forward_error",
			100 * error_of(e->predicted_bytes, e->simulated_bytes),
			(int64_t)(e->predicted_cnps - e->simulated_cnps), 100 * completion_error(r),
			r->replays, (double)r->replayed_ns / NS_PER_MS);
	for (unsigned int i = 0; i < FAST_FORWARD_WHYS; i++)
		if (r->why_times[i] > 0)
			fprintf(out, "%-26s %5.2f %% of all time, %" PRIu64 " times: %s\n",
				"fast_forward_simulated", 100 * share(r->why_ns[i], all_ns),
				r->why_times[i], why_text(r, i));
}
