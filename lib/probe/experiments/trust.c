/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/experiments/probe_experiments.h"

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

/* Times that have no line of their own to be compared with. */
#define EXACT_NS (10 * NS_PER_US)
/* A time may be wrong by this share of it. */
#define SHARE 0.03
/* Alphas are read from shorter times. */
#define ALPHA_SHARE 0.01

/*
 * Lines of counts and formats, whose experiments wait for answers and not for times, and lines that
 * take lateness into account themselves.
 */
static bool
is_timeless(enum findings_line l)
{
	return l == LINE_NP_DELAY || (l >= LINE_RP_AFTER_1 && l <= LINE_RP_AFTER_100) ||
	       l == LINE_RP_RECOVERY || (l >= LINE_NP_OPCODE && l <= LINE_NP_DEST_QP) ||
	       (l >= LINE_TR_NAK_PSN && l <= LINE_TR_BAD_ICRC) || l == LINE_TR_RECOVERY ||
	       l == LINE_TR_NAK_DELAY || l == LINE_TR_RESEND_DELAY || l == LINE_TR_READ_DELAY ||
	       (l >= LINE_NP_INTERVAL_QP && l <= LINE_NP_INTERVAL_PORT) || l == LINE_TR_LAST_FROM ||
	       (l >= LINE_TR_READ_FROM && l <= LINE_TR_RNR_NAK) || l == LINE_RP_BACK_OFF ||
	       l == LINE_PFC_SENT || l == LINE_PFC_SENT_PRIOS || l >= LINE_PIT_SPORT_RANGE;
}

/* How late may a frame be, so that the line is right? */
static uint64_t
most_late_ns(const struct prober *p, enum findings_line l)
{
	const struct finding *f = &p->findings.of[l];

	if (is_timeless(l) || f->verdict < VERDICT_MEASURED)
		return NEVER_NS;
	switch (l) {
	case LINE_NP_UNMARKED:
	case LINE_NP_MARKED_ACK:
	case LINE_NP_MARKED_CNP:
	case LINE_NP_BAD_ICRC:
	case LINE_TR_LOST_ACK:
		/* Counted over that time. */
		return p->params.settle_ns / 2;
	case LINE_RP_ALPHA:
	case LINE_RP_STAGES:
	case LINE_RP_TIMER:
	case LINE_RP_FAST_STEPS:
	case LINE_RP_AI:
	case LINE_RP_BYTES:
	case LINE_RP_HAI:
		return (uint64_t)(SHARE * p->timer.ns);
	case LINE_RP_DECAY:
	case LINE_RP_G:
	case LINE_RP_K:
		return (uint64_t)(ALPHA_SHARE * p->unit_ns);
	case LINE_RP_BEFORE:
	case LINE_RP_OTHERS:
		return p->params.settle_ns / 40;
	case LINE_TR_TIMEOUT:
	case LINE_TR_LAST:
		return (uint64_t)(f->value * 1e6 / 10);
	case LINE_TR_BACK_OFF:
		return (uint64_t)(p->findings.of[LINE_TR_TIMEOUT].value * 1e6 / 10);
	case LINE_PFC_STOP:
	case LINE_PFC_START:
		if (f->verdict != VERDICT_FAULT)
			return EXACT_NS;
		return (uint64_t)(probe_quanta_ns(p, PROBE_QUANTA) / 8);
	case LINE_PFC_QUANTA:
		return (uint64_t)(probe_quanta_ns(p, f->value) / 50);
	case LINE_PFC_PRIORITY:
	case LINE_PFC_LINK:
		return (uint64_t)(probe_quanta_ns(p, PROBE_QUANTA) / 8);
	default:
		return EXACT_NS;
	}
}

void
probe_distrust(struct prober *p)
{
	for (unsigned int l = 0; l < FINDINGS_LINES; l++) {
		struct finding *f = &p->findings.of[l];
		uint64_t most_ns = most_late_ns(p, (enum findings_line)l);
		/* A host that was slow before may be the cause of a delay that is a fault. */
		uint64_t late_ns = f->verdict == VERDICT_FAULT ? p->ever_late_ns : p->late_ns;

		if (f->is_new && late_ns > most_ns)
			findings_say(&p->findings, (enum findings_line)l, VERDICT_NOT_MEASURED,
				     "frames were up to %.2f us late; this line needs %.2f us or "
				     "less",
				     (double)late_ns / 1e3, (double)most_ns / 1e3);
		f->is_new = false;
	}
}
