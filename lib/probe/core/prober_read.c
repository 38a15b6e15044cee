/* SPDX-License-Identifier: BSD-3-Clause */
/* The prober as the responder of READs: it answers them slowly, and may lose a packet. */
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "probe/core/prober_core.h"

/* Distance of the packets of a response: little of any link. */
#define ANSWER_GAP_NS (20 * NS_PER_US)
/* Of a held QP: below any retransmission timeout in use. */
#define HELD_GAP_NS (2 * NS_PER_MS)
/* Responses that are long enough to lose a packet that others follow. */
#define LONG_PACKETS 3u

static struct prober_read *
read_at(struct prober_reads *r, uint32_t i)
{
	return &r->of[(r->first + i) % PROBER_MOST_READS];
}

/* The NIC asks for a PSN that it was sent before: it repeats all later READs too. */
static void
forget_from(struct prober_reads *r, uint32_t psn)
{
	while (r->n > 0 && psn_diff(read_at(r, r->n - 1)->psn, psn) >= 0)
		r->n--;
	/* What is left of the READ that has the PSN. */
	if (r->n > 0 &&
	    psn_diff(read_at(r, r->n - 1)->psn + read_at(r, r->n - 1)->packets, psn) > 0)
		r->n--;
}

void
prober_on_read(struct prober *p, uint32_t qp, const struct roce_view *v, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[qp];
	struct prober_reads *r = &q->reads;
	uint32_t mtu = p->params.mtu_bytes, bytes = v->reth_dma_bytes;
	uint32_t packets = bytes == 0 ? 1 : bytes / mtu + (bytes % mtu != 0);
	bool is_new = v->psn == q->epsn;

	if (!is_new)
		forget_from(r, v->psn);
	if (r->is_lost && psn_diff(v->psn, r->lost_psn) <= 0) {
		r->is_lost = false;
		r->is_asked_again = true;
		r->again_psn = v->psn;
		r->again_ns = now_ns;
	}
	/* More than any NIC may have outstanding: lost, and asked for again. */
	if (r->n == PROBER_MOST_READS || packets > PSN_MASK / 2)
		return;
	*read_at(r, r->n++) = (struct prober_read){v->psn, packets, bytes, 0};
	if (is_new) {
		q->epsn = (q->epsn + packets) & PSN_MASK;
		q->msn = (q->msn + 1) & 0xFFFFFFu;
		q->naked = false;
	}
	r->next_ns = max_u64(r->next_ns, now_ns);
	p->reads_ns = min_u64(p->reads_ns, r->next_ns);
	node_wake(&p->node, 0);
}

static void
send_one(struct prober *p, uint32_t qp, uint64_t now_ns)
{
	struct prober_reads *r = &p->qps[qp].reads;
	struct prober_read *read = read_at(r, 0);

	if (r->lose_next && read->sent == 1 && read->packets >= LONG_PACKETS) {
		r->lose_next = false;
		r->is_lost = true;
		r->lost_psn = (read->psn + read->sent++) & PSN_MASK;
		r->gap_ns = now_ns;
	}
	prober_send_response(p, qp, read, now_ns);
	if (++read->sent == read->packets) {
		r->first++;
		r->n--;
	}
}

void
prober_tend_reads(struct prober *p, uint64_t now_ns)
{
	if (now_ns < p->reads_ns)
		return;
	p->reads_ns = NEVER_NS;
	for (uint32_t i = 0; i < p->n_qps; i++) {
		struct prober_qp *q = &p->qps[i];

		if (q->reads.n == 0 || q->mode == PROBER_SILENT)
			continue;
		if (now_ns >= q->reads.next_ns) {
			send_one(p, i, now_ns);
			q->reads.next_ns =
				now_ns + (q->mode == PROBER_HOLD ? HELD_GAP_NS : ANSWER_GAP_NS);
		}
		if (q->reads.n > 0)
			p->reads_ns = min_u64(p->reads_ns, q->reads.next_ns);
	}
}
