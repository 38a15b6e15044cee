/* SPDX-License-Identifier: BSD-3-Clause */
/* Two nodes that are one NIC: crossing, pause for both, one wire. Their peer is a NIC of one
 * node. */
#include "unit/nic/nic_test.h"

#include "nic/port/rss.h"
#include "nic/port/share.h"
#include "wire/neighbour/arp.h"

#define NODES 2
#define PEER 2 /* index of the peer's node */
#define RX_MBUFS 512
#define BY_RSS (NODES + 1)
#define BUCKETS 64

static struct nic_params params[NODES + 1];
static struct nic_pools pools;
static struct nic_share *share;
static struct node *nodes[NODES + 1];
static uint64_t now_ns;
static uint64_t wire_out[NODES]; /* wire bytes that each of ours sent */
static unsigned int rx_node;     /* which of ours gets the frames of the peer; NODES: in turn */
/* With QPs placed by RSS: how many, and whose each bucket of the device is. */
static uint32_t placed_qps;
static uint16_t bucket_node[BUCKETS];

static int
setup(void **state)
{
	(void)state;
	now_ns = 0;
	rx_node = 0;
	placed_qps = 0;
	memset(wire_out, 0, sizeof(wire_out));
	for (unsigned int i = 0; i <= NODES; i++)
		nic_test_params(&params[i], i == PEER);
	nic_test_pools(&pools, 2048, RX_MBUFS);
	return 0;
}

static uint32_t
bucket_of_qp(uint32_t number)
{
	struct nic_qp_params qp = nic_test_qp(0);

	if (number % 3 == 2)
		qp.peer_ip = params[PEER].ip6;
	qp.peer_qpn = PAIR_QPN + number;
	return nic_rss_hash_of_qp(nic_rss_key, &params[0], &qp, PAIR_QPN + number) % BUCKETS;
}

static void
place(void)
{
	uint32_t qps[BUCKETS] = {0};
	uint32_t items[NODES] = {0};

	for (uint32_t i = 0; i < placed_qps; i++)
		qps[bucket_of_qp(i)]++;
	nic_rss_balance(qps, BUCKETS, NODES, bucket_node);
	assert_int_equal(nic_share_use_table(share, placed_qps), 0);
	for (uint32_t i = 0; i < placed_qps; i++) {
		uint32_t node = bucket_node[bucket_of_qp(i)];

		assert_int_equal(nic_share_find(share, i).item, NIC_NO_ITEM);
		nic_share_assign(share, i, (struct nic_location){node, items[node]++});
	}
}

/* What a device does: the node at whose queue a frame arrives. */
static unsigned int
hashed_node(const struct rte_mbuf *m)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct field_ip src = {.version = 4}, dst = {.version = 4};
	unsigned int n = 4, at = 12;
	struct frame_view eth;
	const uint8_t *ip;

	assert_int_equal(frame_parse(buf, m->data_len, &eth), FRAME_OK);
	ip = buf + eth.l3_off;
	if (eth.ip_version == 6) {
		src.version = dst.version = 6;
		n = 16;
		at = 8;
	}
	memcpy(src.addr, ip + at, n);
	memcpy(dst.addr, ip + at + n, n);
	ip += at + 2 * n;
	return bucket_node[nic_rss_hash(nic_rss_key, &src, &dst, (uint16_t)(ip[0] << 8 | ip[1]),
					(uint16_t)(ip[2] << 8 | ip[3])) %
			   BUCKETS];
}

static void
create(void)
{
	struct nic_share_params p = {
		.n_nodes = NODES,
		.first_qpn = PAIR_QPN,
		.link_speed_bps = params[0].link_speed_bps,
		.shaper_burst_ns = 1,
		.rx_mbufs = RX_MBUFS + 2048,
		.socket = SOCKET_ID_ANY,
	};

	share = nic_share_create(&p);
	assert_non_null(share);
	if (placed_qps > 0)
		place();
	for (unsigned int i = 0; i <= NODES; i++) {
		params[i].first_qpn = PAIR_QPN + (i == PEER ? 0 : i);
		nodes[i] = nic_create(&params[i], &pools);
		assert_non_null(nodes[i]);
		if (i != PEER)
			nic_join(nodes[i], share, i);
	}
}

static void
destroy(void)
{
	for (unsigned int i = 0; i <= NODES; i++)
		nic_destroy(nodes[i]);
	nic_share_destroy(share);
	nic_test_pools_free(&pools);
}

/* QP i of ours sends to QP i of the peer. */
static void
add(unsigned int i, struct nic_qp_params qp)
{
	struct nic_qp_params back = qp;

	qp.peer_qpn = back.peer_qpn = PAIR_QPN + i;
	back.requester = false;
	memcpy(back.peer_mac, params[0].mac, 6);
	back.peer_ip = qp.peer_ip.version == 4 ? params[0].ip : params[0].ip6;
	assert_int_equal(nic_add_qp(nodes[nic_share_find(share, i).node], &qp, 0), PAIR_QPN + i);
	assert_int_equal(nic_add_qp(nodes[PEER], &back, 0), PAIR_QPN + i);
}

static void
deliver(unsigned int from, struct rte_mbuf *m)
{
	struct node *to = nodes[PEER];

	if (from == PEER && rx_node == BY_RSS) {
		to = nodes[hashed_node(m)];
	} else if (from == PEER) {
		to = nodes[rx_node == NODES ? m->pkt_len % NODES : rx_node];
	} else {
		wire_out[from] += wire_bytes(m->pkt_len);
		/* Frames of both share one wire: what it carried by now, and one turn of each. */
		assert_true(wire_out[0] + wire_out[1] <=
			    now_ns * (params[0].link_speed_bps / GBPS) / 8 + NODES * 10000);
	}
	to->ops->rx(to, 0, &m, 1, now_ns);
}

static void
run(uint64_t until_ns)
{
	for (;;) {
		uint64_t next_ns = NEVER_NS;
		struct rte_mbuf *m;

		for (unsigned int i = 0; i <= NODES; i++) {
			uint64_t at_ns = nodes[i]->ops->next_ns(nodes[i], 0);

			next_ns = at_ns < next_ns ? at_ns : next_ns;
		}
		if (next_ns > until_ns)
			break;
		now_ns = next_ns > now_ns ? next_ns : now_ns;
		for (unsigned int i = 0; i <= NODES; i++)
			while (nodes[i]->ops->tx(nodes[i], 0, &m, 1, now_ns) == 1)
				deliver(i, m);
	}
	now_ns = until_ns;
}

TEST(numbers_are_dealt_out_in_turn)
{
	struct nic_qp_info info;

	create();
	for (unsigned int i = 0; i < 5; i++)
		add(i, nic_test_qp(0));
	assert_int_equal(nic_qp_count(nodes[0]), 3);
	assert_int_equal(nic_qp_count(nodes[1]), 2);
	assert_int_equal(nic_share_qps(share, 5, 0), 3);
	assert_int_equal(nic_share_qps(share, 5, 1), 2);
	assert_int_equal(nic_share_find(share, 3).node, 1);
	assert_int_equal(nic_share_find(share, 3).item, 1);
	assert_int_equal(nic_share_number(share, (struct nic_location){1, 1}), 3);
	nic_qp_info(nodes[1], 1, &info);
	assert_int_equal(info.local_qpn, PAIR_QPN + 3);
	destroy();
}

TEST(answers_that_arrive_at_the_wrong_node_cross)
{
	for (unsigned int where = 0; where <= NODES; where++) {
		if (where > 0)
			setup(state);
		rx_node = where;
		create();
		for (unsigned int i = 0; i < 6; i++)
			add(i, nic_test_qp(0));
		run(NS_PER_MS);
		assert_true(nic_done(nodes[0]) && nic_done(nodes[1]));
		for (unsigned int i = 0; i < 6; i++) {
			struct nic_qp_info info;

			nic_qp_info(nodes[PEER], i, &info);
			assert_int_equal(info.rx_messages, 4);
		}
		for (unsigned int i = 0; i < NODES; i++) {
			const struct nic_stats *s = nic_stats(nodes[i]);

			assert_int_equal(s->retransmitted_packets, 0);
			assert_int_equal(s->drops[NIC_DROP_UNKNOWN_QP], 0);
			if (where < NODES)
				assert_int_equal(s->rx_crossed_packets > 0, i == where);
		}
		assert_int_equal(nic_stats(nodes[0])->rx_packets + nic_stats(nodes[1])->rx_packets,
				 nic_stats(nodes[PEER])->tx_packets);
		destroy();
	}
}

/* Sixteen QPs over IPv4 and IPv6: ACKs, data and CNPs of the peer all arrive where their QP is. */
TEST(nothing_crosses_where_qps_are_placed_by_rss)
{
	uint32_t owned[NODES] = {0};

	placed_qps = 16;
	rx_node = BY_RSS;
	create();
	for (uint32_t i = 0; i < placed_qps; i++) {
		struct nic_qp_params qp = nic_test_qp(0);
		struct nic_location at = nic_share_find(share, i);
		struct nic_qp_info info;

		if (i % 3 == 2)
			qp.peer_ip = params[PEER].ip6;
		add(i, qp);
		nic_qp_info(nodes[at.node], at.item, &info);
		assert_int_equal(info.local_qpn, PAIR_QPN + i);
		assert_int_equal(nic_share_number(share, at), i);
		owned[at.node]++;
	}
	run(10 * NS_PER_MS);
	assert_true(nic_done(nodes[0]) && nic_done(nodes[1]));
	for (unsigned int i = 0; i < NODES; i++) {
		assert_in_range(owned[i], 7, 9);
		assert_int_equal(nic_qp_count(nodes[i]), owned[i]);
		assert_int_equal(nic_share_qps(share, placed_qps, i), placed_qps);
		assert_true(nic_stats(nodes[i])->rx_packets > 0);
		assert_int_equal(nic_stats(nodes[i])->rx_crossed_packets, 0);
		assert_int_equal(nic_stats(nodes[i])->drops[NIC_DROP_UNKNOWN_QP], 0);
	}
	destroy();
}

/* A device that puts them elsewhere (another key, another source port) costs a crossing each. */
TEST(placed_qps_are_found_from_any_node)
{
	placed_qps = 6;
	rx_node = 1;
	create();
	for (uint32_t i = 0; i < placed_qps; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		if (i % 3 == 2)
			qp.peer_ip = params[PEER].ip6;
		add(i, qp);
	}
	run(NS_PER_MS);
	assert_true(nic_done(nodes[0]) && nic_done(nodes[1]));
	assert_int_equal(nic_stats(nodes[0])->rx_crossed_packets, 0);
	assert_true(nic_stats(nodes[1])->rx_crossed_packets > 0);
	for (unsigned int i = 0; i < NODES; i++)
		assert_int_equal(nic_stats(nodes[i])->retransmitted_packets, 0);
	destroy();
}

TEST(number_of_nobody_crosses_once_and_is_dropped)
{
	struct roce_path path = host_path(2, 1, PAIR_QPN + 7);
	struct roce_fields fields = {.opcode = RC_ACK};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pools.control);
	size_t len;

	create();
	len = roce_build(rte_pktmbuf_mtod(m, uint8_t *), 200, &path, &fields, NULL, 0);
	rte_pktmbuf_append(m, (uint16_t)len);
	nodes[0]->ops->rx(nodes[0], 0, &m, 1, 0);
	assert_int_equal(nodes[1]->ops->next_ns(nodes[1], 0), 0);
	run(1000);
	assert_int_equal(nic_stats(nodes[0])->rx_crossed_packets, 1);
	assert_int_equal(nic_stats(nodes[1])->rx_crossed_packets, 0);
	assert_int_equal(nic_stats(nodes[1])->drops[NIC_DROP_UNKNOWN_QP], 1);
	assert_int_equal(nic_stats(nodes[1])->rx_packets, 0);
	destroy();
}

TEST(busy_nodes_halve_the_wire_and_one_alone_has_all_of_it)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint64_t before;

	params[0].cc = params[1].cc = CC_NONE;
	qp.message_bytes = 1 << 20;
	qp.depth = 4;
	qp.messages = 0;
	create();
	add(0, qp);
	qp.stop_ns = 2 * NS_PER_MS;
	add(1, qp);
	run(2 * NS_PER_MS);
	/* 40 Gb/s for 2 ms are 10 MB. */
	assert_in_range(wire_out[0] + wire_out[1], 9950000, 10050000);
	assert_in_range(wire_out[0], 4950000, 5050000);
	run(4 * NS_PER_MS);
	before = wire_out[0];
	run(5 * NS_PER_MS);
	assert_in_range(wire_out[0] - before, 4950000, 5010000);
	assert_true(nic_done(nodes[1]));
	destroy();
}

TEST(pause_frame_at_one_node_stops_both)
{
	struct nic_qp_params qp = nic_test_qp(0);
	uint16_t quanta[8] = {[3] = 65535};
	uint64_t before[NODES];
	struct rte_mbuf *m;

	qp.message_bytes = 1 << 20;
	qp.depth = 4;
	qp.messages = 0;
	create();
	add(0, qp);
	add(1, qp);
	run(100 * NS_PER_US);
	m = rte_pktmbuf_alloc(pools.control);
	pfc_frame_build((uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES), params[PEER].mac, 1 << 3,
			quanta);
	nodes[1]->ops->rx(nodes[1], 0, &m, 1, now_ns);
	run(now_ns + 1);
	memcpy(before, wire_out, sizeof(before));
	/* 65535 quanta are 839 us at 40 Gb/s. */
	run(now_ns + 800 * NS_PER_US);
	assert_memory_equal(wire_out, before, sizeof(before));
	assert_int_equal(nic_stats(nodes[0])->rx_pause_frames, 0);
	assert_int_equal(nic_stats(nodes[1])->rx_pause_frames, 1);
	run(now_ns + 100 * NS_PER_US);
	for (unsigned int i = 0; i < NODES; i++)
		assert_true(wire_out[i] > before[i]);
	destroy();
}

TEST(what_a_neighbour_tells_reaches_both)
{
	struct nic_qp_params qp = nic_test_qp(0);

	memset(qp.peer_mac, 0, 6);
	create();
	for (unsigned int i = 0; i < 4; i++)
		add(i, qp);
	run(NS_PER_MS);
	assert_true(nic_done(nodes[0]) && nic_done(nodes[1]));
	for (unsigned int i = 0; i < NODES; i++) {
		assert_int_equal(nic_stats(nodes[i])->neigh.neigh_learnt, 1);
		assert_int_equal(nic_stats(nodes[i])->drops[NIC_DROP_NOT_FOR_US], 0);
	}
	destroy();
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
