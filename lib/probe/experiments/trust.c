/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/experiments/trust.h"

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "probe/experiments/kinds.h"

/* Delays, intervals and steps of a rate. */
#define EXACT_NS (10 * NS_PER_US)

/* Lines of counts and formats, whose experiments wait for answers and not for times. */
static bool
is_timeless(enum findings_line l)
{
	return (l >= LINE_NP_OPCODE && l <= LINE_NP_DEST_QP) ||
	       (l >= LINE_TR_NAK_PSN && l <= LINE_TR_BAD_ICRC) || l == LINE_TR_RECOVERY ||
	       l == LINE_TR_LAST_FROM || l == LINE_TR_READ_FROM || l == LINE_RP_BACK_OFF ||
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
	case LINE_RP_BEFORE:
	case LINE_RP_OTHERS:
		return p->params.settle_ns / 40;
	case LINE_TR_TIMEOUT:
	case LINE_TR_LAST:
		return (uint64_t)(f->value * 1e6 / 10);
	case LINE_TR_BACK_OFF:
		return (uint64_t)(p->findings.of[LINE_TR_TIMEOUT].value * 1e6 / 10);
	case LINE_NP_DELAY:
	case LINE_TR_NAK_DELAY:
	case LINE_TR_RESEND_DELAY:
	case LINE_TR_READ_DELAY:
		/* A long delay is long even so. */
		return max_u64(EXACT_NS, (uint64_t)(f->has_value ? f->value * 1e3 / 4 : 1e18));
	case LINE_PFC_STOP:
	case LINE_PFC_START:
		if (f->verdict != VERDICT_FAULT)
			return EXACT_NS;
		return (uint64_t)(probe_quanta_ns(p, PROBE_QUANTA) / 8);
	case LINE_PFC_QUANTA:
		return (uint64_t)(probe_quanta_ns(p, PROBE_QUANTA) / 50);
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
