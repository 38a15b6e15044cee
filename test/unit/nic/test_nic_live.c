/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows that come and go at random while two hosts exchange frames: each message arrives once, no
 * flow notices another's coming or going, and no number, place or slot is lost.
 */
#include "unit/nic/nic_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers/prng.h"
#include "base/sets/ranges.h"
#include "nic/change/await.h"
#include "nic/observe/flow_info.h"
#include "nic/observe/wait.h"
#include "nic/port/share.h"

#define HOSTS 2
#define MOST_NODES 3
#define FLOWS 7
#define MAX_QPS 40u
#define DELAY_NS 1500
#define IN_FLIGHT 8192u

struct host {
	struct nic_params params;
	struct nic_share *share;
	struct node *node[MOST_NODES];
	struct nic_pools pools[MOST_NODES];
	struct ranges numbers;
	struct nic_flow_update live[FLOWS];
	struct nic_reload reload;
	uint32_t go[FLOWS], come[FLOWS];
	/* which flows wait for which, in the words of awaits */
	struct nic_awaits awaits;
	uint32_t ids[2 * FLOWS];
	struct nic_await_list after, barrier;
};

/* One flow, from host 0 to host 1, or none. */
struct flow {
	bool there;
	uint32_t n_qps, first[HOSTS];
	struct nic_qp_params params[HOSTS];
	bool awaits, in_barrier;
};

static struct host hosts[HOSTS];
static struct flow flows[FLOWS];
static uint32_t n_nodes;
static uint64_t now_ns;
static struct prng rnd;
static unsigned int loss_in; /* one of so many frames is lost; 0: none */
static uint64_t gone_messages;

static struct {
	struct rte_mbuf *m;
	uint64_t due_ns;
	unsigned int to;
} flying[IN_FLIGHT];
static uint32_t head, tail;

static void
carry(unsigned int from, struct rte_mbuf *m)
{
	struct frame_view eth;

	/* Any node's queue may be where it arrives, in an mbuf of that node. */
	if (loss_in > 0 && prng_below(&rnd, loss_in) == 0) {
		rte_pktmbuf_free(m);
		return;
	}
	assert_int_equal(frame_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &eth), FRAME_OK);
	if (eth.ip_proto == IP_PROTO_UDP && prng_below(&rnd, 50) == 0)
		ecn_set_ce(rte_pktmbuf_mtod_offset(m, uint8_t *, eth.l3_off), eth.ip_version);
	assert_true(tail - head < IN_FLIGHT);
	flying[tail % IN_FLIGHT].m = m;
	flying[tail % IN_FLIGHT].due_ns = now_ns + DELAY_NS;
	flying[tail++ % IN_FLIGHT].to = 1 - from;
}

static void
step(void)
{
	while (head != tail && flying[head % IN_FLIGHT].due_ns <= now_ns) {
		struct rte_mbuf *m = flying[head % IN_FLIGHT].m;
		unsigned int to = flying[head++ % IN_FLIGHT].to;
		struct node *node = hosts[to].node[prng_below(&rnd, n_nodes)];

		node->ops->rx(node, 0, &m, 1, now_ns);
	}
	for (unsigned int h = 0; h < HOSTS; h++) {
		for (uint32_t k = 0; k < n_nodes; k++) {
			struct node *node = hosts[h].node[k];
			struct rte_mbuf *pkts[4];
			uint16_t n;

			if (node->ops->next_ns(node, 0) > now_ns)
				continue;
			n = node->ops->tx(node, 0, pkts, 4, now_ns);
			for (uint16_t i = 0; i < n; i++)
				carry(h, pkts[i]);
		}
	}
}

static uint64_t
next_ns(void)
{
	uint64_t at_ns = head != tail ? flying[head % IN_FLIGHT].due_ns : NEVER_NS;

	for (unsigned int h = 0; h < HOSTS; h++) {
		for (uint32_t k = 0; k < n_nodes; k++) {
			uint64_t node_ns = hosts[h].node[k]->ops->next_ns(hosts[h].node[k], 0);

			at_ns = node_ns < at_ns ? node_ns : at_ns;
		}
	}
	return at_ns;
}

static void
run(uint64_t ns)
{
	uint64_t until_ns = now_ns + ns, at_ns;

	while ((at_ns = next_ns()) <= until_ns) {
		now_ns = at_ns > now_ns ? at_ns : now_ns;
		step();
		/* Two nodes that share the wire may both be early: the time goes on. */
		if (next_ns() <= now_ns)
			now_ns++;
	}
	now_ns = until_ns > now_ns ? until_ns : now_ns;
}

static void
create(uint32_t nodes, int moderation, uint64_t cnp_delay_ns)
{
	n_nodes = nodes;
	now_ns = 0;
	head = tail = 0;
	gone_messages = 0;
	memset(hosts, 0, sizeof(hosts));
	memset(flows, 0, sizeof(flows));
	for (unsigned int h = 0; h < HOSTS; h++) {
		struct host *host = &hosts[h];
		struct nic_share_params share = {.n_nodes = nodes,
						 .first_qpn = PAIR_QPN,
						 .link_speed_bps = 40 * GBPS,
						 .shaper_burst_ns = 1,
						 .rx_mbufs = 8191,
						 .socket = SOCKET_ID_ANY};

		nic_test_params(&host->params, h);
		host->params.np.np_cnp_moderation = moderation;
		host->params.np.np_cnp_delay_ns = cnp_delay_ns;
		host->params.local_ack_timeout = loss_in > 0 ? 10 : 14; /* 4 or 67 ms */
		host->params.max_rd_atomic = 4;
		host->params.measure_pacing = true;
		if (nodes > 1) {
			host->share = nic_share_create(&share);
			assert_non_null(host->share);
		}
		for (uint32_t k = 0; k < nodes; k++) {
			struct nic_params params = host->params;

			params.max_qps = nic_share_qps(host->share, MAX_QPS, k);
			nic_test_pools(&host->pools[k], 512, 512);
			host->node[k] = nic_create(&params, &host->pools[k]);
			assert_non_null(host->node[k]);
			if (nodes > 1)
				nic_join(host->node[k], host->share, k);
			assert_int_equal(nic_reserve_flows(host->node[k], FLOWS), 0);
		}
	}
}

static void
destroy(void)
{
	while (head != tail)
		rte_pktmbuf_free(flying[head++ % IN_FLIGHT].m);
	for (unsigned int h = 0; h < HOSTS; h++) {
		for (uint32_t k = 0; k < n_nodes; k++)
			nic_destroy(hosts[h].node[k]);
		nic_share_destroy(hosts[h].share);
		ranges_free(&hosts[h].numbers);
	}
	for (unsigned int h = 0; h < HOSTS; h++)
		for (uint32_t k = 0; k < n_nodes; k++)
			nic_test_pools_free(&hosts[h].pools[k]);
}

/* A flow begins after flow 0, and some are of one barrier. Those that answer do not wait. */
static void
fill_awaits(struct host *host)
{
	struct nic_awaits *a = &host->awaits;
	bool requests = host == &hosts[0];

	*a = (struct nic_awaits){
		.ids = host->ids, .after = &host->after, .barriers = &host->barrier};
	host->ids[0] = 0;
	host->barrier = (struct nic_await_list){.first = 1};
	for (uint32_t id = 0; requests && id < FLOWS; id++) {
		if (flows[id].there && flows[id].awaits) {
			host->after = (struct nic_await_list){.flow = id, .first = 0, .n = 1};
			a->n_after = 1;
		}
		if (flows[id].there && flows[id].in_barrier)
			host->ids[host->barrier.first + host->barrier.n++] = id;
	}
	a->n_barriers = host->barrier.n > 0;
	host->reload.awaits = a->n_after + a->n_barriers > 0 ? a : NULL;
}

/* The lists in reload come into force at a host, while frames pass. */
static void
reload(struct host *host)
{
	bool done;

	fill_awaits(host);
	host->reload.params = host->params;
	host->reload.flows = host->live;
	host->reload.n_flows = FLOWS;
	host->reload.removed = host->go;
	host->reload.added = host->come;
	for (uint32_t k = 0; k < n_nodes; k++)
		nic_reload(host->node[k], &host->reload);
	do {
		run(1000);
		done = true;
		for (uint32_t k = 0; k < n_nodes; k++)
			done = done && nic_reload_is_done(host->node[k]);
	} while (!done);
	host->reload.n_removed = host->reload.n_added = 0;
}

static struct nic_flow_place
place_of(const struct flow *f, unsigned int h, uint32_t k)
{
	struct nic_flow_place p = {.first_number = f->first[h], .first_item = UINT32_MAX};

	for (uint32_t number = f->first[h]; number < f->first[h] + f->n_qps; number++) {
		struct nic_location at = nic_share_find(hosts[h].share, number);

		if (at.node != k)
			continue;
		if (p.n_qps++ == 0)
			p.first_item = at.item;
	}
	if (p.n_qps == 0)
		p.first_item = 0;
	return p;
}

static void
describe(struct flow *f, uint32_t id)
{
	static const int verbs[FLOWS] = {NIC_WRITE, NIC_SEND,      NIC_READ, NIC_UD_SEND,
					 NIC_WRITE, NIC_WRITE_IMM, NIC_READ};

	for (unsigned int h = 0; h < HOSTS; h++) {
		struct nic_qp_params *qp = &f->params[h];

		*qp = nic_test_qp(h);
		qp->flow_id = id;
		qp->verb = verbs[id];
		qp->peer_qpn = PAIR_QPN + f->first[1 - h];
		qp->messages = id == 5 ? 20 : 0;
		qp->depth = 2;
		qp->message_bytes = verbs[id] == NIC_UD_SEND ? 700 : 4000;
		qp->qkey = 7;
		qp->initial_psn = 0xFFFFFA;
		if (id == 1 || id == 3) {
			qp->arrival = WORKLOAD_POISSON;
			qp->load_bps = 200000000;
			qp->seed = 1;
		}
		/* Sizes vary, and the peer is found by ARP. */
		if (id == 4) {
			qp->message_size = WORKLOAD_UNIFORM;
			memset(qp->peer_mac, 0, 6);
		}
		qp->rate_cap_bps = id == 6 ? 30000000 : 200000000;
		if (prng_below(&rnd, 16) == 0)
			qp->start_ns = now_ns + 3600 * NS_PER_SEC;
	}
}

/* Reading a QP is always allowed: before its owner has made it, and after its flow has left. */
static void
qps_are(const struct flow *f, unsigned int h, bool there)
{
	for (uint32_t number = f->first[h]; number < f->first[h] + f->n_qps; number++) {
		struct nic_location at = nic_share_find(hosts[h].share, number);
		const struct node *node = hosts[h].node[at.node];
		struct nic_qp_info info;
		struct nic_qp_wait wait;

		assert_int_equal(nic_qp_info(node, at.item, &info), there);
		assert_int_equal(nic_qp_wait(node, at.item, &wait), there);
		if (there) {
			assert_int_equal(info.local_qpn, PAIR_QPN + number);
			continue;
		}
		assert_int_equal(info.local_qpn + info.tx_packets + info.rx_packets, 0);
		assert_int_equal(wait.reason, NIC_WAIT_START);
	}
}

/* Add a flow that has its numbers and its parameters. */
static void
add(struct flow *f, uint32_t id)
{
	f->there = true;
	/* Who answers is told first. */
	for (unsigned int h = HOSTS; h-- > 0;) {
		struct host *host = &hosts[h];

		for (uint32_t k = 0; k < n_nodes; k++) {
			struct nic_flow_place p = place_of(f, h, k);

			assert_int_equal(nic_prepare_flow(host->node[k], &f->params[h], &p), 0);
		}
		host->live[id] = (struct nic_flow_update){.stopped = f->params[h].stopped,
							  .rate_cap_bps = f->params[h].rate_cap_bps,
							  .load_bps = f->params[h].load_bps};
		host->come[host->reload.n_added++] = id;
		qps_are(f, h, false);
		reload(host);
		qps_are(f, h, true);
	}
}

static void
come(uint32_t id)
{
	struct flow *f = &flows[id];

	f->awaits = f->in_barrier = false;
	f->n_qps = 1 + (uint32_t)prng_below(&rnd, 7);
	for (unsigned int h = 0; h < HOSTS; h++) {
		int64_t first = ranges_take(&hosts[h].numbers, f->n_qps, MAX_QPS);

		if (first < 0) {
			assert_int_equal(h, 0);
			return;
		}
		f->first[h] = (uint32_t)first;
	}
	describe(f, id);
	add(f, id);
}

static struct nic_flow_info
info_of(unsigned int h, uint32_t id)
{
	struct nic_flow_info info = {0};

	for (uint32_t k = 0; k < n_nodes; k++)
		nic_flow_info(hosts[h].node[k], id, &info);
	return info;
}

static bool
is_free(unsigned int h, uint32_t id)
{
	bool all = true;

	for (uint32_t k = 0; k < n_nodes; k++)
		all = all && nic_flow_is_free(hosts[h].node[k], id);
	return all;
}

static void
arrived_once(uint32_t id)
{
	struct nic_flow_info a = info_of(0, id), b = info_of(1, id);

	assert_int_equal(a.qps, flows[id].n_qps);
	assert_int_equal(b.qps, flows[id].n_qps);
	assert_int_equal(a.qps_done + a.qps_failed, a.qps);
	if (a.qps_failed > 0)
		return;
	switch (flows[id].params[0].verb) {
	case NIC_READ:
		assert_int_equal(a.sum.tx_messages, a.sum.rx_messages);
		if (loss_in == 0)
			assert_int_equal(b.sum.tx_messages, a.sum.rx_messages);
		assert_int_equal(a.sum.rx_payload_bytes, 4000 * a.sum.rx_messages);
		break;
	case NIC_UD_SEND:
		if (loss_in == 0)
			assert_int_equal(a.sum.tx_messages, b.sum.rx_messages);
		break;
	default:
		assert_int_equal(a.sum.tx_messages, b.sum.rx_messages);
		assert_int_equal(a.sum.tx_payload_bytes, b.sum.rx_payload_bytes);
	}
	if (id == 5)
		assert_true(a.sum.tx_messages <= 20 * a.qps);
	gone_messages += a.sum.tx_messages;
}

static void
go(uint32_t id)
{
	struct flow *f = &flows[id];

	f->there = false;
	for (unsigned int h = 0; h < HOSTS; h++) {
		struct host *host = &hosts[h];
		unsigned int looks = 0;

		host->go[host->reload.n_removed++] = id;
		reload(host);
		/* A start or a message to come is looked at every second. */
		for (; !is_free(h, id); looks++) {
			assert_true(looks < 20000);
			run(NS_PER_MS / 10);
		}
		qps_are(f, h, false);
		if (h == 0)
			run(2 * DELAY_NS);
	}
	arrived_once(id);
	for (unsigned int h = 0; h < HOSTS; h++) {
		for (uint32_t k = 0; k < n_nodes; k++)
			nic_forget_flow(hosts[h].node[k], id);
		assert_int_equal(ranges_give(&hosts[h].numbers, f->first[h], f->n_qps), 0);
	}
}

/* What no flow may do to another, and no flow at all without loss. */
static void
nothing_was_damaged(void)
{
	for (unsigned int h = 0; h < HOSTS; h++) {
		for (uint32_t k = 0; k < n_nodes; k++) {
			const struct nic_stats *s = nic_stats(hosts[h].node[k]);

			for (unsigned int d = 0; d < NIC_DROPS; d++)
				if (d != NIC_DROP_UNKNOWN_QP && loss_in == 0)
					assert_int_equal(s->drops[d], 0);
			assert_int_equal(s->drops[NIC_DROP_WRONG_PEER], 0);
			assert_int_equal(s->drops[NIC_DROP_WRONG_TRANSPORT], 0);
			assert_int_equal(s->no_mbuf, 0);
			if (loss_in > 0)
				continue;
			assert_int_equal(s->retransmitted_packets, 0);
			assert_int_equal(s->qp_errors, 0);
			assert_int_equal(s->out_of_sequence + s->duplicate_request, 0);
		}
	}
}

static void
rounds(uint32_t nodes, int moderation, uint64_t cnp_delay_ns, unsigned int n)
{
	create(nodes, moderation, cnp_delay_ns);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t id = (uint32_t)prng_below(&rnd, FLOWS);

		if (flows[id].there)
			go(id);
		else
			come(id);
		run(prng_below(&rnd, NS_PER_MS / 4));
	}
	for (uint32_t id = 0; id < FLOWS; id++)
		if (flows[id].there)
			go(id);
	nothing_was_damaged();
	assert_true(gone_messages > 10 * n);
	for (unsigned int h = 0; h < HOSTS; h++) {
		uint32_t unresolved;

		assert_int_equal(hosts[h].numbers.n, 0);
		for (uint32_t k = 0; k < n_nodes; k++) {
			/* Nobody is asked any more, and nothing is left to do. */
			assert_int_equal(nic_neighbours(hosts[h].node[k], &unresolved), 0);
			assert_int_equal(unresolved, 0);
			assert_true(nic_done(hosts[h].node[k]));
		}
	}
	/* But to look whether a neighbour that was there is to be asked. */
	run(60 * NS_PER_SEC);
	assert_int_equal(next_ns(), NEVER_NS);
	destroy();
}

TEST(messages_arrive_once_whoever_comes_and_goes)
{
	prng_seed(&rnd, 1, 0);
	loss_in = 0;
	rounds(1, NP_PER_QP, 0, 40);
	rounds(3, NP_PER_QP, 0, 30);
}

TEST(the_same_with_loss)
{
	prng_seed(&rnd, 2, 0);
	loss_in = 300;
	rounds(1, NP_PER_QP, 0, 30);
	rounds(3, NP_PER_IP_PAIR, 0, 20);
}

TEST(the_same_with_cnps_that_wait)
{
	prng_seed(&rnd, 3, 0);
	loss_in = 0;
	rounds(1, NP_PER_IP_PAIR, 20 * NS_PER_US, 20);
	rounds(3, NP_PER_PORT, 0, 20);
	rounds(1, NP_PER_QP, 120 * NS_PER_US, 20);
}

/* Add a flow of 4 QPs with so many messages each. */
static void
come_to_wait(uint32_t id, uint64_t messages, bool awaits, bool in_barrier)
{
	struct flow *f = &flows[id];

	f->n_qps = 4;
	for (unsigned int h = 0; h < HOSTS; h++) {
		int64_t first = ranges_take(&hosts[h].numbers, f->n_qps, MAX_QPS);

		assert_true(first >= 0);
		f->first[h] = (uint32_t)first;
	}
	describe(f, id);
	for (unsigned int h = 0; h < HOSTS; h++) {
		f->params[h].start_ns = 0;
		f->params[h].messages = messages;
	}
	f->params[0].barrier = in_barrier;
	f->awaits = awaits;
	f->in_barrier = in_barrier;
	add(f, id);
}

static bool
has_ended(uint32_t id)
{
	return info_of(0, id).qps_done == flows[id].n_qps;
}

static enum nic_wait
wait_of(uint32_t id)
{
	struct nic_location at = nic_share_find(hosts[0].share, flows[id].first[0]);
	struct nic_qp_wait wait;

	assert_true(nic_qp_wait(hosts[0].node[at.node], at.item, &wait));
	return wait.reason;
}

TEST(a_flow_begins_when_another_one_has_ended_on_all_lcores)
{
	prng_seed(&rnd, 4, 0);
	loss_in = 0;
	for (uint32_t nodes = 1; nodes <= 3; nodes += 2) {
		create(nodes, NP_PER_QP, 0);
		come_to_wait(0, 10, false, false);
		come_to_wait(5, 3, true, false);
		for (unsigned int i = 0; !has_ended(0); i++) {
			assert_true(i < 100000);
			assert_false(info_of(0, 5).started);
			assert_int_equal(wait_of(5), NIC_WAIT_FLOWS);
			run(500);
		}
		run(NS_PER_SEC / 10);
		assert_true(has_ended(5));
		assert_in_range(info_of(0, 5).started_ns, info_of(0, 0).ended_ns,
				info_of(0, 0).ended_ns + 3 * NS_PER_US);
		/* One that is added after this end begins at once. */
		go(5);
		come_to_wait(6, 1, true, false);
		run(NS_PER_SEC / 10);
		assert_true(has_ended(6));
		go(6);
		go(0);
		nothing_was_damaged();
		destroy();
	}
}

TEST(a_flow_that_waits_can_be_removed)
{
	prng_seed(&rnd, 5, 0);
	loss_in = 0;
	for (uint32_t nodes = 1; nodes <= 3; nodes += 2) {
		create(nodes, NP_PER_QP, 0);
		come_to_wait(0, 0, false, false);
		come_to_wait(6, 3, true, false);
		run(NS_PER_MS);
		assert_false(info_of(0, 6).started);
		go(6);
		assert_true(info_of(0, 0).sum.tx_messages > 0);
		go(0);
		nothing_was_damaged();
		destroy();
	}
}

/* Completed messages of the QP of these flows that has fewest, and of that which has most. */
static void
messages_of(const uint32_t *ids, unsigned int n, uint64_t *least, uint64_t *most)
{
	*least = UINT64_MAX;
	*most = 0;
	for (unsigned int i = 0; i < n; i++) {
		const struct flow *f = &flows[ids[i]];

		for (uint32_t number = f->first[0]; number < f->first[0] + f->n_qps; number++) {
			struct nic_location at = nic_share_find(hosts[0].share, number);
			struct nic_qp_info info;

			assert_true(nic_qp_info(hosts[0].node[at.node], at.item, &info));
			*least = info.tx_messages < *least ? info.tx_messages : *least;
			*most = info.tx_messages > *most ? info.tx_messages : *most;
		}
	}
}

TEST(the_flows_of_a_barrier_send_in_rounds_on_all_lcores)
{
	static const uint32_t ids[] = {0, 4, 2};

	prng_seed(&rnd, 6, 0);
	for (unsigned int lossy = 0; lossy < 2; lossy++) {
		for (uint32_t nodes = 1; nodes <= 3; nodes += 2) {
			uint64_t least = 0, most, late, ended_ns;

			loss_in = lossy ? 300 : 0;
			create(nodes, NP_PER_QP, 0);
			for (unsigned int i = 0; i < 3; i++)
				come_to_wait(ids[i], 20, false, true);
			for (unsigned int i = 0; least < 20; i++) {
				bool waits = least == 8 && !flows[5].there;

				assert_true(i < 2000000);
				run(500);
				messages_of(ids, 3, &least, &most);
				assert_true(most <= least + 1);
				/* It joins the round in which it comes. */
				if (waits)
					come_to_wait(5, 20, false, true);
			}
			messages_of(&(const uint32_t){5}, 1, &late, &most);
			assert_in_range(late, 10, 12);
			/* It goes on alone. */
			run(NS_PER_SEC);
			assert_true(has_ended(5));
			/* Nobody waits any more: the lcores can rest. */
			ended_ns = now_ns;
			for (unsigned int i = 0; i < 30; i++) {
				uint64_t at_ns = next_ns();

				now_ns = at_ns > now_ns ? at_ns : now_ns + 1;
				step();
			}
			assert_true(now_ns - ended_ns > 100 * NS_PER_US);
			go(5);
			for (unsigned int i = 0; i < 3; i++)
				go(ids[i]);
			nothing_was_damaged();
			destroy();
		}
	}
}

TEST(a_barrier_goes_on_without_a_flow_that_is_removed)
{
	prng_seed(&rnd, 7, 0);
	loss_in = 0;
	create(3, NP_PER_QP, 0);
	come_to_wait(0, 30, false, true);
	come_to_wait(2, 30, false, true);
	run(NS_PER_MS);
	assert_false(has_ended(0));
	go(2);
	run(NS_PER_SEC);
	assert_true(has_ended(0));
	go(0);
	destroy();
}

TEST_MAIN(.begin = start_eal)
