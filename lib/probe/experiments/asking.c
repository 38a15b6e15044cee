/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/experiments/asking.h"

#include <math.h>

/* A value is right within this share. */
#define SHARE 0.05

const struct prober_answer *
probe_answer_to(const struct prober *p, uint32_t qp, uint64_t since)
{
	for (uint64_t i = prober_oldest(p->n_answers, since); i < p->n_answers; i++)
		if (prober_answer(p, i)->qp == qp)
			return prober_answer(p, i);
	return NULL;
}

void
probe_resync(struct prober *p, uint32_t qp, uint64_t now_ns)
{
	p->qps[qp].next_psn = p->sync_psn = p->qps[qp].acked_psn;
	p->sync_mark = p->n_answers;
	prober_send_next(p, qp, 0, now_ns);
}

bool
probe_is_synced(const struct prober *p, uint32_t qp)
{
	uint32_t n = 0;

	for (uint64_t i = prober_oldest(p->n_answers, p->sync_mark); i < p->n_answers; i++)
		n += prober_answer(p, i)->qp == qp;
	return n == 1 && p->qps[qp].acked_psn == ((p->sync_psn + 1) & PSN_MASK);
}

bool
probe_is_acknowledged(const struct prober *p, uint32_t qp, uint64_t since, uint32_t psn)
{
	for (uint64_t i = prober_oldest(p->n_answers, since); i < p->n_answers; i++) {
		const struct prober_answer *a = prober_answer(p, i);

		if (a->qp == qp && a->syndrome >> 5 == 0 && psn_diff(a->psn, psn) >= 0)
			return true;
	}
	return false;
}

void
probe_least_add(const struct prober *p, struct prober_least *l, double ns, uint64_t frame)
{
	bool is_alone = frame == p->frames + 1;

	if (is_alone < l->is_alone)
		return;
	if (l->n == 0 || is_alone > l->is_alone)
		*l = (struct prober_least){.is_alone = is_alone, .ns = ns, .most_ns = ns};
	l->n++;
	l->ns = fmin(l->ns, ns);
	l->most_ns = fmax(l->most_ns, ns);
}

double
probe_frame_doubt_ns(const struct prober *p, const struct prober_least *l)
{
	return (double)(l->is_alone && p->trip.is_alone ? prober_least_frame_ns(p)
							: prober_frame_ns(p));
}

static enum findings_verdict
judge(double ns, struct probe_limits limits)
{
	return ns <= limits.prompt_ns     ? VERDICT_OK
	       : ns <= limits.sluggish_ns ? VERDICT_DIFFERS
					  : VERDICT_FAULT;
}

void
probe_say_delay(struct prober *p, enum findings_line line, double delay_ns,
		struct probe_limits limits, const char *what)
{
	double doubt_ns = (double)p->late_ns + p->rtt_spread_ns + limits.turn_ns;
	double least_ns, most_ns;
	enum findings_verdict verdict;

	if (p->rtt_ns == 0) {
		findings_say(&p->findings, line, VERDICT_NOT_MEASURED, PROBE_NO_TRIP);
		return;
	}
	delay_ns = fmax(delay_ns, 0);
	least_ns = fmax(delay_ns - doubt_ns, 0);
	most_ns = delay_ns + doubt_ns;
	verdict = judge(most_ns, limits);
	/* A host that was slow before may be the cause of a delay that is a fault. */
	if (verdict == VERDICT_FAULT)
		least_ns = fmax(least_ns - (double)(p->ever_late_ns - p->late_ns), 0);
	if (verdict != judge(least_ns, limits))
		findings_say(&p->findings, line, VERDICT_NOT_MEASURED,
			     "between %.2f and %.2f us %s", least_ns / 1e3, most_ns / 1e3, what);
	else if (doubt_ns > SHARE * delay_ns)
		findings_say(&p->findings, line, verdict, "at most %.3f us %s", most_ns / 1e3,
			     what);
	else
		findings_set(&p->findings, line, verdict, delay_ns / 1e3, "%s%.2f us %s",
			     verdict == VERDICT_OK ? "" : "late: ", delay_ns / 1e3, what);
}
