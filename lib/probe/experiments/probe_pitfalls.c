/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings that break a network of RDMA NICs without an error anywhere (Collie, NSDI 2022). */
#include "probe/experiments/asking.h"
#include "probe/experiments/probe_experiments.h"
#include "wire/frame/ecn.h"

#define FIRST_SPORT 49152u

/* Number of different source ports, and of QPs that sent data. */
static void
count_sports(const struct prober *p, uint32_t *ports, uint32_t *qps)
{
	*ports = *qps = 0;
	for (uint32_t i = 0; i < p->n_qps; i++) {
		bool seen = false;

		if (!p->qps[i].has_sport)
			continue;
		++*qps;
		for (uint32_t j = 0; j < i; j++)
			seen |= p->qps[j].has_sport && p->qps[j].sport == p->qps[i].sport;
		*ports += !seen;
	}
}

static void
say_sports(struct prober *p)
{
	const struct prober_qp *q = &p->qps[0];
	uint32_t ports, qps;

	findings_say(&p->findings, LINE_PIT_SPORT_RANGE,
		     q->sport_varies           ? VERDICT_FAULT
		     : q->sport >= FIRST_SPORT ? VERDICT_OK
					       : VERDICT_DIFFERS,
		     q->sport_varies ? "%u, but not constant: ECMP reorders the QP" : "%u",
		     q->sport);
	count_sports(p, &ports, &qps);
	if (qps < 2)
		findings_say(&p->findings, LINE_PIT_SPORT_QP, VERDICT_NOT_RUN, "%u QP sends data",
			     qps);
	else
		findings_set(&p->findings, LINE_PIT_SPORT_QP,
			     ports > 1 ? VERDICT_OK : VERDICT_FAULT, ports,
			     ports > 1 ? "%u of %u QPs"
				       : "%u of %u QPs: no entropy, ECMP puts all on one path",
			     ports, qps);
}

static void
say_headers(struct prober *p)
{
	static const char *const ecn[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};
	struct findings *f = &p->findings;

	findings_set(f, LINE_PIT_TTL, p->ttl >= 64 ? VERDICT_OK : VERDICT_DIFFERS, p->ttl, "%u",
		     p->ttl);
	if (p->params.peer_ip.version == 4)
		findings_say(f, LINE_PIT_DF, p->df ? VERDICT_OK : VERDICT_DIFFERS, "%s",
			     p->df ? "set" : "not set");
	else
		findings_say(f, LINE_PIT_DF, VERDICT_NOT_RUN, "IPv6 routers do not fragment");
	findings_say(f, LINE_PIT_ECT,
		     p->data_ecn == ECN_ECT0 || p->data_ecn == ECN_ECT1 ? VERDICT_OK
									: VERDICT_FAULT,
		     "%s%s", ecn[p->data_ecn & 3],
		     p->data_ecn == ECN_NOT_ECT ? ": switches drop instead of marking" : "");
	if (p->middle_bytes == 0)
		findings_say(f, LINE_PIT_MTU, VERDICT_NOT_RUN, "no message of several packets");
	else
		findings_set(f, LINE_PIT_MTU,
			     p->middle_bytes == p->params.mtu_bytes ? VERDICT_OK : VERDICT_FAULT,
			     p->middle_bytes,
			     p->middle_bytes == p->params.mtu_bytes
				     ? "%u, as the prober has"
				     : "%u: the prober has %u, the ends disagree",
			     p->middle_bytes, p->params.mtu_bytes);
}

bool
probe_pitfalls(struct prober *p, uint64_t now_ns)
{
	const struct prober_answer *a;

	PROBER_BEGIN(p);
	if (p->qps[0].packets > 0) {
		say_sports(p);
		say_headers(p);
	}
	if (p->params.mtu_bytes == 4096) {
		findings_say(&p->findings, LINE_PIT_MTU_LONG, VERDICT_NOT_RUN,
			     "4096 is the largest MTU");
		return true;
	}
	PROBER_SLEEP(p, p->params.settle_ns);
	PROBE_RESYNC(p, 0);
	if (!probe_is_synced(p, 0))
		return true;
	p->mark = p->n_answers;
	prober_send_request(p, 0, p->qps[0].next_psn, (uint16_t)(p->params.mtu_bytes + 4), 0,
			    now_ns);
	PROBER_WAIT(p, probe_answer_to(p, 0, p->mark) != NULL, now_ns + p->params.answer_ns / 4);
	a = probe_answer_to(p, 0, p->mark);
	findings_say(&p->findings, LINE_PIT_MTU_LONG,
		     a != NULL && a->syndrome >> 5 == 0 ? VERDICT_DIFFERS : VERDICT_OK,
		     a == NULL               ? "dropped"
		     : a->syndrome >> 5 == 0 ? "accepted"
					     : "NAK 0x%02x",
		     a == NULL ? 0 : a->syndrome);
	PROBER_END(p);
}
