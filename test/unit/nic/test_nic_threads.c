/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that may call a NIC at once does: a thread for each of two nodes that share it and one for
 * their peer, one that changes what is live (parameters, flows that come and go, resets, traces),
 * and one that reads. What each may call is said in nic/nic.h. ThreadSanitizer judges the rest.
 */
#include "unit/nic/nic_test.h"
#include "unit/threads.h"

#include <stdlib.h>

#include "base/threads/counter.h"
#include "base/numbers/prng.h"
#include "nic/measure/trace.h"
#include "nic/observe/flow_info.h"
#include "nic/observe/wait.h"
#include "nic/port/share.h"
#include "node/pkt_pool.h"

#define HOSTS 2
#define NODES 3 /* 0 and 1 are one NIC, 2 is their peer */
#define PEER 2
#define FLOWS 6
#define FLOW_QPS 4
#define MAX_QPS (FLOWS * FLOW_QPS)
#define CHANGES 30u
#define ROUND_NS 1000ull
#define FRAMES 4095
#define TRACE_ROWS 64

struct host {
	struct nic_params params;
	struct nic_flow_update live[FLOWS];
	struct nic_reload reload;
	uint32_t removed[FLOWS], added[FLOWS];
};

static struct crew {
	struct host hosts[HOSTS];
	struct nic_share *share;
	struct nic_pools pools;
	struct node *node[NODES];
	struct rte_ring *wire[NODES][NODES]; /* [from][to]: one producer each */
	pthread_rwlock_t book;               /* as in quench-nic/flows/flow_registry.h */
	struct threads_pace pace;
	struct nic_qp_params flow[HOSTS][FLOWS];
	bool there[FLOWS];
	struct nic_traces traces[2];
	struct nic_trace *trace; /* set once: read by all */
	uint64_t sent[NODES];
	unsigned int resets, removals;
	uint64_t seen_qps, seen_rows;
} c;

static unsigned int
host_of(unsigned int node)
{
	return node == PEER;
}

static uint64_t
time_of(void)
{
	return threads_round(&c.pace) * ROUND_NS;
}

/* Marked now and then, lost rarely, and to any node of the other host: what is not its own
 * crosses. */
static void
carry(unsigned int from, struct rte_mbuf *m, struct prng *r)
{
	unsigned int to = from == PEER ? (unsigned int)prng_below(r, 2) : PEER;
	struct frame_view eth;

	if (frame_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &eth) == FRAME_OK &&
	    eth.ip_proto == IP_PROTO_UDP && prng_below(r, 20) == 0)
		ecn_set_ce(rte_pktmbuf_mtod_offset(m, uint8_t *, eth.l3_off), eth.ip_version);
	if (prng_below(r, 2000) == 0 || rte_ring_sp_enqueue(c.wire[from][to], m) != 0)
		rte_pktmbuf_free(m);
}

struct hand {
	unsigned int node;
	struct prng r;
};

static void
pause_frame(struct hand *h, struct node *node, uint64_t now_ns)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(c.pools.control);
	uint16_t quanta[8];

	if (m == NULL)
		return;
	for (unsigned int i = 0; i < 8; i++)
		quanta[i] = (uint16_t)prng_below(&h->r, 100);
	pfc_frame_build((uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES),
			c.hosts[1 - host_of(h->node)].params.mac, 8, quanta);
	node->ops->rx(node, 0, &m, 1, now_ns);
}

static void *
poll(void *arg)
{
	struct hand *h = arg;
	struct node *node = c.node[h->node];
	uint64_t now_ns = 0;

	rte_thread_register();
	while (threads_next_round(&c.pace, h->node)) {
		struct rte_mbuf *m[16];
		uint16_t n;

		now_ns += ROUND_NS;
		for (unsigned int from = 0; from < NODES; from++) {
			n = (uint16_t)rte_ring_sc_dequeue_burst(c.wire[from][h->node], (void **)m,
								16, NULL);
			node->ops->rx(node, 0, m, n, now_ns);
		}
		if (prng_below(&h->r, 200) == 0)
			pause_frame(h, node, now_ns);
		n = node->ops->tx(node, 0, m, 16, now_ns);
		c.sent[h->node] += n;
		for (uint16_t i = 0; i < n; i++)
			carry(h->node, m[i], &h->r);
	}
	rte_thread_unregister();
	return NULL;
}

/* ---- changes ---- */

static const struct nic_share *
share_of(unsigned int host)
{
	return host == 0 ? c.share : NULL;
}

static struct nic_flow_place
place_of(unsigned int node, uint32_t id)
{
	struct nic_flow_place p = {.first_number = id * FLOW_QPS};

	for (uint32_t number = id * FLOW_QPS; number < (id + 1) * FLOW_QPS; number++) {
		struct nic_location at = nic_share_find(share_of(host_of(node)), number);

		if (host_of(node) == 0 && at.node != node)
			continue;
		if (p.n_qps++ == 0)
			p.first_item = at.item;
	}
	return p;
}

static void
wait_rounds(unsigned int rounds)
{
	unsigned int begun = threads_round(&c.pace);

	while (threads_round(&c.pace) - begun < rounds)
		sched_yield();
}

static bool
all_of(unsigned int host, bool (*is)(const struct node *node))
{
	bool all = true;

	for (unsigned int i = 0; i < NODES; i++)
		all = all && (host_of(i) != host || is(c.node[i]));
	return all;
}

static void
reload(unsigned int host)
{
	struct host *h = &c.hosts[host];

	h->reload.params = h->params;
	h->reload.flows = h->live;
	h->reload.n_flows = FLOWS;
	h->reload.removed = h->removed;
	h->reload.added = h->added;
	for (unsigned int i = 0; i < NODES; i++)
		if (host_of(i) == host)
			nic_reload(c.node[i], &h->reload);
	while (!all_of(host, nic_reload_is_done))
		sched_yield();
	h->reload.n_removed = h->reload.n_added = 0;
}

static void
describe(uint32_t id)
{
	static const int verbs[FLOWS] = {NIC_WRITE, NIC_SEND,      NIC_READ,
					 NIC_WRITE, NIC_WRITE_IMM, NIC_UD_SEND};

	for (unsigned int host = 0; host < HOSTS; host++) {
		struct nic_qp_params *qp = &c.flow[host][id];

		*qp = nic_test_qp(host);
		qp->flow_id = id;
		qp->verb = verbs[id];
		qp->peer_qpn = PAIR_QPN + id * FLOW_QPS;
		qp->messages = 0;
		qp->message_bytes = verbs[id] == NIC_UD_SEND ? 700 : 4000;
		qp->qkey = 7;
		if (id == 1 || id == 5) {
			qp->arrival = WORKLOAD_POISSON;
			qp->load_bps = GBPS;
			qp->seed = 1;
		}
		/* Its peer is asked for by ARP. */
		if (id == 3)
			memset(qp->peer_mac, 0, 6);
		c.hosts[host].live[id] = (struct nic_flow_update){.load_bps = qp->load_bps};
	}
}

static void
add_flow(uint32_t id)
{
	describe(id);
	/* Who answers is told first. */
	for (unsigned int host = HOSTS; host-- > 0;) {
		struct host *h = &c.hosts[host];

		pthread_rwlock_wrlock(&c.book);
		for (unsigned int i = 0; i < NODES; i++) {
			struct nic_flow_place p = place_of(i, id);

			if (host_of(i) == host &&
			    nic_prepare_flow(c.node[i], &c.flow[host][id], &p) != 0)
				abort();
		}
		pthread_rwlock_unlock(&c.book);
		h->added[h->reload.n_added++] = id;
		reload(host);
	}
	c.there[id] = true;
}

static void
remove_flow(uint32_t id)
{
	for (unsigned int host = 0; host < HOSTS; host++) {
		struct host *h = &c.hosts[host];

		h->removed[h->reload.n_removed++] = id;
		reload(host);
		for (unsigned int i = 0; i < NODES; i++)
			while (host_of(i) == host && !nic_flow_is_free(c.node[i], id))
				sched_yield();
	}
	pthread_rwlock_wrlock(&c.book);
	for (unsigned int i = 0; i < NODES; i++)
		nic_forget_flow(c.node[i], id);
	pthread_rwlock_unlock(&c.book);
	c.there[id] = false;
	c.removals++;
}

static void
reset(uint32_t id)
{
	for (unsigned int host = HOSTS; host-- > 0;) {
		for (unsigned int i = 0; i < NODES; i++)
			if (host_of(i) == host && nic_reset_flow(c.node[i], id) != 0)
				abort();
		while (!all_of(host, nic_reset_is_done))
			sched_yield();
	}
	c.resets++;
}

static void
change_rates(struct prng *r)
{
	struct nic_params *p = &c.hosts[0].params;

	p->rp.rp_max_rate_bps = (10 + prng_below(r, 30)) * GBPS;
	p->rp.rp_min_rate_bps = (1 + prng_below(r, 100)) * 10 * MBPS;
	p->qp_burst_bytes = (uint32_t)(2048 << prng_below(r, 4));
	for (uint32_t id = 0; id < FLOWS; id++) {
		struct nic_flow_update *live = &c.hosts[0].live[id];

		live->stopped = prng_below(r, 4) == 0;
		live->rate_cap_bps = prng_below(r, 2) ? (1 + prng_below(r, 9)) * GBPS : 0;
		if (live->load_bps > 0)
			live->load_bps = (1 + prng_below(r, 9)) * 100 * MBPS;
	}
	reload(0);
}

/* Trace the same QP or none. */
static void
set_traces(unsigned int change)
{
	struct nic_traces *t = &c.traces[change % 2];

	memset(t, 0, sizeof(*t));
	if (change / 2 % 2 == 0)
		nic_traces_add(t, c.trace);
	nic_set_traces(c.node[0], t);
	while (!nic_traces_are_set(c.node[0]))
		sched_yield();
}

static void *
change(void *arg)
{
	struct prng r;

	(void)arg;
	prng_seed(&r, 3, 0);
	for (uint32_t id = 0; id < FLOWS; id++)
		add_flow(id);
	for (unsigned int i = 0; i < CHANGES; i++) {
		uint32_t id = (uint32_t)prng_below(&r, FLOWS);

		wait_rounds(100);
		if (i % 3 == 0)
			change_rates(&r);
		else if (i % 3 == 1 && c.there[id])
			remove_flow(id);
		else if (!c.there[id])
			add_flow(id);
		else
			reset(id);
		set_traces(i);
	}
	/* Each kind at least once, whatever chance has brought. */
	for (uint32_t id = 0; id < FLOWS; id++)
		if (!c.there[id])
			add_flow(id);
	reset(0);
	wait_rounds(100);
	remove_flow(0);
	memset(c.traces, 0, sizeof(c.traces[0]));
	nic_set_traces(c.node[0], &c.traces[0]);
	while (!nic_traces_are_set(c.node[0]))
		sched_yield();
	atomic_store_explicit(&c.pace.stop, true, memory_order_relaxed);
	return NULL;
}

/* ---- as quench-nic reads (app/quench-nic/desk/nic_report.c, flows.c) ---- */

static uint64_t
read_node(const struct node *node)
{
	const struct pfc_rx *rx = nic_pfc_rx(node);
	const struct pfc_tx *tx = nic_pfc_tx(node);
	uint64_t now_ns = time_of();
	struct nic_stats stats = {0};
	uint64_t sum;

	counters_add(nic_stats(node), &stats, sizeof(stats));
	sum = stats.rx_packets + stats.rp.rp_cnp_handled;
	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		sum += counter_read(&rx->stats.rx_pause[prio]) +
		       pfc_rx_duration_ns(rx, prio, now_ns);
		sum += counter_read(&tx->stats.tx_pause[prio]) +
		       pfc_tx_duration_ns(tx, prio, now_ns);
		sum += pfc_rx_read(rx, prio, now_ns).pause_frames;
	}
	sum += nic_measures_times(node);
	return sum + nic_done(node) + nic_failed(node) + nic_reload_is_done(node);
}

static uint64_t
read_qps(const struct node *node)
{
	struct nic_qp_info info;
	struct nic_qp_wait wait;
	uint64_t there = 0;

	for (uint32_t item = 0; item < MAX_QPS; item++) {
		there += nic_qp_info(node, item, &info);
		nic_qp_wait(node, item, &wait);
	}
	return there;
}

static void
read_flows(const struct node *node, struct nic_times *times, struct nic_pacing *pacing)
{
	for (uint32_t id = 0; id < FLOWS; id++) {
		const struct nic_times *t = nic_flow_times(node, id);
		const struct nic_pacing *p = nic_flow_pacing(node, id);
		struct nic_flow_info info = {0};

		nic_flow_info(node, id, &info);
		nic_flow_paused_ns(node, id, time_of());
		if (t != NULL)
			nic_times_merge(times, t);
		if (p != NULL)
			nic_pacing_merge(pacing, p);
	}
}

static void *
look(void *arg)
{
	struct nic_times *times = calloc(1, sizeof(*times));
	struct nic_pacing *pacing = calloc(1, sizeof(*pacing));

	(void)arg;
	while (!threads_stopped(&c.pace)) {
		uint64_t rows = nic_trace_written(c.trace);
		struct nic_trace_row row;

		for (unsigned int i = 0; i < NODES; i++) {
			read_node(c.node[i]);
			pthread_rwlock_rdlock(&c.book);
			c.seen_qps += read_qps(c.node[i]);
			read_flows(c.node[i], times, pacing);
			pthread_rwlock_unlock(&c.book);
		}
		if (rows > 0)
			c.seen_rows += nic_trace_read(c.trace, rows - 1, &row);
		nic_trace_has_ended(c.trace);
		sched_yield();
	}
	free(times);
	free(pacing);
	return NULL;
}

static void
create_pools(void)
{
	c.pools.control = pkt_pool_create(&(struct pkt_pool_params){
		.name = "control",
		.n_mbufs = FRAMES,
		.largest_frame = nic_largest_frame(4096),
		.socket = SOCKET_ID_ANY,
		.threads = true,
	});
	c.pools.data = nic_data_pool_create(&(struct pkt_pool_params){.name = "data",
								      .n_mbufs = FRAMES,
								      .socket = SOCKET_ID_ANY,
								      .threads = true},
					    1024);
	assert_non_null(c.pools.control);
	assert_non_null(c.pools.data);
}

static void
create(void)
{
	struct nic_share_params share = {.n_nodes = 2,
					 .first_qpn = PAIR_QPN,
					 .link_speed_bps = 40 * GBPS,
					 .shaper_burst_ns = 4000,
					 .rx_mbufs = 2 * FRAMES + 2,
					 .socket = SOCKET_ID_ANY};

	create_pools();
	pthread_rwlock_init(&c.book, NULL);
	c.pace.n = NODES;
	c.share = nic_share_create(&share);
	assert_non_null(c.share);
	for (unsigned int host = 0; host < HOSTS; host++) {
		struct nic_params *p = &c.hosts[host].params;

		nic_test_params(p, host);
		p->shaper_burst_ns = 4000;
		p->local_ack_timeout = 6; /* 262 us: a flow that goes comes to rest soon */
		p->retry_cnt = 3;
		p->max_rd_atomic = 4;
		p->measure_pacing = true;
		p->measure_times = NIC_MEASURE_ON;
		p->np.np_cnp_moderation = NP_PER_IP_PAIR;
		p->np.np_cnp_delay_ns = 5000;
		p->receiver.drain_rate_bps = host == 1 ? 20 * GBPS : 0;
	}
	for (unsigned int i = 0; i < NODES; i++) {
		struct nic_params params = c.hosts[host_of(i)].params;
		char name[16];

		params.max_qps = nic_share_qps(share_of(host_of(i)), MAX_QPS, i == PEER ? 0 : i);
		c.node[i] = nic_create(&params, &c.pools);
		assert_non_null(c.node[i]);
		if (i != PEER)
			nic_join(c.node[i], c.share, i);
		assert_int_equal(nic_reserve_flows(c.node[i], FLOWS), 0);
		for (unsigned int to = 0; to < NODES; to++) {
			snprintf(name, sizeof(name), "wire%u_%u", i, to);
			c.wire[i][to] = rte_ring_create(name, 4096, SOCKET_ID_ANY,
							RING_F_SP_ENQ | RING_F_SC_DEQ);
			assert_non_null(c.wire[i][to]);
		}
	}
	c.trace = nic_trace_create(0, TRACE_ROWS);
	assert_non_null(c.trace);
}

static void
destroy(void)
{
	struct rte_mbuf *m;

	for (unsigned int i = 0; i < NODES; i++) {
		for (unsigned int to = 0; to < NODES; to++) {
			while (rte_ring_sc_dequeue(c.wire[i][to], (void **)&m) == 0)
				rte_pktmbuf_free(m);
			rte_ring_free(c.wire[i][to]);
		}
		nic_destroy(c.node[i]);
	}
	nic_trace_destroy(c.trace);
	nic_share_destroy(c.share);
	nic_test_pools_free(&c.pools);
}

TEST(nodes_changes_and_readers_run_beside_each_other)
{
	struct hand hands[NODES];
	pthread_t pollers[NODES], changer, reader;

	create();
	for (unsigned int i = 0; i < NODES; i++) {
		hands[i] = (struct hand){.node = i};
		prng_seed(&hands[i].r, 2, i);
		assert_int_equal(pthread_create(&pollers[i], NULL, poll, &hands[i]), 0);
	}
	assert_int_equal(pthread_create(&changer, NULL, change, NULL), 0);
	assert_int_equal(pthread_create(&reader, NULL, look, NULL), 0);
	pthread_join(changer, NULL);
	pthread_join(reader, NULL);
	for (unsigned int i = 0; i < NODES; i++) {
		pthread_join(pollers[i], NULL);
		assert_true(c.sent[i] > 100);
	}
	assert_true(c.seen_qps > 0);
	assert_true(c.resets > 0 && c.removals > 0);
	assert_true(nic_stats(c.node[0])->rx_crossed_packets > 0);
	assert_true(nic_trace_written(c.trace) > 0);
	for (unsigned int i = 0; i < NODES; i++) {
		assert_int_equal(nic_stats(c.node[i])->drops[NIC_DROP_WRONG_PEER], 0);
		assert_int_equal(nic_stats(c.node[i])->drops[NIC_DROP_BAD_ICRC], 0);
		assert_int_equal(nic_stats(c.node[i])->drops[NIC_DROP_MALFORMED], 0);
	}
	destroy();
}

#define MADE_QPS 5000u

/* The QP that the reader looks for, so that each is made while it looks. */
static atomic_uint looked_for;

/* Reads each QP from the moment on at which it is there. */
static void *
read_new_qps(void *arg)
{
	struct node *node = arg;
	uint64_t torn = 0;

	for (uint32_t i = 0; i < MADE_QPS; i++) {
		struct nic_qp_info info;

		atomic_store_explicit(&looked_for, i, memory_order_relaxed);
		for (unsigned int look = 1; !nic_qp_info(node, i, &info); look++)
			if (look % 1000 == 0)
				sched_yield();
		torn += info.peer_qpn != 0x100 + i || info.local_qpn != PAIR_QPN + i ||
			info.rx_packets != 0 || info.min_rate_bps == 0 || info.rate_bps == 0;
	}
	return (void *)(uintptr_t)torn;
}

TEST(a_qp_is_whole_when_it_is_there)
{
	static struct solo s;
	pthread_t reader;
	void *torn;

	solo_init(&s);
	s.params.max_qps = MADE_QPS;
	solo_create(&s, 64);
	assert_int_equal(pthread_create(&reader, NULL, read_new_qps, s.nic), 0);
	for (uint32_t i = 0; i < MADE_QPS; i++) {
		struct nic_qp_params qp = nic_test_qp(0);

		qp.peer_qpn = 0x100 + i;
		qp.initial_psn = 7;
		qp.requester = false;
		while (atomic_load_explicit(&looked_for, memory_order_relaxed) < i)
			sched_yield();
		assert_int_equal(nic_add_qp(s.nic, &qp, 0), PAIR_QPN + i);
	}
	pthread_join(reader, &torn);
	assert_int_equal((uintptr_t)torn, 0);
	solo_destroy(&s);
}

#define READINGS 1000000u
#define ALPHA_ONE (1ull << 32)

static atomic_bool has_read;

/* No change is about its rates. */
static void *
read_a_qp(void *arg)
{
	struct node *node = arg;
	struct nic_qp_info info, first;
	uint64_t torn = 0;

	nic_qp_info(node, 0, &first);
	torn += first.alpha_q32 == 0 || first.alpha_q32 == ALPHA_ONE;
	for (uint32_t i = 0; i < READINGS; i++) {
		nic_qp_info(node, 0, &info);
		torn += info.target_rate_bps != first.target_rate_bps ||
			info.alpha_q32 != first.alpha_q32;
	}
	atomic_store_explicit(&has_read, true, memory_order_relaxed);
	return (void *)(uintptr_t)torn;
}

/* A QP that a CNP has limited: its alpha, which decays, is worked out at each reading. */
static void
create_limited(struct solo *s)
{
	struct nic_qp_params qp = nic_test_qp(0);
	struct roce_path path;
	struct roce_view v;

	solo_init(s);
	s->params.rp.rp_dce_tcp_rtt_us = 1;
	solo_create(s, 64);
	qp.messages = 0;
	nic_add_qp(s->nic, &qp, 0);
	path = solo_path(s);
	assert_true(solo_take(s, 0, &v));
	solo_feed_on(s, &path, &(struct roce_fields){.opcode = ROCE_CNP, .becn = true}, 0);
	while (solo_take(s, 20 * NS_PER_US, &v))
		;
}

TEST(a_qp_is_read_while_parameters_change)
{
	struct nic_flow_update live = {0};
	static struct solo s;
	pthread_t reader;
	void *torn;

	create_limited(&s);
	atomic_store_explicit(&has_read, false, memory_order_relaxed);
	assert_int_equal(pthread_create(&reader, NULL, read_a_qp, s.nic), 0);
	for (uint32_t i = 0; !atomic_load_explicit(&has_read, memory_order_relaxed); i++) {
		struct nic_reload r = {.params = s.params, .flows = &live, .n_flows = 1};

		r.params.rp.rp_byte_reset_bytes += i % 2;
		nic_reload(s.nic, &r);
		while (!nic_reload_is_done(s.nic))
			s.nic->ops->rx(s.nic, 0, NULL, 0, s.now_ns);
	}
	pthread_join(reader, &torn);
	assert_int_equal((uintptr_t)torn, 0);
	solo_destroy(&s);
}

TEST_MAIN(.begin = start_threads)
