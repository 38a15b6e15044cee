/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <rte_mbuf.h>

#include "probe/core/prober_core.h"
#include "wire/bytes/le.h"
#include "wire/frame/ecn.h"
#include "wire/frame/l2.h"
#include "wire/link/pfc_frame.h"

static struct rte_mbuf *
take_mbuf(struct prober *p)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool);

	if (m == NULL)
		counter_inc(&p->stats.no_mbuf);
	return m;
}

/* A quarter of the packet memory: the rest receives, whatever a peer asks for. */
#define MOST_WAITING 2048u

void
prober_push(struct prober *p, struct rte_mbuf *m)
{
	if (p->fifo.count >= MOST_WAITING) {
		counter_inc(&p->stats.tx_full);
		rte_pktmbuf_free(m);
		return;
	}
	pkt_fifo_push(&p->fifo, m);
	node_wake(&p->node, 0);
}

static void
push(struct prober *p, struct rte_mbuf *m, size_t bytes)
{
	m->data_len = (uint16_t)bytes;
	m->pkt_len = m->data_len;
	prober_push(p, m);
}

/* Build a RoCEv2 frame on a path, and queue it. */
static void
send_roce(struct prober *p, const struct roce_path *to, const struct roce_fields *f,
	  uint16_t payload_bytes, unsigned int how)
{
	static const uint8_t zeros[4096];
	struct roce_path path = *to;
	struct rte_mbuf *m = take_mbuf(p);
	uint8_t *buf;
	size_t n;

	if (m == NULL)
		return;
	if (how & PROBER_CE)
		path.ecn = ECN_CE;
	buf = rte_pktmbuf_mtod(m, uint8_t *);
	n = roce_build(buf, rte_pktmbuf_tailroom(m), &path, f, zeros, payload_bytes);
	if (n == 0) {
		rte_pktmbuf_free(m);
		counter_inc(&p->stats.no_mbuf);
		return;
	}
	if (how & PROBER_BAD_ICRC)
		buf[n - 1] ^= 0xff;
	push(p, m, l2_pad(buf, n));
}

static void
send_request(struct prober *p, uint32_t qp, enum roce_opcode opcode, uint32_t psn,
	     uint16_t payload_bytes, unsigned int how)
{
	struct roce_fields f = {
		.opcode = (uint8_t)opcode,
		.ack_req = true,
		.migreq = true,
		.psn = psn & PSN_MASK,
		.reth_va = p->params.remote_addr,
		.reth_rkey = p->params.rkey,
		.reth_dma_bytes = payload_bytes,
	};

	send_roce(p, &p->qps[qp].path, &f, payload_bytes, how);
}

void
prober_send_request(struct prober *p, uint32_t qp, uint32_t psn, uint16_t payload_bytes,
		    unsigned int how, uint64_t now_ns)
{
	(void)now_ns;
	send_request(p, qp, p->params.verb == PROBER_SEND ? RC_SEND_ONLY : RC_WRITE_ONLY, psn,
		     payload_bytes, how);
}

void
prober_send_next(struct prober *p, uint32_t qp, unsigned int how, uint64_t now_ns)
{
	prober_send_request(p, qp, p->qps[qp].next_psn, 64, how, now_ns);
	if (how & PROBER_BAD_ICRC)
		return;
	if (qp == 0)
		prober_begin_ping(p, p->qps[qp].next_psn, now_ns);
	p->qps[qp].next_psn = (p->qps[qp].next_psn + 1) & PSN_MASK;
}

void
prober_send_message(struct prober *p, uint32_t qp, uint64_t now_ns)
{
	(void)now_ns;
	send_request(p, qp, RC_SEND_ONLY, p->qps[qp].next_psn, 64, 0);
	p->qps[qp].next_psn = (p->qps[qp].next_psn + 1) & PSN_MASK;
}

void
prober_send_cnp(struct prober *p, uint32_t qp, unsigned int how, uint64_t now_ns)
{
	struct roce_path path = p->qps[qp].path;
	struct roce_fields f = {.opcode = ROCE_CNP, .becn = true};

	(void)now_ns;
	path.dscp = p->params.cnp_dscp;
	send_roce(p, &path, &f, 0, how);
}

void
prober_send_answer(struct prober *p, uint32_t qp, uint8_t syndrome, uint32_t psn, unsigned int how,
		   uint64_t now_ns)
{
	struct roce_fields f = {
		.opcode = RC_ACK,
		.migreq = true,
		.psn = psn & PSN_MASK,
		.aeth_syndrome = syndrome,
		.aeth_msn = p->qps[qp].msn,
	};

	(void)now_ns;
	send_roce(p, &p->qps[qp].path, &f, 0, how);
}

void
prober_send_response(struct prober *p, uint32_t qp, const struct prober_read *read, uint64_t now_ns)
{
	uint32_t mtu = p->params.mtu_bytes, left = read->bytes - read->sent * mtu;
	bool first = read->sent == 0, last = read->sent + 1 == read->packets;
	struct roce_fields f = {
		.opcode = first && last ? RC_READ_RESP_ONLY
			  : first       ? RC_READ_RESP_FIRST
			  : last        ? RC_READ_RESP_LAST
					: RC_READ_RESP_MIDDLE,
		.migreq = true,
		.psn = (read->psn + read->sent) & PSN_MASK,
		.aeth_syndrome = AETH_ACK,
		.aeth_msn = p->qps[qp].msn,
	};

	(void)now_ns;
	send_roce(p, &p->qps[qp].path, &f, (uint16_t)(left < mtu ? left : mtu), 0);
}

void
prober_send_pause(struct prober *p, uint8_t prios, uint16_t quanta, uint64_t now_ns)
{
	struct rte_mbuf *m = take_mbuf(p);
	uint16_t all[8];

	(void)now_ns;
	if (m == NULL)
		return;
	for (unsigned int i = 0; i < 8; i++)
		all[i] = quanta;
	if (prios == 0)
		pause_frame_build(rte_pktmbuf_mtod(m, uint8_t *), p->params.mac, quanta);
	else
		pfc_frame_build(rte_pktmbuf_mtod(m, uint8_t *), p->params.mac, prios, all);
	push(p, m, PFC_FRAME_BYTES);
}
