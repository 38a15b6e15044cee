/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/nic/nic_test.h"

struct pair pair;
struct solo solo;

void
nic_test_params(struct nic_params *p, unsigned int host)
{
	nic_params_default(p);
	memcpy(p->mac, (uint8_t[6]){2, 0, 0, 0, 0, (uint8_t)(1 + host)}, 6);
	p->ip = (struct field_ip){4, {10, 0, 0, (uint8_t)(1 + host)}};
	p->ip6 = (struct field_ip){6, {0x20, 1, 0xd, 0xb8, [15] = (uint8_t)(1 + host)}};
	p->link_speed_bps = 40 * GBPS;
	p->shaper_burst_ns = 1;
	/* A test that knows when the second packet leaves knows when the first one does. */
	p->spread_starts = false;
	p->max_qps = 16;
}

struct nic_qp_params
nic_test_qp(unsigned int host)
{
	return (struct nic_qp_params){
		.peer_mac = {2, 0, 0, 0, 0, (uint8_t)(2 - host)},
		.peer_ip = {4, {10, 0, 0, (uint8_t)(2 - host)}},
		.peer_qpn = PAIR_QPN,
		.requester = host == 0,
		.mtu_bytes = 1024,
		.message_bytes = 2560,
		.messages = 4,
		.stop_ns = NEVER_NS,
		.depth = 2,
	};
}

void
nic_test_pools(struct nic_pools *pools, uint32_t data_mbufs, uint32_t control_mbufs)
{
	/* A test that failed leaves its pools behind: the next one's have other names. */
	static unsigned int pair_number;
	char data_name[16], control_name[16];
	struct pkt_pool_params control = {
		.name = control_name,
		.n_mbufs = control_mbufs,
		.largest_frame = nic_largest_frame(NIC_MAX_MTU),
		.socket = SOCKET_ID_ANY,
	};

	snprintf(data_name, sizeof(data_name), "data%u", pair_number);
	snprintf(control_name, sizeof(control_name), "control%u", pair_number++);
	pools->payloads = NULL;
	pools->data = nic_data_pool_create(&(struct pkt_pool_params){.name = data_name,
								     .n_mbufs = data_mbufs,
								     .socket = SOCKET_ID_ANY,
								     .threads = true},
					   NIC_MAX_MTU);
	pools->control = pkt_pool_create(&control);
	assert_non_null(pools->data);
	assert_non_null(pools->control);
}

void
nic_test_pools_free(struct nic_pools *pools)
{
	assert_int_equal(rte_mempool_in_use_count(pools->data), 0);
	assert_int_equal(rte_mempool_in_use_count(pools->control), 0);
	pkt_pool_destroy(pools->data);
	pkt_pool_destroy(pools->control);
}

void
pair_init(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	p->mishap.frame = UINT64_MAX;
	for (unsigned int h = 0; h < 2; h++)
		nic_test_params(&p->params[h], h);
}

void
pair_watch(struct pair *p,
	   enum fate (*fate)(struct pair *, unsigned int, uint64_t, const struct roce_view *),
	   void *kept, size_t size)
{
	memset(kept, 0, size);
	pair_init(p);
	p->fate = fate;
}

void
pair_create(struct pair *p, uint32_t data_mbufs)
{
	nic_test_pools(&p->pools, data_mbufs, 256);
	for (unsigned int h = 0; h < 2; h++) {
		p->nic[h] = nic_create(&p->params[h], &p->pools);
		assert_non_null(p->nic[h]);
	}
}

void
pair_connect(struct pair *p, const struct nic_qp_params *at_0)
{
	uint32_t qpn = PAIR_QPN + nic_qp_count(p->nic[0]);
	struct nic_qp_params a = *at_0, b = *at_0;
	struct nic_qp_params peer = nic_test_qp(1);

	a.peer_qpn = qpn;
	b.peer_qpn = qpn;
	b.requester = false;
	memcpy(b.peer_mac, peer.peer_mac, 6);
	b.peer_ip = a.peer_ip.version == 4 ? p->params[0].ip : p->params[0].ip6;
	assert_int_equal(nic_add_qp(p->nic[0], &a, p->now_ns), qpn);
	assert_int_equal(nic_add_qp(p->nic[1], &b, p->now_ns), qpn);
}

void
pair_play(struct pair *p, uint32_t data_mbufs, const struct nic_qp_params *at_0)
{
	pair_create(p, data_mbufs);
	pair_connect(p, at_0);
	pair_run(p, NEVER_NS);
}

void
cable_push(struct cable *c, struct rte_mbuf *m, uint64_t due_ns)
{
	assert_true(c->tail - c->head < PAIR_IN_FLIGHT);
	c->ring[c->tail++ % PAIR_IN_FLIGHT] = (struct flying){m, due_ns};
}

void
nic_test_view(const struct rte_mbuf *m, struct frame_view *eth, struct roce_view *roce)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);

	assert_true(m->pkt_len >= 60);
	assert_int_equal(m->pkt_len, m->data_len);
	assert_int_equal(frame_parse(buf, m->data_len, eth), FRAME_OK);
	assert_int_equal(roce_parse(buf, m->data_len, eth, true, roce), ROCE_OK);
	if (m->data_len > 60)
		assert_int_equal(eth->ip_end, m->data_len);
}

void
pair_carry(struct pair *p, unsigned int from, struct rte_mbuf *m)
{
	struct cable *c = &p->cable[from];
	uint64_t due_ns = p->now_ns + PAIR_DELAY_NS +
			  serialization_ns(wire_bytes(m->pkt_len), p->params[from].link_speed_bps);
	struct frame_view eth;
	struct roce_view roce;
	enum fate fate = FATE_PASS;
	struct rte_mbuf *copy;

	nic_test_view(m, &eth, &roce);
	if (p->fate != NULL)
		fate = p->fate(p, from, c->frames, &roce);
	if (fate == FATE_PASS && from == p->mishap.from && c->frames == p->mishap.frame)
		fate = p->mishap.fate;
	c->frames++;
	switch (fate) {
	case FATE_LOSE:
		rte_pktmbuf_free(m);
		return;
	case FATE_DUPLICATE:
		copy = rte_pktmbuf_copy(m, p->pools.control, 0, UINT32_MAX);
		cable_push(c, m, due_ns);
		if (copy != NULL)
			cable_push(c, copy, due_ns);
		break;
	case FATE_MARK:
		ecn_set_ce(rte_pktmbuf_mtod_offset(m, uint8_t *, eth.l3_off), eth.ip_version);
		cable_push(c, m, due_ns);
		break;
	case FATE_OVERTAKEN:
		if (c->overtaken == NULL) {
			c->overtaken = m;
			return;
		}
		cable_push(c, m, due_ns);
		break;
	default:
		cable_push(c, m, due_ns);
	}
	if (c->overtaken != NULL) {
		cable_push(c, c->overtaken, due_ns);
		c->overtaken = NULL;
	}
}

uint64_t
pair_next_ns(const struct pair *p)
{
	uint64_t next_ns = NEVER_NS;

	for (unsigned int h = 0; h < 2; h++) {
		const struct cable *c = &p->cable[h];
		uint64_t at_ns = p->nic[h]->ops->next_ns(p->nic[h], 0);

		if (c->head != c->tail && c->ring[c->head % PAIR_IN_FLIGHT].due_ns < at_ns)
			at_ns = c->ring[c->head % PAIR_IN_FLIGHT].due_ns;
		if (at_ns < next_ns)
			next_ns = at_ns;
	}
	return next_ns;
}

void
nic_test_rx(struct node *nic, struct rte_mbuf **m, uint64_t now_ns)
{
	uint64_t before_ns = nic->ops->next_ns(nic, 0);

	nic->wake[0] = 0;
	nic->ops->rx(nic, 0, m, 1, now_ns);
	if (nic->ops->next_ns(nic, 0) < before_ns)
		assert_int_equal(nic->wake[0], 1);
}

void
nic_test_pause(struct rte_mbuf *m, const uint8_t from_mac[6], uint16_t quanta, int prios)
{
	uint8_t *frame = (uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES);
	uint16_t all[8];

	for (int i = 0; i < 8; i++)
		all[i] = quanta;
	if (prios == NIC_TEST_LINK_PAUSE)
		pause_frame_build(frame, from_mac, quanta);
	else
		pfc_frame_build(frame, from_mac, (uint8_t)prios, all);
}

void
pair_deliver(struct pair *p)
{
	for (unsigned int h = 0; h < 2; h++) {
		struct cable *c = &p->cable[h];
		struct node *to = p->nic[1 - h];

		while (c->head != c->tail && c->ring[c->head % PAIR_IN_FLIGHT].due_ns <= p->now_ns)
			nic_test_rx(to, &c->ring[c->head++ % PAIR_IN_FLIGHT].m, p->now_ns);
	}
}

/* Deliver what is due now, and send what may be sent now. */
static void
pair_step(struct pair *p)
{
	struct rte_mbuf *m;

	pair_deliver(p);
	for (unsigned int h = 0; h < 2; h++) {
		struct node *nic = p->nic[h];

		while (nic->ops->next_ns(nic, 0) <= p->now_ns) {
			if (nic->ops->tx(nic, 0, &m, 1, p->now_ns) == 1)
				pair_carry(p, h, m);
			else
				assert_true(nic->ops->next_ns(nic, 0) > p->now_ns);
		}
	}
}

void
pair_run(struct pair *p, uint64_t until_ns)
{
	uint64_t next_ns;

	while ((next_ns = pair_next_ns(p)) != NEVER_NS && next_ns <= until_ns) {
		p->now_ns = next_ns > p->now_ns ? next_ns : p->now_ns;
		pair_step(p);
	}
	if (until_ns != NEVER_NS)
		p->now_ns = until_ns;
}

void
pair_destroy(struct pair *p)
{
	for (unsigned int h = 0; h < 2; h++) {
		struct cable *c = &p->cable[h];

		while (c->head != c->tail)
			rte_pktmbuf_free(c->ring[c->head++ % PAIR_IN_FLIGHT].m);
		rte_pktmbuf_free(c->overtaken);
		nic_destroy(p->nic[h]);
	}
	nic_test_pools_free(&p->pools);
}

struct nic_qp_info
pair_info(const struct pair *p, unsigned int host, uint32_t index)
{
	struct nic_qp_info info;

	nic_qp_info(p->nic[host], index, &info);
	return info;
}

void
solo_init(struct solo *s)
{
	memset(s, 0, sizeof(*s));
	nic_test_params(&s->params, 0);
}

int
solo_setup(void **state)
{
	(void)state;
	solo_init(&solo);
	return 0;
}

void
solo_create(struct solo *s, uint32_t control_mbufs)
{
	nic_test_pools(&s->pools, 64, control_mbufs);
	s->nic = nic_create(&s->params, &s->pools);
	assert_non_null(s->nic);
}

void
solo_start(struct solo *s, const struct nic_qp_params *qp)
{
	solo_create(s, 64);
	assert_int_equal(nic_add_qp(s->nic, qp, 0), PAIR_QPN);
}

void
solo_destroy(struct solo *s)
{
	nic_destroy(s->nic);
	nic_test_pools_free(&s->pools);
}

void
solo_create_senders(struct solo *s, uint32_t n_qps)
{
	struct nic_qp_params qp = nic_test_qp(0);

	qp.message_bytes = 1 << 20;
	qp.messages = 0;
	qp.depth = 1000;
	s->params.window_packets = 1 << 20;
	s->params.local_ack_timeout = 0;
	solo_create(s, 64);
	for (uint32_t i = 0; i < n_qps; i++)
		nic_add_qp(s->nic, &qp, 0);
}

struct roce_path
solo_path(const struct solo *s)
{
	struct roce_path path = host_path(2, 1, PAIR_QPN);

	memcpy(path.dst_mac, s->params.mac, 6);
	memcpy(path.dst_ip, s->params.ip.addr, 4);
	return path;
}

struct rte_mbuf *
solo_mbuf(struct solo *s, const void *bytes, uint16_t n)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(s->pools.control);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, n), bytes, n);
	return m;
}

void
solo_feed_bytes(struct solo *s, const void *bytes, uint16_t n)
{
	struct rte_mbuf *m = solo_mbuf(s, bytes, n);

	nic_test_rx(s->nic, &m, s->now_ns);
}

void
solo_feed_on(struct solo *s, const struct roce_path *path, const struct roce_fields *fields,
	     uint16_t payload_bytes)
{
	uint8_t payload[4096] = {0}, frame[4300];
	size_t n = roce_build(frame, sizeof(frame), path, fields, payload, payload_bytes);

	assert_true(n > 0);
	solo_feed_bytes(s, frame, (uint16_t)n);
}

void
solo_feed(struct solo *s, struct roce_fields fields, uint16_t payload_bytes)
{
	struct roce_path path = solo_path(s);

	solo_feed_on(s, &path, &fields, payload_bytes);
}

void
solo_feed_pause(struct solo *s, uint8_t enable, uint16_t quanta)
{
	uint8_t frame[PFC_FRAME_BYTES];
	uint16_t all[8];

	for (int i = 0; i < 8; i++)
		all[i] = quanta;
	pfc_frame_build(frame, (uint8_t[6]){2, 0, 0, 0, 0, 9}, enable, all);
	solo_feed_bytes(s, frame, sizeof(frame));
}

bool
solo_take(struct solo *s, uint64_t until_ns, struct roce_view *v)
{
	struct frame_view eth;
	struct rte_mbuf *m;

	for (;;) {
		uint64_t next_ns = s->nic->ops->next_ns(s->nic, 0);

		if (next_ns == NEVER_NS || next_ns > until_ns)
			return false;
		if (next_ns > s->now_ns)
			s->now_ns = next_ns;
		if (s->nic->ops->tx(s->nic, 0, &m, 1, s->now_ns) == 1)
			break;
		assert_true(s->nic->ops->next_ns(s->nic, 0) > s->now_ns);
	}
	nic_test_view(m, &eth, v);
	rte_pktmbuf_free(m);
	return true;
}

void
solo_run(struct solo *s, uint64_t until_ns)
{
	struct roce_view v;

	while (solo_take(s, until_ns, &v))
		;
	s->now_ns = until_ns;
}

void
expect_silence(struct solo *s, uint64_t until_ns)
{
	struct roce_view v;

	assert_false(solo_take(s, until_ns, &v));
	if (until_ns != NEVER_NS)
		s->now_ns = until_ns;
}

void
expect_answer(struct solo *s, uint8_t syndrome, uint32_t psn, uint32_t msn)
{
	struct roce_view v;

	assert_true(solo_take(s, s->now_ns + 1000, &v));
	assert_int_equal(v.opcode, RC_ACK);
	assert_int_equal(v.aeth_syndrome, syndrome);
	assert_int_equal(v.psn, psn);
	assert_int_equal(v.aeth_msn, msn);
	assert_int_equal(v.dest_qp, PAIR_QPN);
}
