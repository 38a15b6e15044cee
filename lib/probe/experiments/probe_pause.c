/* SPDX-License-Identifier: BSD-3-Clause */
/* Pause frames: does QP 0 stop, for how long, and what else stops it; and pauses by the NIC. */
#include <math.h>
#include <stdio.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "probe/experiments/asking.h"
#include "probe/experiments/probe_experiments.h"

/* Bit times of a quantum (802.3 31B.2). */
#define QUANTUM_BITS 512.0

double
probe_quanta_ns(const struct prober *p, double quanta)
{
	return quanta * QUANTUM_BITS * 1e9 / (double)p->params.link_speed_bps;
}

/* Did the watched QP stop for most of a pause? */
static bool
has_stopped(const struct prober *p, uint64_t now_ns)
{
	const struct prober_qp *q = &p->qps[0];

	return (double)max_u64(q->gap_ns, now_ns - q->last_ns) >
	       0.5 * probe_quanta_ns(p, PROBE_QUANTA);
}

static void
say_pause(struct prober *p, uint64_t now_ns)
{
	const struct prober_qp *q = &p->qps[0];
	double stop_ns = q->gap_from_ns > p->t_ns ? (double)(q->gap_from_ns - p->t_ns) : 0;
	double doubt_ns = (double)(p->late_ns + prober_frame_ns(p));
	double quanta = ((double)(q->gap_from_ns + q->gap_ns - p->t_ns) - p->rtt_ns) *
			(double)p->params.link_speed_bps / 1e9 / QUANTUM_BITS;

	if (!has_stopped(p, now_ns)) {
		findings_say(&p->findings, LINE_PFC_STOP, VERDICT_FAULT,
			     "ignores the pause of priority %u: data goes on", p->params.data_prio);
		return;
	}
	/* The last frame may have been on its way already. */
	if (doubt_ns > 0.05 * stop_ns)
		findings_say(&p->findings, LINE_PFC_STOP, VERDICT_MEASURED,
			     "at most %.2f us, the round trip of %.2f us included",
			     (stop_ns + doubt_ns) / 1e3, p->rtt_ns / 1e3);
	else
		findings_set(&p->findings, LINE_PFC_STOP, VERDICT_MEASURED, stop_ns / 1e3,
			     "%.2f us, the round trip of %.2f us included", stop_ns / 1e3,
			     p->rtt_ns / 1e3);
	if (p->rtt_ns == 0) {
		findings_say(&p->findings, LINE_PFC_QUANTA, VERDICT_NOT_MEASURED, PROBE_NO_TRIP);
		return;
	}
	findings_set(&p->findings, LINE_PFC_QUANTA,
		     quanta > 0.98 * PROBE_QUANTA && quanta < 1.05 * PROBE_QUANTA ? VERDICT_OK
										  : VERDICT_DIFFERS,
		     quanta, "%.0f", quanta);
}

bool
probe_pfc(struct prober *p, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[0];
	uint8_t mask = (uint8_t)(1u << p->params.data_prio);

	PROBER_BEGIN(p);
	prober_only(p, 0, now_ns);
	p->mark = q->packets;
	PROBER_WAIT(p, q->packets > p->mark + PROBER_RECENT, now_ns + p->params.answer_ns);
	if (q->packets <= p->mark + PROBER_RECENT) {
		findings_say_all(&p->findings, LINE_PFC_STOP, LINE_PFC_LINK, VERDICT_NO_ANSWER,
				 PROBE_NO_DATA);
		return true;
	}
	/* A gap is a pause's only if there is none without a pause. */
	prober_watch(p, 0, 0);
	PROBER_SLEEP(p, (uint64_t)(3 * probe_quanta_ns(p, PROBE_QUANTA)) + p->params.settle_ns);
	/* Data that comes late without a pause comes as late with one; the first frame after a
	 * pause waits for no other one, as answers to a NIC that is held. */
	prober_note_late(p, (uint64_t)p->rtt_spread_ns);
	prober_note_late(p,
			 sub_sat(max_u64(q->gap_ns, now_ns - q->last_ns), 2 * prober_frame_ns(p)));
	if ((double)max_u64(q->gap_ns, now_ns - q->last_ns) >
	    0.25 * probe_quanta_ns(p, PROBE_QUANTA)) {
		for (unsigned int l = LINE_PFC_STOP; l <= LINE_PFC_LINK; l++)
			findings_say(
				&p->findings, (enum findings_line)l, VERDICT_NOT_MEASURED,
				"data has gaps of %.2f us without a pause; one of the prober's "
				"lasts %.2f us",
				(double)max_u64(q->gap_ns, now_ns - q->last_ns) / 1e3,
				probe_quanta_ns(p, PROBE_QUANTA) / 1e3);
		return true;
	}
	prober_watch(p, 0, 0);
	p->t_ns = now_ns;
	prober_send_pause(p, mask, PROBE_QUANTA, now_ns);
	PROBER_SLEEP(p, (uint64_t)(1.5 * probe_quanta_ns(p, PROBE_QUANTA)) + p->params.settle_ns);
	say_pause(p, now_ns);
	if (has_stopped(p, now_ns)) {
		prober_send_pause(p, mask, PROBE_QUANTA, now_ns);
		PROBER_SLEEP(p, (uint64_t)(probe_quanta_ns(p, PROBE_QUANTA) / 2));
		prober_send_pause(p, mask, 0, now_ns);
		p->t_ns = now_ns;
		p->mark = q->packets;
		PROBER_WAIT(p, q->packets > p->mark, now_ns + p->params.settle_ns);
		p->a = (double)(q->last_ns - p->t_ns) - p->rtt_ns;
		p->a = p->a > 0 ? p->a : 0;
		if (p->a < probe_quanta_ns(p, PROBE_QUANTA) / 4)
			probe_say_delay(p, LINE_PFC_START, p->a,
					(struct probe_limits){p->a + 1e9, INFINITY},
					"beside the round trip");
		else
			findings_set(&p->findings, LINE_PFC_START, VERDICT_FAULT, p->a / 1e3,
				     "%.2f us: XON does not end a pause", p->a / 1e3);
	} else {
		findings_say(&p->findings, LINE_PFC_START, VERDICT_NOT_RUN, "no pause to end");
		findings_say(&p->findings, LINE_PFC_QUANTA, VERDICT_NOT_RUN, "no pause to measure");
	}
	PROBER_SLEEP(p, p->params.settle_ns);
	prober_watch(p, 0, 0);
	prober_send_pause(p, (uint8_t)~mask, PROBE_QUANTA, now_ns);
	PROBER_SLEEP(p, (uint64_t)(1.5 * probe_quanta_ns(p, PROBE_QUANTA)) + p->params.settle_ns);
	findings_say(&p->findings, LINE_PFC_PRIORITY,
		     has_stopped(p, now_ns) ? VERDICT_FAULT : VERDICT_OK,
		     has_stopped(p, now_ns) ? "data stops, although its priority is not paused"
					    : "data goes on");
	prober_watch(p, 0, 0);
	prober_send_pause(p, 0, PROBE_QUANTA, now_ns);
	PROBER_SLEEP(p, (uint64_t)(1.5 * probe_quanta_ns(p, PROBE_QUANTA)) + p->params.settle_ns);
	findings_say(&p->findings, LINE_PFC_LINK,
		     has_stopped(p, now_ns) ? VERDICT_DIFFERS : VERDICT_OK,
		     has_stopped(p, now_ns) ? "obeyed: the whole link stops" : "ignored");
	PROBER_END(p);
}

#define REQUESTS 1024u

/* The NIC should pause what its receiver cannot take, and nothing of others. */
static void
say_sent(struct prober *p)
{
	bool others = (p->paused_prios & ~(1u << p->params.data_prio)) != 0;
	char prios[24] = "";

	findings_set(&p->findings, LINE_PFC_SENT, p->n_pauses == 0 ? VERDICT_OK : VERDICT_DIFFERS,
		     (double)p->n_pauses,
		     p->n_pauses == 0 ? "%u" : "%u: its receiver is slower than the link",
		     (unsigned int)p->n_pauses);
	for (unsigned int i = 0, at = 0; i < 8; i++)
		if (p->paused_prios >> i & 1)
			at += (unsigned int)snprintf(prios + at, sizeof(prios) - at, "%s%u",
						     at == 0 ? "" : ", ", i);
	if (p->link_paused)
		findings_say(&p->findings, LINE_PFC_SENT_PRIOS, VERDICT_DIFFERS,
			     "the whole link, by 802.3x: all traffic waits for one receiver");
	else if (p->paused_prios == 0)
		findings_say(&p->findings, LINE_PFC_SENT_PRIOS, VERDICT_NOT_RUN,
			     "the NIC pauses nothing");
	else
		findings_say(&p->findings, LINE_PFC_SENT_PRIOS,
			     others ? VERDICT_DIFFERS : VERDICT_OK, "%s%s", prios,
			     others ? ": others wait for a receiver that is not theirs" : "");
}

bool
probe_pfc_sent(struct prober *p, uint64_t now_ns)
{
	PROBER_BEGIN(p);
	prober_only(p, p->n_qps, now_ns);
	PROBER_SLEEP(p, p->params.settle_ns);
	PROBE_RESYNC(p, 0);
	if (!probe_is_synced(p, 0))
		return true;
	p->mark = p->n_answers;
	for (p->i = 0; p->i < REQUESTS; p->i++) {
		prober_send_request(p, 0, p->qps[0].next_psn++, p->params.mtu_bytes, 0, now_ns);
		p->qps[0].next_psn &= PSN_MASK;
		PROBER_WAIT(p, false, p->wire_free_ns);
	}
	PROBER_WAIT(p, probe_answer_to(p, 0, p->mark) != NULL, now_ns + p->params.answer_ns / 4);
	PROBER_SLEEP(p, p->params.settle_ns);
	if (probe_answer_to(p, 0, p->mark) != NULL)
		say_sent(p);
	PROBER_END(p);
}
