/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/experiments/asking.h"

const struct prober_answer *
probe_answer_to(const struct prober *p, uint32_t qp, uint64_t since)
{
	for (uint64_t i = since; i < p->n_answers; i++)
		if (prober_answer(p, i)->qp == qp)
			return prober_answer(p, i);
	return NULL;
}

void
probe_resync(struct prober *p, uint32_t qp, uint64_t now_ns)
{
	p->qps[qp].next_psn = p->qps[qp].acked_psn;
	p->mark = p->n_answers;
	prober_send_next(p, qp, 0, now_ns);
}
