/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What several nodes of one NIC have in common: active flows, windows of CNP moderation, the least
 * interval between CNPs, a slow receiver's buffer. Two nodes do what one would have done.
 */
#include "unit/nic/nic_test.h"

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "nic/port/share.h"

#define QPS 6u
#define MOST_CNPS 4000
#define N_NS (50 * NS_PER_US)
/* What a node may have reserved of the wire, 8704 bytes at 40 Gb/s. */
#define TURN_NS 1741

/* A NIC of one node or two; frames for QP i are received by the node that owns it. */
struct host {
	uint32_t n_nodes;
	struct nic_params params;
	struct nic_pools pools;
	struct nic_share *share;
	struct node *nodes[2];
	uint64_t now_ns;
	uint32_t psn[QPS];
	struct cnp {
		uint64_t at_ns;
		uint32_t qp;
	} cnps[MOST_CNPS];
	uint32_t n_cnps;
	uint64_t pauses[2]; /* sent by each node */
	uint16_t last_quanta;
	uint64_t last_pause_ns;
};

static struct host one, two;

static void
host_init(struct host *h, uint32_t n_nodes)
{
	memset(h, 0, sizeof(*h));
	h->n_nodes = n_nodes;
	nic_test_params(&h->params, 0);
}

static void
host_create(struct host *h)
{
	struct nic_share_params p = {
		.n_nodes = h->n_nodes,
		.first_qpn = PAIR_QPN,
		.link_speed_bps = h->params.link_speed_bps,
		.shaper_burst_ns = 1,
		.rx_mbufs = 512,
		.socket = SOCKET_ID_ANY,
	};

	nic_test_pools(&h->pools, 256, 256);
	if (h->n_nodes > 1)
		h->share = nic_share_create(&p);
	for (uint32_t i = 0; i < h->n_nodes; i++) {
		struct nic_params params = h->params;

		params.first_qpn = PAIR_QPN + i;
		h->nodes[i] = nic_create(&params, &h->pools);
		assert_non_null(h->nodes[i]);
		if (h->share != NULL)
			nic_join(h->nodes[i], h->share, i);
	}
}

static void
host_destroy(struct host *h)
{
	for (uint32_t i = 0; i < h->n_nodes; i++)
		nic_destroy(h->nodes[i]);
	nic_share_destroy(h->share);
	nic_test_pools_free(&h->pools);
}

/* QPs of three peers: two of each, on different nodes. */
static void
add_responders(struct host *h)
{
	for (uint32_t i = 0; i < QPS; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		qp.requester = false;
		qp.peer_ip.addr[3] = (uint8_t)(2 + i / 2);
		qp.peer_qpn = 100 + i;
		assert_int_equal(nic_add_qp(h->nodes[i % h->n_nodes], &qp, 0), PAIR_QPN + i);
	}
}

static void
on_frame(struct host *h, uint32_t node, struct rte_mbuf *m)
{
	struct frame_view eth;
	struct roce_view v;
	struct mac_control mc;

	assert_int_equal(frame_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &eth), FRAME_OK);
	if (eth.ethertype == ETHERTYPE_MAC_CONTROL) {
		mac_control_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &mc);
		h->pauses[node]++;
		h->last_quanta = mc.quanta[3];
		h->last_pause_ns = h->now_ns;
	} else {
		nic_test_view(m, &eth, &v);
		if (v.opcode == ROCE_CNP && h->n_cnps < MOST_CNPS)
			h->cnps[h->n_cnps++] = (struct cnp){h->now_ns, v.dest_qp - 100};
	}
	rte_pktmbuf_free(m);
}

static void
host_run(struct host *h, uint64_t until_ns)
{
	for (;;) {
		uint64_t next_ns = NEVER_NS;
		struct rte_mbuf *m;

		for (uint32_t i = 0; i < h->n_nodes; i++) {
			uint64_t at_ns = h->nodes[i]->ops->next_ns(h->nodes[i], 0);

			next_ns = at_ns < next_ns ? at_ns : next_ns;
		}
		if (next_ns > until_ns)
			break;
		h->now_ns = next_ns > h->now_ns ? next_ns : h->now_ns;
		for (uint32_t i = 0; i < h->n_nodes; i++)
			while (h->nodes[i]->ops->tx(h->nodes[i], 0, &m, 1, h->now_ns) == 1)
				on_frame(h, i, m);
	}
	h->now_ns = until_ns;
}

static void
feed(struct host *h, uint32_t qp, uint8_t ecn, uint16_t bytes)
{
	struct roce_path path = host_path(2, 1, PAIR_QPN + qp);
	struct roce_fields data = {
		.opcode = RC_WRITE_ONLY, .psn = h->psn[qp]++, .reth_dma_bytes = bytes};
	struct node *to = h->nodes[qp % h->n_nodes];
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pools.control);
	uint8_t payload[1024] = {0};
	size_t n;

	path.src_ip[3] = (uint8_t)(2 + qp / 2);
	path.ecn = ecn;
	n = roce_build(rte_pktmbuf_mtod(m, uint8_t *), 1200, &path, &data, payload, bytes);
	assert_true(n > 0);
	rte_pktmbuf_append(m, (uint16_t)n);
	to->ops->rx(to, 0, &m, 1, h->now_ns);
}

static uint64_t
rate_of(struct host *h, uint32_t qp)
{
	struct nic_qp_info info;

	nic_qp_info(h->nodes[qp % h->n_nodes], qp / h->n_nodes, &info);
	return info.rate_bps;
}

static void
add_requester(struct host *h, uint64_t messages, uint64_t start_ns)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint32_t i = 0;

	for (uint32_t n = 0; n < h->n_nodes; n++)
		i += nic_qp_count(h->nodes[n]);
	/* Nobody answers: all that is sent is acknowledged. */
	qp.raw = true;
	qp.messages = messages;
	qp.start_ns = start_ns;
	assert_int_equal(nic_add_qp(h->nodes[i % h->n_nodes], &qp, 0), PAIR_QPN + i);
}

/* SIGCOMM15 section 3.1: the host is asked for other flows, not the lcore. */
TEST(flows_of_other_lcores_count_for_the_first_rate)
{
	static const struct {
		int how;
		uint64_t second_bps, third_bps;
	} rows[] = {
		{NIC_INITIAL_LINE, 40 * GBPS, 40 * GBPS},
		{NIC_INITIAL_FAIR, 20 * GBPS, 40 * GBPS / 3},
		{NIC_INITIAL_VALUE, 3 * GBPS, 3 * GBPS},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		host_init(&two, 2);
		two.params.initial_rate = rows[i].how;
		two.params.initial_rate_bps = 3 * GBPS;
		host_create(&two);
		add_requester(&two, 0, 0);
		add_requester(&two, 0, NS_PER_US);
		add_requester(&two, 0, 2 * NS_PER_US);
		/* A turn of the wire is 1.7 us: by then each has had one. */
		host_run(&two, 6 * NS_PER_US);
		assert_int_equal(rate_of(&two, 0), 40 * GBPS);
		assert_int_equal(rate_of(&two, 1), rows[i].second_bps);
		assert_int_equal(rate_of(&two, 2), rows[i].third_bps);
		host_destroy(&two);
	}
}

TEST(of_flows_that_start_together_one_has_the_line)
{
	host_init(&two, 2);
	two.params.initial_rate = NIC_INITIAL_VALUE;
	two.params.initial_rate_bps = 3 * GBPS;
	host_create(&two);
	add_requester(&two, 1, 0);
	add_requester(&two, 1, 0);
	/* When both have ended, the next is alone again. */
	add_requester(&two, 0, NS_PER_MS);
	host_run(&two, 100);
	assert_int_equal(rate_of(&two, 0) + rate_of(&two, 1), 43 * GBPS);
	host_run(&two, NS_PER_MS + 100);
	assert_true(nic_done(two.nodes[0]) && nic_done(two.nodes[1]));
	assert_int_equal(rate_of(&two, 2), 40 * GBPS);
	host_destroy(&two);
}

/* Three random marks in four at QPs of both nodes; the same for a NIC of one node. */
static void
feed_random_marks(struct host *h, uint64_t seed)
{
	struct prng rnd;

	prng_seed(&rnd, seed, 0);
	for (unsigned int i = 0; i < 5000; i++) {
		uint64_t step_ns = 500 + prng_below(&rnd, i % 1000 < 500 ? 4000 : 60000);

		uint32_t qp = (uint32_t)prng_below(&rnd, QPS);
		uint8_t ecn = prng_below(&rnd, 4) != 0 ? ECN_CE : ECN_ECT0;

		host_run(h, h->now_ns + step_ns);
		feed(h, qp, ecn, 8);
	}
	host_run(h, h->now_ns + NS_PER_MS);
}

TEST(windows_of_pairs_and_the_port_are_those_of_one_node)
{
	static const int moderations[] = {NP_PER_IP_PAIR, NP_PER_PORT};

	for (unsigned int m = 0; m < 2; m++) {
		uint64_t last_ns[QPS] = {0};

		host_init(&one, 1);
		host_init(&two, 2);
		one.params.np.np_cnp_moderation = two.params.np.np_cnp_moderation = moderations[m];
		host_create(&one);
		host_create(&two);
		add_responders(&one);
		add_responders(&two);
		feed_random_marks(&one, 7);
		feed_random_marks(&two, 7);
		assert_in_range(one.n_cnps, 500, MOST_CNPS - 1);
		assert_int_equal(two.n_cnps, one.n_cnps);
		for (uint32_t i = 0; i < two.n_cnps; i++) {
			const struct cnp *c = &two.cnps[i];
			uint32_t unit = moderations[m] == NP_PER_PORT ? 0 : c->qp / 2;

			/* Decided at the same times; the other node's turn on the wire may be
			 * first. At the end of a window each node may answer its own QP's mark, and
			 * CNPs of several units at one time may leave in another order. */
			if (moderations[m] == NP_PER_PORT)
				assert_in_range(c->at_ns, one.cnps[i].at_ns,
						one.cnps[i].at_ns + TURN_NS);
			assert_true(last_ns[unit] == 0 ||
				    c->at_ns + TURN_NS >= last_ns[unit] + N_NS);
			last_ns[unit] = c->at_ns;
		}
		host_destroy(&one);
		host_destroy(&two);
	}
}

TEST(least_interval_of_cnps_is_the_ports)
{
	host_init(&two, 2);
	two.params.np.np_min_time_between_cnps_us = 0;
	two.params.np.np_min_port_cnp_interval_ns = 5 * NS_PER_US;
	host_create(&two);
	add_responders(&two);
	two.now_ns = NS_PER_US;
	for (uint32_t i = 0; i < QPS; i++)
		feed(&two, i, ECN_CE, 8);
	host_run(&two, NS_PER_MS);
	assert_int_equal(two.n_cnps, QPS);
	for (uint32_t i = 0; i < QPS; i++)
		assert_int_equal(two.cnps[i].at_ns, (1 + 5 * i) * NS_PER_US);
	host_destroy(&two);
}

/* 1102 bytes a frame with FCS, drained at a byte per ns. */
TEST(slow_receivers_buffer_is_the_ports)
{
	host_init(&two, 2);
	two.params.receiver = (struct rx_drain_params){8 * GBPS, 4000, 1000, 8000, 0, 0};
	host_create(&two);
	add_responders(&two);
	for (uint32_t i = 0; i < 3; i++)
		feed(&two, i, ECN_ECT0, 1024);
	host_run(&two, 0);
	assert_int_equal(two.pauses[0] + two.pauses[1], 0);
	/* The fourth, at the second node: 4408 bytes. The first node speaks. */
	feed(&two, 3, ECN_ECT0, 1024);
	host_run(&two, 0);
	assert_int_equal(two.pauses[0], 1);
	assert_int_equal(two.last_quanta, 0xFFFF);
	/* Seven fit 8000 bytes, whoever receives them. */
	for (uint32_t i = 0; i < 5; i++)
		feed(&two, 1 + i % 2, ECN_ECT0, 1024);
	assert_int_equal(nic_stats(two.nodes[0])->drops[NIC_DROP_NO_BUFFER] +
				 nic_stats(two.nodes[1])->drops[NIC_DROP_NO_BUFFER],
			 2);
	host_run(&two, NS_PER_MS);
	assert_int_equal(two.pauses[0], 2);
	assert_int_equal(two.pauses[1], 0);
	assert_int_equal(two.last_quanta, 0);
	assert_int_equal(two.last_pause_ns, 7 * 1102 - 1000);
	host_destroy(&two);
}

TEST_MAIN(.begin = start_eal)
