/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/messages/nic_shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/port/port_state.h"

static struct nic_shared *
shared_of(const struct nic *nic, uint32_t item)
{
	return nic_flow_of(nic, &nic->qps[item])->shared;
}

/* A resting QP ends: no message is left. */
static void
end(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	nic->qps[item].flags |= QP_DONE;
	nic->qps[item].place = QP_IDLE;
	nic->pending--;
	nic_measure_end(nic, item, now_ns);
}

static uint32_t
pop(struct nic_shared *s)
{
	uint32_t item = s->resting[s->head];

	s->head = s->head + 1 == s->n ? 0 : s->head + 1;
	s->n_resting--;
	return item;
}

/* A QP without a message: it awaits the next one, or rests, or ends. */
static void
dispose(struct nic *nic, struct nic_shared *s, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t next_ns = shared_next_ns(s);

	qp->bucket.updated_ns = ARRIVALS_LAST_NS;
	if (next_ns == NEVER_NS) {
		end(nic, item, now_ns);
	} else if (s->awaiting == QP_NONE) {
		s->awaiting = item;
		qp->bucket.updated_ns = max_u64(next_ns, now_ns);
	} else {
		s->resting[(s->head + s->n_resting++) % s->n] = item;
	}
}

/* After a QP has taken a message: choose the QP for the next one. @return it, or QP_NONE. */
static uint32_t
pass_on(struct nic *nic, struct nic_shared *s, uint64_t now_ns)
{
	bool ends = shared_next_ns(s) == NEVER_NS;

	s->awaiting = QP_NONE;
	while (s->n_resting > 0 && (ends || s->awaiting == QP_NONE))
		dispose(nic, s, pop(s), now_ns);
	return s->awaiting;
}

uint32_t
nic_shared_take(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_shared *s = shared_of(nic, item);
	struct open_loop *l = shared_earliest(s->loops, s->n_loops);
	struct shared_taken *taken = &s->taken[item - s->first];
	struct nic_qp *qp = &nic->qps[item];
	struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct workload_by_qp *sizes = flow->params.work.by_qp;
	uint32_t qpn = nic_qpn(nic, qp);

	assert(s->awaiting == item && qp->acked_seq == qp->next_seq);
	taken->n++;
	taken->arrived_ns = l->next_ns;
	sizes->bytes[qpn - sizes->first_qpn] = open_loop_take(l);
	qp->acked_end = qp->acked_seq + qp_packets(flow, qpn, qp->acked_msg);
	memset(&qp->cc, 0, sizeof(qp->cc));
	if (nic->cc_more != NULL)
		memset(nic->cc_more + (size_t)item * nic->needs.more_bytes, 0,
		       nic->needs.more_bytes);
	return pass_on(nic, s, now_ns);
}

bool
nic_shared_next(struct nic *nic, uint32_t item, uint64_t *arrived_ns, uint64_t now_ns)
{
	struct nic_shared *s = shared_of(nic, item);
	const struct shared_taken *taken = &s->taken[item - s->first];
	struct nic_qp *qp = &nic->qps[item];
	struct qp_flow *flow = nic_flow_of(nic, qp);

	if (qp_next_message(qp) < taken->n) {
		*arrived_ns = taken->arrived_ns;
		return true;
	}
	if (qp->acked_seq != qp->next_seq)
		return false;
	qp->flags &= (uint16_t)~QP_STARTED;
	__atomic_store_n(&flow->ended_ns, now_ns, __ATOMIC_RELAXED);
	if (s->awaiting == QP_NONE && shared_next_ns(s) < now_ns && flow->times != NULL)
		counter_inc(&flow->times->waited);
	nic_becomes_idle(nic->port);
	dispose(nic, s, item, now_ns);
	return false;
}

int
nic_shared_begin(struct nic *nic, uint32_t first, uint32_t n, const struct open_loop *loops,
		 uint32_t n_loops)
{
	struct qp_flow *flow = nic_flow_of(nic, &nic->qps[first]);
	struct nic_shared *s = calloc(1, sizeof(*s));

	assert(flow->shared == NULL);
	if (s == NULL)
		return -ENOMEM;
	flow->shared = s;
	*s = (struct nic_shared){
		.first = first,
		.n = n,
		.awaiting = QP_NONE,
		.resting = calloc(n, sizeof(*s->resting)),
		.taken = calloc(n, sizeof(*s->taken)),
		.n_loops = n_loops,
		.loops = malloc(n_loops * sizeof(*s->loops)),
	};
	if (s->resting == NULL || s->taken == NULL || s->loops == NULL)
		return -ENOMEM;
	memcpy(s->loops, loops, n_loops * sizeof(*loops));
	for (uint32_t i = 0; i < n; i++) {
		assert(nic_flow_of(nic, &nic->qps[first + i]) == flow &&
		       nic->qps[first + i].place == QP_IDLE);
		dispose(nic, s, first + i, 0);
	}
	return 0;
}

void
nic_shared_free(struct nic *nic)
{
	for (uint32_t i = 0; i < nic->n_flows; i++) {
		struct nic_shared *s = nic->flows[i].shared;

		if (s == NULL)
			continue;
		free(s->resting);
		free(s->taken);
		free(s->loops);
		free(s);
	}
}
