/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A prober and a NIC under test on a cable in virtual time. The NIC is quench's own, behind a node
 * that may change what it hears and says: faults that the product does not have.
 */
#ifndef QUENCH_TEST_UNIT_PROBE_PROBE_BED_H
#define QUENCH_TEST_UNIT_PROBE_PROBE_BED_H

#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "base/numbers/fixed.h"
#include "fabric/links/fabric.h"
#include "nic/nic.h"
#include "node/pkt_fifo.h"
#include "node/pkt_pool.h"
#include "probe/prober.h"
#include "wire/bytes/be.h"
#include "wire/bytes/le.h"
#include "wire/bytes/headers.h"
#include "wire/icrc/icrc.h"

#define BED_QPS 2u
#define BED_QPN 17u

/* A power of two. */
#define DUT_MOST_LATE 4096u

/* Frames that wait, in order. */
struct dut_line {
	struct pkt_fifo frames;
	uint64_t until_ns[DUT_MOST_LATE]; /* when they go on: a ring */
	uint32_t first;
};

struct dut {
	struct node node;
	struct node *nic;
	/* A fault: takes or changes a frame to or from the NIC. @return false: it is lost. */
	bool (*hears)(struct dut *, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns);
	bool (*says)(struct dut *, struct rte_mbuf *m, const struct roce_view *v, uint64_t now_ns);
	struct dut_line late;   /* frames that says() keeps */
	struct dut_line unread; /* frames that the NIC will hear later */
	/* The test's own: sees each call after it. */
	void (*watches)(struct dut *, uint64_t now_ns);
	struct rte_mempool *pool;
};

static inline struct dut *
dut_of(struct node *node)
{
	return (struct dut *)node;
}

/* The view of a RoCEv2 frame; false: another one. */
static inline bool
dut_view(const struct rte_mbuf *m, struct roce_view *v)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view eth;

	return frame_parse(buf, m->data_len, &eth) == FRAME_OK && eth.ip_version != 0 &&
	       roce_parse(buf, m->data_len, &eth, false, v) == ROCE_OK;
}

/* Give a frame that was changed its right ICRC. */
static inline void
dut_mend_icrc(struct rte_mbuf *m, const struct roce_view *v)
{
	uint8_t *buf = rte_pktmbuf_mtod(m, uint8_t *);

	m->ol_flags = 0;
	le32_store(buf + v->icrc_off,
		   icrc_compute(buf + v->ip_off, v->ip_version, v->icrc_off - v->ip_off));
	/* Zero stands for none, also over IPv6 (annex A17), and the ICRC does not cover it. */
	be16_store(buf + v->bth_off - UDP_HDR_BYTES + 6, 0);
}

static inline uint64_t *
line_slot(struct dut_line *l, uint32_t i)
{
	return &l->until_ns[(l->first + i) % DUT_MOST_LATE];
}

static inline void
line_keep(struct dut_line *l, struct rte_mbuf *m, uint64_t until_ns)
{
	assert_true(l->frames.count < DUT_MOST_LATE);
	*line_slot(l, l->frames.count) = until_ns;
	pkt_fifo_push(&l->frames, m);
}

/* @return the first frame, if its time has come, or NULL. */
static inline struct rte_mbuf *
line_pop(struct dut_line *l, uint64_t now_ns)
{
	if (l->frames.count == 0 || *line_slot(l, 0) > now_ns)
		return NULL;
	l->first++;
	return pkt_fifo_pop(&l->frames);
}

static inline uint64_t
line_next_ns(const struct dut_line *l)
{
	return l->frames.count == 0 ? NEVER_NS : l->until_ns[l->first % DUT_MOST_LATE];
}

/* When does the last frame go on? 0: none waits. */
static inline uint64_t
line_last_ns(const struct dut_line *l)
{
	return l->frames.count == 0 ? 0
				    : l->until_ns[(l->first + l->frames.count - 1) % DUT_MOST_LATE];
}

/* Keep a frame of the NIC until a time, at least that of the frame before it. */
static inline void
dut_keep(struct dut *d, struct rte_mbuf *m, uint64_t until_ns)
{
	line_keep(&d->late, m, until_ns);
}

/* When does the last frame leave that is kept? 0: none is. */
static inline uint64_t
dut_kept_until_ns(const struct dut *d)
{
	return line_last_ns(&d->late);
}

static inline struct rte_mbuf *
dut_copy(struct dut *d, const struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_alloc(d->pool);

	assert_non_null(copy);
	memcpy(rte_pktmbuf_mtod(copy, void *), rte_pktmbuf_mtod(m, const void *), m->data_len);
	copy->data_len = m->data_len;
	copy->pkt_len = m->pkt_len;
	return copy;
}

/* The NIC hears a frame later; hears() returns false for it. */
static inline void
dut_hear_later(struct dut *d, const struct rte_mbuf *m, uint64_t until_ns)
{
	line_keep(&d->unread, dut_copy(d, m), max_u64(until_ns, line_last_ns(&d->unread)));
}

static inline void
dut_wake(struct dut *d)
{
	d->node.wake[0] |= d->nic->wake[0];
	d->nic->wake[0] = 0;
}

/* What was to be heard later, and is due. */
static inline void
dut_hear_due(struct dut *d, uint16_t port, uint64_t now_ns)
{
	struct rte_mbuf *m;

	while ((m = line_pop(&d->unread, now_ns)) != NULL)
		d->nic->ops->rx(d->nic, port, &m, 1, now_ns);
}

static inline void
dut_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct dut *d = dut_of(node);
	uint16_t kept = 0;

	dut_hear_due(d, port, now_ns);
	for (uint16_t i = 0; i < n; i++) {
		struct roce_view v = {0};
		bool is_roce = dut_view(pkts[i], &v);

		if (d->hears == NULL || d->hears(d, pkts[i], is_roce ? &v : NULL, now_ns))
			pkts[kept++] = pkts[i];
		else
			rte_pktmbuf_free(pkts[i]);
	}
	if (kept > 0 || n == 0)
		d->nic->ops->rx(d->nic, port, pkts, kept, now_ns);
	dut_wake(d);
	if (d->watches != NULL)
		d->watches(d, now_ns);
	node_wake(node, 0);
}

static inline uint16_t
dut_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts, uint64_t now_ns)
{
	struct dut *d = dut_of(node);
	uint16_t n = 0;

	dut_hear_due(d, port, now_ns);
	for (;;) {
		struct rte_mbuf *m;
		struct roce_view v = {0};
		bool is_roce;

		/* says() may have kept a frame that is due at once. */
		while (n < max_pkts && (m = line_pop(&d->late, now_ns)) != NULL)
			pkts[n++] = m;
		if (n > 0 || max_pkts == 0 || d->nic->ops->tx(d->nic, port, &m, 1, now_ns) == 0)
			break;
		is_roce = dut_view(m, &v);
		if (d->says == NULL || d->says(d, m, is_roce ? &v : NULL, now_ns))
			pkts[n++] = m;
	}
	dut_wake(d);
	if (d->watches != NULL)
		d->watches(d, now_ns);
	return n;
}

static inline uint64_t
dut_next_ns(const struct node *node, uint16_t port)
{
	const struct dut *d = (const struct dut *)node;
	uint64_t next_ns = d->nic->ops->next_ns(d->nic, port);

	return min_u64(next_ns, min_u64(line_next_ns(&d->late), line_next_ns(&d->unread)));
}

static inline uint64_t
dut_control(struct node *node, uint64_t now_ns)
{
	struct dut *d = dut_of(node);

	return d->nic->ops->control(d->nic, now_ns);
}

static const struct node_ops dut_ops = {
	.rx = dut_rx, .tx = dut_tx, .next_ns = dut_next_ns, .control = dut_control};

struct bed {
	struct nic_params nic;
	struct prober_params probe;
	struct nic_pools pools;
	struct rte_mempool *probe_pool;
	struct dut dut;
	struct node *prober;
	struct fabric *fabric;
	uint16_t mtu_bytes;
	uint32_t psn;      /* first of both ways */
	bool silent;       /* the NIC sends no data of its own */
	uint16_t vlan_tci; /* of its frames; 0: untagged */
	bool reads;        /* its last QP reads */
	/* of its flows */
	uint64_t message_bytes;
	uint32_t depth;
	uint32_t max_recv_wr;  /* 0: unlimited */
	uint64_t post_recv_ns; /* until a receive is posted again */
	uint64_t end_ns;
};

/* Defaults at 10 Gb/s: short runs. */
static inline void
bed_init(struct bed *b)
{
	memset(b, 0, sizeof(*b));
	nic_params_default(&b->nic);
	memcpy(b->nic.mac, (uint8_t[6]){2, 0, 0, 0, 0, 1}, 6);
	b->nic.ip = (struct field_ip){4, {10, 0, 0, 1}};
	b->nic.link_speed_bps = 10 * GBPS;
	b->nic.shaper_burst_ns = 1;
	b->nic.exact_pacing = true;
	b->nic.max_qps = 16;
	b->nic.local_ack_timeout = 10;
	prober_params_default(&b->probe);
	memcpy(b->probe.mac, (uint8_t[6]){2, 0, 0, 0, 0, 2}, 6);
	memcpy(b->probe.peer_mac, b->nic.mac, 6);
	b->probe.ip = (struct field_ip){4, {10, 0, 0, 2}};
	b->probe.second_ip = (struct field_ip){4, {10, 0, 0, 3}};
	b->probe.peer_ip = b->nic.ip;
	b->probe.link_speed_bps = b->nic.link_speed_bps;
	b->probe.qp_count = BED_QPS;
	b->probe.curve_ns = 60 * NS_PER_MS;
	b->mtu_bytes = 1024;
	b->message_bytes = 64 * 1024;
	b->depth = 64;
}

static inline void
bed_create(struct bed *b)
{
	static unsigned int number;
	char names[3][16];
	struct fabric_cable cable = {.rate_bps = b->nic.link_speed_bps, .delay_ns = 1000};

	for (unsigned int i = 0; i < 3; i++)
		snprintf(names[i], sizeof(names[i]), "bed%u", number++);
	b->pools.data = nic_data_pool_create(&(struct pkt_pool_params){.name = names[0],
								       .n_mbufs = 4095,
								       .socket = SOCKET_ID_ANY,
								       .threads = true},
					     4096);
	b->pools.control =
		pkt_pool_create(&(struct pkt_pool_params){.name = names[1],
							  .n_mbufs = 1023,
							  .largest_frame = nic_largest_frame(4096),
							  .socket = SOCKET_ID_ANY});
	b->probe_pool =
		pkt_pool_create(&(struct pkt_pool_params){.name = names[2],
							  .n_mbufs = 4095,
							  .largest_frame = PROBER_LARGEST_FRAME,
							  .socket = SOCKET_ID_ANY});
	assert_non_null(b->pools.data);
	assert_non_null(b->pools.control);
	assert_non_null(b->probe_pool);
	b->dut.node.ops = &dut_ops;
	b->dut.pool = b->pools.control;
	b->dut.nic = nic_create(&b->nic, &b->pools);
	assert_non_null(b->dut.nic);
	for (uint32_t i = 0; i < BED_QPS + 1; i++) {
		struct nic_qp_params qp = {
			.peer_mac = {2, 0, 0, 0, 0, 2},
			.peer_ip = i < BED_QPS ? b->probe.ip : b->probe.second_ip,
			.peer_qpn = BED_QPN + i,
			.flow_id = i,
			.requester = !b->silent,
			.tagged = b->vlan_tci != 0,
			.vlan_tci = b->vlan_tci,
			.verb = b->reads && i == BED_QPS ? NIC_READ : NIC_WRITE,
			.mtu_bytes = b->mtu_bytes,
			.initial_psn = b->psn,
			.message_bytes = b->message_bytes,
			.stop_ns = NEVER_NS,
			.depth = b->reads && i == BED_QPS ? 8 : b->depth,
			.max_recv_wr = b->max_recv_wr,
			.post_recv_ns = b->post_recv_ns,
		};

		assert_int_equal(nic_add_qp(b->dut.nic, &qp, 0), BED_QPN + i);
	}
	b->prober = prober_create(&b->probe, b->probe_pool);
	assert_non_null(b->prober);
	b->fabric = fabric_create(2, 1, 1, 1);
	fabric_add_node(b->fabric, &b->dut.node);
	fabric_add_node(b->fabric, b->prober);
	assert_int_equal(fabric_connect(b->fabric, (struct fabric_end){0, 0},
					(struct fabric_end){1, 0}, &cable),
			 0);
}

/* Run until the prober has finished, at most for a virtual minute. */
static inline void
bed_run(struct bed *b)
{
	while (!prober_done(b->prober) && b->end_ns < 60 * NS_PER_SEC)
		assert_int_equal(fabric_run(b->fabric, b->end_ns += NS_PER_MS), 0);
	assert_true(prober_done(b->prober));
}

static inline void
bed_destroy(struct bed *b)
{
	fabric_destroy(b->fabric);
	while (b->dut.late.frames.count > 0)
		rte_pktmbuf_free(pkt_fifo_pop(&b->dut.late.frames));
	while (b->dut.unread.frames.count > 0)
		rte_pktmbuf_free(pkt_fifo_pop(&b->dut.unread.frames));
	nic_destroy(b->dut.nic);
	prober_destroy(b->prober);
	assert_int_equal(rte_mempool_in_use_count(b->probe_pool), 0);
	assert_int_equal(rte_mempool_in_use_count(b->pools.control), 0);
	assert_int_equal(rte_mempool_in_use_count(b->pools.data), 0);
	pkt_pool_destroy(b->probe_pool);
	pkt_pool_destroy(b->pools.control);
	pkt_pool_destroy(b->pools.data);
}

static inline const struct finding *
bed_finding(const struct bed *b, enum findings_line line)
{
	return &prober_findings(b->prober)->of[line];
}

/* The report in words, for a test that fails. */
static inline void
bed_print(const struct bed *b)
{
	for (unsigned int l = 0; l < FINDINGS_LINES; l++) {
		const struct finding *f = bed_finding(b, (enum findings_line)l);

		printf("%-18s %-10s %s\n", findings_questions[l].id,
		       findings_verdict_word(f->verdict), f->text);
	}
}

#endif
