/* SPDX-License-Identifier: BSD-3-Clause */
/* The notification point: marked requests to the NIC, and its CNPs. */
#include <math.h>
#include <stdlib.h>

#include "base/numbers/units.h"
#include "probe/experiments/asking.h"
#include "probe/experiments/probe_experiments.h"
#include "wire/frame/ecn.h"

/* Time between two marked requests of a stream: less than any N of use. */
#define MARK_GAP_NS 1000u
/* A CNP that comes later than this is late: the paper's N. */
#define LATE_NS 50000.0
#define SLOW_NS 10000.0
#define ROUNDS 8u

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
add_delay(struct prober *p, const struct prober_cnp *c)
{
	probe_least_add(p, &p->least, (double)(c->at_ns - p->t_ns) - p->rtt_ns, c->frame);
	p->cnp_delay_ns = p->least.ns;
}

/* The least of some rounds is that of the NIC, not of a busy core. */
static void
say_delay(struct prober *p)
{
	/* Rounds that differ do so by lateness. */
	prober_note_late(p, (uint64_t)(p->least.most_ns - p->least.ns));
	probe_say_delay(p, LINE_NP_DELAY, p->least.ns,
			(struct probe_limits){SLOW_NS, LATE_NS, probe_frame_doubt_ns(p, &p->least)},
			"after the ACK of an unmarked request would come");
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
	p->least = (struct prober_least){0};
	for (p->j = 0; p->j < ROUNDS; p->j++) {
		p->mark = p->n_cnps;
		p->strange_opcode = -1;
		p->t_ns = now_ns;
		p->frames = counter_read(&p->stats.rx_packets);
		prober_send_next(p, 0, PROBER_CE, now_ns);
		PROBER_WAIT(p, p->n_cnps > p->mark || p->strange_opcode >= 0,
			    now_ns + p->params.answer_ns / 4);
		if (p->n_cnps == p->mark)
			break;
		add_delay(p, prober_cnp(p, p->mark));
		say_fields(p, prober_cnp(p, p->mark));
		PROBER_SLEEP(p, p->params.settle_ns);
	}
	if (p->least.n > 0)
		say_delay(p);
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

/* Distances of CNPs under constant marks. */
struct distances {
	uint32_t n;
	double mean_ns;
	double low_ns, high_ns; /* nine in ten are between these */
	double stray_ns;        /* of all, from the mean */
};

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of CNPs since entry `since`, to one QP (-1: to any). */
static struct distances
distances_since(const struct prober *p, uint64_t since, int64_t qp)
{
	static double ns[PROBER_LOG];
	struct distances d = {0};
	uint64_t first_ns = 0, last_ns = 0;

	for (uint64_t i = prober_oldest(p->n_cnps, since); i < p->n_cnps; i++) {
		const struct prober_cnp *c = prober_cnp(p, i);

		if (qp >= 0 && c->qp != qp)
			continue;
		if (first_ns == 0)
			first_ns = c->at_ns;
		else
			ns[d.n++] = (double)(c->at_ns - last_ns);
		last_ns = c->at_ns;
	}
	if (d.n == 0)
		return d;
	qsort(ns, d.n, sizeof(*ns), compare);
	d.mean_ns = (double)(last_ns - first_ns) / d.n;
	d.stray_ns = fmax(ns[d.n - 1] - d.mean_ns, d.mean_ns - ns[0]);
	d.low_ns = ns[d.n / 20];
	d.high_ns = ns[d.n - 1 - d.n / 20];
	return d;
}

/* An interval is known if there are some distances, and all are alike. */
#define LEAST_DISTANCES 4u
/* One at each end of a stream may be more than its share. */
#define LEAST_CNPS 40
#define SHARE 0.05

static void
say_distances(struct prober *p, enum findings_line line, const struct distances *d)
{
	if (d->n < LEAST_DISTANCES)
		findings_say(&p->findings, line, VERDICT_NOT_MEASURED,
			     "%u distances of CNPs; settle_ns is short beside the interval", d->n);
	else if (d->mean_ns < MARK_GAP_NS * 1.05)
		findings_say(&p->findings, line, VERDICT_NOT_MEASURED,
			     "%.2f us or less, the distance of marks", MARK_GAP_NS / 1e3);
	else if (d->low_ns < (1 - SHARE) * d->mean_ns || d->high_ns > (1 + SHARE) * d->mean_ns)
		findings_say(&p->findings, line, VERDICT_NOT_MEASURED,
			     "%.2f us on average, but from %.2f to %.2f us", d->mean_ns / 1e3,
			     d->low_ns / 1e3, d->high_ns / 1e3);
	else
		findings_set(&p->findings, line, VERDICT_MEASURED, d->mean_ns / 1e3, "%.2f us",
			     d->mean_ns / 1e3);
}

static void
say_interval(struct prober *p)
{
	double cnps = (double)(p->n_cnps - p->mark), marks = p->n;
	struct distances d = distances_since(p, p->mark, 0);

	if (cnps == 0)
		return;
	if (cnps * 100 / marks > 90)
		findings_set(&p->findings, LINE_NP_EACH_MARK, VERDICT_DIFFERS, cnps * 100 / marks,
			     "%.1f: a CNP for each mark; the interval is 0, or not kept",
			     cnps * 100 / marks);
	else if (cnps < LEAST_CNPS)
		findings_say(&p->findings, LINE_NP_EACH_MARK, VERDICT_OK,
			     "less than %.2f, with a mark each us", cnps * 100 / marks);
	else
		findings_set(&p->findings, LINE_NP_EACH_MARK, VERDICT_OK, cnps * 100 / marks,
			     "%.2f, with a mark each us", cnps * 100 / marks);
	p->a = cnps;
	/* The more distances, the nearer to the largest error is the largest one that was seen. */
	p->b = d.n > 1 ? d.stray_ns / (1 - 1 / sqrt(d.n)) : 0;
	say_distances(p, LINE_NP_INTERVAL_QP, &d);
}

/* N, if it is known. */
static double
interval_ns(const struct prober *p)
{
	const struct finding *f = &p->findings.of[LINE_NP_INTERVAL_QP];

	return f->has_value ? f->value * 1e3 : 0;
}

/* p->b: by how much one distance of CNPs may be wrong. */
static void
say_second_mark(struct prober *p, double after_ns)
{
	double doubt_ns = (double)(p->late_ns + prober_frame_ns(p)) + p->rtt_spread_ns;

	if (fmax(doubt_ns, p->b) > SHARE * after_ns)
		findings_say(&p->findings, LINE_NP_SECOND_MARK, VERDICT_OK, "answered");
	else
		findings_set(&p->findings, LINE_NP_SECOND_MARK, VERDICT_OK, after_ns / 1e3,
			     "answered %.2f us after the CNP before", after_ns / 1e3);
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
	n_ns = interval_ns(p);
	if (n_ns == 0) {
		findings_say(&p->findings, LINE_NP_SECOND_MARK, VERDICT_NOT_RUN,
			     "the interval is not known");
		return true;
	}
	/* The mark must reach the NIC, and its CNP the prober, well within the interval. */
	if (n_ns < 4 * MARK_GAP_NS || p->rtt_ns + p->cnp_delay_ns > n_ns / 4) {
		findings_say(&p->findings, LINE_NP_SECOND_MARK, VERDICT_NOT_RUN,
			     "the interval is too short beside the round trip and the delay of "
			     "CNPs");
		return true;
	}
	p->mark = p->n_cnps;
	prober_send_next(p, 0, PROBER_CE, now_ns);
	PROBER_WAIT(p, p->n_cnps > p->mark, now_ns + p->params.answer_ns / 4);
	if (p->n_cnps == p->mark)
		return true;
	p->t_ns = now_ns;
	PROBER_SLEEP(p, (uint64_t)(interval_ns(p) / 2));
	p->mark = p->n_cnps;
	prober_send_next(p, 0, PROBER_CE, now_ns);
	PROBER_WAIT(p, p->n_cnps > p->mark, now_ns + 2 * p->params.settle_ns);
	if (p->n_cnps > p->mark)
		say_second_mark(p, (double)(now_ns - p->t_ns));
	else
		findings_say(&p->findings, LINE_NP_SECOND_MARK, VERDICT_DIFFERS,
			     "not answered: the mark is lost");
	PROBER_END(p);
}

/*
 * With two QPs marked at a time there are twice as many CNPs as with one if their limits are apart,
 * and as many if they are one.
 */
enum apart { TOGETHER, APART, UNCLEAR };

static enum apart
how_apart(const struct prober *p)
{
	double times = (double)(p->n_cnps - p->mark) / p->a;

	return times > 1.8 ? APART : times < 1.2 ? TOGETHER : UNCLEAR;
}

static void
say_pair(struct prober *p, enum findings_line line)
{
	struct distances d = distances_since(p, p->mark, -1);

	if (how_apart(p) == APART)
		findings_say(&p->findings, line, VERDICT_MEASURED, "no common limit");
	else
		say_distances(p, line, &d);
}

static void
say_scope(struct prober *p, enum findings_verdict verdict, const char *scope)
{
	if (how_apart(p) == UNCLEAR)
		findings_say(&p->findings, LINE_NP_SCOPE, VERDICT_NOT_MEASURED,
			     "two QPs have %.2f times as many CNPs as one",
			     (double)(p->n_cnps - p->mark) / p->a);
	else
		findings_say(&p->findings, LINE_NP_SCOPE, verdict, "%s", scope);
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
	say_pair(p, LINE_NP_INTERVAL_PAIR);
	if (how_apart(p) != TOGETHER) {
		say_scope(p, VERDICT_OK, "by QP");
		findings_say(&p->findings, LINE_NP_INTERVAL_PORT,
			     how_apart(p) == APART ? VERDICT_MEASURED : VERDICT_NOT_RUN,
			     how_apart(p) == APART ? "CNPs are limited by QP"
						   : "the scope is not known");
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
	say_pair(p, LINE_NP_INTERVAL_PORT);
	say_scope(p, VERDICT_DIFFERS, how_apart(p) == APART ? "by IP pair" : "by port");
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
