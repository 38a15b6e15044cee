/* SPDX-License-Identifier: BSD-3-Clause */
/* The notification point: marked requests to the NIC, and its CNPs. */
#include "base/numbers/units.h"
#include "probe/experiments/asking.h"
#include "probe/experiments/kinds.h"
#include "wire/frame/ecn.h"

/* Time between two marked requests of a stream: less than any N of use. */
#define MARK_GAP_NS 1000u
/* A CNP that comes later than this is late: the paper's N. */
#define LATE_NS 50000.0
#define SLOW_NS 10000.0
#define ROUNDS 3u

/* Whole settle times, so that a stream of marks sees long intervals too. */
#define STREAM_SETTLES 4u

static uint32_t
stream_marks(const struct prober *p)
{
	/* A NIC that has sent no CNP so far is not asked for long. */
	return p->n_cnps == 0 ? 100
			      : (uint32_t)(STREAM_SETTLES * p->params.settle_ns / MARK_GAP_NS);
}

static enum findings_verdict
ok_or(bool ok, enum findings_verdict otherwise)
{
	return ok ? VERDICT_OK : otherwise;
}

static void
say_delay(struct prober *p, uint64_t sent_ns, const struct prober_cnp *c)
{
	double delay = (double)(c->at_ns - sent_ns) - p->rtt_ns;

	/* The least of some rounds is that of the NIC, not of a busy core. */
	p->a = p->j == 0 || delay < p->a ? delay : p->a;
	delay = p->a > 0 ? p->a : 0;
	findings_set(&p->findings, LINE_NP_DELAY,
		     delay > LATE_NS   ? VERDICT_FAULT
		     : delay > SLOW_NS ? VERDICT_DIFFERS
				       : VERDICT_OK,
		     delay / 1e3,
		     delay > SLOW_NS
			     ? "late: %.2f us after the ACK of an unmarked request would come"
			     : "%.2f us after the ACK of an unmarked request would come",
		     delay / 1e3);
}

static void
say_fields(struct prober *p, const struct prober_cnp *c)
{
	static const char *const ecn[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};
	struct findings *f = &p->findings;
	const struct roce_view *v = &c->view;
	bool plain = v->psn == 0 && !v->ack_req && !v->solicited && !v->migreq &&
		     v->pkey == PKEY_DEFAULT;

	findings_say(f, LINE_NP_OPCODE, VERDICT_OK, "0x81");
	findings_say(f, LINE_NP_BECN, ok_or(v->becn, VERDICT_FAULT), "%u%s", v->becn,
		     v->becn ? "" : ": BECN is not set");
	findings_say(f, LINE_NP_ECN, ok_or(v->ecn == ECN_ECT0 || v->ecn == ECN_ECT1, VERDICT_FAULT),
		     "%s%s", ecn[v->ecn & 3],
		     v->ecn == ECN_NOT_ECT ? ": a congested switch drops CNPs"
		     : v->ecn == ECN_CE    ? ": CNPs are born marked"
					   : "");
	findings_set(f, LINE_NP_DSCP, VERDICT_MEASURED, v->dscp, "%u", v->dscp);
	findings_say(f, LINE_NP_RESERVED, ok_or(c->reserved_zero, VERDICT_DIFFERS), "%s",
		     c->reserved_zero ? "zero" : "not zero");
	findings_say(f, LINE_NP_BTH, ok_or(plain, VERDICT_DIFFERS), "%u, %u, %u, %u and 0x%04x",
		     v->psn, v->ack_req, v->solicited, v->migreq, v->pkey);
	findings_say(f, LINE_NP_DEST_QP, ok_or(c->qp == 0, VERDICT_FAULT),
		     "%u; the marked request came from QP %u", v->dest_qp, p->params.local_qpn);
	if (!c->tagged)
		findings_say(f, LINE_NP_PRIO, VERDICT_MEASURED, "CNPs are untagged");
	else
		findings_set(f, LINE_NP_PRIO,
			     ok_or(!p->data_tagged || c->pcp != p->data_pcp, VERDICT_DIFFERS),
			     c->pcp, p->data_tagged ? "%u; data has %u" : "%u; data is untagged",
			     c->pcp, p->data_pcp);
}

bool
probe_np_first(struct prober *p, uint64_t now_ns)
{
	PROBER_BEGIN(p);
	prober_only(p, p->n_qps, now_ns);
	do
		PROBER_SLEEP(p, p->params.settle_ns);
	while (!prober_is_quiet(p) && now_ns < p->begin_ns + p->params.answer_ns);
	PROBE_RESYNC(p, 0);
	p->mark = p->n_cnps;
	for (p->i = 0; p->i < 32; p->i++) {
		prober_send_next(p, 0, 0, now_ns);
		PROBER_SLEEP(p, 2 * MARK_GAP_NS);
	}
	PROBER_SLEEP(p, p->params.settle_ns);
	findings_set(&p->findings, LINE_NP_UNMARKED, ok_or(p->n_cnps == p->mark, VERDICT_FAULT),
		     (double)(p->n_cnps - p->mark), "%u for 32 requests without a mark",
		     (unsigned int)(p->n_cnps - p->mark));
	for (p->j = 0; p->j < ROUNDS; p->j++) {
		p->mark = p->n_cnps;
		p->strange_opcode = -1;
		p->t_ns = now_ns;
		prober_send_next(p, 0, PROBER_CE, now_ns);
		PROBER_WAIT(p, p->n_cnps > p->mark || p->strange_opcode >= 0,
			    now_ns + p->params.answer_ns / 4);
		if (p->n_cnps == p->mark)
			break;
		say_delay(p, p->t_ns, prober_cnp(p, p->mark));
		say_fields(p, prober_cnp(p, p->mark));
		PROBER_SLEEP(p, p->params.settle_ns);
	}
	if (p->strange_opcode >= 0) {
		findings_say(&p->findings, LINE_NP_OPCODE, VERDICT_FAULT,
			     "0x%02x: no NIC takes that for a CNP", p->strange_opcode);
	} else if (p->j == 0) {
		findings_say(&p->findings, LINE_NP_DELAY, VERDICT_NO_ANSWER,
			     "no CNP: the notification point is off, or there is no DCQCN");
		findings_say_all(&p->findings, LINE_NP_OPCODE, LINE_NP_DEST_QP, VERDICT_NOT_RUN,
				 PROBE_NO_CNPS);
	}
	PROBER_END(p);
}

/* Least distance of two CNPs since entry `since`, to one QP (-1: to any); 0: fewer than two. */
static double
least_interval_ns(const struct prober *p, uint64_t since, int64_t qp)
{
	uint64_t last_ns = 0, least_ns = 0;

	if (p->n_cnps - since > PROBER_LOG)
		since = p->n_cnps - PROBER_LOG;
	for (uint64_t i = since; i < p->n_cnps; i++) {
		const struct prober_cnp *c = prober_cnp(p, i);

		if (qp >= 0 && c->qp != qp)
			continue;
		if (last_ns != 0 && (least_ns == 0 || c->at_ns - last_ns < least_ns))
			least_ns = c->at_ns - last_ns;
		last_ns = c->at_ns;
	}
	return (double)least_ns;
}

static void
say_interval(struct prober *p)
{
	double cnps = (double)(p->n_cnps - p->mark), marks = p->n;
	double least = least_interval_ns(p, p->mark, 0);

	if (cnps == 0)
		return;
	if (cnps * 100 / marks > 90)
		findings_set(&p->findings, LINE_NP_EACH_MARK, VERDICT_DIFFERS, cnps * 100 / marks,
			     "%.1f: a CNP for each mark; the interval is 0, or not kept",
			     cnps * 100 / marks);
	else
		findings_set(&p->findings, LINE_NP_EACH_MARK, VERDICT_OK, cnps * 100 / marks,
			     "%.2f, with a mark each us", cnps * 100 / marks);
	p->a = cnps;
	if (least > 0)
		findings_set(&p->findings, LINE_NP_INTERVAL_QP, VERDICT_MEASURED, least / 1e3,
			     "%.2f us", least / 1e3);
}

bool
probe_np_interval(struct prober *p, uint64_t now_ns)
{
	double n_ns;

	PROBER_BEGIN(p);
	p->a = 0;
	PROBER_SLEEP(p, p->params.settle_ns);
	p->mark = p->n_cnps;
	p->t_ns = now_ns;
	p->n = stream_marks(p);
	for (p->i = 0; p->i < p->n; p->i++) {
		prober_send_next(p, 0, PROBER_CE, now_ns);
		PROBER_WAIT(p, false, p->t_ns + (p->i + 1) * MARK_GAP_NS);
	}
	PROBER_SLEEP(p, p->params.settle_ns);
	if (p->n_cnps == 0) {
		findings_say_all(&p->findings, LINE_NP_INTERVAL_QP, LINE_NP_SECOND_MARK,
				 VERDICT_NOT_RUN, PROBE_NO_CNPS);
		return true;
	}
	say_interval(p);
	n_ns = p->findings.of[LINE_NP_INTERVAL_QP].value * 1e3;
	if (n_ns < 4 * MARK_GAP_NS || p->rtt_ns > n_ns / 4) {
		findings_say(&p->findings, LINE_NP_SECOND_MARK, VERDICT_NOT_RUN,
			     "the interval is too short beside the round trip");
		return true;
	}
	p->mark = p->n_cnps;
	prober_send_next(p, 0, PROBER_CE, now_ns);
	PROBER_WAIT(p, p->n_cnps > p->mark, now_ns + p->params.answer_ns / 4);
	if (p->n_cnps == p->mark)
		return true;
	p->t_ns = now_ns;
	PROBER_SLEEP(p, (uint64_t)(p->findings.of[LINE_NP_INTERVAL_QP].value * 1e3 / 2));
	p->mark = p->n_cnps;
	prober_send_next(p, 0, PROBER_CE, now_ns);
	PROBER_WAIT(p, p->n_cnps > p->mark, now_ns + 2 * p->params.settle_ns);
	if (p->n_cnps > p->mark)
		findings_set(&p->findings, LINE_NP_SECOND_MARK, VERDICT_OK,
			     (double)(now_ns - p->t_ns) / 1e3,
			     "answered %.2f us after the CNP before",
			     (double)(now_ns - p->t_ns) / 1e3);
	else
		findings_say(&p->findings, LINE_NP_SECOND_MARK, VERDICT_DIFFERS,
			     "not answered: the mark is lost");
	PROBER_END(p);
}

/* With two QPs marked at a time, twice as many CNPs as with one: their limits are apart. */
static bool
are_apart(double together, double alone)
{
	return together > 1.5 * alone;
}

static void
say_pair(struct prober *p, enum findings_line line, uint64_t since)
{
	double least = least_interval_ns(p, since, -1);

	findings_set(&p->findings, line, VERDICT_MEASURED, least / 1e3, "%.2f us%s", least / 1e3,
		     are_apart((double)(p->n_cnps - since), p->a) ? ": no common limit" : "");
}

/* Marks to QP 0 and another one in turn, half as far apart. */
static bool
mark_two(struct prober *p, uint32_t other, uint64_t now_ns)
{
	if (p->i >= 2 * stream_marks(p))
		return false;
	prober_send_next(p, p->i % 2 ? other : 0, PROBER_CE, now_ns);
	p->i++;
	return true;
}

bool
probe_np_scope(struct prober *p, uint64_t now_ns)
{
	uint32_t second = p->params.qp_count;

	const char *why_not = p->n_cnps == 0           ? PROBE_NO_CNPS
			      : p->params.qp_count < 2 ? "qp_count is 1"
			      : p->findings.of[LINE_NP_EACH_MARK].verdict == VERDICT_DIFFERS
				      ? "CNPs have no least interval"
				      : NULL;

	if (why_not != NULL) {
		findings_say_all(&p->findings, LINE_NP_SCOPE, LINE_NP_INTERVAL_PORT,
				 VERDICT_NOT_RUN, why_not);
		return true;
	}
	PROBER_BEGIN(p);
	/* p->a: CNPs of the stream to QP 0 alone, from probe_np_interval(). */
	if (p->a == 0)
		return true;
	PROBER_SLEEP(p, p->params.settle_ns);
	p->mark = p->n_cnps;
	p->t_ns = now_ns;
	p->i = 0;
	while (mark_two(p, 1, now_ns))
		PROBER_WAIT(p, false, p->t_ns + p->i * (MARK_GAP_NS / 2));
	PROBER_SLEEP(p, p->params.settle_ns);
	say_pair(p, LINE_NP_INTERVAL_PAIR, p->mark);
	if (are_apart((double)(p->n_cnps - p->mark), p->a)) {
		findings_say(&p->findings, LINE_NP_SCOPE, VERDICT_OK, "by QP");
		findings_say(&p->findings, LINE_NP_INTERVAL_PORT, VERDICT_MEASURED,
			     "CNPs are limited by QP");
		return true;
	}
	if (p->params.second_ip.version == 0) {
		findings_say(&p->findings, LINE_NP_SCOPE, VERDICT_DIFFERS,
			     "by IP pair or by port: second_ip is not set");
		findings_say(&p->findings, LINE_NP_INTERVAL_PORT, VERDICT_NOT_RUN,
			     "second_ip is not set");
		return true;
	}
	PROBER_SLEEP(p, p->params.settle_ns);
	p->mark = p->n_cnps;
	p->t_ns = now_ns;
	p->i = 0;
	while (mark_two(p, second, now_ns))
		PROBER_WAIT(p, false, p->t_ns + p->i * (MARK_GAP_NS / 2));
	PROBER_SLEEP(p, p->params.settle_ns);
	say_pair(p, LINE_NP_INTERVAL_PORT, p->mark);
	findings_say(&p->findings, LINE_NP_SCOPE, VERDICT_DIFFERS, "%s",
		     are_apart((double)(p->n_cnps - p->mark), p->a) ? "by IP pair" : "by port");
	PROBER_END(p);
}

/* Note how many CNPs came for 8 frames that should cause none. */
static void
say_none(struct prober *p, enum findings_line line, enum findings_verdict otherwise,
	 const char *what)
{
	uint64_t n = p->n_cnps - p->mark;

	findings_set(&p->findings, line, ok_or(n == 0, otherwise), (double)n, "%u for 8 marked %s",
		     (unsigned int)n, what);
}

bool
probe_np_others(struct prober *p, uint64_t now_ns)
{
	if (p->n_cnps == 0) {
		findings_say_all(&p->findings, LINE_NP_MARKED_ACK, LINE_NP_BAD_ICRC,
				 VERDICT_NOT_RUN, PROBE_NO_CNPS);
		return true;
	}
	PROBER_BEGIN(p);
	PROBER_SLEEP(p, p->params.settle_ns);
	p->mark = p->n_cnps;
	for (p->i = 0; p->i < 8; p->i++) {
		prober_send_next(p, 0, PROBER_CE | PROBER_BAD_ICRC, now_ns);
		PROBER_SLEEP(p, 10 * MARK_GAP_NS);
	}
	PROBER_SLEEP(p, p->params.settle_ns);
	say_none(p, LINE_NP_BAD_ICRC, VERDICT_FAULT, "requests with a wrong ICRC");
	if (p->qps[0].synced) {
		p->mark = p->n_cnps;
		for (p->i = 0; p->i < 8; p->i++) {
			/* Of what was acknowledged before: it changes nothing else. */
			prober_send_answer(p, 0, AETH_ACK, p->qps[0].held_psn - 1, PROBER_CE,
					   now_ns);
			PROBER_SLEEP(p, 10 * MARK_GAP_NS);
		}
		PROBER_SLEEP(p, p->params.settle_ns);
		say_none(p, LINE_NP_MARKED_ACK, VERDICT_DIFFERS, "ACKs");
	}
	p->mark = p->n_cnps;
	for (p->i = 0; p->i < 8; p->i++) {
		prober_send_cnp(p, 0, PROBER_CE, now_ns);
		PROBER_SLEEP(p, 10 * MARK_GAP_NS);
	}
	PROBER_SLEEP(p, p->params.settle_ns);
	say_none(p, LINE_NP_MARKED_CNP, VERDICT_FAULT, "CNPs");
	PROBER_END(p);
}
