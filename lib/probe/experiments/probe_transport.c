/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reliable connections (IBTA volume 1, 9.7): what the NIC answers as a responder to gaps, and to
 * reordered, repeated and damaged requests of QP 0; what it sends again as a requester.
 */
#include <math.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "probe/experiments/asking.h"
#include "probe/experiments/probe_experiments.h"
#include "wire/roce/rnr_timer.h"

#define PACKET_GAP_NS 5000u
/* Reactions up to that long are prompt; Lumina found 100 us and more on some NICs. */
#define PROMPT_NS 10000.0
#define SLUGGISH_NS 1e6
/* Unit of the retransmission timeout: 4.096 us (IBTA 9.7.6.1.3). */
#define TIMEOUT_UNIT_NS 4096.0

static void
say_delay(struct prober *p, enum findings_line line, double ns, double turn_ns)
{
	probe_say_delay(p, line, ns, (struct probe_limits){PROMPT_NS, SLUGGISH_NS, turn_ns},
			"beside the round trip");
}

/* Number of answers to QP 0 with this syndrome since an entry. */
static uint32_t
count_answers(const struct prober *p, uint64_t since, uint8_t syndrome)
{
	uint32_t n = 0;

	for (uint64_t i = prober_oldest(p->n_answers, since); i < p->n_answers; i++)
		n += prober_answer(p, i)->qp == 0 && prober_answer(p, i)->syndrome == syndrome;
	return n;
}

/* Requests of one round: the least delay of some rounds is that of the NIC, not of a busy core. */
#define ROUNDS 3u
#define GAP_ROUNDS 8u
#define AFTER_GAP 4u

/* In order, whatever was accepted before: brings a responder back. */
static bool
send_in_order(struct prober *p, uint32_t last, uint64_t now_ns)
{
	if (p->i > last)
		return false;
	prober_send_request(p, 0, p->n + p->i++, 64, 0, now_ns);
	return true;
}

/* What a gap led to, before its packets were sent again. */
static bool
say_gap(struct prober *p)
{
	const struct prober_answer *a = probe_answer_to(p, 0, p->mark);

	if (probe_is_acknowledged(p, 0, p->mark, p->n + 1)) {
		findings_say(&p->findings, LINE_TR_NAK_DELAY, VERDICT_FAULT,
			     "a request after a gap is acknowledged");
		return false;
	}
	if (a == NULL) {
		findings_say(&p->findings, LINE_TR_NAK_DELAY, VERDICT_FAULT,
			     "no NAK: a loss is repaired by a time-out only");
		return false;
	}
	probe_least_add(p, &p->least, (double)(a->at_ns - p->t_ns) - p->rtt_ns, a->frame);
	say_delay(p, LINE_TR_NAK_DELAY, p->least.ns,
		  probe_frame_doubt_ns(p, &p->least) + p->least.most_ns - p->least.ns);
	findings_say(&p->findings, LINE_TR_NAK_PSN,
		     a->psn == p->n && a->syndrome == AETH_NAK_PSN_SEQ ? VERDICT_OK : VERDICT_FAULT,
		     "%u with 0x%02x; expected %u with 0x60", a->psn, a->syndrome, p->n);
	return true;
}

bool
probe_tr_nak(struct prober *p, uint64_t now_ns)
{
	uint32_t naks;

	PROBER_BEGIN(p);
	prober_only(p, p->n_qps, now_ns);
	do
		PROBER_SLEEP(p, p->params.settle_ns);
	while (!prober_is_quiet(p) && now_ns < p->begin_ns + p->params.answer_ns);
	p->least = (struct prober_least){0};
	for (p->j = 0; p->j < GAP_ROUNDS; p->j++) {
		PROBE_RESYNC(p, 0);
		if (!probe_is_synced(p, 0))
			return true;
		p->mark = p->n_answers;
		p->n = p->qps[0].next_psn;
		p->t_ns = now_ns;
		p->frames = counter_read(&p->stats.rx_packets);
		/* n is lost, and some packets follow. */
		for (p->i = 1; p->i <= AFTER_GAP; p->i++) {
			prober_send_request(p, 0, p->n + p->i, 64, 0, now_ns);
			PROBER_SLEEP(p, PACKET_GAP_NS);
		}
		PROBER_WAIT(p, probe_answer_to(p, 0, p->mark) != NULL,
			    now_ns + p->params.answer_ns / 4);
		p->gap_is_naked = say_gap(p);
		p->i = 0;
		while (send_in_order(p, AFTER_GAP, now_ns))
			PROBER_SLEEP(p, PACKET_GAP_NS);
		PROBER_WAIT(p, probe_is_acknowledged(p, 0, p->mark, p->n + AFTER_GAP),
			    now_ns + p->params.answer_ns / 4);
		if (!p->gap_is_naked)
			return true;
		naks = count_answers(p, p->mark, AETH_NAK_PSN_SEQ);
		findings_set(&p->findings, LINE_TR_NAK_ONCE,
			     naks == 1 ? VERDICT_OK : VERDICT_DIFFERS, naks, "%u", naks);
	}
	PROBER_END(p);
}

static const uint32_t overtaken_by[] = {1, 2, 8};

static void
say_reorder(struct prober *p)
{
	enum findings_line line = (enum findings_line)(LINE_TR_REORDER_1 + p->j);
	uint32_t last = p->n + overtaken_by[p->j];

	if (probe_is_acknowledged(p, 0, p->mark, last))
		findings_say(&p->findings, line, VERDICT_DIFFERS,
			     "accepted: all are acknowledged without a retransmission");
	else if (count_answers(p, p->mark, AETH_NAK_PSN_SEQ) > 0)
		findings_say(&p->findings, line, VERDICT_OK, "NAK: it counts as lost");
	else if (probe_is_acknowledged(p, 0, p->mark, p->n))
		/* Is a NAK missing always? LINE_TR_NAK_DELAY tells. */
		findings_say(&p->findings, line, VERDICT_DIFFERS,
			     "no NAK, though the packets that overtook it are dropped: a later "
			     "NAK or a time-out brings them back");
}

bool
probe_tr_reorder(struct prober *p, uint64_t now_ns)
{
	PROBER_BEGIN(p);
	for (p->j = 0; p->j < 3; p->j++) {
		PROBE_RESYNC(p, 0);
		if (!probe_is_synced(p, 0))
			return true;
		p->n = p->qps[0].next_psn;
		p->mark = p->n_answers;
		for (p->i = 1; p->i <= overtaken_by[p->j]; p->i++)
			prober_send_request(p, 0, p->n + p->i, 64, 0, now_ns);
		prober_send_request(p, 0, p->n, 64, 0, now_ns);
		/* The last one sent is the one expected: its ACK comes after all NAKs. */
		PROBER_WAIT(p, probe_is_acknowledged(p, 0, p->mark, p->n),
			    now_ns + p->params.answer_ns / 4);
		say_reorder(p);
		p->i = 0;
		while (send_in_order(p, overtaken_by[p->j], now_ns))
			PROBER_SLEEP(p, PACKET_GAP_NS);
		PROBER_WAIT(p, probe_is_acknowledged(p, 0, p->mark, p->n + overtaken_by[p->j]),
			    now_ns + p->params.answer_ns / 4);
	}
	PROBER_END(p);
}

static void
say_duplicate(struct prober *p)
{
	const struct prober_answer *a = probe_answer_to(p, 0, p->mark);

	if (a == NULL)
		findings_say(&p->findings, LINE_TR_DUPLICATE, VERDICT_FAULT,
			     "no answer: a lost ACK stops the QP");
	else if (a->syndrome >> 5 != 0)
		findings_say(&p->findings, LINE_TR_DUPLICATE, VERDICT_FAULT, "NAK 0x%02x",
			     a->syndrome);
	else
		findings_say(&p->findings, LINE_TR_DUPLICATE,
			     a->psn == p->n ? VERDICT_OK : VERDICT_DIFFERS,
			     "ACK of PSN %u, the last one is %u", a->psn, p->n);
}

/* Answers to a damaged request of PSN p->n, to a good one, and to the next one. */
static void
say_bad_icrc(struct prober *p)
{
	uint32_t acks = 0, nak = 0;

	for (uint64_t i = prober_oldest(p->n_answers, p->mark); i < p->n_answers; i++) {
		const struct prober_answer *a = prober_answer(p, i);

		if (a->qp == 0 && a->syndrome >> 5 != 0)
			nak = a->syndrome;
		acks += a->qp == 0 && a->syndrome >> 5 == 0 && a->psn == p->n;
	}
	if (nak != 0)
		findings_say(&p->findings, LINE_TR_BAD_ICRC, VERDICT_DIFFERS, "NAK 0x%02x", nak);
	else if (acks > 1)
		findings_say(&p->findings, LINE_TR_BAD_ICRC, VERDICT_FAULT,
			     "accepted: the ICRC is not checked");
	else
		findings_say(&p->findings, LINE_TR_BAD_ICRC, VERDICT_OK, "dropped");
}

bool
probe_tr_answers(struct prober *p, uint64_t now_ns)
{
	PROBER_BEGIN(p);
	PROBE_RESYNC(p, 0);
	if (!probe_is_synced(p, 0))
		return true;
	p->n = (p->qps[0].acked_psn - 1) & PSN_MASK;
	p->mark = p->n_answers;
	prober_send_request(p, 0, p->n, 64, 0, now_ns);
	PROBER_WAIT(p, probe_answer_to(p, 0, p->mark) != NULL, now_ns + p->params.answer_ns / 4);
	say_duplicate(p);
	p->n = p->qps[0].next_psn;
	p->mark = p->n_answers;
	prober_send_next(p, 0, PROBER_BAD_ICRC, now_ns);
	PROBER_SLEEP(p, p->params.settle_ns);
	/* The same one without damage: if the first was accepted, it is a duplicate. */
	prober_send_request(p, 0, p->n, 64, 0, now_ns);
	PROBER_WAIT(p, probe_is_acknowledged(p, 0, p->mark, p->n),
		    now_ns + p->params.answer_ns / 4);
	prober_send_request(p, 0, p->n + 1, 64, 0, now_ns);
	PROBER_WAIT(p, probe_is_acknowledged(p, 0, p->mark, p->n + 1),
		    now_ns + p->params.answer_ns / 4);
	if (probe_is_acknowledged(p, 0, p->mark, p->n + 1))
		say_bad_icrc(p);
	PROBER_END(p);
}

/* What comes again after that long a silence was not brought back by the same NAK. */
#define SILENCE_NS 500000.0

/* What followed the retransmission of the lost packet, which is the watched PSN. p->b: how long a
 * packet waits for its turn. */
static void
say_recovery(struct prober *p)
{
	const struct prober_qp *q = &p->qps[0];
	double most_ns = fmax(SILENCE_NS, 3 * p->b);
	uint64_t last_ns = 0;
	uint32_t highest = q->lost_psn, again = 0;
	/* Its first arrival may have left the ring. */
	uint32_t lost = p->n_arrivals - p->mark > PROBER_LOG;

	for (uint64_t i = prober_oldest(p->n_arrivals, p->mark); i < p->n_arrivals; i++) {
		const struct prober_arrival *a = prober_arrival(p, i);

		if (a->qp != 0 || psn_diff(a->psn, q->lost_psn) < 0)
			continue;
		/* The first one is the one that was lost. */
		lost += a->psn == q->lost_psn;
		if (lost > 1 && last_ns > 0 && (double)(a->at_ns - last_ns) > most_ns)
			break;
		if (lost > 1)
			last_ns = a->at_ns;
		if (lost > 1 && psn_diff(a->psn, highest) <= 0)
			again++;
		if (psn_diff(a->psn, highest) > 0)
			highest = a->psn;
	}
	if (again == 0)
		return;
	findings_set(&p->findings, LINE_TR_RECOVERY, VERDICT_OK, again,
		     again > 1 ? "%u from the lost one on: go-back-N" : "%u: selective repeat",
		     again);
	p->keeps |= again == 1;
}

bool
probe_tr_loss(struct prober *p, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[0];
	double delay;

	PROBER_BEGIN(p);
	prober_only(p, 0, now_ns);
	p->mark = q->packets;
	PROBER_WAIT(p, q->packets > p->mark + PROBER_RECENT, now_ns + p->params.answer_ns);
	if (q->packets <= p->mark + PROBER_RECENT) {
		findings_say_all(&p->findings, LINE_TR_RESEND_DELAY, LINE_TR_LOST_ACK,
				 VERDICT_NO_ANSWER, PROBE_NO_DATA);
		return true;
	}
	for (p->i = p->j = 0; p->j < ROUNDS; p->j++) {
		PROBER_SLEEP(p, p->params.settle_ns);
		prober_watch(p, 0, q->epsn);
		p->mark = p->n_arrivals;
		p->t_ns = now_ns;
		p->b = prober_turn_ns(p, 0);
		q->lose_next = true;
		PROBER_WAIT(p, q->watch_n >= 2, now_ns + p->params.answer_ns);
		if (q->watch_n < 2) {
			if (p->j == 0 && !q->lose_next)
				findings_say(&p->findings, LINE_TR_RESEND_DELAY, VERDICT_FAULT,
					     "a NAK has no effect: nothing is sent again");
			return true;
		}
		/* Nothing has followed the lost packet: a time-out brought it back. */
		if (q->nak_ns < p->t_ns)
			continue;
		delay = (double)(q->watch_ns - q->nak_ns) - p->rtt_ns;
		p->a = p->i++ == 0 || delay < p->a ? delay : p->a;
		say_delay(p, LINE_TR_RESEND_DELAY, p->a, p->b + (double)prober_frame_ns(p));
		/* All that is sent again has come before the first new packet. */
		p->n = q->highest_psn;
		PROBER_WAIT(p, psn_diff(q->highest_psn, p->n) > 0,
			    now_ns + p->params.answer_ns / 4);
		say_recovery(p);
	}
	if (p->i == 0) {
		findings_say_all(&p->findings, LINE_TR_RESEND_DELAY, LINE_TR_LOST_ACK,
				 VERDICT_NOT_MEASURED,
				 "no packet follows a lost one: only a time-out shows a loss");
		return true;
	}
	PROBER_SLEEP(p, p->params.settle_ns);
	q->missed = false;
	q->skip_acks = true;
	PROBER_WAIT(p, !q->skip_acks, now_ns + p->params.answer_ns / 4);
	if (q->skip_acks) {
		q->skip_acks = false;
		return true;
	}
	p->n = (uint32_t)q->resent;
	PROBER_SLEEP(p, p->params.settle_ns);
	if (q->missed)
		findings_say(&p->findings, LINE_TR_LOST_ACK, VERDICT_NOT_MEASURED,
			     "no later ACK: the NIC waited for the lost one");
	else
		findings_set(&p->findings, LINE_TR_LOST_ACK,
			     (uint32_t)q->resent == p->n ? VERDICT_OK : VERDICT_DIFFERS,
			     (double)((uint32_t)q->resent - p->n), "%u sent again",
			     (uint32_t)q->resent - p->n);
	PROBER_END(p);
}

bool
probe_tr_timeout(struct prober *p, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[0];

	PROBER_BEGIN(p);
	prober_only(p, 0, now_ns);
	p->mark = q->packets;
	PROBER_WAIT(p, q->packets > p->mark + PROBER_RECENT, now_ns + p->params.answer_ns);
	if (q->packets <= p->mark + PROBER_RECENT) {
		findings_say_all(&p->findings, LINE_TR_TIMEOUT, LINE_TR_BACK_OFF, VERDICT_NO_ANSWER,
				 PROBE_NO_DATA);
		return true;
	}
	prober_set_mode(p, 0, PROBER_SILENT, now_ns);
	prober_watch(p, 0, q->epsn - q->unacked);
	p->t_ns = now_ns;
	p->n = q->unacked > 0; /* its first arrival is over */
	PROBER_WAIT(p, q->watch_n + p->n >= 2, now_ns + 4 * p->params.answer_ns);
	if (q->watch_n + p->n < 2) {
		findings_say(&p->findings, LINE_TR_TIMEOUT, VERDICT_NO_ANSWER,
			     "nothing is sent again in %.1f s",
			     4 * (double)p->params.answer_ns / 1e9);
		prober_set_mode(p, 0, PROBER_ANSWER, now_ns);
		return true;
	}
	p->a = (double)(q->watch_ns - p->t_ns);
	findings_set(&p->findings, LINE_TR_TIMEOUT, VERDICT_MEASURED, p->a / 1e6,
		     "%.3f ms: 4.096 us x 2^%.1f", p->a / 1e6, log2(p->a / TIMEOUT_UNIT_NS));
	p->t_ns = q->watch_ns;
	p->j = q->watch_n;
	PROBER_WAIT(p, q->watch_n > p->j, now_ns + 8 * p->params.answer_ns);
	if (q->watch_n > p->j) {
		p->b = (double)(q->watch_ns - p->t_ns) / p->a;
		findings_set(&p->findings, LINE_TR_BACK_OFF, VERDICT_MEASURED, p->b, "%.2f%s", p->b,
			     p->b > 1.5 ? ": it backs off" : ": no back-off");
	}
	prober_set_mode(p, 0, PROBER_ANSWER, now_ns);
	PROBER_SLEEP(p, p->params.settle_ns);
	PROBER_END(p);
}

/* What the NIC sent first after t_ns, beginning with the lost packet or before it. */
static void
say_from(struct prober *p)
{
	uint32_t lost = p->qps[0].lost_psn;

	for (uint64_t i = prober_oldest(p->n_arrivals, p->mark); i < p->n_arrivals; i++) {
		const struct prober_arrival *a = prober_arrival(p, i);
		int32_t before = psn_diff(lost, a->psn);

		if (a->qp != 0 || a->at_ns <= p->t_ns || before < 0)
			continue;
		findings_set(&p->findings, LINE_TR_LAST_FROM,
			     before == 0 ? VERDICT_OK : VERDICT_DIFFERS, before,
			     before == 0 ? "the lost one"
					 : "%d before it, which were acknowledged: they come twice",
			     before);
		return;
	}
}

/*
 * The last packet of a message is lost, and what the NIC sends after it as well: only its own timer
 * shows the loss.
 */
bool
probe_tr_last(struct prober *p, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[0];
	double ms;

	PROBER_BEGIN(p);
	prober_only(p, 0, now_ns);
	p->mark = p->n_arrivals;
	q->lose_last = true;
	PROBER_WAIT(p, !q->lose_last, now_ns + p->params.answer_ns);
	if (q->lose_last) {
		q->lose_last = false;
		findings_say_all(&p->findings, LINE_TR_LAST, LINE_TR_LAST_FROM, VERDICT_NO_ANSWER,
				 "no message of the NIC ends");
		return true;
	}
	p->t_ns = now_ns;
	PROBER_WAIT(p, q->watch_n > 0, now_ns + 4 * p->params.answer_ns);
	if (q->watch_n > 0) {
		ms = (double)(q->watch_ns - p->t_ns) / 1e6;
		findings_set(&p->findings, LINE_TR_LAST, VERDICT_MEASURED, ms, "%.3f ms", ms);
		say_from(p);
	} else {
		findings_say(&p->findings, LINE_TR_LAST, VERDICT_FAULT,
			     "it is not sent again in %.1f s",
			     4 * (double)p->params.answer_ns / 1e9);
	}
	prober_set_mode(p, 0, PROBER_ANSWER, now_ns);
	PROBER_SLEEP(p, p->params.settle_ns);
	PROBER_END(p);
}

/* The first QP of the NIC that reads, or n_qps. */
static uint32_t
find_reader(const struct prober *p)
{
	uint32_t i = 0;

	while (i < p->n_qps && p->qps[i].reads.n_requests == 0)
		i++;
	return i;
}

static void
say_read(struct prober *p, const struct prober_reads *r)
{
	double delay = (double)(r->again_ns - r->gap_ns) - p->rtt_ns;
	uint32_t before = (uint32_t)psn_diff(r->lost_psn, r->again_psn);

	p->a = p->j == 0 || delay < p->a ? delay : p->a;
	/* A slow request is allowed. */
	probe_say_delay(p, LINE_TR_READ_DELAY, p->a,
			(struct probe_limits){PROMPT_NS, INFINITY, (double)prober_frame_ns(p)},
			"beside the round trip");
	findings_say(&p->findings, LINE_TR_READ_FROM, before == 0 ? VERDICT_OK : VERDICT_DIFFERS,
		     before == 0 ? "the lost one" : "%u before the lost one: they come twice",
		     before);
}

bool
probe_tr_read(struct prober *p, uint64_t now_ns)
{
	struct prober_reads *r = &p->qps[p->i < p->n_qps ? p->i : 0].reads;

	PROBER_BEGIN(p);
	p->i = find_reader(p);
	if (p->i == p->n_qps) {
		findings_say_all(&p->findings, LINE_TR_READ_DELAY, LINE_TR_READ_FROM,
				 VERDICT_NOT_RUN,
				 "no QP of the NIC reads: start a flow of READs to one more QP");
		return true;
	}
	r = &p->qps[p->i].reads;
	prober_only(p, p->i, now_ns);
	for (p->j = 0; p->j < ROUNDS; p->j++) {
		r->is_asked_again = false;
		r->lose_next = true;
		PROBER_WAIT(p, r->is_asked_again, now_ns + 2 * p->params.answer_ns);
		if (r->lose_next) {
			findings_say_all(&p->findings, LINE_TR_READ_DELAY, LINE_TR_READ_FROM,
					 VERDICT_NO_ANSWER,
					 "no READ with a response of 3 packets or more");
			break;
		}
		if (!r->is_asked_again) {
			findings_say(&p->findings, LINE_TR_READ_DELAY, VERDICT_FAULT,
				     "a lost response is never asked for again");
			break;
		}
		say_read(p, r);
		PROBER_SLEEP(p, p->params.settle_ns);
	}
	r->lose_next = false;
	PROBER_END(p);
}

/* Timers of 0.64 and 5.12 ms: which of them the NAK has must show. */
static const uint8_t refuse_timers[] = {12, 18};
/* The second wait is that many times the first one, or more, if the NIC reads the timer. */
#define READS_TIMER 2
/* The wait is known within this share of it. */
#define RNR_SHARE 0.05

/*
 * How long the NIC waited after an RNR NAK: p->y[j]. At least as long as that says (9.7.5.2.8).
 * @return false: there is a fault.
 */
static bool
say_rnr_wait(struct prober *p)
{
	const struct prober_qp *q = &p->qps[0];
	double asked_ns = rnr_timer_us[refuse_timers[p->j]] * 1e3;
	double wait_ns = p->y[p->j] = (double)(q->watch_ns - q->nak_ns) - p->rtt_ns;
	/* p->b: how long a packet waits for its turn. */
	double doubt_ns = (double)(p->late_ns + prober_frame_ns(p)) + p->rtt_spread_ns + p->b;

	if (wait_ns + doubt_ns < asked_ns) {
		findings_set(&p->findings, LINE_TR_RNR_WAIT, VERDICT_FAULT, wait_ns / 1e6,
			     "%.3f ms, though the NAK says %.2f ms", wait_ns / 1e6, asked_ns / 1e6);
		return false;
	}
	if (p->j == 0)
		return true;
	if (p->rtt_ns == 0)
		findings_say(&p->findings, LINE_TR_RNR_WAIT, VERDICT_NOT_MEASURED, PROBE_NO_TRIP);
	else if (doubt_ns > RNR_SHARE * wait_ns)
		findings_say(&p->findings, LINE_TR_RNR_WAIT, VERDICT_NOT_MEASURED,
			     "between %.3f and %.3f ms", (wait_ns - doubt_ns) / 1e6, wait_ns / 1e6);
	else
		findings_set(&p->findings, LINE_TR_RNR_WAIT,
			     wait_ns > READS_TIMER * p->y[0] ? VERDICT_OK : VERDICT_DIFFERS,
			     wait_ns / 1e6, "%.3f ms; with a timer of 0.64 ms %.3f ms",
			     wait_ns / 1e6, p->y[0] / 1e6);
	return true;
}

/* A NAK of SENDs that is not for a gap: a packet may be lost on its way. NULL: none. */
static const struct prober_answer *
refusal(const struct prober *p)
{
	for (uint64_t i = prober_oldest(p->n_answers, p->mark); i < p->n_answers; i++) {
		const struct prober_answer *a = prober_answer(p, i);

		if (a->qp == 0 && a->syndrome >> 5 != 0 && a->syndrome != AETH_NAK_PSN_SEQ)
			return a;
	}
	return NULL;
}

/* Are the SENDs so far refused, or all acknowledged? */
static bool
is_decided(const struct prober *p)
{
	return refusal(p) != NULL ||
	       probe_is_acknowledged(p, 0, p->mark, (p->qps[0].next_psn - 1) & PSN_MASK);
}

static void
say_rnr_nak(struct prober *p)
{
	const struct prober_answer *a = refusal(p);
	double ms;

	if (a != NULL && a->syndrome >> 5 == AETH_RNR_NAK >> 5) {
		ms = rnr_timer_us[a->syndrome % RNR_TIMERS] / 1e3;
		findings_set(&p->findings, LINE_TR_RNR_NAK, VERDICT_OK, ms,
			     "%.2f ms: RNR NAK 0x%02x", ms, a->syndrome);
	} else if (a != NULL) {
		findings_say(&p->findings, LINE_TR_RNR_NAK, VERDICT_DIFFERS,
			     "NAK 0x%02x: the connection ends", a->syndrome);
	} else if (is_decided(p)) {
		findings_say(&p->findings, LINE_TR_RNR_NAK, VERDICT_NOT_RUN,
			     "there was a receive for each of %u SENDs", p->i);
	} else if (p->i == 0) {
		findings_say(&p->findings, LINE_TR_RNR_NAK, VERDICT_FAULT,
			     "no answer: a time-out alone brings the SEND back");
	} else {
		findings_say(&p->findings, LINE_TR_RNR_NAK, VERDICT_NOT_MEASURED,
			     "of %u SENDs some were lost, or dropped without an answer", p->i);
	}
}

/* More than a receive queue has, as a rule. */
#define RNR_SENDS 1024u
#define SEND_ROUNDS 3u

bool
probe_tr_rnr(struct prober *p, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[0];

	PROBER_BEGIN(p);
	prober_only(p, 0, now_ns);
	for (p->j = 0; p->j < ARRAY_LEN(refuse_timers); p->j++) {
		p->mark = q->packets;
		PROBER_WAIT(p, q->packets > p->mark + PROBER_RECENT, now_ns + p->params.answer_ns);
		if (q->packets <= p->mark + PROBER_RECENT) {
			findings_say(&p->findings, LINE_TR_RNR_WAIT, VERDICT_NO_ANSWER,
				     PROBE_NO_DATA);
			break;
		}
		p->b = prober_turn_ns(p, 0);
		q->refuse_timer = refuse_timers[p->j];
		q->refuse_next = true;
		PROBER_WAIT(p, !q->refuse_next, now_ns + p->params.answer_ns);
		if (q->refuse_next) {
			q->refuse_next = false;
			findings_say(&p->findings, LINE_TR_RNR_WAIT, VERDICT_NO_ANSWER,
				     "no message of the NIC begins");
			break;
		}
		PROBER_WAIT(p, q->watch_n > 0, now_ns + 4 * p->params.answer_ns);
		if (q->watch_n == 0) {
			findings_say(&p->findings, LINE_TR_RNR_WAIT, VERDICT_NO_ANSWER,
				     "nothing is sent again in %.1f s: a QP with rnr_retry = 0 is "
				     "in error",
				     4 * (double)p->params.answer_ns / 1e9);
			break;
		}
		if (!say_rnr_wait(p))
			break;
	}
	/* As a responder. */
	prober_only(p, p->n_qps, now_ns);
	PROBE_RESYNC(p, 0);
	if (!probe_is_synced(p, 0))
		return true;
	p->mark = p->n_answers;
	/* The first one alone: there may be no receive at all. It may be lost, too. */
	prober_send_message(p, 0, now_ns);
	for (p->j = 0; !is_decided(p) && p->j < SEND_ROUNDS; p->j++) {
		PROBER_WAIT(p, is_decided(p), now_ns + p->params.answer_ns / 4);
		if (is_decided(p))
			break;
		p->qps[0].next_psn = (p->qps[0].next_psn - 1) & PSN_MASK;
		prober_send_message(p, 0, now_ns);
	}
	for (p->i = 0; p->i < RNR_SENDS && refusal(p) == NULL && p->j < SEND_ROUNDS; p->i++) {
		prober_send_message(p, 0, now_ns);
		PROBER_WAIT(p, false, p->wire_free_ns);
	}
	PROBER_WAIT(p, is_decided(p), now_ns + p->params.answer_ns / 4);
	say_rnr_nak(p);
	PROBER_END(p);
}
