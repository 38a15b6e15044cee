/* SPDX-License-Identifier: BSD-3-Clause */
/* Shards that are driven apart: in any order by one thread, and by a thread each. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <rte_lcore.h>

#include "base/numbers/prng.h"
#include "unit/switch/sw_test.h"

#define PORTS 6
#define SHARDS 3
#define PRIO 3
#define STEPS 60000u

struct run {
	struct bench *b;
	struct node *shard_of[PORTS];
	struct prng r;
	uint64_t now_ns;
	uint32_t psn;
	uint32_t last_psn[PORTS][PORTS][2]; /* [egress][source][lossless] */
	uint64_t out, ce_out, floods, pauses, resumes;
	uint8_t peer_xoff[PORTS];
};

static void
find_shards(struct node *sw, struct node *shard_of[], uint16_t n_ports)
{
	for (uint16_t i = 0; i < sw_shards(sw); i++) {
		for (uint16_t port = 0; port < n_ports; port++) {
			if (sw_shard_ports(sw, i) >> port & 1)
				shard_of[port] = sw_shard(sw, i);
		}
	}
}

static void
start(struct run *u, struct bench *b, uint64_t seed)
{
	struct sw_params *p = &b->params;

	memset(u, 0, sizeof(*u));
	u->b = b;
	prng_seed(&u->r, seed, 3);
	bench_defaults(p, PORTS);
	p->shards = SHARDS;
	p->ports[0].shard = 3; /* not in turn: 0 with 3, 5 with 1, the others dealt out */
	p->ports[5].shard = 1;
	p->mmu.buffer_bytes = 600000;
	p->mmu.lossless = (struct buffer_profile){.size_bytes = 1500,
						  .dynamic = true,
						  .dynamic_th = -1,
						  .xon_offset_bytes = 3000,
						  .xoff_bytes = 40000};
	p->wred.green_min_threshold_bytes = 5000;
	p->wred.green_max_threshold_bytes = 40000;
	p->wred_queues = 1u << PRIO;
	p->ports[4].shaper_rate_bps = 5 * GBPS;
	bench_start(b);
	assert_int_equal(sw_shards(b->sw), SHARDS);
	assert_int_equal(sw_shard_ports(b->sw, 0), 1u << 5 | 1u << 1 | 1u << 4);
	find_shards(b->sw, u->shard_of, PORTS);
	learn_hosts(b);
}

/* A sender that obeys: of a held class it has nothing. Some do not hear of it in time. */
static void
give_burst(struct run *u, uint16_t port)
{
	uint16_t n = (uint16_t)(1 + prng_below(&u->r, 8)), made = 0;
	struct rte_mbuf *m[8];

	for (uint16_t i = 0; i < n; i++) {
		bool lossless = prng_below(&u->r, 4) != 0, flood = prng_below(&u->r, 16) == 0;
		struct frame_spec s = {
			.src = (uint8_t)port,
			.dst = flood ? BROADCAST_HOST : (uint8_t)prng_below(&u->r, PORTS),
			.dscp = lossless ? 26 : 0,
			.ecn = u->psn % 7 == 0 ? ECN_CE : ECN_ECT0,
			.payload_bytes = (uint16_t)(4 * (16 + prng_below(&u->r, 250))),
			.psn = u->psn++};

		if (s.dst == port || (lossless && u->peer_xoff[port] >> PRIO & 1) ||
		    rte_mempool_avail_count(u->b->arrivals) < 64)
			continue;
		u->floods += flood;
		m[made++] = make_frame(u->b, &s);
	}
	u->shard_of[port]->ops->rx(u->shard_of[port], port, m, made, u->now_ns);
}

static void
see_data(struct run *u, uint16_t port, const struct rte_mbuf *m)
{
	struct frame_view v = view_of(m);
	struct roce_view r = roce_of(m);
	uint32_t *last = &u->last_psn[port][rte_pktmbuf_mtod(m, const uint8_t *)[11]][v.dscp == 26];

	assert_true(r.psn + 1 > *last);
	*last = r.psn + 1;
	u->out++;
	u->ce_out += v.ecn == ECN_CE;
}

/* Frames that entered a queue as CE, or that it marked. */
static uint64_t
ce_counted(const struct run *u)
{
	uint64_t n = 0;

	for (uint16_t port = 0; port < PORTS; port++) {
		for (uint8_t queue = 0; queue < TM_CLASSES; queue++) {
			const struct sw_queue_stats *s =
				&sw_port_stats(u->b->sw, port)->queue[queue];

			n += s->ce_in_packets + s->ecn_marked_packets;
		}
	}
	return n;
}

static void
see_pfc(struct run *u, uint16_t port, const struct mac_control *mc)
{
	for (unsigned int p = 0; p < TM_CLASSES; p++) {
		uint8_t bit = (uint8_t)(1u << p);

		if (!(mc->enable & bit))
			continue;
		u->pauses += mc->quanta[p] > 0;
		u->resumes += mc->quanta[p] == 0;
		u->peer_xoff[port] =
			(uint8_t)((u->peer_xoff[port] & ~bit) | (mc->quanta[p] > 0 ? bit : 0));
	}
}

static void
take_burst(struct run *u, struct node *node, uint16_t port)
{
	struct rte_mbuf *out[8];
	struct mac_control mc;
	uint16_t n = node->ops->tx(node, port, out, 8, u->now_ns);

	for (uint16_t i = 0; i < n; i++) {
		if (is_pfc(out[i], &mc))
			see_pfc(u, port, &mc);
		else
			see_data(u, port, out[i]);
		rte_pktmbuf_free(out[i]);
	}
}

/* Shards in no order, one of them late again and again: frames and charges wait for it. */
static void
step(struct run *u, unsigned int i)
{
	uint16_t late = (uint16_t)(i / 500 % (2 * SHARDS)), port;

	u->now_ns += prng_below(&u->r, 800);
	port = (uint16_t)prng_below(&u->r, PORTS);
	if (late < SHARDS && u->shard_of[port] == sw_shard(u->b->sw, late))
		return;
	if (prng_below(&u->r, 3) == 0)
		give_burst(u, port);
	else
		take_burst(u, u->shard_of[port], port);
}

static bool
is_quiet(const struct run *u)
{
	for (uint16_t port = 0; port < PORTS; port++) {
		if (next_ns(u->b, port) != NEVER_NS)
			return false;
	}
	return true;
}

static void
drain_run(struct run *u)
{
	for (unsigned int i = 0; !is_quiet(u); i++) {
		u->now_ns += 500;
		assert_true(i < 100000);
		for (uint16_t port = 0; port < PORTS; port++)
			take_burst(u, u->shard_of[port], port);
	}
}

TEST(shards_in_any_order_lose_nothing_keep_order_and_let_senders_go_on)
{
	static struct run u;

	for (uint64_t seed = 1; seed <= 3; seed++) {
		start(&u, &bench, seed);
		for (unsigned int i = 0; i < STEPS; i++)
			step(&u, i);
		drain_run(&u);
		/* Nobody is held any more, and of the lossless class nothing was ever dropped. */
		for (uint16_t port = 0; port < PORTS; port++) {
			assert_int_equal(u.peer_xoff[port], 0);
			assert_int_equal(drops(u.b, port, SW_DROP_NO_HEADROOM), 0);
		}
		assert_int_equal(mmu_used_bytes(sw_mmu(u.b->sw)), 0);
		assert_int_equal(sw_ledger(u.b->sw).queued, 0);
		assert_int_equal(ce_counted(&u), u.ce_out);
		assert_true(u.out > 20000 && u.floods > 500 && u.pauses > 20);
		bench_stop(u.b);
	}
}

/* A's frames wait at B's port; what B sends counts for A with that port's next tx(), once B has
 * nothing to send or has had its eight calls. */
TEST(xon_comes_with_the_ports_next_tx)
{
	static struct run u;
	struct mac_control mc;
	struct rte_mbuf *m;
	uint64_t now_ns = 0;
	unsigned int n = 0;

	start(&u, &bench, 1);
	while (!pfc_tx_is_xoff(sw_pfc_tx(u.b->sw, 1), PRIO) && n < 1000) {
		m = make_data(u.b, 1, 2, n++);
		u.shard_of[1]->ops->rx(u.shard_of[1], 1, &m, 1, 0);
	}
	assert_true(n < 1000);
	assert_int_equal(u.shard_of[1]->ops->tx(u.shard_of[1], 1, &m, 1, 0), 1);
	assert_true(is_pfc(m, &mc) && mc.quanta[PRIO] > 0);
	sent(m);
	while (n > 0) {
		now_ns += 1000;
		if (u.shard_of[2]->ops->tx(u.shard_of[2], 2, &m, 1, now_ns) == 1) {
			n--;
			sent(m);
		}
	}
	assert_int_equal(u.shard_of[2]->ops->tx(u.shard_of[2], 2, &m, 1, now_ns), 0);
	assert_true(pfc_tx_is_xoff(sw_pfc_tx(u.b->sw, 1), PRIO));
	assert_int_equal(u.shard_of[1]->ops->next_ns(u.shard_of[1], 1), 0);
	assert_int_equal(u.shard_of[5]->ops->next_ns(u.shard_of[5], 5), NEVER_NS);
	assert_int_equal(u.shard_of[1]->ops->tx(u.shard_of[1], 1, &m, 1, now_ns), 1);
	assert_true(is_pfc(m, &mc) && mc.quanta[PRIO] == 0);
	sent(m);
	assert_int_equal(u.b->sw->ops->tx(u.b->sw, 1, &m, 1, now_ns), 0);
	bench_stop(u.b);
}

/* From A's rx() to B's tx() somebody says at each moment that there is something to do. */
TEST(a_frame_that_crosses_lets_nobody_sleep)
{
	static struct run u;
	struct node *a, *b;
	struct rte_mbuf *m, *out[8];
	unsigned int sent_frames = 0, rounds = 0;

	start(&u, &bench, 1);
	a = u.shard_of[1];
	b = u.shard_of[2];
	assert_ptr_not_equal(a, b);
	m = make_data(u.b, 1, 2, 0);
	a->ops->rx(a, 1, &m, 1, 0);
	for (; sent_frames == 0; rounds++) {
		assert_true(rounds < 8);
		assert_true(a->ops->next_ns(a, 1) == 0 || b->ops->next_ns(b, 2) <= rounds * 1000);
		for (uint16_t port = 0; port < PORTS; port++) {
			if (u.shard_of[port] != a && u.shard_of[port] != b)
				continue;
			sent_frames += u.shard_of[port]->ops->tx(u.shard_of[port], port, out, 8,
								 rounds * 1000);
		}
	}
	assert_int_equal(sent_frames, 1);
	sent(out[0]);
	drain_run(&u);
	assert_int_equal(mmu_used_bytes(sw_mmu(u.b->sw)), 0);
	bench_stop(u.b);
}

/* The rest: a thread for each of two shards, with two ports each. */

#define THREAD_PORTS 4
#define ROUNDS 20000u
#define AHEAD 20u /* rounds that a thread may be ahead of the other */
#define THREAD_FRAMES 8191

struct crew {
	struct node *sw;
	struct node *shard_of[THREAD_PORTS];
	struct rte_mempool *frames;
	atomic_uint errors, out;
	atomic_uint round[2];
};

struct hand {
	struct crew *crew;
	uint16_t index;
	uint32_t seq;
	uint32_t last[THREAD_PORTS][THREAD_PORTS];
	struct prng r;
};

/* Who sent it stands in the source address, how many before it in bytes that nobody reads. */
static struct rte_mbuf *
plain_frame(struct hand *h, uint16_t from, uint16_t to)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->crew->frames);
	uint8_t *frame;

	if (m == NULL)
		return NULL;
	frame = (uint8_t *)rte_pktmbuf_append(m, 256);
	memset(frame, 0, 256);
	host_mac(frame, to == THREAD_PORTS ? BROADCAST_HOST : (uint8_t)to);
	host_mac(frame + 6, (uint8_t)from);
	frame[12] = 0x88; /* local experimental */
	frame[13] = 0xB5;
	h->seq++;
	memcpy(frame + 20, &h->seq, sizeof(h->seq));
	return m;
}

static void
hand_gives(struct hand *h, uint16_t port, uint64_t now_ns)
{
	struct node *node = h->crew->shard_of[port];
	struct rte_mbuf *m[16];
	uint16_t n = 0;

	while (n < 16) {
		bool flood = prng_below(&h->r, 32) == 0;
		uint16_t to = flood ? THREAD_PORTS : (uint16_t)prng_below(&h->r, THREAD_PORTS);

		if (to == port)
			continue;
		m[n] = plain_frame(h, port, to);
		if (m[n] == NULL)
			break;
		n++;
	}
	node->ops->rx(node, port, m, n, now_ns);
}

static void
hand_takes(struct hand *h, uint16_t port, uint64_t now_ns)
{
	struct node *node = h->crew->shard_of[port];
	struct rte_mbuf *m[32];
	uint16_t n = node->ops->tx(node, port, m, 32, now_ns);

	for (uint16_t i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(m[i], const uint8_t *);
		uint32_t seq, *last = &h->last[port][frame[11] % THREAD_PORTS];

		memcpy(&seq, frame + 20, sizeof(seq));
		h->crew->errors += seq <= *last;
		*last = seq;
		rte_pktmbuf_free(m[i]);
	}
	h->crew->out += n;
}

static void *
hand_works(void *arg)
{
	struct hand *h = arg;
	struct crew *c = h->crew;
	uint64_t now_ns = 0;

	/* With caches of the pools: their rings make those who use them wait for each other. */
	c->errors += rte_thread_register() != 0;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		now_ns += 2000;
		c->round[h->index] = i;
		/* On a loaded machine one would be done before the other begins. */
		while (i > c->round[1 - h->index] + AHEAD)
			sched_yield();
		for (uint16_t port = 0; port < THREAD_PORTS; port++) {
			if (c->shard_of[port] != sw_shard(c->sw, h->index))
				continue;
			if (i < ROUNDS / 2)
				hand_gives(h, port, now_ns);
			hand_takes(h, port, now_ns);
		}
	}
	c->round[h->index] = ROUNDS;
	rte_thread_unregister();
	return NULL;
}

TEST(shards_with_a_thread_each_lose_nothing_and_keep_order)
{
	static struct bench b;
	static struct hand hands[2];
	struct crew c = {.frames = NULL};
	struct sw_pools pools;
	pthread_t threads[2];
	struct sw_ledger l;
	uint64_t dropped = 0;

	pools = (struct sw_pools){
		.frames = pkt_pool_create(&(struct pkt_pool_params){.name = "shared",
								    .n_mbufs = THREAD_FRAMES,
								    .largest_frame = 512,
								    .socket = SOCKET_ID_ANY,
								    .threads = true}),
		.clones = pkt_pool_create(&(struct pkt_pool_params){.name = "shared_clones",
								    .n_mbufs = THREAD_FRAMES,
								    .socket = SOCKET_ID_ANY,
								    .threads = true})};
	assert_non_null(pools.frames);
	assert_non_null(pools.clones);
	bench_defaults(&b.params, THREAD_PORTS);
	b.params.shards = 2;
	/* Less than what one sends: queues and the pool fill, and drops are given back across. */
	b.params.mmu.buffer_bytes = 250000;
	b.params.mmu.lossless.xoff_bytes = 10000;
	b.params.shaper_burst_ns = 4000;
	b.params.ports[3].shaper_rate_bps = 10 * GBPS;
	sw_params_resolve(&b.params);
	c.frames = pools.frames;
	c.sw = sw_create(&b.params, &pools);
	assert_non_null(c.sw);
	b.sw = c.sw;
	learn_hosts(&b);
	find_shards(c.sw, c.shard_of, THREAD_PORTS);
	for (uint16_t i = 0; i < 2; i++) {
		hands[i] = (struct hand){.crew = &c, .index = i};
		prng_seed(&hands[i].r, 5, i);
		assert_int_equal(pthread_create(&threads[i], NULL, hand_works, &hands[i]), 0);
	}
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	/* One may have been done before the other's last. */
	for (uint64_t now_ns = ROUNDS * 2000ull; sw_ledger(c.sw).queued > 0; now_ns += 2000) {
		for (uint16_t port = 0; port < THREAD_PORTS; port++)
			hand_takes(&hands[port % 2], port, now_ns);
	}
	c.sw->ops->tx(c.sw, 0, NULL, 0, ROUNDS * 9000ull);
	l = sw_ledger(c.sw);
	bench_sees_balance(&b);
	dropped = all_drops(&b);
	print_message("out %u, dropped %llu\n", c.out, (unsigned long long)dropped);
	assert_int_equal(c.errors, 0);
	assert_int_equal(mmu_used_bytes(sw_mmu(c.sw)), 0);
	assert_int_equal(l.in + l.copies, l.sent + l.dropped);
	assert_int_equal(l.sent / 260, c.out);
	assert_true(c.out > 100000 && dropped > 0);
	sw_destroy(c.sw);
	assert_int_equal(rte_mempool_avail_count(pools.frames), THREAD_FRAMES);
	assert_int_equal(rte_mempool_avail_count(pools.clones), THREAD_FRAMES);
	pkt_pool_destroy(pools.frames);
	pkt_pool_destroy(pools.clones);
}

/* Shards read of each other what each has published. */
TEST(a_restart_leaves_no_use_of_the_buffer_in_any_shard)
{
	struct bench *b = &bench;

	/* From and to ports of one shard, and of two. */
	for (uint8_t to = 0; to < PORTS; to++) {
		bench_defaults(&b->params, PORTS);
		b->params.shards = SHARDS;
		bench_start(b);
		learn_hosts(b);
		give(b, 3, make_data(b, 3, to == 3 ? BROADCAST_HOST : to, 1), 0);
		sw_restart(b->sw, 1);
		bench_sees_balance(b);
		assert_int_equal(mmu_used_bytes(sw_mmu(b->sw)), 0);
		bench_stop(b);
	}
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
