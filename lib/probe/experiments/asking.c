/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/experiments/asking.h"

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
