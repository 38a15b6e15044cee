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
#define MOST_QUANTA UINT16_MAX
/* A value is right within this share. */
#define SHARE 0.05

double
probe_quanta_ns(const struct prober *p, double quanta)
{
	return quanta * QUANTUM_BITS * 1e9 / (double)p->params.link_speed_bps;
}

/* Longest time without data of QP 0 since prober_watch(). */
static double
gap_ns(const struct prober *p, uint64_t now_ns)
{
	const struct prober_qp *q = &p->qps[0];

	return (double)max_u64(q->gap_ns, now_ns - q->last_ns);
}

/* What a pause does to data: p->a is the longest gap without one. */
enum reaction { GOES_ON, UNCLEAR, STOPS };

static enum reaction
reaction_of(const struct prober *p, uint64_t now_ns)
{
	double frames_ns = 2.0 * (double)prober_frame_ns(p), gap = gap_ns(p, now_ns);

	/* A NIC may obey a part of a pause only. */
	return gap > 2 * p->a + frames_ns     ? STOPS
	       : gap > 1.5 * p->a + frames_ns ? UNCLEAR
					      : GOES_ON;
}

static void
say_unclear(struct prober *p, enum findings_line line, uint64_t now_ns)
{
	findings_say(&p->findings, line, VERDICT_NOT_MEASURED,
		     "data has gaps of %.2f us with a pause of %.2f us, and of %.2f us without one",
		     gap_ns(p, now_ns) / 1e3, probe_quanta_ns(p, PROBE_QUANTA) / 1e3, p->a / 1e3);
}

/* Time from the arrival of a pause frame until data goes on. */
static double
pause_ns(const struct prober *p)
{
	const struct prober_qp *q = &p->qps[0];

	return (double)(q->gap_from_ns + q->gap_ns - p->t_ns) - p->rtt_ns;
}

/* Time from a pause frame to the last data, the round trip included. */
static double
stop_ns(const struct prober *p)
{
	const struct prober_qp *q = &p->qps[0];

	return q->gap_from_ns > p->t_ns ? (double)(q->gap_from_ns - p->t_ns) : 0;
}

static void
say_stop(struct prober *p, double doubt_ns)
{
	double stop = stop_ns(p);

	/* The last frame may have been on its way already. */
	if (doubt_ns > SHARE * stop)
		findings_say(&p->findings, LINE_PFC_STOP, VERDICT_MEASURED,
			     "at most %.2f us, the round trip of %.2f us included",
			     (stop + doubt_ns) / 1e3, p->rtt_ns / 1e3);
	else
		findings_set(&p->findings, LINE_PFC_STOP, VERDICT_MEASURED, stop / 1e3,
			     "%.2f us, the round trip of %.2f us included", stop / 1e3,
			     p->rtt_ns / 1e3);
}

static void
say_quanta(struct prober *p, double doubt_ns)
{
	double quanta = pause_ns(p) * (double)p->params.link_speed_bps / 1e9 / QUANTUM_BITS;

	if (p->rtt_ns == 0)
		findings_say(&p->findings, LINE_PFC_QUANTA, VERDICT_NOT_MEASURED, PROBE_NO_TRIP);
	else if (doubt_ns > SHARE * pause_ns(p))
		findings_say(&p->findings, LINE_PFC_QUANTA, VERDICT_NOT_MEASURED,
			     "%.0f, but data may be %.2f us late", quanta, doubt_ns / 1e3);
	else
		findings_set(&p->findings, LINE_PFC_QUANTA,
			     quanta > 0.98 * PROBE_QUANTA && quanta < 1.05 * PROBE_QUANTA
				     ? VERDICT_OK
				     : VERDICT_DIFFERS,
			     quanta, "%.0f", quanta);
}

/* @return false: there is no pause to end. */
static bool
say_pause(struct prober *p, uint64_t now_ns)
{
	double doubt_ns = (double)(p->late_ns + prober_frame_ns(p));
	enum reaction reaction = reaction_of(p, now_ns);

	if (reaction == STOPS && p->qps[0].gap_ns < now_ns - p->qps[0].last_ns) {
		findings_say(&p->findings, LINE_PFC_STOP, VERDICT_FAULT,
			     "stops for more than %.2f us, though the pause lasts %.2f us",
			     gap_ns(p, now_ns) / 1e3, probe_quanta_ns(p, PROBE_QUANTA) / 1e3);
		findings_say_all(&p->findings, LINE_PFC_START, LINE_PFC_LINK, VERDICT_NOT_RUN,
				 "no data after a pause");
		return false;
	}
	if (reaction == STOPS) {
		say_stop(p, doubt_ns);
		say_quanta(p, doubt_ns);
		return true;
	}
	if (reaction == UNCLEAR)
		say_unclear(p, LINE_PFC_STOP, now_ns);
	else
		findings_say(&p->findings, LINE_PFC_STOP, VERDICT_FAULT,
			     "ignores the pause of priority %u: data goes on", p->params.data_prio);
	findings_say(&p->findings, LINE_PFC_START, VERDICT_NOT_RUN, "no pause to end");
	findings_say(&p->findings, LINE_PFC_QUANTA, VERDICT_NOT_RUN, "no pause to measure");
	return false;
}

/* XON comes in the middle of the longest pause: p->b is the time from there to its end. */
static void
say_start(struct prober *p)
{
	double start_ns = fmax((double)(p->qps[0].last_ns - p->t_ns) - p->rtt_ns, 0);

	if (start_ns < 0.8 * p->b)
		probe_say_delay(
			p, LINE_PFC_START, start_ns,
			(struct probe_limits){start_ns + 1e9, INFINITY, (double)prober_frame_ns(p)},
			"beside the round trip");
	else
		findings_set(&p->findings, LINE_PFC_START, VERDICT_FAULT, start_ns / 1e3,
			     "%.2f us: XON does not end a pause", start_ns / 1e3);
}

static void
say_priority(struct prober *p, uint64_t now_ns)
{
	bool stops = gap_ns(p, now_ns) > 0.5 * probe_quanta_ns(p, PROBE_QUANTA);

	if (!stops && reaction_of(p, now_ns) != GOES_ON)
		say_unclear(p, LINE_PFC_PRIORITY, now_ns);
	else
		findings_say(&p->findings, LINE_PFC_PRIORITY, stops ? VERDICT_FAULT : VERDICT_OK,
			     stops ? "data stops, although its priority is not paused"
				   : "data goes on");
}

static void
say_link(struct prober *p, uint64_t now_ns)
{
	enum reaction reaction = reaction_of(p, now_ns);

	if (reaction == UNCLEAR)
		say_unclear(p, LINE_PFC_LINK, now_ns);
	else
		findings_say(&p->findings, LINE_PFC_LINK,
			     reaction == STOPS ? VERDICT_DIFFERS : VERDICT_OK,
			     reaction == STOPS ? "obeyed: the whole link stops" : "ignored");
}

static void
send_pause(struct prober *p, uint8_t prios, uint64_t now_ns)
{
	prober_watch(p, 0, 0);
	p->t_ns = now_ns;
	prober_send_pause(p, prios, PROBE_QUANTA, now_ns);
}

/* When a pause should be over for long. */
static uint64_t
over_ns(const struct prober *p)
{
	return p->t_ns + (uint64_t)(1.5 * probe_quanta_ns(p, PROBE_QUANTA)) + p->params.settle_ns;
}

/* Data may go on later than the pause says. */
#define PROBE_WAIT_FOR_DATA(p)                                                                     \
	PROBER_WAIT(p, (p)->qps[0].last_ns >= over_ns(p), over_ns(p) + (p)->params.answer_ns / 4)

bool
probe_pfc(struct prober *p, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[0];
	uint8_t mask = (uint8_t)(1u << p->params.data_prio);
	double stop;

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
	p->a = gap_ns(p, now_ns);
	/* Data that comes late without a pause comes as late with one; the first frame after a
	 * pause waits for no other one, as answers to a NIC that is held. */
	prober_note_late(p, (uint64_t)p->rtt_spread_ns);
	prober_note_late(p, sub_sat((uint64_t)p->a, 2 * prober_frame_ns(p)));
	if (p->a > 0.25 * probe_quanta_ns(p, PROBE_QUANTA)) {
		for (unsigned int l = LINE_PFC_STOP; l <= LINE_PFC_LINK; l++)
			findings_say(
				&p->findings, (enum findings_line)l, VERDICT_NOT_MEASURED,
				"data has gaps of %.2f us without a pause; one of the prober's "
				"lasts %.2f us",
				p->a / 1e3, probe_quanta_ns(p, PROBE_QUANTA) / 1e3);
		return true;
	}
	send_pause(p, mask, now_ns);
	PROBE_WAIT_FOR_DATA(p);
	if (say_pause(p, now_ns)) {
		/* A part of a pause that the NIC obeys is the same part of a longer one. */
		stop = stop_ns(p);
		p->b = (pause_ns(p) - stop) * MOST_QUANTA / PROBE_QUANTA / 2;
		prober_send_pause(p, mask, MOST_QUANTA, now_ns);
		PROBER_SLEEP(p, (uint64_t)(stop + p->b));
		prober_send_pause(p, mask, 0, now_ns);
		p->t_ns = now_ns;
		p->mark = q->packets;
		PROBER_WAIT(p, q->packets > p->mark, now_ns + p->params.answer_ns / 4);
		say_start(p);
	}
	PROBER_SLEEP(p, p->params.settle_ns);
	send_pause(p, (uint8_t)~mask, now_ns);
	PROBE_WAIT_FOR_DATA(p);
	say_priority(p, now_ns);
	send_pause(p, 0, now_ns);
	PROBE_WAIT_FOR_DATA(p);
	say_link(p, now_ns);
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
	/* Until its receiver has taken all of them. */
	do {
		p->n = (uint32_t)p->n_pauses;
		PROBER_SLEEP(p, p->params.settle_ns);
	} while (p->n != (uint32_t)p->n_pauses && now_ns < p->begin_ns + 2 * p->params.answer_ns);
	if (probe_answer_to(p, 0, p->mark) != NULL)
		say_sent(p);
	PROBER_END(p);
}
