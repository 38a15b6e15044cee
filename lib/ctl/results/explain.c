/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/results/explain.h"

#include <inttypes.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

const char *
explain_rate(char text[static 24], uint64_t rate_bps)
{
	if (rate_bps >= NS_PER_SEC)
		snprintf(text, 24, "%.3f Gb/s", (double)rate_bps / 1e9);
	else
		snprintf(text, 24, "%.1f Mb/s", (double)rate_bps / 1e6);
	return text;
}

void
explain_set_before(struct explain_event *events, uint32_t n)
{
	const struct explain_event *last = NULL;

	for (uint32_t i = 0; i < n; i++) {
		if (events[i].kind != EXPLAIN_RATE)
			continue;
		if (last != NULL)
			events[i].before = last->after;
		else if (events[i].did == 0 || events[i].did & CC_DID_START)
			events[i].before = events[i].after;
		last = &events[i];
	}
}

static void
print_move(FILE *out, const char *what, const struct explain_event *e)
{
	char rate[24];

	fputs(what, out);
	/* The previous row may be lost. */
	if (e->before.rate_bps > 0)
		fprintf(out, " from %s", explain_rate(rate, e->before.rate_bps));
	fprintf(out, " to %s", explain_rate(rate, e->after.rate_bps));
	/* Swift and HPCC have a window, and may cut it at an unchanged rate. */
	if (e->after.window_bytes > 0)
		fprintf(out, ", window from %.1f to %.1f KB", e->before.window_bytes / 1e3,
			e->after.window_bytes / 1e3);
}

/* Text that tells which of DCQCN's two stages has risen. */
static const char *
clock_of(const struct explain_event *e)
{
	bool known = e->before.rate_bps > 0;
	bool timer = known && e->after.time_stage > e->before.time_stage;
	bool bytes = known && e->after.byte_stage > e->before.byte_stage;

	return timer && bytes ? ", by timer and byte counter"
	       : timer        ? ", by the timer"
	       : bytes        ? ", by the byte counter"
			      : "";
}

static void
print_mark(FILE *out, const struct explain_mark *m, uint64_t now_ns)
{
	if (m->packets == 0)
		return;
	if (m->where[0] == '\0') {
		fprintf(out, "; PSN %" PRIu32 " came with CE", m->psn);
	} else {
		fprintf(out, "; %s marked PSN %" PRIu32 " %.1f us before, with %.1f KB queued",
			m->where, m->psn, (double)(now_ns - m->at_ns) / NS_PER_US,
			(double)m->queue_bytes / 1e3);
	}
	if (m->packets > 1)
		fprintf(out, ", and %" PRIu32 " more", m->packets - 1);
}

static void
print_cut(FILE *out, const struct explain_event *e)
{
	bool rose = e->did & (CC_DID_FAST | CC_DID_RAISE | CC_DID_HYPER);
	double before = (double)e->before.rate_bps;
	char target[24];

	/* An increase that was due first may have been larger than the cut. */
	print_move(out, rose ? "an increase, then a cut:" : "cut", e);
	if (!(e->did & CC_DID_CNP) || before == 0)
		return;
	/* SIGCOMM15 equation 1: R_C (1 - alpha / 2). */
	if (rose || e->after.alpha_q32 == 0)
		fputs(" (", out);
	else
		fprintf(out, " (alpha %.3f, ", 2 * (1 - (double)e->after.rate_bps / before));
	fprintf(out, "target %s)", explain_rate(target, e->after.target_rate_bps));
}

static void
print_rise(FILE *out, const struct explain_event *e)
{
	char target[24];

	print_move(out,
		   e->did & CC_DID_HYPER   ? "hyper increase"
		   : e->did & CC_DID_RAISE ? "additive increase"
					   : "fast recovery",
		   e);
	/* Only DCQCN has stages. */
	if (e->after.time_stage > 0 || e->after.byte_stage > 0)
		fprintf(out, ", target %s (T %u, BC %u%s)",
			explain_rate(target, e->after.target_rate_bps), e->after.time_stage,
			e->after.byte_stage, clock_of(e));
}

static void
print_state(FILE *out, const struct explain_event *e)
{
	char rate[24], target[24];

	fprintf(out, "the trace begins at %s", explain_rate(rate, e->after.rate_bps));
	if (e->after.target_rate_bps != e->after.rate_bps)
		fprintf(out, ", target %s", explain_rate(target, e->after.target_rate_bps));
	if (e->after.alpha_q32 > 0)
		fprintf(out, ", alpha %.3f", (double)e->after.alpha_q32 / (double)Q32_ONE);
}

/* A flow's cap limits the QP in addition to congestion control: no rate here includes it. */
static void
print_reload(FILE *out, const struct explain_event *e)
{
	char rate[24];

	if (e->before.rate_bps > 0 && e->before.rate_bps != e->after.rate_bps)
		print_move(out, "reload: other parameters,", e);
	else
		fprintf(out, "reload: other parameters, or another cap: stays at %s",
			explain_rate(rate, e->after.rate_bps));
}

/* HPCC: each ACK moves the rate, and one in a round trip moves the reference window, too. */
static void
print_telemetry(FILE *out, const struct explain_event *e)
{
	print_move(out,
		   e->did & CC_DID_CUT     ? "telemetry, lower reference window: rate"
		   : e->did & CC_DID_RAISE ? "telemetry, higher reference window: rate"
					   : "telemetry: rate",
		   e);
}

static void
print_change(FILE *out, const struct explain_event *e)
{
	char rate[24];

	if (e->did == 0)
		print_state(out, e);
	if (e->did & CC_DID_RELOAD)
		print_reload(out, e);
	if (e->did & CC_DID_START)
		fprintf(out, "starts at %s", explain_rate(rate, e->after.rate_bps));
	if (e->did & CC_DID_RTT)
		fprintf(out, "round trip of %.1f us: ", (double)e->after.rtt_ns / NS_PER_US);
	if (e->did & CC_DID_LOSS)
		fputs("loss: ", out);
	if (e->did & CC_DID_CNP)
		fputs("CNP: ", out);
	if (e->did & CC_DID_ECN)
		fputs("mark echoed: ", out);
	if (e->did & CC_DID_INT)
		print_telemetry(out, e);
	else if (e->did & CC_DID_CUT)
		print_cut(out, e);
	else if (e->did & (CC_DID_FAST | CC_DID_RAISE | CC_DID_HYPER))
		print_rise(out, e);
	else if (e->did & CC_DID_CNP)
		fputs("no cut now", out);
	else if (e->did & (CC_DID_RTT | CC_DID_ECN))
		fputs("no change", out);
	if (e->did & CC_DID_ENGAGE)
		fputs("; limited from here on", out);
	if (e->did & CC_DID_FREE)
		fputs("; at the maximum rate, no longer limited", out);
	if (e->did & CC_DID_CNP)
		print_mark(out, &e->mark, e->at_ns);
}

void
explain_words(FILE *out, const struct explain_event *e)
{
	switch (e->kind) {
	case EXPLAIN_RATE:
		print_change(out, e);
		break;
	case EXPLAIN_HELD:
		fprintf(out, "paused: %s", e->by);
		break;
	case EXPLAIN_RELEASED:
		fprintf(out, "pause over after %.1f us: %s", (double)e->held_ns / NS_PER_US, e->by);
		break;
	case EXPLAIN_SENT_AGAIN:
		fprintf(out, "goes back to PSN %" PRIu32 ": %" PRIu32 " packets are sent again",
			e->psn, e->packets);
		break;
	case EXPLAIN_SET:
		fprintf(out, "%s%s (event %s)", e->set_ends ? "no longer set: " : "set ", e->set,
			e->set_by);
		break;
	case EXPLAIN_DONE:
		fputs(e->failed ? "gave up: out of retries" : "done", out);
		break;
	}
}

void
explain_line(FILE *out, const struct explain_event *e)
{
	fprintf(out, "%12.4f ms  ", (double)e->at_ns / NS_PER_MS);
	explain_words(out, e);
	fputc('\n', out);
}
