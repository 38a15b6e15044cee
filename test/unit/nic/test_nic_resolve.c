/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers given by address only: QPs wait, ask, follow their peer, and our own address is told. */
#include "unit/nic/nic_test.h"

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "nic/core/core.h"
#include "nic/observe/flow_info.h"
#include "nic/observe/wait.h"
#include "nic/neighbour/nic_resolve.h"
#include "wire/neighbour/arp.h"
#include "wire/neighbour/icmp.h"
#include "wire/neighbour/nd.h"

static struct nic_params params[2];
static struct nic_pools pools;
static struct node *nic[2];
static uint64_t now_ns;
static unsigned int requests, data; /* frames on the wire so far */

static int
setup(void **state)
{
	(void)state;
	now_ns = 0;
	requests = data = 0;
	for (unsigned int h = 0; h < 2; h++)
		nic_test_params(&params[h], h);
	nic_test_pools(&pools, 512, 512);
	return 0;
}

static void
create(unsigned int hosts)
{
	for (unsigned int h = 0; h < hosts; h++) {
		nic[h] = nic_create(&params[h], &pools);
		assert_non_null(nic[h]);
	}
}

static void
destroy(unsigned int hosts)
{
	for (unsigned int h = 0; h < hosts; h++)
		nic_destroy(nic[h]);
	nic_test_pools_free(&pools);
}

static void
add(unsigned int host, bool requester, bool v6, bool tagged)
{
	struct nic_qp_params qp = nic_test_qp(host);

	memset(qp.peer_mac, 0, 6);
	qp.peer_ip = v6 ? params[1 - host].ip6 : params[1 - host].ip;
	qp.peer_qpn = PAIR_QPN + nic_qp_count(nic[host]);
	qp.requester = requester;
	qp.tagged = tagged;
	qp.vlan_tci = tagged ? 0x6064 : 0;
	assert_true(nic_add_qp(nic[host], &qp, now_ns) > 0);
}

static bool
is_request(const struct rte_mbuf *m)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view eth;
	struct arp arp;
	struct nd nd;

	assert_int_equal(frame_parse(buf, m->data_len, &eth), FRAME_OK);
	return (arp_parse(buf, m->data_len, &eth, &arp) && arp.op == ARP_REQUEST) ||
	       (nd_parse(buf, &eth, &nd) && nd.type == ND_SOLICITATION);
}

/* One frame from one to the other at once, or to nowhere. @return false: it has none now. */
static bool
carry(unsigned int from, bool lose)
{
	struct rte_mbuf *m;

	if (nic[from]->ops->tx(nic[from], 0, &m, 1, now_ns) == 0)
		return false;
	requests += is_request(m);
	data += !is_request(m);
	if (lose)
		rte_pktmbuf_free(m);
	else
		nic[1 - from]->ops->rx(nic[1 - from], 0, &m, 1, now_ns);
	return true;
}

/* Both, until a time. */
static void
run(uint64_t until_ns, bool lose)
{
	for (;;) {
		uint64_t next_ns = nic[0]->ops->next_ns(nic[0], 0);
		uint64_t other_ns = nic[1]->ops->next_ns(nic[1], 0);

		next_ns = next_ns < other_ns ? next_ns : other_ns;
		if (next_ns > until_ns)
			break;
		now_ns = next_ns > now_ns ? next_ns : now_ns;
		for (unsigned int h = 0; h < 2; h++)
			while (carry(h, lose))
				;
	}
	now_ns = until_ns;
}

TEST(messages_complete_between_peers_that_know_addresses_only)
{
	create(2);
	for (unsigned int kind = 0; kind < 4; kind++)
		for (unsigned int h = 0; h < 2; h++)
			add(h, h == 0, kind & 1, kind & 2);
	run(NS_PER_MS, false);
	assert_true(nic_done(nic[0]));
	for (uint32_t i = 0; i < 4; i++) {
		struct nic_qp_info info;

		nic_qp_info(nic[1], i, &info);
		assert_int_equal(info.rx_messages, 4);
		assert_int_equal(info.rx_payload_bytes, 4 * 2560);
	}
	/* Four neighbours: two versions, with and without a tag. The other host hears us ask and
	 * need not. */
	assert_int_equal(nic_stats(nic[0])->neigh_requests_sent, 4);
	assert_int_equal(nic_stats(nic[0])->neigh.neigh_learnt, 4);
	assert_int_equal(nic_stats(nic[1])->neigh.neigh_learnt, 4);
	assert_int_equal(nic_stats(nic[0])->retransmitted_packets, 0);
	destroy(2);
}

/* Another address of a host. */
static struct field_ip
other_ip(unsigned int host, bool v6, uint8_t last)
{
	struct field_ip ip = v6 ? params[host].ip6 : params[host].ip;

	ip.addr[v6 ? 15 : 3] = last;
	return ip;
}

/*
 * Each flow has addresses of its own at both ends. Flows 2 and 3 reach the peer through the address
 * of flows 0 and 1, as through a router.
 */
TEST(flow_with_addresses_of_its_own_asks_from_them_and_is_answered_at_them)
{
	static const uint8_t macs[2][6] = {{2, [5] = 0xAA}, {2, [5] = 0xBB}};

	create(2);
	for (unsigned int k = 0; k < 4; k++)
		for (unsigned int h = 0; h < 2; h++) {
			bool v6 = k & 1, routed = k & 2;
			struct nic_qp_params qp = nic_test_qp(h);

			memset(qp.peer_mac, 0, 6);
			memcpy(qp.local_mac, macs[h], 6);
			qp.local_ip = other_ip(h, v6, (uint8_t)(100 + h + (routed ? 10 : 0)));
			qp.peer_ip = other_ip(1 - h, v6, (uint8_t)(101 - h + (routed ? 10 : 0)));
			if (routed)
				qp.next_hop = other_ip(1 - h, v6, (uint8_t)(101 - h));
			qp.peer_qpn = PAIR_QPN + k;
			qp.requester = h == 0;
			assert_true(nic_add_qp(nic[h], &qp, now_ns) > 0);
		}
	run(NS_PER_MS, false);
	assert_true(nic_done(nic[0]));
	for (uint32_t i = 0; i < 4; i++) {
		struct nic_qp_info info;
		struct nic_qp_wait wait;

		assert_true(nic_qp_info(nic[1], i, &info));
		assert_int_equal(info.rx_messages, 4);
		assert_true(nic_qp_wait(nic[0], i, &wait));
		assert_int_equal(wait.next_mac, 0x0200000000BB);
	}
	/* The hops are neighbours of the direct flows already. */
	assert_int_equal(nic_stats(nic[0])->neigh_requests_sent, 2);
	assert_int_equal(nic_stats(nic[1])->neigh_requests_answered, 2);
	for (unsigned int drop = 0; drop < NIC_DROPS; drop++)
		assert_int_equal(nic_stats(nic[1])->drops[drop], 0);
	destroy(2);
}

/* No answer comes any more that would start it. */
TEST(qp_of_a_known_neighbour_starts_at_once)
{
	create(2);
	add(0, true, false, false);
	add(1, false, false, false);
	run(NS_PER_MS, false);
	assert_true(nic_done(nic[0]));
	add(1, false, false, false);
	add(0, true, false, false);
	assert_false(nic_done(nic[0]));
	run(2 * NS_PER_MS, false);
	assert_true(nic_done(nic[0]));
	assert_int_equal(nic_stats(nic[0])->neigh_requests_sent, 1);
	destroy(2);
}

TEST(nothing_but_questions_leaves_before_the_answer)
{
	uint32_t unresolved;

	create(2);
	add(0, true, false, false);
	add(0, true, false, false);
	add(0, true, true, false);
	run(4 * NS_PER_SEC, true);
	assert_int_equal(data, 0);
	/* At 0, 1, 2 and 3 s, in both versions; then it is given up, and asked rarely. */
	assert_int_equal(requests, 8);
	assert_int_equal(nic_stats(nic[0])->neigh.neigh_failed, 2);
	assert_int_equal(nic_neighbours(nic[0], &unresolved), 2);
	assert_int_equal(unresolved, 2);
	run(14 * NS_PER_SEC, true);
	assert_int_equal(requests, 10);
	destroy(2);
}

TEST(late_answer_starts_every_qp_of_the_neighbour)
{
	struct arp reply = {.op = ARP_REPLY, .sender_mac = {2, 0, 0, 0, 0, 9}};
	struct l2 l2 = {.src_mac = {2, 0, 0, 0, 0, 9}};
	uint8_t frame[ARP_FRAME_BYTES];
	struct rte_mbuf *m;

	params[0].max_qps = 200;
	create(2);
	for (unsigned int i = 0; i < 200; i++)
		add(0, true, false, false);
	run(500 * NS_PER_MS, true);
	assert_int_equal(data, 0);
	memcpy(reply.sender_ip, params[1].ip.addr, 4);
	memcpy(reply.target_ip, params[0].ip.addr, 4);
	memcpy(l2.dst_mac, params[0].mac, 6);
	arp_build(frame, &l2, &reply);
	m = rte_pktmbuf_alloc(pools.control);
	memcpy(rte_pktmbuf_append(m, sizeof(frame)), frame, sizeof(frame));
	nic[0]->ops->rx(nic[0], 0, &m, 1, now_ns);
	/* Two messages of three packets each. */
	while (data < 200 * 6) {
		uint64_t next_ns = nic[0]->ops->next_ns(nic[0], 0);

		assert_true(next_ns <= 501 * NS_PER_MS);
		now_ns = next_ns > now_ns ? next_ns : now_ns;
		if (nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns) == 0)
			continue;
		assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), reply.sender_mac, 6);
		rte_pktmbuf_free(m);
		data++;
	}
	for (uint32_t i = 0; i < 200; i++) {
		struct nic_qp_info info;

		nic_qp_info(nic[0], i, &info);
		assert_int_equal(info.tx_packets, 6);
	}
	destroy(2);
}

TEST(peer_with_a_new_address_is_followed)
{
	params[0].neigh_reachable_time_ns = 10 * NS_PER_MS;
	params[0].neigh_retrans_time_ns = NS_PER_MS;
	create(2);
	add(0, true, false, false);
	add(1, false, false, false);
	run(NS_PER_MS, false);
	assert_true(nic_done(nic[0]));
	/* The same host on another card. */
	nic_destroy(nic[1]);
	params[1].mac[5] = 0x77;
	nic[1] = nic_create(&params[1], &pools);
	add(1, false, false, false);
	run(20 * NS_PER_MS, false);
	assert_int_equal(nic_stats(nic[0])->neigh.neigh_changed, 1);
	destroy(2);
}

TEST(frame_of_the_peer_is_as_good_as_an_answer)
{
	create(2);
	{
		struct nic_qp_params qp = nic_test_qp(0);

		qp.peer_qpn = PAIR_QPN;
		assert_true(nic_add_qp(nic[0], &qp, 0) > 0);
	}
	add(1, false, false, false);
	/* Host 0 knows host 1; its first frame arrives before host 1 has asked for anything. */
	assert_true(carry(0, false));
	assert_int_equal(data, 1);
	assert_int_equal(nic_stats(nic[1])->neigh.neigh_learnt, 1);
	run(NS_PER_MS, false);
	assert_true(nic_done(nic[0]));
	destroy(2);
}

static void
feed(const uint8_t *frame, size_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pools.control);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), frame, len);
	nic[0]->ops->rx(nic[0], 0, &m, 1, now_ns);
}

static size_t
arp_question(uint8_t frame[ARP_FRAME_BYTES], uint8_t last_of_target, uint16_t vlan_id)
{
	struct l2 l2 = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, {2, 0, 0, 0, 0, 5}, true, vlan_id};
	struct arp arp = {
		ARP_REQUEST, {2, 0, 0, 0, 0, 5}, {10, 0, 0, 5}, {0}, {10, 0, 0, last_of_target}};

	return arp_build(frame, &l2, &arp);
}

TEST(our_address_is_told_on_the_vlan_that_asked)
{
	uint8_t frame[ARP_FRAME_BYTES];
	struct frame_view eth;
	struct rte_mbuf *m;
	struct arp arp;

	create(1);
	feed(frame, arp_question(frame, 9, 7));
	assert_int_equal(nic_stats(nic[0])->drops[NIC_DROP_NOT_FOR_US], 1);
	feed(frame, arp_question(frame, 1, 7));
	assert_int_equal(nic[0]->ops->next_ns(nic[0], 0), 0);
	assert_int_equal(nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns), 1);
	assert_int_equal(frame_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &eth), FRAME_OK);
	assert_true(eth.tagged && eth.vlan_tci == 7);
	assert_true(arp_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &eth, &arp));
	assert_int_equal(arp.op, ARP_REPLY);
	assert_memory_equal(arp.sender_mac, params[0].mac, 6);
	assert_memory_equal(arp.target_mac, ((uint8_t[6]){2, 0, 0, 0, 0, 5}), 6);
	rte_pktmbuf_free(m);
	assert_int_equal(nic_stats(nic[0])->neigh_requests_answered, 1);
	destroy(1);
}

TEST(flood_of_questions_is_bounded_and_counted)
{
	uint8_t frame[ARP_FRAME_BYTES];
	struct rte_mbuf *m;
	unsigned int answers = 0;

	create(1);
	arp_question(frame, 1, 7);
	for (unsigned int i = 0; i < 300; i++)
		feed(frame, sizeof(frame));
	while (nic[0]->ops->next_ns(nic[0], 0) != NEVER_NS) {
		now_ns += 100;
		answers += nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns) == 1;
		if (answers > 0)
			rte_pktmbuf_free(m);
	}
	assert_int_equal(answers, 64);
	assert_int_equal(nic_stats(nic[0])->drops[NIC_DROP_ANSWER_OVERFLOW], 300 - 64);
	destroy(1);
}

TEST(answers_wait_while_their_priority_is_paused)
{
	uint8_t frame[ARP_FRAME_BYTES], pause[PFC_FRAME_BYTES];
	uint16_t quanta[8] = {[3] = 100};
	struct rte_mbuf *m;
	uint64_t open_ns;

	params[0].qos.dscp_to_tc_map[0] = 3;
	create(1);
	pfc_frame_build(pause, (uint8_t[6]){2, 0, 0, 0, 0, 9}, 1 << 3, quanta);
	feed(pause, sizeof(pause));
	feed(frame, arp_question(frame, 1, 7));
	assert_int_equal(nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns), 0);
	open_ns = nic[0]->ops->next_ns(nic[0], 0);
	/* 100 quanta of 512 bits at 40 Gb/s */
	assert_int_equal(open_ns, 1280);
	now_ns = open_ns;
	assert_int_equal(nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns), 1);
	rte_pktmbuf_free(m);
	destroy(1);
}

/* tx() that gives nothing has looked at all that was due, the neighbour of a new flow included. */
TEST(question_of_a_flow_that_comes_leaves_with_the_same_call)
{
	static const uint32_t come[] = {0};
	static const struct nic_flow_update live[1];
	const struct nic_flow_place place = {.n_qps = 1};
	struct nic_qp_params qp = nic_test_qp(0);
	const struct nic_reload reload = {
		.params = params[0], .flows = live, .n_flows = 1, .added = come, .n_added = 1};
	struct rte_mbuf *m;

	create(1);
	assert_int_equal(nic_reserve_flows(nic[0], 1), 0);
	memset(qp.peer_mac, 0, sizeof(qp.peer_mac));
	assert_int_equal(nic_prepare_flow(nic[0], &qp, &place), 0);
	nic_reload(nic[0], &reload);
	assert_int_equal(nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns), 1);
	rte_pktmbuf_free(m);
	assert_true(nic_reload_is_done(nic[0]));
	assert_true(nic[0]->ops->next_ns(nic[0], 0) > now_ns);
	destroy(1);
}

/* The next frame is a request for 10.0.0.254. @return the last byte of its sender's MAC address. */
static uint8_t
who_asks(void)
{
	struct frame_view eth;
	struct rte_mbuf *m;
	struct arp arp;

	assert_int_equal(nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns), 1);
	assert_int_equal(frame_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &eth), FRAME_OK);
	assert_true(arp_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &eth, &arp));
	assert_int_equal(arp.op, ARP_REQUEST);
	assert_memory_equal(arp.target_ip, ((uint8_t[4]){10, 0, 0, 254}), 4);
	/* So that each flow's IP and MAC address are seen to be its own. */
	assert_int_equal(arp.sender_ip[3], arp.sender_mac[5]);
	rte_pktmbuf_free(m);
	return arp.sender_mac[5];
}

static void
remove_flow(const struct nic_reload *r)
{
	struct rte_mbuf *m;

	nic_reload(nic[0], r);
	while (!nic_flow_is_free(nic[0], r->removed[0]) ||
	       nic[0]->ops->next_ns(nic[0], 0) <= now_ns) {
		now_ns++;
		assert_int_equal(nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns), 0);
	}
}

/* A responder with its own addresses; its peer is behind the router 10.0.0.254. */
static struct nic_qp_params
routed_qp(uint32_t flow_id, uint8_t last)
{
	struct nic_qp_params qp = nic_test_qp(0);

	memset(qp.peer_mac, 0, sizeof(qp.peer_mac));
	qp.requester = false;
	qp.flow_id = flow_id;
	qp.peer_ip = (struct field_ip){4, {10, 9, 0, last}};
	qp.next_hop = (struct field_ip){4, {10, 0, 0, 254}};
	qp.local_ip = other_ip(0, false, last);
	memcpy(qp.local_mac, (uint8_t[6]){2, 0, 0, 0, 0, last}, 6);
	return qp;
}

/* Answers to a flow that has gone are dropped: its neighbour would never be confirmed again. */
TEST(flow_that_remains_asks_for_the_neighbour_that_it_shared)
{
	static const uint32_t ids[] = {0, 1};
	static const struct nic_flow_update live[2];
	struct nic_reload r = {.params = params[0], .flows = live, .n_flows = 2};

	create(1);
	assert_int_equal(nic_reserve_flows(nic[0], 2), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct nic_qp_params qp = routed_qp(i, (uint8_t)(11 + i));
		const struct nic_flow_place place = {.first_item = i, .n_qps = 1};

		assert_int_equal(nic_prepare_flow(nic[0], &qp, &place), 0);
	}
	r.added = ids;
	r.n_added = 2;
	nic_reload(nic[0], &r);
	assert_int_equal(who_asks(), 12);
	r.n_added = 0;
	r.removed = &ids[1];
	r.n_removed = 1;
	remove_flow(&r);
	now_ns = params[0].neigh_retrans_time_ns;
	assert_int_equal(who_asks(), 11);
	destroy(1);
}

/* The connection manager's datagrams go to the neighbour of a flow that is removed. */
TEST(nic_asks_for_its_neighbour_when_the_flow_is_gone)
{
	static const uint32_t id = 0;
	static const struct nic_flow_update live;
	struct nic_reload r = {.params = params[0], .flows = &live, .n_flows = 1};
	const struct neigh_key key = {.ip = {4, {10, 0, 0, 254}}};

	for (unsigned int shared = 0; shared < 2; shared++) {
		const struct nic_flow_place place = {.first_item = 0, .n_qps = 1};
		struct nic_qp_params qp = routed_qp(0, 11);
		struct neigh_table *table;

		if (shared)
			setup(NULL);
		create(1);
		table = nic_of(nic[0])->neighbours->table;
		assert_int_equal(nic_reserve_flows(nic[0], 1), 0);
		assert_int_equal(nic_prepare_flow(nic[0], &qp, &place), 0);
		r.added = &id;
		r.n_added = 1;
		r.n_removed = 0;
		nic_reload(nic[0], &r);
		assert_int_equal(who_asks(), 11);
		if (shared)
			assert_true(neigh_add(table, &key, now_ns) >= 0);
		r.n_added = 0;
		r.removed = &id;
		r.n_removed = 1;
		remove_flow(&r);
		if (!shared)
			assert_true(neigh_add(table, &key, now_ns) >= 0);
		now_ns = shared ? params[0].neigh_retrans_time_ns : now_ns + NS_PER_US;
		assert_int_equal(who_asks(), 1);
		destroy(1);
	}
}

/* The MAC address to which the first QP sends, as a number; 0: not known yet. */
static uint64_t
next_mac(void)
{
	struct nic_qp_wait wait;

	assert_true(nic_qp_wait(nic[0], 0, &wait));
	return wait.next_mac;
}

/* An ARP message from the first peer, or an advertisement of it, after which the scan runs. */
static void
tell(const uint8_t mac[6], bool v6, const uint8_t to[16])
{
	struct arp arp = {.op = ARP_REPLY};
	struct nd nd = {.type = ND_ADVERTISEMENT, .flags = ND_OVERRIDE, .has_mac = true};
	struct l2 l2 = {.src_mac = {2, 0, 0, 0, 0, 9}};
	uint8_t frame[ND_FRAME_BYTES];
	struct rte_mbuf *m;

	memcpy(l2.dst_mac, params[0].mac, 6);
	memcpy(arp.sender_mac, mac, 6);
	memcpy(arp.sender_ip, params[1].ip.addr, 4);
	memcpy(nd.mac, mac, 6);
	memcpy(nd.src_ip, params[1].ip6.addr, 16);
	memcpy(nd.target_ip, params[1].ip6.addr, 16);
	memcpy(v6 ? nd.dst_ip : arp.target_ip, to, v6 ? 16 : 4);
	feed(frame, v6 ? nd_build(frame, &l2, &nd) : arp_build(frame, &l2, &arp));
	/* Until the wire is free again after the requests. */
	while (nic[0]->ops->next_ns(nic[0], 0) <= now_ns + NS_PER_US) {
		now_ns += NS_PER_US;
		if (nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns) == 1)
			rte_pktmbuf_free(m);
	}
}

TEST(neighbour_has_no_address_that_is_nobodys_or_ours)
{
	static const uint8_t bad[][6] = {{0}, {2, [5] = 0xAA}, {0xFF, 1, 1, 1, 1, 1}};

	for (unsigned int v6 = 0; v6 < 2; v6++) {
		struct nic_qp_params qp = nic_test_qp(0);
		const uint8_t *to = v6 ? params[0].ip6.addr : params[0].ip.addr;

		create(1);
		memset(qp.peer_mac, 0, sizeof(qp.peer_mac));
		qp.peer_ip = v6 ? params[1].ip6 : params[1].ip;
		qp.requester = false;
		assert_true(nic_add_qp(nic[0], &qp, now_ns) > 0);
		memcpy(qp.local_mac, bad[1], 6);
		qp.flow_id = 1;
		assert_true(nic_add_qp(nic[0], &qp, now_ns) > 0);
		for (unsigned int i = 0; i < ARRAY_LEN(bad); i++) {
			tell(bad[i], v6, to);
			assert_int_equal(nic_stats(nic[0])->neigh.neigh_learnt, 0);
		}
		tell(params[0].mac, v6, to);
		assert_int_equal(nic_stats(nic[0])->neigh.neigh_learnt, 0);
		tell((uint8_t[6]){2, [5] = 9}, v6, to);
		assert_int_equal(next_mac(), 0x020000000009);
		nic_destroy(nic[0]);
	}
	nic_test_pools_free(&pools);
}

/* Its frames come back by a ring or a looped cable. */
TEST(nic_that_sends_to_itself_is_its_own_neighbour)
{
	struct nic_qp_params qp = nic_test_qp(0);

	create(1);
	memset(qp.peer_mac, 0, sizeof(qp.peer_mac));
	qp.peer_ip = params[0].ip;
	qp.requester = false;
	params[1].ip = params[0].ip;
	assert_true(nic_add_qp(nic[0], &qp, now_ns) > 0);
	tell(params[0].mac, false, params[0].ip.addr);
	assert_int_equal(nic_stats(nic[0])->neigh.neigh_learnt, 1);
	destroy(1);
}

TEST(advertisement_to_another_host_is_not_for_us)
{
	static const uint8_t all_nodes[16] = {0xFF, 0x02, [15] = 1};
	struct field_ip other = other_ip(0, true, 77);

	create(1);
	add(0, false, true, false);
	tell((uint8_t[6]){2, [5] = 8}, true, other.addr);
	assert_int_equal(next_mac(), 0);
	assert_int_equal(nic_stats(nic[0])->drops[NIC_DROP_NOT_FOR_US], 1);
	tell((uint8_t[6]){2, [5] = 8}, true, all_nodes);
	assert_int_equal(next_mac(), 0x020000000008);
	destroy(1);
}

/*
 * Attack curve: a stranger claims the address of the peer, by ARP or by neighbour discovery, at a
 * rate. @return hundredths of the data frames that went to the peer.
 */
static uint32_t
play_claims(bool v6, bool asks, uint64_t first_ns, uint64_t rate)
{
	static const uint8_t stranger[6] = {2, 0, 0, 0, 0x66, 0x66};
	struct nic_qp_params qp = nic_test_qp(0);
	struct arp arp = {.op = asks ? ARP_REQUEST : ARP_REPLY};
	struct nd nd = {.type = asks ? ND_SOLICITATION : ND_ADVERTISEMENT,
			.flags = asks ? 0 : ND_OVERRIDE | ND_SOLICITED,
			.has_mac = true};
	struct l2 l2 = {0};
	uint8_t frame[ND_FRAME_BYTES];
	uint64_t right = 0, all = 0, n = 0;

	now_ns = 0;
	create(2);
	memset(qp.peer_mac, 0, sizeof(qp.peer_mac));
	qp.peer_ip = v6 ? params[1].ip6 : params[1].ip;
	qp.messages = 0;
	qp.rate_cap_bps = 1000000;
	assert_true(nic_add_qp(nic[0], &qp, now_ns) > 0);
	qp.peer_ip = v6 ? params[0].ip6 : params[0].ip;
	qp.requester = false;
	assert_true(nic_add_qp(nic[1], &qp, now_ns) > 0);
	memcpy(l2.dst_mac, params[0].mac, 6);
	memcpy(l2.src_mac, stranger, 6);
	memcpy(arp.sender_mac, stranger, 6);
	memcpy(arp.sender_ip, params[1].ip.addr, 4);
	memcpy(arp.target_ip, params[0].ip.addr, 4);
	memcpy(nd.mac, stranger, 6);
	memcpy(nd.src_ip, params[1].ip6.addr, 16);
	memcpy(nd.dst_ip, params[0].ip6.addr, 16);
	memcpy(nd.target_ip, asks ? params[0].ip6.addr : params[1].ip6.addr, 16);
	for (; now_ns < 400 * NS_PER_MS; now_ns += 5 * NS_PER_US) {
		for (; now_ns >= first_ns && n <= (now_ns - first_ns) * rate / NS_PER_SEC; n++)
			feed(frame, v6 ? nd_build(frame, &l2, &nd) : arp_build(frame, &l2, &arp));
		for (unsigned int h = 0; h < 2; h++) {
			struct rte_mbuf *m;

			while (nic[h]->ops->tx(nic[h], 0, &m, 1, now_ns) == 1) {
				const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
				bool ours = memcmp(buf, stranger, 6) != 0;
				struct frame_view eth;

				frame_parse(buf, m->data_len, &eth);
				if (h == 0 && eth.ip_proto == IP_PROTO_UDP) {
					all++;
					right += ours;
				}
				if (ours)
					nic[1 - h]->ops->rx(nic[1 - h], 0, &m, 1, now_ns);
				else
					rte_pktmbuf_free(m);
			}
		}
	}
	for (unsigned int h = 0; h < 2; h++)
		nic_destroy(nic[h]);
	assert_true(all > 40);
	return (uint32_t)(right * 100 / all);
}

/* Its own answer came before the first claim: it holds, through many times to ask again. */
TEST(claims_of_a_stranger_do_not_move_a_peer)
{
	static const uint64_t rates[] = {1, 100, 10000, 100000};
	unsigned int bad = 0;

	for (unsigned int h = 0; h < 2; h++) {
		params[h].neigh_reachable_time_ns = 50 * NS_PER_MS;
		params[h].neigh_retrans_time_ns = 5 * NS_PER_MS;
	}
	for (unsigned int kind = 0; kind < 4; kind++) {
		printf("%s:", (const char *const[]){"ARP replies", "ARP requests", "advertisements",
						    "solicitations"}[kind]);
		for (unsigned int i = 0; i < ARRAY_LEN(rates); i++) {
			uint32_t share = play_claims(kind & 2, kind & 1, 10 * NS_PER_MS, rates[i]);

			bad += share < 100;
			printf("  %u/s %u %%", (unsigned int)rates[i], share);
		}
		/* A single one that is earlier than the peer's own answer. */
		printf(", before: %u %%\n", play_claims(kind & 2, kind & 1, 0, 1));
	}
	assert_int_equal(bad, 0);
	nic_test_pools_free(&pools);
}

/* As of two tenants that use the same addresses. */
TEST(address_of_a_flow_is_told_on_its_vlan_only)
{
	uint8_t frame[ARP_FRAME_BYTES];
	struct rte_mbuf *m;

	create(1);
	for (uint32_t i = 0; i < 2; i++) {
		struct nic_qp_params qp = routed_qp(i, 20);

		/* So that nothing is asked meanwhile. */
		qp.peer_mac[0] = 2;
		qp.next_hop.version = 0;
		qp.local_mac[5] = (uint8_t)(20 + i);
		qp.tagged = i == 1;
		qp.vlan_tci = i == 1 ? 0xE007 : 0;
		assert_true(nic_add_qp(nic[0], &qp, now_ns) > 0);
	}
	for (uint16_t vlan_id = 0; vlan_id < 9; vlan_id++) {
		feed(frame, arp_question(frame, 20, vlan_id));
		if (vlan_id != 0 && vlan_id != 7) {
			assert_int_equal(nic[0]->ops->next_ns(nic[0], 0), NEVER_NS);
			continue;
		}
		now_ns += NS_PER_US;
		assert_int_equal(nic[0]->ops->tx(nic[0], 0, &m, 1, now_ns), 1);
		assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[11], vlan_id == 7 ? 21 : 20);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(nic_stats(nic[0])->drops[NIC_DROP_NOT_FOR_US], 7);
	destroy(1);
}

/* It may be forged, or come by another way than the router's. */
TEST(frame_of_a_peer_does_not_tell_the_address_of_a_router)
{
	struct nic_qp_params qp = nic_test_qp(0);

	create(2);
	qp.peer_qpn = PAIR_QPN;
	assert_true(nic_add_qp(nic[0], &qp, 0) > 0);
	for (uint32_t i = 0; i < 2; i++) {
		qp = nic_test_qp(1);
		memset(qp.peer_mac, 0, sizeof(qp.peer_mac));
		qp.peer_qpn = PAIR_QPN + i;
		qp.flow_id = i;
		qp.next_hop = (struct field_ip){4, {10, 0, 0, 254}};
		assert_true(nic_add_qp(nic[1], &qp, 0) > 0);
	}
	assert_true(carry(0, false));
	assert_int_equal(data, 1);
	assert_int_equal(nic_stats(nic[1])->neigh.neigh_learnt, 0);
	/* The flow answers all the same. */
	run(NS_PER_MS, false);
	assert_true(nic_done(nic[0]));
	for (uint32_t i = 0; i < 2; i++) {
		struct nic_qp_wait wait;

		assert_true(nic_qp_wait(nic[1], i, &wait));
		assert_int_equal(wait.next_mac, i == 0 ? 0x020000000001 : 0);
	}
	destroy(2);
}

TEST_MAIN(.begin = start_eal, .before_each = setup)
