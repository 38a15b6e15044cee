/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/experiments/probe_experiments.h"

#include <math.h>
#include <stdio.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "probe/experiments/asking.h"

#define HELLO_REQUESTS 8u

/* Why nothing of the NIC was heard. */
static void
say_silence(struct prober *p)
{
	const struct prober_stats *s = &p->stats;
	char *why = p->trouble;

	if (counter_read(&s->rx_unknown_qp) > 0)
		snprintf(why, PROBER_TROUBLE,
			 "the NIC sends to QP %u, but the prober's first QP is local_qpn = %u",
			 p->strange_qpn, p->params.local_qpn);
	else if (counter_read(&s->rx_wrong_peer) > 0)
		snprintf(why, PROBER_TROUBLE, "RoCEv2 frames come, but none from peer_ip");
	else if (counter_read(&s->rx_bad_icrc) > 0)
		snprintf(why, PROBER_TROUBLE, "RoCEv2 frames come, but all with a wrong ICRC");
	else
		snprintf(why, PROBER_TROUBLE,
			 "the NIC sends nothing to the prober: start its flow; see peer_ip, "
			 "peer_mac and vlan_id");
}

/* The NIC refuses requests for good: there is no use in more of them. */
static void
say_refusal(struct prober *p, uint8_t syndrome)
{
	static const char *const nak[] = {"invalid request: see verb",
					  "remote access error: see remote_addr and rkey",
					  "remote operational error", "invalid RD request"};

	if (syndrome >> 5 == AETH_RNR_NAK >> 5)
		snprintf(p->trouble, PROBER_TROUBLE,
			 "the NIC is not ready to receive (RNR NAK): post receives, or verb = "
			 "write");
	else if (syndrome > AETH_NAK_PSN_SEQ && syndrome - AETH_NAK_INVALID_REQUEST < 4)
		snprintf(p->trouble, PROBER_TROUBLE, "the NIC refuses requests with NAK 0x%02x, %s",
			 syndrome, nak[syndrome - AETH_NAK_INVALID_REQUEST]);
}

#define IS_HEARD_POLL_NS (100 * NS_PER_MS)

/* Does an experiment send requests to a QP? Others may have no memory for them. */
static bool
is_asked(const struct prober *p, uint32_t qp)
{
	return qp < 2 || qp == p->params.qp_count;
}

/* Learn the PSNs that the NIC expects, and the shortest round trip. */
static bool
hello(struct prober *p, uint64_t now_ns)
{
	const struct prober_answer *a;

	PROBER_BEGIN(p);
	/* A NIC that only answers is heard too, if its address is known. */
	for (p->t2_ns = now_ns; !p->is_heard && now_ns < p->t2_ns + p->params.wait_ns;) {
		if (p->knows_peer)
			prober_send_request(p, 0, p->qps[0].next_psn, 64, 0, now_ns);
		PROBER_WAIT(p, p->is_heard, now_ns + IS_HEARD_POLL_NS);
	}
	if (!p->is_heard) {
		say_silence(p);
		return true;
	}
	if (p->n_answers > 0 && prober_answer(p, 0)->qp == 0)
		say_refusal(p, prober_answer(p, 0)->syndrome);
	if (p->trouble[0] != '\0')
		return true;
	for (p->i = 0; p->i < p->n_qps; p->i++) {
		if (!is_asked(p, p->i))
			continue;
		for (p->j = 0; p->j < HELLO_REQUESTS; p->j++) {
			p->mark = p->n_answers;
			p->t_ns = now_ns;
			prober_send_next(p, p->i, 0, now_ns);
			PROBER_WAIT(p, probe_answer_to(p, p->i, p->mark) != NULL,
				    now_ns + p->params.answer_ns / 4);
			a = probe_answer_to(p, p->i, p->mark);
			if (a == NULL)
				break;
			if (p->i == 0)
				say_refusal(p, a->syndrome);
			if (p->trouble[0] != '\0')
				return true;
			PROBER_SLEEP(p, 10 * NS_PER_US);
		}
	}
	/* The round trip of a NIC whose own data is held: no answer waits for it. */
	do
		PROBER_SLEEP(p, p->params.settle_ns);
	while (!prober_is_quiet(p) && now_ns < p->begin_ns + p->params.wait_ns);
	PROBE_RESYNC(p, 0);
	/* Synced by one answer: more of them follow. */
	for (p->j = probe_is_synced(p, 0) ? 0 : HELLO_REQUESTS; p->j < HELLO_REQUESTS; p->j++) {
		p->mark = p->n_answers;
		p->t_ns = now_ns;
		p->n = p->qps[0].next_psn;
		p->frames = counter_read(&p->stats.rx_packets);
		prober_send_next(p, 0, 0, now_ns);
		PROBER_WAIT(p, probe_is_acknowledged(p, 0, p->mark, p->n),
			    now_ns + p->params.answer_ns / 4);
		if (!probe_is_acknowledged(p, 0, p->mark, p->n))
			break;
		a = prober_answer(p, p->n_answers - 1);
		probe_least_add(p, &p->trip, (double)(a->at_ns - p->t_ns), a->frame);
		p->rtt_ns = p->trip.ns;
		p->rtt_spread_ns = p->trip.most_ns - p->trip.ns;
		PROBER_SLEEP(p, 10 * NS_PER_US);
	}
	PROBER_END(p);
}

const struct prober_experiment prober_experiments[] = {
	/* Without lines. */
	{"hello", hello, FINDINGS_LINES, (enum findings_line)0, PROBER_MAX_QPS},
	{"rp_first", probe_rp_first, LINE_RP_BEFORE, LINE_RP_BEFORE, 4},
	{"rp_alpha", probe_rp_alpha, LINE_RP_DECAY, LINE_RP_K, 4},
	{"rp_many", probe_rp_many, LINE_RP_AFTER_1, LINE_RP_AFTER_100, 8},
	{"rp_back_off", probe_rp_back_off, LINE_RP_BACK_OFF, LINE_RP_STAGES, 8},
	{"rp_recovery", probe_rp_recovery, LINE_RP_TIMER, LINE_RP_HAI, 8},
	{"rp_floor", probe_rp_floor, LINE_RP_FLOOR, LINE_RP_FLOOR, 4},
	{"rp_others", probe_rp_others, LINE_RP_OTHERS, LINE_RP_OTHERS, 4},
	{"np_first", probe_np_first, LINE_NP_DELAY, LINE_NP_DEST_QP, 4},
	{"np_interval", probe_np_interval, LINE_NP_INTERVAL_QP, LINE_NP_SECOND_MARK, 4},
	{"np_scope", probe_np_scope, LINE_NP_SCOPE, LINE_NP_INTERVAL_PORT, 4},
	{"np_others", probe_np_others, LINE_NP_MARKED_ACK, LINE_NP_BAD_ICRC, 4},
	{"tr_nak", probe_tr_nak, LINE_TR_NAK_DELAY, LINE_TR_NAK_ONCE, 4},
	{"tr_reorder", probe_tr_reorder, LINE_TR_REORDER_1, LINE_TR_REORDER_8, 4},
	{"tr_answers", probe_tr_answers, LINE_TR_DUPLICATE, LINE_TR_BAD_ICRC, 4},
	{"tr_loss", probe_tr_loss, LINE_TR_RESEND_DELAY, LINE_TR_LOST_ACK, 4},
	{"tr_timeout", probe_tr_timeout, LINE_TR_TIMEOUT, LINE_TR_BACK_OFF, 16},
	{"tr_last", probe_tr_last, LINE_TR_LAST, LINE_TR_LAST_FROM, 8},
	{"tr_read", probe_tr_read, LINE_TR_READ_DELAY, LINE_TR_READ_FROM, 8},
	{"pfc", probe_pfc, LINE_PFC_STOP, LINE_PFC_LINK, 4},
	{"pfc_sent", probe_pfc_sent, LINE_PFC_SENT, LINE_PFC_SENT_PRIOS, 4},
	{"tr_rnr", probe_tr_rnr, LINE_TR_RNR_WAIT, LINE_TR_RNR_NAK, 16},
	{"pitfalls", probe_pitfalls, LINE_PIT_SPORT_RANGE, LINE_PIT_MTU_LONG, 4},
};
const unsigned int prober_experiments_n = ARRAY_LEN(prober_experiments);
