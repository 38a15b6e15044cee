/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A story consists of chapters of consecutive events, one line each. A chapter begins with a bad
 * event (a cut, a pause, a loss) that follows a good one. Adjacent chapters are joined until the
 * number of lines is small enough, first those across which the rate changed least. So the start,
 * where the rate falls by orders of magnitude, is printed event by event, and a steady state in one
 * line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "ctl/results/explain.h"

/* Distance between chapters that are never joined; every ratio of rates is smaller. */
#define FAR 1e12

struct chapter {
	uint32_t first, n; /* events */
	uint64_t from_ns, to_ns;
	uint64_t begin_bps, end_bps, low_bps, high_bps; /* 0: no rate event */
	uint32_t begin_window, end_window;              /* bytes; 0: no window */
	uint32_t cnps, cuts, fast, additive, hyper, by_timer, by_bytes;
	uint32_t marks, pauses, back, reloads;
	uint64_t held_ns, packets_again;
	uint64_t least_queue_bytes, most_queue_bytes;
	const char *marked_by, *held_by; /* of the first mark, of the first pause */
	bool others_marked, others_held;
	bool told; /* the first event, a start or an end: always has a line of its own */
};

static void
note(const char **first, bool *others, const char *now)
{
	if (now == NULL || now[0] == '\0')
		return;
	if (*first == NULL)
		*first = now;
	else if (strcmp(*first, now) != 0)
		*others = true;
}

static void
take_rate(struct chapter *c, const struct explain_event *e)
{
	/* The state before the event may be lost. */
	bool known = e->before.rate_bps > 0;

	c->end_bps = e->after.rate_bps;
	c->begin_bps = known ? e->before.rate_bps : c->end_bps;
	c->end_window = e->after.window_bytes;
	c->begin_window = known ? e->before.window_bytes : c->end_window;
	c->low_bps = min_u64(c->begin_bps, c->end_bps);
	c->high_bps = max_u64(c->begin_bps, c->end_bps);
	c->cnps += (e->did & CC_DID_CNP) != 0;
	c->cuts += (e->did & CC_DID_CUT) != 0;
	c->fast += (e->did & CC_DID_FAST) != 0;
	c->additive += (e->did & CC_DID_RAISE) != 0;
	c->hyper += (e->did & CC_DID_HYPER) != 0;
	c->reloads += (e->did & CC_DID_RELOAD) != 0;
	if (known && !(e->did & CC_DID_CUT)) {
		c->by_timer += e->after.time_stage > e->before.time_stage;
		c->by_bytes += e->after.byte_stage > e->before.byte_stage;
	}
	if (e->mark.packets == 0 || e->mark.where[0] == '\0')
		return;
	c->least_queue_bytes = c->marks == 0 ? e->mark.queue_bytes
					     : min_u64(c->least_queue_bytes, e->mark.queue_bytes);
	c->most_queue_bytes = max_u64(c->most_queue_bytes, e->mark.queue_bytes);
	c->marks += e->mark.packets;
	note(&c->marked_by, &c->others_marked, e->mark.where);
}

static struct chapter
chapter_of(const struct explain_event *e, uint32_t i)
{
	struct chapter c = {.first = i, .n = 1, .from_ns = e->at_ns, .to_ns = e->at_ns};

	switch (e->kind) {
	case EXPLAIN_RATE:
		take_rate(&c, e);
		c.told = e->did == 0 || e->did & CC_DID_START;
		break;
	case EXPLAIN_HELD:
		c.pauses = 1;
		note(&c.held_by, &c.others_held, e->by);
		break;
	case EXPLAIN_RELEASED:
		c.held_ns = e->held_ns;
		note(&c.held_by, &c.others_held, e->by);
		break;
	case EXPLAIN_SENT_AGAIN:
		c.back = 1;
		c.packets_again = e->packets;
		break;
	case EXPLAIN_SET:
	case EXPLAIN_DONE:
		c.told = true;
		break;
	}
	return c;
}

static struct chapter
joined(const struct chapter *a, const struct chapter *b)
{
	struct chapter c = *a;

	c.n += b->n;
	c.to_ns = b->to_ns;
	if (b->begin_bps != 0) {
		c.begin_bps = a->begin_bps != 0 ? a->begin_bps : b->begin_bps;
		c.end_bps = b->end_bps;
		c.begin_window = a->begin_bps != 0 ? a->begin_window : b->begin_window;
		c.end_window = b->end_window;
		c.low_bps = a->begin_bps != 0 ? min_u64(a->low_bps, b->low_bps) : b->low_bps;
		c.high_bps = max_u64(a->high_bps, b->high_bps);
	}
	c.cnps += b->cnps;
	c.cuts += b->cuts;
	c.fast += b->fast;
	c.additive += b->additive;
	c.hyper += b->hyper;
	c.reloads += b->reloads;
	c.by_timer += b->by_timer;
	c.by_bytes += b->by_bytes;
	if (b->marks > 0) {
		c.least_queue_bytes = a->marks > 0
					      ? min_u64(a->least_queue_bytes, b->least_queue_bytes)
					      : b->least_queue_bytes;
		c.most_queue_bytes = max_u64(a->most_queue_bytes, b->most_queue_bytes);
		c.marks += b->marks;
	}
	c.pauses += b->pauses;
	c.held_ns += b->held_ns;
	c.back += b->back;
	c.packets_again += b->packets_again;
	c.others_marked |= b->others_marked;
	c.others_held |= b->others_held;
	note(&c.marked_by, &c.others_marked, b->marked_by);
	note(&c.held_by, &c.others_held, b->held_by);
	return c;
}

static bool
has_pause(const struct chapter *c)
{
	return c->pauses > 0 || c->held_ns > 0;
}

/*
 * Cost of joining two chapters: the ratio of the highest to the lowest rate, doubled for each kind
 * of event (pause, go-back, reload) that only one of the chapters has.
 */
static double
distance(const struct chapter *a, const struct chapter *b)
{
	const struct chapter c = joined(a, b);
	double span = c.low_bps > 0 ? (double)c.high_bps / (double)c.low_bps : 1;

	if (a->told || b->told)
		return FAR;
	if (has_pause(a) != has_pause(b))
		span *= 2;
	if ((a->back > 0) != (b->back > 0))
		span *= 2;
	if ((a->reloads > 0) != (b->reloads > 0))
		span *= 2;
	return span;
}

/*
 * Join adjacent chapters if the cost is at most `near`. A call joins each chapter only once, so
 * that all grow equally. @return the number of chapters left.
 */
static uint32_t
join_pairs(struct chapter *chapters, uint32_t n, double near)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool pair = i + 1 < n && distance(&chapters[i], &chapters[i + 1]) <= near;

		chapters[kept++] = pair ? joined(&chapters[i], &chapters[i + 1]) : chapters[i];
		i += pair;
	}
	return kept;
}

static void
print_count(FILE *out, const char **joint, uint32_t n, const char *one, const char *many)
{
	if (n == 0)
		return;
	fprintf(out, "%s%" PRIu32 " %s", *joint, n, n == 1 ? one : many);
	*joint = ", ";
}

static void
print_rises(FILE *out, const char **joint, const struct chapter *c)
{
	print_count(out, joint, c->fast, "fast recovery", "fast recoveries");
	print_count(out, joint, c->additive, "additive increase", "additive increases");
	print_count(out, joint, c->hyper, "hyper increase", "hyper increases");
	if (c->by_timer + c->by_bytes > 0)
		fprintf(out, " (timer %" PRIu32 ", byte counter %" PRIu32 ")", c->by_timer,
			c->by_bytes);
}

static void
print_why(FILE *out, const struct chapter *c)
{
	if (c->marks > 0)
		fprintf(out, "; %s%s marked %" PRIu32 " with %.1f to %.1f KB queued", c->marked_by,
			c->others_marked ? " and others" : "", c->marks,
			(double)c->least_queue_bytes / 1e3, (double)c->most_queue_bytes / 1e3);
	if (has_pause(c))
		fprintf(out, "; %" PRIu32 " pause%s, %.1f us%s%s%s", c->pauses,
			c->pauses == 1 ? "" : "s", (double)c->held_ns / NS_PER_US,
			c->held_by != NULL ? ": " : "", c->held_by != NULL ? c->held_by : "",
			c->others_held ? " and others" : "");
	if (c->back > 0)
		fprintf(out, "; went back %" PRIu32 " time%s, %" PRIu64 " packets sent again",
			c->back, c->back == 1 ? "" : "s", c->packets_again);
}

static void
print_chapter(FILE *out, const struct chapter *c)
{
	char begin[24], end[24], low[24], high[24];
	const char *joint = ": ";

	fprintf(out, "%12.4f ms  to %.4f ms", (double)c->from_ns / NS_PER_MS,
		(double)c->to_ns / NS_PER_MS);
	if (c->begin_bps != 0) {
		fprintf(out, "  %s to %s", explain_rate(begin, c->begin_bps),
			explain_rate(end, c->end_bps));
		if (c->low_bps < min_u64(c->begin_bps, c->end_bps) ||
		    c->high_bps > max_u64(c->begin_bps, c->end_bps))
			fprintf(out, ", between %s and %s", explain_rate(low, c->low_bps),
				explain_rate(high, c->high_bps));
		if (c->end_window > 0)
			fprintf(out, ", window %.1f to %.1f KB", c->begin_window / 1e3,
				c->end_window / 1e3);
	}
	print_count(out, &joint, c->cnps, "CNP", "CNPs");
	print_count(out, &joint, c->cuts, "cut", "cuts");
	print_rises(out, &joint, c);
	print_count(out, &joint, c->reloads, "change of parameters", "changes of parameters");
	print_why(out, c);
	fputc('\n', out);
}

int
explain_story(FILE *out, const struct explain_event *events, uint32_t n, uint32_t most_lines)
{
	struct chapter *chapters = malloc((n + 1ull) * sizeof(*chapters));
	uint32_t left = n;

	if (chapters == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		chapters[i] = chapter_of(&events[i], i);
	for (double near = 1; left > most_lines && near < FAR;) {
		uint32_t before = left;

		left = join_pairs(chapters, left, near);
		if (left == before)
			near *= 1.07;
	}
	for (uint32_t i = 0; i < left; i++) {
		if (chapters[i].n == 1)
			explain_line(out, &events[chapters[i].first]);
		else
			print_chapter(out, &chapters[i]);
	}
	free(chapters);
	return 0;
}
